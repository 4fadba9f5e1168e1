"""Exact search over the vectors that SQLite holds: the reference, and the tail after a snapshot."""

from __future__ import annotations

import threading
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from numpy.typing import NDArray

    from kb.catalog import Reader
    from kb.ports import Vectors

    Ids = NDArray[np.int64]
    Rows = Iterable[tuple[int, int, bytes]]

_CHUNK: Final = 8_192


def encode(vectors: Vectors) -> list[bytes]:
    """Unit float32 rows → the float16 bytes that the catalogue keeps."""
    return [row.tobytes() for row in vectors.astype("<f2")]


def decode(blobs: Collection[bytes], dimension: int) -> Vectors:
    """The catalogue's bytes → float32, shape (len(blobs), dimension)."""
    halves = np.frombuffer(b"".join(blobs), dtype="<f2")
    return halves.reshape(len(blobs), dimension).astype(np.float32)


def scan(rows: Rows, query: Vectors, limit: int) -> list[tuple[int, float]]:
    """The `limit` nearest of `rows` as (block id, cosine), nearest first, in bounded memory."""
    ids: Ids = np.empty(0, np.int64)
    scores: Vectors = np.empty(0, np.float32)
    for chunk in _chunks(rows):
        ids = np.append(ids, [row[0] for row in chunk])
        scores = np.append(scores, decode([row[2] for row in chunk], len(query)) @ query)
        ids, scores = _best(ids, scores, limit)
    return list(zip(ids.tolist(), scores.tolist(), strict=True))


class Matrix:
    """Vectors of a catalogue in memory (4 bytes a dimension), brought up to date by search.

    All of them, or those that a Chroma opened at sync `not_synced_by` cannot hold. Thread-safe.
    What was removed from the catalogue is dropped, what is new is read, nothing else
    is read twice.
    """

    _ids: Ids
    _matrix: Vectors
    _last_block: int
    _last_vector: int
    _generation: int
    _space: str

    def __init__(self, not_synced_by: int | None = None) -> None:
        self._not_synced_by = not_synced_by
        self._lock = threading.Lock()
        self._clear("")

    def search(self, reader: Reader, query: Vectors, limit: int) -> list[tuple[int, float]]:
        """The `limit` nearest live blocks as (block id, cosine), nearest first."""
        ids, matrix = self._fresh(reader, len(query))
        best, scores = _best(ids, matrix @ query, limit)
        return list(zip(best.tolist(), scores.tolist(), strict=True))

    def cosines(self, reader: Reader, query: Vectors) -> Vectors:
        """The question's cosine with every vector, in no order that matters."""
        return self._fresh(reader, len(query))[1] @ query

    def _fresh(self, reader: Reader, dimension: int) -> tuple[Ids, Vectors]:
        # Arrays are replaced, never changed: a search goes on with the pair that it took.
        with self._lock:
            space = reader.meta("uid") + reader.meta("model")
            if self._space != space:
                self._clear(space)
            generation = reader.generation
            # A reader that began before the last refresh is answered from the newer state:
            # its blocks are checked against its own view afterwards.
            if generation > self._generation:
                self._refresh(reader, dimension)
                self._generation = generation
            return self._ids, self._matrix.reshape(-1, dimension)

    def _refresh(self, reader: Reader, dimension: int) -> None:
        rows = list(reader.vectors(after_block=self._last_block, after_vector=self._last_vector))
        live = np.fromiter((row[0] for row in reader.block_ids()), np.int64)
        # A block whose vector came later is new although its id is not.
        keep = np.isin(self._ids, live) & ~np.isin(self._ids, [row[0] for row in rows])
        kept = self._matrix.reshape(-1, dimension)[keep]
        fresh = decode([row[2] for row in rows], dimension)
        self._matrix = np.concatenate([kept, fresh])
        self._ids = np.append(self._ids[keep], np.array([row[0] for row in rows], np.int64))
        self._last_block = max([self._last_block, *(row[0] for row in rows)])
        self._last_vector = max([self._last_vector, *(row[1] for row in rows)])

    def _clear(self, space: str) -> None:
        self._space = space
        self._generation = -1
        self._last_block = self._last_vector = 0
        self._ids = np.empty(0, np.int64)
        self._matrix = np.empty((0, 0), np.float32)


def _best(ids: Ids, scores: Vectors, limit: int) -> tuple[Ids, Vectors]:
    """The `limit` highest, best first; equal scores by id, so that answers do not waver."""
    if len(scores) > limit:
        part = np.argpartition(-scores, limit - 1)[:limit]
        ids, scores = ids[part], scores[part]
    order = np.lexsort((ids, -scores))
    return ids[order], scores[order]


def _chunks(rows: Rows) -> Iterator[list[Any]]:
    iterator = iter(rows)
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk
