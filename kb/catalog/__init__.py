"""`fulltext.sqlite3`: documents, pages, blocks, keywords and vectors of one project."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from kb.catalog.connection import (
    OutOfDate,
    connect_reader,
    connect_writer,
    may_write,
    out_of_date,
    translated,
)
from kb.catalog.reader import Reader
from kb.catalog.rows import Model, Pending
from kb.catalog.writer import NewVersion, Writer
from kb.errors import IndexDamaged
from kb.lock import hold
from kb.messages import tr

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Catalog", "Model", "NewVersion", "Pending", "Reader", "Writer"]


class Catalog:
    """The catalogue of one project, opened when it is first used, one connection a thread.

    `folder` is the project's; `lock_wait` is how many seconds a write waits for another writer.
    """

    def __init__(self, folder: Path, lock_wait: float) -> None:
        self.path = folder / "fulltext.sqlite3"
        self.project = folder.name
        self._lock = folder / "writer.lock"
        self.lock_wait = lock_wait
        self._local = threading.local()

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """A view of one committed state; empty where nothing was ever written.

        Not to be nested in one thread. Raises IndexDamaged when the file cannot be read by this
        code.
        """
        with translated(self.path):
            connection = self._reader()
            connection.execute("BEGIN")
            try:
                yield Reader(connection, self.project)
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def writing(self, purpose: str) -> Iterator[Writer]:
        """The only writer, named to others by `purpose`.

        Raises Busy, and IndexDamaged when the disk is full, the folder read-only, the file broken:
        what was committed before stays.
        """
        with self.locked(purpose):
            connection = connect_writer(self.path)
            try:
                yield Writer(connection, self.project)
            finally:
                connection.close()

    @contextmanager
    def locked(self, purpose: str) -> Iterator[None]:
        """The write lock alone, for work on the file itself. Raises like `writing`."""
        with translated(self.path), hold(self._lock, purpose, self.lock_wait):
            yield

    def _reader(self) -> sqlite3.Connection:
        kept: tuple[sqlite3.Connection, object] | None = getattr(self._local, "kept", None)
        identity = self._identity()
        if kept and kept[1] == identity:
            return kept[0]
        connection = self._opened()
        # An empty stand-in is kept while there is no file, not for one that a writer makes now.
        in_file = bool(connection.execute("PRAGMA database_list").fetchone()[2])
        self._local.kept = (connection, identity if in_file and may_write(self.path) else None)
        return connection

    def _opened(self) -> sqlite3.Connection:
        """A connection for reading; an index of an earlier version is brought up to date first."""
        with suppress(OutOfDate):
            return connect_reader(self.path)
        try:
            with self.locked(tr("lock.migrate")):
                connect_writer(self.path).close()
        except IndexDamaged as error:
            raise out_of_date(self.path, error.message) from error
        return connect_reader(self.path)

    def _identity(self) -> tuple[int, int] | None:
        """Which file lies at the path now: it may have been made, removed or restored."""
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino
