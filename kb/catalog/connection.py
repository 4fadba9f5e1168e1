"""How `fulltext.sqlite3` is opened."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Final

from kb.catalog import schema
from kb.catalog.schema import check_version, migrate, schema_version
from kb.errors import Busy, IndexDamaged
from kb.messages import tr

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUSY_MS: Final = 10_000
"""Longest wait for SQLite's own lock: commits here take milliseconds."""


def connect_writer(path: Path) -> sqlite3.Connection:
    """A connection that may write, the schema up to date. Raises IndexDamaged, sqlite3.Error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = _connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA foreign_keys = ON")
    migrate(connection)
    return connection


def connect_reader(path: Path) -> sqlite3.Connection:
    """A connection that cannot write; to an empty database where there is none yet.

    Raises IndexDamaged when the file is not ours, is newer than this code, or is unreadable, and
    OutOfDate when an earlier version made it.
    """
    if not path.exists():
        return _empty()
    connection = _connect(path) if may_write(path) else _connect_read_only(path)
    connection.execute("PRAGMA query_only = ON")
    check_version(connection)
    version = schema_version(connection)
    if version == len(schema.MIGRATIONS):
        return connection
    connection.close()
    if version:
        raise OutOfDate
    return _empty()


class OutOfDate(Exception):
    """An earlier version made the index: a writer must migrate it first."""


def out_of_date(path: Path, reason: str) -> IndexDamaged:
    """What to say of an index that cannot be migrated because it cannot be written."""
    with closing(_connect(path)) as connection:
        found, known = schema_version(connection), len(schema.MIGRATIONS)
    text = tr("catalog.older", found=found, known=known, reason=reason)
    return IndexDamaged(text, tr("catalog.older.hint"))


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """SQLite's and the file system's errors about the index at `path` as IndexDamaged, or Busy."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        if isinstance(error, sqlite3.OperationalError) and "is locked" in str(error):
            raise Busy(tr("catalog.busy", name=path.name), tr("lock.busy.hint")) from error
        reason = tr("catalog.unusable", name=path.name, reason=error)
        raise IndexDamaged(reason, tr("catalog.unusable.hint")) from error


def may_write(path: Path) -> bool:
    """Whether files can be made beside the index, as SQLite wants to even for reading."""
    return os.access(path.parent, os.W_OK)


def _connect_read_only(path: Path) -> sqlite3.Connection:
    """A connection that makes no file. Not to be kept: it does not see what others write later."""
    log = path.with_name(f"{path.name}-wal")
    # A log that is not empty belongs to the content; SQLite then tells whether it can be read.
    immutable = not (log.exists() and log.stat().st_size)
    uri = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if immutable else ''}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)


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
