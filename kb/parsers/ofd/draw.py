"""An OFD page as an image, for OCR: its pictures, its paths, and its text in its own fonts.

Not a viewer: clips, gradients and turned text are not drawn, and a missing font is replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any, Final

from kb.model import Drawing
from kb.parsers.layout.mupdf import mupdf
from kb.parsers.ofd.content import Image, Shape
from kb.parsers.ofd.document import PageContent
from kb.parsers.ofd.geometry import POINTS, Matrix, Point, apply, commands
from kb.parsers.ofd.text_object import DESCENT
from kb.parsers.scans import ocr

_SMALLEST: Final = 1.0
_MOST_STEPS: Final = 100_000
"""Of all paths of a page: text as outlines takes some forty for each of its 2,000 signs."""


def draw_page(page: PageContent, data: Callable[[str], bytes]) -> Drawing | None:
    """The page on white, None when it is of one colour; `data` gives the bytes of a resource."""
    pymupdf = mupdf()
    width, height = page.width * POINTS, page.height * POINTS
    scale = ocr.scale_for(width, height)
    with pymupdf.open() as doc:
        sheet = doc.new_page(width=width, height=height)
        _fill(sheet, page, data)
        _write(sheet, page, data)
        zoom = pymupdf.Matrix(scale, scale)
        pixmap = sheet.get_pixmap(matrix=zoom, colorspace=pymupdf.csRGB, alpha=False)
    if pixmap.is_unicolor:
        return None
    return Drawing(pixmap.samples, pixmap.width, pixmap.height, scale)


def _fill(sheet: Any, page: PageContent, data: Callable[[str], bytes]) -> None:
    """Everything in its order; what lies next to one another is written at once."""
    shape = sheet.new_shape()
    room = _MOST_STEPS
    for item in page.content.drawn:
        if isinstance(item, Shape):
            room -= _path(shape, item, room)
            continue
        shape.commit()
        shape = sheet.new_shape()
        _picture(sheet, item, data(item.resource))
    shape.commit()


def _picture(sheet: Any, item: Image, data: bytes) -> None:
    """A picture MuPDF cannot read leaves its place empty: the page may hold others."""
    if data:
        box = [side * POINTS for side in item.box]
        try:
            sheet.insert_image(mupdf().Rect(box), stream=data, keep_proportion=False)
        except (RuntimeError, ValueError):
            return


def _path(shape: Any, item: Shape, room: int) -> int:
    """Draw a path of at most `room` steps; how many it took."""
    at = start = (0.0, 0.0)
    steps = 0
    drawn = False
    for command, points in islice(commands(item.data), max(room, 0)):
        steps += 1
        ends = [_placed(item.matrix, point) for point in points] or [start]
        if command in {"M", "S"}:
            at = start = ends[-1]
            continue
        _step(shape, command, at, ends)
        at, drawn = ends[-1], True
    if drawn:
        width = max(item.width * POINTS, 0.1)
        shape.finish(width=width, color=item.line, fill=item.fill, closePath=False)
    return steps


def _step(shape: Any, command: str, at: Point, ends: list[Point]) -> None:
    if command == "B":
        shape.draw_bezier(at, *ends)
    elif command == "Q":
        shape.draw_curve(at, *ends)
    else:
        shape.draw_line(at, ends[-1])


def _placed(matrix: Matrix, point: Point) -> Point:
    x, y = apply(matrix, point)
    return x * POINTS, y * POINTS


def _write(sheet: Any, page: PageContent, data: Callable[[str], bytes]) -> None:
    """Every character where it stands; a code without a letter still has its glyph in the font.

    One by one: a TextWriter would move neighbours by widths that subset fonts state wrongly.
    """
    shape = sheet.new_shape()
    fonts: dict[str, str] = {}
    for run in page.content.runs:
        if run.font not in fonts:
            fonts[run.font] = _font(sheet, f"F{len(fonts)}", data(run.font))
        name = fonts[run.font]
        for glyph in run.glyphs:
            x0, y0, _, y1 = (side * POINTS for side in glyph.box)
            if glyph.text.strip() and y1 - y0 >= _SMALLEST:
                base = y1 - DESCENT * (y1 - y0)
                shape.insert_text((x0, base), glyph.text, fontsize=y1 - y0, fontname=name)
    shape.commit()


def _font(sheet: Any, name: str, data: bytes) -> str:
    """The name of an embedded font on the page, or of MuPDF's own for Chinese."""
    try:
        if data:
            sheet.insert_font(fontname=name, fontbuffer=data)
            return name
    except (RuntimeError, ValueError):
        pass
    return "china-s"
