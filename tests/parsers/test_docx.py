"""Each trap of Word documents, in a small file made here."""

import io
import re
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import docx
import pytest
from docx.enum.text import WD_BREAK
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.errors import ParseFailed, Refused
from kb.noise import mark_noise
from kb.parsers import docx as parser
from kb.parsers.sandbox import Sandbox
from kb.ports import ParseLimits

W = nsdecls("w")
WPS = 'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
MC = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'


def _sample():
    document = docx.Document()
    document.add_heading("标题", 1)
    document.add_paragraph("正文")
    target = io.BytesIO()
    document.save(target)
    return target.getvalue()


SAMPLE = _sample()


@pytest.fixture
def document():
    return docx.Document()


@pytest.fixture
def read(tmp_path):
    def read(document):
        path = tmp_path / "x.docx"
        document.save(path)
        return parser.parse(path, "x.docx")

    return read


def add(document, xml):
    """Append a body element, given as XML in the w namespace."""
    element = parse_xml(re.sub(r"^<(w:\w+)", rf"<\1 {W} {WPS} {MC}", xml))
    document.element.body.insert_element_before(element, "w:sectPr")
    return element


def shown(parsed):
    return [page.text.split("\n") for page in parsed.pages]


def run(text):
    return f"<w:r><w:t xml:space='preserve'>{text}</w:t></w:r>"


def text_box(text):
    return (
        "<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wps:txbx><w:txbxContent>"
        f"<w:p>{run(text)}</w:p></w:txbxContent></wps:txbx></w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict><w:txbxContent><w:p>{run(text)}</w:p></w:txbxContent></w:pict>"
        "</mc:Fallback></mc:AlternateContent></w:r>"
    )


def cell(content, properties=""):
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{content}</w:tc>"


def table(*rows):
    return "<w:tbl>" + "".join(f"<w:tr>{''.join(row)}</w:tr>" for row in rows) + "</w:tbl>"


def paragraph(text):
    return f"<w:p>{run(text)}</w:p>"


def test_insertions_are_kept_and_deletions_dropped(document, read):
    add(
        document,
        f"<w:p>{run('经费')}<w:ins w:id='1'>{run('3,200')}</w:ins>"
        "<w:del w:id='2'><w:r><w:delText>2,800</w:delText></w:r></w:del>"
        f"<w:moveFrom w:id='3'>{run('旧')}</w:moveFrom><w:moveTo w:id='4'>{run('新')}</w:moveTo>"
        f"{run('万元')}</w:p>",
    )
    assert shown(read(document)) == [["经费3,200新万元"]]


def test_a_deleted_paragraph_mark_joins_the_paragraphs(document, read):
    add(document, f"<w:p><w:pPr><w:rPr><w:del w:id='1'/></w:rPr></w:pPr>{run('前半')}</w:p>")
    add(document, paragraph("后半"))
    assert shown(read(document)) == [["前半后半"]]


def test_deleted_rows_are_gone(document, read):
    add(
        document,
        "<w:tbl><w:tr><w:trPr><w:del w:id='1'/></w:trPr>"
        f"{cell(paragraph('旧'))}</w:tr><w:tr>{cell(paragraph('新'))}</w:tr></w:tbl>",
    )
    assert shown(read(document)) == [["新"]]


def test_a_text_box_is_shown_once_after_its_paragraph(document, read):
    add(document, f"<w:p>{run('正文')}{text_box('框中文字')}{run('继续')}</w:p>")
    assert shown(read(document)) == [["正文继续", "框中文字"]]


def test_a_text_box_in_a_cell_stays_in_its_row(document, read):
    add(
        document,
        table([cell(f"<w:p>{run('单位')}{text_box('（盖章）')}</w:p>"), cell(paragraph("日期"))]),
    )
    assert shown(read(document)) == [["单位 （盖章） | 日期"]]


def test_a_fallback_alone_is_read(document, read):
    add(
        document,
        "<w:p><w:r><mc:AlternateContent><mc:Fallback><w:pict><w:txbxContent>"
        f"{paragraph('旧框')}</w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>",
    )
    assert "旧框" in shown(read(document))[0]


