"""Dense search: Chroma's snapshot for the bulk, an exact scan for everything newer (Law 5)."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from kb.errors import Busy, IndexDamaged
from kb.text.tokens import script
from kb.vectors.exact import Matrix, apart, decode, held, scan

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from kb.catalog import Reader
    from kb.ports import Vectors
    from kb.text.tokens import Script
    from kb.vectors.chroma import ChromaIndex, ChromaPlace
    from kb.vectors.exact import Centred

_LOG: Final = logging.getLogger(__name__)
_NEVER: Final = ("", "", -1)
"""The key of a snapshot that the next search tries to open again."""

_SAMPLE: Final = 1_000
"""Vectors that stand for the index when a question's cosines are held against the usual."""
_FEW: Final = 20
"""Fewer cosines tell nothing of what is usual."""


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """A Chroma as it was when it was opened, and the scan of what it cannot hold."""

    key: tuple[str, str, int]
    index: ChromaIndex | None
    tail: Matrix


@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    """Some vectors of an index of `of`, and what their texts are written in."""

    key: str
    of: int
    matrix: Vectors
    scripts: NDArray[np.str_]


class DenseSearch:
    """Nearest blocks of one project. Thread-safe; holds the vectors it scans in memory."""

    def __init__(self, place: ChromaPlace, exact_limit: int) -> None:
        self._place = place
        self._exact_limit = exact_limit
        self._lock = threading.Lock()
        self._all = Matrix()
        self._snapshot: _Snapshot | None = None
        self._sampled: _Sample | None = None
        self.problem = ""
        """Why Chroma is not used although it should be; empty when it is, or is not needed."""

    @property
    def vectors_in_memory(self) -> int:
        """Number of vectors kept for exact search, never more than the exact limit allows."""
        snapshot = self._snapshot
        return len(self._all) + (len(snapshot.tail) if snapshot else 0)

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
        self._all = Matrix()  # the index has outgrown it
        snapshot = self._current(reader)
        if snapshot.index is None:
            return scan(reader.vectors(), query, limit)
        try:
            bulk = _live(snapshot.index, reader, query, limit)
        except IndexDamaged as error:
            self._distrust(snapshot, error)
            return scan(reader.vectors(), query, limit)
        best = {**dict(bulk), **dict(self._tail(snapshot, reader, query, limit))}
        return sorted(best.items(), key=lambda hit: (-hit[1], hit[0]))[:limit]

    def _tail(
        self, snapshot: _Snapshot, reader: Reader, query: Vectors, limit: int
    ) -> list[tuple[int, float]]:
        """The nearest of the vectors that the snapshot cannot contain.

        A tail above the exact limit (vectors are made, and no sync has been finished yet) is read
        from SQLite in chunks at every search, so that memory remains bounded.
        """
        sync = snapshot.key[2]
        if reader.vector_count(sync) > self._exact_limit:
            return scan(reader.vectors(not_synced_by=sync), query, limit)
        return snapshot.tail.search(reader, query, limit)

    def most_alike(
        self, reader: Reader, query: Vectors, limit: int, documents: Collection[int] | None = None
    ) -> list[Centred]:
        """Up to `limit` live blocks by their cosine with the question, the index's mean taken away.

        For a restriction beyond the exact limit of vectors there are none.
        """
        if reader.vector_count() <= self._exact_limit:
            among = None if documents is None else reader.block_ids(documents)
            return self._all.most_alike(reader, query, limit, among)
        if documents is not None:
            return []
        sample = self._sample(reader, len(query)).matrix
        if not len(sample):
            return []
        mean = sample.mean(axis=0)
        near = self.nearest(reader, apart(query, mean), limit)
        found = dict(reader.vectors_of([id_ for id_, _cosine in near]))
        matrix = decode(list(found.values()), len(query))
        return held(np.fromiter(found, np.int64), matrix, mean).most_alike(query, limit)

    def usual(self, reader: Reader, query: Vectors) -> dict[Script, tuple[float, float]]:
        """Mean and standard deviation of the question's cosines over a sample of the index.

        By what text is written in, since every text of the question's language is near to it; of
        all for what is neither, or rare. Whatever a search is restricted to: this is what a cosine
        is held against.
        """
        sample = self._sample(reader, len(query))
        if not len(sample.matrix):
            return {}
        cosines = sample.matrix @ query
        parts: dict[Script, Vectors] = {"": cosines}
        for script_ in ("han", "latin"):
            part = cosines[sample.scripts == script_]
            parts[script_] = part if len(part) >= _FEW else cosines
        return {key: (float(part.mean()), float(part.std())) for key, part in parts.items()}

    def _sample(self, reader: Reader, dimension: int) -> _Sample:
        """Taken again when the index has become another, or a fifth larger or smaller."""
        key, count = reader.meta("uid") + reader.meta("model"), reader.vector_count()
        with self._lock:
            kept = self._sampled
            if kept and kept.key == key and abs(count - kept.of) <= kept.of / 5:
                return kept
            rows = reader.sample(_SAMPLE)
            matrix = decode([vector for _text, vector in rows], dimension)
            scripts = np.array([script(text.lower()) for text, _vector in rows])
            self._sampled = _Sample(key, count, matrix, scripts)
            return self._sampled

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
