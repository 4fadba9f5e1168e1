"""Excel 97-2003 workbooks (.xls), through xlrd: the one reader that keeps number formats.

calamine gives the values of such cells without how they are displayed.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Final

from kb.errors import Refused
from kb.messages import tr
from kb.model import Parsed
from kb.parsers.refusals import damaged
from kb.parsers.registry import ParserSpec
from kb.parsers.sheets import grid
from kb.parsers.sheets.number_format import BUILTIN, GENERAL, shown_number, shown_text
from kb.text import rows

_NUMBERS: Final = frozenset({2, 3})
"""xlrd's cell types: numbers and dates."""
_TEXT: Final = 1
_BOOLEAN: Final = 4
_ERROR: Final = 5
_SYSTEM_DATES: Final = frozenset({14, 22, *range(27, 37), *range(50, 59)})
"""Formats that follow the reader's system."""


def parse(path: Path, name: str) -> Parsed:
    """A page for each sheet, more where it is long. Raises Refused."""
    book = _open(path, name)
    failed: list[str] = []
    sheets = [_sheet(book, at, failed) for at in range(book.nsheets)]
    pages, warnings = grid.pages(sheets, name)
    warnings += _warnings(book, failed)
    return Parsed(pages, SPEC.id, SPEC.media_type, warnings=tuple(warnings))


def _open(path: Path, name: str) -> Any:
    import xlrd  # type: ignore[import-untyped]

    try:
        return xlrd.open_workbook(
            str(path), logfile=io.StringIO(), formatting_info=True, on_demand=True, ragged_rows=True
        )
    except xlrd.XLRDError as error:
        if "encrypted" in str(error):
            raise Refused(tr("parse.encrypted", name=name), tr("parse.encrypted_hint")) from error
        raise damaged(name, tr("office.reason_book")) from error


def _sheet(book: Any, at: int, failed: list[str]) -> grid.Sheet:
    """One sheet; a broken one is empty and its name goes to `failed`."""
    sheet = grid.Sheet(rows.one_line(book.sheet_names()[at]))
    try:
        source = book.sheet_by_index(at)
    except MemoryError:
        raise
    except Exception:  # xlrd meets broken records with whatever comes
        failed.append(sheet.name)
        return sheet
    if source.panes_are_frozen:
        sheet.header = source.horz_split_pos
    for top, bottom, left, right in source.merged_cells:
        sheet.merges.append(grid.Merge(top + 1, left, bottom, right - 1))
    for row in range(source.nrows):
        for column, cell in enumerate(source.row(row)):
            sheet.put(row + 1, column, _text(book, cell))
    book.unload_sheet(at)
    return sheet


def _text(book: Any, cell: Any) -> str:
    """What the cell shows."""
    if cell.ctype in _NUMBERS:
        return shown_number(cell.value, _code(book, cell.xf_index), from_1904=book.datemode == 1)
    if cell.ctype == _TEXT:
        return shown_text(cell.value, _code(book, cell.xf_index))
    if cell.ctype == _BOOLEAN:
        return "TRUE" if cell.value else "FALSE"
    if cell.ctype == _ERROR:
        from xlrd.biffh import error_text_from_code  # type: ignore[import-untyped]

        return str(error_text_from_code.get(cell.value, "#ERR!"))
    return ""


def _code(book: Any, style: int | None) -> str:
    """The format code of a cell style."""
    if style is None or not 0 <= style < len(book.xf_list):
        return GENERAL
    key = book.xf_list[style].format_key
    if key in _SYSTEM_DATES:
        return BUILTIN[key]
    number_format = book.format_map.get(key)
    return GENERAL if number_format is None else str(number_format.format_str)


def _warnings(book: Any, failed: list[str]) -> list[str]:
    hidden = [
        rows.one_line(name)
        for name, visibility in zip(book.sheet_names(), book._sheet_visibility, strict=False)  # noqa: SLF001
        if visibility
    ]
    named = (("office.warn_hidden_sheets", hidden), ("office.warn_sheet_failed", failed))
    return [tr(key, names=grid.listed(names)) for key, names in named if names]


SPEC: Final = ParserSpec(
    name="xls",
    revision=1,
    suffixes=(".xls", ".xlt"),
    media_type="application/vnd.ms-excel",
    magic="xls",
    parse=parse,
    preload=("xlrd",),
)
