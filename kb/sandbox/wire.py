"""What travels between the caller, its host process and a parser's child: JSON, never pickle.

A child has read a hostile file, so everything it says is checked on arrival. Text keeps lone
surrogates on the way (`surrogatepass`) and loses them here, where they can be counted.
"""

from __future__ import annotations

import json
import math
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, get_args

from kb import errors
from kb.errors import KbError, ParseFailed, Refused
from kb.messages import Language, tr
from kb.model import Box, Drawing, Element, ElementKind, Page, PageKind, Parsed, Progress
from kb.ports import OcrOptions, ParseLimits
from kb.text.lines import split_lines

Ending = Literal["done", "wall", "memory", "output", "signal", "exit"]

EXIT_MEMORY: Final = 101
EXIT_OUTPUT: Final = 102

_INVALID: Final = re.compile("[\x00\ud800-\udfff]")
_PAGE_KINDS: Final = frozenset(get_args(PageKind))
_ELEMENT_KINDS: Final = frozenset(get_args(ElementKind))
_STAGES: Final = frozenset({"parse", "ocr"})
_MOST_PAGES: Final = (1 << 24) - 1
_WIDEST: Final = 1 << 14
_CLASSES: Final = {
    cls.__name__: cls for cls in (errors.InvalidInput, errors.NotFound, Refused, ParseFailed)
}


@dataclass(frozen=True, slots=True)
class Request:
    """One document for a child: `parser` is `name/revision`, `extra` further parser modules.

    `page`: only this page is wanted, 0 for all. `draw`: as a drawing, else as text.
    """

    path: str
    name: str
    parser: str
    language: Language
    limits: ParseLimits
    ocr: OcrOptions
    extra: tuple[str, ...] = ()
    page: int = 0
    draw: bool = False

    def encode(self) -> bytes:
        """One line of JSON."""
        return json.dumps(asdict(self)).encode("ascii") + b"\n"

    @staticmethod
    def decode(line: bytes) -> Request:
        """The request of `encode`, which only the caller's own process sends."""
        raw = json.loads(line)
        raw["limits"] = ParseLimits(**raw["limits"])
        raw["extra"] = tuple(raw["extra"])
        raw["ocr"] = OcrOptions(**raw["ocr"])
        return Request(**raw)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a child ended. `detail` is a signal's name or an exit code; `log` the tail it printed."""

    ending: Ending
    detail: str = ""
    payload: bytes = b""
    log: str = ""

    def head(self) -> bytes:
        """One line of JSON that announces the payload."""
        fields = {"ending": self.ending, "detail": self.detail, "log": self.log}
        return json.dumps({**fields, "size": len(self.payload)}).encode("ascii") + b"\n"


def encode_progress(progress: Progress) -> bytes:
    """One line of JSON. Progress is in pages; under OCR it is sent before each page."""
    step = [progress.stage, progress.done, progress.total]
    return json.dumps({"step": step}).encode("ascii") + b"\n"


def decode_progress(line: bytes) -> Progress | None:
    """The progress that a line reports, None for anything else: a child may send what it likes."""
    try:
        stage, done, total = json.loads(line)["step"]
        _require(stage in _STAGES)
        return Progress(stage, _int(done, 0, _MOST_PAGES), _int(total, 0, _MOST_PAGES))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


class AnswerReader:
    """What a child sends, piece by piece: steps end in a line feed, the answer holds none."""

    def __init__(self) -> None:
        self.size = 0
        self._parts: list[bytes] = []

    def feed(self, chunk: bytes) -> list[Progress]:
        """Take the next bytes; returns the steps that they complete."""
        self.size += len(chunk)
        *lines, rest = chunk.split(b"\n")
        told = []
        for line in lines:
            told.append(decode_progress(b"".join((*self._parts, line))))
            self._parts.clear()
        self._parts.append(rest)
        return [step for step in told if step]

    @property
    def answer(self) -> bytes:
        """What came after the last step."""
        return b"".join(self._parts)


def encode_parsed(parsed: Parsed) -> bytes:
    """The answer of a parser that succeeded."""
    return _dump({"parsed": asdict(parsed)})


def encode_drawing(drawing: Drawing | None) -> bytes:
    """The answer of a parser that drew a page, or found it empty."""
    if drawing is None:
        return _dump({"drawing": None})
    rgb = b64encode(drawing.rgb).decode("ascii")
    return _dump({"drawing": [drawing.width, drawing.height, drawing.scale, rgb]})


def encode_error(error: BaseException) -> bytes:
    """The answer of a parser that raised: a KbError whole, anything else by its class and place."""
    if isinstance(error, KbError):
        return _dump({"error": [type(error).__name__, error.message, error.hint]})
    return _dump({"broke": type(error).__name__})


