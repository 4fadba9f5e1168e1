"""Words in quotes are matched literally."""

from __future__ import annotations

import pytest
from core_support import Library, numbered

from kb.phrases import quoted


@pytest.fixture
def plans(library: Library) -> Library:
    library.put(
        "规划.txt",
        numbered("建设资金由市财政承担", 8) + "\n数字档案馆分三期\n建设，二〇二七年完成。",
    )
    library.put("办法.txt", "市财政承担的资金另行规定。\n建设由住建局负责。")
    library.put("note.md", "The Digital  Archive opens\nin 2027 with ETL tools.")
    library.put("繁體.txt", "本年度營收增長。")
    return library


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("「建设资金」在哪", ["建设资金"]),
        ('『甲』“乙” "c d" ＂丁＂', ["甲", "乙", "c d", "丁"]),
        ('"资金', []),
        ("「」“ ”『！』", []),
        ('don\'t "stop"', ["stop"]),
    ],
)
def test_only_paired_quotes_with_words_are_phrases(text: str, phrases: list[str]) -> None:
    assert quoted(text) == phrases


@pytest.mark.parametrize(
    ("query", "sources"),
    [
        ("「建设资金由市财政」", {"规划.txt"}),
        ("“市财政承担的资金”", {"办法.txt"}),
        ('"digital archive"', {"note.md"}),
        ("『ＥＴＬ tools』", {"note.md"}),
        ("「营收增长」", {"繁體.txt"}),
        ("「市财政承担」 建设", {"规划.txt", "办法.txt"}),
    ],
)
def test_every_hit_holds_the_folded_phrase(plans: Library, query: str, sources: set[str]) -> None:
    assert set(plans.sources(query, 20)) == sources


@pytest.mark.parametrize("query", ["「分三期建设」", '"archive opens in 2027"'])
def test_a_phrase_may_go_over_a_line_break_inside_a_block(plans: Library, query: str) -> None:
    assert len(plans.sources(query, 20)) == 1


@pytest.mark.parametrize("query", ["「资金由省财政承担」", "“财政建设” 资金", '"no such words"'])
def test_a_phrase_that_is_nowhere_says_so(plans: Library, query: str) -> None:
    result = plans.kb.search(query)
    assert result.hits == ()
    assert quoted(query)[0] in result.notice


def test_words_that_only_stand_apart_are_no_phrase(plans: Library) -> None:
    assert plans.sources("市财政 资金 建设", 20)
    assert plans.kb.search("「建设市财政」").hits == ()


def test_phrases_that_never_meet_are_told_apart_from_missing_ones(plans: Library) -> None:
    notice = plans.kb.search("「分三期」「营收」").notice
    assert notice
    assert "分三期" not in notice


def test_a_phrase_is_looked_for_inside_the_scope(plans: Library) -> None:
    assert plans.sources("「市财政承担」", 20, source="办法.txt") == ["办法.txt"]
    assert not plans.sources("「营收」", 20, source="办法.txt")
