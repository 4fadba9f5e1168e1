from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.text.lines import normalize_newlines, split_lines
from kb.text.tokens import MAX_TOKEN, fold, tokens

SEPARATORS = "\n\r\x0b\x0c\x1c\x85\u2028\u2029"
any_text = st.text(
    st.sampled_from(SEPARATORS + "ab文字 ") | st.characters(exclude_categories=["Cs"])
)


@given(any_text)
def test_only_lf_ends_a_line(text: str) -> None:
    lines = split_lines(normalize_newlines(text))
    assert "\n".join(lines) == normalize_newlines(text)
    assert len(lines) == 1 + normalize_newlines(text).count("\n")
    assert not any("\r" in line for line in lines)


def test_other_separators_stay_inside_a_line() -> None:
    assert split_lines(normalize_newlines("a\u2028b\x0bc\x85d\r\ne\rf")) == [
        "a\u2028b\x0bc\x85d",
        "e",
        "f",
    ]


@given(any_text)
def test_folding_twice_changes_nothing_that_tokens_see(text: str) -> None:
    assert tokens(fold(text)) == tokens(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("２０３５", "2035"),
        ("ＥＴＬ", "etl"),
        ("營收", "营收"),
        ("⽂⼀⽅", "文一方"),
        ("第十二条", "第12条"),
        ("第一百零三章", "第 103 章"),
        ("万 东", "万东"),
        ("端到端\n测试结果", "端到端测试结果"),
    ],
)
def test_what_looks_alike_matches(one: str, other: str) -> None:
    assert tokens(one) == tokens(other)


def test_han_gives_characters_and_pairs() -> None:
    assert tokens("测试案") == ["测", "试", "案", "测试", "试案"]


def test_versions_and_identifiers_stay_whole_and_give_their_parts() -> None:
    assert tokens("v1.0.21 ab-12_x") == ["v1.0.21", "v1", "0", "21", "ab-12_x", "ab", "12", "x"]


def test_a_space_between_words_of_other_scripts_stays() -> None:
    assert tokens("digital archive") == ["digital", "archive"]


@given(any_text)
def test_tokens_are_what_the_keyword_index_takes_as_one(text: str) -> None:
    for token in tokens(text):
        assert 0 < len(token) <= MAX_TOKEN
        assert not set(token) & set(' \n"()*:^')
