"""Questions in one script, text in another, in one index."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from library_support import Library, settings_for

from kb.app import KnowledgeBase
from kb.text.tokens import script
from kb.vectors.exact import held

TOPICS = {"敦煌": 0, "dunhuang": 0, "水库": 1, "reservoir": 1, "桥梁": 2, "bridge": 2}
DIMENSION = 256


class Bilingual:
    """Like a multilingual model: what is said turns a vector a little, the language a lot."""

    name = "bilingual"
    dimension = DIMENSION
    fingerprint = "bilingual-1"

    def embed_passages(self, texts: Sequence[str]) -> Any:
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Any:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
        vector = np.random.default_rng(seed).normal(size=DIMENSION).astype(np.float32) / 16
        vector[10 if script(text.lower()) == "han" else 11] += 1.5
        vector[12] += 1.0
        for word, topic in TOPICS.items():
            if word in text.lower():
                vector[topic] += 1.0
        vector /= np.linalg.norm(vector)
        return vector


def bilingual(folder: Path, exact_limit: int) -> Library:
    library = Library(folder, settings_for(folder, exact_limit=exact_limit), Bilingual())
    for n in range(150):
        library.put(f"中/{n}.txt", f"第{n}号办法。\n部门{n}负责第{n}项。", update=False)
    for n in range(30):
        library.put(f"en/{n}.txt", f"Rule number {n}.\nOffice {n} sees to it.", update=False)
    library.put("en/cave.txt", "The caves of Dunhuang are open from May to October.", update=False)
    library.put("中/桥.txt", "桥梁由市政部门养护。", update=False)
    library.kb.update()
    return library


@pytest.fixture(scope="module", params=[10**6, 0], ids=["exact", "chroma"])
def mixed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """A Chinese index with some English text; searched exactly, and through Chroma."""
    return bilingual(tmp_path_factory.mktemp("mixed"), request.param)


def test_english_text_is_found_by_a_chinese_question_among_chinese_text(mixed: Library) -> None:
    hits = mixed.kb.search("敦煌的洞窟何时开放").hits
    assert hits[0].citation.source == "en/cave.txt"
    assert hits[0].relevance > 0.2
    assert 0 < (hits[0].dense_score or 0) <= 1.001


def test_chinese_text_still_comes_first_where_it_answers(mixed: Library) -> None:
    assert mixed.kb.search("桥梁由谁养护").hits[0].citation.source == "中/桥.txt"


def test_a_latin_word_in_chinese_text_is_a_word_like_any_other(mixed: Library) -> None:
    mixed.put("中/接口.txt", "对外接口由 ERP-7 网关转发。")
    result = mixed.kb.search("ERP-7", min_relevance=0.3)
    assert [hit.citation.source for hit in result.hits] == ["中/接口.txt"]


def test_what_stands_in_neither_language_is_no_match(mixed: Library) -> None:
    assert mixed.kb.search("量子纠缠的实验装置在何处").hits == ()


def test_a_scope_holds_for_text_in_another_script_too(tmp_path: Path) -> None:
    library = bilingual(tmp_path, 10**6)
    inside = library.sources("敦煌的洞窟何时开放", source="中/", min_relevance=0)
    assert inside
    assert not [source for source in inside if not source.startswith("中/")]
    assert library.sources("敦煌的洞窟何时开放", source="en/")[0] == "en/cave.txt"


def test_the_question_is_held_against_its_own_script(mixed: Library) -> None:
    kb: KnowledgeBase = mixed.kb
    shard = kb.project()
    with shard.catalog.reading() as reader:
        usual = shard.dense.usual(reader, Bilingual().embed_query("水库的位置"))
    assert usual["han"][0] > usual["latin"][0] + 0.2
    assert 0 < usual["han"][1] < 0.2


def test_centred_cosines_are_those_of_the_definition() -> None:
    rows = np.random.default_rng(3).normal(size=(200, 16)).astype(np.float32) + 1
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    query, mean = rows[7] + rows[9], rows.mean(axis=0)
    query /= np.linalg.norm(query)
    found = held(np.arange(200) + 1000, rows, mean).most_alike(query, 10)
    away, asked = rows - mean, query - mean
    expected = away @ asked / np.linalg.norm(away, axis=1) / np.linalg.norm(asked)
    best = np.argsort(-expected)[:10]
    assert [hit.id for hit in found] == (best + 1000).tolist()
    assert np.allclose([hit.centred for hit in found], expected[best], atol=1e-5)
    assert np.allclose([hit.cosine for hit in found], (rows @ query)[best], atol=1e-5)
    some = held(np.arange(200) + 1000, rows, mean).among([1000, 1003]).most_alike(query, 10)
    assert {hit.id for hit in some} == {1000, 1003}


def test_an_empty_index_has_no_centre_and_no_candidates() -> None:
    nothing = held(np.empty(0, np.int64), np.empty((0, 4), np.float32), np.zeros(4, np.float32))
    assert nothing.most_alike(np.ones(4, np.float32), 10) == []


def test_a_text_is_in_the_script_of_which_it_has_more() -> None:
    assert script("敦煌的洞窟 open") == "han"
    assert script("the caves of 敦煌") == "latin"
    assert script("2035-06 1,024.50") == script("") == script("甲 a") == ""
