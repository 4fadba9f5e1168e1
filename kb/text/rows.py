"""A row of a table as a line of text, and back. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

_BREAKS: Final = re.compile(r"[\r\n\t\f]+")


_NUMBER: Final = re.compile(r"[-+(（]?[¥￥$€£]?\s*[\d,.]*\d[\d,.]*\s*[%％)）]?|-|—")


Cells = dict[int, str]
"""The cells of one row by column, from 0; empty ones are not there."""


def one_line(text: str) -> str:
    """Text of a cell on one line."""
    return _BREAKS.sub(" ", text).strip()


def is_header(cells: Sequence[str]) -> bool:
    """Whether the first row of a table looks like its header: names over several columns."""
    return len(cells) > 1 and all(cells) and not _is_numeric(dict(enumerate(cells)))


def _is_numeric(cells: Cells) -> bool:
    """Whether half of the cells or more are numbers; years are names."""
    count = sum(bool(_NUMBER.fullmatch(text)) and not _is_year(text) for text in cells.values())
    return count * 2 >= len(cells) > 0


def _is_year(text: str) -> bool:
    return len(text) == 4 and text[:2] in {"19", "20"}  # noqa: PLR2004 - 1999


CELL: Final = " | "
"""What stands between the cells of a table's row."""


def _header(lines: Sequence[str]) -> str:
    """A header as one line; of several rows each column is read from the top down.

    A title over several columns stands in the first of them and is said for each. Rows of unequal
    width, as a PDF shows merged cells, are read one after the other.
    """
    if len({_columns(line) for line in lines}) != 1 or len(lines) == 1:
        return " ".join(lines)
    rows = [line.split(CELL) for line in lines]
    for row in rows[:-1]:
        for i in range(1, len(row)):
            row[i] = row[i] if row[i].strip() else row[i - 1]
    names = zip_longest(*rows, fillvalue="")
    return CELL.join(" ".join(filter(None, map(str.strip, name))) for name in names)


def _columns(line: str) -> int:
    """Borders in a row, those before an empty first and after an empty last cell too."""
    return f" {line} ".count(CELL)
