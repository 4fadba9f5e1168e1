"""The pages of a PDF that OCR must read: those without text, or whose text says nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from kb.model import Page
from kb.parsers.pdf.page import mupdf
from kb.parsers.scans import ocr
from kb.parsers.scans.ocr import Picture, Scans


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


def draw_page(doc: Any, index: int) -> Picture | None:
    """The page as it is seen; None when it is of one colour."""
    page = doc[index]
    pymupdf = mupdf()
    scale = ocr.scale_for(page.rect.width, page.rect.height)
    zoom = pymupdf.Matrix(scale, scale)
    pixmap = page.get_pixmap(matrix=zoom, colorspace=pymupdf.csRGB, alpha=False)
    if pixmap.is_unicolor:
        return None
    return Picture(pixmap.samples, pixmap.width, pixmap.height, scale)


def _with_scan(page: Page, scans: Scans) -> Page:
    scan = scans.pages.get(page.number)
    if scan is None:
        return page
    return replace(page, text=scan.text, boxes=scan.boxes, elements=(), ocr=True)
