"""A document's way into the index, and the one function that brings derived state up to date."""

from __future__ import annotations

import logging
import time
import unicodedata
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final

from kb.catalog import NewVersion
from kb.errors import KbError, Refused
from kb.failpoints import reached
from kb.messages import tr
from kb.noise import mark_noise
from kb.objects.folder import copied
from kb.outline import mark_headings
from kb.scope import clean_source
from kb.types import IngestReport

if TYPE_CHECKING:
    from pathlib import Path

    from kb.catalog import Catalog
    from kb.objects.folder import Copy
    from kb.ports import DocumentParser, OnProgress
    from kb.types import Document, Parsed, State

_LOG: Final = logging.getLogger(__name__)


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
            reached("parse.before")
            parsed = parser.parse(copy.path, source, on_progress)
            reached("parse.after")
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