def decode_answer(payload: bytes, name: str, parser: str, marks: Sequence[str] = ("",)) -> Parsed:
    """The pages a child sent, checked and cleaned. Raises what the child raised, or ParseFailed.

    `parser` is the one that was asked; the child may only add one of `marks` to it.
    """
    try:
        raw = json.loads(payload.decode("utf-8", "surrogatepass"))
        if "parsed" in raw:
            ids = [parser + mark for mark in marks]
            said = raw["parsed"]["parser"]
            return _parsed(raw["parsed"], said if said in ids else parser)
        error = _error(raw, name)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
        raise ParseFailed(tr("parse.bad_answer", name=name), tr("parse.broke_hint")) from problem
    raise error


def decode_drawing(payload: bytes, name: str) -> Drawing | None:
    """The drawing a child sent. Raises what the child raised, or ParseFailed."""
    try:
        raw = json.loads(payload.decode("utf-8", "surrogatepass"))
        if "drawing" in raw:
            return _drawing(raw["drawing"])
        error = _error(raw, name)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
        raise ParseFailed(tr("parse.bad_answer", name=name), tr("parse.broke_hint")) from problem
    raise error


def _drawing(raw: Any) -> Drawing | None:
    """Pixels and nothing else: what a child drew is never decoded as an image file."""
    if raw is None:
        return None
    width, height, scale, text = raw
    rgb = b64decode(_str(text), validate=True)
    drawing = Drawing(rgb, _int(width, 1, _WIDEST), _int(height, 1, _WIDEST), _number(scale))
    _require(len(rgb) == 3 * drawing.width * drawing.height and drawing.scale > 0)
    return drawing


def _dump(answer: dict[str, Any]) -> bytes:
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def _error(raw: Any, name: str) -> KbError:
    if "error" in raw:
        kind, message, hint = raw["error"]
        return _CLASSES.get(kind, ParseFailed)(_clean(_str(message)), _clean(_str(hint)))
    error = _clean(_str(raw["broke"]))[:100]
    return ParseFailed(tr("parse.broke", name=name, error=error), tr("parse.broke_hint"))


def _parsed(raw: Any, parser: str) -> Parsed:
    """`Parsed` from untrusted JSON. Raises ValueError, TypeError or KeyError when it is not one."""
    pages = tuple(_page(page, number) for number, page in enumerate(raw["pages"], start=1))
    replaced = sum(len(_INVALID.findall(page["text"])) for page in raw["pages"])
    warnings = tuple(_clean(_str(warning)) for warning in raw["warnings"])
    if replaced:
        warnings += (tr("parse.warn_replaced", count=replaced),)
    _require(pages)
    return Parsed(
        pages=pages,
        parser=parser,
        media_type=_str(raw["media_type"]),
        encoding=_str(raw["encoding"]),
        warnings=warnings,
    )


def _page(raw: Any, number: int) -> Page:
    _int(raw["number"], number, number)
    _require(raw["kind"] in _PAGE_KINDS and "\r" not in raw["text"])
    text = _clean(_str(raw["text"]))
    count = len(split_lines(text))
    boxes = tuple(_box(box) for box in raw["boxes"])
    _require(len(boxes) in {0, count})
    return Page(
        number=number,
        text=text,
        kind=raw["kind"],
        label=_clean(_str(raw["label"])),
        width=_number(raw["width"]),
        height=_number(raw["height"]),
        elements=tuple(_element(element, count) for element in raw["elements"]),
        boxes=boxes,
        noise=tuple(_int(line, 1, count) for line in raw["noise"]),
        ocr=_bool(raw["ocr"]),
    )


def _element(raw: Any, count: int) -> Element:
    _require(raw["kind"] in _ELEMENT_KINDS)
    start = _int(raw["line_start"], 1, count)
    end = _int(raw["line_end"], start, count)
    return Element(raw["kind"], start, end, _int(raw["level"], 0, 99))


def _box(raw: Any) -> Box:
    x0, y0, x1, y1 = (_number(value) for value in raw)
    return x0, y0, x1, y1


def _clean(text: str) -> str:
    return _INVALID.sub("\ufffd", text)


def _str(value: Any) -> str:
    _require(isinstance(value, str))
    return str(value)


def _int(value: Any, low: int, high: int) -> int:
    _require(type(value) is int and low <= value <= high)
    return int(value)


def _bool(value: Any) -> bool:
    _require(isinstance(value, bool))
    return bool(value)


def _number(value: Any) -> float:
    _require(type(value) in {int, float} and math.isfinite(value))
    return float(value)


def _require(truth: object) -> None:
    if not truth:
        raise ValueError
