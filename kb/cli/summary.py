"""What a run says to the person who started it, and at its end: totals, and every warning.

On a terminal the bars stay whole and a table follows them; in a log the lines come as they happen.
Silent, for scripts, only failures are told: the JSON on stdout has the rest.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Final, Literal

from kb.cli.console import print_table, say
from kb.messages import tr

if TYPE_CHECKING:
    from collections.abc import Sequence

Mode = Literal["table", "lines", "silent"]
_UNREMARKABLE: Final = frozenset(
    {"ingested", "unchanged", "new", "changed", "moved", "deleted", "unsupported"}
)
_MOST_ROWS: Final = 200


class Summary:
    """Collects what became of each document; `tell` is for the end, however it came."""

    def __init__(self, mode: Mode) -> None:
        self.mode = mode
        self._rows: list[tuple[str, str, str]] = []
        self._states: Counter[str] = Counter()
        self._pages = self._blocks = self._warnings = 0
        self._notes: list[str] = []
        self._started = time.monotonic()

    def add(
        self,
        source: str,
        state: str,
        warnings: Sequence[str] = (),
        *,
        pages: int = 0,
        blocks: int = 0,
    ) -> None:
        """A document and what must be known about it."""
        self._states[state] += 1
        self._pages += pages
        self._blocks += blocks
        self._warnings += len(warnings)
        if warnings or state not in _UNREMARKABLE:
            self._rows.append((source, state, "\n".join(warnings)))
        if self.mode == "lines":
            for warning in warnings:
                say(f"{source}: {warning}")

    def fail(self, source: str, error: str) -> None:
        """A document that was not taken, and why; told in every mode."""
        self._states["failed"] += 1
        self._rows.append((source, "failed", error))
        if self.mode != "table":
            say(f"{source}: {error}")

    def note(self, text: str) -> None:
        """Something about the whole run."""
        if self.mode == "lines":
            say(text)
        self._notes.append(text)

    def tell(self) -> None:
        """The end: on a terminal the table, the totals and the notes."""
        if self.mode != "table":
            return
        if self._rows:
            head = (tr("summary.source"), tr("summary.state"), tr("summary.warnings"))
            print_table(tr("summary.title"), head, self._rows[:_MOST_ROWS], sys.stderr)
            if len(self._rows) > _MOST_ROWS:
                say(tr("summary.more", count=len(self._rows) - _MOST_ROWS))
        if self._states:
            say(self._totals())
        for text in self._notes:
            say(text)

    def _totals(self) -> str:
        states = ", ".join(f"{state} {count:,}" for state, count in self._states.items())
        return tr(
            "summary.total" if self._pages else "summary.synced",  # a sync counts no pages
            documents=sum(self._states.values()),
            states=states,
            pages=self._pages,
            blocks=self._blocks,
            warnings=self._warnings,
            seconds=time.monotonic() - self._started,
        )


def mode_for(*, silent: bool, ongoing: bool) -> Mode:
    """Silent where a script asked for it; a table where a person waits for the end."""
    if silent:
        return "silent"
    return "table" if sys.stderr.isatty() and not ongoing else "lines"
