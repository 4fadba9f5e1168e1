"""The one function that brings derived state up to date: vectors, then Chroma."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from kb.errors import EmbeddingFailed, IndexDamaged
from kb.lock import hold
from kb.messages import tr
from kb.model import Progress
from kb.ports import MAX_CHARS
from kb.vectors.chroma_sync import sync_chroma

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from kb.catalog import Catalog, Model, Pending
    from kb.ports import Embedder, OnProgress
    from kb.vectors.chroma import ChromaPlace

_WINDOW: Final = 256
"""Blocks that are sorted by length together. Of what a slow ONNX model computes, whose batches hold
four blocks, 6 to 13 % was padding when each was sorted alone; of 256 sorted together 1 % is, which
saved 3 to 5 % of the CPU."""

_FIRST_CHARS: Final = 2_000
_BATCH_SECONDS: Final = 4.0
"""A kill loses at most about this much embedding."""


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
    Failures of the embedder, of Chroma or of the disk are told in the notice: keywords go on.
    """
    with catalog.reading() as reader:
        if not reader.block_count() and not reader.meta("chroma_epoch"):
            return VectorState(0, 0, 0)
    notices = []
    try:
        with hold(lock, tr("lock.vectors"), -1, lambda _owner: _tell_pending(catalog, on_progress)):
            notices.append(_embed(catalog, embedder, on_progress, change_model=change_model))
            sync_chroma(catalog, place, on_progress, check=check_chroma)
    except IndexDamaged as error:
        notices.append(error.message)
    return vector_state(catalog, "\n".join(filter(None, notices)))


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
    done, after, chars = 0, 0, _FIRST_CHARS
    while window := _next_window(catalog, after):
        after = max(pending.block_id for pending in window)
        blocks = Counter(pending.text_hash for pending in window)
        texts = _longest_first(window)
        while texts:
            started = time.monotonic()
            batch = _first_batch(texts, chars)
            _embed_batch(catalog, embedder, model, batch)
            texts = texts[len(batch) :]
            done += sum(blocks[pending.text_hash] for pending in batch)
            on_progress(Progress("embed", done, max(total, done)))
            chars = _next_chars(sum(map(_length, batch)), time.monotonic() - started)


def _next_window(catalog: Catalog, after: int) -> list[Pending]:
    with catalog.reading() as reader:
        return reader.pending(after, _WINDOW)


def _longest_first(window: Iterable[Pending]) -> list[Pending]:
    """One block of each text, longest first: batches are then of like length.

    It also leaves the short ones for the end, when some threads have nothing more to do.
    """
    texts = {pending.text_hash: pending for pending in window}
    return sorted(texts.values(), key=_length, reverse=True)


def _first_batch(texts: Sequence[Pending], chars: int) -> Sequence[Pending]:
    """As many of `texts` as have `chars` characters together, at least one."""
    ends = accumulate(_length(pending) for pending in texts)
    return texts[: max(1, sum(end <= chars for end in ends))]


def _length(pending: Pending) -> int:
    """Characters that an embedder looks at."""
    return min(len(pending.text), MAX_CHARS)


def _embed_batch(
    catalog: Catalog, embedder: Embedder, model: Model, batch: Sequence[Pending]
) -> None:
    from kb.vectors.exact import encode

    vectors = encode(embedder.embed_passages([pending.text for pending in batch]))
    keys = [pending.text_hash for pending in batch]
    with catalog.writing(tr("lock.vectors")) as writer:
        writer.store_vectors(model, dict(zip(keys, vectors, strict=True)))


def _next_chars(done: int, seconds: float) -> int:
    """So many characters that a batch takes about `_BATCH_SECONDS`, growing at most fourfold."""
    return max(1, min(int(done * _BATCH_SECONDS / max(seconds, 1e-3)), done * 4))
