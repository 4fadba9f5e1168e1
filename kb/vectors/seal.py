"""Whether a Chroma folder is what the last finished sync left there.

Measured on chromadb 1.5.9: with bytes of `link_lists.bin` or `data_level0.bin` changed, a query or
a write ends the whole process (SIGSEGV), and a damaged `chroma.sqlite3` can lose vectors without an
error. So Chroma is never asked about files that are not proven first. Opening it adds a row to
`acquire_write`, which is why its SQLite is compared by what it says, not by its bytes.
A seal of 8,000 vectors of 384 dimensions (20 MiB) takes 0.08 CPU seconds.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from kb.errors import IndexDamaged
from kb.lock import hold
from kb.messages import tr
from kb.vectors.chroma import open_index
from kb.vectors.exact import decode

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from kb.catalog import Reader
    from kb.vectors.chroma import ChromaIndex, ChromaPlace

_DATABASE: Final = "chroma.sqlite3"
_PERSISTED: Final = "index_metadata.pickle"
"""A graph's folder without it holds nothing yet: every opening writes garbage there anew."""
_TABLES: Final = (
    "collections",
    "collection_metadata",
    "segments",
    "embeddings",
    "embeddings_queue",
    "max_seq_id",
)
_CHUNK: Final = 1 << 20


def alone(place: ChromaPlace, wait: float) -> AbstractContextManager[None]:
    """Nobody else opens or writes the folder meanwhile. Raises Busy after `wait` seconds.

    A reader that opened it before may go on: its graph is in memory.
    """
    return hold(place.folder.with_name("chroma.lock"), tr("lock.chroma"), wait)


def seal(place: ChromaPlace) -> str:
    """What stands for the folder's content; empty for a server, and for a broken folder."""
    if place.url:
        return ""
    digest = blake2b(digest_size=16)
    try:
        for mark in sorted(place.folder.glob(f"*/{_PERSISTED}")):
            for path in sorted(mark.parent.iterdir()):
                _add_file(digest, path)
        _add_database(digest, place.folder / _DATABASE)
    except (OSError, sqlite3.Error, UnicodeError):
        return ""
    return digest.hexdigest()


def open_proven(place: ChromaPlace, reader: Reader) -> ChromaIndex:
    """The collection the catalogue wrote, whole and in working order; else IndexDamaged.

    To be called with the folder `alone`: a file that is written meanwhile can end the process.
    """
    if not place.url and seal(place) != (reader.meta("chroma_seal") or None):
        raise IndexDamaged(tr("chroma.unsealed"), tr("chroma.damaged.hint"))
    index = open_index(place)
    try:
        _prove(index, reader)
    except BaseException:
        index.close()
        raise
    return index


def _prove(index: ChromaIndex, reader: Reader) -> None:
    ours = index.epoch == reader.meta("chroma_epoch")
    model, sample = reader.model, reader.synced_sample()
    if (
        not ours
        or index.sync < int(reader.meta("chroma_sync"))
        or (sample and not (model and index.finds(decode(sample, model.dimension))))
    ):
        raise IndexDamaged(tr("doctor.stores.stale"), tr("chroma.damaged.hint"))


def _add_file(digest: blake2b, path: Path) -> None:
    digest.update(f"\n{path.parent.name}/{path.name}\n".encode())
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)


def _add_database(digest: blake2b, path: Path) -> None:
    """The rows that answers depend on, and the soundness of the file they are in."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        connection.text_factory = bytes
        sound = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if sound != b"ok":
            raise sqlite3.DatabaseError(sound)
        for table in _TABLES:
            digest.update(f"\n{table}\n".encode())
            for row in connection.execute(f"SELECT * FROM {table} ORDER BY 1"):  # noqa: S608
                digest.update(repr(row).encode())
