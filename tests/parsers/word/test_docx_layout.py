"""Automatic numbers, headers, table headers, equations and drawings of Word documents."""

import pytest
from docx.enum.text import WD_BREAK
from docx.oxml import parse_xml
from docx_support import W, add, cell, paragraph, run, shown, table

from kb.parsers.word import docx as parser
from kb.text.noise import mark_noise

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


def test_automatic_numbers_are_shown(articles, read_docx):
    for text, level in (("为了规范", 0), ("其一", 1), ("其二", 1), ("本办法", 0), ("其一", 1)):
        add(articles, numbered(run(text), level))
    add(articles, table([cell(numbered(run("格内"))), cell(paragraph("值"))]))
    assert shown(read_docx(articles)) == [
        [
            "第一条 为了规范",
            "（一）其一",
            "（二）其二",
            "第二条 本办法",
            "（一）其一",
            "第三条 格内 | 值",
        ]
    ]


def test_tracked_changes_keep_the_count(articles, read_docx):
    add(articles, numbered(run("甲")))
    add(
        articles,
        numbered(f"<w:del w:id='1'>{run('')}</w:del>", 0, "<w:rPr><w:del w:id='2'/></w:rPr>"),
    )
    add(articles, numbered(f"<w:ins w:id='3'>{run('乙')}</w:ins>"))
    hidden = "<w:r><w:rPr><w:vanish/></w:rPr><w:t>隐</w:t></w:r>"
    add(articles, numbered(hidden, 0, "<w:rPr><w:vanish/></w:rPr>"))
    add(articles, numbered(run("丙")))
    assert [line for line in shown(read_docx(articles))[0] if line] == [
        "第一条 甲",
        "第二条 乙",
        "第三条 丙",
    ]


def test_a_number_stands_behind_the_break_that_opens_its_paragraph(articles, read_docx):
    add(articles, numbered(run("甲")))
    add(articles, numbered(f"<w:r><w:br w:type='page'/></w:r>{run('乙')}"))
    assert shown(read_docx(articles)) == [["第一条 甲"], ["第二条 乙"]]


def test_headers_change_with_their_sections_and_first_pages(document, read_docx):
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
    parsed = read_docx(document)
    assert shown(parsed) == [
        ["封面", "一"],
        ["页眉甲", "二", "页脚"],
        ["三", ""],
        ["页眉乙", "四"],
    ]
    assert [page.noise for page in parsed.pages] == [(1,), (1, 3), (), (1,)]


def test_even_pages_have_their_own_headers_where_the_document_says_so(document, read_docx):
    document.settings.odd_and_even_pages_header_footer = True
    document.sections[0].header.paragraphs[0].text = "单页"
    document.sections[0].even_page_header.paragraphs[0].text = "双页"
    for text in "一二三":
        document.add_paragraph(text)
        if text != "三":
            document.add_paragraph().add_run().add_break(WD_BREAK.PAGE)
    assert [page[0] for page in shown(read_docx(document))] == ["单页", "双页", "三"]


def test_noise_of_the_parser_stays_noise(document, read_docx):
    document.sections[0].header.paragraphs[0].text = "页眉"
    document.add_paragraph("正文")
    assert mark_noise(read_docx(document).pages)[0].noise == (1,)


def test_header_rows_of_tables_are_counted(document, read_docx):
    marked = "<w:tr><w:trPr><w:tblHeader/></w:trPr>{}</w:tr>"
    cells = cell(paragraph("甲")) + cell(paragraph("乙"))
    plain = f"<w:tr>{cells}</w:tr>"
    for rows in (marked.format(cells) * 2 + plain, plain * 3, plain, marked.format(cells) * 2):
        add(document, f"<w:tbl>{rows}</w:tbl>")
        add(document, paragraph("间"))
    levels = [element.level for element in read_docx(document).pages[0].elements]
    assert levels == [2, 1, 0, 1]


def test_a_table_that_goes_on_has_no_header_of_its_own(document, read_docx):
    grid = document.add_table(70, 2)
    for place, cell_ in enumerate(grid._cells):
        cell_.text = str(place)
    elements = [page.elements[0] for page in read_docx(document).pages]
    assert [(e.line_start, e.line_end, e.level) for e in elements] == [(1, 60, 1), (1, 10, 0)]


M = "xmlns:m='http://schemas.openxmlformats.org/officeDocument/2006/math'"


def test_equations_read_on_one_line(document, read_docx):
    def r(text):
        return f"<m:r><m:t>{text}</m:t></m:r>"

    power = f"<m:sSup><m:e>{r('x')}</m:e><m:sup>{r('2')}</m:sup></m:sSup>"
    fraction = f"<m:f><m:num>{r('a+b')}</m:num><m:den>{r('c')}</m:den></m:f>"
    total = (
        f"<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub>{r('i=1')}</m:sub>"
        f"<m:sup>{r('n')}</m:sup><m:e><m:d><m:e>{r('x')}</m:e></m:d></m:e></m:nary>"
    )
    add(document, f"<w:p>{run('设')}<m:oMath {M}>{power}{r('=')}{fraction}{total}</m:oMath></w:p>")
    assert shown(read_docx(document)) == [["设x^2=(a+b)/c∑_(i=1)^n (x)"]]


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
