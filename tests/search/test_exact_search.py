"""Words in quotes are matched literally."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from library_support import Library, PlainParser, numbered

from kb.catalog import Reader
from kb.model import Parsed
from kb.ports import OnProgress
from kb.search.phrases import quoted


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


# -- parts of words ------------------------------------------------------------------------

PARTS = (
    "多语言模型Retrieval与reranking的效果，见 xBM25y 一节。",
    "版本 1.0.21 的 test results 在 https://a.example.com/pa_th/q?x=1 公布。",
    "资金，",
    "建设并举。模型",
    "Embedding 由 co\u00adoperate 计划资助，ＧＰＴ４ｔｕｒｂｏ除外。",
)


@pytest.fixture
def parts(library: Library) -> Library:
    library.put("甲.txt", "\n".join(PARTS))
    library.put("乙.txt", "retrie val, rank, BM 25, 1.0.3, test resonance, 模型 and Retina.")
    return library


@pytest.mark.parametrize(
    "phrase",
    [
        "Retriev", "trieval", "etriev", "模型Retriev", "模型 Retriev", "rerank", "ranking的", "BM25",
        "1.0.2", ".0.21", "0.21", "2", "test resul", "est results", "est resul", "example.com/pa",
        "ample.co", "th/q?x", "资金，建设", "资金, 建", "模型Embed", "模型 embedding",
        "co\u00adoper", "GPT4", "ｐｔ４ｔ", "，见x",
    ],
)  # fmt: skip
def test_a_phrase_may_begin_and_end_inside_a_word(parts: Library, phrase: str) -> None:
    assert "甲.txt" in parts.sources(f"「{phrase}」")


@pytest.mark.parametrize("phrase", ["Retrievel", "1.0.22", "BM25z", "testresults", "test.results"])
def test_what_is_only_like_it_is_no_match(parts: Library, phrase: str) -> None:
    assert parts.sources(f"「{phrase}」") == []


def test_the_end_of_a_word_too_long_for_the_index_is_found(library: Library) -> None:
    library.put("a.txt", f"sha {'0123456789abcdef' * 8}fee 完")
    for phrase in ("cdeffee", "efabc", "ffee 完"):
        found = library.sources(f'"{phrase}"')
        assert found == ([] if phrase == "efabc" else ["a.txt"])


@pytest.mark.parametrize("phrase", ["第十二条规定", "条规定", "第12", "据第12条", "2条第三款"])
def test_an_article_is_found_from_wherever_it_is_quoted(library: Library, phrase: str) -> None:
    library.put("a.txt", "依据第十二条规定")
    library.put("b.txt", "第十二条规定")
    library.put("c.txt", "第十二条第三款")
    assert library.sources(f"「{phrase}」")


# -- over several blocks -------------------------------------------------------------------


@pytest.fixture
def prose(library: Library) -> Library:
    """Two pages of forty lines, each of them once; and the words of all of them, apart."""
    lines = [f"第{n}句谈到数字档案馆的第{n * 7}个方面，" for n in range(1, 81)]
    library.put("文.txt", "\f".join("\n".join(lines[at : at + 40]) for at in (0, 40)))
    library.put("散.txt", "\n\n".join(reversed(lines)))
    library.lines = lines  # type: ignore[attr-defined]
    return library


@pytest.mark.parametrize(("first", "last"), [(5, 7), (4, 11), (9, 30), (1, 40), (38, 40), (46, 52)])
def test_a_phrase_longer_than_a_block_is_found_where_it_begins(
    prose: Library, first: int, last: int
) -> None:
    lines = prose.lines[first - 1 : last]  # type: ignore[attr-defined]
    for phrase in ("".join(lines), "\n".join(lines)[3:-3]):
        hits = prose.kb.search(f"「{phrase}」").hits
        assert [hit.citation.source for hit in hits] == ["文.txt"]
        page, line = divmod(first - 1, 40)
        assert hits[0].citation.page == page + 1
        marked = [shown.line for shown in hits[0].lines if shown.match]
        assert line + 1 in marked
        assert marked[-1] > line + 1


def test_a_phrase_does_not_go_on_over_the_end_of_a_page(prose: Library) -> None:
    phrase = "".join(prose.lines[38:43])  # type: ignore[attr-defined]
    result = prose.kb.search(f"「{phrase}」")
    assert result.hits == ()
    assert result.notice


def test_every_place_of_a_long_phrase_on_a_page_is_found(library: Library) -> None:
    poem = "床前明月光，\n疑是地上霜。\n举头望明月，\n低头思故乡。"
    library.put(
        "诗.txt", "\n".join([*"序一二三", poem, *"注四五六七八九十甲乙丙丁", poem, *"完毕"])
    )
    hits = library.kb.search("「床前明月光，疑是地上霜。举头望明月，低头思故乡。」").hits
    shown = [line.line for hit in hits for line in hit.lines if line.match and "床" in line.text]
    assert sorted(shown) == [5, 21]


def test_long_phrases_are_looked_for_inside_the_scope(prose: Library) -> None:
    phrase = "".join(prose.lines[4:12])  # type: ignore[attr-defined]
    assert prose.sources(f"「{phrase}」", source="文.txt") == ["文.txt"]
    assert prose.sources(f"「{phrase}」", source="散.txt") == []


# -- limits --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "phrase"),
    [("MAX_CHECKED", "市财政"), ("MAX_WORDS", "ode"), ("MAX_PAGES", "由市财政统一承担")],
)
def test_what_a_limit_leaves_out_is_said(
    library: Library, monkeypatch: pytest.MonkeyPatch, limit: str, phrase: str
) -> None:
    for n in range(5):
        text = f"{n}由市财政\n统一\n承担 code{n}a"
        library.put(f"{n}.txt", text, update=False)
    assert not library.kb.search(f"「{phrase}」").notice.count("source")
    if limit == "MAX_WORDS":
        monkeypatch.setattr("kb.search.phrases.MAX_CHECKED", 1)
    monkeypatch.setattr(f"kb.search.phrases.{limit}", 2)
    result = library.kb.search(f"「{phrase}」")
    assert result.hits
    assert "source" in result.notice


def test_hundreds_of_phrases_read_the_vocabulary_a_few_times(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.put("a.txt", "一些字 abc")
    read, words_around = [], Reader.words_around

    def counted(reader: Reader, part: str, limit: int, *, inside: bool) -> list[str]:
        read.append(part)
        return words_around(reader, part, limit, inside=inside)

    monkeypatch.setattr(Reader, "words_around", counted)
    query = " ".join(f'"{n}"' for n in range(300))
    result = library.kb.search(query)
    assert result.hits == ()
    assert result.notice
    assert len(read) < 20


def test_what_was_not_compared_is_not_said_to_be_nowhere(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(9):
        library.put(f"{n}.txt", f"{n} 财政 与 市 的 市财 政", update=False)
    library.put("长.txt", "财，政，市，财" * 30, update=False)
    query = "「政，市，财。市」"
    assert library.sources(query) == []
    assert "一处也没有" in library.kb.search(query).notice
    monkeypatch.setattr("kb.search.phrases.MAX_CHECKED", 1)
    notice = library.kb.search(query).notice
    assert "一处也没有" not in notice
    assert "source" in notice


class Headed(PlainParser):
    """The second line of every page is its running header."""

    def parse(self, path: Path, name: str, on_progress: OnProgress | None = None) -> Parsed:
        parsed = super().parse(path, name, on_progress)
        return replace(parsed, pages=tuple(replace(page, noise=(2,)) for page in parsed.pages))


def test_a_running_header_does_not_part_a_phrase(library: Library) -> None:
    library.kb.__dict__["parser"] = Headed()
    library.put("册.pdf", "建设资金由\n海州市档案馆\n市财政统一承担。\n其余另行规定。")
    hit = library.kb.search("「建设资金由市财政统一承担」").hits[0]
    assert (hit.citation.line_start, hit.citation.line_end) == (1, 4)
    assert library.sources("「海州市档案馆」") == []
