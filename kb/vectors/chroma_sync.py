"""Chroma follows the catalogue: written under the vectors lock, by one short-lived process."""

from __future__ import annotations

import logging
import uuid
from typing import TYPE_CHECKING, Final

from kb.errors import IndexDamaged
from kb.messages import tr
from kb.model import Progress
from kb.vectors.legacy import set_aside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kb.catalog import Catalog
    from kb.ports import OnProgress
    from kb.vectors.chroma import ChromaIndex, ChromaPlace

_LOG: Final = logging.getLogger(__name__)

_BATCH: Final = 2_000


def sync_chroma(
    catalog: Catalog, place: ChromaPlace, on_progress: OnProgress, *, check: bool
) -> None:
    """Make Chroma hold the live vectors, and nothing else; anew where it is not ours or broken.

    With `check` it is opened, tested and counted even where nothing waits for it. Raises
    IndexDamaged when it cannot be written.
    """
    with catalog.reading() as reader:
        made = bool(reader.meta("chroma_epoch"))
        broken_off = not place.url and not reader.meta("chroma_seal")
        waiting = reader.unsynced_count() or (made and (check or broken_off or reader.removed(1)))
    # Importing Chroma takes a second: a look whether its files are there does not.
    lost = made and not place.url and not (place.folder / "chroma.sqlite3").exists()
    if not waiting and not lost:
        return
    from kb.vectors.seal import alone, seal

    with alone(place, -1):
        index = _current(catalog, place) or _created(catalog, place)
        try:
            _bring(catalog, index, on_progress)
            if check and _differs(catalog, index):
                index.close()
                index = _created(catalog, place)
                _bring(catalog, index, on_progress)
        finally:
            index.close()
        with catalog.writing(tr("lock.vectors")) as writer:
            writer.finish_sync(seal(place))


def _current(catalog: Catalog, place: ChromaPlace) -> ChromaIndex | None:
    """The collection as it is, if the catalogue wrote it, it works and its graph is up to date."""
    from kb.vectors.seal import open_proven

    try:
        with catalog.reading() as reader:
            index = open_proven(place, reader)
    except IndexDamaged as error:
        _LOG.info("%s", error.message)
        return None
    if index.outdated:
        index.close()
        return None
    return index


def _created(catalog: Catalog, place: ChromaPlace) -> ChromaIndex:
    from kb.vectors.chroma import create_index

    kept = set_aside(place.folder)
    if kept is not None:
        _LOG.warning("%s -> %s", place.folder, kept)
    epoch = uuid.uuid4().hex
    index = create_index(place, epoch)
    with catalog.writing(tr("lock.vectors")) as writer:
        writer.start_chroma(epoch)
    return index


def _bring(catalog: Catalog, index: ChromaIndex, on_progress: OnProgress) -> None:
    """Drop what was removed, write what is new, then note in Chroma that the sync is finished."""
    with catalog.writing(tr("lock.vectors")) as writer:
        writer.reopen_sync()
    _delete_removed(catalog, index)
    _write_unsynced(catalog, index, on_progress)
    with catalog.reading() as reader:
        finished = int(reader.meta("chroma_sync")) + 1
    index.record_sync(finished)


def _delete_removed(catalog: Catalog, index: ChromaIndex) -> None:
    while True:
        with catalog.reading() as reader:
            ids = reader.removed(_BATCH)
        if not ids:
            return
        index.delete(ids)
        with catalog.writing(tr("lock.vectors")) as writer:
            writer.forget_removed(ids)


def _write_unsynced(catalog: Catalog, index: ChromaIndex, on_progress: OnProgress) -> None:
    with catalog.reading() as reader:
        done, total = 0, reader.unsynced_count()
    while True:
        with catalog.reading() as reader:
            rows = reader.unsynced(_BATCH)
        if not rows:
            return
        # Marked first: whatever happens from here on, a removal knows that Chroma may hold it.
        with catalog.writing(tr("lock.vectors")) as writer:
            writer.mark_synced([row[0] for row in rows])
        _upsert(catalog, index, rows)
        done += len(rows)
        on_progress(Progress("index", done, max(total, done)))


def _upsert(catalog: Catalog, index: ChromaIndex, rows: Sequence[tuple[int, bytes]]) -> None:
    """Write those of `rows` that are still there, with their places."""
    from kb.vectors.chroma import Locator
    from kb.vectors.exact import decode

    with catalog.reading() as reader:
        model = reader.model
        blocks = reader.blocks([row[0] for row in rows])
        documents = reader.documents({b.document_id for b in blocks.values()})
    kept = [row for row in rows if row[0] in blocks]
    if not kept or model is None:
        return
    places = [
        Locator(documents[b.document_id].source, b.page, b.line_start, b.line_end)
        for b in (blocks[row[0]] for row in kept)
    ]
    vectors = decode([row[1] for row in kept], model.dimension)
    index.upsert([row[0] for row in kept], vectors, places)


def _differs(catalog: Catalog, index: ChromaIndex) -> bool:
    with catalog.reading() as reader:
        return index.count() != reader.vector_count()
