from __future__ import annotations

import shutil
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from library_support import Library, numbered, settings_for

from kb.vectors import chroma_sync
from kb.vectors.chroma import Locator, open_index
from kb.vectors.exact import decode, encode, scan
from kb.vectors.seal import seal


@pytest.fixture
def indexed(tmp_path: Path) -> Library:
    """A library whose searches go through Chroma: nothing is small enough to be scanned."""
    library = Library(tmp_path, settings_for(tmp_path, exact_limit=0))
    for n in range(12):
        library.put(f"{n}.txt", numbered(f"第{n}号 档案 资金", 12), update=False)
    library.kb.update()
    return library


def exact(library: Library, query: str) -> list[str]:
    other = Library(library.folder, settings_for(library.folder, exact_limit=10**6))
    return other.texts(query, 5)


def chroma_count(library: Library) -> int:
    index = open_index(library.kb.project().place)
    try:
        return index.count()
    finally:
        index.close()


def test_float16_keeps_direction_and_shape() -> None:
    vectors = np.random.default_rng(1).normal(size=(5, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    again = decode(encode(vectors), 384)
    assert again.shape == (5, 384)
    assert np.abs(np.sum(again * vectors, axis=1) - 1).max() < 1e-3


def test_a_scan_in_chunks_equals_one_product(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kb.vectors.exact._CHUNK", 7)
    vectors = np.random.default_rng(2).normal(size=(100, 16)).astype(np.float32)
    rows = [(n, n, blob) for n, blob in enumerate(encode(vectors))]
    query = vectors[3]
    expected = np.argsort(-(decode(encode(vectors), 16) @ query))[:10]
    assert [id_ for id_, _cosine in scan(rows, query, 10)] == expected.tolist()


def test_the_snapshot_and_its_tail_answer_like_an_exact_scan(indexed: Library) -> None:
    assert indexed.texts("第7号 编号3", 5) == exact(indexed, "第7号 编号3")
    assert chroma_count(indexed) == 12 * 3


def test_what_is_newer_than_the_snapshot_is_found(tmp_path: Path) -> None:
    library = Library(tmp_path, settings_for(tmp_path, exact_limit=5))
    for n in range(4):
        library.put(f"{n}.txt", numbered(f"第{n}号", 12))
    library.texts("第1号", 1)  # opens the snapshot
    library.put("新.txt", "全新的内容 海州")
    hit = library.kb.search("全新的内容 海州", 1).hits[0]
    assert hit.citation.source == "新.txt"
    assert hit.dense_rank == 1


def grown(folder: Path, *, limit: int, documents: int = 12) -> Library:
    """A fully synced library above `limit` vectors, in which each document is one block."""
    library = Library(folder, settings_for(folder, exact_limit=limit))
    for n in range(documents):
        library.put(f"{n}.txt", f"第{n}号 档案", update=False)
    library.kb.update()
    return library


def question(library: Library, text: str) -> np.ndarray:
    embedder = library.kb.embedder()
    assert embedder is not None
    return embedder.embed_query(text)


def nearest_sources(library: Library, text: str, limit: int) -> list[str]:
    """Sources of the nearest blocks by vectors alone, as the product's own dense search ranks."""
    project = library.kb.project()
    with project.catalog.reading() as reader:
        near = project.dense.nearest(reader, question(library, text), limit)
        blocks = reader.blocks([id_ for id_, _cosine in near])
        documents = reader.documents()
        return [documents[blocks[id_].document_id].source for id_, _cosine in near]


def test_the_tail_is_exactly_what_the_snapshot_cannot_hold(tmp_path: Path) -> None:
    library = grown(tmp_path, limit=5)
    dense = library.kb.project().dense
    assert nearest_sources(library, "第1号 档案", 1) == ["1.txt"]
    assert dense.vectors_in_memory == 0
    library.put("新.txt", "全新的内容 海州")  # synced, after the snapshot was opened
    assert nearest_sources(library, "全新的内容 海州", 1) == ["新.txt"]
    assert dense.vectors_in_memory == 1
    library.kb.remove("新.txt")
    nearest_sources(library, "全新的内容 海州", 1)
    assert dense.vectors_in_memory == 0


def test_a_tail_above_the_limit_is_found_and_not_kept_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Embedded, not yet synced: the next snapshot cannot hold it either."""
    library = grown(tmp_path, limit=5)
    dense = library.kb.project().dense
    nearest_sources(library, "第1号 档案", 1)
    with monkeypatch.context() as patch:
        patch.setattr("kb.vectors.update.sync_chroma", lambda *_, **__: None)
        for n in range(20):
            library.put(f"新{n}.txt", f"全新的内容 海州{n}")
    assert nearest_sources(library, "全新的内容 海州7", 1) == ["新7.txt"]
    assert nearest_sources(library, "第3号 档案", 1) == ["3.txt"]
    assert dense.vectors_in_memory == 0


def test_the_matrix_of_a_small_index_is_let_go_when_it_outgrows_the_limit(tmp_path: Path) -> None:
    library = grown(tmp_path, limit=12)
    dense = library.kb.project().dense
    nearest_sources(library, "第1号 档案", 1)
    assert dense.vectors_in_memory == 12
    library.put("新.txt", "全新的内容 海州")
    assert nearest_sources(library, "全新的内容 海州", 1) == ["新.txt"]
    assert dense.vectors_in_memory == 0


def test_a_reader_above_the_limit_allocates_less_than_its_vectors(tmp_path: Path) -> None:
    library = grown(tmp_path, limit=5, documents=600)
    project, asked = library.kb.project(), question(library, "第1号 档案")
    with project.catalog.reading() as reader:
        project.dense.nearest(reader, asked, 5)  # opens the snapshot, imports Chroma
    library.put("新.txt", "全新的内容 海州")
    tracemalloc.start()
    try:
        with project.catalog.reading() as reader:
            assert project.dense.nearest(reader, asked, 5)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 600 * asked.size * asked.itemsize / 4


def test_with_an_empty_tail_the_answers_are_those_of_chroma(tmp_path: Path) -> None:
    """A Chroma that was made wrong on purpose and sealed as ours must show in the answer."""
    library = grown(tmp_path, limit=0)
    project = library.kb.project()
    with project.catalog.reading() as reader:
        rows = list(reader.vectors())
    ids = [row[0] for row in rows]
    vectors = decode([row[2] for row in rows], question(library, "x").size)
    index = open_index(project.place)
    try:
        index.upsert(ids, np.roll(vectors, 1, axis=0), [Locator("x", 1, 1, 1)] * len(ids))
        index.record_sync(index.sync + 1)
    finally:
        index.close()
    with project.catalog.writing("test") as writer:
        writer.finish_sync(seal(project.place))
    fresh = Library(library.folder, settings_for(library.folder, exact_limit=0))
    wrong = [nearest_sources(fresh, f"第{n}号 档案", 1) for n in range(12)]
    assert wrong == [[f"{(n + 1) % 12}.txt"] for n in range(12)]
    assert fresh.kb.project().dense.problem == ""


def test_a_graph_of_an_earlier_version_is_rebuilt_with_the_next_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Library(tmp_path, settings_for(tmp_path)).kb.project().place
    with monkeypatch.context() as patch:
        patch.setattr("kb.vectors.chroma._GRAPH", {"space": "cosine"})
        library = grown(tmp_path, limit=0)
    for outdated in (True, False):
        index = open_index(place)
        try:
            assert (index.outdated, index.count()) == (outdated, 12 + (not outdated))
        finally:
            index.close()
        library.put("新.txt", "全新的内容 海州")


def test_what_was_removed_is_never_returned(indexed: Library) -> None:
    indexed.texts("第7号", 1)
    indexed.kb.remove("7.txt")  # Chroma still has it: no update
    assert "7.txt" not in indexed.sources("第7号 档案 资金", 20)
    indexed.kb.update()
    assert chroma_count(indexed) == 11 * 3


def test_a_replaced_version_is_never_returned(indexed: Library) -> None:
    indexed.texts("第7号", 1)
    indexed.put("7.txt", "改过的文字", update=False)
    assert all("第7号" not in text for text in indexed.texts("第7号 档案 资金", 20))


@pytest.mark.parametrize("damage", ["gone", "empty", "zeroed"])
def test_a_damaged_chroma_is_scanned_around_and_rebuilt_without_embedding(
    indexed: Library, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = indexed.texts("第7号 编号3", 5)
    folder = indexed.kb.project().place.folder
    if damage == "gone":
        shutil.rmtree(folder)
    for path in folder.rglob("*") if folder.exists() else ():
        if path.is_file():
            path.write_bytes(b"" if damage == "empty" else bytes(path.stat().st_size))
    fresh = Library(indexed.folder, settings_for(indexed.folder, exact_limit=0))
    found = fresh.kb.search("第7号 编号3", 5)
    assert [hit.text for hit in found.hits] == before
    assert "SQLite" in found.notice
    embedder = fresh.kb.embedder()
    monkeypatch.setattr(type(embedder), "embed_passages", None)
    state = fresh.kb.update(check_chroma=True)
    monkeypatch.undo()
    assert (state.chroma, state.notice) == (36, "")
    assert chroma_count(fresh) == 36
    found = fresh.kb.search("第7号 编号3", 5)
    assert [hit.text for hit in found.hits] == before
    assert found.notice == ""


def test_a_chroma_folder_of_another_index_is_not_believed(indexed: Library, tmp_path: Path) -> None:
    other = Library(tmp_path / "other", settings_for(tmp_path / "other", exact_limit=0))
    other.put("x.txt", "别人的内容")
    mine, theirs = indexed.kb.project().place.folder, other.kb.project().place.folder
    before = indexed.texts("第7号 编号3", 5)
    shutil.rmtree(mine)
    shutil.copytree(theirs, mine)
    fresh = Library(indexed.folder, settings_for(indexed.folder, exact_limit=0))
    assert fresh.texts("第7号 编号3", 5) == before


def test_an_index_that_was_removed_and_made_again_is_read_again(library: Library) -> None:
    library.put("a.txt", "旧的内容")
    library.texts("内容")
    shutil.rmtree(library.kb.project().folder)
    other = Library(library.folder, settings_for(library.folder))
    other.put("b.txt", "新的内容")
    assert library.texts("内容") == ["新的内容"]


@pytest.mark.parametrize(
    "step", ["kb.vectors.chroma_sync._upsert", "kb.vectors.chroma.ChromaIndex.record_sync"]
)
def test_a_sync_that_was_broken_off_leaves_no_orphan(
    library: Library, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill between Chroma's write and ours, then the block is replaced: Chroma must drop it."""
    library.put("a.txt", numbered("甲", 12), update=False)
    real = chroma_sync._upsert

    def killed(*arguments: object) -> None:
        if step.endswith("_upsert"):
            real(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(step, killed)
    with pytest.raises(KeyboardInterrupt):
        library.kb.update()
    monkeypatch.undo()
    library.put("a.txt", numbered("乙", 6))
    assert chroma_count(library) == 1
    assert library.kb.update().chroma == 1


def test_a_removal_that_was_broken_off_in_chroma_is_finished_by_the_next_run(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed when all was dropped and nothing waited any more: nobody finished the sync."""
    library.put("a.txt", "甲")
    library.put("b.txt", "乙")
    library.kb.remove("a.txt")
    monkeypatch.setattr("kb.vectors.chroma.ChromaIndex.record_sync", _interrupted)
    with pytest.raises(KeyboardInterrupt):
        library.kb.update()
    monkeypatch.undo()
    library.kb.update()
    fresh = Library(library.folder, settings_for(library.folder, exact_limit=0))
    assert fresh.texts("乙") == ["乙"]
    assert not fresh.kb.project().dense.problem


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_chroma_that_holds_too_much_is_made_again_when_it_is_checked(library: Library) -> None:
    library.put("a.txt", "甲")
    index = open_index(library.kb.project().place)
    try:
        index.upsert([999], np.ones((1, 256), np.float32), [Locator("x", 1, 1, 1)])
    finally:
        index.close()
    library.kb.update(check_chroma=True)
    assert chroma_count(library) == 1
