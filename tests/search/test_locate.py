from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from library_support import Library, numbered, settings_for

from kb.errors import InvalidInput, NotFound
from kb.search.locate import MAX_QUERY, MAX_TOP_K


@pytest.fixture
def plans(library: Library) -> Library:
    library.put(
        "政策/规划.pdf", "\f".join(numbered(f"第{page}页 建设资金", 30) for page in range(1, 6))
    )
    library.put("政策/办法.txt", "第一条 为了规范档案工作。\n第二条 经费由财政局承担。")
    library.put("会议/纪要.md", "会议讨论了 version 1.0.21 的上线时间。")
    return library


def test_what_a_hit_shows_is_what_read_range_returns(plans: Library) -> None:
    for hit in plans.kb.search("建设资金 编号17", 20).hits:
        place = hit.citation
        passage = plans.kb.read_range(place.source, place.page, place.line_start, place.line_end)
        assert "\n".join(line.text for line in passage.lines) == hit.text
        assert place.digest == hashlib.sha256(hit.text.encode()).hexdigest()[:16]


def test_the_matched_block_is_marked_inside_its_neighbours(plans: Library) -> None:
    hit = plans.kb.search("第3页 建设资金 编号13", 1).hits[0]
    marked = [line.line for line in hit.lines if line.match]
    assert (hit.citation.page, 13 in marked) == (3, True)
    assert marked == list(range(marked[0], marked[-1] + 1))
    assert hit.lines[0].line < marked[0]
    assert hit.lines[-1].line > marked[-1]


def test_no_line_is_shown_twice(plans: Library) -> None:
    shown = [
        (hit.citation.source, hit.citation.page, line.line)
        for hit in plans.kb.search("建设资金 编号", 20).hits
        for line in hit.lines
    ]
    assert len(shown) == len(set(shown))


def test_hits_come_best_first_with_their_ranks(plans: Library) -> None:
    hits = plans.kb.search("建设资金 编号", 10).hits
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    assert hits[0].dense_rank is not None
    assert hits[0].sparse_rank is not None


@pytest.mark.parametrize(
    ("query", "source"),
    [
        ("财政局", "政策/办法.txt"),
        ("1.0.21", "会议/纪要.md"),
        ("檔案 規範", "政策/办法.txt"),
        ("ＶＥＲＳＩＯＮ", "会议/纪要.md"),
    ],
)
def test_keywords_find_their_document_first(plans: Library, query: str, source: str) -> None:
    assert plans.sources(query, 1) == [source]


def test_top_k_bounds_the_hits(plans: Library) -> None:
    assert len(plans.kb.search("建设资金", 2).hits) == 2


@pytest.mark.parametrize("top_k", [0, -1, 10**9, MAX_TOP_K + 1])
def test_top_k_out_of_range_names_the_range(plans: Library, top_k: int) -> None:
    with pytest.raises(InvalidInput, match=str(MAX_TOP_K)):
        plans.kb.search("资金", top_k)


@pytest.mark.parametrize("query", ["", "  \n", "？！…", "x" * 100_000, "字" * (MAX_QUERY + 1)])
def test_a_query_without_words_or_too_long_is_refused(plans: Library, query: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        plans.kb.search(query)
    assert caught.value.hint


def test_the_longest_query_is_answered(plans: Library) -> None:
    distinct = "".join(chr(0x4E00 + n) for n in range(MAX_QUERY - 2))
    assert plans.kb.search(f"资金{distinct}").hits


def test_words_of_every_block_are_looked_for_when_there_is_nothing_else(library: Library) -> None:
    for n in range(40):
        library.put(f"{n}.txt", f"共同的话 {n}", update=False)
    library.kb.update()
    assert len(library.texts("共同的话", 10)) == 10
    assert library.sources("共同的话 17", 1) == ["17.txt"]


def test_characters_that_mean_something_to_fts5_are_only_text(plans: Library) -> None:
    for query in (
        '"资金',
        "资金 AND",
        "NEAR(资金)",
        "tokens:资金",
        "资金*",
        "^资金",
        "资金' OR 1=1 --",
        "a\0b 资金",
    ):
        assert plans.kb.search(query).hits


# -- scope ---------------------------------------------------------------------------------


def test_a_source_restricts_the_search_itself(plans: Library) -> None:
    assert set(plans.sources("资金 档案 会议", 20, source="会议/纪要.md")) == {"会议/纪要.md"}
    assert set(plans.sources("资金 档案 会议", 20, source="政策/")) == {
        "政策/规划.pdf",
        "政策/办法.txt",
    }


def test_a_unique_file_name_is_enough(plans: Library) -> None:
    assert plans.kb.read_range("办法.txt", 1).source == "政策/办法.txt"
    assert plans.sources("会议", source="纪要.md") == ["会议/纪要.md"]


def test_a_file_name_that_several_share_is_refused_with_their_full_names(plans: Library) -> None:
    plans.put("归档/办法.txt", "旧办法")
    with pytest.raises(NotFound) as caught:
        plans.kb.read_range("办法.txt", 1)
    assert "归档/办法.txt" in caught.value.hint
    assert "政策/办法.txt" in caught.value.hint


def test_a_part_of_a_name_never_reads_somebody_elses_document(plans: Library) -> None:
    for name in ("规划", "划.pdf", "%", "政策", "_.txt"):
        with pytest.raises(NotFound):
            plans.kb.read_range(name, 1)


def test_an_unknown_source_offers_near_names(plans: Library) -> None:
    with pytest.raises(NotFound) as caught:
        plans.kb.search("资金", source="政策/规化.pdf")
    assert "政策/规划.pdf" in caught.value.hint


# -- read_range ----------------------------------------------------------------------------


@pytest.mark.parametrize("page", [0, -1, 6, 10**9, 1 << 24])
def test_a_page_out_of_range_names_how_many_there_are(plans: Library, page: int) -> None:
    with pytest.raises(NotFound, match="5"):
        plans.kb.read_range("政策/规划.pdf", page)


@pytest.mark.parametrize(
    ("start", "end", "context"),
    [(0, 5, 0), (31, 40, 0), (5, 4, 0), (1, 0, 0), (1, -2, 0), (1, 5, -1), (1, 5, 51)],
)
def test_lines_out_of_range_name_what_is_valid(
    plans: Library, start: int, end: int, context: int
) -> None:
    with pytest.raises(InvalidInput) as caught:
        plans.kb.read_range("政策/规划.pdf", 1, start, end, context)
    assert "30" in caught.value.hint


def test_context_adds_lines_up_to_the_page(plans: Library) -> None:
    passage = plans.kb.read_range("政策/规划.pdf", 2, 2, 4, 3)
    assert (passage.line_start, passage.line_end) == (1, 7)


def test_an_end_past_the_page_is_taken_as_its_last_line_and_said(plans: Library) -> None:
    passage = plans.kb.read_range("政策/规划.pdf", 2, 25, 99)
    assert (passage.line_end, passage.page_lines, passage.truncated) == (30, 30, False)
    assert "99" in passage.notice


def test_a_long_page_is_cut_on_a_whole_line_and_says_how_to_go_on(tmp_path: Path) -> None:
    library = Library(tmp_path, settings_for(tmp_path, max_chars=1_000))
    library.put("长.txt", numbered("很长的一页" * 5, 200))
    passage = library.kb.read_range("长.txt", 1)
    assert passage.truncated
    assert sum(len(line.text) for line in passage.lines) < 1_000
    assert passage.next == {
        "source": "长.txt",
        "page": 1,
        "line_start": passage.line_end + 1,
        "line_end": 200,
    }


def test_a_line_longer_than_the_budget_is_still_given_whole(library: Library) -> None:
    library.put("一行.txt", "长" * 50_000 + "\n尾")
    passage = library.kb.read_range("一行.txt", 1)
    assert [len(line.text) for line in passage.lines] == [50_000]
    assert passage.next["line_start"] == 2


def test_an_empty_page_is_there_and_says_so(library: Library) -> None:
    library.put("a.txt", "甲\f\f丙")
    passage = library.kb.read_range("a.txt", 2)
    assert [line.text for line in passage.lines] == [""]
    assert passage.notice


# -- what is said --------------------------------------------------------------------------


def test_nothing_ingested_is_said_with_the_next_step(library: Library) -> None:
    result = library.kb.search("资金")
    assert result.hits == ()
    assert "ingest" in result.notice


def test_keywords_answer_before_the_vectors_and_say_how_far_they_are(library: Library) -> None:
    library.put("a.txt", numbered("甲", 30))
    library.put("b.txt", "财政局 经费", update=False)
    result = library.kb.search("财政局", 1)
    assert result.hits[0].citation.source == "b.txt"
    assert "6/7" in result.notice


def test_a_search_stays_within_its_budget_and_says_what_it_left_out(tmp_path: Path) -> None:
    library = Library(tmp_path, settings_for(tmp_path, max_chars=1_000))
    for n in range(30):
        library.put(f"{n}.txt", numbered("资金安排" * 10, 5))
    result = library.kb.search("资金安排", 30)
    assert 1 <= len(result.hits) < 30
    assert sum(len(hit.text) for hit in result.hits) <= 1_000
    assert str(30 - len(result.hits)) in result.notice


def test_min_relevance_leaves_weak_hits_out(plans: Library) -> None:
    some = plans.kb.search("财政局 经费", 20, min_relevance=0.3).hits
    assert 0 < len(some) < len(plans.kb.search("财政局 经费", 20).hits)
    assert all(hit.relevance >= 0.3 for hit in some)
    with pytest.raises(InvalidInput):
        plans.kb.search("财政局", min_relevance=2)
