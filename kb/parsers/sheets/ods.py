"""OpenDocument spreadsheets (.ods): the text that each cell displays is in the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from kb.messages import tr
from kb.model import Parsed
from kb.parsers.odf import package
from kb.parsers.registry import ParserSpec
from kb.parsers.sheets import grid
from kb.parsers.sheets.number_format import general
from kb.parsers.xml.nodes import local, value
from kb.text import rows as rows_module

_GROUPS: Final = frozenset({"table-header-rows", "table-rows", "table-row-group"})
_VALUES: Final = ("string-value", "date-value", "time-value", "boolean-value")


def parse(path: Path, name: str) -> Parsed:
    """A page for each sheet, more where it is long. Raises Refused."""
    content = package.read(path, name, "spreadsheet")
    tables = [table for table in content.body if local(table) == "table"]
    sheets = [_sheet(table) for table in tables]
    pages, warnings = grid.pages(sheets, name)
    warnings += content.warnings
    hidden = [
        sheet.name
        for sheet, table in zip(sheets, tables, strict=True)
        if package.style_property(content, table, "display") == "false"
    ]
    if hidden:
        warnings.append(tr("office.warn_hidden_sheets", names=grid.listed(hidden)))
    return Parsed(pages, SPEC.id, SPEC.media_type, warnings=tuple(warnings))


def _sheet(table: Any) -> grid.Sheet:
    sheet = grid.Sheet(rows_module.one_line(value(table, "name")))
    number = 1
    for row, is_header in _rows(table, is_header=False):
        times = package.repeats(row, "rows")
        cells = list(_cells(row))
        for at in range(number, number + times if cells else number):
            for column, cell, text in cells:
                _put(sheet, at, column, cell, text)
        number += times
        if is_header:
            sheet.header = number - 1
    return sheet


def _rows(parent: Any, *, is_header: bool) -> Iterator[tuple[Any, bool]]:
    for element in parent:
        if local(element) == "table-row":
            yield element, is_header
        elif local(element) in _GROUPS:
            header = is_header or local(element) == "table-header-rows"
            yield from _rows(element, is_header=header)


def _cells(row: Any) -> Iterator[tuple[int, Any, str]]:
    """Column, element and text of the cells that show something."""
    column = 0
    for cell in row:
        if local(cell) not in {"table-cell", "covered-table-cell"}:
            continue
        times = package.repeats(cell, "columns")
        text = _text(cell) if local(cell) == "table-cell" else ""
        if text:
            yield from ((column + i, cell, text) for i in range(times))
        column += times


def _put(sheet: grid.Sheet, row: int, column: int, cell: Any, text: str) -> None:
    sheet.put(row, column, text)
    down, across = package.span(cell, "rows"), package.span(cell, "columns")
    if down > 1 or across > 1:
        sheet.merges.append(grid.Merge(row, column, row + down - 1, column + across - 1))


def _text(cell: Any) -> str:
    """What the cell shows, or its value where the file says nothing else."""
    inline = package.Inline()
    shown = " ".join(inline.text(part) for part in cell if local(part) == "p")
    if shown.strip() or not value(cell, "value-type"):
        return shown
    number = value(cell, "value")
    try:
        return general(float(number)) if number else _plain(cell)
    except (ValueError, OverflowError):
        return number


def _plain(cell: Any) -> str:
    return next((value(cell, name) for name in _VALUES if value(cell, name)), "")


SPEC: Final = ParserSpec(
    name="ods",
    revision=1,
    suffixes=(".ods", ".ots"),
    media_type="application/vnd.oasis.opendocument.spreadsheet",
    magic="zip",
    zip_kind="ods",
    parse=parse,
    preload=("lxml.etree",),
)
