from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from library_support import Library, numbered, settings_for

from kb.catalog import schema
from kb.errors import Busy, NotFound, Refused
from kb.lock import hold


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "backup.sqlite3"


def no_embedding(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(library.kb.embedder()), "embed_passages", None)


def names(library: Library) -> list[str]:
    return [info.source for info in library.kb.list_sources().sources]


def test_a_restore_brings_back_the_very_state_without_embedding(
    library: Library, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.put("a.txt", numbered("甲", 20))
    before = library.texts("甲 编号3")
    content = library.kb.back_up(file)
    assert (content.documents, content.blocks) == (1, 4)
    library.put("a.txt", "乙")
    library.put("b.txt", "丙")
    with monkeypatch.context() as patch:
        no_embedding(library, patch)
        assert library.kb.restore(file) == content
        state = library.kb.update()
    assert (state.pending, state.chroma, state.notice) == (0, 4, "")
    assert library.texts("甲 编号3") == before
    assert names(library) == ["a.txt"]
    assert [path.name for path in file.parent.glob("**/*restoring*")] == []


def test_a_server_that_is_running_goes_on_with_what_was_restored(
    tmp_path: Path, file: Path
) -> None:
    other = Library(tmp_path, settings_for(tmp_path, exact_limit=0))
    server = Library(tmp_path, settings_for(tmp_path, exact_limit=0))
    other.put("a.txt", numbered("甲", 20))
    other.kb.back_up(file)
    other.put("a.txt", numbered("乙", 20))
    assert server.texts("乙 编号3", 1)[0].startswith("乙")
    other.kb.restore(file)
    assert server.texts("甲 编号3", 1)[0].startswith("甲")
    other.kb.update()
    assert all(text.startswith("甲") for text in server.texts("乙 编号3", 20))


def test_a_backup_made_while_documents_come_in_is_one_state(library: Library, file: Path) -> None:
    library.put("a.txt", "版本0")
    done = threading.Event()

    def write() -> None:
        for n in range(1, 1_000):
            library.put("a.txt", numbered(f"版本{n}", 30), update=False)
            if done.is_set():
                return

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(5):
            library.kb.back_up(file)  # checked: its keyword index, its counts, its pages
    finally:
        done.set()
        writer.join()


def test_a_backup_of_nothing_is_refused(library: Library, file: Path) -> None:
    with pytest.raises(NotFound):
        library.kb.back_up(file)
    assert not file.exists()


def test_a_backup_is_not_written_over_the_index_or_a_folder(library: Library) -> None:
    library.put("a.txt", "甲")
    for target in (library.kb.project().catalog.path, library.folder):
        with pytest.raises(Refused):
            library.kb.back_up(target)
    assert library.texts("甲") == ["甲"]


def test_a_backup_that_fails_leaves_the_one_before(library: Library, file: Path) -> None:
    library.put("a.txt", "甲")
    library.kb.back_up(file)
    before = file.read_bytes()
    with library.kb.project().catalog.writing("test") as writer:
        writer._db.execute("INSERT INTO blocks_fts (blocks_fts) VALUES ('delete-all')")
    with pytest.raises(Exception, match="backup.sqlite3"):
        library.kb.back_up(file)
    assert file.read_bytes() == before
    assert list(file.parent.glob("*.part")) == []


def foreign(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE t (x)")


def newer(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"PRAGMA user_version = {len(schema.MIGRATIONS) + 1}")


def damaged(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[4096 * 3 :] = bytes(len(content) - 4096 * 3)
    file.write_bytes(content)


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-5_000])


def text(file: Path) -> None:
    file.write_text("no database at all" * 100, encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (foreign, "不是本程序的备份"),
        (newer, "更新"),
        (damaged, ""),
        (cut, ""),
        (text, "not a database"),
    ],
)
def test_a_file_that_is_no_sound_backup_is_refused_with_the_reason(
    library: Library, file: Path, spoil, said: str
) -> None:
    library.put("a.txt", numbered("甲", 200))
    if spoil not in {foreign, text}:
        library.kb.back_up(file)
    spoil(file)
    library.put("a.txt", "乙")
    with pytest.raises(Refused) as refused:
        library.kb.restore(file)
    assert file.name in refused.value.message
    assert said in refused.value.message
    assert refused.value.hint
    assert library.texts("乙") == ["乙"]
    assert list(library.kb.project().folder.glob("*restoring*")) == []


def test_a_missing_backup_is_named(library: Library, file: Path) -> None:
    with pytest.raises(NotFound, match=r"backup\.sqlite3"):
        library.kb.restore(file)


@pytest.mark.parametrize("broken", [b"not a database" * 1000, b""], ids=["noise", "empty"])
def test_a_broken_index_is_replaced_and_kept_beside(
    library: Library, file: Path, broken: bytes
) -> None:
    library.put("a.txt", "甲")
    library.kb.back_up(file)
    path = library.kb.project().catalog.path
    for name in ("-wal", "-shm"):
        path.with_name(path.name + name).unlink(missing_ok=True)
    path.unlink()
    path.write_bytes(broken)
    fresh = Library(library.folder, settings_for(library.folder))
    fresh.kb.restore(file)
    fresh.kb.update()
    assert fresh.texts("甲") == ["甲"]
    kept = [p.read_bytes() for p in path.parent.glob("fulltext.sqlite3.damaged-*")]
    assert kept == ([broken] if broken else [])


def test_a_restore_into_an_empty_folder_makes_the_project(
    library: Library, file: Path, tmp_path: Path
) -> None:
    library.put("a.txt", "甲")
    library.kb.back_up(file)
    other = Library(tmp_path, settings_for(tmp_path / "elsewhere"))
    other.kb.restore(file)
    assert other.kb.update().chroma == 1
    assert other.texts("甲") == ["甲"]


def test_a_restore_waits_for_no_longer_than_it_may(tmp_path: Path, file: Path) -> None:
    library = Library(tmp_path, settings_for(tmp_path, lock_wait=0.2))
    library.put("a.txt", "甲")
    library.kb.back_up(file)
    with (
        hold(library.kb.project().vectors_lock, "某项工作", 1),
        pytest.raises(Busy, match="某项工作"),
    ):
        library.kb.restore(file)
