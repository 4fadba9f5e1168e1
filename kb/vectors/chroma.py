"""Chroma as an index over SQLite's vectors: opened, written and checked here, trusted nowhere.

Measured on chromadb 1.5.9: a client never sees what another process wrote after it was opened,
and one that writes after another process destroys the other's vectors. So a writer opens it
afresh, writes under the vectors lock and closes it; a reader keeps what it opened as a snapshot.
"""

from __future__ import annotations

import gc
import shutil
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from kb.errors import IndexDamaged
from kb.failpoints import reached
from kb.messages import tr

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from kb.ports import Vectors

_SELF_SIMILARITY: Final = 0.99
_GRAPH: Final[dict[str, str | int]] = {
    "space": "cosine",
    "ef_construction": 400,
    "max_neighbors": 64,
    "ef_search": 400,
}
"""Parameters of the HNSW graph, for recall. Recall@50 against an exact scan, chromadb 1.5.9:

| vectors | Chroma's defaults | these |
|---|---|---|
| 5,000 blocks of real Chinese text | 0.989 | 1.000 |
| 5,000 random, 384 dimensions | 0.793 | 1.000 |
| 30,000 random, 384 dimensions | 0.412 | 0.993 |
| 600 nearly equidistant | 0.62 | 0.94 |

A query of 30,000 takes 7 ms instead of 2, building their graph 78 s instead of 21.
"""
_REMOVE_TRIES: Final = 20  # Windows: a virus scanner may hold a file for a moment


@dataclass(frozen=True, slots=True)
class ChromaPlace:
    """Where one project's collection lives: a folder, or a server when `url` is not empty."""

    folder: Path
    url: str
    collection: str


@dataclass(frozen=True, slots=True)
class Locator:
    """What Chroma keeps beside a vector: where it stands, never its text."""

    source: str
    page: int
    line_start: int
    line_end: int


class ChromaIndex:
    """One opened collection. Any failure of Chroma's is raised as IndexDamaged."""

    def __init__(self, client: Any, collection: Any) -> None:
        self._client = client
        self._collection = collection
        metadata = collection.metadata or {}
        self.epoch = str(metadata.get("epoch", ""))
        self.sync = int(metadata.get("sync", 0))
        self.outdated = metadata.get("graph") != _described(_GRAPH)
        """True if its graph was built with other parameters (by an earlier version)."""

    def nearest(self, query: Vectors, limit: int) -> list[tuple[int, float]]:
        """Up to `limit` of (block id, cosine), nearest first; the ids may be long removed."""
        with _translated():
            found = self._collection.query(
                query_embeddings=[query], n_results=limit, include=["distances"]
            )
        ids, distances = found["ids"][0], found["distances"][0]
        return [(int(i), 1.0 - float(d)) for i, d in zip(ids, distances, strict=True)]

    def upsert(self, ids: Sequence[int], vectors: Vectors, places: Sequence[Locator]) -> None:
        """Write vectors, in batches no larger than Chroma's own maximum."""
        step = int(self._client.get_max_batch_size())
        for start in range(0, len(ids), step):
            end = start + step
            reached("chroma.upsert.before")
            with _translated():
                self._collection.upsert(
                    ids=[str(id_) for id_ in ids[start:end]],
                    embeddings=vectors[start:end],
                    metadatas=[_metadata(place) for place in places[start:end]],
                )
            reached("chroma.upsert.after")

    def delete(self, ids: Sequence[int]) -> None:
        """Drop vectors; ids that are not there are no error."""
        step = int(self._client.get_max_batch_size())
        for start in range(0, len(ids), step):
            reached("chroma.delete.before")
            with _translated():
                self._collection.delete(ids=[str(id_) for id_ in ids[start : start + step]])
            reached("chroma.delete.after")

    def count(self) -> int:
        """How many vectors it holds."""
        with _translated():
            return int(self._collection.count())

    def record_sync(self, sync: int) -> None:
        """Note in the collection itself how far it has been brought."""
        reached("chroma.record.before")
        with _translated():
            self._collection.modify(metadata={**self._collection.metadata, "sync": sync})
        reached("chroma.record.after")
        self.sync = sync

    def finds(self, vectors: Vectors) -> bool:
        """Whether most of `vectors`, all written before, find themselves: the test of its health.

        Not all: a sound graph, too, may have a vector that no path leads to.
        """
        found = sum(
            any(cosine >= _SELF_SIMILARITY for _id, cosine in self.nearest(vector, 1))
            for vector in vectors
        )
        return 2 * found > len(vectors) or not len(vectors)

    def close(self) -> None:
        """Let go of the files."""
        with _translated():
            self._client.close()


def open_index(place: ChromaPlace) -> ChromaIndex:
    """The collection as it lies on disk now. Raises IndexDamaged when there is none to be read."""
    with _translated():
        client = _client(place)
        return ChromaIndex(client, client.get_collection(place.collection, embedding_function=None))


def create_index(place: ChromaPlace, epoch: str) -> ChromaIndex:
    """An empty collection named by `epoch`; whatever was there is removed first."""
    reached("chroma.create.before")
    if not place.url:
        _remove_folder(place.folder)
    reached("chroma.create.removed")
    with _translated():
        client = _client(place)
        if place.url and place.collection in [c.name for c in client.list_collections()]:
            client.delete_collection(place.collection)
        collection = client.create_collection(
            place.collection,
            embedding_function=None,
            configuration={"hnsw": dict(_GRAPH)},
            metadata={"epoch": epoch, "sync": 0, "graph": _described(_GRAPH)},
        )
        reached("chroma.create.after")
        return ChromaIndex(client, collection)


def _described(graph: Mapping[str, str | int]) -> str:
    return " ".join(f"{name}={value}" for name, value in graph.items())


def _client(place: ChromaPlace) -> Any:
    import chromadb
    from chromadb.api.shared_system_client import SharedSystemClient
    from chromadb.config import Settings

    # A cached system of this process would be the stale reader or writer of the module's text.
    SharedSystemClient.clear_system_cache()
    settings = Settings(_env_file=None, anonymized_telemetry=False)
    if not place.url:
        return chromadb.PersistentClient(place.folder, settings=settings)
    url = urlsplit(place.url if "://" in place.url else f"http://{place.url}")
    tls = url.scheme == "https"
    port = url.port or (443 if tls else 8000)
    return chromadb.HttpClient(url.hostname or "", port, ssl=tls, settings=settings)


def _remove_folder(folder: Path) -> None:
    gc.collect()  # handles of a client that was dropped, not closed
    error: OSError | None = None
    for _attempt in range(_REMOVE_TRIES):
        error = _try_remove(folder)
        if error is None:
            return
        time.sleep(0.1)
    raise _damaged(error or OSError()) from error


def _try_remove(folder: Path) -> OSError | None:
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        return error
    return None


def _metadata(place: Locator) -> dict[str, str | int]:
    return {
        "source": place.source,
        "page": place.page,
        "line_start": place.line_start,
        "line_end": place.line_end,
    }


class _translated:  # noqa: N801 - used as a statement
    """Chroma's many exceptions (and its Rust panics) as IndexDamaged."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, _type: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit | IndexDamaged):
            return
        if error is not None:
            raise _damaged(error) from error


def _damaged(error: BaseException) -> IndexDamaged:
    reason = f"{type(error).__name__}: {error}"
    return IndexDamaged(tr("chroma.damaged", reason=reason[:300]), tr("chroma.damaged.hint"))
