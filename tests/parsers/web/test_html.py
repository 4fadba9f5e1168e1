"""Web pages: what is shown, in which lines, and what is said of the rest."""

import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.errors import Refused
from kb.parsers.web import html, tree


@pytest.fixture
def read(write):
    def read(content, name="x.html"):
        return html.parse(write(name, content), name)

    return read


@pytest.fixture
def lines(read):
    def lines(content, name="x.html"):
        return [line for page in read(content, name).pages for line in page.text.split("\n")]

    return lines


def elements(parsed):
    return [
        (p.number, e.kind, e.line_start, e.line_end, e.level)
        for p in parsed.pages
        for e in p.elements
    ]


# Text


def test_blocks_are_lines_and_inline_text_is_not_split(lines):
    assert lines("<p>一<b>二</b>三<p>四<div>五<span>六</span></div>七") == [
        "一二三",
        "四",
        "五六",
        "七",
    ]


def test_white_space_is_one_space_and_none_between_han(lines):
    assert lines("<p>中国\n  人民 &nbsp; 银行\n<p>one\n two</p>") == ["中国人民 银行", "one two"]


def test_br_ends_a_line(lines):
    assert lines("<p>一<br>二<br/>三</p>") == ["一", "二", "三"]


def test_pre_keeps_its_lines_and_spaces(lines):
    assert lines("<pre>\nif a:\n    b\n\n    c\n</pre>后") == ["if a:", "    b", "", "    c", "后"]


def test_other_separators_stay_inside_their_line(lines):
    assert lines("<p>a\u2028b\x85c</p><p>d</p>") == ["a\u2028b\x85c", "d"]


def test_scripts_styles_and_templates_are_never_text(lines):
    page = (
        "<script>var a</script><style>p{}</style><template>t</template><noscript>n</noscript><p>文"
    )
    assert lines(page) == ["文"]


def test_hidden_text_is_left_out_and_counted(read):
    parsed = read('<p>见<span style="display: none">藏起来</span>文<p hidden>也藏</p>')
    assert parsed.pages[0].text == "见文"
    assert any("5" in warning for warning in parsed.warnings)


def test_a_page_that_hides_everything_is_shown(lines):
    assert lines('<div style="display:none"><p>全文</p></div>') == ["全文"]


def test_links_show_their_text_and_pictures_their_description(lines):
    page = '<p>见<a href="http://x/y">附件</a><img src="a.png" alt="流程图"><img alt="b.png"></p>'
    assert lines(page) == ["见附件[流程图]"]


def test_soft_hyphens_and_zero_width_spaces_are_no_characters(lines):
    assert lines("<p>data&shy;base 数\u200b据</p>") == ["database 数据"]


def test_the_title_is_the_first_line_unless_the_text_says_it(lines):
    assert lines("<title>标题</title><p>正文") == ["标题", "正文"]
    assert lines("<title>标题</title><h1>标题</h1><p>正文") == ["标题", "正文"]


def test_nothing_but_markup_is_nothing_to_read(read):
    for page in ("<html><script>x</script></html>", "<p> </p>", "<!-- x -->"):
        with pytest.raises(Refused):
            read(page)


def test_xhtml_may_close_what_html_may_not(lines):
    page = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/>'
    assert lines(page + '<script src="a"/></head><body><p/><p>文</p></body></html>') == ["文"]


# Structure


def test_headings_have_levels(read):
    parsed = read('<h1>一</h1><p>文<h3>二<br>三</h3><div role="heading" aria-level="2">四</div>')
    assert elements(parsed) == [
        (1, "heading", 1, 1, 1),
        (1, "heading", 3, 4, 3),
        (1, "heading", 5, 5, 2),
    ]


def test_lists_show_their_markers(lines):
    page = (
        "<ul><li>甲<li>乙<ol start=3 type=a><li>子<li value=9>丑</ol></ul><ol><li><p>一<p>续</ol>"
    )
    assert lines(page) == ["• 甲", "• 乙", "  c. 子", "  i. 丑", "1. 一", "续"]


