"""Each trap of Excel workbooks, in a small package made here."""

import zipfile

import pytest

from kb.errors import Refused
from kb.parsers.sheets import xlsx as parser

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/spreadsheetml/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
STRICT_OFFICE = "http://purl.oclc.org/ooxml/officeDocument/relationships"
CODES = ["General", "0.00", "#,##0", "0%", "yyyy-mm-dd", 'yyyy"年"m"月"d"日"', "0.00E+00", "@"]


def relations(base, *targets):
    items = "".join(
        f'<Relationship Id="r{i}" Type="{base}/{role}" Target="{target}"/>'
        for i, (role, target) in enumerate(targets)
    )
    return f'<Relationships xmlns="x">{items}</Relationships>'


def styles(main=MAIN):
    formats = "".join(
        f"<numFmt numFmtId='{200 + i}' formatCode='{code}'/>" for i, code in enumerate(CODES)
    )
    cells = (
        "".join(f"<xf numFmtId='{200 + i}'/>" for i in range(len(CODES))) + "<xf numFmtId='14'/>"
    )
    return f"<styleSheet xmlns='{main}'><numFmts>{formats}</numFmts><cellXfs>{cells}</cellXfs></styleSheet>"


@pytest.fixture
def book(tmp_path):
    """Write a workbook: `book({sheet name: XML of its sheetData and after}, …)`, then parse it."""

    def book(
        sheets, strings=(), *, strict=False, states=None, before="", parts=None, properties=""
    ):
        main, office = (STRICT, STRICT_OFFICE) if strict else (MAIN, OFFICE)
        path = tmp_path / "x.xlsx"
        listed = "".join(
            f"<sheet name='{name}' sheetId='{i}' r:id='r{i + 1}' state='{(states or {}).get(name, 'visible')}'/>"
            for i, name in enumerate(sheets, start=1)
        )
        targets = [("styles", "styles.xml"), ("sharedStrings", "sharedStrings.xml")]
        targets += [("worksheet", f"worksheets/sheet{i}.xml") for i in range(1, len(sheets) + 1)]
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(
                "_rels/.rels", relations(office, ("officeDocument", "/xl/workbook.xml"))
            )
            archive.writestr(
                "xl/workbook.xml",
                f"<workbook xmlns='{main}' xmlns:r='{office}'>{properties}<sheets>{listed}</sheets></workbook>",
            )
            archive.writestr("xl/_rels/workbook.xml.rels", relations(office, *targets))
            archive.writestr("xl/styles.xml", styles(main))
            archive.writestr(
                "xl/sharedStrings.xml", f"<sst xmlns='{main}'>{''.join(strings)}</sst>"
            )
            for i, content in enumerate(sheets.values(), start=1):
                archive.writestr(
                    f"xl/worksheets/sheet{i}.xml",
                    f"<worksheet xmlns='{main}'>{before}<sheetData>{content}</worksheet>",
                )
            for part, content in (parts or {}).items():
                archive.writestr(part, content)
        return parser.parse(path, "x.xlsx")

    return book


def row(*cells, number=None):
    place = f" r='{number}'" if number else ""
    return f"<row{place}>{''.join(cells)}</row>"


def number(value, style=0, ref=""):
    place = f" r='{ref}'" if ref else ""
    return f"<c{place} s='{style}'><v>{value}</v></c>"


def text(value, ref=""):
    place = f" r='{ref}'" if ref else ""
    return f"<c{place} t='inlineStr'><is><t>{value}</t></is></c>"


END = "</sheetData>"


def lines(parsed, page=0):
    return parsed.pages[page].text.split("\n")


def test_numbers_are_shown_as_displayed(book):
    cells = [number("3.14159", 1), number("1234567", 2), number("0.256", 3), number("45365", 4),
             number("45365", 5), number("45365", 8), number("1.5", 0), number("3", 0)]  # fmt: skip
    shown = "3.14 | 1,234,567 | 26% | 2024-03-14 | 2024年3月14日 | 2024/3/14 | 1.5 | 3"
    assert lines(book({"表": row(*cells) + END})) == [shown]


def test_long_identities_keep_their_digits(book):
    cells = [number("110105199001011234"), number("1.23456789012345E+15"), number("13800001111")]
    shown = "110105199001011234 | 1234567890123450 | 13800001111"
    assert lines(book({"表": row(*cells) + END})) == [shown]


def test_strings_lose_their_phonetic_guides_and_keep_their_runs(book):
    strings = [
        "<si><r><t>豊</t></r><r><t xml:space='preserve'>田 </t></r><rPh sb='0' eb='1'><t>トヨタ</t></rPh></si>",
        "<si><t>甲_x000D_\n乙</t></si>",
    ]
    cells = ["<c t='s'><v>0</v></c>", "<c t='s'><v>1</v></c>", "<c t='s'><v>9</v></c>"]
    assert lines(book({"表": row(*cells) + END}, strings)) == ["豊田 | 甲 乙"]


