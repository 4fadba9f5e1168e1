"""Each trap of OpenDocument text, sheets and slides, in a small package made here."""

import zipfile

import pytest

from kb.errors import Refused
from kb.parsers.odf import odt
from kb.parsers.sheets import ods
from kb.parsers.slides import odp

NAMES = " ".join(
    f"xmlns:{short}='urn:oasis:names:tc:opendocument:xmlns:{name}:1.0'"
    for short, name in {
        "office": "office", "text": "text", "table": "table", "style": "style", "draw": "drawing",
        "fo": "xsl-fo-compatible", "svg": "svg-compatible", "presentation": "presentation",
    }.items()
)  # fmt: skip
NUMBERED = (
    "<text:list-style style:name='L1'>"
    "<text:list-level-style-number text:level='1' style:num-format='1' style:num-suffix='.'/>"
    "<text:list-level-style-number text:level='2' style:num-format='1' text:display-levels='2'/>"
    "</text:list-style>"
    "<text:list-style style:name='L2'>"
    "<text:list-level-style-number text:level='1' style:num-format='一, 二, 三, ...' style:num-suffix='、'/>"
    "<text:list-level-style-bullet text:level='2' text:bullet-char='•'/>"
    "</text:list-style>"
    "<style:style style:name='B'><style:paragraph-properties fo:break-before='page'/></style:style>"
    "<style:style style:name='C' style:parent-style-name='B'/>"
)


@pytest.fixture
def package(tmp_path):
    def package(
        name, body, styles="", *, head="<?xml version='1.0'?>", manifest="<m/>", parts=None
    ):
        path = tmp_path / name
        content = (
            f"{head}<office:document-content {NAMES}><office:automatic-styles>{styles}"
            f"</office:automatic-styles><office:body>{body}</office:body></office:document-content>"
        )
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
            archive.writestr("content.xml", content)
            archive.writestr("META-INF/manifest.xml", manifest)
            for part, data in (parts or {}).items():
                archive.writestr(part, data)
        return path

    return package


@pytest.fixture
def text(package):
    def text(body, styles=NUMBERED, **more):
        path = package("x.odt", f"<office:text>{body}</office:text>", styles, **more)
        return odt.parse(path, "x.odt")

    return text


def p(content, style=""):
    return f"<text:p text:style-name='{style}'>{content}</text:p>"


def items(*contents):
    return "".join(f"<text:list-item>{content}</text:list-item>" for content in contents)


def lines(parsed, page=0):
    return parsed.pages[page].text.split("\n")


def kinds(page):
    return [(e.kind, e.line_start, e.line_end, e.level) for e in page.elements]


# Text


def test_white_space_tabs_and_breaks(text):
    body = p(
        "  甲 \n  乙<text:s text:c='3'/>丙<text:tab/>丁<text:line-break/>戊<text:span> 己</text:span>"
    )
    assert lines(text(body)) == ["甲 乙   丙\t丁", "戊 己"]


def test_headings_have_levels(text):
    body = (
        "<text:h text:outline-level='1'>总则</text:h><text:h text:outline-level='2'>范围</text:h>"
        + p("文")
    )
    assert kinds(text(body).pages[0]) == [("heading", 1, 1, 1), ("heading", 2, 2, 2)]


def test_headings_are_numbered_by_the_outline(text):
    outline = (
        "<text:outline-style style:name='Outline'>"
        "<text:outline-level-style text:level='1' style:num-format='1'/>"
        "<text:outline-level-style text:level='2' style:num-format='1' text:display-levels='2'/>"
        "</text:outline-style>"
    )
    heads = "".join(f"<text:h text:outline-level='{level}'>{name}</text:h>" for level, name in
                    ((1, "甲"), (2, "乙"), (2, "丙"), (1, "丁"), (2, "戊")))  # fmt: skip
    assert lines(text(heads, outline)) == ["1 甲", "1.1 乙", "1.2 丙", "2 丁", "2.1 戊"]


def test_tracked_deletions_are_gone_and_counted(text):
    deleted = f"<text:tracked-changes><text:changed-region><text:deletion>{p('旧')}</text:deletion></text:changed-region></text:tracked-changes>"
    body = deleted + p(
        "前<text:change text:change-id='1'/><text:change-start text:change-id='2'/>新<text:change-end text:change-id='2'/>后"
    )
    parsed = text(body)
    assert lines(parsed) == ["前新后"]
    assert "1" in parsed.warnings[0]


