"""Dense search: Chroma's snapshot for the bulk, an exact scan for everything newer (Law 5)."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kb.errors import Busy, IndexDamaged
from kb.vectors.exact import Matrix, decode, scan

if TYPE_CHECKING:
    from collections.abc import Collection

    from kb.catalog import Reader
    from kb.ports import Vectors
    from kb.vectors.chroma import ChromaIndex, ChromaPlace

_LOG: Final = logging.getLogger(__name__)
_NEVER: Final = ("", "", -1)
"""The key of a snapshot that the next search tries to open again."""

_SAMPLE: Final = 2_000
"""Vectors that stand for a large index when a question's cosines are held against the usual."""


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """A Chroma as it was when it was opened, and the scan of what it cannot hold."""

    key: tuple[str, str, int]
    index: ChromaIndex | None
    tail: Matrix


class DenseSearch:
    """Nearest blocks of one project. Thread-safe; holds the vectors it scans in memory."""

    def __init__(self, place: ChromaPlace, exact_limit: int) -> None:
        self._place = place
        self._exact_limit = exact_limit
        self._lock = threading.Lock()
        self._all = Matrix()
        self._snapshot: _Snapshot | None = None
        self._sampled: tuple[str, Vectors] | None = None
        self.problem = ""
        """Why Chroma is not used although it should be; empty when it is, or is not needed."""

    def nearest(
        self, reader: Reader, query: Vectors, limit: int, documents: Collection[int] | None = None
    ) -> list[tuple[int, float]]:
        """Up to `limit` live blocks as (block id, cosine), nearest first.

        Exact for up to the exact limit of vectors, for a restriction to `documents`, and while
        Chroma cannot be used.
        """
        if documents is not None:
            return scan(reader.vectors(documents=documents), query, limit)
        if reader.vector_count() <= self._exact_limit:
            return self._all.search(reader, query, limit)
        snapshot = self._current(reader)
        if snapshot.index is None:
            return scan(reader.vectors(), query, limit)
        try:
            bulk = _live(snapshot.index, reader, query, limit)
        except IndexDamaged as error:
            self._distrust(snapshot, error)
            return scan(reader.vectors(), query, limit)
        tail = snapshot.tail.search(reader, query, limit)
        best = {**dict(bulk), **dict(tail)}
        return sorted(best.items(), key=lambda hit: (-hit[1], hit[0]))[:limit]

    def background(self, reader: Reader, query: Vectors) -> tuple[float, float]:
        """Mean and standard deviation of the question's cosines over the index, or a sample of it.

        Whatever a search is restricted to: this is what a cosine is held against.
        """
        if reader.vector_count() <= self._exact_limit:
            cosines = self._all.cosines(reader, query)
        else:
            cosines = self._sample(reader, len(query)) @ query
        return float(cosines.mean()), float(cosines.std())

    def _sample(self, reader: Reader, dimension: int) -> Vectors:
        key = reader.meta("uid") + reader.meta("model")
        with self._lock:
            if self._sampled is None or self._sampled[0] != key:
                self._sampled = key, decode(reader.sample_vectors(_SAMPLE), dimension)
            return self._sampled[1]

    def _current(self, reader: Reader) -> _Snapshot:
        """The open snapshot, another one when it is of another index or its tail grew large."""
        key = (reader.meta("uid"), reader.meta("chroma_epoch"), int(reader.meta("chroma_sync")))
        with self._lock:
            kept = self._snapshot
            if kept and kept.key == key:
                return kept
            if kept and self._still_serves(kept, key, reader):
                return kept
            self._snapshot = self._open(reader, key)
            return self._snapshot

    def _still_serves(self, kept: _Snapshot, key: tuple[str, str, int], reader: Reader) -> bool:
        """Whether an older snapshot and a tail of bounded size still make up the index."""
        if kept.index is None or kept.key[:2] != key[:2] or self._place.url:
            return False
        return reader.vector_count(kept.key[2]) <= self._exact_limit

    def _open(self, reader: Reader, key: tuple[str, str, int]) -> _Snapshot:
        from kb.vectors.seal import alone, open_proven

        tail = Matrix(not_synced_by=key[2])
        if not key[1]:
            return _Snapshot(key, None, tail)
        try:
            with alone(self._place, 0):
                index = open_proven(self._place, reader)
            self.problem = ""
            return _Snapshot(key, index, tail)
        except Busy as error:  # it is being written, or opened by another reader: for a moment
            _LOG.info("%s", error.message)
            return _Snapshot(_NEVER, None, tail)
        except (IndexDamaged, OSError) as error:
            self._complain(error)
        return _Snapshot(key, None, tail)

    def _complain(self, error: IndexDamaged | OSError) -> None:
        self.problem = error.message if isinstance(error, IndexDamaged) else str(error)
        _LOG.warning("%s: %s", self._place.collection, self.problem)

    def _distrust(self, snapshot: _Snapshot, error: IndexDamaged) -> None:
        """Scan exactly from now on, until another sync has been finished."""
        self._complain(error)
        with self._lock:
            self._snapshot = _Snapshot(snapshot.key, None, snapshot.tail)


def _live(
    index: ChromaIndex, reader: Reader, query: Vectors, limit: int
) -> list[tuple[int, float]]:
    """The nearest that still exist: asks for more while removed ones crowd them out."""
    ask = limit * 2
    while True:
        found = index.nearest(query, ask)
        live = reader.blocks([id_ for id_, _cosine in found])
        kept = [hit for hit in found if hit[0] in live]
        if len(kept) >= limit or len(found) < ask:
            return kept[:limit]
        ask *= 4