def test_formulas_errors_and_booleans(book):
    cells = [
        "<c><f>SUM(A1)</f><v>42</v></c>",
        "<c t='str'><f>A1&amp;1</f><v>结果</v></c>",
        "<c t='e'><f>1/0</f><v>#DIV/0!</v></c>",
        "<c t='b'><v>1</v></c>",
        "<c><f>NOW()</f></c>",
        "<c t='str'><f>\"\"</f><v></v></c>",
    ]
    parsed = book({"表": row(*cells) + END})
    assert lines(parsed) == ["42 | 结果 | #DIV/0! | TRUE | =NOW()"]
    assert any("1 个公式" in warning for warning in parsed.warnings)


def test_hidden_sheets_are_read_and_named(book):
    parsed = book(
        {"明": row(text("甲")) + END, "暗": row(text("乙")) + END, "深": row(text("丙")) + END},
        states={"暗": "hidden", "深": "veryHidden"},
    )
    assert [page.label for page in parsed.pages] == ["明", "暗", "深"]
    assert "暗、深" in parsed.warnings[0]


def test_strict_workbooks_are_read(book):
    cells = [
        text("日期"),
        "<c t='d' s='5'><v>2024-03-14</v></c>",
        "<c t='d'><v>2024-03-14T08:30:00</v></c>",
    ]
    parsed = book({"表": row(*cells) + END}, strict=True)
    assert lines(parsed) == ["日期 | 2024年3月14日 | 2024/3/14 8:30"]


def test_the_other_epoch_is_known(book):
    parsed = book({"表": row(number(0, 4)) + END}, properties="<workbookPr date1904='1'/>")
    assert lines(parsed) == ["1904-01-01"]


def test_the_first_and_the_last_cell_cost_nothing(book):
    content = row(text("头", "A1"), number=1) + row(text("尾", "XFD1048576"), number=1048576)
    parsed = book({"表": content + END})
    assert lines(parsed) == ["头", "", " | 尾"]
    assert "1048575" in parsed.warnings[0]


def test_merged_cells_frozen_panes_and_filters(book):
    content = (
        row(text("甲"), text("乙")) + row(text("丙"), text("丁")) + row(text("戊"), text("己"))
    )
    merged = "</sheetData><mergeCells><mergeCell ref='A2:A3'/></mergeCells>"
    pane = "<sheetViews><sheetView><pane ySplit='2' state='frozen'/></sheetView></sheetViews>"
    parsed = book({"表": content + merged}, before=pane)
    assert lines(parsed) == ["甲 | 乙", "丙 | 丁", " | 己"]
    kinds = [(e.kind, e.line_start, e.line_end, e.level) for e in parsed.pages[0].elements]
    assert kinds == [("table", 1, 3, 2), ("merged", 2, 3, 0)]
    filtered = "</sheetData><autoFilter ref='A1:B3'/>"
    assert book({"表": content + filtered}).pages[0].elements[0].level == 1


def test_comments_pictures_and_charts_are_counted(book):
    parts = {
        "xl/worksheets/_rels/sheet1.xml.rels": relations(
            OFFICE, ("comments", "../comments1.xml"), ("drawing", "../drawings/drawing1.xml")
        ),
        "xl/comments1.xml": "<comments><commentList><comment/><comment/></commentList></comments>",
        "xl/drawings/drawing1.xml": "<wsDr><a><pic/></a><a><graphicFrame/></a><sp><txBody>字</txBody></sp></wsDr>",
    }
    warnings = " ".join(book({"表": row(text("甲")) + END}, parts=parts).warnings)
    assert "2 条批注" in warnings
    assert "1 张图片" in warnings
    assert "1 个图表" in warnings
    assert "1 个图形" in warnings


def test_a_broken_sheet_is_named_and_the_others_are_read(book):
    parsed = book({"好": row(text("甲")) + END, "坏": "<row>"})
    assert [page.text for page in parsed.pages] == ["甲", ""]
    assert "坏" in parsed.warnings[0]


def test_entities_are_not_expanded(book, tmp_path):
    parsed = book({"好": row(text("甲")) + END, "弹": row(text("乙")) + END})
    bomb = "<!DOCTYPE x [<!ENTITY a 'aaaa'>]><worksheet><sheetData><row><c t='str'><v>&a;</v></c></row></sheetData></worksheet>"
    source, target = tmp_path / "x.xlsx", tmp_path / "y.xlsx"
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, bomb if name.endswith("sheet2.xml") else old.read(name))
    assert parsed.warnings == ()
    parsed = parser.parse(target, "y.xlsx")
    assert [page.text for page in parsed.pages] == ["甲", ""]
    assert "弹" in parsed.warnings[0]


@pytest.mark.parametrize("content", [row(text(" ")) + END, END])
def test_a_workbook_without_text_is_refused(book, content):
    with pytest.raises(Refused):
        book({"表": content})


def test_what_is_no_workbook_is_refused(tmp_path):
    path = tmp_path / "x.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", "x")
    with pytest.raises(Refused):
        parser.parse(path, "x.xlsx")
