"""Which rows of a ruled table are its header, on one page and over page breaks."""

import pymupdf
import pytest

from kb.parsers.pdf import pdf
from kb.text.blocks import cut_blocks

FONT = "china-s"
WIDTHS = (60, 220, 340, 480)


def ruled(page, rows, top, xs=WIDTHS):
    """A table with a rule around every cell, from `top` down, 24 points a row."""
    bottom = top + 24 * len(rows)
    for x in xs:
        page.draw_line((x, top), (x, bottom))
    for n in range(len(rows) + 1):
        page.draw_line((xs[0], top + 24 * n), (xs[-1], top + 24 * n))
    for n, cells in enumerate(rows):
        for x, cell in zip(xs, cells, strict=False):
            page.insert_text((x + 5, top + 16 + 24 * n), cell, fontname=FONT, fontsize=10)


HEAD = ("项目", "期末余额", "期初余额")


def body(start, count):
    return [(f"科目{n}", f"{n},000.00", f"{n},500.00") for n in range(start, start + count)]


@pytest.fixture
def tables(tmp_path):
    """Level and first line of every table of every page of a document made by `draw`s."""

    def tables(*draws):
        with pymupdf.open() as doc:
            for draw in draws:
                draw(doc.new_page())
            doc.save(tmp_path / "x.pdf")
        pages = pdf.parse(tmp_path / "x.pdf", "x.pdf").pages
        return pages, [[e.level for e in p.elements if e.kind == "table"] for p in pages]

    return tables


def test_the_first_row_is_the_header(tables):
    pages, levels = tables(lambda page: ruled(page, [HEAD, *body(1, 9)], 200))
    assert levels == [[1]]
    assert {b.table_header for b in cut_blocks(pages)[1:]} == {"项目 | 期末余额 | 期初余额"}


def test_a_table_that_goes_on_has_no_header_of_its_own(tables):
    pages, levels = tables(
        lambda page: ruled(page, [HEAD, *body(1, 22)], 200),
        lambda page: ruled(page, body(23, 28), 72),
        lambda page: ruled(page, body(51, 9), 72),
    )
    assert levels == [[1], [0], [0]]
    later = [block for block in cut_blocks(pages) if block.page > 1]
    assert {block.table_header for block in later} == {"项目 | 期末余额 | 期初余额"}


def test_a_running_head_and_a_page_number_do_not_part_a_table(tables):
    def framed(rows, top):
        def draw(page):
            page.insert_text((60, 50), "某某公司年度报告", fontname=FONT, fontsize=10)
            ruled(page, rows, top)
            page.insert_text((290, 810), f"{page.number + 1}", fontsize=10)

        return draw

    _pages, levels = tables(framed([HEAD, *body(1, 20)], 220), framed(body(21, 9), 72))
    assert levels == [[1], [0]]


def test_a_header_that_is_repeated_is_a_header_there_too(tables):
    pages, levels = tables(
        lambda page: ruled(page, [HEAD, *body(1, 22)], 200),
        lambda page: ruled(page, [HEAD, *body(23, 9)], 72),
    )
    assert levels == [[1], [1]]
    assert cut_blocks(pages)[-1].table_header == "项目 | 期末余额 | 期初余额"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param([], "以下是另一张表：", id="text above it"),
        pytest.param(["正文到此为止，与上表无关。"], "", id="text below the other"),
    ],
)
def test_text_between_two_tables_parts_them(tables, before, after):
    def first(page):
        ruled(page, [HEAD, *body(1, 9)], 200)
        for line in before:
            page.insert_text((60, 600), line, fontname=FONT)

    def second(page):
        if after:
            page.insert_text((60, 180), after, fontname=FONT)
        ruled(page, [("科目", "借方", "贷方"), *body(1, 9)], 200 if after else 72)

    _pages, levels = tables(first, second)
    assert levels == [[1], [1]]


def test_other_columns_are_another_table(tables):
    _pages, levels = tables(
        lambda page: ruled(page, [HEAD, *body(1, 22)], 200),
        lambda page: ruled(page, [("科目", "借方", "贷方"), *body(1, 9)], 72, (60, 150, 300, 480)),
    )
    assert levels == [[1], [1]]


def test_a_header_of_two_levels_is_both_its_rows(tables):
    def draw(page):
        xs, top = (60, 160, 260, 360, 460), 200
        page.draw_rect((60, top, 460, top + 24 * 8))
        for x in xs[1:-1]:
            page.draw_line((x, top + (24 if x == 260 + 100 else 0)), (x, top + 24 * 8))
        for n in range(1, 8):
            page.draw_line((60 if n > 1 else 260, top + 24 * n), (460, top + 24 * n))
        cells = [("地区", "合计", "其中", ""), ("", "", "上半年", "下半年")]
        cells += [(f"市{n}", "10", "4", "6") for n in range(6)]
        for n, row in enumerate(cells):
            for x, text in zip(xs, row, strict=False):
                page.insert_text((x + 5, top + 16 + 24 * n), text, fontname=FONT, fontsize=10)

    pages, levels = tables(draw)
    assert levels == [[2]]
    assert pages[0].text.split("\n")[:2] == ["地区 | 合计 | 其中", "|  | 上半年 | 下半年"]
    header = cut_blocks(pages)[-1].table_header
    assert all(word in header for word in ("地区", "合计", "其中", "上半年", "下半年"))


@pytest.mark.parametrize(
    "row", [("1", "2,000.00", "3,500.00"), ("史宇波", "3,992,100", "3.1%"), ("合计", "", "")]
)
def test_a_row_of_numbers_or_of_one_cell_is_no_header(tables, row):
    _pages, levels = tables(lambda page: ruled(page, [row, *body(1, 5)], 300))
    assert levels == [[0]]


def test_years_name_columns(tables):
    head = ("项目", "2026年", "2025")
    _pages, levels = tables(lambda page: ruled(page, [head, *body(1, 5)], 300))
    assert levels == [[1]]
