from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from library_support import Library, numbered
from rank_bm25 import BM25Okapi

from kb.catalog import Catalog
from kb.catalog.schema import MIGRATIONS
from kb.errors import IndexDamaged
from kb.text.lines import normalize_newlines, split_lines
from kb.text.tokens import tokens


def rows(library: Library, statement: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(library.kb.project().catalog.path)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


def test_a_new_version_replaces_the_old_one_whole(library: Library) -> None:
    library.put("a.txt", "旧的说法 甲乙丙")
    report = library.put("a.txt", "新的说法 丁戊己")
    assert report.version == 2
    assert library.texts("甲乙丙 说法") == ["新的说法 丁戊己"]
    assert rows(library, "SELECT version, valid_until <> '' FROM documents ORDER BY version") == [
        (1, 1),
        (2, 0),
    ]


def test_keywords_of_a_closed_version_are_gone(library: Library) -> None:
    library.put("a.txt", numbered("海州 档案", 40))
    library.put("a.txt", "别的内容")
    assert rows(library, "SELECT COUNT(*) FROM blocks_fts WHERE blocks_fts MATCH '\"海州\"'") == [
        (0,)
    ]
    with library.kb.project().catalog.reading() as reader:
        assert reader.keyword_problem() == ""


def test_unchanged_blocks_keep_their_vectors(library: Library) -> None:
    library.put("a.txt", numbered("共同", 30))
    library.put("a.txt", numbered("共同", 30) + "\f新的一页", update=False)
    with library.kb.project().catalog.reading() as reader:
        assert reader.pending_count() == 1


def test_a_removed_source_leaves_nothing(library: Library) -> None:
    library.put("a.txt", "甲\f乙")
    library.put("a.txt", "丙")
    library.kb.remove("a.txt")
    library.kb.update()
    for table in ("documents", "pages", "blocks", "vectors", "chroma_removed"):
        assert rows(library, f"SELECT COUNT(*) FROM {table}") == [(0,)], table


def test_rebuilding_gives_the_same_answers(library: Library) -> None:
    for n in range(5):
        library.put(f"{n}.txt", numbered(f"第{n}号文件 档案", 20))
    before = library.texts("第3号文件 编号7", 5)
    with library.kb.project().catalog.writing("test") as writer:
        writer.rebuild_blocks()
        assert writer.pending_count() == 0
        assert writer.keyword_problem() == ""
    library.kb.update()
    assert library.texts("第3号文件 编号7", 5) == before


def test_an_index_of_another_revision_is_made_again_from_its_pages(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.put("a.txt", "修复 ok")
    monkeypatch.setattr("kb.catalog.writer.REVISION", "next")
    library.put("b.txt", "别的")
    assert rows(library, "SELECT value FROM meta WHERE key = 'revision'") == [("next",)]
    assert library.texts("修复", 1) == ["修复 ok"]


def test_a_newer_schema_is_refused(library: Library) -> None:
    library.put("a.txt", "甲")
    path = library.kb.project().catalog.path
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    other = Catalog(path.parent, 1.0)
    with pytest.raises(IndexDamaged, match=str(len(MIGRATIONS) + 1)), other.reading():
        pass
    with pytest.raises(IndexDamaged), other.writing("test"):
        pass


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "fulltext.sqlite3") as connection:
        connection.execute("CREATE TABLE theirs (x)")
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    with pytest.raises(IndexDamaged), Catalog(tmp_path, 1.0).reading():
        pass


def test_a_file_that_is_no_database_is_an_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "fulltext.sqlite3").write_bytes(b"not a database" * 100)
    with pytest.raises(IndexDamaged) as caught, Catalog(tmp_path, 1.0).reading():
        pass
    assert "kb.doctor" in caught.value.hint


def test_reading_before_anything_was_written_finds_nothing_and_makes_nothing(
    tmp_path: Path,
) -> None:
    with Catalog(tmp_path / "none", 1.0).reading() as reader:
        assert reader.sources() == []
    assert not (tmp_path / "none").exists()


