"""Excel workbooks (.xlsx): every sheet, its cells as they are displayed, read from the XML itself.

openpyxl sees no sheet in strict files, and calamine gives values without their number formats and
aborts on a sheet whose only cells are its first and last. SpreadsheetML is read here by local
names, sheet by sheet, and only cells that are there cost anything.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, Final

from kb.errors import Refused
from kb.messages import tr
from kb.model import Parsed
from kb.parsers.refusals import damaged
from kb.parsers.registry import ParserSpec
from kb.parsers.sheets import grid
from kb.parsers.sheets.xlsx_cells import Cells, merge_of, place_of
from kb.parsers.xml.nodes import child, local, value
from kb.parsers.xml.ooxml import OoxmlPackage, Relation
from kb.text import rows as rows_module

_SHEETS: Final = frozenset({"worksheet", "chartsheet", "dialogsheet", "xlMacrosheet"})
_OBJECTS: Final = {
    "pic": "office.warn_images",
    "graphicFrame": "office.warn_charts",
    "txBody": "office.warn_shapes",
    "comment": "parse.warn_comments",
}
_LAST_ROW: Final = 1 << 20


def parse(path: Path, name: str) -> Parsed:
    """A page for each sheet, more where it is long. Raises Refused."""
    with OoxmlPackage(path, name) as package:
        book = _Book(package)
        sheets = [book.sheet(label, part) for label, part in book.parts]
        pages, warnings = grid.pages(sheets, name)
        warnings += book.warnings()
    return Parsed(pages, SPEC.id, SPEC.media_type, warnings=tuple(warnings))


class _Book:
    """The workbook part and what its sheets share. `parts` has label and part of each sheet."""

    def __init__(self, package: OoxmlPackage) -> None:
        self._package = package
        main = package.main()
        root = package.root(main)
        relations = {relation.id: relation for relation in package.relations(main)}
        by_role = {relation.role: relation.target for relation in relations.values()}
        properties = child(root, "workbookPr")
        self._cells = Cells(
            package,
            strings=by_role.get("sharedStrings", ""),
            styles=by_role.get("styles", ""),
            from_1904=value(properties, "date1904") in {"1", "true"},
        )
        self._left_out: Counter[str] = Counter()
        self._failed: list[str] = []
        self._hidden: list[str] = []
        self.parts = self._sheets(root, relations)

    def sheet(self, label: str, part: str) -> grid.Sheet:
        """One sheet; of a broken one what could be read, and its name in the warnings."""
        sheet = grid.Sheet(label)
        try:
            self._read(sheet, part)
        except Refused:
            if sheet.cells > grid.MOST_CELLS:
                raise
            self._failed.append(label)
        self._count_objects(part)
        return sheet

    def warnings(self) -> list[str]:
        """What was left out, or is not what it seems."""
        found = [tr(key, count=count) for key, count in self._left_out.items()]
        if self._cells.formulas:
            found.append(tr("office.warn_formulas", count=self._cells.formulas))
        if self._hidden:
            found.append(tr("office.warn_hidden_sheets", names=grid.listed(self._hidden)))
        if self._failed:
            found.append(tr("office.warn_sheet_failed", names=grid.listed(self._failed)))
        return found

    def _sheets(self, root: Any, relations: dict[str, Relation]) -> list[tuple[str, str]]:
        found = []
        listed = child(root, "sheets")
        for item in listed if listed is not None else ():
            relation = relations.get(_relation_id(item))
            if local(item) != "sheet" or relation is None or relation.role not in _SHEETS:
                continue
            label = rows_module.one_line(item.get("name", ""))
            found.append((label, relation.target))
            if item.get("state", "visible") != "visible":
                self._hidden.append(label)
        if not found:
            raise damaged(self._package.name, tr("office.reason_book"))
        return found

    def _read(self, sheet: grid.Sheet, part: str) -> None:
        row = 0
        header = 0
        for element in self._package.elements(part, "row", "mergeCell", "pane", "autoFilter"):
            kind = local(element)
            if kind == "row":
                row = self._row(sheet, element, row + 1)
            elif kind == "mergeCell":
                sheet.merges += merge_of(element.get("ref", ""))
            elif kind == "pane" and element.get("state", "").startswith("frozen"):
                header = header or _frozen(element)
            elif kind == "autoFilter":
                header = header or _first_row(element.get("ref", ""))
        sheet.header = header or self._table_header(part)

    def _row(self, sheet: grid.Sheet, element: Any, expected: int) -> int:
        """Read a row; its number may be left out."""
        number = element.get("r", "")
        row = int(number) if number.isascii() and number.isdigit() else expected
        if not 1 <= row <= _LAST_ROW:
            raise damaged(self._package.name, tr("office.reason_rows"))
        column = -1
        for cell in element:
            if local(cell) == "c":
                column = place_of(cell.get("r", ""))[1] if cell.get("r") else column + 1
                sheet.put(row, column, self._cells.text(cell))
        return row

    def _table_header(self, part: str) -> int:
        """The header row of the sheet's first table, 0 when it has none."""
        tables = [r.target for r in self._package.relations(part) if r.role == "table"]
        for table in tables[:1]:
            if self._package.has(table):
                root = self._package.root(table)
                if root.get("headerRowCount", "1") != "0":
                    return _first_row(root.get("ref", ""))
        return 0

    def _count_objects(self, part: str) -> None:
        """Count what is not cells: pictures, charts, text in shapes, comments."""
        for relation in self._package.relations(part):
            if relation.role in {"drawing", "comments"} and self._package.has(relation.target):
                for element in self._package.root(relation.target).iter():
                    if local(element) in _OBJECTS and _has_content(element):
                        self._left_out[_OBJECTS[local(element)]] += 1


def _has_content(element: Any) -> bool:
    return local(element) != "txBody" or any((text or "").strip() for text in element.itertext())


def _relation_id(element: Any) -> str:
    """The r:id of an element, whatever the edition's namespace."""
    return next((str(v) for k, v in element.attrib.items() if k.endswith("}id")), "")


def _frozen(pane: Any) -> int:
    """The last row that stays in view above the others, by the first one that scrolls."""
    rows = pane.get("ySplit", "0").partition(".")[0]
    return int(rows) if rows.isdigit() and int(rows) <= _LAST_ROW else 0


def _first_row(ref: str) -> int:
    return place_of(ref.partition(":")[0])[0]


SPEC: Final = ParserSpec(
    name="xlsx",
    revision=1,
    suffixes=(".xlsx", ".xlsm", ".xltx"),
    media_type="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    magic="zip",
    zip_kind="xlsx",
    parse=parse,
    preload=("lxml.etree",),
)