def test_lists_are_numbered(text):
    inner = f"<text:list>{items(p('甲一'), p('甲二'))}</text:list>"
    body = f"<text:list text:style-name='L1'>{items(p('甲') + inner, p('乙') + p('续'), p('丙') + inner)}</text:list>"
    assert lines(text(body)) == [
        "1. 甲",
        "1.1 甲一",
        "1.2 甲二",
        "2. 乙",
        "续",
        "3. 丙",
        "3.1 甲一",
        "3.2 甲二",
    ]


def test_chinese_numbers_bullets_and_lists_that_go_on(text):
    first = f"<text:list text:style-name='L2' xml:id='a'>{items(p('甲') + '<text:list>' + items(p('点')) + '</text:list>')}</text:list>"
    body = (
        first + p("之间")
        + f"<text:list text:style-name='L2' text:continue-list='a'>{items(p('乙'))}</text:list>"
        + f"<text:list text:style-name='L2'>{items(p('丙'))}</text:list>"
        + f"<text:list text:style-name='L1'><text:list-item text:start-value='7'>{p('丁')}</text:list-item></text:list>"
    )  # fmt: skip
    assert lines(text(body)) == ["一、 甲", "• 点", "之间", "二、 乙", "一、 丙", "7. 丁"]


def test_a_table_is_rows(text):
    def cell(content, more=""):
        return f"<table:table-cell{more}>{content}</table:table-cell>"

    nested = f"<table:table><table:table-row>{cell(p('丙'))}{cell(p('丁'))}</table:table-row></table:table>"
    body = (
        p("前")
        + "<table:table><table:table-header-rows><table:table-row>"
        + cell(p("项目")) + cell(p("金额")) + "</table:table-row></table:table-header-rows>"
        + "<table:table-row>" + cell(p("甲") + p("乙")) + cell(nested) + "</table:table-row>"
        + "<table:table-row>" + cell(p("宽"), " table:number-columns-spanned='2'")
        + "<table:covered-table-cell/></table:table-row></table:table>" + p("后")
    )  # fmt: skip
    parsed = text(body)
    assert lines(parsed) == ["前", "项目 | 金额", "甲 乙 | 丙 丁", "宽 | ", "后"]
    assert kinds(parsed.pages[0]) == [("table", 2, 4, 1)]


def test_footnotes_stand_below_their_page(text):
    note = (
        "<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        f"{p('注一')}{p('注二')}</text:note-body></text:note>"
    )
    parsed = text(p(f"正文{note}继续") + p("下文"))
    assert lines(parsed) == ["正文[1]继续", "下文", "[1] 注一", "注二"]
    assert kinds(parsed.pages[0]) == [("note", 3, 4, 0)]


def test_a_footnote_in_a_cell_is_not_lost(text):
    note = f"<text:note><text:note-citation>2</text:note-citation><text:note-body>{p('注')}</text:note-body></text:note>"
    cell = f"<table:table-cell>{p('甲' + note)}</table:table-cell>"
    parsed = text(
        f"<table:table><table:table-row>{cell}{cell}</table:table-row></table:table>{p('后')}"
    )
    assert lines(parsed) == ["甲[2] | 甲[2]", "后", "[2] 注", "[2] 注"]


def test_frames_ruby_and_comments(text):
    box = f"<draw:frame><draw:text-box>{p('框')}</draw:text-box><svg:desc>描述</svg:desc></draw:frame>"
    ruby = "<text:ruby><text:ruby-base>漢</text:ruby-base><text:ruby-text>kan</text:ruby-text></text:ruby>"
    parsed = text(
        p(f"前{box}{ruby}<office:annotation><creator>甲</creator>{p('批')}</office:annotation>后")
        + "<draw:frame><draw:image/></draw:frame>"
    )
    assert lines(parsed) == ["前漢后", "框", "[甲] 批"]
    assert len(parsed.warnings) == 1


def test_pages_end_at_breaks_and_after_sixty_lines(text):
    parsed = text(
        p("一")
        + p("二<text:soft-page-break/>三")
        + p("四", "C")
        + "<text:soft-page-break/>"
        + p("五")
    )
    assert [page.text for page in parsed.pages] == ["一\n二", "三", "四", "五"]
    assert {page.kind for page in parsed.pages} == {"rendered"}
    assert [len(page.text.split("\n")) for page in text(p("行") * 100).pages] == [60, 40]


def test_an_external_dtd_is_not_read(text):
    head = "<?xml version='1.0'?><!DOCTYPE office:document-content SYSTEM 'http://127.0.0.1:9/office.dtd'>"
    assert lines(text(p("甲"), head=head)) == ["甲"]


