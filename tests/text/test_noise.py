"""What repeats at the edge of pages is noise; numbers in tables and headings are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.model import Element, Page
from kb.text.noise import mark_noise, page_number

HEIGHT = 842.0
HEADER, BODY, FOOTER = 45.0, 400.0, 790.0


def page(number, *lines, kind="physical", elements=(), noise=()):
    """A page of (text, y) lines, in points from the top."""
    return Page(
        number=number,
        text="\n".join(text for text, _ in lines),
        kind=kind,
        width=595.0,
        height=HEIGHT,
        boxes=tuple((60.0, y - 5, 300.0, y + 5) for _, y in lines),
        elements=elements,
        noise=noise,
    )


def plain(number, text, kind="rendered"):
    return Page(number=number, text=text, kind=kind)


def noise(pages):
    return [[page.text.split("\n")[line - 1] for line in page.noise] for page in mark_noise(pages)]


def report(count, header="某公司2018年第一季度报告", number=str):
    return [
        page(i, (header, HEADER), (number(i), FOOTER), (f"正文第{i}段", BODY))
        for i in range(1, count + 1)
    ]


def test_running_header_and_page_numbers_are_noise():
    assert noise(report(5)) == [["某公司2018年第一季度报告", str(i)] for i in range(1, 6)]


def test_digits_in_a_header_may_change():
    pages = [page(i, (f"年报 {i} / 共9页", HEADER), ("正文", BODY)) for i in range(1, 6)]
    assert all(noise(pages))


def test_a_small_drift_in_height_is_the_same_height():
    pages = [page(i, ("页眉", HEADER - (7 if i == 1 else 0)), ("正文", BODY)) for i in range(1, 5)]
    assert noise(pages) == [["页眉"]] * 4


def test_the_same_words_elsewhere_on_the_page_survive():
    pages = [page(i, ("页眉", HEADER), ("页眉", BODY)) for i in range(1, 5)]
    assert all(p.noise == (1,) for p in mark_noise(pages))


def test_twice_is_not_repetition():
    assert noise(report(2, number=lambda i: "甲乙"[i - 1])) == [[], []]


def test_odd_and_even_heads_are_both_noise():
    pages = [page(i, ("书名" if i % 2 else "章名", HEADER), ("文", BODY)) for i in range(1, 41)]
    assert all(noise(pages))


def test_heads_of_one_chapter_in_a_long_book_are_noise():
    pages = [
        page(i, ("第三章 论数据" if 50 <= i < 58 else f"文{'甲' * i}", HEADER))
        for i in range(1, 200)
    ]
    marked = noise(pages)
    assert all(marked[49:57])
    assert not any(marked[:49] + marked[57:])


def test_a_heading_at_the_top_of_three_pages_of_a_long_book_survives():
    pages = [
        page(i, ("小结" if i in {20, 60, 100} else f"文{'甲' * i}", HEADER)) for i in range(1, 120)
    ]
    assert not any(noise(pages))


def test_a_column_of_numbers_at_the_edge_is_no_page_number():
    pages = [page(i, (str(1000 - 7 * i), HEADER), ("4,755.11", FOOTER)) for i in range(1, 9)]
    assert not any(noise(pages))


def test_a_lone_number_in_a_table_survives_even_when_it_counts():
    pages = [
        page(i, (str(i), FOOTER), ("文", BODY), elements=(Element("table", 1, 1),))
        for i in range(1, 6)
    ]
    assert not any(noise(pages))


def test_a_repeated_table_head_survives():
    pages = [
        page(i, ("项目 | 金额", HEADER), ("文", BODY), elements=(Element("table", 1, 1),))
        for i in range(1, 6)
    ]
    assert not any(noise(pages))


def test_numbers_may_count_with_an_offset_and_restart():
    roman = ["i", "ii", "iii", "iv", "v"]
    pages = [page(i, (roman[i - 1] if i <= 5 else str(i - 5), FOOTER)) for i in range(1, 12)]
    assert all(noise(pages))


@pytest.mark.parametrize(
    "text", ["第1页", "第 1 页 共 2 页", "- 1 -", "— 1 —", "1/2", "Page 1 of 2", "第一页"]
)
def test_one_page_says_itself_that_it_numbers(text):
    assert noise([page(1, ("标题", HEADER), (text, FOOTER))]) == [[text]]


@pytest.mark.parametrize("text", ["1", "第1条", "2018", "1,000", "总计"])
def test_one_page_keeps_everything_else(text):
    assert noise([page(1, ("标题", HEADER), (text, FOOTER))]) == [[]]


def test_nothing_on_virtual_pages_is_noise():
    pages = [plain(i, "标题\n第1页\n文", kind="virtual") for i in range(1, 9)]
    assert not any(noise(pages))


def test_pages_without_boxes_go_by_their_first_and_last_lines():
    pages = [
        plain(i, f"\n某规划\n正文{'甲' * i}\n某规划\n续{'乙' * i}\n完{'丙' * i}\n- {i} -")
        for i in range(1, 6)
    ]
    assert [p.noise for p in mark_noise(pages)] == [(2, 7)] * 5


def test_a_heading_that_happens_to_stand_first_survives_without_boxes():
    pages = [
        plain(i, f"{'元代' if i in {2, 3, 5} else '题' + '甲' * i}\n正文{'乙' * i}")
        for i in range(1, 9)
    ]
    assert not any(noise(pages))


def test_a_page_printed_sideways_has_its_margins_at_the_sides():
    pages = [
        Page(
            number=i,
            text=f"文\nPage {i} of 9",
            kind="physical",
            width=600.0,
            height=1000.0,
            boxes=((200.0, 100.0, 210.0, 900.0), (20.0, 480.0, 28.0, 530.0)),
        )
        for i in range(1, 4)
    ]
    assert [p.noise for p in mark_noise(pages)] == [(2,)] * 3


def test_what_the_parser_marked_stays():
    assert mark_noise([page(1, ("页眉", HEADER), ("文", BODY), noise=(1,))])[0].noise == (1,)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("第 12 页", (12, True)),
        ("第十二页", (12, True)),
        ("第二十页", (20, True)),
        ("第二〇页", (20, True)),
        ("第一百零三页", (103, True)),
        ("共9页 第3页", (3, True)),
        ("第3页/共9页", (3, True)),
        ("１２", (12, False)),
        ("[7]", (7, True)),
        ("3 of 9", (3, True)),
        ("xiv", (14, False)),
        ("XLII", (42, False)),
        ("0.5", None),
        ("12.5", None),
        ("20180101", None),
        ("第三条", None),
        ("mix of both", None),
    ],
)
def test_page_numbers_are_read_in_their_forms(text, number):
    assert page_number(text) == number


TEXTS = st.sampled_from(
    ["页眉", "1", "2", "第1页", "", "12,000.00", "第一章", "正文" * 9, "iv", "-"]
)
LINES = st.lists(st.tuples(TEXTS, st.floats(0, HEIGHT)), min_size=1, max_size=6)


@given(st.lists(LINES, max_size=12), st.sampled_from(["physical", "rendered", "virtual", "sheet"]))
def test_marking_changes_nothing_but_marks_and_settles_at_once(contents, kind):
    pages = [page(i, *lines, kind=kind) for i, lines in enumerate(contents, start=1)]
    marked = mark_noise(pages)
    for before, after in zip(pages, marked, strict=True):
        assert (before.text, before.boxes, before.elements) == (
            after.text,
            after.boxes,
            after.elements,
        )
        assert list(after.noise) == sorted(set(after.noise))
        shown = after.text.split("\n")
        assert all(shown[line - 1].strip() for line in after.noise)
    assert mark_noise(marked) == marked


@given(st.lists(LINES, max_size=12))
def test_the_middle_of_a_page_is_never_noise(contents):
    for after in mark_noise([page(i, *lines) for i, lines in enumerate(contents, start=1)]):
        for line in after.noise:
            _, top, _, bottom = after.boxes[line - 1]
            assert not 0.13 < (top + bottom) / 2 / HEIGHT < 0.87
