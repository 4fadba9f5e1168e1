"""Each trap of Word documents, in a small file made here."""

import pytest
from docx.enum.text import WD_BREAK
from docx.oxml import parse_xml
from docx_support import W, add, cell, paragraph, run, shown, table, text_box

from kb.parsers.word import docx as parser


def test_insertions_are_kept_and_deletions_dropped(document, read_docx):
    add(
        document,
        f"<w:p>{run('经费')}<w:ins w:id='1'>{run('3,200')}</w:ins>"
        "<w:del w:id='2'><w:r><w:delText>2,800</w:delText></w:r></w:del>"
        f"<w:moveFrom w:id='3'>{run('旧')}</w:moveFrom><w:moveTo w:id='4'>{run('新')}</w:moveTo>"
        f"{run('万元')}</w:p>",
    )
    assert shown(read_docx(document)) == [["经费3,200新万元"]]


def test_a_deleted_paragraph_mark_joins_the_paragraphs(document, read_docx):
    add(document, f"<w:p><w:pPr><w:rPr><w:del w:id='1'/></w:rPr></w:pPr>{run('前半')}</w:p>")
    add(document, paragraph("后半"))
    assert shown(read_docx(document)) == [["前半后半"]]


def test_deleted_rows_are_gone(document, read_docx):
    add(
        document,
        "<w:tbl><w:tr><w:trPr><w:del w:id='1'/></w:trPr>"
        f"{cell(paragraph('旧'))}</w:tr><w:tr>{cell(paragraph('新'))}</w:tr></w:tbl>",
    )
    assert shown(read_docx(document)) == [["新"]]


def test_a_text_box_is_shown_once_after_its_paragraph(document, read_docx):
    add(document, f"<w:p>{run('正文')}{text_box('框中文字')}{run('继续')}</w:p>")
    assert shown(read_docx(document)) == [["正文继续", "框中文字"]]


def test_a_text_box_in_a_cell_stays_in_its_row(document, read_docx):
    add(
        document,
        table([cell(f"<w:p>{run('单位')}{text_box('（盖章）')}</w:p>"), cell(paragraph("日期"))]),
    )
    assert shown(read_docx(document)) == [["单位 （盖章） | 日期"]]


def test_a_fallback_alone_is_read(document, read_docx):
    add(
        document,
        "<w:p><w:r><mc:AlternateContent><mc:Fallback><w:pict><w:txbxContent>"
        f"{paragraph('旧框')}</w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>",
    )
    assert "旧框" in shown(read_docx(document))[0]


def test_a_table_stands_between_its_paragraphs(document, read_docx):
    document.add_paragraph("前")
    grid = document.add_table(2, 2)
    for place, text in enumerate(("项目", "金额", "经费", "100")):
        grid.cell(*divmod(place, 2)).text = text
    document.add_paragraph("后")
    parsed = read_docx(document)
    assert shown(parsed) == [["前", "项目 | 金额", "经费 | 100", "后"]]
    assert [(e.kind, e.line_start, e.line_end) for e in parsed.pages[0].elements] == [
        ("table", 2, 3)
    ]


def test_merged_cells_are_shown_once_and_keep_their_place(document, read_docx):
    grid = document.add_table(3, 3)
    for place in range(9):
        grid.cell(*divmod(place, 3)).text = str(place)
    grid.cell(0, 0).merge(grid.cell(0, 1)).text = "宽"
    grid.cell(1, 0).merge(grid.cell(2, 0)).text = "高"
    assert shown(read_docx(document)) == [["宽 | 2", "高 | 4 | 5", "| 7 | 8"]]


def test_a_nested_table_flows_into_its_cell(document, read_docx):
    inner = table([cell(paragraph("甲")), cell(paragraph("乙"))], [cell(paragraph("丙"))])
    add(document, table([cell(paragraph("左") + inner + paragraph("右")), cell(paragraph("末"))]))
    assert shown(read_docx(document)) == [["左 甲 乙 丙 右 | 末"]]


def test_cells_of_several_lines_are_one_line(document, read_docx):
    grid = document.add_table(1, 2)
    grid.cell(0, 0).text = "第一段\n第二段"
    grid.cell(0, 1).text = "值"
    assert shown(read_docx(document)) == [["第一段 第二段 | 值"]]


def test_content_controls_and_links_are_read(document, read_docx):
    add(document, f"<w:sdt><w:sdtContent>{paragraph('块')}</w:sdtContent></w:sdt>")
    add(
        document,
        f"<w:p><w:sdt><w:sdtContent>{run('内联')}</w:sdtContent></w:sdt>"
        f"<w:hyperlink>{run('链接')}</w:hyperlink><w:smartTag>{run('标记')}</w:smartTag></w:p>",
    )
    assert shown(read_docx(document)) == [["块", "内联链接标记"]]


