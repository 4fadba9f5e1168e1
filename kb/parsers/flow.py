"""Lines and page breaks in reading order → pages. For formats whose pages are only recorded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kb.model import Element, ElementKind, Page
from kb.parsers.paging import PAGE_LINES


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line. `level` is of a heading, or 1 on a table's header rows.

    `table` tells touching tables apart; `notes` are the lines of the notes that it refers to.
    """

    text: str
    kind: ElementKind = "paragraph"
    level: int = 0
    table: Any = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Break:
    """The page ends here."""


def rendered_pages(flow: Iterable[TextLine | Break]) -> tuple[Page, ...]:
    """Pages of at most 60 lines, their notes below; a break on an empty page makes no other."""
    pages: list[list[TextLine]] = [[]]
    for item in flow:
        if isinstance(item, TextLine):
            if len(pages[-1]) == PAGE_LINES:
                pages.append([])
            pages[-1].append(item)
        elif any(line.text.strip() for line in pages[-1]):
            pages.append([])
        else:
            pages[-1].clear()
    if len(pages) > 1 and not any(line.text.strip() for line in pages[-1]):
        pages.pop()
    return tuple(_page(number, lines) for number, lines in enumerate(pages, start=1))


def _page(number: int, lines: list[TextLine]) -> Page:
    notes = [TextLine(text, "note") for line in lines for text in line.notes]
    shown = [*lines, *notes]
    text = "\n".join(line.text for line in shown)
    return Page(number=number, text=text, kind="rendered", elements=elements(shown))


def elements(lines: Sequence[TextLine]) -> tuple[Element, ...]:
    """Headings one by one; tables, notes, headers and footers as runs of lines."""
    result: list[Element] = []
    start = 0
    for at, line in enumerate(lines, start=1):
        start = start or at
        follower = lines[at] if at < len(lines) else None
        if follower and line.kind != "heading" and _belong(line, follower):
            continue
        if line.kind != "paragraph":
            result.append(Element(line.kind, start, at, _level(lines[start - 1 : at])))
        start = 0
    return tuple(result)


def _level(run: Sequence[TextLine]) -> int:
    if run[0].kind == "table":
        return next((i for i, line in enumerate(run) if not line.level), len(run))
    return run[0].level


def _belong(one: TextLine, two: TextLine) -> bool:
    return one.kind == two.kind and one.table is two.table
