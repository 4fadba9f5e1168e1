"""Text from images of pages, by RapidOCR with the models of its wheel. In the sandbox's child only.

A parser names the pages that need it and how to draw each; whether they are read, and what became
of them, is told here. Nothing is loaded before the first page is drawn, and nothing is fetched: the
models are named by path. Their orientation classifier is not used (it turns good lines over:
1.2 % of characters lost with it, 0.5 % without); a page that reads badly is turned as a whole.
"""

from __future__ import annotations

import importlib.util
import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from kb.messages import tr
from kb.model import Box, Drawing
from kb.parsers import session
from kb.parsers.refusals import is_out_of_memory, listed
from kb.parsers.scans.order import Seen, in_order
from kb.parsers.session import MAX_OCR_PAGES

_DPI: Final = 144
_MOST_PIXELS: Final = 3_000_000
_LONGEST: Final = 4_000
"""A page is drawn at `_DPI`, less where it is larger than A3: 2.5-4 CPU seconds find its lines, as
many read them. Twice the resolution costs twice that and reads no better."""
_SURE: Final = 0.5
"""What is read with less confidence is no text."""
_GOOD: Final = 0.8
_AS_GOOD: Final = 0.7
_FEW: Final = 3
_LOG: Final = logging.getLogger(__name__)


class Scan(NamedTuple):
    """The text of a page and a box for every line, in points."""

    text: str
    boxes: tuple[Box, ...]


@dataclass(slots=True)
class Scans:
    """What became of the pages that needed OCR, by page number."""

    pages: dict[int, Scan] = field(default_factory=dict)
    empty: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    beyond: list[int] = field(default_factory=list)

    def warnings(self) -> list[str]:
        """One for everything that a reader must know."""
        why = "ocr.warn_off" if session.current().ocr.mode == "off" else "ocr.warn_missing"
        found = (
            ("ocr.warn_read", list(self.pages)),
            ("ocr.warn_empty", self.empty),
            ("ocr.warn_failed", self.failed),
            (why, self.unread),
            ("ocr.warn_most", self.beyond),
        )
        return [tr(k, pages=listed(n), limit=MAX_OCR_PAGES) for k, n in found if n]

    def refusal(self, name: str, pages: int) -> tuple[str, str]:
        """Message and hint for a document that holds no text at all."""
        why = "blank"
        if self.unread:
            why = "off" if session.current().ocr.mode == "off" else "missing"
        elif self.empty or self.failed or self.beyond:
            why = "nothing"
        return tr(f"ocr.{why}", name=name, pages=pages), tr(f"ocr.{why}_hint")


def is_forced() -> bool:
    """Whether every page is to be read by OCR, text or not."""
    return session.current().ocr.mode == "force"


def scale_for(width: float, height: float, finest: float = _DPI / 72) -> float:
    """Pixels a point at which a page of `width` by `height` points is drawn for OCR."""
    most = math.sqrt(_MOST_PIXELS / max(width * height, 1.0))
    return min(finest, most, _LONGEST / max(width, height, 1.0))


def read_pages(pages: Mapping[int, Callable[[], Drawing | None]]) -> Scans:
    """Read each page, drawn by its function: None says that there is nothing on it.

    A page that cannot be drawn or read is named, and the next one proceeds. Raises MemoryError.
    """
    now = session.current()
    scans = Scans()
    if now.only:
        pages = {n: draw for n, draw in pages.items() if n == now.only}
    if now.ocr.mode == "off" or not _is_installed():
        now.unread += len(pages)
        scans.unread += pages
        return scans
    todo = list(pages)[:MAX_OCR_PAGES]
    scans.beyond += list(pages)[MAX_OCR_PAGES:]
    for done, number in enumerate(todo):
        session.tell("ocr", done, len(todo))
        now.read += 1
        _read_one(number, pages[number], scans)
    if todo:
        session.tell("ocr", len(todo), len(todo))
    return scans


def _is_installed() -> bool:
    return importlib.util.find_spec("rapidocr") is not None


