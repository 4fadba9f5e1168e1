"""What a child was asked beside its document, and what became of that: OCR and progress.

The parsers see a path and a name; one process reads one document, so the rest is kept here. The
OCR that a text depends on is written behind the parser's id, as a mark: `pdf/2` needed none,
`pdf/2+ocr1` holds text from OCR, `pdf/2-ocr` has pages that wait for it. So a document is read
again when `KB_OCR` changes what would be read, and only then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from kb.model import Progress
from kb.ports import OcrMode, OcrOptions

_REVISION: Final = 1
"""Raised when OCR reads better than before."""
_READ: Final = f"+ocr{_REVISION}"
_FORCED: Final = f"+ocr{_REVISION}!"
_UNREAD: Final = "-ocr"
MARKS: Final = ("", _READ, _FORCED, _UNREAD)


def _ignore(_progress: Progress) -> None:
    """Default progress callback: does nothing."""


@dataclass(slots=True)
class Session:
    """One document's parse. `read` counts pages OCR was tried on, `unread` those it was not.

    `only`: no other page than this one is read by OCR (0: all that need it).
    """

    ocr: OcrOptions
    tell: Callable[[Progress], None] = _ignore
    read: int = 0
    unread: int = 0
    only: int = 0

    def mark(self, *, can_ocr: bool) -> str:
        """What stands behind the parser's id; `can_ocr`: the parser reads images of pages."""
        if self.unread:
            return _UNREAD
        if self.ocr.mode == "force" and (self.read or can_ocr):
            return _FORCED
        return _READ if self.read else ""


def marks(mode: OcrMode, *, can_ocr: bool) -> tuple[str, ...]:
    """The marks of documents that would be read the same under `mode`."""
    if mode == "off":
        return "", _UNREAD
    return (_FORCED,) if mode == "force" and can_ocr else ("", _READ)


_current = Session(OcrOptions(mode="off"))


def begin(session: Session) -> None:
    """Make `session` the one of this process."""
    global _current  # noqa: PLW0603 - one process reads one document
    _current = session


def current() -> Session:
    """The session of this process; outside a sandbox's child one that reads nothing by OCR."""
    return _current


def tell(stage: Literal["parse", "ocr"], done: int, total: int) -> None:
    """Let the caller know how far the parse is, in pages."""
    _current.tell(Progress(stage, done, total))


MAX_OCR_PAGES: Final = 2_000
"""Of one document. A child has read a hostile file: it cannot ask for time without end."""
