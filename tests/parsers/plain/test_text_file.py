"""Plain text and Markdown: encodings, form feeds, pages, headings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.errors import Refused
from kb.parsers import paging
from kb.parsers.plain import markdown
from kb.parsers.plain import text as plain_text
from kb.parsers.plain.decode import decode

CHINESE = "第一章　总则\n第一条　为了规范数据管理，保障数据安全，制定本办法。\n本市行政区域内的数据处理活动适用本办法。\n"
BIG5 = "第一章 總則\n第一條 為了規範資料管理，保障資料安全，制定本辦法。\n"
SEPARATORS = st.text(st.sampled_from("甲a \t\n\r\x0b\x0c\x1c\x85\u2028#-|`"), max_size=400)


@pytest.fixture
def read(write):
    def read(content, name="x.txt"):
        module = markdown if name.endswith(".md") else plain_text
        return module.parse(write(name, content), name)

    return read


def texts(parsed):
    return [page.text for page in parsed.pages]


def normal(text):
    return text.replace("\r\n", "\n").replace("\r", "\n")


# Lines and pages


def test_only_newlines_end_lines(read):
    page = read("a\nb\rc\r\nd\u2028e\x0bf\x85g\x1ch").pages[0]
    assert page.text.split("\n") == ["a", "b", "c", "d\u2028e\x0bf\x85g\x1ch"]


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("甲\f乙", ["甲", "乙"]),
        ("甲\n\f乙\n", ["甲", "乙"]),
        ("甲\n\n\f乙", ["甲\n", "乙"]),
        ("甲\f", ["甲"]),
        ("甲\n\f\n", ["甲"]),
        ("甲\f\f丙", ["甲", "", "丙"]),
        ("\f乙", ["", "乙"]),
        ("甲\r\n\f\r\n乙", ["甲", "\n乙"]),
    ],
)
def test_a_form_feed_ends_a_page(read, text, pages):
    parsed = read(text)
    assert texts(parsed) == pages
    assert {page.kind for page in parsed.pages} == {"rendered"}
    assert [page.number for page in parsed.pages] == list(range(1, len(pages) + 1))


def test_pages_of_form_feeds_may_be_long(read):
    assert len(texts(read("行\n" * 500 + "\f末"))) == 2


def test_without_form_feeds_pages_are_virtual_and_short(read):
    parsed = read("\n".join(f"第{i}行" for i in range(1000)) + "\n")
    assert {page.kind for page in parsed.pages} == {"virtual"}
    assert all(len(text.split("\n")) <= paging.PAGE_LINES for text in texts(parsed))


def test_a_page_breaks_before_the_last_chapter_that_fits(read):
    rows = [f"正文{i}" for i in range(100)]
    rows[45] = "第二章　主要任务"
    rows[50] = ""
    rows[55] = "第三条　其他"
    assert texts(read("\n".join(rows)))[1].startswith("第二章")


def test_a_page_breaks_after_a_blank_line_when_there_is_no_heading(read):
    rows = [f"正文{i}" for i in range(100)]
    rows[52] = ""
    assert texts(read("\n".join(rows)))[1].startswith("正文53")


@given(SEPARATORS)
def test_pages_put_together_are_the_file(text):
    sheets, kind = paging.sheets(text, paging.plain_strength)
    lines = [line for sheet in sheets for line in sheet.lines]
    plain = normal(text)
    if kind == "virtual":
        assert lines == plain.removesuffix("\n").split("\n")
    else:
        pages = plain.split("\f")
        if not pages[-1].removesuffix("\n"):
            pages.pop()
        assert lines == [row for page in pages for row in page.removesuffix("\n").split("\n")]
    starts = [sheet.start for sheet in sheets]
    assert starts == [sum(len(s.lines) for s in sheets[:i]) for i in range(len(sheets))]


@given(st.lists(st.sampled_from(["", "第一章 总则", "正文", "# 标题", "一、"]), max_size=300))
def test_virtual_pages_are_never_too_long_and_never_empty(rows):
    sheets, _ = paging.sheets("\n".join(rows), paging.plain_strength)
    assert all(1 <= len(sheet.lines) <= paging.PAGE_LINES for sheet in sheets)
    assert all(len(sheet.lines) >= 40 for sheet in sheets[:-1])


# Encodings


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-16", "utf-16-le", "utf-32", "utf-8-sig", "gb18030"]
)
def test_chinese_is_read_in_its_encoding(read, encoding):
    parsed = read(CHINESE.encode(encoding))
    assert texts(parsed) == [CHINESE.removesuffix("\n")]
    assert parsed.encoding


def test_big5_is_read_and_said_to_be_a_guess(read):
    parsed = read(BIG5.encode("big5"))
    assert texts(parsed) == [BIG5.removesuffix("\n")]
    assert parsed.encoding == "big5hkscs"
    assert "big5hkscs" in parsed.warnings[0]


def test_gb_text_is_gb18030_whatever_its_length(read):
    for text in ("规划", "公园里", "今天天气很好，我们去公园。", CHINESE * 50):
        assert read(text.encode("gbk")).encoding == "gb18030", text


def test_four_byte_characters_of_gb18030_survive(read):
    text = CHINESE + "㐀䶮𠀀𪚥€ 人名：𠮷田\n"
    parsed = read(text.encode("gb18030"))
    assert texts(parsed) == [text.removesuffix("\n")]
    assert not any("U+FFFD" in warning for warning in parsed.warnings)


def test_japanese_and_korean_are_not_taken_for_gb(read):
    for text, encoding in (
        ("これは日本語の文章です。ひらがなとカタカナ。\n", "shift_jis"),
        ("이것은 한국어 문장입니다. 정보 검색\n", "euc_kr"),
    ):
        assert texts(read((text * 5).encode(encoding))) == [(text * 5).removesuffix("\n")]


def test_utf8_is_certain_and_gives_no_warning(read):
    assert read(CHINESE).warnings == ()


def test_a_cut_character_is_replaced_and_said(read):
    parsed = read(CHINESE.encode("utf-8")[:-3])
    assert parsed.encoding == "utf-8"
    assert texts(parsed)[0].endswith("\ufffd")
    assert any("1" in warning and "U+FFFD" in warning for warning in parsed.warnings)


def test_utf16_without_a_mark_is_known_by_what_it_reads_as():
    assert decode("date,value\n1,2\n".encode("utf-16-be")).encoding == "utf-16-be"


@pytest.mark.parametrize("content", [bytes(range(256)) * 20, b"\0" * 100, b"text\0\0\0\1\2\3" * 50])
def test_binary_is_refused(read, content):
    with pytest.raises(Refused, match=r"x\.txt"):
        read(content)


def test_terminal_colours_are_still_text(read):
    assert read("\x1b[31merror\x1b[0m\n" * 20, "x.log").pages


@pytest.mark.parametrize("content", [" \n\t\n", "\ufeff", "\u3000\n", "\f\f"])
def test_white_space_alone_is_nothing_to_read(read, content):
    with pytest.raises(Refused):
        read(content)


# Markdown


def elements(parsed, kind):
    return [
        (p.number, e.line_start, e.line_end, e.level)
        for p in parsed.pages
        for e in p.elements
        if e.kind == kind
    ]


def test_headings_have_levels_and_stay_raw(read):
    parsed = read("# 总则\n\n文\n\n## 范围 ##\n\n说明\n===\n\n细则\n---\n", "x.md")
    assert elements(parsed, "heading") == [(1, 1, 1, 1), (1, 5, 5, 2), (1, 7, 7, 1), (1, 10, 10, 2)]
    assert parsed.pages[0].text.startswith("# 总则\n")


def test_what_looks_like_a_heading_in_code_is_none(read):
    text = "```sh\n# 注释\n~~~\n# 注释\n```\n# 真\n~~~\n# 到底\n"
    assert elements(read(text, "x.md"), "heading") == [(1, 6, 6, 1)]


def test_a_rule_or_a_list_is_no_heading(read):
    text = "上文\n下文\n---\n\n- 项\n---\n\n---\n#标签\n####### 七\n"
    assert elements(read(text, "x.md"), "heading") == []


def test_a_table_is_an_element(read):
    text = "前\n\n| 指标 | 值 |\n|---|--:|\n| 甲 | 1 |\n| 乙 | 2 |\n\n后 | 文\n"
    assert elements(read(text, "x.md"), "table") == [(1, 3, 6, 0)]


def test_pages_break_before_headings_and_keep_tables_whole(read):
    rows = [f"正文{i}" for i in range(50)] + ["## 下一节"] + ["文"] * 40
    assert texts(read("\n".join(rows), "x.md"))[1].startswith("## 下一节")
    table = [f"正文{i}" for i in range(52)] + ["| a | b |", "|--|--|"] + ["| 1 | 2 |"] * 30
    second = texts(read("\n".join(table), "x.md"))[1]
    assert second.startswith("| a | b |")


def test_elements_follow_form_feeds(read):
    parsed = read("# 一\n文\n\f\n# 二\n", "x.md")
    assert elements(parsed, "heading") == [(1, 1, 1, 1), (2, 2, 2, 1)]


@given(SEPARATORS)
def test_elements_lie_within_their_page(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("md") / "x.md"
    path.write_bytes(text.encode("utf-8"))
    try:
        parsed = markdown.parse(path, "x.md")
    except Refused:
        return
    for page in parsed.pages:
        count = len(page.text.split("\n"))
        assert all(1 <= e.line_start <= e.line_end <= count for e in page.elements)
