"""How `fulltext.sqlite3` is opened."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Final

from kb.catalog.schema import check_version, migrate, schema_version
from kb.errors import IndexDamaged
from kb.messages import tr

if TYPE_CHECKING:
    from pathlib import Path

BUSY_MS: Final = 10_000
"""Longest wait for SQLite's own lock: commits here take milliseconds."""


def connect_writer(path: Path) -> sqlite3.Connection:
    """A connection that may write, the schema up to date. Raises IndexDamaged."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        connection = _connect(path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA foreign_keys = ON")
        migrate(connection)
    except sqlite3.Error as error:
        raise _unusable(path, error) from error
    return connection


def connect_reader(path: Path) -> sqlite3.Connection:
    """A connection that cannot write; to an empty database where there is none yet.

    Raises IndexDamaged when the file is not ours, is newer than this code, or is unreadable.
    """
    if not path.exists():
        return _empty()
    try:
        connection = _connect(path)
        connection.execute("PRAGMA query_only = ON")
        check_version(connection)
        if not schema_version(connection):
            connection.close()
            return _empty()
    except sqlite3.Error as error:
        raise _unusable(path, error) from error
    return connection


def _connect(path: Path) -> sqlite3.Connection:
    # isolation_level None: transactions are begun where they are meant, never implicitly.
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    # WAL and NORMAL: a crash of the process loses nothing that was committed.
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _empty() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    migrate(connection)
    return connection


def _unusable(path: Path, error: sqlite3.Error) -> IndexDamaged:
    return IndexDamaged(
        tr("catalog.unusable", name=path.name, reason=error), tr("catalog.unusable.hint")
    )
