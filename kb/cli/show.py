"""A look at a citation: the page as it is seen with the cited lines boxed, or its text.

The original is read where it came from and must still be the very bytes that were ingested. It is
parsed and drawn in the sandbox; what arrives here is text, boxes and bare pixels.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Literal

from kb.errors import NotFound, Refused
from kb.messages import tr
from kb.search import read
from kb.search.scope import find_document
from kb.text.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kb.app import KnowledgeBase
    from kb.model import Box, Document, Drawing, Page, Passage

_WHOLE: Final = 1 << 30
_PAD: Final = 1.5
"""Points between a line's box and the frame around it."""
_FILL: Final = (255, 214, 0, 70)
_FRAME: Final = (220, 38, 38, 255)


@dataclass(frozen=True, slots=True)
class Shown:
    """Where the look was written. `notice` says why it is less than a picture with boxes."""

    path: str
    kind: Literal["image", "text"]
    source: str
    version: int
    page: int
    line_start: int
    line_end: int
    citation: str
    origin: str
    notice: str = ""


def show(
    kb: KnowledgeBase,
    source: str,
    page: int,
    lines: tuple[int, int] = (1, -1),
    project: str | None = None,
) -> Shown:
    """Write the look at `lines` (inclusive, -1: the last) of a page; in the project's `shown/`.

    Raises NotFound and InvalidInput as `read_range` does, NotFound when the original is gone,
    Refused when its bytes are others now or would be read differently, and what a parse raises.
    """
    shard = kb.project(project)
    with shard.catalog.reading() as reader:
        document = find_document(reader, source)
        passage = read.read_range(reader, document.source, page, *lines, max_chars=_WHOLE)
        stored = reader.page(document.id, page)
    assert stored is not None  # noqa: S101 - it has just been read
    drawing, boxes = _look(kb, document, stored)
    folder = shard.folder / "shown"
    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / _stem(passage)
    if drawing is None:
        path, notice = _write_text(stem, stored, passage), tr("show.no_geometry")
    else:
        cited = boxes[passage.line_start - 1 : passage.line_end]
        path, notice = _write_image(stem, drawing, cited), _image_notice(stored, boxed=bool(cited))
    return Shown(
        path=str(path),
        kind="text" if drawing is None else "image",
        source=passage.source,
        version=passage.version,
        page=page,
        line_start=passage.line_start,
        line_end=passage.line_end,
        citation=_citation(passage),
        origin=document.origin,
        notice=notice,
    )


def _image_notice(stored: Page, *, boxed: bool) -> str:
    """What the picture is not."""
    if not boxed:
        return tr("show.no_boxes")
    return tr("show.sketch") if stored.kind == "slide" else ""


def _look(
    kb: KnowledgeBase, document: Document, stored: Page
) -> tuple[Drawing | None, Sequence[Box]]:
    """The page drawn from the original, and a box for every stored line, if there are any."""
    named = kb.places.find(document.origin)
    where = {"source": document.source, "origin": document.origin}
    try:
        with named.copying(kb.settings.max_file_mb) as copy:
            if copy.sha256 != document.sha256:
                raise Refused(tr("show.changed", **where), tr("show.again.hint", **where))
            boxes = _boxes(kb, copy.path, document, stored)
            return kb.parser.draw(copy.path, document.source, stored.number), boxes
    except NotFound as error:
        raise NotFound(tr("show.gone", **where), tr("show.gone.hint", **where)) from error


def _boxes(kb: KnowledgeBase, path: Path, document: Document, stored: Page) -> Sequence[Box]:
    """Boxes are not stored: the page is parsed again, and must come out as it is stored."""
    if not stored.text.strip():
        return ()
    parsed = kb.parser.parse(path, document.source, page=stored.number)
    now = parsed.pages[stored.number - 1] if stored.number <= len(parsed.pages) else None
    if now is None or now.text != stored.text:
        where = {"source": document.source, "origin": document.origin, "page": stored.number}
        raise Refused(tr("show.differs", **where), tr("show.again.hint", **where))
    return now.boxes


def _write_image(stem: Path, drawing: Drawing, boxes: Sequence[Box]) -> Path:
    from PIL import Image, ImageDraw

    page = Image.frombytes("RGB", (drawing.width, drawing.height), drawing.rgb)
    layer = Image.new("RGBA", page.size, (0, 0, 0, 0))
    pen = ImageDraw.Draw(layer)
    for box in boxes:
        x0, y0, x1, y1 = (side * drawing.scale for side in box)
        pad = _PAD * drawing.scale
        frame = (x0 - pad, y0 - pad, max(x1, x0) + pad, max(y1, y0) + pad)
        pen.rectangle(frame, _FILL, _FRAME, width=max(1, round(drawing.scale)))
    path = stem.with_name(stem.name + ".png")
    Image.alpha_composite(page.convert("RGBA"), layer).convert("RGB").save(path, "PNG")
    return path


def _write_text(stem: Path, stored: Page, passage: Passage) -> Path:
    """The whole page with its line numbers, the cited lines marked."""
    cited = range(passage.line_start, passage.line_end + 1)
    lines = [
        f"{'▶' if number in cited else ' '} {number:>4} │ {text}"
        for number, text in enumerate(split_lines(stored.text), start=1)
    ]
    path = stem.with_name(stem.name + ".txt")
    path.write_text("\n".join([_citation(passage), "", *lines, ""]), "utf-8", "surrogatepass", "\n")
    return path


def _citation(passage: Passage) -> str:
    return tr(
        "citation.one" if passage.line_start == passage.line_end else "citation",
        source=passage.source,
        page=passage.page,
        line_start=passage.line_start,
        line_end=passage.line_end,
    )


def _stem(passage: Passage) -> str:
    """A file name that says what it shows and that no source can lead astray."""
    name = re.sub(r"[^\w.-]+", "_", passage.source.rpartition("/")[2])[-60:].lstrip(".")
    mark = sha256(passage.source.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    lines = f"l{passage.line_start}-{passage.line_end}"
    return f"{name}-{mark}-v{passage.version}-p{passage.page}-{lines}"
