"""Sheets as pages: rows are lines, headers and merged cells are told to the index."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.errors import Refused
from kb.parsers.sheets.grid import PAGE_ROWS, Merge, Sheet, pages
from kb.text.blocks import cut_blocks, indexed_text


def sheet(*rows, name="表", merges=(), header=0):
    made = Sheet(name, merges=list(merges), header=header)
    for number, row in enumerate(rows, start=1):
        for column, text in enumerate(row):
            made.put(number, column, text)
    return made


def laid(*sheets):
    return pages(sheets, "x.xlsx")


def elements(page, kind="table"):
    return [(e.line_start, e.line_end, e.level) for e in page.elements if e.kind == kind]


def test_a_row_is_a_line_at_its_own_number():
    (page,), warnings = laid(sheet(["题"], [], ["项目", "金额"], ["水", "5"]))
    assert page.text.split("\n") == ["题", "", "项目 | 金额", "水 | 5"]
    assert (page.kind, page.label, warnings) == ("sheet", "表", [])
    assert elements(page) == [(3, 4, 1)]


def test_a_cell_is_one_line_and_empty_columns_are_left_out():
    (page,), _ = laid(sheet(["甲\r\n乙", "", "", "丙\t丁"], ["1", "", "", "2"]))
    assert page.text == "甲 乙 | 丙 丁\n1 | 2"


def test_rows_are_as_wide_as_their_header():
    (page,), _ = laid(sheet(["a", "b", "c"], ["1", "2"], ["3"], ["4", "", "5", "6"]))
    assert page.text.split("\n") == ["a | b | c", "1 | 2 | ", "3", "4 |  | 5 | 6"]


def test_a_long_sheet_repeats_its_header_in_the_index_only():
    rows = [["序号", "名称"], *([str(i), f"项{i}"] for i in range(1, 2 * PAGE_ROWS + 51))]
    result, _ = laid(sheet(*rows))
    assert [len(page.text.split("\n")) for page in result] == [PAGE_ROWS, PAGE_ROWS, 51]
    full = (1, PAGE_ROWS)
    assert [elements(page) for page in result] == [[(*full, 1)], [(*full, 0)], [(1, 51, 0)]]
    last = [block for block in cut_blocks(result) if block.page == 3]
    assert {block.table_header for block in last} == {"序号 | 名称"}
    assert "序号" not in result[2].text
    assert indexed_text("题", last[0], result[2]).startswith(
        f"题\n表\n序号 | 名称\n{2 * PAGE_ROWS} | 项{2 * PAGE_ROWS}"
    )


def test_another_sheet_takes_no_header_over():
    result, _ = laid(sheet(["序号", "名称"], ["1", "甲"]), sheet(["2", "3"], ["4", "5"], name="乙"))
    assert cut_blocks(result)[-1].table_header == ""


def test_merged_titles_go_down_and_across_in_the_index():
    (page,), _ = laid(
        sheet(
            ["地区", "2023年", "", "合计"],
            ["", "上半年", "下半年", ""],
            ["华东", "1", "2", "3"],
            *(["", "4", "5", "9"] for _ in range(9)),
            merges=[Merge(1, 0, 2, 0), Merge(1, 1, 1, 2), Merge(1, 3, 2, 3), Merge(3, 0, 12, 0)],
        )
    )
    assert page.text.count("华东") == 1
    assert elements(page) == [(1, 12, 2)]
    assert (3, 12, 0) in elements(page, "merged")
    assert cut_blocks([page])[1].table_header == "地区 | 2023年 上半年 | 2023年 下半年 | 合计\n华东"


def test_what_lies_under_a_merged_cell_is_not_shown():
    (page,), _ = laid(sheet(["甲", "藏"], ["藏", "藏"], merges=[Merge(1, 0, 2, 1)]))
    assert page.text == "甲"


def test_a_merged_cell_is_shown_again_after_the_page_break():
    rows = [["部门", "编号"], ["财务部", "0"], *(["", str(i)] for i in range(1, PAGE_ROWS + 100))]
    result, _ = laid(sheet(*rows, merges=[Merge(2, 0, PAGE_ROWS + 101, 0)]))
    assert result[1].text.split("\n")[:2] == [f"财务部 | {PAGE_ROWS - 1}", f" | {PAGE_ROWS}"]
    assert elements(result[1], "merged") == [(1, 101, 0)]


def test_a_long_blank_run_is_cut_and_named():
    made = Sheet("表")
    made.put(1, 0, "头")
    made.put(1_048_576, 16_383, "尾")
    (page,), warnings = laid(made)
    assert page.text == "头\n\n | 尾"
    assert "2–1048575" in warnings[0]


def test_a_short_blank_run_keeps_the_row_numbers():
    made = Sheet("表")
    made.put(3, 0, "甲")
    made.put(50, 0, "乙")
    (page,), _ = laid(made)
    lines = page.text.split("\n")
    assert (lines[2], lines[49], len(lines)) == ("甲", "乙", 50)


def test_the_document_says_where_its_header_ends():
    rows = [["科目", "数"], ["编码", "额"], ["a", "b"], ["c", "d"]]
    assert elements(laid(sheet(*rows))[0][0]) == [(1, 4, 1)]
    assert elements(laid(sheet(*rows, header=2))[0][0]) == [(1, 4, 2)]


def test_numbers_have_no_header():
    assert elements(laid(sheet(["1", "2"], ["3", "4"]))[0][0]) == [(1, 2, 0)]


def test_years_are_names():
    assert elements(laid(sheet(["指标", "2022", "2023"], ["收入", "5", "6"]))[0][0]) == [(1, 2, 1)]


def test_tables_below_each_other_have_their_own_headers():
    rows = [
        ["项目", "金额"],
        ["水", "1"],
        ["电", "2"],
        [],
        ["姓名", "年龄"],
        ["张三", "30"],
        ["李四", "40"],
    ]
    assert elements(laid(sheet(*rows))[0][0]) == [(1, 3, 1), (5, 7, 1)]


def test_a_blank_row_in_a_table_does_not_end_it():
    rows = [["项目", "金额"], ["水", "1"], [], ["3", "2"], ["4", "5"], [], ["（注）"]]
    assert elements(laid(sheet(*rows))[0][0]) == [(1, 5, 1)]


def test_an_empty_sheet_is_an_empty_page_and_nothing_at_all_is_refused():
    result, _ = laid(sheet(name="空"), sheet(["字"]))
    assert [(page.number, page.text) for page in result] == [(1, ""), (2, "字")]
    with pytest.raises(Refused):
        laid(sheet(name="空"))


cells = st.dictionaries(
    st.tuples(st.integers(1, 450), st.integers(0, 8)), st.sampled_from(["名", "12", "甲\n乙", " "])
)
ranges = st.tuples(st.integers(1, 450), st.integers(0, 8), st.integers(0, 300), st.integers(0, 4))


@given(cells, st.lists(ranges, max_size=4), st.integers(0, 12))
def test_pages_are_well_formed_whatever_the_sheet(content, merged, header):
    made = Sheet("表", header=header)
    for (row, column), text in content.items():
        made.put(row, column, text)
    made.merges = [
        Merge(top, left, top + down, left + across) for top, left, down, across in merged
    ]
    try:
        result, _ = pages([made], "x")
    except Refused:
        return
    for page in result:
        lines = page.text.split("\n")
        assert len(lines) <= PAGE_ROWS
        for element in page.elements:
            assert 1 <= element.line_start <= element.line_end <= len(lines)
            if element.kind == "table":
                assert element.level <= element.line_end - element.line_start + 1
    cut_blocks(result)


def test_too_many_cells_are_refused(monkeypatch):
    monkeypatch.setattr("kb.parsers.sheets.grid.MOST_CELLS", 3)
    with pytest.raises(Refused, match="表"):
        sheet(["1", "2"], ["3", "4"])
