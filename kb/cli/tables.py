"""Tables for people at a terminal; what a script reads is JSON and never comes from here."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

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
