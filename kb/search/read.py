"""The exact lines of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kb.errors import InvalidInput, NotFound
from kb.messages import tr
from kb.model import Line, Passage
from kb.search.hits import LINE_OVERHEAD
from kb.search.scope import find_document
from kb.text.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kb.catalog import Reader
    from kb.model import Document, Page


MAX_CONTEXT: Final = 50


def read_range(
    reader: Reader,
    source: str,
    page: int,
    line_start: int = 1,
    line_end: int = -1,
    context: int = 0,
    *,
    max_chars: int,
) -> Passage:
    """Lines `line_start` to `line_end` (inclusive, -1: the last) of a page, 1-based.

    `context` adds lines on both sides. The answer stays within `max_chars`, cut on a whole line
    but never empty; `next` continues it. Raises NotFound and InvalidInput, naming what is valid.
    """
    document = find_document(reader, source)
    stored = _page(reader, document, page)
    lines = split_lines(stored.text)
    _check_range(document, page, len(lines), line_start, line_end, context)
    last = len(lines) if line_end == -1 else min(line_end, len(lines))
    first, last = max(1, line_start - context), min(len(lines), last + context)
    shown = fitting(lines[first - 1 : last], max_chars)
    end = first + shown - 1
    rest: dict[str, str | int] = {
        "source": document.source,
        "page": page,
        "line_start": end + 1,
        "line_end": last,
    }
    return Passage(
        source=document.source,
        version=document.version,
        page=page,
        pages=document.pages,
        page_lines=len(lines),
        page_kind=stored.kind,
        page_label=stored.label,
        line_start=first,
        line_end=end,
        lines=tuple(Line(n, lines[n - 1]) for n in range(first, end + 1)),
        truncated=end < last,
        next=rest if end < last else {},
        notice=_passage_notice(stored, len(lines), line_end),
        ocr=stored.ocr,
    )


def fitting(lines: Sequence[str], max_chars: int) -> int:
    """How many of `lines` fit into `max_chars` as numbered lines; at least one."""
    left = max_chars
    for count, line in enumerate(lines):
        left -= len(line) + LINE_OVERHEAD
        if left < 0:
            return max(1, count)
    return len(lines)


def _page(reader: Reader, document: Document, number: int) -> Page:
    page = reader.page(document.id, number) if 1 <= number <= document.pages else None
    if page is None:
        raise NotFound(
            tr("read.page", source=document.source, page=number, pages=document.pages),
            tr("read.page.hint", source=document.source, pages=document.pages),
        )
    return page


def _check_range(
    document: Document, page: int, count: int, start: int, end: int, context: int
) -> None:
    where = {"source": document.source, "page": page, "count": count, "start": start, "end": end}
    hint = tr("read.lines.hint", **where)
    if not 1 <= start <= count:
        raise InvalidInput(tr("read.line_start", **where), hint)
    if end != -1 and end < start:
        raise InvalidInput(tr("read.line_end", **where), hint)
    if not 0 <= context <= MAX_CONTEXT:
        raise InvalidInput(tr("read.context", context=context, limit=MAX_CONTEXT), hint)


def _passage_notice(page: Page, count: int, line_end: int) -> str:
    if not page.text.strip():
        return tr("read.no_text")
    if line_end > count:
        return tr("read.clipped", end=line_end, count=count)
    return ""