def test_a_reader_sees_one_state(library: Library) -> None:
    library.put("a.txt", "旧")
    with library.kb.project().catalog.reading() as reader:
        before = reader.document("a.txt")
        library.kb.__dict__["parser"].parsed.clear()
        _in_thread(lambda: library.put("a.txt", "新"))
        assert reader.document("a.txt") == before
    with library.kb.project().catalog.reading() as reader:
        assert reader.document("a.txt") != before


def _in_thread(work: object) -> None:
    from threading import Thread

    thread = Thread(target=work)  # type: ignore[arg-type]
    thread.start()
    thread.join()


def test_fts5_ranks_like_rank_bm25(library: Library) -> None:
    """k1 = 1.2, b = 0.75; FTS5 floors the idf where rank_bm25 replaces it, for df > N / 2 alone."""
    random.seed(7)
    words = [f"w{n}" for n in range(400)]
    texts = [" ".join(random.choices(words, k=random.randint(5, 40))) for _ in range(300)]
    for n, text in enumerate(texts):
        library.put(f"{n}.txt", text, update=False)
    reference = BM25Okapi([tokens(f"{n}\n{text}") for n, text in enumerate(texts)], k1=1.2, b=0.75)
    for _ in range(30):
        query = random.sample(words, 4)
        scores = reference.get_scores(query)
        with library.kb.project().catalog.reading() as reader:
            found = reader.match(query, 10)
            documents = {
                b: reader.documents([x.document_id])
                for b, x in reader.blocks([f[0] for f in found]).items()
            }
        for block_id, score in found:
            source = next(iter(documents[block_id].values())).source
            assert scores[int(source.removesuffix(".txt"))] == pytest.approx(score, rel=1e-6)
        assert [s for _b, s in found] == pytest.approx(
            sorted(scores, reverse=True)[: len(found)], rel=1e-6
        )


page_text = st.text(
    st.sampled_from("\n\n\r\x0b\x85\u2028 文字ab\x1c")
    | st.characters(exclude_categories=["Cs"], exclude_characters="\f"),
    min_size=1,
    max_size=200,
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(page_text.filter(lambda t: t.strip()), st.integers(1_000, 1_200))
def test_reading_on_gives_back_the_page_exactly(library: Library, text: str, budget: int) -> None:
    """Pages, blocks and read_range count lines by one splitter, whatever separators a text has."""
    text = normalize_newlines(text)
    library.put("any.txt", text * 12, update=False)
    whole = split_lines(text * 12)
    call: dict[str, object] = {"source": "any.txt", "page": 1}
    read: list[str] = []
    while call:
        with library.kb.project().catalog.reading() as reader:
            from kb.search.read import read_range

            passage = read_range(reader, **call, max_chars=budget)  # type: ignore[arg-type]
        assert [line.line for line in passage.lines] == list(
            range(len(read) + 1, passage.line_end + 1)
        )
        read += [line.text for line in passage.lines]
        call = passage.next
    assert read == whole
    for hit in library.kb.search(text[:100], 5).hits if tokens(text[:100]) else ():
        place = hit.citation
        again = library.kb.read_range(place.source, place.page, place.line_start, place.line_end)
        assert "\n".join(line.text for line in again.lines) == hit.text


def test_a_folder_that_cannot_be_made_is_an_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with (
        pytest.raises(IndexDamaged) as caught,
        Catalog(tmp_path / "file" / "below", 1.0).writing("test"),
    ):
        pass
    assert "kb.doctor" in caught.value.hint


def test_a_full_disk_is_an_error_and_the_old_version_stands(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.put("a.txt", "旧的内容")

    def full(*_arguments: object) -> object:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("kb.catalog.writer.Writer._insert_blocks", full)
    with pytest.raises(IndexDamaged, match="disk is full"):
        library.put("a.txt", "新的内容")
    monkeypatch.undo()
    assert library.texts("内容") == ["旧的内容"]
