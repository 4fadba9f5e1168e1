"""Delimited text (.csv, .tsv): a record is a row, a row is a line."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from kb.messages import tr
from kb.model import Parsed
from kb.parsers.plain.text import read_text
from kb.parsers.registry import ParserSpec, suffix_of
from kb.parsers.sheets import grid
from kb.text.lines import normalize_newlines, split_lines

_DELIMITERS: Final = ",;\t|"
_SAMPLE_LINES: Final = 200
_LONGEST_CELL: Final = 1 << 20
"""Characters; a quotation that is longer was never closed."""


def parse(path: Path, name: str) -> Parsed:
    """Pages of 1,000 rows. Raises Refused."""
    decoded = read_text(path, name)
    lines = split_lines(normalize_newlines(decoded.text).removesuffix("\n"))
    sheet = grid.Sheet("")
    unclosed = _read(sheet, lines, _delimiter(lines, name))
    warnings = list(decoded.warnings)
    if unclosed:
        warnings.append(tr("office.warn_csv_cut", line=unclosed))
    pages, blanks = grid.pages([sheet], name)
    return Parsed(
        pages=pages,
        parser=SPEC.id,
        media_type=SPEC.media_type,
        encoding=decoded.encoding,
        warnings=(*warnings, *blanks),
    )


def _read(sheet: grid.Sheet, lines: Sequence[str], delimiter: str) -> int:
    """Fill the sheet. The line where a quotation begins that never ends, else 0.

    From there on quotation marks are characters like others.
    """
    for row, (start, record) in enumerate(_records(lines, delimiter), start=1):
        if record is None:
            rest = csv.reader(lines[start:], delimiter=delimiter, quoting=csv.QUOTE_NONE)
            for at, plain in enumerate(rest, start=row):
                _put(sheet, at, plain)
            return start + 1
        _put(sheet, row, record)
    return 0


def _records(lines: Sequence[str], delimiter: str) -> Iterator[tuple[int, list[str] | None]]:
    """The first line (from 0) and the cells of each record; None for one that cannot end."""
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
    start = 0
    while True:
        try:
            record = next(reader, None)
        except csv.Error:
            yield start, None
            return
        if record is None:
            return
        if record and record[-1].endswith("\n"):  # the end of the file, still inside the quotation
            yield start, None
            return
        yield start, record
        start = reader.line_num


def _put(sheet: grid.Sheet, row: int, record: Sequence[str]) -> None:
    for column, text in enumerate(record):
        sheet.put(row, column, text)


def _delimiter(lines: Sequence[str], name: str) -> str:
    """The one that cuts most of the first records into equally many cells, more than one."""
    if suffix_of(name) in {".tsv", ".tab"}:
        return "\t"
    return max(_DELIMITERS, key=lambda delimiter: _agreement(lines, delimiter))


def _agreement(lines: Sequence[str], delimiter: str) -> tuple[int, int]:
    records = islice(_records(lines[:_SAMPLE_LINES], delimiter), _SAMPLE_LINES)
    widths = Counter(len(record) for _, record in records if record and len(record) > 1)
    width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    return count, width


SPEC: Final = ParserSpec(
    name="csv",
    revision=1,
    suffixes=(".csv", ".tsv", ".tab"),
    media_type="text/csv",
    magic="text",
    parse=parse,
    preload=("charset_normalizer",),
)
