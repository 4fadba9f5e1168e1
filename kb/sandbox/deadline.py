"""The moment at which one document has had its time, as those who watch its child count it."""

from __future__ import annotations

import time
from typing import Final

from kb.ports import OcrOptions, ParseLimits
from kb.sandbox.wire import Step

MAX_OCR_PAGES: Final = 2_000
"""Of one document. A child has read a hostile file: it cannot ask for time without end."""


class Deadline:
    """`wall_seconds` from now; later where OCR needs it.

    A page under OCR may take `page_seconds` from its beginning, even where that is later than the
    document's own time. After `MAX_OCR_PAGES` pages nothing is added.
    """

    def __init__(self, limits: ParseLimits, ocr: OcrOptions) -> None:
        self._at = time.monotonic() + limits.wall_seconds
        self._page_seconds = ocr.page_seconds
        # One step more: that all are done.
        self._pages = 0 if ocr.mode == "off" else MAX_OCR_PAGES + 1
        self.in_ocr = False

    def note(self, step: Step) -> None:
        """Take a child's word on how far it is."""
        if step.stage == "ocr" and self._pages:
            self._pages -= 1
            self._at = max(self._at, time.monotonic() + self._page_seconds)
            self.in_ocr = step.done < step.total

    @property
    def left(self) -> float:
        """Seconds; zero or less when the time is over."""
        return self._at - time.monotonic()