def test_a_table_stands_between_its_paragraphs(document, read):
    document.add_paragraph("前")
    grid = document.add_table(2, 2)
    for place, text in enumerate(("项目", "金额", "经费", "100")):
        grid.cell(*divmod(place, 2)).text = text
    document.add_paragraph("后")
    parsed = read(document)
    assert shown(parsed) == [["前", "项目 | 金额", "经费 | 100", "后"]]
    assert [(e.kind, e.line_start, e.line_end) for e in parsed.pages[0].elements] == [
        ("table", 2, 3)
    ]


def test_merged_cells_are_shown_once_and_keep_their_place(document, read):
    grid = document.add_table(3, 3)
    for place in range(9):
        grid.cell(*divmod(place, 3)).text = str(place)
    grid.cell(0, 0).merge(grid.cell(0, 1)).text = "宽"
    grid.cell(1, 0).merge(grid.cell(2, 0)).text = "高"
    assert shown(read(document)) == [["宽 | 2", "高 | 4 | 5", "| 7 | 8"]]


def test_a_nested_table_flows_into_its_cell(document, read):
    inner = table([cell(paragraph("甲")), cell(paragraph("乙"))], [cell(paragraph("丙"))])
    add(document, table([cell(paragraph("左") + inner + paragraph("右")), cell(paragraph("末"))]))
    assert shown(read(document)) == [["左 甲 乙 丙 右 | 末"]]


def test_cells_of_several_lines_are_one_line(document, read):
    grid = document.add_table(1, 2)
    grid.cell(0, 0).text = "第一段\n第二段"
    grid.cell(0, 1).text = "值"
    assert shown(read(document)) == [["第一段 第二段 | 值"]]


def test_content_controls_and_links_are_read(document, read):
    add(document, f"<w:sdt><w:sdtContent>{paragraph('块')}</w:sdtContent></w:sdt>")
    add(
        document,
        f"<w:p><w:sdt><w:sdtContent>{run('内联')}</w:sdtContent></w:sdt>"
        f"<w:hyperlink>{run('链接')}</w:hyperlink><w:smartTag>{run('标记')}</w:smartTag></w:p>",
    )
    assert shown(read(document)) == [["块", "内联链接标记"]]


def test_field_results_are_shown_and_codes_are_not(document, read):
    def mark(kind):
        return f"<w:r><w:fldChar w:fldCharType='{kind}'/></w:r>"

    nested = f"{mark('begin')}<w:r><w:instrText>PAGE</w:instrText></w:r>{run('假')}{mark('end')}"
    add(
        document,
        f"<w:p>{run('共')}{mark('begin')}<w:r><w:instrText>IF </w:instrText></w:r>{nested}"
        f"{mark('separate')}{run('12')}{mark('end')}{run('页')}</w:p>",
    )
    add(document, f"<w:p>{mark('begin')}{run('丢')}</w:p>")
    add(document, paragraph("未结束的域不吞掉后文"))
    assert shown(read(document)) == [["共12页", "", "未结束的域不吞掉后文"]]


def test_breaks_and_tabs_inside_a_paragraph(document, read):
    add(
        document,
        f"<w:p>{run('甲')}<w:r><w:tab/></w:r>{run('乙')}<w:r><w:br/></w:r>{run('丙')}"
        "<w:r><w:noBreakHyphen/></w:r><w:r><w:softHyphen/></w:r>"
        f"<w:r><w:sym w:font='Symbol' w:char='2022'/></w:r>{run('&#x2028;&#x85;丁')}</w:p>",
    )
    assert shown(read(document)) == [["甲\t乙", "丙-•\u2028\x85丁"]]


def test_hidden_text_is_left_out_and_said(document, read):
    paragraph = document.add_paragraph("可见")
    paragraph.add_run("隐藏指令").font.hidden = True
    parsed = read(document)
    assert shown(parsed) == [["可见"]]
    assert "4" in parsed.warnings[0]


def test_ruby_keeps_its_base(document, read):
    add(
        document,
        f"<w:p><w:r><w:ruby><w:rt>{run('hàn')}</w:rt><w:rubyBase>{run('汉')}</w:rubyBase></w:ruby>"
        "</w:r></w:p>",
    )
    assert shown(read(document)) == [["汉（hàn）"]]


