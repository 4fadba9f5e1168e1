"""One cell of SpreadsheetML as it is displayed (ECMA-376 part 1, 18.3 and 18.4)."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any, Final

from kb.parsers.sheets.grid import Merge
from kb.parsers.sheets.number_format import BUILTIN, GENERAL, is_date, shown_number, shown_text
from kb.parsers.xml.nodes import child, local
from kb.parsers.xml.ooxml import OoxmlPackage

LAST_COLUMN: Final = 1 << 14
_PLACE: Final = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
_WHOLE: Final = re.compile("-?[0-9]{1,40}")
_ESCAPED: Final = re.compile("_x([0-9A-Fa-f]{4})_")
_EPOCH: Final = dt.datetime(1899, 12, 30)  # noqa: DTZ001 - cells know no time zone


class Cells:
    """What the cells of a workbook share. `formulas` counts those without a saved result."""

    def __init__(
        self, package: OoxmlPackage, *, strings: str, styles: str, from_1904: bool
    ) -> None:
        self.formulas = 0
        self._from_1904 = from_1904
        self._codes = _codes(package.root(styles)) if package.has(styles) else []
        self._strings: list[str] = []
        if package.has(strings):
            self._strings = [rich_text(item) for item in package.elements(strings, "si")]

    def text(self, cell: Any) -> str:
        """What the cell shows."""
        kind = cell.get("t", "n")
        code = self._code(cell.get("s", ""))
        if kind == "inlineStr":
            return shown_text(rich_text(child(cell, "is")), code)
        stored = child(cell, "v")
        raw = "" if stored is None else (stored.text or "")
        if not raw:
            return "" if kind in {"str", "s"} and stored is not None else self._formula(cell)
        shown = {"s": self._string, "str": _string, "b": _boolean, "d": self._date, "e": _error}
        return shown.get(kind, self._number)(raw, code)

    def _string(self, raw: str, code: str) -> str:
        at = int(raw) if raw.strip().isdigit() else -1
        return shown_text(self._strings[at], code) if 0 <= at < len(self._strings) else ""

    def _code(self, style: str) -> str:
        at = int(style) if style.isascii() and style.isdigit() else 0
        return self._codes[at] if at < len(self._codes) else GENERAL

    def _formula(self, cell: Any) -> str:
        formula = child(cell, "f")
        text = "" if formula is None else (formula.text or "")
        if not text:
            return ""
        self.formulas += 1
        return f"={text}"

    def _number(self, raw: str, code: str) -> str:
        """A number; a whole one without a format keeps the very digits of the file."""
        if code == GENERAL and _WHOLE.fullmatch(raw):
            return raw
        try:
            return shown_number(float(raw), code, from_1904=self._from_1904)
        except (ValueError, OverflowError):
            return raw

    def _date(self, raw: str, code: str) -> str:
        """An ISO 8601 date of the strict edition, by its format where it has one for dates."""
        try:
            moment = dt.datetime.fromisoformat(raw.removesuffix("Z")).replace(tzinfo=None)
        except ValueError:
            return raw
        serial = (moment - _EPOCH) / dt.timedelta(days=1)
        if is_date(code):
            return shown_number(serial, code)
        return shown_number(serial, BUILTIN[14] if serial == int(serial) else BUILTIN[22])


def _string(raw: str, code: str) -> str:
    return shown_text(_unescaped(raw), code)


def _boolean(raw: str, _code: str) -> str:
    return "TRUE" if raw.strip() in {"1", "true"} else "FALSE"


def _error(raw: str, _code: str) -> str:
    return raw


def rich_text(item: Any | None) -> str:
    """Text of a string item: its runs, not its phonetic guides."""
    if item is None:
        return ""
    texts = []
    for part in item:
        kind = local(part)
        if kind == "t":
            texts.append(part.text or "")
        elif kind == "r":
            text = child(part, "t")
            texts.append("" if text is None else (text.text or ""))
    return _unescaped("".join(texts))


def place_of(ref: str) -> tuple[int, int]:
    """Row from 1 and column from 0 of a reference like `B7`; (0, 0) when it is none."""
    match = _PLACE.fullmatch(ref)
    if not match:
        return 0, 0
    column = 0
    for letter in match.group(1).upper():
        column = column * 26 + ord(letter) - 64
    return int(match.group(2)), min(column, LAST_COLUMN) - 1


def merge_of(ref: str) -> list[Merge]:
    """The range of a reference like `A1:C2`, or nothing."""
    first, _, last = ref.partition(":")
    top, left = place_of(first)
    bottom, right = place_of(last or first)
    return [Merge(top, left, bottom, right)] if 0 < top <= bottom and left <= right else []


def _codes(styles: Any) -> list[str]:
    """The format code of each cell style, by its index."""
    own = {
        item.get("numFmtId", ""): item.get("formatCode", GENERAL)
        for item in _items(styles, "numFmts")
    }
    ids = [item.get("numFmtId", "0") for item in _items(styles, "cellXfs")]
    return [own.get(i) or BUILTIN.get(int(i) if i.isdigit() else 0, GENERAL) for i in ids]


def _items(root: Any, name: str) -> list[Any]:
    parent = child(root, name)
    return [] if parent is None else [item for item in parent if local(item)]


def _unescaped(text: str) -> str:
    """Characters that XML cannot hold are written `_x000D_` (ECMA-376 part 1, 22.9.2.19)."""
    if "_x" not in text:
        return text
    return _ESCAPED.sub(lambda match: chr(int(match.group(1), 16)), text)
