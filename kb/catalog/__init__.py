"""`fulltext.sqlite3`: documents, pages, blocks, keywords and vectors of one project."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kb.catalog.connection import connect_reader, connect_writer, translated
from kb.catalog.reader import Reader
from kb.catalog.rows import Model, Pending
from kb.catalog.writer import NewVersion, Writer
from kb.lock import hold

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
        with translated(self.path), hold(self._lock, purpose, self.lock_wait):
            connection = connect_writer(self.path)
            try:
                yield Writer(connection, self.project)
            finally:
                connection.close()

    def _reader(self) -> sqlite3.Connection:
        kept: tuple[sqlite3.Connection, object] | None = getattr(self._local, "kept", None)
        identity = self._identity()
        if kept and kept[1] == identity:
            return kept[0]
        connection = connect_reader(self.path)
        self._local.kept = (connection, identity)
        return connection

    def _identity(self) -> tuple[int, int] | None:
        """Which file lies at the path now: it may have been made, removed or restored."""
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino
