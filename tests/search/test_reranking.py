from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from cross_encoder_support import put_cross_encoder
from hypothesis import given
from hypothesis import strategies as st
from library_support import Library, numbered, settings_for

from kb.app import KnowledgeBase
from kb.errors import RerankingFailed
from kb.model import Block, Page
from kb.search.fusion import Fused
from kb.search.reranking import CANDIDATES, PASSAGE_CHARS, Reranking, passage, reordered


class Judge:
    """A reranker that scores by a rule, as many passages as it is told."""

    name = "judge"

    def __init__(self, rule: Callable[[str], float], most: int = 1_000) -> None:
        self.rule, self.most = rule, most
        self.read: list[str] = []

    def score(self, question: str, passages: Sequence[str], deadline: float) -> list[float]:
        self.read = list(passages)
        return [self.rule(text) for text in passages[: self.most]]


def library_with(folder: Path, load: Callable[[], Any], **settings: Any) -> Library:
    """Nine short documents about one thing, the later the more often."""
    made = Library(folder, settings_for(folder, **settings))
    made.kb = KnowledgeBase(made.kb.settings, None, load)
    made.kb.__dict__["parser"] = made.parser
    for n in range(1, 10):
        made.put(f"{n}.txt", "经费 " * n, update=False)
    made.kb.update()
    return made


def ready(library: Library) -> Library:
    assert library.kb.reranking
    library.kb.reranking.wait()
    return library


def usual(library: Library, query: str = "经费", top_k: int = 9) -> list[str]:
    """The order without a reranker."""
    return Library.sources(_without(library), query, top_k)


def _without(library: Library) -> Library:
    plain = library.kb.settings.model_copy(update={"reranker": ""})
    made = Library(library.folder, plain)
    made.kb.__dict__["parser"] = library.parser
    return made


# -- the order -----------------------------------------------------------------------------


def test_hits_come_in_the_rerankers_order(tmp_path: Path) -> None:
    judge = Judge(lambda text: -len(text))
    library = ready(library_with(tmp_path, lambda: judge))
    result = library.kb.search("经费", 9)
    assert [h.citation.source for h in result.hits] == [f"{n}.txt" for n in range(1, 10)]
    assert result.notice == ""
    scores = [hit.score for hit in result.hits]
    assert scores == sorted(scores, reverse=True)


def test_a_real_cross_encoder_decides_by_the_words_it_reads(tmp_path: Path) -> None:
    put_cross_encoder(tmp_path / "models" / "small")
    settings = settings_for(tmp_path, model_dir=tmp_path / "models", reranker="small")
    library = Library(tmp_path, settings)
    # Keywords prefer the short and the repeated, the model the document with both words.
    library.put("重复.txt", "甲 甲 甲 甲 甲 甲")
    library.put("短.txt", "乙")
    library.put("两者.txt", "数字 " * 60 + "甲 数字 乙")
    library.put("无关.txt", "数字")
    assert usual(library, "甲 乙", 4)[0] != "两者.txt"
    assert ready(library).sources("甲 乙", 1) == ["两者.txt"]
    assert library.kb.search("甲 乙").notice == ""


def test_what_was_not_reached_stays_below_in_its_old_order(tmp_path: Path) -> None:
    judge = Judge(len, most=4)
    library = ready(library_with(tmp_path, lambda: judge))
    before, after = usual(library), library.sources("经费", 9)
    assert sorted(after[:4]) == sorted(before[:4])
    assert after[:4] == sorted(before[:4], reverse=True), "the longest first"
    assert after[4:] == before[4:]


class NoReader:
    """A catalogue in which no block is left."""

    def blocks(self, ids: Sequence[int]) -> dict[int, Any]:
        return {}

    def documents(self, ids: Sequence[int]) -> dict[int, Any]:
        return {}


class Given:
    name = "given"

    def __init__(self, scores: list[float]) -> None:
        self.scores = scores

    def score(self, question: str, passages: Sequence[str], deadline: float) -> list[float]:
        return self.scores[: len(passages)]


