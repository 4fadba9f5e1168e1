"""A document's way into the index, and the one function that brings derived state up to date."""

from __future__ import annotations

import logging
import time
import unicodedata
import uuid
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final

from kb.catalog import NewVersion
from kb.errors import EmbeddingFailed, IndexDamaged, KbError, Refused
from kb.lock import hold
from kb.messages import tr
from kb.noise import mark_noise
from kb.objects.folder import copied
from kb.outline import mark_headings
from kb.scope import clean_source
from kb.types import IngestReport, Progress

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kb.catalog import Catalog, Model, Pending
    from kb.objects.folder import Copy
    from kb.ports import DocumentParser, Embedder, OnProgress
    from kb.types import Document, Parsed, State
    from kb.vectors.chroma import ChromaIndex, ChromaPlace

_LOG: Final = logging.getLogger(__name__)

_FIRST_BATCH: Final = 8
_MAX_BATCH: Final = 1_024
_BATCH_SECONDS: Final = 4.0
"""A kill loses at most about this much embedding."""
_CHROMA_BATCH: Final = 2_000


# -- a document ----------------------------------------------------------------------------


def ingest(
    catalog: Catalog,
    parser: DocumentParser,
    path: Path,
    source: str,
    *,
    max_mb: int,
    dry_run: bool = False,
    on_progress: OnProgress | None = None,
) -> IngestReport:
    """Make the file at `path` the current version of `source`, its keywords ready on return.

    The same bytes read by the same parser are `unchanged` and not parsed. `on_progress` is told of
    the pages that are parsed and read by OCR. Raises a KbError when the document is refused or
    breaks the parser; the version before it then stays as it was.
    """
    started = time.monotonic()
    source = clean_source(source)
    with copied(path, max_mb) as copy:
        with catalog.reading() as reader:
            current = reader.document(source)
        same_reading = current and parser.is_current(current.parser, source)
        if current and same_reading and current.sha256 == copy.sha256:
            return _report(current, "unchanged", started)
        try:
            parsed = parser.parse(copy.path, source, on_progress)
            new = _new_version(source, copy, parsed, path)
        except KbError as error:
            raise _kept(error, current) from error
    if dry_run:
        return _would(new, current, started)
    with catalog.writing(tr("lock.ingest", source=source)) as writer:
        document = writer.replace(new)
    mine = document.ingested_at == new.ingested_at
    return _report(document, "ingested" if mine else "unchanged", started)


def _new_version(source: str, copy: Copy, parsed: Parsed, path: Path) -> NewVersion:
    if not any(page.text.strip() for page in parsed.pages):
        raise Refused(tr("ingest.no_text", source=source), tr("ingest.no_text.hint"))
    return NewVersion(
        source=source,
        sha256=copy.sha256,
        size=copy.size,
        media_type=parsed.media_type,
        title=title_of(source),
        parser=parsed.parser,
        encoding=parsed.encoding,
        origin=str(path.absolute()),
        warnings=parsed.warnings,
        pages=mark_headings(mark_noise(parsed.pages)),
        ingested_at=datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
    )


def title_of(source: str) -> str:
    """What a document is called: its file name without the suffix."""
    name = unicodedata.normalize("NFC", source).rpartition("/")[2]
    stem, dot, _suffix = name.rpartition(".")
    return stem if dot and stem else name


def _kept(error: KbError, current: Document | None) -> KbError:
    """The same refusal, saying that the version before it still answers."""
    if current is None:
        return error
    kept = tr("ingest.kept", source=current.source, version=current.version)
    return type(error)(f"{error.message}{kept}", error.hint)


def _report(document: Document, state: State, started: float) -> IngestReport:
    return IngestReport(
        source=document.source,
        state=state,
        version=document.version,
        pages=document.pages,
        blocks=document.blocks,
        parser=document.parser,
        encoding=document.encoding,
        seconds=round(time.monotonic() - started, 3),
        warnings=document.warnings,
    )


