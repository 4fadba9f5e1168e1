from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kb.model import Element, Page
from kb.text.blocks import BLOCK_LINES, cut_blocks, indexed_lines, indexed_text
from kb.text.lines import split_lines

lines = st.lists(st.text("文字ab \u2028\x0b", max_size=8), min_size=1, max_size=60)


@st.composite
def pages(draw: st.DrawFn) -> Page:
    texts = draw(lines)
    noise = draw(st.sets(st.integers(1, len(texts))))
    return Page(draw(st.integers(1, 99)), "\n".join(texts), "virtual", noise=tuple(sorted(noise)))


@given(pages())
def test_every_indexed_line_is_in_a_block_and_every_block_adds_one(page: Page) -> None:
    wanted = indexed_lines(page)
    seen: set[int] = set()
    for block in cut_blocks([page]):
        held = {n for n in wanted if block.line_start <= n <= block.line_end}
        assert held - seen, "a block that adds nothing new"
        assert 1 <= len(held) <= BLOCK_LINES
        assert {block.line_start, block.line_end} <= held
        seen |= held
    assert seen == set(wanted)


@given(pages())
def test_indexed_text_holds_the_lines_and_no_noise(page: Page) -> None:
    texts = split_lines(page.text)
    for block in cut_blocks([page]):
        body = indexed_text("题目", block, page).split("\n")
        span = range(block.line_start, block.line_end + 1)
        assert body == ["题目", *(texts[n - 1] for n in span if n in indexed_lines(page))]


def test_neighbours_share_one_line() -> None:
    page = Page(1, "\n".join(f"行{n}" for n in range(1, 12)), "virtual")
    assert [(b.line_start, b.line_end) for b in cut_blocks([page])] == [(1, 6), (6, 11)]


def test_no_tail_that_only_repeats_the_shared_line() -> None:
    page = Page(1, "\n".join(f"行{n}" for n in range(1, 7)), "virtual")
    assert [(b.line_start, b.line_end) for b in cut_blocks([page])] == [(1, 6)]


def test_a_page_without_indexed_lines_has_no_block() -> None:
    assert (
        cut_blocks([Page(1, " \n\u3000\n", "virtual"), Page(2, "页眉", "physical", noise=(1,))])
        == []
    )


def test_the_heading_path_runs_over_the_page_break() -> None:
    first = Page(1, "# 总则\n正文", "virtual", elements=(Element("heading", 1, 1, 1),))
    second = Page(2, "续文\n## 目的\n正文二", "virtual", elements=(Element("heading", 2, 2, 2),))
    blocks = cut_blocks([first, second])
    assert [b.heading_path for b in blocks] == [("总则",), ("总则",)]
    third = Page(3, "正文三", "virtual")
    assert cut_blocks([first, second, third])[-1].heading_path == ("总则", "目的")


def test_a_heading_closes_those_of_its_level_and_below() -> None:
    texts = ["# 甲", "## 乙", "# 丙", "x"]
    marks = tuple(
        Element("heading", n, n, len(t) - len(t.lstrip("#"))) for n, t in enumerate(texts[:3], 1)
    )
    page = Page(1, "\n".join(texts), "virtual", elements=marks)
    assert cut_blocks([page, Page(2, "y", "virtual")])[-1].heading_path == ("丙",)


def table(number: int, rows: int, header: int, *, first: int = 1) -> Page:
    text = "\n".join(
        ["序号 | 名称"] * header + [f"{n} | 项目{n}" for n in range(first, first + rows)]
    )
    return Page(number, text, "physical", elements=(Element("table", 1, rows + header, header),))


def test_the_header_row_is_indexed_with_later_rows_and_never_shown() -> None:
    blocks = cut_blocks([table(1, 20, 1)])
    assert blocks[0].table_header == ""
    assert {b.table_header for b in blocks[1:]} == {"序号 | 名称"}
    assert indexed_text("题", blocks[1], table(1, 20, 1)).startswith("题\n序号 | 名称\n5 | 项目5")


def test_a_table_that_goes_on_over_the_page_break_keeps_its_header() -> None:
    pages = [table(1, 8, 1), table(2, 8, 0, first=9), table(3, 3, 0, first=17)]
    assert {b.table_header for b in cut_blocks(pages) if b.page > 1} == {"序号 | 名称"}


def test_another_table_on_the_next_page_takes_no_header_over() -> None:
    other = Page(2, "甲 | 乙 | 丙", "physical", elements=(Element("table", 1, 1, 0),))
    after = Page(2, "正文\n1 | 项目", "physical", elements=(Element("table", 2, 2, 0),))
    assert cut_blocks([table(1, 8, 1), other])[-1].table_header == ""
    assert cut_blocks([table(1, 8, 1), after])[-1].table_header == ""


def test_a_header_of_several_rows_is_read_by_columns() -> None:
    rows = [
        "地区 | 2023年 |  | 合计",
        " | 上半年 | 下半年 | ",
        *(f"市{i} | 1 | 2 | 3" for i in range(9)),
    ]
    pages = [
        Page(1, "\n".join(rows), "sheet", "收入", elements=(Element("table", 1, 11, 2),)),
        Page(2, "市9 | 1 | 2 | 3", "sheet", "收入", elements=(Element("table", 1, 1, 0),)),
        Page(3, "市9 | 1 | 2 | 3", "sheet", "支出", elements=(Element("table", 1, 1, 0),)),
    ]
    blocks = cut_blocks(pages)
    header = "地区 | 2023年 上半年 | 2023年 下半年 | 合计"
    assert {block.table_header for block in blocks if block.page == 2} == {header}
    assert blocks[0].table_header == blocks[-1].table_header == ""
    assert indexed_text("题", blocks[-2], pages[1]) == f"题\n收入\n{header}\n市9 | 1 | 2 | 3"


def test_a_merged_cell_is_indexed_with_the_rows_that_it_covers() -> None:
    lines = [
        "华东 | 1",
        *(f" | {i}" for i in range(2, 9)),
        "华北 | 9",
        *(f" | {i}" for i in range(10, 14)),
    ]
    merged = (Element("merged", 1, 8, 0), Element("merged", 9, 13, 0))
    page = Page(1, "\n".join(lines), "sheet", elements=(Element("table", 1, 13, 0), *merged))
    blocks = cut_blocks([page])
    assert [(b.line_start, b.table_header) for b in blocks] == [(1, ""), (6, "华东"), (11, "华北")]
    assert "华" not in "".join(split_lines(page.text)[5:8])


def test_a_header_of_unequal_rows_is_carried_over_by_the_width_of_the_body() -> None:
    head = ["等级 | 车道数 | 编制条件", "|  | 交通量Q | 大型车比例"]
    body = [f"高速{i} | 六 | 8000 | 20" for i in range(8)]
    first = Page(1, "\n".join([*head, *body]), "physical", elements=(Element("table", 1, 10, 2),))
    second = Page(2, "| 四 | 6000 | 15\n", "physical", elements=(Element("table", 1, 1, 0),))
    blocks = cut_blocks([first, second])
    assert blocks[-1].page == 2
    assert blocks[-1].table_header == "等级 | 车道数 | 编制条件 |  | 交通量Q | 大型车比例"