@given(
    st.lists(st.floats(-5, 5), max_size=50),
    st.lists(st.floats(-9, 9), max_size=50),
)
def test_any_prefix_is_only_reordered(usual_scores: list[float], scores: list[float]) -> None:
    found = [
        Fused(n, score, relevance=n / 100)
        for n, score in enumerate(sorted(usual_scores, reverse=True))
    ]
    ordered, reached = reordered(NoReader(), "?", found, Given(scores), 0.0)  # type: ignore[arg-type]
    assert reached == min(len(scores), len(found), CANDIDATES)
    assert ordered[reached:] == found[reached:]
    assert {hit.id for hit in ordered[:reached]} == {hit.id for hit in found[:reached]}
    assert [hit.score for hit in ordered] == [hit.score for hit in found]
    assert all(hit.relevance == hit.id / 100 for hit in ordered)
    by_engine = [scores[hit.id] for hit in ordered[:reached]]
    assert by_engine == sorted(by_engine, reverse=True)


def test_equal_scores_leave_the_order_alone(tmp_path: Path) -> None:
    library = ready(library_with(tmp_path, lambda: Judge(lambda _: 1.0)))
    assert library.sources("经费", 9) == usual(library)


# -- what it does not decide ---------------------------------------------------------------


def test_no_match_is_said_before_the_reranker_is_asked(tmp_path: Path) -> None:
    judge = Judge(len)
    library = ready(library_with(tmp_path, lambda: judge))
    for n in range(80):
        library.put(f"办法{n}.txt", f"部门{n}负责设备的维护与验收，第{n}项。", update=False)
    result = library.kb.search("量子纠缠与超导磁体")
    assert (result.hits, judge.read) == ((), [])
    assert ".txt" in result.notice


def test_min_relevance_keeps_the_same_hits_with_the_same_relevance(tmp_path: Path) -> None:
    library = ready(library_with(tmp_path, lambda: Judge(lambda text: -len(text))))
    plain = _without(library).kb.search("经费", 9, min_relevance=0.2).hits
    hits = library.kb.search("经费", 9, min_relevance=0.2).hits
    assert len(hits) > 0
    said = {hit.citation.source: hit.relevance for hit in plain}
    assert {hit.citation.source: hit.relevance for hit in hits} == said


def test_nothing_is_loaded_where_none_is_configured(library: Library) -> None:
    assert library.kb.reranking is None
    library.put("a.txt", "甲")
    library.put("b.txt", "甲 乙")
    library.kb.warm_up()
    assert library.kb.search("甲").notice == ""
    assert "reranker" not in {thread.name for thread in threading.enumerate()}


# -- its state -----------------------------------------------------------------------------


def test_a_question_does_not_wait_while_it_loads(tmp_path: Path) -> None:
    may_load, loads = threading.Event(), []

    def load() -> Judge:
        loads.append(threading.current_thread().name)
        assert may_load.wait(20)
        return Judge(lambda text: -len(text))

    library = library_with(tmp_path, load)
    early = library.kb.search("经费", 9)
    assert "加载" in early.notice
    assert [h.citation.source for h in early.hits] == usual(library)
    assert not may_load.is_set()
    may_load.set()
    late = ready(library).kb.search("经费", 9)
    assert late.notice == ""
    assert late.hits[0].citation.source == "1.txt"
    assert loads == ["reranker"], "once, in a thread of its own"


def test_warming_up_begins_to_load(tmp_path: Path) -> None:
    begun = threading.Event()

    def load() -> Judge:
        begun.set()
        return Judge(len)

    library = library_with(tmp_path, load)
    library.kb.warm_up()
    assert begun.wait(20)