def _would(new: NewVersion, current: Document | None, started: float) -> IngestReport:
    """What a dry run reports: the version and blocks that an ingest would make."""
    from kb.blocks import cut_blocks

    return IngestReport(
        source=new.source,
        state="ingested",
        version=current.version + 1 if current else 1,
        pages=len(new.pages),
        blocks=len(cut_blocks(new.pages)),
        parser=new.parser,
        encoding=new.encoding,
        seconds=round(time.monotonic() - started, 3),
        warnings=new.warnings,
    )


# -- derived state -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class VectorState:
    """How far vectors and Chroma are. `notice` says why, where they are not complete."""

    blocks: int
    pending: int
    chroma: int
    notice: str = ""


def bring_up_to_date(
    catalog: Catalog,
    embedder: Embedder | None,
    place: ChromaPlace,
    lock: Path,
    *,
    on_progress: OnProgress,
    change_model: bool = False,
    check_chroma: bool = False,
) -> VectorState:
    """Embed every block without a vector, then make Chroma hold exactly those vectors.

    Resumable: each batch is committed, so that a later call goes on where a killed one stopped.
    Waits while another process does the same work. With `change_model` the embedder's model
    becomes the index's; otherwise another model's index is left alone and the notice says so.
    With `check_chroma` Chroma is opened and tested even where nothing waits for it.
    Failures of the embedder or of Chroma are told in the notice: keywords go on working.
    """
    with catalog.reading() as reader:
        if not reader.block_count() and not reader.meta("chroma_epoch"):
            return VectorState(0, 0, 0)
    with hold(lock, tr("lock.vectors"), -1, lambda _owner: _tell_pending(catalog, on_progress)):
        notice = _embed(catalog, embedder, on_progress, change_model=change_model)
        try:
            _sync_chroma(catalog, place, on_progress, check=check_chroma)
        except IndexDamaged as error:
            notice = "\n".join(filter(None, (notice, error.message)))
    return vector_state(catalog, notice)


def vector_state(catalog: Catalog, notice: str = "") -> VectorState:
    """How far vectors and Chroma are now."""
    with catalog.reading() as reader:
        blocks, vectors = reader.block_count(), reader.vector_count()
        behind = reader.vector_count(int(reader.meta("chroma_sync")))
        held = vectors - behind if reader.meta("chroma_epoch") else 0
        return VectorState(blocks, blocks - vectors, held, notice)


def _tell_pending(catalog: Catalog, on_progress: OnProgress) -> None:
    state = vector_state(catalog)
    on_progress(Progress("embed", state.blocks - state.pending, state.blocks))


def _embed(
    catalog: Catalog, embedder: Embedder | None, on_progress: OnProgress, *, change_model: bool
) -> str:
    """Embed what has no vector; returns the notice."""
    if embedder is None:
        return ""
    try:
        model = _model(catalog, embedder, change_model=change_model)
        if model is None:
            return _other_model(catalog, embedder)
        _embed_pending(catalog, embedder, model, on_progress)
    except EmbeddingFailed as error:
        return str(error)
    with catalog.writing(tr("lock.vectors")) as writer:
        writer.prune_vectors()
    return ""


def _other_model(catalog: Catalog, embedder: Embedder) -> str:
    with catalog.reading() as reader:
        index = reader.model
    return tr("embed.other_model", index=index.name if index else "-", now=embedder.name)


def _model(catalog: Catalog, embedder: Embedder, *, change_model: bool) -> Model | None:
    """The index's model when it is the embedder's (or may become so), else None."""
    with catalog.reading() as reader:
        model = reader.model
    if model and model.fingerprint == embedder.fingerprint:
        return model
    if model and not change_model:
        return None
    with catalog.writing(tr("lock.vectors")) as writer:
        return writer.use_model(embedder.fingerprint, embedder.name, embedder.dimension)


def _embed_pending(
    catalog: Catalog, embedder: Embedder, model: Model, on_progress: OnProgress
) -> None:
    with catalog.reading() as reader:
        total = reader.pending_count()
    done, after, size = 0, 0, _FIRST_BATCH
    while batch := _next_batch(catalog, after, size):
        started = time.monotonic()
        _embed_batch(catalog, embedder, model, batch)
        after, done = batch[-1].block_id, done + len(batch)
        on_progress(Progress("embed", done, max(total, done)))
        size = _next_size(len(batch), time.monotonic() - started)