def test_a_table_is_rows_with_its_header_known(read):
    parsed = read(
        "<table><caption>表1</caption><thead><tr><th>指标<th>值</thead>"
        "<tr><td>甲<td>1<tr><td>乙<td><p>2<p>3</table>"
    )
    assert parsed.pages[0].text.split("\n") == ["表1", "指标 | 值", "甲 | 1", "乙 | 2 3"]
    assert elements(parsed) == [(1, "table", 2, 4, 1)]


def test_rows_of_th_are_headers_and_a_th_per_row_is_none(read):
    head = read("<table><tr><th>a<th>b<tr><td>1<td>2</table>")
    side = read("<table><tr><th>a<td>1<tr><th>b<td>2</table>")
    assert [elements(parsed)[0][-1] for parsed in (head, side)] == [1, 0]


def test_spans_keep_columns_in_place(lines):
    page = (
        "<table><tr><td rowspan=2>甲<td colspan=2>合并<td>末"
        "<tr><td>1<td>2<td>3<tr><td>乙<td><td>5<td>6</table>"
    )
    assert lines(page) == ["甲 | 合并 |  | 末", "| 1 | 2 | 3", "乙 |  | 5 | 6"]


def test_signs_join_their_numbers_and_empty_columns_go(lines):
    page = (
        "<table><tr><td>收入<td><td>$<td>1,200<td></tr>"
        "<tr><td>亏损<td><td>$<td>(35<td>)</tr></table>"
    )
    assert lines(page) == ["收入 | $ 1,200", "亏损 | $ (35)"]


def test_a_layout_table_is_no_table(read):
    page = (
        "<table><tr><td><h2>题</h2><p>左文<td><table><tr><td>甲<td>1<tr><td>乙<td>2</table></table>"
    )
    parsed = read(page)
    assert parsed.pages[0].text.split("\n") == ["题", "左文", "甲 | 1", "乙 | 2"]
    assert (1, "table", 3, 4, 0) in elements(parsed)


def test_hidden_rows_are_left_out(lines):
    page = "<table><tr><td>甲<td>1<tr hidden><td>乙<td>2<tbody style='display:none'><tr><td>丙<td>3"
    assert lines(page) == ["甲 | 1"]


def test_text_outside_of_cells_is_not_lost(lines):
    assert sorted(lines("<table>散<tr><td>甲<td>乙</tr></table>")) == ["乙", "散", "甲"]


def test_a_form_inside_a_table_does_not_break_its_rows(lines):
    assert lines("<table><form><tr><td>甲<td>1</tr></form></table>") == ["甲 | 1"]


def test_absurd_spans_cost_nothing(lines):
    cell = '<td colspan="999999999" rowspan="99999999">x'
    started = time.monotonic()
    assert lines(f"<table>{'<tr>' + cell * 50}</table>")
    assert time.monotonic() - started < 2


def test_too_deep_a_page_is_refused_not_cut(read):
    with pytest.raises(Refused, match=r"x\.html"):
        read("<div>" * 5000 + "深" + "</div>" * 5000)


# Main text


def test_navigation_is_left_out_and_said(read):
    parsed = read("<nav><a>首页</a></nav><p>" + "正文" * 20)
    assert "首页" not in parsed.pages[0].text
    assert any("2" in warning for warning in parsed.warnings)


def test_a_main_element_with_most_of_the_text_is_enough(lines):
    page = f"<div>侧栏</div><main><p>{'正文' * 50}</p></main><div>页脚</div>"
    assert lines(page) == ["正文" * 50]


def test_the_only_article_is_the_main_text(lines):
    page = f"<div>侧栏</div><article>{'正文' * 30}<article>评论</article></article>"
    assert lines(page) == ["正文" * 30, "评论"]
    assert len(lines(page + "<article>又一篇</article>")) == 4


