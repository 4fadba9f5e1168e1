"""PDF through MuPDF: physical pages, and what could not be read of them.

MuPDF is silent where it matters (a cut file, a broken stream, a font without characters): this is
where it is asked.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from kb.errors import Refused
from kb.messages import tr
from kb.model import Drawing, Element, Page, Parsed
from kb.parsers import refusals
from kb.parsers.layout.lines import Line
from kb.parsers.layout.mupdf import UNMAPPED, mupdf
from kb.parsers.layout.table_headers import carry_over, header_lines
from kb.parsers.layout.tables import Table
from kb.parsers.pdf.page import read_lines
from kb.parsers.refusals import damaged
from kb.parsers.registry import ParserSpec
from kb.parsers.scans import ocr
from kb.parsers.scans.ocr import Scans
from kb.parsers.session import tell

_MOST_UNMAPPED: Final = 0.1
_SKIPPED: Final = re.compile(r"\berror\b|cannot load content")
"""What MuPDF says, and to nobody else, when it leaves out a part of a page it cannot read."""
_TOLD_EVERY: Final = 25
_TAIL: Final = 2048


@dataclass(slots=True)
class _Report:
    """What went wrong, by page, and the grids of its tables by their first line."""

    failed: list[int] = field(default_factory=list)
    damaged: list[int] = field(default_factory=list)
    garbled: list[int] = field(default_factory=list)
    grids: dict[int, dict[int, Table]] = field(default_factory=dict)


def parse(path: Path, name: str) -> Parsed:
    """Physical pages with a box for every line.

    Raises Refused: needs a password, cannot be opened, has no pages, or holds no text at all.
    """
    tools = mupdf().TOOLS
    tools.mupdf_display_errors(False)
    tools.mupdf_display_warnings(False)
    report = _Report()
    with _opened(path, name) as doc:
        pages = list(carry_over(_pages(doc, report), report.grids))
        repaired = bool(doc.is_repaired)
        pages, scans = read_scans(doc, pages, report.garbled, report.failed)
    if not any(page.text.strip() for page in pages):
        raise _textless(name, len(pages), report, scans)
    warnings = _warnings(pages, report, scans)
    if repaired:
        cut = b"%%EOF" not in _tail(path)
        key = "parse.warn_cut" if cut else "parse.warn_repaired"
        warnings.insert(0, tr(key, pages=len(pages)))
    return Parsed(tuple(pages), SPEC.id, SPEC.media_type, warnings=tuple(warnings))


def draw(path: Path, name: str, page: int) -> Drawing | None:
    """One page, counted from 1, as it is seen. Raises Refused like `parse`."""
    with _opened(path, name) as doc:
        return draw_page(doc, page - 1)


@contextlib.contextmanager
def _opened(path: Path, name: str) -> Iterator[Any]:
    try:
        doc = mupdf().open(path, filetype="pdf")
    except Exception as error:  # MuPDF's own errors share no class but this
        _raise_if_out_of_memory(error)
        raise damaged(name, tr("parse.reason_open")) from error
    with doc:
        if doc.needs_pass:
            raise Refused(tr("parse.encrypted", name=name), tr("parse.encrypted_hint"))
        if not doc.is_pdf or doc.page_count == 0:
            raise Refused(tr("parse.no_pages", name=name), tr("parse.resave_hint"))
        yield doc


def _raise_if_out_of_memory(error: Exception) -> None:
    """MuPDF reports it as one of its errors, by the name of the C function."""
    if isinstance(error, MemoryError) or "malloc" in str(error):
        raise MemoryError from error


def _textless(name: str, pages: int, report: _Report, scans: Scans) -> Refused:
    if report.failed or report.damaged:
        return damaged(name, tr("parse.reason_open"))
    return Refused(*scans.refusal(name, pages))


def _pages(doc: Any, report: _Report) -> Iterator[Page]:
    """Every page as MuPDF's text has it, telling the caller now and then how far we are."""
    for index in range(doc.page_count):
        if index % _TOLD_EVERY == 0:
            tell("parse", index, doc.page_count)
        yield _page(doc, index, report)


