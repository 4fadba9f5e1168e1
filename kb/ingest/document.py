"""A document's way into the index."""

from __future__ import annotations

import time
import unicodedata
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from kb.catalog import NewVersion
from kb.errors import Busy, KbError, Refused
from kb.failpoints import reached
from kb.messages import tr
from kb.model import IngestReport, Parsed
from kb.text.headings import mark_headings
from kb.text.names import clean_source
from kb.text.noise import mark_noise

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from kb.catalog import Catalog, Reader, Writer
    from kb.model import Document, Origin, State
    from kb.objects.fetch import Copy
    from kb.ports import DocumentParser, OnProgress


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document that was read and parsed, and not yet written.

    `new` is None when it is the `current` version already. `taken_from` is the source whose pages
    were taken over, since its bytes are the same.
    """

    source: str
    origin: Origin
    current: Document | None
    new: NewVersion | None
    taken_from: str = ""


def ingest(
    catalog: Catalog,
    parser: DocumentParser,
    copying: AbstractContextManager[Copy],
    source: str,
    *,
    dry_run: bool = False,
    on_progress: OnProgress | None = None,
) -> IngestReport:
    """Make the bytes of `copying` the current version of `source`, its keywords ready on return.

    The same bytes read by the same parser are `unchanged` and not parsed. `on_progress` is told of
    the pages that are parsed and read by OCR. Raises a KbError when the document is refused or
    breaks the parser; the version before it then stays as it was.
    """
    started = time.monotonic()
    prepared = prepare(catalog, parser, copying, source, on_progress)
    if dry_run:
        return _would(prepared, started)
    with catalog.writing(tr("lock.ingest", source=prepared.source)) as writer:
        return commit(writer, prepared, started)


def prepare(
    catalog: Catalog,
    parser: DocumentParser,
    copying: AbstractContextManager[Copy],
    source: str,
    on_progress: OnProgress | None = None,
) -> Prepared:
    """Read and parse, in any thread; what `commit` then writes. Raises like `ingest`."""
    source = clean_source(source)
    with catalog.reading() as reader:
        current = reader.document(source)
    try:
        with copying as copy:
            return _read(catalog, parser, copy, source, current, on_progress)
    except KbError as error:
        raise _kept(error, current) from error


def commit(writer: Writer, prepared: Prepared, started: float) -> IngestReport:
    """Write what was prepared, in one transaction. `started` is when, on the monotonic clock."""
    new, current = prepared.new, prepared.current
    if new is not None:
        document = writer.replace(new)
        mine = document.ingested_at == new.ingested_at
        return _report(document, "ingested" if mine else "unchanged", started)
    now = writer.document(prepared.source)
    if now is None or current is None or now.id != current.id:
        raise Busy(tr("ingest.overtaken", source=prepared.source), tr("ingest.overtaken.hint"))
    if prepared.origin != now.from_where:
        writer.note_origin(now, prepared.origin)
    return _report(now, "unchanged", started)


def _read(
    catalog: Catalog,
    parser: DocumentParser,
    copy: Copy,
    source: str,
    current: Document | None,
    on_progress: OnProgress | None,
) -> Prepared:
    same_reading = current and parser.is_current(current.parser, source)
    if current and same_reading and current.sha256 == copy.sha256:
        return Prepared(source, copy.origin, current, None)
    with catalog.reading() as reader:
        twin = _twin(reader, parser, copy, source)
        if twin:
            new = _new_version(source, copy, _as_read(reader, twin), same_as=twin.id)
            return Prepared(source, copy.origin, current, new, twin.source)
    reached("parse.before")
    parsed = parser.parse(copy.path, source, on_progress)
    reached("parse.after")
    if not any(page.text.strip() for page in parsed.pages):
        raise Refused(tr("ingest.no_text", source=source), tr("ingest.no_text.hint"))
    marked = replace(parsed, pages=mark_headings(mark_noise(parsed.pages)))
    return Prepared(source, copy.origin, current, _new_version(source, copy, marked))


def _twin(reader: Reader, parser: DocumentParser, copy: Copy, source: str) -> Document | None:
    """Another document of the same bytes, read as `source` would be."""
    return next(
        (
            twin
            for twin in reader.same_bytes(copy.sha256)
            if twin.source != source and parser.is_current(twin.parser, source)
        ),
        None,
    )


def _as_read(reader: Reader, document: Document) -> Parsed:
    """What the parser once made of a document."""
    return Parsed(
        tuple(reader.pages(document.id)),
        document.parser,
        document.media_type,
        document.encoding,
        document.warnings,
    )


def _new_version(source: str, copy: Copy, parsed: Parsed, same_as: int = 0) -> NewVersion:
    return NewVersion(
        source=source,
        sha256=copy.sha256,
        size=copy.size,
        media_type=parsed.media_type,
        title=title_of(source),
        parser=parsed.parser,
        encoding=parsed.encoding,
        origin=copy.origin,
        warnings=parsed.warnings,
        pages=parsed.pages,
        ingested_at=_now(),
        same_as=same_as,
    )


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


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


def _would(prepared: Prepared, started: float) -> IngestReport:
    """What a dry run reports: the version and blocks that an ingest would make."""
    from kb.text.blocks import cut_blocks

    new, current = prepared.new, prepared.current
    if new is None:
        assert current is not None  # noqa: S101 - what is unchanged is there
        return _report(current, "unchanged", started)
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
