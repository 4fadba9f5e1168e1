"""Sync again and again, until told to end."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from kb.model import Progress

_SIGNALS: Final = ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK")


class Ending:
    """Whether the work shall end, or shall be done again before its time."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.wake = threading.Event()

    def end(self) -> None:
        """End after what is under way."""
        self.stop.set()
        self.wake.set()

    def check(self, _progress: Progress) -> None:
        """Raise Ended if the work shall end; called where nothing is half done."""
        if self.stop.is_set():
            raise Ended


class Ended(Exception):
    """The work was ended between two of its steps."""


@contextmanager
def ending_on_signals() -> Iterator[Ending]:
    """What the signals that end a program set meanwhile; a second one ends it at once.

    A signal that is ignored (under nohup, SIGHUP) stays so.
    """
    ending = Ending()

    def tell(number: int, _frame: FrameType | None) -> None:
        ending.end()
        signal.signal(number, kept[number])

    kept = {
        number: handler
        for name in _SIGNALS
        if (number := getattr(signal, name, None)) is not None
        and (handler := signal.getsignal(number)) is not signal.SIG_IGN
    }
    for number in kept:
        signal.signal(number, tell)
    try:
        yield ending
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def watch(sync_once: Callable[[], None], seconds: float, ending: Ending) -> None:
    """`sync_once` now, then every `seconds` after it was done, or as soon as `wake` is set."""
    while not ending.stop.is_set():
        ending.wake.clear()
        sync_once()
        if not ending.stop.is_set():
            ending.wake.wait(seconds)
