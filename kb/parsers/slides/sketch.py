"""A slide as a sketch: its lines where their shapes stand, not as a presenter would show them."""

from __future__ import annotations

from typing import Any, Final

from kb.model import Box, Drawing, Page
from kb.parsers.layout.mupdf import mupdf
from kb.parsers.scans import ocr
from kb.text.lines import split_lines

_FINEST: Final = 2.0
_SIZES: Final = (28, 24, 20, 17, 14, 12, 10, 8, 6, 5)
"""Of letters, in points: the first that leaves room for a whole line, broken into rows."""
_LEADING: Final = 1.25
_MOST_LETTERS: Final = 2_000
_WIDEST: Final = 4_000.0
_PAPER: Final = (0.97, 0.97, 0.97)


def draw_slide(page: Page) -> Drawing:
    """The page's lines in their boxes, on a slide with an edge; notes stand below it."""
    pymupdf = mupdf()
    width, height = (min(max(side, 72.0), _WIDEST) for side in (page.width, page.height))
    scale = ocr.scale_for(width, height, _FINEST)
    font = pymupdf.Font("cjk")
    with pymupdf.open() as doc:
        sheet = doc.new_page(width=width, height=height)
        shape = sheet.new_shape()
        for box in page.boxes:
            shape.draw_rect(pymupdf.Rect(box))
        shape.finish(color=None, fill=_PAPER)
        shape.draw_rect(sheet.rect)
        shape.finish(color=(0.6, 0.6, 0.6))
        shape.commit()
        writer = pymupdf.TextWriter(sheet.rect)
        for text, box in zip(split_lines(page.text), page.boxes, strict=False):
            _write(writer, font, text[:_MOST_LETTERS], box)
        writer.write_text(sheet)
        zoom = pymupdf.Matrix(scale, scale)
        pixmap = sheet.get_pixmap(matrix=zoom, colorspace=pymupdf.csRGB, alpha=False)
    return Drawing(pixmap.samples, pixmap.width, pixmap.height, scale)


def _write(writer: Any, font: Any, text: str, box: Box) -> None:
    """A line in its box, from the top, as large as fits."""
    x0, y0, x1, y1 = box
    letters = [font.text_length(letter, 1) for letter in text]
    for size in _SIZES:
        rows = _rows(text, letters, (x1 - x0 - 4) / size)
        if len(rows) * size * _LEADING <= y1 - y0:
            break
    for i, row in enumerate(rows):
        writer.append((x0 + 2, y0 + (i + 0.9) * size * _LEADING), row, font=font, fontsize=size)


def _rows(text: str, letters: list[float], room: float) -> list[str]:
    """`text` broken at the last letter that `room` (in ems) holds, or better before a word."""
    rows, start, used, blank = [], 0, 0.0, 0
    for at, width in enumerate(letters):
        if text[at] == " ":
            blank = at
        used += width
        if used > room and at > start:
            end = blank if blank > start and text[at] != " " and text[at].isascii() else at
            rows.append(text[start:end].strip(" "))
            start, used = end, sum(letters[end : at + 1])
    return [*rows, text[start:].strip(" ")]
