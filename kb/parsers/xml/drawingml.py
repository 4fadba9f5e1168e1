"""Text that a Word drawing keeps in parts of its own: charts as rows, SmartArt as lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from kb.parsers.layout.lines import CELL
from kb.parsers.xml.nodes import child, local, value

_MOST_ROWS: Final = 500
_LONG: Final = re.compile(r"-?\d{1,9}\.\d{12,20}")


def chart_lines(root: Any) -> Iterator[str]:
    """Title, then a row a category: its name and the value of every series, as last calculated."""
    title = next((item for item in root.iter() if local(item) == "title"), None)
    if title is not None and (text := _drawn(title)):
        yield text
    series = [item for item in root.iter() if local(item) == "ser"]
    names = [" ".join(_points(child(item, "tx")).values()) for item in series]
    if any(names):
        yield CELL.join(["", *names]).strip()
    categories: dict[int, str] = {}
    for item in series:
        categories = categories or _points(_either(item, "cat", "xVal"))
    values = [_points(_either(item, "val", "yVal")) for item in series]
    rows = sorted({*categories, *(place for column in values for place in column)})
    for place in rows[:_MOST_ROWS]:
        cells = [categories.get(place, ""), *(column.get(place, "") for column in values)]
        yield CELL.join(cells).strip()


def diagram_lines(root: Any) -> Iterator[str]:
    """The texts of the points of a SmartArt drawing, in the order of its data."""
    for point in root.iter():
        if local(point) == "pt":
            for paragraph in point.iter():
                if local(paragraph) == "p" and (text := _drawn(paragraph)):
                    yield text


def _drawn(parent: Any) -> str:
    """The text of DrawingML runs, or of a title taken from a cell."""
    runs = (item.text or "" for item in parent.iter() if local(item) in {"t", "v"})
    return " ".join("".join(runs).split())


def _either(parent: Any, *names: str) -> Any | None:
    found = (child(parent, name) for name in names)
    return next((item for item in found if item is not None), None)


def _points(parent: Any | None) -> dict[int, str]:
    """Cached values by their place."""
    found = {}
    for item in parent.iter() if parent is not None else ():
        place = value(item, "idx")
        if local(item) == "pt" and place.isdigit():
            found[int(place)] = _number(getattr(child(item, "v"), "text", "") or "")
    return found


def _number(text: str) -> str:
    """A value without the tail of its binary form: 4.4000000000000004 is 4.4."""
    plain = " ".join(text.split())
    return f"{float(plain):.12g}" if _LONG.fullmatch(plain) else plain