def _read_one(number: int, draw: Callable[[], Drawing | None], scans: Scans) -> None:
    try:
        picture = draw()
        scan = _read(picture) if picture else Scan("", ())
    except Exception as error:
        if is_out_of_memory(error):
            raise MemoryError from error
        _LOG.debug("OCR of page %s", number, exc_info=True)
        scans.failed.append(number)
        return
    if scan.text:
        scans.pages[number] = scan
    else:
        scans.empty.append(number)


def _read(picture: Drawing) -> Scan:
    import numpy as np

    shape = picture.height, picture.width, 3
    rgb = np.frombuffer(picture.rgb, np.uint8).reshape(shape)
    turns, seen = _upright(rgb[:, :, ::-1])
    size = (picture.height, picture.width) if turns % 2 else (picture.width, picture.height)
    lines = in_order([one for one in seen if one.score >= _SURE])
    boxes = (_turned_back(line.box, turns, size) for line in lines)
    text = "\n".join(line.text for line in lines)
    return Scan(text, tuple(_in_points(box, picture.scale) for box in boxes))


def _upright(bgr: Any) -> tuple[int, list[Seen]]:
    """What is seen on the page, and by how many quarter turns to the left it was made upright."""
    first = _recognise(bgr)
    sideways = _is_sideways(first)
    tries = {t: _recognise(_turned(bgr, t)) for t in _worth_trying(first, sideways=sideways)}
    best = max(tries, key=lambda turns: _certainty(tries[turns]), default=0)
    # Sideways lines may be read well as they are, yet one below the other they make no page.
    needed = _certainty(first) * (_AS_GOOD if sideways else 1.0)
    return (best, tries[best]) if best and _certainty(tries[best]) > needed else (0, first)


def _is_sideways(seen: list[Seen]) -> bool:
    tall = sum(len(one.text) for one in seen if one.is_tall)
    return len(seen) >= _FEW and 2 * tall > sum(len(one.text) for one in seen)


def _worth_trying(seen: list[Seen], *, sideways: bool) -> tuple[int, ...]:
    """Quarter turns that may read better: lines that stand on their heads are read unsurely."""
    if sideways:
        return 1, 3
    good = sum(one.score >= _GOOD for one in seen)
    return (2,) if len(seen) >= _FEW and 2 * good < len(seen) else ()


def _certainty(seen: list[Seen]) -> float:
    return sum(len(one.text) * (one.score - _SURE) for one in seen)


def _turned(bgr: Any, turns: int) -> Any:
    import numpy as np

    return np.ascontiguousarray(np.rot90(bgr, turns))


def _turned_back(box: Box, turns: int, size: tuple[int, int]) -> Box:
    """A box of the turned page, whose size is `size`, on the page as it is."""
    x0, y0, x1, y1 = box
    width, height = size
    if turns == 1:
        return height - y1, x0, height - y0, x1
    if turns == 2:  # noqa: PLR2004 - quarter turns
        return width - x1, height - y1, width - x0, height - y0
    return (y0, width - x1, y1, width - x0) if turns else box


def _in_points(box: Box, scale: float) -> Box:
    x0, y0, x1, y1 = (round(value / scale, 1) for value in box)
    return x0, y0, x1, y1


def _recognise(bgr: Any) -> list[Seen]:
    import numpy as np

    found = _engine()(np.ascontiguousarray(bgr))
    if found.boxes is None or found.txts is None:
        return []
    return [
        Seen(" ".join(text.split()), tuple((float(x), float(y)) for x, y in corners), float(score))
        for corners, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
        if text.strip()
    ]


@cache
def _engine() -> Any:
    """RapidOCR with its own models, loaded once in this process."""
    import cv2
    import rapidocr

    models = Path(rapidocr.__file__).parent / "models"
    threads = session.current().ocr.threads
    cv2.setNumThreads(threads)
    return rapidocr.RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.use_cls": False,
            "Global.text_score": 0.0,
            "Global.max_side_len": _LONGEST,
            "Det.limit_type": "max",
            "Det.limit_side_len": _LONGEST,
            "Det.model_path": str(models / "PP-OCRv6_det_small.onnx"),
            "Rec.model_path": str(models / "PP-OCRv6_rec_small.onnx"),
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
