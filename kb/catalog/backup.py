"""Backup and restore of one project: its `fulltext.sqlite3`, which holds all that is true."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kb.catalog import Reader
from kb.catalog.connection import OutOfDate, connect_reader, connect_writer
from kb.catalog.schema import APPLICATION_ID, check_version, migrate, schema_version
from kb.errors import IndexDamaged, KbError, NotFound, Refused
from kb.failpoints import reached
from kb.lock import hold
from kb.messages import tr

if TYPE_CHECKING:
    from pathlib import Path

    from kb.catalog import Catalog

_DETACH: Final = """
UPDATE meta SET value = lower(hex(randomblob(8))) WHERE key = 'uid';
UPDATE meta SET value = '' WHERE key IN ('chroma_epoch', 'chroma_seal');
UPDATE blocks SET synced = 0 WHERE synced <> 0;
DELETE FROM chroma_removed;
"""
"""Another index from now on: what a running server holds of the old one, and Chroma, are void."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a backup holds. `size` is in bytes."""

    documents: int
    blocks: int
    size: int


def back_up(catalog: Catalog, target: Path) -> Content:
    """Write one committed state of `catalog` to the file `target`, whole or not at all.

    Searches and ingests go on meanwhile. Raises NotFound when there is nothing to back up, Refused
    when `target` is no place for it, KbError when it cannot be written.
    """
    if not catalog.path.exists():
        raise NotFound(tr("backup.nothing", project=catalog.project), tr("cli.nothing.hint"))
    if target.is_dir() or target.absolute().parent == catalog.path.parent.absolute():
        raise Refused(tr("backup.target", file=target), tr("backup.target.hint"))
    part = target.with_name(f"{target.name}.part")
    with catalog.reading():
        pass  # an index of an earlier version is brought up to date
    try:
        part.unlink(missing_ok=True)
        with closing(connect_reader(catalog.path)) as source:
            _copy(source, part)
        with closing(sqlite3.connect(part)) as copy:
            content = _checked(copy, catalog.project, part)
        reached("backup.copied")
        _flush(part)
        part.replace(target)
        reached("backup.replaced")
    except (OSError, sqlite3.Error) as error:
        raise KbError(tr("backup.failed", file=target, reason=error), "") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return content


def restore(catalog: Catalog, file: Path, vectors_lock: Path) -> Content:
    """Make `file`, a backup, the content of `catalog`; it is checked before anything is replaced.

    One transaction where the present index can be opened: a running server sees the one or the
    other. A present index that is broken is kept beside it under another name. Raises Refused when
    `file` is no sound backup that this version can read, Busy, KbError for a fault of the disk.
    """
    if not file.is_file():
        raise NotFound(tr("restore.missing", file=file), tr("restore.missing.hint"))
    purpose = tr("lock.restore", file=file.name)
    with (
        hold(vectors_lock, purpose, catalog.lock_wait),
        catalog.locked(purpose),
    ):
        part = catalog.path.with_name(f"{catalog.path.name}.restoring")
        try:
            content = _prepared(file, part, catalog.project)
            reached("restore.locked")
            _replace(catalog.path, part)
            reached("restore.replaced")
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)
    return content


def _prepared(file: Path, part: Path, project: str) -> Content:
    """A checked copy of `file` at `part`, with the schema of this version, of no Chroma."""
    try:
        part.unlink(missing_ok=True)
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as source:
            _check_ours(source)
            _copy(source, part)
        with closing(sqlite3.connect(part, isolation_level=None)) as copy:
            migrate(copy)
            content = _checked(copy, project, file)
            copy.executescript(f"BEGIN;{_DETACH}COMMIT;")
    except IndexDamaged as error:
        reason = tr("restore.refused", file=file, reason=error.message)
        raise Refused(reason, tr("restore.kept")) from error
    except (sqlite3.Error, OSError) as error:
        reason = tr("restore.refused", file=file, reason=error)
        # A fault of the disk, or of the file.
        kind = KbError if isinstance(error, sqlite3.OperationalError | OSError) else Refused
        raise kind(reason, tr("restore.kept")) from error
    reached("restore.copied")
    return content


def _check_ours(source: sqlite3.Connection) -> None:
    application = int(source.execute("PRAGMA application_id").fetchone()[0])
    if application != APPLICATION_ID or not schema_version(source):
        raise IndexDamaged(tr("restore.foreign"), "")
    check_version(source)


def _replace(path: Path, part: Path) -> None:
    """The content of `part` at `path`. Under both locks."""
    with closing(sqlite3.connect(part)) as copy:
        try:
            with closing(connect_writer(path)) as target:
                copy.backup(target)
                return
        except (sqlite3.DatabaseError, IndexDamaged):
            if not path.exists() or _is_sound(path):
                raise
    aside = time.strftime("damaged-%Y%m%d-%H%M%S", time.gmtime())
    for name in (f"{path.name}-wal", f"{path.name}-shm", path.name):
        with suppress(FileNotFoundError):
            path.with_name(name).replace(path.with_name(f"{name}.{aside}"))
    reached("restore.emptied")
    part.replace(path)


def _is_sound(path: Path) -> bool:
    """Whether the present index is one that must not be put aside: the fault is another."""
    try:
        with closing(connect_reader(path)) as connection:
            row = connection.execute("PRAGMA quick_check(1)").fetchone()
            return bool(row[0] == "ok")
    except (sqlite3.DatabaseError, IndexDamaged, OutOfDate) as error:
        # Of another version, or another program's: not ours to replace. A lock or a full disk is no
        # damage.
        return isinstance(error, IndexDamaged | OutOfDate | sqlite3.OperationalError)


def _copy(source: sqlite3.Connection, part: Path) -> None:
    # All pages in one step: one read transaction, so that a writer cannot make it start again.
    with closing(sqlite3.connect(part, isolation_level=None)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")


def _checked(copy: sqlite3.Connection, project: str, file: Path) -> Content:
    """What it holds. Raises IndexDamaged when the copy of `file` is not sound."""
    reader = Reader(copy, project)
    row = copy.execute("PRAGMA integrity_check(1)").fetchone()
    problem = reader.keyword_problem() if row[0] == "ok" else str(row[0])
    if problem:
        raise IndexDamaged(tr("backup.unsound", file=file.name, reason=problem), "")
    return Content(len(reader.sources()), reader.block_count(), _size(copy))


def _size(copy: sqlite3.Connection) -> int:
    pages = int(copy.execute("PRAGMA page_count").fetchone()[0])
    return pages * int(copy.execute("PRAGMA page_size").fetchone()[0])


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
