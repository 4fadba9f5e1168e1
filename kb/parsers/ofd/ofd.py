"""OFD (GB/T 33190), the Chinese fixed-layout format of invoices, permits and official papers.

An own reader on lxml: positions are needed (boxes, rows, columns), and every count in the file has
to be bounded, which the libraries at hand do not promise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from kb.errors import Refused
from kb.messages import tr
from kb.model import Drawing, Element, Page, Parsed
from kb.parsers.layout.lines import Line
from kb.parsers.layout.mupdf import UNMAPPED
from kb.parsers.ofd.content import Image
from kb.parsers.ofd.document import Document, Found, Note, PageContent, documents
from kb.parsers.ofd.draw import draw_page
from kb.parsers.ofd.geometry import POINTS
from kb.parsers.ofd.lines import lay_out
from kb.parsers.ofd.package import Package
from kb.parsers.ofd.text_object import Run
from kb.parsers.registry import ParserSpec
from kb.parsers.scans import ocr
from kb.parsers.scans.ocr import Scans
from kb.text.lines import split_lines

_NAMED: Final = 20
_MOST_UNMAPPED: Final = 0.1


@dataclass(slots=True)
class _Report:
    """Page numbers by what became of them; `glyphs` without a character and `hidden` characters."""

    failed: list[int] = field(default_factory=list)
    damaged: list[int] = field(default_factory=list)
    nameless: list[int] = field(default_factory=list)
    drawn: dict[int, Callable[[], Drawing | None]] = field(default_factory=dict)
    glyphs: int = 0
    hidden: int = 0


def parse(path: Path, name: str) -> Parsed:
    """Physical pages of all documents in the file, in declared order, with a box for every line.

    Pages whose text is pictures or drawings, or says nothing, are read by OCR. Raises Refused:
    damaged, no pages, or no text at all.
    """
    found, report = Found(), _Report()
    pages: list[Page] = []
    spans: list[str] = []
    with Package(path, name) as package:
        for document in documents(package, found):
            first = len(pages) + 1
            for number, content in enumerate(document.pages(), first):
                pages.append(_page(number, content, report))
                if _needs_ocr(pages[-1], content):
                    report.drawn[number] = partial(_draw, document, number - first)
            spans.append(_span(document, first, len(pages)))
        scans = ocr.read_pages(report.drawn)
    pages = [_with_scan(page, scans) for page in pages]
    if not any(page.text.strip() for page in pages):
        raise _textless(name, len(pages), scans)
    told = (*_page_warnings(pages, report, scans), *scans.warnings(), *_found_warnings(found))
    return Parsed(tuple(pages), SPEC.id, SPEC.media_type, warnings=(*_documents(spans), *told))


def draw(path: Path, name: str, page: int) -> Drawing | None:
    """One page, counted from 1 over all documents, as far as `draw_page` draws it."""
    with Package(path, name) as package:
        left = page
        for document in documents(package, Found()):
            count = sum(1 for _page in document.pages())
            if left <= count:
                return _draw(document, left - 1)
            left -= count
    return None


def _draw(document: Document, index: int) -> Drawing | None:
    return draw_page(document.page(index), document.data)


def _needs_ocr(page: Page, content: PageContent) -> bool:
    """Whether a page shows something, but its text says nothing, or is to be read again."""
    shows = bool(content.content.drawn or content.content.runs)
    return shows and (ocr.is_forced() or _first_note(page) == 1 or _is_garbled(page.text))


def _with_scan(page: Page, scans: Scans) -> Page:
    """The page with what OCR read on it in place of its own text; its annotations stay."""
    scan = scans.pages.get(page.number)
    if scan is None:
        return page
    kept = _first_note(page) - 1
    notes = split_lines(page.text)[kept:] if page.text else []
    shift = scan.text.count("\n") + 1 - kept
    return replace(
        page,
        text="\n".join([scan.text, *notes]),
        boxes=(*scan.boxes, *page.boxes[kept:]),
        elements=tuple(
            replace(e, line_start=e.line_start + shift, line_end=e.line_end + shift)
            for e in page.elements
            if e.kind == "note"
        ),
        noise=tuple(line + shift for line in page.noise if line > kept),
        ocr=True,
    )


def _first_note(page: Page) -> int:
    """The line where annotations begin; 1 when there is nothing else."""
    notes = (element.line_start for element in page.elements if element.kind == "note")
    return next(notes, len(split_lines(page.text)) + 1 if page.text else 1)


def _page(number: int, content: PageContent, report: _Report) -> Page:
    if content.failed:
        report.failed.append(number)
    if content.content.cut:
        report.damaged.append(number)
    if content.content.nameless:
        report.nameless.append(number)
        report.glyphs += content.content.nameless
    body = _lines(content, report)
    notes = [(line, note.watermark) for note in content.notes for line in _note_lines(note)]
    lines = [*body, *(line for line, _ in notes)]
    first = len(body) + 1
    elements = [*_tables(body), *([Element("note", first, len(lines))] if notes else [])]
    return Page(
        number=number,
        text="\n".join(line.text for line in lines),
        kind="physical",
        width=round(content.width * POINTS, 2),
        height=round(content.height * POINTS, 2),
        elements=tuple(elements),
        boxes=tuple(line.box for line in lines),
        noise=tuple(at for at, (_, watermark) in enumerate(notes, first) if watermark),
    )


def _lines(page: PageContent, report: _Report) -> list[Line]:
    """The lines that can be seen on the page.

    Text that cannot be seen is left out and counted, unless it is all the text of a picture: the
    text layer of a scan.
    """
    content = page.content
    runs = _on_page(content.runs, page)
    hidden = _on_page(content.hidden, page)
    if not any(run.text.strip() for run in runs) and _has_picture(page):
        return lay_out(hidden, content.strokes)
    report.hidden += sum(len(run.text.strip()) for run in hidden)
    return lay_out(runs, content.strokes)


def _has_picture(page: PageContent) -> bool:
    return any(isinstance(item, Image) for item in page.content.drawn)


def _on_page(runs: Sequence[Run], page: PageContent) -> list[Run]:
    """Without what lies beside the page."""
    kept = []
    for run in runs:
        x0, y0, x1, y1 = zip(*(glyph.box for glyph in run.glyphs), strict=True)
        beside = min(x0) >= page.width or min(y0) >= page.height or max(x1) <= 0 or max(y1) <= 0
        if not beside:
            kept.append(run)
    return kept


def _note_lines(note: Note) -> Iterator[Line]:
    """What an annotation says, each line once."""
    lines = lay_out(note.content.runs, [])
    box = lines[0].box if lines else (0.0, 0.0, 0.0, 0.0)
    remarks = [Line(text.strip(), box) for text in note.remark.split("\n") if text.strip()]
    seen: set[str] = set()
    for line in (*lines, *remarks):
        if line.text not in seen:
            seen.add(line.text)
            yield replace(line, row=0)


def _tables(lines: Sequence[Line]) -> Iterator[Element]:
    """A table element for every run of lines of one ruled table."""
    start = 0
    for at, line in enumerate(lines, start=1):
        start = start or at
        if at == len(lines) or lines[at].row != line.row:
            if line.row:
                yield Element("table", start, at)
            start = 0


# What is said about it


def _textless(name: str, pages: int, scans: Scans) -> Refused:
    if not pages:
        return Refused(tr("parse.no_pages", name=name), tr("parse.resave_hint"))
    return Refused(*scans.refusal(name, pages))


def _span(document: Document, first: int, last: int) -> str:
    return tr("ofd.span", title=document.title[:100], first=first, last=last)


def _documents(spans: Sequence[str]) -> Iterator[str]:
    if len(spans) > 1:
        yield tr("ofd.warn_documents", count=len(spans), spans=_listed(spans))


def _page_warnings(pages: Sequence[Page], report: _Report, scans: Scans) -> Iterator[str]:
    told = {*report.failed, *scans.empty, *scans.failed, *scans.unread, *scans.beyond}
    found = (
        ("parse.warn_page_failed", report.failed),
        ("parse.warn_page_damaged", report.damaged),
        ("ocr.warn_blank", [p.number for p in pages if not p.text and p.number not in told]),
        ("parse.warn_garbled", [p.number for p in pages if not p.ocr and _is_garbled(p.text)]),
    )
    yield from (tr(key, pages=_listed(numbers)) for key, numbers in found if numbers)
    if report.nameless:
        yield tr("ofd.warn_glyphs", pages=_listed(report.nameless), count=report.glyphs)
    if report.hidden:
        yield tr("parse.warn_hidden", count=report.hidden)


def _found_warnings(found: Found) -> Iterator[str]:
    missing = list(dict.fromkeys(found.missing))
    yield from (tr("parse.warn_part", part=part) for part in missing[:_NAMED])
    if found.attachments:
        yield tr("ofd.warn_attachments", names=_listed(found.attachments))
    if found.signatures:
        yield tr("ofd.warn_signatures", count=found.signatures)


def _is_garbled(text: str) -> bool:
    """Whether too many of the letters are none; leader dots and the like do not count."""
    unmapped = len(UNMAPPED.findall(text))
    return unmapped > _MOST_UNMAPPED * (unmapped + sum(map(str.isalnum, text)))


def _listed(items: Sequence[object]) -> str:
    named = "、".join(map(str, items[:_NAMED]))
    if len(items) > _NAMED:
        return tr("ofd.and_more", names=named, count=len(items))
    return named


SPEC: Final = ParserSpec(
    name="ofd",
    revision=1,
    suffixes=(".ofd",),
    media_type="application/ofd",
    magic="zip",
    zip_kind="ofd",
    parse=parse,
    preload=("lxml.etree", "pymupdf"),
    can_ocr=True,
    draw=draw,
)