def _next_batch(catalog: Catalog, after: int, size: int) -> list[Pending]:
    with catalog.reading() as reader:
        return reader.pending(after, size)


def _embed_batch(
    catalog: Catalog, embedder: Embedder, model: Model, batch: Sequence[Pending]
) -> None:
    from kb.vectors.exact import encode

    texts = {pending.text_hash: pending.text for pending in batch}
    vectors = encode(embedder.embed_passages(list(texts.values())))
    with catalog.writing(tr("lock.vectors")) as writer:
        writer.store_vectors(model, dict(zip(texts, vectors, strict=True)))


def _next_size(done: int, seconds: float) -> int:
    """So many blocks that a batch takes about `_BATCH_SECONDS`, growing at most fourfold."""
    wanted = int(done * _BATCH_SECONDS / max(seconds, 1e-3))
    return max(1, min(wanted, done * 4, _MAX_BATCH))


def _sync_chroma(
    catalog: Catalog, place: ChromaPlace, on_progress: OnProgress, *, check: bool
) -> None:
    """Make Chroma hold the live vectors, and nothing else; anew where it is not ours or broken."""
    with catalog.reading() as reader:
        made = bool(reader.meta("chroma_epoch"))
        waiting = reader.unsynced_count() or (made and (check or reader.removed(1)))
    # Importing Chroma takes a second: a look whether its files are there does not.
    lost = made and not place.url and not (place.folder / "chroma.sqlite3").exists()
    if not waiting and not lost:
        return
    index = _open_or_create(catalog, place)
    try:
        _delete_removed(catalog, index)
        _write_unsynced(catalog, index, on_progress)
        with catalog.reading() as reader:
            finished = int(reader.meta("chroma_sync")) + 1
        index.record_sync(finished)
        with catalog.writing(tr("lock.vectors")) as writer:
            writer.finish_sync()
    finally:
        index.close()


def _open_or_create(catalog: Catalog, place: ChromaPlace) -> ChromaIndex:
    from kb.vectors.chroma import create_index, open_index
    from kb.vectors.search import is_current

    try:
        index = open_index(place)
        with catalog.reading() as reader:
            if is_current(index, reader):
                return index
        index.close()
    except IndexDamaged as error:
        _LOG.info("%s", error.message)
    epoch = uuid.uuid4().hex
    index = create_index(place, epoch)
    with catalog.writing(tr("lock.vectors")) as writer:
        writer.start_chroma(epoch)
    return index


def _delete_removed(catalog: Catalog, index: ChromaIndex) -> None:
    while True:
        with catalog.reading() as reader:
            ids = reader.removed(_CHROMA_BATCH)
        if not ids:
            return
        index.delete(ids)
        with catalog.writing(tr("lock.vectors")) as writer:
            writer.forget_removed(ids)


def _write_unsynced(catalog: Catalog, index: ChromaIndex, on_progress: OnProgress) -> None:
    from kb.vectors.chroma import Locator
    from kb.vectors.exact import decode

    with catalog.reading() as reader:
        done, total = 0, reader.unsynced_count()
    while True:
        with catalog.reading() as reader:
            rows = reader.unsynced(_CHROMA_BATCH)
            model = reader.model
            blocks = reader.blocks([row[0] for row in rows])
            documents = reader.documents({b.document_id for b in blocks.values()})
        if not rows or model is None:
            return
        ids = [row[0] for row in rows]
        places = [
            Locator(documents[b.document_id].source, b.page, b.line_start, b.line_end)
            for b in (blocks[id_] for id_ in ids)
        ]
        index.upsert(ids, decode([row[1] for row in rows], model.dimension), places)
        with catalog.writing(tr("lock.vectors")) as writer:
            writer.mark_synced(ids)
        done += len(ids)
        on_progress(Progress("index", done, max(total, done)))
