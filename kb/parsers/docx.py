"""Word documents: the whole body, in order, read from the XML itself.

python-docx would lose text boxes, tracked insertions and content controls, and it refuses strict
OOXML and files whose relations point nowhere (both common from WPS). The package is opened with
zipfile and lxml instead, by local names, which are the same in every edition of the standard.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kb.errors import Refused
from kb.messages import tr
from kb.parsers.docx_body import Body
from kb.parsers.docx_flow import Item, NextSection, TextLine
from kb.parsers.docx_package import Package
from kb.parsers.docx_sections import Role
from kb.parsers.paging import PAGE_LINES
from kb.parsers.registry import ParserSpec
from kb.types import Element, Page, Parsed

_HEADS: Final[tuple[Role, ...]] = ("header", "footer")


@dataclass(slots=True)
class _Sheet:
    """The lines of a page. `section` is the one it begins in, `first` that it is its first page."""

    section: int
    first: bool
    lines: list[TextLine] = field(default_factory=list)

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing on it."""
        return not any(line.text.strip() for line in self.lines)


def parse(path: Path, name: str) -> Parsed:
    """Rendered pages: hard, recorded and section breaks, capped at 60 lines.

    Raises Refused when the package is damaged or holds no text.
    """
    with Package(path, name) as package:
        body = Body(package)
        sheets = _paged(body.read())
        pages = _numbered(sheets, body)
        warnings = (*body.warnings(), *package.warnings)
    if not any(page.text.strip() for page in pages):
        raise Refused(tr("parse.no_text", name=name), tr("parse.empty_hint"))
    return Parsed(pages, SPEC.id, SPEC.media_type, warnings=tuple(dict.fromkeys(warnings)))


def _paged(flow: list[Item]) -> list[_Sheet]:
    """Lines by page.

    A break on an empty page is the same break said twice: Word records the page break that it has
    just been told to make.
    """
    sheets = [_Sheet(0, first=True)]
    section = 0
    for item in flow:
        sheet = sheets[-1]
        if isinstance(item, TextLine):
            if len(sheet.lines) == PAGE_LINES:
                sheets.append(_Sheet(section, first=False))
            sheets[-1].lines.append(item)
        elif isinstance(item, NextSection):
            section += 1
        elif sheet.is_blank:
            sheets[-1] = _Sheet(section, first=sheet.first or section > sheet.section)
        else:
            sheets.append(_Sheet(section, first=section > sheet.section))
    if len(sheets) > 1 and sheets[-1].is_blank:
        sheets.pop()
    return sheets


def _numbered(sheets: list[_Sheet], body: Body) -> tuple[Page, ...]:
    """Pages with their notes below, between their headers and footers where these are new."""
    margins = _Margins(body)
    result = []
    for number, sheet in enumerate(sheets, start=1):
        above, below = (margins.lines(role, number, sheet) for role in _HEADS)
        refs = [ref for line in sheet.lines for ref in line.notes]
        cited = [TextLine(text, "note") for ref in refs for text in body.note(ref)]
        result.append(_page(number, [*above, *sheet.lines, *cited, *below]))
    return tuple(result)


class _Margins:
    """Headers and footers: each is shown where it first holds, and again after another section."""

    def __init__(self, body: Body) -> None:
        self._sections = body.sections
        self._texts = {role: body.margins(role) for role in _HEADS}
        self._shown: set[tuple[Role, tuple[str, ...]]] = set()
        self._names: dict[Role, frozenset[str]] = {}

    def lines(self, role: Role, number: int, sheet: _Sheet) -> list[TextLine]:
        """What is new on page `number`."""
        margins = self._sections[sheet.section].margins
        names = frozenset(ref for (own, _), ref in margins.items() if own == role)
        if self._names.setdefault(role, names) != names:
            self._names[role] = names
            self._shown = {shown for shown in self._shown if shown[0] != role}
        ref = self._sections.part(role, sheet.section, number, first=sheet.first)
        texts = self._texts[role].get(ref, ())
        if (role, texts) in self._shown:
            return []
        self._shown.add((role, texts))
        return [TextLine(text, role) for text in texts]


def _page(number: int, lines: list[TextLine]) -> Page:
    return Page(
        number=number,
        text="\n".join(line.text for line in lines),
        kind="rendered",
        elements=_elements(lines),
        noise=tuple(i for i, line in enumerate(lines, 1) if line.kind in {"header", "footer"}),
    )


def _elements(lines: list[TextLine]) -> tuple[Element, ...]:
    """Headings one by one; tables, notes, headers and footers as runs of lines."""
    result: list[Element] = []
    start = 0
    for at, line in enumerate(lines, start=1):
        start = start or at
        follower = lines[at] if at < len(lines) else None
        if follower and line.kind != "heading" and _belong(line, follower):
            continue
        if line.kind != "paragraph":
            heads = sum(row.level for row in lines[start - 1 : at])
            level = heads if line.kind == "table" else line.level
            result.append(Element(line.kind, start, at, level))
        start = 0
    return tuple(result)


def _belong(one: TextLine, two: TextLine) -> bool:
    return one.kind == two.kind and one.table is two.table


SPEC: Final = ParserSpec(
    name="docx",
    revision=2,
    suffixes=(".docx",),
    media_type="application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    magic="zip",
    zip_kind="docx",
    parse=parse,
    preload=("lxml.etree",),
)