def test_headings_come_from_styles_and_outline_levels(document, read):
    document.add_heading("第一章 总则", 1)
    document.add_heading("第一节", 2)
    add(document, f"<w:p><w:pPr><w:outlineLvl w:val='2'/></w:pPr>{run('三级')}</w:p>")
    add(document, f"<w:p><w:pPr><w:outlineLvl w:val='9'/></w:pPr>{run('正文')}</w:p>")
    derived = document.styles.add_style("公文标题", 1)
    derived.base_style = document.styles["Heading 3"]
    document.add_paragraph("派生", style=derived)
    levels = [(e.line_start, e.level) for e in read(document).pages[0].elements]
    assert levels == [(1, 1), (2, 2), (3, 3), (5, 3)]


# Pages


def test_hard_breaks_end_pages_and_their_records_do_not_count_twice(document, read):
    document.add_paragraph("一").add_run().add_break(WD_BREAK.PAGE)
    add(document, f"<w:p><w:r><w:lastRenderedPageBreak/></w:r>{run('二')}</w:p>")
    add(document, f"<w:p>{run('二续')}<w:r><w:lastRenderedPageBreak/></w:r>{run('三')}</w:p>")
    add(document, f"<w:p><w:pPr><w:pageBreakBefore/></w:pPr>{run('四')}</w:p>")
    parsed = read(document)
    assert shown(parsed) == [["一"], ["二", "二续"], ["三"], ["四"]]
    assert {page.kind for page in parsed.pages} == {"rendered"}


@pytest.mark.parametrize(("kind", "pages"), [("nextPage", 2), ("oddPage", 2), ("continuous", 1)])
def test_the_next_section_says_whether_it_starts_a_page(document, read, kind, pages):
    add(document, f"<w:p><w:pPr><w:sectPr/></w:pPr>{run('上')}</w:p>")
    document.add_paragraph("下")
    document.element.body.sectPr.insert(0, parse_xml(f"<w:type {W} w:val='{kind}'/>"))
    assert len(read(document).pages) == pages


def test_a_break_inside_a_table_falls_between_rows(document, read):
    broken = f"<w:p><w:r><w:lastRenderedPageBreak/></w:r>{run('下页')}</w:p>"
    add(document, table([cell(paragraph("上页"))], [cell(broken)]))
    parsed = read(document)
    assert shown(parsed) == [["上页"], ["下页"]]
    assert all(page.elements[0].kind == "table" for page in parsed.pages)


def test_long_pages_are_cut_at_sixty_lines(document, read):
    for number in range(130):
        document.add_paragraph(f"第{number}段")
    assert [len(page) for page in shown(read(document))] == [60, 60, 10]


def test_notes_stand_at_the_end_of_their_page_in_the_order_of_the_text(
    document, tmp_path, edit_docx
):
    for number in (7, 3):
        add(
            document,
            f"<w:p>{run(f'正文{number}')}<w:r><w:footnoteReference w:id='{number}'/></w:r>"
            "<w:r><w:br w:type='page'/></w:r></w:p>",
        )
    path = tmp_path / "n.docx"
    document.save(path)
    notes = "".join(
        f"<w:footnote w:id='{n}'><w:p>{run(f'注{n}')}</w:p></w:footnote>" for n in (3, 7)
    )
    target = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    relation = f'<Relationship Id="rF" Type="{target}" Target="footnotes.xml"/></Relationships>'
    path = edit_docx(
        path,
        {
            "word/footnotes.xml": lambda _: f"<w:footnotes {W}>{notes}</w:footnotes>".encode(),
            "word/_rels/document.xml.rels": lambda data: data.replace(
                b"</Relationships>", relation.encode()
            ),
        },
    )
    parsed = parser.parse(path, "n.docx")
    assert shown(parsed) == [["正文7 [1]", "[1] 注7"], ["正文3 [2]", "[2] 注3"]]
    assert parsed.pages[0].elements[0].kind == "note"


def test_headers_and_footers_are_shown_once_as_noise(document, read):
    section = document.sections[0]
    section.header.paragraphs[0].text = "海州市人民政府文件"
    section.footer.paragraphs[0].text = "内部资料"
    document.add_paragraph("正文").add_run().add_break(WD_BREAK.PAGE)
    document.add_paragraph("次页")
    parsed = read(document)
    assert shown(parsed) == [["海州市人民政府文件", "正文", "内部资料"], ["次页"]]
    assert parsed.pages[0].noise == (1, 3)
    assert [e.kind for e in parsed.pages[0].elements] == ["header", "footer"]


