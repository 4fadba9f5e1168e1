"""What the walk over a Word document yields, and the questions that it asks of elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kb.parsers.flow import Break, TextLine
from kb.parsers.xml.nodes import child, local, value

DROPPED: Final = frozenset(
    {
        *("del", "moveFrom", "delText", "instrText", "delInstrText", "Fallback"),
        *("pPr", "tblPr", "tblGrid", "trPr", "tcPr", "sectPr", "sdtPr", "sdtEndPr", "rubyPr"),
        *("annotationRef", "footnoteRef", "endnoteRef", "separator", "continuationSeparator"),
    }
)
"""Elements whose text a reader does not see, or which hold none."""


@dataclass(frozen=True, slots=True)
class NextSection:
    """What follows belongs to the next section."""


Item = TextLine | Break | NextSection


def text_line(text: str, level: int) -> TextLine:
    """A line of a paragraph, a heading where it has a level and says something."""
    if level and text.strip():
        return TextLine(text.rstrip(), "heading", level)
    return TextLine(text.rstrip())


def alternative(element: Any) -> Any:
    """The first Choice of alternate content, its Fallback only when there is none."""
    choice = child(element, "Choice")
    if choice is not None:
        return choice
    fallback = child(element, "Fallback")
    return () if fallback is None else fallback


def through(parent: Any, wanted: str) -> Iterator[Any]:
    """Rows of a table or cells of a row, through content controls and tracked insertions."""
    for element in parent:
        name = local(element)
        if name == wanted:
            yield element
        elif name not in DROPPED and name not in {"tr", "tc", "p", "tbl"}:
            yield from through(element, wanted)


def header_rows(rows: Sequence[Any]) -> int:
    """How many rows a table begins with that head it: those marked so, else the first.

    A table of one row has none; nor has one whose rows are all marked, but then its first is taken.
    """
    marked = next((i for i, row in enumerate(rows) if not has(row, "trPr", "tblHeader")), 0)
    return marked or int(len(rows) > 1)


def has(element: Any, properties: str, name: str) -> bool:
    """Whether the element's `properties` hold one called `name`."""
    return child(child(element, properties), name) is not None


def is_merged(properties: Any) -> bool:
    """Whether the paragraph's own mark is deleted: it runs into the next one."""
    mark = child(properties, "rPr")
    return child(mark, "del") is not None or child(mark, "moveFrom") is not None


def is_hidden(properties: Any) -> bool:
    """Whether run properties hide the text."""
    vanish = child(properties, "vanish")
    return vanish is not None and value(vanish, "val") not in {"0", "false", "off"}
