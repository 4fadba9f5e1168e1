"""An index of an earlier version, whatever number of versions lies between."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from library_support import Library, settings_for

from kb.catalog import schema
from kb.errors import Busy, IndexDamaged
from kb.lock import hold

NEXT = ("CREATE TABLE later (x);", "ALTER TABLE later ADD COLUMN y;")


@pytest.fixture
def old(library: Library) -> Library:
    """A library of the present schema; the tests then make the code one of a later version."""
    library.put("a.txt", "甲")
    return library


def later(monkeypatch: pytest.MonkeyPatch, *scripts: str) -> int:
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, *scripts))
    return len(schema.MIGRATIONS)


def version(library: Library) -> int:
    with closing(sqlite3.connect(library.kb.project().catalog.path)) as connection:
        return schema.schema_version(connection)


def test_a_reader_brings_an_earlier_index_up_to_date(
    old: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = later(monkeypatch, *NEXT)
    fresh = Library(old.folder, settings_for(old.folder))
    assert fresh.texts("甲") == ["甲"]
    assert version(fresh) == wanted
    fresh.put("b.txt", "乙")
    assert fresh.texts("乙", 1) == ["乙"]


def test_a_server_that_was_open_before_the_migration_goes_on(
    old: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    old.texts("甲")
    later(monkeypatch, NEXT[0])
    Library(old.folder, settings_for(old.folder)).put("b.txt", "乙")
    assert old.texts("乙", 1) == ["乙"]


def test_an_index_made_by_the_first_schema_alone_is_read(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = library.kb.project().catalog.path
    path.parent.mkdir(parents=True)
    with monkeypatch.context() as patch, closing(sqlite3.connect(path)) as connection:
        patch.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        connection.isolation_level = None
        schema.migrate(connection)
    assert library.kb.list_sources().total == 0
    library.put("a.txt", "甲")
    assert library.texts("甲") == ["甲"]
    assert version(library) == len(schema.MIGRATIONS)


def test_an_earlier_index_is_backed_up_and_its_backup_restored(
    old: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    early, late = old.folder / "early.sqlite3", old.folder / "late.sqlite3"
    old.kb.back_up(early)
    wanted = later(monkeypatch, *NEXT)
    fresh = Library(old.folder, settings_for(old.folder))
    fresh.kb.back_up(late)
    fresh.put("b.txt", "乙")
    for file in (early, late):
        fresh.kb.restore(file)
        assert fresh.texts("甲") == ["甲"]
        assert version(fresh) == wanted


def test_a_migration_that_fails_leaves_the_version_before_and_says_so(
    old: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = version(old)
    with monkeypatch.context() as patch:
        later(patch, NEXT[0], "CREATE TABLE half (x); SELECT nonsense();")
        with pytest.raises(IndexDamaged) as error:
            Library(old.folder, settings_for(old.folder)).texts("甲")
        assert str(before + 2) in error.value.message
        assert error.value.hint
        assert version(old) == before, "all steps are one transaction"
    with closing(sqlite3.connect(old.kb.project().catalog.path)) as connection:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    assert "half" not in tables


def test_a_migration_waits_for_the_writer_and_says_for_whom(
    old: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    later(monkeypatch, NEXT[0])
    fresh = Library(old.folder, settings_for(old.folder, lock_wait=0.2))
    lock = old.kb.project().folder / "writer.lock"
    with hold(lock, "某个写者", 1), pytest.raises(Busy, match="某个写者"):
        fresh.texts("甲")
    assert fresh.texts("甲") == ["甲"]


def test_an_index_that_cannot_be_written_is_refused_clearly(
    old: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    later(monkeypatch, NEXT[0])

    def refuse(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("kb.catalog.hold", refuse)
    with pytest.raises(IndexDamaged, match="Read-only file system") as error:
        Library(old.folder, settings_for(old.folder)).texts("甲")
    assert "--list" in error.value.hint


def test_a_reader_that_came_before_the_schema_sees_what_is_written_next(library: Library) -> None:
    """A file that a writer had made and not filled yet was taken for empty for good."""
    path = library.kb.project().catalog.path
    path.parent.mkdir(parents=True)
    sqlite3.connect(path).close()
    path.touch()
    assert library.kb.list_sources().total == 0
    Library(library.folder, settings_for(library.folder)).put("a.txt", "甲")
    assert library.texts("甲") == ["甲"]