def test_field_results_are_shown_and_codes_are_not(document, read_docx):
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
    assert shown(read_docx(document)) == [["共12页", "", "未结束的域不吞掉后文"]]


def test_breaks_and_tabs_inside_a_paragraph(document, read_docx):
    add(
        document,
        f"<w:p>{run('甲')}<w:r><w:tab/></w:r>{run('乙')}<w:r><w:br/></w:r>{run('丙')}"
        "<w:r><w:noBreakHyphen/></w:r><w:r><w:softHyphen/></w:r>"
        f"<w:r><w:sym w:font='Symbol' w:char='2022'/></w:r>{run('&#x2028;&#x85;丁')}</w:p>",
    )
    assert shown(read_docx(document)) == [["甲\t乙", "丙-•\u2028\x85丁"]]


def test_hidden_text_is_left_out_and_said(document, read_docx):
    paragraph = document.add_paragraph("可见")
    paragraph.add_run("隐藏指令").font.hidden = True
    parsed = read_docx(document)
    assert shown(parsed) == [["可见"]]
    assert "4" in parsed.warnings[0]


def test_ruby_keeps_its_base(document, read_docx):
    add(
        document,
        f"<w:p><w:r><w:ruby><w:rt>{run('hàn')}</w:rt><w:rubyBase>{run('汉')}</w:rubyBase></w:ruby>"
        "</w:r></w:p>",
    )
    assert shown(read_docx(document)) == [["汉（hàn）"]]


def test_headings_come_from_styles_and_outline_levels(document, read_docx):
    document.add_heading("第一章 总则", 1)
    document.add_heading("第一节", 2)
    add(document, f"<w:p><w:pPr><w:outlineLvl w:val='2'/></w:pPr>{run('三级')}</w:p>")
    add(document, f"<w:p><w:pPr><w:outlineLvl w:val='9'/></w:pPr>{run('正文')}</w:p>")
    derived = document.styles.add_style("公文标题", 1)
    derived.base_style = document.styles["Heading 3"]
    document.add_paragraph("派生", style=derived)
    levels = [(e.line_start, e.level) for e in read_docx(document).pages[0].elements]
    assert levels == [(1, 1), (2, 2), (3, 3), (5, 3)]


# Pages


def test_hard_breaks_end_pages_and_their_records_do_not_count_twice(document, read_docx):
    document.add_paragraph("一").add_run().add_break(WD_BREAK.PAGE)
    add(document, f"<w:p><w:r><w:lastRenderedPageBreak/></w:r>{run('二')}</w:p>")
    add(document, f"<w:p>{run('二续')}<w:r><w:lastRenderedPageBreak/></w:r>{run('三')}</w:p>")
    add(document, f"<w:p><w:pPr><w:pageBreakBefore/></w:pPr>{run('四')}</w:p>")
    parsed = read_docx(document)
    assert shown(parsed) == [["一"], ["二", "二续"], ["三"], ["四"]]
    assert {page.kind for page in parsed.pages} == {"rendered"}


@pytest.mark.parametrize(("kind", "pages"), [("nextPage", 2), ("oddPage", 2), ("continuous", 1)])
def test_the_next_section_says_whether_it_starts_a_page(document, read_docx, kind, pages):
    add(document, f"<w:p><w:pPr><w:sectPr/></w:pPr>{run('上')}</w:p>")
    document.add_paragraph("下")
    document.element.body.sectPr.insert(0, parse_xml(f"<w:type {W} w:val='{kind}'/>"))
    assert len(read_docx(document).pages) == pages


def test_a_break_inside_a_table_falls_between_rows(document, read_docx):
    broken = f"<w:p><w:r><w:lastRenderedPageBreak/></w:r>{run('下页')}</w:p>"
    add(document, table([cell(paragraph("上页"))], [cell(broken)]))
    parsed = read_docx(document)
    assert shown(parsed) == [["上页"], ["下页"]]
    assert all(page.elements[0].kind == "table" for page in parsed.pages)


def test_long_pages_are_cut_at_sixty_lines(document, read_docx):
    for number in range(130):
        document.add_paragraph(f"第{number}段")
    assert [len(page) for page in shown(read_docx(document))] == [60, 60, 10]


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


def test_headers_and_footers_are_shown_once_as_noise(document, read_docx):
    section = document.sections[0]
    section.header.paragraphs[0].text = "海州市人民政府文件"
    section.footer.paragraphs[0].text = "内部资料"
    document.add_paragraph("正文").add_run().add_break(WD_BREAK.PAGE)
    document.add_paragraph("次页")
    parsed = read_docx(document)
    assert shown(parsed) == [["海州市人民政府文件", "正文", "内部资料"], ["次页"]]
    assert parsed.pages[0].noise == (1, 3)
    assert [e.kind for e in parsed.pages[0].elements] == ["header", "footer"]
