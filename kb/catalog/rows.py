"""Rows of the catalogue ↔ the words of the product."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import zstandard

from kb.model import Block, Document, Element, Failure, ObjectRef, Page

if TYPE_CHECKING:
    import sqlite3

DOCUMENT_COLUMNS: Final = (
    "id, source, version, sha256, media_type, title, parser, pages, blocks, status, origin,"
    " valid_from, valid_until, ingested_at, encoding, warnings, size, store, object_key, etag,"
    " object_version, modified"
)
FAILURE_COLUMNS: Final = (
    "store, object_key, size, etag, object_version, modified, source, kind, message, hint,"
    " attempts, failed_at, retry_at"
)
PAGE_COLUMNS: Final = "id, kind, label, width, height, marks, text"
BLOCK_COLUMNS: Final = "id, document_id, page, line_start, line_end, heading_path, table_header"

_MAX_PAGE: Final = (1 << 24) - 1


@dataclass(frozen=True, slots=True)
class Model:
    """The embedding model whose vectors the index holds."""

    id: int
    fingerprint: str
    name: str
    dimension: int


@dataclass(frozen=True, slots=True)
class Pending:
    """A block without a vector, and the text to embed for it."""

    block_id: int
    text_hash: bytes
    text: str


def page_id(document_id: int, number: int) -> int:
    """The row of a page; raises ValueError beyond 16,777,215 pages."""
    if not 0 < number <= _MAX_PAGE:
        raise ValueError(number)
    return document_id << 24 | number


def to_document(row: sqlite3.Row | tuple[Any, ...], project: str) -> Document:
    """A row of DOCUMENT_COLUMNS."""
    id_, source, version, sha256, media_type, title, parser, pages, blocks, *rest = row
    status, origin, valid_from, valid_until, ingested_at, encoding, warnings, *object_ = rest
    size, store, object_key, etag, object_version, modified = object_
    return Document(
        id=id_,
        project=project,
        source=source,
        version=version,
        sha256=sha256,
        media_type=media_type,
        title=title,
        parser=parser,
        pages=pages,
        blocks=blocks,
        status=status,
        origin=origin,
        valid_from=valid_from,
        valid_until=valid_until,
        ingested_at=ingested_at,
        encoding=encoding,
        warnings=tuple(json.loads(warnings)),
        size=size,
        store=store,
        object_key=object_key,
        etag=etag,
        object_version=object_version,
        modified=modified,
    )


def to_failure(row: tuple[Any, ...]) -> Failure:
    """A row of FAILURE_COLUMNS."""
    store, key, size, etag, version, modified, *rest = row
    return Failure(store, ObjectRef(key, size, etag, version, modified), *rest)


def from_failure(failure: Failure) -> tuple[Any, ...]:
    """The row of a failure, in the order of FAILURE_COLUMNS."""
    ref = failure.ref
    return (
        failure.store,
        ref.key,
        ref.size,
        ref.etag,
        ref.version,
        ref.last_modified,
        failure.source,
        failure.kind,
        failure.message,
        failure.hint,
        failure.attempts,
        failure.failed_at,
        failure.retry_at,
    )


def to_page(row: tuple[Any, ...]) -> Page:
    """A row of PAGE_COLUMNS."""
    id_, kind, label, width, height, marks, text = row
    noise, elements, *ocr = json.loads(marks) if marks else ((), ())
    return Page(
        number=id_ & _MAX_PAGE,
        text=to_text(text),
        kind=kind,
        label=label,
        width=width,
        height=height,
        elements=tuple(Element(*element) for element in elements),
        noise=tuple(noise),
        ocr=bool(ocr),
    )


def to_text(packed: bytes) -> str:
    """The text of a page as it is stored."""
    return zstandard.ZstdDecompressor().decompress(packed).decode("utf-8")


def from_page(document_id: int, page: Page, lines: int) -> tuple[Any, ...]:
    """The row of a page: id, document_id, kind, label, width, height, lines, marks, text."""
    elements = [[e.kind, e.line_start, e.line_end, e.level] for e in page.elements]
    # A third member is there where the text came from OCR, and nowhere else.
    marks = [page.noise, elements, *([1] if page.ocr else [])]
    return (
        page_id(document_id, page.number),
        document_id,
        page.kind,
        page.label,
        page.width,
        page.height,
        lines,
        json.dumps(marks) if any(marks) else "",
        zstandard.ZstdCompressor(level=3).compress(page.text.encode("utf-8")),
    )


def to_block(row: tuple[Any, ...]) -> Block:
    """A row of BLOCK_COLUMNS."""
    id_, document_id, page, line_start, line_end, heading_path, table_header = row
    path = tuple(json.loads(heading_path)) if heading_path else ()
    return Block(id_, document_id, page, line_start, line_end, path, table_header)


def dump_path(path: tuple[str, ...]) -> str:
    """A heading path as its column holds it."""
    return json.dumps(path, ensure_ascii=False) if path else ""
