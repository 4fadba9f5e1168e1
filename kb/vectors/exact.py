"""Exact search over the vectors that SQLite holds: the reference, and the tail after a snapshot."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

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


class Held(NamedTuple):
    """Unit vectors in memory, and a mean.

    `along` is the product of each vector with the mean, `lengths` how far each is from it.
    """

    ids: Ids
    matrix: Vectors
    mean: Vectors
    along: Vectors
    lengths: Vectors

    def among(self, ids: Collection[int]) -> Held:
        """Those of the blocks `ids`; the mean stays."""
        kept = np.isin(self.ids, np.fromiter(ids, np.int64))
        return Held(
            self.ids[kept], self.matrix[kept], self.mean, self.along[kept], self.lengths[kept]
        )

    def most_alike(self, query: Vectors, limit: int) -> list[Centred]:
        """The `limit` best by the cosine with `query` once the mean is taken from both.

        What all texts of a language share stands in the mean of an index in that language, and is
        taken away: see Mu, Bhat and Viswanath, "All-but-the-Top", ICLR 2018.
        """
        cosines = self.matrix @ query
        away = float(np.linalg.norm(query - self.mean)) or 1.0
        scores = (cosines - self.along - self.mean @ (query - self.mean)) / (self.lengths * away)
        best, values = _best(np.arange(len(self.ids)), scores, limit)
        columns = self.ids[best].tolist(), values.tolist(), cosines[best].tolist()
        return [Centred(*row) for row in zip(*columns, strict=True)]


def held(ids: Ids, matrix: Vectors, mean: Vectors) -> Held:
    """Vectors and what follows of them and their `mean`."""
    along = matrix @ mean
    squares = np.einsum("ij,ij->i", matrix, matrix) - 2 * along + mean @ mean  # |v - m|²
    return Held(ids, matrix, mean, along, np.sqrt(np.maximum(squares, 1e-12)))


def apart(query: Vectors, mean: Vectors) -> Vectors:
    """The direction of `query` from `mean`, unit length."""
    away: Vectors = query - mean
    away /= np.linalg.norm(away) or 1.0
    return away


class Matrix:
    """Vectors of a catalogue in memory (4 bytes a dimension), brought up to date by search.

    All of them, or those that a Chroma opened at sync `not_synced_by` cannot hold. Thread-safe.
    What was removed from the catalogue is dropped, what is new is read, nothing else
    is read twice.
    """

    _held: Held
    _last_block: int
    _last_vector: int
    _generation: int
    _space: str

    def __init__(self, not_synced_by: int | None = None) -> None:
        self._not_synced_by = not_synced_by
        self._lock = threading.Lock()
        self._clear("", 0)

    def __len__(self) -> int:
        """Number of vectors in memory, as of the last search."""
        return len(self._held.ids)

    def search(self, reader: Reader, query: Vectors, limit: int) -> list[tuple[int, float]]:
        """The `limit` nearest live blocks as (block id, cosine), nearest first."""
        rows = self._fresh(reader, len(query))
        best, scores = _best(rows.ids, rows.matrix @ query, limit)
        return list(zip(best.tolist(), scores.tolist(), strict=True))

    def most_alike(
        self, reader: Reader, query: Vectors, limit: int, among: Collection[int] | None = None
    ) -> list[Centred]:
        """See `Held.most_alike`, by the mean of all; only blocks of `among` are given."""
        rows = self._fresh(reader, len(query))
        return (rows if among is None else rows.among(among)).most_alike(query, limit)

    def _fresh(self, reader: Reader, dimension: int) -> Held:
        # Rows are replaced, never changed: a search goes on with those that it took.
        with self._lock:
            space = reader.meta("uid") + reader.meta("model")
            if self._space != space or self._held.matrix.shape[1] != dimension:
                self._clear(space, dimension)
            generation = reader.generation
            # A reader that began before the last refresh is answered from the newer state:
            # its blocks are checked against its own view afterwards.
            if generation > self._generation:
                self._refresh(reader, dimension)
                self._generation = generation
            return self._held

    def _refresh(self, reader: Reader, dimension: int) -> None:
        rows = list(
            reader.vectors(
                after_block=self._last_block,
                after_vector=self._last_vector,
                not_synced_by=self._not_synced_by,
            )
        )
        live = np.array(reader.block_ids(not_synced_by=self._not_synced_by), np.int64)
        # A block whose vector came later is new although its id is not.
        old = self._held
        keep = np.isin(old.ids, live) & ~np.isin(old.ids, [row[0] for row in rows])
        fresh = decode([row[2] for row in rows], dimension)
        matrix = np.concatenate([old.matrix[keep], fresh])
        ids = np.append(old.ids[keep], np.array([row[0] for row in rows], np.int64))
        mean = matrix.mean(axis=0) if len(ids) else np.zeros(dimension, np.float32)
        self._held = held(ids, matrix, mean)
        self._last_block = max([self._last_block, *(row[0] for row in rows)])
        self._last_vector = max([self._last_vector, *(row[1] for row in rows)])

    def _clear(self, space: str, dimension: int) -> None:
        self._space = space
        self._generation = -1
        self._last_block = self._last_vector = 0
        nothing = np.zeros(dimension, np.float32)
        self._held = held(np.empty(0, np.int64), decode([], dimension), nothing)


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


@dataclass(frozen=True, slots=True)
class Centred:
    """A block by its cosine with the question once the index's mean vector is taken from both.

    `cosine` is the plain one.
    """

    id: int
    centred: float
    cosine: float
