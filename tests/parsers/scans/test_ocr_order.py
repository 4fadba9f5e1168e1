"""From pieces that OCR saw to lines as one reads them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.parsers.scans.order import Seen, in_order


def seen(text, x, y, width, height=20.0, slope=0.0):
    """A piece at (x, y) of a page that falls by `slope`."""
    corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
    return Seen(text, tuple((a, b + slope * a) for a, b in corners), 0.9)


def texts(pieces):
    return [line.text for line in in_order(pieces)]


def test_lines_go_down_the_page_whatever_order_they_were_seen_in():
    pieces = [seen(f"第{n}行的文字", 100, 40 * n, 700) for n in (3, 1, 2)]
    assert texts(pieces) == ["第1行的文字", "第2行的文字", "第3行的文字"]


def test_cells_of_a_row_stand_on_one_line():
    rows = [("项目", "本期", "上期"), ("收入", "100", "90"), ("成本", "60", "50")]
    pieces = [
        seen(text, 100 + 300 * column, 40 * row + 3 * column, 60)
        for row, cells in enumerate(rows, 1)
        for column, text in enumerate(cells)
    ]
    assert texts(pieces) == [" | ".join(cells) for cells in rows]


def test_a_number_beside_its_line_is_not_torn_off():
    assert texts([seen("14(1)", 90, 100, 60), seen("物的有用性使物", 230, 102, 700)]) == [
        "14(1) | 物的有用性使物"
    ]


def columns(title=True):
    left = [seen(f"left {n} of the first column", 100, 100 + 30 * n, 395) for n in range(8)]
    right = [seen(f"right {n} of the second one", 520, 104 + 30 * n, 390) for n in range(8)]
    head = [seen("A title over both of the columns", 200, 40, 600)] if title else []
    return head, left, right


@pytest.mark.parametrize("title", [True, False])
def test_columns_of_running_text_are_read_one_after_the_other(title):
    head, left, right = columns(title)
    mixed = [piece for pair in zip(left, right, strict=True) for piece in pair]
    assert texts([*head, *mixed]) == [piece.text for piece in (*head, *left, *right)]


def test_short_cells_in_two_columns_are_rows_not_columns():
    names = [seen(f"项目{n}", 100, 100 + 30 * n, 60) for n in range(8)]
    notes = [seen(f"关于第{n}个项目的一段比较长的说明", 520, 100 + 30 * n, 390) for n in range(7)]
    assert texts([*names, *notes])[0] == "项目0 | 关于第0个项目的一段比较长的说明"


@pytest.mark.parametrize("degrees", [-4, 3, 8])
def test_a_skewed_page_is_straightened_first(degrees):
    slope = math.tan(math.radians(degrees))
    rows = [
        [seen(f"左{n}", 100, 40 * n, 80, slope=slope), seen(f"右{n}", 900, 40 * n, 80, slope=slope)]
        for n in range(1, 6)
    ]
    long = seen("一行横贯整页的文字" * 3, 100, 300, 900, slope=slope)
    lines = in_order([*(piece for row in rows for piece in row), long])
    assert [line.text for line in lines] == [*(f"左{n} | 右{n}" for n in range(1, 6)), long.text]
    assert lines[-1].box == pytest.approx(long.box, abs=12)


@given(
    st.lists(
        st.tuples(st.floats(0, 1000), st.floats(0, 1000), st.floats(1, 500), st.floats(1, 80)),
        max_size=25,
    )
)
def test_every_piece_is_read_once(places):
    pieces = [seen(f"<{n}>", *place) for n, place in enumerate(places)]
    shown = "".join(texts(pieces))
    assert all(shown.count(piece.text) == 1 for piece in pieces)


def test_nothing_seen_is_no_line():
    assert in_order([]) == []
