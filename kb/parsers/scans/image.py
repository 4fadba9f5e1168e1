"""Images of pages: png, jpg, tiff, bmp, webp. Their text comes from OCR alone.

An image says its size before it is decoded: one that is too large never is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kb.errors import Refused
from kb.messages import tr
from kb.model import Drawing, Page, Parsed
from kb.parsers.refusals import damaged, is_out_of_memory
from kb.parsers.registry import ParserSpec
from kb.parsers.scans import ocr
from kb.parsers.scans.ocr import Scans

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS: Final = 100_000_000
"""Of one page: A3 at 700 dpi; decoded, 300 MB."""
MAX_PAGES: Final = 5_000
_FORMATS: Final = ("PNG", "JPEG", "TIFF", "BMP", "WEBP")
_DPI: Final = range(50, 2401)
"""What a scanner may say; anything else is taken for no statement: a pixel is a point then."""


def parse(path: Path, name: str) -> Parsed:
    """A page for every image of the file, in points by the resolution it declares.

    Raises Refused: damaged, too many pixels or pages, or no text that OCR can read.
    """
    with _opened(path, name) as image:
        count = _page_count(image, name)
        sizes: dict[int, tuple[float, float]] = {}
        pages = range(1, count + 1)
        scans = ocr.read_pages({n: partial(_draw, image, n, name, sizes) for n in pages})
    if not scans.pages:
        raise Refused(*scans.refusal(name, count))
    found = tuple(_page(number, sizes, scans) for number in pages)
    return Parsed(found, SPEC.id, SPEC.media_type, warnings=tuple(scans.warnings()))


def draw(path: Path, name: str, page: int) -> Drawing:
    """One image of the file, counted from 1, upright. Raises Refused like `parse`."""
    with _opened(path, name) as image:
        return _draw(image, page, name, {})


@contextlib.contextmanager
def _opened(path: Path, name: str) -> Iterator[Image]:
    from PIL import Image

    # We look at every size ourselves, and say so in our own words.
    Image.MAX_IMAGE_PIXELS = None
    with path.open("rb") as file:
        try:
            image = Image.open(file, formats=_FORMATS)
        except Exception as error:  # a broken header may raise nearly anything
            raise _damaged(error, name) from error
        with image:
            yield image


def _damaged(error: Exception, name: str) -> Refused:
    if is_out_of_memory(error):
        raise MemoryError from error
    return damaged(name, tr("ocr.image_damaged"))


def _page_count(image: Image, name: str) -> int:
    """How many images there are, none of them too large."""
    count = 0
    try:
        for number in range(MAX_PAGES + 1):
            image.seek(number)
            _check_size(image, name)
            count = number + 1
    except EOFError:
        return count
    except Refused:
        raise
    except Exception as error:
        raise _damaged(error, name) from error
    raise Refused(tr("ocr.image_pages", name=name, limit=MAX_PAGES), tr("parse.output_hint"))


def _check_size(image: Image, name: str) -> None:
    width, height = image.size
    if width * height > MAX_PIXELS:
        limit = MAX_PIXELS // 1_000_000
        raise Refused(
            tr("ocr.image_pixels", name=name, width=width, height=height, limit=limit),
            tr("ocr.image_pixels_hint"),
        )


def _draw(image: Image, number: int, name: str, sizes: dict[int, tuple[float, float]]) -> Drawing:
    """The image upright and of a size that OCR reads; notes the page's size in points."""
    from PIL import ImageOps

    image.seek(number - 1)
    _check_size(image, name)
    seen = ImageOps.exif_transpose(image)
    points = 72 / _dpi(image)
    sizes[number] = round(seen.width * points, 2), round(seen.height * points, 2)
    shrink = ocr.scale_for(*seen.size, finest=1.0)
    size = max(round(seen.width * shrink), 1), max(round(seen.height * shrink), 1)
    small = _on_white(seen).resize(size, reducing_gap=2.0)
    return Drawing(small.tobytes(), *small.size, shrink / points)


def _dpi(image: Image) -> float:
    try:
        dpi = float(image.info["dpi"][0])
    except (KeyError, TypeError, ValueError, IndexError, ZeroDivisionError):
        return 72.0
    return dpi if round(dpi) in _DPI else 72.0


def _on_white(image: Image) -> Image:
    """RGB; what is transparent is paper."""
    from PIL import Image

    if image.mode.startswith("I;16") or image.mode in {"I", "F"}:
        image = image.convert("I").point(lambda value: value / 256).convert("L")
    if not image.has_transparency_data:
        return image.convert("RGB")
    paper = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(paper, image.convert("RGBA")).convert("RGB")


def _page(number: int, sizes: dict[int, tuple[float, float]], scans: Scans) -> Page:
    scan: Any = scans.pages.get(number)
    width, height = sizes.get(number, (0.0, 0.0))
    return Page(
        number=number,
        text=scan.text if scan else "",
        kind="physical",
        width=width,
        height=height,
        boxes=scan.boxes if scan else (),
        ocr=scan is not None,
    )


SPEC: Final = ParserSpec(
    name="image",
    revision=1,
    suffixes=(".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp"),
    media_type="image/*",
    magic="image",
    parse=parse,
    can_ocr=True,
    draw=draw,
)
