"""What the command lines share: JSON on stdout that any console can take, bars on stderr."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from kb.messages import tr

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kb.model import Progress
    from kb.ports import OnProgress


def prepare_streams() -> None:
    """Make sure that no character can make a print fail (a GBK console has no ★)."""
    for stream in (sys.stdout, sys.stderr):
        # Replaced streams (a test's, a notebook's) need no such care.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def print_json(value: object, *, pretty: bool) -> None:
    """One JSON document on stdout, in ASCII where the console's encoding is not UTF-8."""
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(value, ensure_ascii=not utf8, indent=2 if pretty else None)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def say(text: str) -> None:
    """A line for the person at the terminal, on stderr."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


@contextmanager
def progress_bars(*, quiet: bool) -> Iterator[OnProgress]:
    """Bars on stderr: done, total, rate, time spent and left; nothing when it is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield _ignore
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import (
        Progress as Bars,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=Console(stderr=True)) as bars:
        yield _Shown(bars)


def _ignore(_progress: Progress) -> None:
    return None


class _Shown:
    """Progress as bars, one a stage."""

    def __init__(self, bars: Any) -> None:
        self._bars = bars
        self._tasks: dict[str, Any] = {}

    def __call__(self, progress: Progress) -> None:
        stage = progress.stage
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task("", total=None, rate="")
        task = self._tasks[stage]
        if progress.done < self._bars.tasks[task].completed:
            self._bars.reset(task)  # the next document: its speed is its own
        speed = self._bars.tasks[task].speed
        self._bars.update(
            task,
            description=f"{tr(f'progress.{stage}')} {self._short(progress.name)}",
            completed=progress.done,
            total=progress.total or None,
            rate=f"{speed:.1f}/s" if speed else "",
        )

    def _short(self, name: str) -> str:
        """The end of a name that leaves room for the numbers; a Han character is two wide."""
        return name[-max(6, min(40, (self._bars.console.width - 64) // 2)) :]


_NARROW = 60


def print_table(
    title: str, head: Sequence[str], rows: Sequence[Sequence[str]], file: IO[str]
) -> None:
    """A table as wide as the terminal of `file`; text from documents is shown as it is."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=file, highlight=False)
    console.width = max(console.width, _NARROW)
    table = Table(title=Text(title), title_justify="left", show_header=any(head))
    for name in head:
        table.add_column(Text(name), overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    file.write("".join(segment.text for segment in console.render(table)))
    file.flush()
