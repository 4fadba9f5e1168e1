"""Headings of plain text, and what their path says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.model import Element, Page
from kb.text.blocks import cut_blocks, indexed_text
from kb.text.headings import mark_headings
from kb.text.numbering import heading_title, plain_level

BODY = "各级人民政府应当加强对数据工作的领导，建立健全工作机制，保障所需经费。"


def page(*lines, number=1, kind="virtual", **rest):
    return Page(number, "\n".join(lines), kind, **rest)


def headings(*pages):
    """(level, text) of every heading found."""
    return [
        (element.level, one.text.split("\n")[element.line_start - 1])
        for one in mark_headings(pages)
        for element in one.elements
        if element.kind == "heading"
    ]


def paths(*pages):
    return [block.heading_path for block in cut_blocks(mark_headings(pages))]


def test_a_statute_has_chapters_sections_and_articles():
    found = headings(
        page(
            "数据条例",
            "第一编　总则",
            "第一章　一般规定",
            "第一节　目的",
            f"第一条　{BODY}",
            "第二条　" + BODY,
            "第二章　附则",
            f"第三条　{BODY}",
            f"第三条之一　{BODY}",
        )
    )
    assert [level for level, _ in found] == [1, 2, 3, 4, 4, 2, 4, 4]


def test_the_path_of_an_article_is_its_label():
    lines = ["第一章　总则", f"第一条　{BODY}", BODY, BODY, BODY, BODY, BODY]
    assert paths(page(*lines))[1] == ("第一章 总则", "第一条")


def test_a_report_has_items_at_three_depths():
    lines = ["一、总体要求", "（一）指导思想", BODY, "（二）目标", "1.近期目标", BODY, "2.远期目标"]
    lines += [BODY, "二、主要任务", BODY]
    assert [level for level, _ in headings(page(*lines))] == [1, 2, 2, 3, 3, 1]


def test_a_heading_whose_text_runs_on_gives_its_first_sentence():
    lines = [f"一、加强组织领导。{BODY}", f"二、强化资金保障。{BODY}"]
    assert len(headings(page(*lines))) == 2
    assert paths(page(*lines))[0] == ("一、加强组织领导",)


def test_decimals_follow_their_parents():
    lines = ["1 范围", BODY, "2 术语", "2.1 数据", BODY, "2.2 平台", BODY, "3 要求", BODY]
    assert [level for level, _ in headings(page(*lines))] == [1, 1, 2, 2, 1]


def test_an_english_paper_is_outlined():
    body = "We study the problem of reading tables with language models."
    lines = ["1 Introduction", body, "2 Related Work", body, "2.1 Table Models", body]
    lines += ["2.2 Pretraining", body, "3 Conclusion", body]
    assert [level for level, _ in headings(page(*lines))] == [1, 1, 2, 2, 1]


def test_a_filing_is_outlined_by_parts_and_items():
    body = "The Company conducts its operations through wholly owned subsidiaries."
    found = headings(page("PART I", "ITEM 1. BUSINESS", body, "ITEM 1A. RISK FACTORS", body))
    assert [level for level, _ in found] == [1, 2, 2]


@pytest.mark.parametrize(
    "lines",
    [
        ["1. 2019年，公司实现营业收入十亿元，同比增长。", BODY, "2. 2020年，公司实现营业收入。", BODY],
        ["1. 苹果", "2. 香蕉", "3. 梨", BODY],
        ["（一）公安机关实施的行为；", "（二）调解行为；", "（三）行政指导行为。"],
        ["第一章　总则 | 3", "第二章　附则 | 9"],
        ["第一章　总则 ........ 1", "第二章　任务 …… 12", "第三章　附则　　　15"],
        ["1.5亿元投资", BODY, "2.3亿元投资", BODY],
        ["12", "3.4", "1", "2", "3"],
        ["根据本办法", "第三条的规定，", "第五条、第六条所列情形除外。"],
        ["1. Before our films can be broadcast, the network", "requires insurance.", "2. I asked him"],
        ["Part 1 provides the diagnosis. It uses", "Part 2 gives the remedy and", "ends."],
    ],
)  # fmt: skip
def test_what_only_looks_like_a_heading_is_none(lines):
    assert headings(page(*lines)) == []


def test_a_contents_list_without_page_numbers_is_none():
    contents = ["目　　录", "第一章　总则", "第二章　任务", "第三章　附则"]
    text = ["第一章　总则", BODY, "第二章　任务", BODY, "第三章　附则", BODY]
    found = mark_headings([page(*contents, *text)])[0].elements
    assert [element.line_start for element in found] == [5, 7, 9]


def test_a_wrapped_sentence_does_not_start_a_chapter():
    full = "依照本法的规定应当承担责任的单位和个人都必须按照前款和本法"
    lines = [full + "规定的期限履行", "第五章规定的义务", full, full, full]
    assert headings(page(*lines)) == []


def test_running_headers_and_tables_are_left_alone():
    noisy = page("第一章　总则", "第二章　任务", BODY, noise=(1,))
    table = page("第一章　总则", BODY, elements=(Element("table", 1, 1),), number=2)
    assert headings(noisy, table) == [(1, "第二章　任务")]


def test_a_document_with_headings_of_its_own_keeps_them():
    marks = (Element("heading", 1, 1, 1), Element("heading", 2, 2, 2))
    own = page("标题", "范围", "第一章　总则", BODY, elements=marks)
    assert mark_headings([own]) == (own,)


def test_a_title_alone_stands_above_what_is_found():
    one = page(
        "数据条例", "第一章　总则", f"第一条　{BODY}", elements=(Element("heading", 1, 1, 1),)
    )
    assert [level for level, _ in headings(one)] == [1, 2, 3]
    assert mark_headings(mark_headings([one])) == mark_headings([one])


@pytest.mark.parametrize("kind", ["sheet", "slide"])
def test_sheets_and_slides_are_left_alone(kind):
    assert headings(page("第一章　总则", BODY, kind=kind)) == []


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("第十二条　为了规范数据处理活动，保障数据安全，制定本法。", "第十二条"),
        ("第十二条【立法目的】为了规范数据处理活动，制定本法。", "第十二条【立法目的】"),
        ("第二百五十三条之一　违反国家有关规定，情节严重的。", "第二百五十三条之一"),
        ("第三条　定义", "第三条 定义"),
        ("一、加强领导。各部门要落实。", "一、加强领导"),
        ("第二章　主要任务", "第二章 主要任务"),
        ("甲" * 50, "甲" * 39 + "…"),
    ],
)
def test_the_title_in_the_path_is_short(line, title):
    assert heading_title(line) == title


def test_a_bare_article_number_is_not_indexed_but_a_title_is():
    lines = ["第一章　总则", f"第一条　{BODY}", BODY, BODY, BODY, BODY, BODY, BODY]
    one = mark_headings([page(*lines)])[0]
    text = indexed_text("条例", cut_blocks([one])[1], one)
    assert text.split("\n")[:2] == ["条例", "第一章 总则"]


def test_a_heading_that_the_block_shows_is_not_indexed_twice():
    one = mark_headings([page("第一章　总则", BODY, BODY)])[0]
    assert indexed_text("条例", cut_blocks([one])[0], one).count("总则") == 1


@pytest.mark.parametrize(
    ("line", "level"),
    [("第一编 总则", 1), ("第二章", 2), ("一、要求", 3), ("第三条　文", 4), ("1.1 范围", 4), ("正文", 0)],
)  # fmt: skip
def test_pages_may_break_by_form_alone(line, level):
    assert plain_level(line) == level


NUMBERED = st.sampled_from(
    [
        "第一章 甲",
        "第二条 乙",
        "一、甲",
        "（一）乙",
        "1. 甲",
        "1.1 乙",
        "(1) 丙",
        "目录",
        "正文。",
        "",
    ]
)


@given(st.lists(st.lists(NUMBERED, min_size=1, max_size=12), min_size=1, max_size=4))
def test_marks_lie_on_their_pages_and_change_no_text(texts):
    pages = [page(*lines, number=number) for number, lines in enumerate(texts, 1)]
    marked = mark_headings(pages)
    assert [one.text for one in marked] == [one.text for one in pages]
    for one in marked:
        count = len(one.text.split("\n"))
        assert all(1 <= e.line_start == e.line_end <= count for e in one.elements)
        assert all(e.level >= 1 for e in one.elements)