def _page(doc: Any, index: int, report: _Report) -> Page:
    number = index + 1
    tools = mupdf().TOOLS
    tools.reset_mupdf_warnings()
    try:
        page = doc[index]
        lines, seen, tables = read_lines(page)
    except Exception as error:  # MuPDF's own errors share no class but this
        _raise_if_out_of_memory(error)
        report.failed.append(number)
        return Page(number=number, text="", kind="physical")
    if _SKIPPED.search(tools.mupdf_warnings()):
        report.damaged.append(number)
    text = "\n".join(line.text for line in lines)
    if _is_garbled(text):
        report.garbled.append(number)
    return Page(
        number=number,
        text=text,
        kind="physical",
        label=page.get_label(),
        width=round(page.rect.width, 2),
        height=round(page.rect.height, 2),
        elements=_elements(lines, tables, report.grids.setdefault(number, {})),
        boxes=tuple(seen(line.box) for line in lines),
    )


def _elements(
    lines: list[Line], tables: list[Table], grids: dict[int, Table]
) -> tuple[Element, ...]:
    """A table element for every run of lines of one ruled table; notes the grid of each."""
    result: list[Element] = []
    start = 0
    for at, line in enumerate(lines, start=1):
        start = start or at
        if at == len(lines) or lines[at].row != line.row:
            if line.row:
                grids[start] = tables[line.row - 1]
                result.append(Element("table", start, at, header_lines(grids[start], at - start)))
            start = 0
    return tuple(result)


def _is_garbled(text: str) -> bool:
    bare = "".join(text.split())
    return len(UNMAPPED.findall(bare)) > _MOST_UNMAPPED * max(len(bare), 1)


def _warnings(pages: list[Page], report: _Report, scans: Scans) -> list[str]:
    told = {*report.failed, *scans.empty, *scans.failed, *scans.unread, *scans.beyond}
    found = (
        ("parse.warn_page_failed", report.failed),
        ("parse.warn_page_damaged", report.damaged),
        (
            "ocr.warn_blank",
            [p.number for p in pages if not p.text.strip() and p.number not in told],
        ),
        ("parse.warn_garbled", [n for n in report.garbled if n not in scans.pages]),
    )
    own = [tr(key, pages=refusals.listed(numbers)) for key, numbers in found if numbers]
    return own + scans.warnings()


def _tail(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        return file.read()


SPEC: Final = ParserSpec(
    name="pdf",
    revision=2,
    suffixes=(".pdf",),
    media_type="application/pdf",
    magic="pdf",
    parse=parse,
    preload=("pymupdf",),
    can_ocr=True,
    draw=draw,
)


def read_scans(
    doc: Any, pages: Sequence[Page], garbled: Collection[int], unread: Collection[int]
) -> tuple[list[Page], Scans]:
    """The pages with text from OCR where it was needed and found some, and what became of it.

    `garbled` pages keep their own text when OCR finds none; `unread` ones could not be opened.
    """
    needed = [
        page.number
        for page in pages
        if page.number not in unread and _needs_ocr(doc, page, garbled)
    ]
    scans = ocr.read_pages({n: partial(draw_page, doc, n - 1) for n in needed})
    return [_with_scan(page, scans) for page in pages], scans


def _needs_ocr(doc: Any, page: Page, garbled: Collection[int]) -> bool:
    if ocr.is_forced() or page.number in garbled:
        return True
    return not page.text.strip() and bool(doc[page.number - 1].get_bboxlog())


def draw_page(doc: Any, index: int) -> Drawing | None:
    """The page as it is seen; None when it is of one colour."""
    page = doc[index]
    pymupdf = mupdf()
    scale = ocr.scale_for(page.rect.width, page.rect.height)
    zoom = pymupdf.Matrix(scale, scale)
    pixmap = page.get_pixmap(matrix=zoom, colorspace=pymupdf.csRGB, alpha=False)
    if pixmap.is_unicolor:
        return None
    return Drawing(pixmap.samples, pixmap.width, pixmap.height, scale)


def _with_scan(page: Page, scans: Scans) -> Page:
    scan = scans.pages.get(page.number)
    if scan is None:
        return page
    return replace(page, text=scan.text, boxes=scan.boxes, elements=(), ocr=True)
