"""The limits of one child, set from inside before it touches its document.

OCR has its own allowance beside the document's: memory once, time for every page.
"""

from __future__ import annotations

import contextlib
import math
import sys
import time
from typing import Final

from kb.model import Progress
from kb.parsers.session import MAX_OCR_PAGES
from kb.ports import OcrOptions, ParseLimits
from kb.sandbox.windows_job import confine_self

MIB: Final = 1 << 20
_GRACE_SECONDS: Final = 10


class Limits:
    """CPU seconds and address space of this process, an alarm, and no core dump.

    macOS takes the call but does not enforce the address space. On POSIX an alarm ends the process
    even when its host is gone. What OCR may need later is left open as the hard limit.
    """

    def __init__(self, limits: ParseLimits, ocr: OcrOptions) -> None:
        self._limits = limits
        self._ocr = ocr
        self._memory = limits.memory_mb
        self._alarm = time.monotonic() + limits.wall_seconds
        self._set(limits.cpu_seconds)

    def allow_page(self) -> None:
        """Room for the OCR of one more page, from now on."""
        self._memory = self._limits.memory_mb + self._ocr.memory_mb
        seconds = self._ocr.page_seconds
        self._alarm = max(self._alarm, time.monotonic() + seconds)
        cpu = time.process_time() + seconds * self._ocr.threads
        self._set(max(self._limits.cpu_seconds, cpu))

    def _set(self, cpu_seconds: float) -> None:
        if sys.platform == "win32":
            confine_self(cpu_seconds, self._memory)
        else:
            self._set_posix(math.ceil(cpu_seconds), self._memory * MIB)

    def _set_posix(self, cpu: int, space: int) -> None:
        import resource
        import signal

        most = resource.RLIM_INFINITY
        with_ocr = self._ocr.mode != "off"
        most_space = space if not with_ocr else self._most_memory * MIB
        wanted = {
            resource.RLIMIT_CORE: (0, 0),
            resource.RLIMIT_CPU: (cpu, most if with_ocr else cpu + _GRACE_SECONDS),
            resource.RLIMIT_AS: (space, most_space),
        }
        for which, value in wanted.items():
            _lower(which, *value)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        left = max(self._alarm - time.monotonic(), 0.0)
        signal.setitimer(signal.ITIMER_REAL, left + _GRACE_SECONDS)

    @property
    def _most_memory(self) -> int:
        return self._limits.memory_mb + self._ocr.memory_mb


def _lower(which: int, soft: int, hard: int) -> None:
    """Set a limit of this process; a lower one of the user's own stands."""
    import resource

    ceiling = resource.getrlimit(which)[1]
    if ceiling != resource.RLIM_INFINITY:
        hard = ceiling if hard == resource.RLIM_INFINITY else min(hard, ceiling)
        soft = min(soft, hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(which, (soft, hard))


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

    def note(self, step: Progress) -> None:
        """Take a child's word on how far it is."""
        if step.stage == "ocr" and self._pages:
            self._pages -= 1
            self._at = max(self._at, time.monotonic() + self._page_seconds)
            self.in_ocr = step.done < step.total

    @property
    def left(self) -> float:
        """Seconds; zero or less when the time is over."""
        return self._at - time.monotonic()
