from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from library_support import Library, settings_for

from kb.messages import set_language
from kb.model import Block
from kb.search.fusion import Ranked
from kb.search.ranking import (
    CONVEX,
    DEFAULT,
    JUDGED_FROM,
    NO_MATCH,
    RRF,
    Background,
    Near,
    Question,
    order,
)

TOPICS = (
    "经费", "人员", "设备", "场地", "安全", "培训", "采购", "验收", "归档", "保密",
)  # fmt: skip


class OneBlock:
    """A reader of an index that holds one block of one line."""

    def __init__(self, text: str) -> None:
        self.text = text

    def blocks(self, ids: list[int]) -> dict[int, Block]:
        return {1: Block(1, 1, 1, 1, 1)}

    def page_texts(self, _places: set[tuple[int, int]]) -> dict[tuple[int, int], str]:
        return {(1, 1): self.text}

    def pending_among(self, _ids: list[int]) -> set[int]:
        return set()


def rules(n: int) -> str:
    topic = TOPICS[n % 10]
    lines = [f"{topic}管理办法第{n}号：{topic}由部门{n}负责，第{i}项。" for i in range(10)]
    return "\n".join(lines)


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Eighty documents of two blocks each on ten topics, and one about something else."""
    folder: Path = tmp_path_factory.mktemp("office")
    library = Library(folder, settings_for(folder))
    for n in range(80):
        library.put(f"办法/{n}.txt", rules(n), update=False)
    library.put("其他/天象.txt", "二〇三五年将看到日全食，观测地点在敦煌。\n须准备滤光片。")
    return library


def test_no_match_names_the_nearest_documents(office: Library) -> None:
    result = office.kb.search("量子纠缠与超导磁体的低温实验")
    assert result.hits == ()
    assert ".txt" in result.notice


def test_the_nearest_titles_are_named_with_their_sources(office: Library) -> None:
    notice = office.kb.search("量子纠缠与超导磁体的低温实验").notice
    named = re.findall(r'《(\d+)》（"办法/(\d+)\.txt"）', notice)
    assert len(named) == 3
    assert all(title == stem for title, stem in named)


def test_a_title_that_the_source_begins_with_is_not_said_twice(library: Library) -> None:
    long = "Notice-on-rules-" * 9
    for n in range(80):
        folder = "" if n % 2 else f"deep/{n % 7}/"
        library.put(f"{folder}{long}{n}.txt", rules(n), update=False)
    library.put("天象.txt", "二〇三五年将看到日全食，观测地点在敦煌。")
    set_language("en")
    try:
        notices = [library.kb.search(f"量子纠缠与超导磁体的低温实验{n}").notice for n in range(9)]
    finally:
        set_language("zh")
    named = [found for n in notices for found in re.findall(r'(?:(\S+) \()?"([^"]+)"', n)]
    assert {bool(title) for title, _source in named} == {True, False}
    for title, source in named:
        assert bool(title) == ("/" in source)
        assert len(title) <= 80


def test_a_match_stands_out(office: Library) -> None:
    hits = office.kb.search("日全食在哪里观测").hits
    assert hits[0].citation.source == "其他/天象.txt"
    assert hits[0].relevance > 0.5


def test_min_relevance_nought_gives_everything(office: Library) -> None:
    query = "量子纠缠与超导磁体的低温实验"
    hits = office.kb.search(query, 6, min_relevance=0).hits
    assert len(hits) == 6
    assert all(0 <= hit.relevance <= 1 for hit in hits)
    assert max(hit.relevance for hit in hits) < 0.05


@pytest.mark.parametrize("query", ["办法", "负责", "经费管理办法第", "部门7", "敦煌"])
def test_where_every_word_stands_there_is_a_match(office: Library, query: str) -> None:
    # "办法" stands in every block alike: neither BM25 nor a vector tells one from another.
    hits = office.kb.search(query).hits
    assert hits
    assert hits[0].relevance >= 0.5 > NO_MATCH


def test_half_of_the_words_are_worth_more_in_a_long_question() -> None:
    # The share is the same; with more words it is harder to reach.
    def sureness(words: int) -> float:
        terms = {f"词{n}": 10 for n in range(words)}
        text = "".join(list(terms)[: words // 2])
        reader = OneBlock(text)
        found = [Ranked(1, 5.0)]
        question = Question("".join(terms), terms, 1000)
        return order(reader, question, Near(), found)[0].relevance  # type: ignore[arg-type]

    assert sureness(4) < sureness(16) < sureness(40)


def test_words_do_not_count_against_text_in_another_language() -> None:
    def sureness(text: str) -> float:
        question = Question("谁赢得了比赛", {"谁赢": 1, "比赛": 5}, 1000)
        usual = Background(0.75, 0.03)
        near = Near([Ranked(1, 0.9)], {"han": usual, "latin": usual})
        return order(OneBlock(text), question, near, [])[0].relevance  # type: ignore[arg-type]

    assert sureness("the team that won the match") > sureness("今日气温下降三度") * 2


def test_what_waits_for_its_vector_is_judged_by_its_keywords(library: Library) -> None:
    for n in range(60):
        library.put(f"旧/{n}.txt", f"{TOPICS[n % 10]}管理办法第{n}号。", update=False)
    library.kb.update()
    library.put("新/许可.txt", "建设工程规划许可证由窗口核发。", update=False)
    for n in range(5):
        library.put(f"新/{n}.txt", f"建设工程第{n}处。", update=False)
    result = library.kb.search("规划许可证由谁核发")
    assert result.hits[0].citation.source == "新/许可.txt"
    assert result.hits[0].dense_rank is None
    assert result.hits[0].relevance > 0.3
    library.kb.update()
    assert library.kb.search("规划许可证由谁核发").hits[0].citation.source == "新/许可.txt"


def test_among_too_few_to_tell_nothing_is_refused(office: Library) -> None:
    assert JUDGED_FROM > 2
    assert office.sources("量子纠缠", source="办法/7.txt") == ["办法/7.txt"]


def test_a_hit_keeps_each_engines_rank_and_score(office: Library) -> None:
    first = office.kb.search("日全食在哪里观测").hits[0]
    assert (first.dense_rank, first.sparse_rank) == (1, 1)
    assert 0 < (first.dense_score or 0) <= 1.001
    assert (first.sparse_score or 0) > 0


@pytest.mark.parametrize("ranking", [RRF, CONVEX, DEFAULT])
def test_every_named_configuration_answers(office: Library, ranking: object) -> None:
    found = office.kb.search("日全食在哪里观测", 3, ranking=ranking)  # type: ignore[arg-type]
    assert found.hits[0].citation.source == "其他/天象.txt"
    assert [h.score for h in found.hits] == sorted((h.score for h in found.hits), reverse=True)


def test_a_word_of_one_document_is_found_among_vectors_that_know_nothing_of_it(
    library: Library,
) -> None:
    for n in range(60):
        library.put(f"{n}.txt", f"设备编号 X{n} 的维护记录。\n下次维护在第{n}周。", update=False)
    library.kb.update()
    assert library.sources("X17", 1) == ["17.txt"]


# -- diversity -----------------------------------------------------------------------------


def test_one_document_does_not_fill_the_answer_unless_it_is_asked_for(library: Library) -> None:
    long = "\f".join("\n".join(f"档案数字化经费 第{p}页" for _ in range(3)) for p in range(20))
    library.put("长.txt", long)
    library.put("短.txt", "档案数字化的说明。")
    library.put("另.txt", "经费的说明。")
    assert set(library.sources("档案数字化经费", 6)) == {"长.txt", "短.txt", "另.txt"}
    assert library.sources("档案数字化经费", 6, source="长.txt") == ["长.txt"] * 6


def test_one_document_fills_the_answer_where_there_is_no_other(library: Library) -> None:
    library.put("长.txt", "\f".join(f"档案数字化经费 第{p}页" for p in range(20)))
    assert library.sources("档案数字化经费", 6) == ["长.txt"] * 6


def test_near_identical_documents_both_stay(library: Library) -> None:
    for name in ("甲.txt", "乙.txt"):
        library.put(name, "日全食的观测地点在敦煌。")
    assert set(library.sources("日全食观测地点", 6)) == {"甲.txt", "乙.txt"}


def test_touching_blocks_are_one_hit_with_the_joined_range(library: Library) -> None:
    library.put("长.txt", "\n".join(f"日全食观测 {n}" for n in range(1, 17)))
    hits = library.kb.search("日全食观测", 6).hits
    assert [(hit.citation.line_start, hit.citation.line_end) for hit in hits] == [(1, 16)]


def test_hits_of_a_page_that_touch_as_they_are_shown_are_one(library: Library) -> None:
    lines = [f"说明第{n}行，与问题无关。" for n in range(1, 61)]
    for n in (3, 18, 33, 52):
        lines[n - 1] = f"日全食观测地点在敦煌，第{n}行。"
    library.put("长.txt", "\n".join(lines))
    for n in range(40):
        library.put(f"{n}.txt", f"关于{TOPICS[n % 10]}的第{n}个传说。", update=False)
    library.kb.update()
    hits = library.kb.search("日全食观测地点 敦煌", 6, min_relevance=0).hits
    assert len(hits) == 6
    assert any(len([line for line in hit.lines if not line.match]) > 5 for hit in hits)
    places = sorted(
        (hit.citation.source, hit.citation.page, hit.citation.line_start, hit.citation.line_end)
        for hit in hits
    )
    for one, other in pairwise(places):
        assert one[:2] != other[:2] or one[3] + 1 < other[2]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_copy_of_a_long_document_under_another_name_has_its_hits_too(library: Library) -> None:
    text = "\f".join(f"日全食的观测地点在敦煌，第{p}页。" for p in range(1, 31))
    library.put("甲.txt", text)
    library.put("副本/乙.txt", text)
    for n in range(30):
        library.put(f"其他/{n}.txt", f"日食的第{n}个传说。", update=False)
    library.kb.update()
    for top_k in (2, 3, 6, 20):
        counts = Counter(library.sources("日全食观测地点 敦煌", top_k, min_relevance=0))
        assert counts.keys() >= {"甲.txt", "副本/乙.txt"}
        assert counts.total() == top_k
    first, second = library.kb.search("日全食观测地点 敦煌 第7页", 2, min_relevance=0).hits
    assert first.text == second.text


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """One document of three hundred pages that all match, and sixty that match less."""
    folder: Path = tmp_path_factory.mktemp("shelf")
    library = Library(folder, settings_for(folder, max_chars=100_000))
    pages = [f"日全食观测 敦煌 第{p}页" for p in range(300)]
    library.put("长.txt", "\f".join(pages), update=False)
    for n in range(60):
        library.put(f"{n}.txt", f"关于日食的传说之{n}：从前有一个地方叫敦煌。", update=False)
    library.kb.update()
    return library


@pytest.mark.parametrize(("top_k", "most"), [(1, 1), (2, 1), (3, 2), (6, 4), (50, 33)])
def test_a_document_gives_two_thirds_at_most_even_if_all_candidates_are_its(
    shelf: Library, top_k: int, most: int
) -> None:
    sources = shelf.sources("日全食观测 敦煌", top_k)
    assert sources[0] == "长.txt"
    assert (len(sources), sources.count("长.txt")) == (top_k, most)
    assert shelf.sources("日全食观测 敦煌", top_k, source="长.txt") == ["长.txt"] * top_k


@pytest.mark.parametrize("top_k", [1, 2, 3, 6, 50])
def test_the_only_document_fills_the_answer(tmp_path: Path, top_k: int) -> None:
    library = Library(tmp_path, settings_for(tmp_path, max_chars=100_000))
    library.put("长.txt", "\f".join(f"日全食观测 敦煌 第{p}页" for p in range(60)))
    assert library.sources("日全食观测 敦煌", top_k) == ["长.txt"] * top_k


# -- scope ---------------------------------------------------------------------------------


def test_the_scope_holds_inside_both_engines(library: Library) -> None:
    """A hundred better candidates elsewhere do not crowd the one in scope out."""
    for n in range(130):
        library.put(f"别处/{n}.txt", "日全食 观测 敦煌", update=False)
    library.put("此处/a.txt", "这一篇只顺带提到敦煌。")
    hit = library.kb.search("日全食 观测 敦煌", 1, source="此处/").hits[0]
    assert hit.citation.source == "此处/a.txt"
    assert (hit.dense_rank, hit.sparse_rank) == (1, 1)


def test_a_name_that_is_alike_but_for_width_case_and_script_is_enough(library: Library) -> None:
    library.put("政策/數字Plan.TXT", "敦煌")
    assert library.sources("敦煌", source="数字ｐｌａｎ.txt") == ["政策/數字Plan.TXT"]
    library.put("数字plan.txt", "敦煌")
    assert library.sources("敦煌", source="数字plan.txt") == ["数字plan.txt"]


@pytest.mark.parametrize("source", ["此处/", "此处/a.txt", "a.txt", "此处\\", "  此处／ "])
def test_five_hundred_better_blocks_elsewhere_do_not_crowd_the_scope_out(
    crowd: Library, source: str
) -> None:
    hits = crowd.kb.search("日全食 观测 敦煌", 3, source=source).hits
    assert [hit.citation.source for hit in hits] == ["此处/a.txt"]
    assert (hits[0].dense_rank, hits[0].sparse_rank) == (1, 1)
    assert crowd.sources("「敦煌」", 3, source=source) == ["此处/a.txt"]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder: Path = tmp_path_factory.mktemp("crowd")
    library = Library(folder, settings_for(folder))
    pages = [f"日全食 观测 敦煌 {p}" for p in range(100)]
    for n in range(5):
        library.put(f"别处/{n}.txt", "\f".join(pages), update=False)
    library.put("此处/a.txt", "这一篇写的是别的事情，只在最后顺带提到敦煌这个地方。", update=False)
    library.kb.update()
    return library