def test_a_small_main_element_or_a_table_beside_it_keeps_everything(lines):
    small = f"<p>{'其他' * 50}</p><main>短</main>"
    table = f"<main>{'正文' * 50}</main><table><tr><td>甲<td>1</table>"
    assert len(lines(small)) == 2
    assert "甲 | 1" in lines(table)


def test_a_page_of_links_only_is_kept(lines):
    assert lines("<nav><ul><li>甲<li>乙</ul></nav><p>短") == ["• 甲", "• 乙", "短"]


# Pages


def test_pages_break_before_headings_and_keep_tables_whole(read):
    text = "".join(f"<p>正文{i}" for i in range(50)) + "<h2>下一节</h2>"
    assert read(text + "<p>文" * 40).pages[1].text.startswith("下一节")
    rows = "<tr><td>甲<td>1" * 30
    table = "".join(f"<p>正文{i}" for i in range(45)) + f"<table>{rows}</table>"
    parsed = read(table)
    assert parsed.pages[1].text.startswith("甲 | 1")
    assert {page.kind for page in parsed.pages} == {"virtual"}


def test_a_large_page_is_quick(read):
    row = "<tr>" + "<td>数据</td>" * 8 + "</tr>"
    started = time.monotonic()
    parsed = read(f"<table>{row * 5_000}</table>")
    assert time.monotonic() - started < 5
    assert sum(page.text.count("\n") + 1 for page in parsed.pages) == 5_000


# Encodings


@pytest.mark.parametrize(
    ("head", "codec", "encoding"),
    [
        ('<meta charset="gb2312">', "gb18030", "gb18030"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=big5">', "big5", "big5hkscs"),
        ('<?xml version="1.0" encoding="GBK"?><html>', "gbk", "gb18030"),
        ("", "utf-16", "utf-16-le"),
        ('<meta charset="utf-8">', "utf-8", "utf-8"),
    ],
)
def test_the_declared_encoding_is_used_without_a_word(read, head, codec, encoding):
    parsed = read(f"{head}<p>中文資料</p>".encode(codec))
    assert parsed.pages[0].text == "中文資料"
    assert parsed.encoding == encoding
    assert parsed.warnings == ()


@pytest.mark.parametrize(
    ("declared", "codec"), [("gb2312", "utf-8"), ("utf-8", "gb18030"), ("iso-8859-1", "gb18030")]
)
def test_a_wrong_declaration_is_overruled_and_said(read, declared, codec):
    text = "为了规范数据处理活动，保障数据安全，促进数据开发利用，保护个人权益。"
    parsed = read(f'<meta charset="{declared}"><p>{text}'.encode(codec))
    assert parsed.pages[0].text == text
    assert any(declared in warning for warning in parsed.warnings)


def test_characters_beyond_gb2312_survive_its_label(read):
    parsed = read('<meta charset="gb2312"><p>朱镕基 喆 €'.encode("gb18030"))
    assert parsed.pages[0].text == "朱镕基 喆 €"


# Whatever the markup


TAGS = ("p", "div", "table", "tr", "td", "th", "thead", "ul", "ol", "li", "b", "pre", "h2", "form")
PIECES = st.sampled_from(
    [f"<{tag}>" for tag in TAGS]
    + [f"</{tag}>" for tag in TAGS]
    + ["<br>", "<caption>", "<td colspan=3>", "<td rowspan=2>", "\n"]
    + list("甲乙丙丁戊己庚辛")
)


@given(st.lists(PIECES, max_size=60))
def test_no_character_is_lost_or_doubled(pieces):
    markup = "".join(pieces)
    root = tree.tree(markup, "x.html")
    wanted = Counter("".join(root.itertext()))
    shown = Counter("".join(line.text for line in html.read(markup, "x.html").lines))
    for char in "甲乙丙丁戊己庚辛":
        assert shown[char] == wanted[char]


def test_tables_in_tables_are_bounded_by_the_parser_alone(sandbox, write):
    page = "<table><tr><td>" * 600 + "深" + "</td></tr></table>" * 600
    assert sandbox.parse(write("深.html", page), "深.html").pages[0].text == "深"
