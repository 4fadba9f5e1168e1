"""Lines and breaks of a Word document to pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kb.model import Page
from kb.parsers.flow import TextLine, elements
from kb.parsers.paging import PAGE_LINES
from kb.parsers.word.markup import Item, NextSection


@dataclass(slots=True)
class Sheet:
    """The lines of a page. `section` is the one it begins in, `first` that it is its first page."""

    section: int
    first: bool
    lines: list[TextLine] = field(default_factory=list)

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing on it."""
        return not any(line.text.strip() for line in self.lines)


def paginate(flow: Sequence[Item]) -> list[Sheet]:
    """Lines by page, capped at 60.

    A break on an empty page is the same break said twice: Word records the page break that it has
    just been told to make.
    """
    sheets = [Sheet(0, first=True)]
    section = 0
    for item in flow:
        sheet = sheets[-1]
        if isinstance(item, TextLine):
            if len(sheet.lines) == PAGE_LINES:
                sheets.append(Sheet(section, first=False))
            sheets[-1].lines.append(item)
        elif isinstance(item, NextSection):
            section += 1
        elif sheet.is_blank:
            sheets[-1] = Sheet(section, first=sheet.first or section > sheet.section)
        else:
            sheets.append(Sheet(section, first=section > sheet.section))
    if len(sheets) > 1 and sheets[-1].is_blank:
        sheets.pop()
    return sheets


def page(number: int, lines: list[TextLine]) -> Page:
    """A page of `lines`; headers and footers are its noise."""
    return Page(
        number=number,
        text="\n".join(line.text for line in lines),
        kind="rendered",
        elements=elements(lines),
        noise=tuple(i for i, line in enumerate(lines, 1) if line.kind in {"header", "footer"}),
    )