# Damage


@pytest.fixture
def saved(document, tmp_path):
    document.add_paragraph("正文")
    path = tmp_path / "x.docx"
    document.save(path)
    return path


def test_strict_ooxml_is_read(saved, edit_docx):
    def strict(data):
        data = data.replace(
            b"http://schemas.openxmlformats.org/wordprocessingml/2006/",
            b"http://purl.oclc.org/ooxml/wordprocessingml/",
        )
        return data.replace(
            b"http://schemas.openxmlformats.org/officeDocument/2006/",
            b"http://purl.oclc.org/ooxml/officeDocument/",
        )

    parts = ("_rels/.rels", "word/document.xml", "word/_rels/document.xml.rels", "word/styles.xml")
    path = edit_docx(saved, dict.fromkeys(parts, strict))
    assert shown(parser.parse(path, "x.docx")) == [["正文"]]


def test_a_relation_to_nowhere_is_no_obstacle(saved, edit_docx):
    """WPS writes Target="NULL" for pictures it has lost; python-docx raises KeyError there."""

    def break_styles(data):
        return data.replace(b'Target="styles.xml"', b'Target="NULL"')

    parsed = parser.parse(
        edit_docx(saved, {"word/_rels/document.xml.rels": break_styles}), "x.docx"
    )
    assert shown(parsed) == [["正文"]]
    assert "NULL" in parsed.warnings[0]


@pytest.mark.parametrize("content", [b"<w:document", b"", b"\0\0"])
def test_a_broken_body_is_refused(saved, edit_docx, content):
    with pytest.raises(Refused, match=r"规划\.docx"):
        parser.parse(edit_docx(saved, {"word/document.xml": lambda _: content}), "规划.docx")


def test_a_missing_body_is_refused_by_its_name(saved, edit_docx):
    path = edit_docx(saved, {"_rels/.rels": lambda data: data.replace(b"word/document", b"word/x")})
    with pytest.raises(Refused, match=r"word/x\.xml"):
        parser.parse(path, "x.docx")


def test_a_document_type_is_refused(saved, edit_docx):
    """The standard forbids it; entities could hide or fetch text."""
    bomb = (
        "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/hostname'>]>"
        f"<w:document {W}><w:body><w:p><w:r><w:t>甲&a;乙</w:t></w:r></w:p></w:body></w:document>"
    )
    with pytest.raises(Refused, match="XML"):
        parser.parse(edit_docx(saved, {"word/document.xml": lambda _: bomb.encode()}), "x.docx")


def test_a_document_without_text_is_refused(document, read):
    document.add_paragraph(" ")
    with pytest.raises(Refused):
        read(document)


def test_a_table_without_text_is_no_text(document, read):
    document.add_table(2, 2)
    with pytest.raises(Refused):
        read(document)


def test_lists_and_styles_never_lose_a_character(document, read):
    """Every w:t that is not deleted is shown: the whole of python-docx' own view."""
    document.add_heading("标题", 1)
    for style in ("List Bullet", "List Number", "Quote", "Caption"):
        document.add_paragraph(f"{style}的内容", style=style)
    wanted = [t.text for t in document.element.body.iter(qn("w:t"))]
    lines = shown(read(document))[0]
    assert [line.removeprefix("• ").removeprefix("1. ") for line in lines] == wanted


@given(
    st.lists(
        st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=20
    )
)
@settings(max_examples=150, deadline=None)
def test_any_damage_is_a_refusal_or_a_reading_never_another_error(changes):
    data = bytearray(SAMPLE)
    for place, byte in changes:
        data[int(place * len(data))] = byte
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.docx"
        path.write_bytes(data)
        with suppress(Refused):
            assert parser.parse(path, "x.docx").pages


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="RLIMIT_AS")
def test_too_little_memory_for_the_xml_is_not_called_damage(saved, edit_docx):
    row = b"<w:p><w:r><w:t>1</w:t></w:r></w:p>"
    path = edit_docx(
        saved,
        {
            "word/document.xml": lambda data: data.replace(
                b"<w:sectPr", row * 1_000_000 + b"<w:sectPr"
            )
        },
    )
    box = Sandbox(ParseLimits(memory_mb=400))
    with pytest.raises(ParseFailed, match="400 MiB"):
        box.parse(path, "x.docx")
    box.close()