def test_many_who_come_at_once_load_it_once() -> None:
    loads: list[int] = []

    def load() -> Judge:
        loads.append(1)
        return Judge(len)

    reranking = Reranking(load)
    threads = [threading.Thread(target=reranking.wait) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == [1]


@pytest.mark.parametrize(
    "error", [RerankingFailed("坏了", "重新下载"), MemoryError("too large")], ids=["ours", "any"]
)
def test_one_that_cannot_be_loaded_is_said_in_every_answer(
    tmp_path: Path, error: Exception
) -> None:
    def load() -> Judge:
        raise error

    library = library_with(tmp_path, load)
    assert library.kb.reranking
    with pytest.raises(RerankingFailed):
        library.kb.reranking.wait()
    for _ in range(2):
        result = library.kb.search("经费", 9)
        assert str(error) in result.notice
        assert [h.citation.source for h in result.hits] == usual(library)


def test_one_that_fails_at_work_leaves_the_usual_order(tmp_path: Path) -> None:
    outcomes: list[Exception | None] = [RerankingFailed("NaN"), OSError("gone"), None]

    def rule(text: str) -> float:
        if outcomes[0]:
            raise outcomes[0]
        return -len(text)

    library = ready(library_with(tmp_path, lambda: Judge(rule)))
    for said in ("NaN", "OSError: gone"):
        result = library.kb.search("经费", 9)
        assert said in result.notice
        assert [h.citation.source for h in result.hits] == usual(library)
        outcomes.pop(0)
    assert library.sources("经费", 1) == ["1.txt"]


@pytest.mark.parametrize("most", [0, 1])
def test_one_that_is_too_slow_for_two_passages_says_so(tmp_path: Path, most: int) -> None:
    library = ready(library_with(tmp_path, lambda: Judge(len, most)))
    result = library.kb.search("经费", 9)
    assert "太慢" in result.notice
    assert [h.citation.source for h in result.hits] == usual(library)


def test_the_deadline_is_two_seconds_from_now(tmp_path: Path) -> None:
    deadlines = []

    class Timed(Judge):
        def score(self, question: str, passages: Sequence[str], deadline: float) -> list[float]:
            deadlines.append(deadline)
            return super().score(question, passages, deadline)

    reranking = Reranking(lambda: Timed(len), clock=lambda: 100.0)
    reranking.wait()
    reranking.order(NoReader(), "?", [Fused(1, 2.0), Fused(2, 1.0)])  # type: ignore[arg-type]
    assert deadlines == [102.0]


# -- what it reads -------------------------------------------------------------------------


def test_it_reads_title_heading_and_the_lines_around(tmp_path: Path) -> None:
    judge = Judge(len)
    library = Library(tmp_path, settings_for(tmp_path))
    library.kb = KnowledgeBase(library.kb.settings, None, lambda: judge)
    library.kb.__dict__["parser"] = library.parser
    library.put("规划.txt", numbered("建设资金", 40))
    library.put("别的.txt", "建设资金")
    ready(library).kb.search("建设资金 编号20")
    text = next(text for text in judge.read if "编号20\n" in text)
    assert text.startswith("规划\n")
    assert len(text) <= PASSAGE_CHARS
    assert text.count("\n") > 7, "more than the block itself"


def page_of(lines: list[str], noise: tuple[int, ...] = ()) -> Page:
    return Page(1, "\n".join(lines), "physical", noise=noise)


def test_neighbours_join_in_turn_while_they_fit() -> None:
    lines = [f"{n:02}" + "字" * 38 for n in range(1, 31)]
    text = passage("题", Block(1, 1, 1, 11, 16, ("第三章",)), page_of(lines))
    kept = [line[:2] for line in text.split("\n")[2:]]
    assert text.split("\n")[:2] == ["题", "第三章"]
    assert kept == [f"{n:02}" for n in range(10, 19)]
    assert len(text) <= PASSAGE_CHARS < len(text) + 41


def test_noise_and_blank_lines_are_not_read() -> None:
    lines = ["页眉", "甲", "", "乙", "丙", "第 1 页"]
    text = passage("题", Block(1, 1, 1, 4, 4), page_of(lines, noise=(1, 6)))
    assert text == "题\n甲\n乙\n丙"


def test_a_block_that_is_longer_is_given_whole() -> None:
    lines = ["长" * 300, "长" * 300, "短"]
    assert passage("题", Block(1, 1, 1, 1, 2), page_of(lines)) == "\n".join(["题", *lines[:2]])