@pytest.mark.parametrize(
    "more",
    [
        {"head": "<!DOCTYPE x [<!ENTITY a 'aaaa'>]>"},
        {"head": "<broken>"},
        {"manifest": "<m:manifest><m:encryption-data/></m:manifest>"},
        {"parts": {"encrypted-package": "x"}},
    ],
)
def test_bombs_broken_and_encrypted_files_are_refused(text, more):
    with pytest.raises(Refused, match=r"x\.odt"):
        text(p("甲"), **more)


def test_a_document_without_text_is_refused(text, package):
    with pytest.raises(Refused):
        text(p(" "))
    with pytest.raises(Refused):
        odt.parse(package("y.odt", "<office:spreadsheet/>"), "y.odt")


# Sheets


def table(name, *rows, style=""):
    return (
        f"<table:table table:name='{name}' table:style-name='{style}'>{''.join(rows)}</table:table>"
    )


def row(*cells, more=""):
    return f"<table:table-row{more}>{''.join(cells)}</table:table-row>"


def cell(shown="", more=""):
    return f"<table:table-cell{more}>{p(shown) if shown else ''}</table:table-cell>"


def test_a_sheet_shows_what_its_cells_display(package):
    body = "<office:spreadsheet>" + table(
        "收入",
        "<table:table-header-rows>" + row(cell("项目"), cell("金额")) + "</table:table-header-rows>",
        row(cell(more=" table:number-columns-repeated='16384'"), more=" table:number-rows-repeated='2'"),
        row(cell("水"), cell("1,234.50", " office:value-type='float' office:value='1234.5'")),
        row(cell("电"), cell(more=" office:value-type='float' office:value='7'"), more=" table:number-rows-repeated='2'"),
        row(cell("日"), cell(more=" office:value-type='date' office:date-value='2024-03-14'")),
        row(cell("宽", " table:number-columns-spanned='2'"), "<table:covered-table-cell><text:p>藏</text:p></table:covered-table-cell>"),
        row(cell(more=" table:number-columns-repeated='16384'"), more=" table:number-rows-repeated='1048000'"),
    ) + table("暗", row(cell("甲")), style="H") + "</office:spreadsheet>"  # fmt: skip
    styles = (
        "<style:style style:name='H'><style:table-properties table:display='false'/></style:style>"
    )
    parsed = ods.parse(package("x.ods", body, styles), "x.ods")
    assert lines(parsed) == [
        "项目 | 金额",
        "",
        "",
        "水 | 1,234.50",
        "电 | 7",
        "电 | 7",
        "日 | 2024-03-14",
        "宽",
    ]
    assert (parsed.pages[0].label, parsed.pages[0].kind) == ("收入", "sheet")
    assert kinds(parsed.pages[0])[0] == ("table", 1, 8, 1)
    assert "暗" in parsed.warnings[0]


# Slides


def frame(content, kind="", x=1, y=1, h=1):
    return f"<draw:frame presentation:class='{kind}' svg:x='{x}cm' svg:y='{y}cm' svg:height='{h}cm'><draw:text-box>{content}</draw:text-box></draw:frame>"


def test_slides_read_title_first_then_down_then_the_notes(package):
    slide = (
        "<draw:page draw:name='page1'>"
        + frame(p("页脚"), "footer", y=18) + frame(p("右"), x=14, y=5, h=4) + frame(p("左"), x=1, y=5.2, h=4)
        + frame(p("标题"), "title", y=1) + f"<draw:g><draw:custom-shape svg:x='1cm' svg:y='12cm'>{p('组')}</draw:custom-shape></draw:g>"
        + f"<presentation:notes>{frame(p('备注'), 'notes')}</presentation:notes></draw:page>"
    )  # fmt: skip
    hidden = f"<draw:page draw:name='附录' draw:style-name='H'>{frame(p('隐'))}</draw:page>"
    styles = "<style:style style:name='H'><style:drawing-page-properties presentation:visibility='hidden'/></style:style>"
    parsed = odp.parse(
        package("x.odp", f"<office:presentation>{slide}{hidden}</office:presentation>", styles),
        "x.odp",
    )
    assert lines(parsed) == ["标题", "左", "右", "组", "页脚", "备注"]
    assert kinds(parsed.pages[0]) == [("heading", 1, 1, 1), ("footer", 5, 5, 0), ("note", 6, 6, 0)]
    assert parsed.pages[0].noise == (5,)
    assert [page.label for page in parsed.pages] == ["", "附录"]
    assert "2" in parsed.warnings[0]