# Numbers, margins, drawings


def numbered(text, level=0, extra=""):
    properties = f"<w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='77'/></w:numPr>"
    return f"<w:p><w:pPr>{properties}{extra}</w:pPr>{text}</w:p>"


@pytest.fixture
def articles(document):
    """A document whose list 77 is 第一条, then （一）."""
    levels = "".join(
        f"<w:lvl w:ilvl='{i}'><w:start w:val='1'/><w:numFmt w:val='chineseCountingThousand'/>"
        f"<w:suff w:val='{suffix}'/><w:lvlText w:val='{text}'/></w:lvl>"
        for i, (text, suffix) in enumerate((("第%1条", "space"), ("（%2）", "nothing")))
    )
    root = document.part.numbering_part.element
    abstract = f"<w:abstractNum {W} w:abstractNumId='77'>{levels}</w:abstractNum>"
    root.insert(0, parse_xml(abstract))
    root.append(parse_xml(f"<w:num {W} w:numId='77'><w:abstractNumId w:val='77'/></w:num>"))
    return document


def test_automatic_numbers_are_shown(articles, read):
    for text, level in (("为了规范", 0), ("其一", 1), ("其二", 1), ("本办法", 0), ("其一", 1)):
        add(articles, numbered(run(text), level))
    add(articles, table([cell(numbered(run("格内"))), cell(paragraph("值"))]))
    assert shown(read(articles)) == [
        [
            "第一条 为了规范",
            "（一）其一",
            "（二）其二",
            "第二条 本办法",
            "（一）其一",
            "第三条 格内 | 值",
        ]
    ]


def test_tracked_changes_keep_the_count(articles, read):
    add(articles, numbered(run("甲")))
    add(
        articles,
        numbered(f"<w:del w:id='1'>{run('')}</w:del>", 0, "<w:rPr><w:del w:id='2'/></w:rPr>"),
    )
    add(articles, numbered(f"<w:ins w:id='3'>{run('乙')}</w:ins>"))
    hidden = "<w:r><w:rPr><w:vanish/></w:rPr><w:t>隐</w:t></w:r>"
    add(articles, numbered(hidden, 0, "<w:rPr><w:vanish/></w:rPr>"))
    add(articles, numbered(run("丙")))
    assert [line for line in shown(read(articles))[0] if line] == [
        "第一条 甲",
        "第二条 乙",
        "第三条 丙",
    ]


def test_a_number_stands_behind_the_break_that_opens_its_paragraph(articles, read):
    add(articles, numbered(run("甲")))
    add(articles, numbered(f"<w:r><w:br w:type='page'/></w:r>{run('乙')}"))
    assert shown(read(articles)) == [["第一条 甲"], ["第二条 乙"]]


def test_headers_change_with_their_sections_and_first_pages(document, read):
    first, _ = document.sections[0], document.add_paragraph("一")
    first.different_first_page_header_footer = True
    first.first_page_header.paragraphs[0].text = "封面"
    first.header.paragraphs[0].text = "页眉甲"
    first.footer.paragraphs[0].text = "页脚"
    for text in ("二", "三"):
        document.add_paragraph().add_run().add_break(WD_BREAK.PAGE)
        document.add_paragraph(text)
    second = document.add_section()
    second.different_first_page_header_footer = False
    second.header.is_linked_to_previous = False
    second.header.paragraphs[0].text = "页眉乙"
    document.add_paragraph("四")
    parsed = read(document)
    assert shown(parsed) == [
        ["封面", "一"],
        ["页眉甲", "二", "页脚"],
        ["三", ""],
        ["页眉乙", "四"],
    ]
    assert [page.noise for page in parsed.pages] == [(1,), (1, 3), (), (1,)]


def test_even_pages_have_their_own_headers_where_the_document_says_so(document, read):
    document.settings.odd_and_even_pages_header_footer = True
    document.sections[0].header.paragraphs[0].text = "单页"
    document.sections[0].even_page_header.paragraphs[0].text = "双页"
    for text in "一二三":
        document.add_paragraph(text)
        if text != "三":
            document.add_paragraph().add_run().add_break(WD_BREAK.PAGE)
    assert [page[0] for page in shown(read(document))] == ["单页", "双页", "三"]


def test_noise_of_the_parser_stays_noise(document, read):
    document.sections[0].header.paragraphs[0].text = "页眉"
    document.add_paragraph("正文")
    assert mark_noise(read(document).pages)[0].noise == (1,)


def test_header_rows_of_tables_are_counted(document, read):
    marked = "<w:tr><w:trPr><w:tblHeader/></w:trPr>{}</w:tr>"
    cells = cell(paragraph("甲")) + cell(paragraph("乙"))
    plain = f"<w:tr>{cells}</w:tr>"
    for rows in (marked.format(cells) * 2 + plain, plain * 3, plain, marked.format(cells) * 2):
        add(document, f"<w:tbl>{rows}</w:tbl>")
        add(document, paragraph("间"))
    levels = [element.level for element in read(document).pages[0].elements]
    assert levels == [2, 1, 0, 1]


def test_a_table_that_goes_on_has_no_header_of_its_own(document, read):
    grid = document.add_table(70, 2)
    for place, cell_ in enumerate(grid._cells):
        cell_.text = str(place)
    elements = [page.elements[0] for page in read(document).pages]
    assert [(e.line_start, e.line_end, e.level) for e in elements] == [(1, 60, 1), (1, 10, 0)]


M = "xmlns:m='http://schemas.openxmlformats.org/officeDocument/2006/math'"


def test_equations_read_on_one_line(document, read):
    def r(text):
        return f"<m:r><m:t>{text}</m:t></m:r>"

    power = f"<m:sSup><m:e>{r('x')}</m:e><m:sup>{r('2')}</m:sup></m:sSup>"
    fraction = f"<m:f><m:num>{r('a+b')}</m:num><m:den>{r('c')}</m:den></m:f>"
    total = (
        f"<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub>{r('i=1')}</m:sub>"
        f"<m:sup>{r('n')}</m:sup><m:e><m:d><m:e>{r('x')}</m:e></m:d></m:e></m:nary>"
    )
    add(document, f"<w:p>{run('设')}<m:oMath {M}>{power}{r('=')}{fraction}{total}</m:oMath></w:p>")
    assert shown(read(document)) == [["设x^2=(a+b)/c∑_(i=1)^n (x)"]]


def test_charts_and_diagrams_are_read_where_they_stand(document, tmp_path, edit_docx):
    add(
        document,
        "<w:p><w:r><w:t>前</w:t></w:r><w:r><w:drawing><c:chart xmlns:c='c' xmlns:r='r' r:id='rC'/>"
        "<d:relIds xmlns:d='d' xmlns:r='r' r:dm='rD'/><c:chart xmlns:c='c' xmlns:r='r' r:id='rX'/>"
        "</w:drawing></w:r></w:p>",
    )
    add(document, paragraph("后"))
    path = tmp_path / "c.docx"
    document.save(path)

    def points(*values):
        inner = "".join(f"<pt idx='{i}'><v>{v}</v></pt>" for i, v in enumerate(values))
        return f"<cache>{inner}</cache>"

    chart = (
        (
            f"<c><title><t>产量</t></title><ser><tx>{points('去年')}</tx><cat>{points('甲', '乙')}</cat>"
            f"<val>{points('1.5', '4.4000000000000004')}</val></ser></c>"
        )
        .replace("<cache>", "")
        .replace("</cache>", "")
    )
    diagram = "<d><pt><p><t>第一步</t></p></pt><pt><p/></pt><pt><p><t>第二步</t></p></pt></d>"
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
    relations = "".join(
        f'<Relationship Id="{ref}" Type="{kind}{role}" Target="{target}"/>'
        for ref, role, target in (("rC", "chart", "c.xml"), ("rD", "diagramData", "d.xml"))
    )
    path = edit_docx(
        path,
        {
            "word/c.xml": lambda _: chart.encode(),
            "word/d.xml": lambda _: diagram.encode(),
            "word/_rels/document.xml.rels": lambda data: data.replace(
                b"</Relationships>", f"{relations}</Relationships>".encode()
            ),
        },
    )
    parsed = parser.parse(path, "c.docx")
    assert shown(parsed) == [
        ["前", "产量", "| 去年", "甲 | 1.5", "乙 | 4.4", "第一步", "第二步", "后"]
    ]
    assert "1" in parsed.warnings[0]
