"""Word documents: the whole body, in order, read from the XML itself.

python-docx would lose text boxes, tracked insertions and content controls, and it refuses strict
OOXML and files whose relations point nowhere (both common from WPS). The package is opened with
zipfile and lxml instead, by local names, which are the same in every edition of the standard.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kb.errors import Refused
from kb.messages import tr
from kb.parsers.docx_body import Body, Break, TextLine
from kb.parsers.docx_package import Package
from kb.parsers.paging import PAGE_LINES
from kb.parsers.registry import ParserSpec
from kb.types import Element, Page, Parsed


def parse(path: Path, name: str) -> Parsed:
    """Rendered pages: hard, recorded and section breaks, capped at 60 lines.

    Raises Refused when the package is damaged or holds no text.
    """
    with Package(path, name) as package:
        body = Body(package)
        flow = body.read()
        header, footer = body.headers(), body.footers()
        warnings = (*body.warnings(), *package.warnings)
    pages = _numbered(_paged(flow), body, header, footer)
    if not any(page.text.strip() for page in pages):
        raise Refused(tr("parse.no_text", name=name), tr("parse.empty_hint"))
    return Parsed(pages, SPEC.id, SPEC.media_type, warnings=warnings)


def _paged(flow: list[TextLine | Break]) -> list[list[TextLine]]:
    """Lines by page.

    A break on an empty page is the same break said twice: Word records the page break that it has
    just been told to make.
    """
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
    return pages


def _numbered(
    pages: list[list[TextLine]], body: Body, header: list[str], footer: list[str]
) -> tuple[Page, ...]:
    """Pages with their notes below; headers and footers on the first page only, as noise."""
    result = []
    for number, lines in enumerate(pages, start=1):
        above = [TextLine(text, "header") for text in header] if number == 1 else []
        below = [TextLine(text, "footer") for text in footer] if number == 1 else []
        refs = [ref for line in lines for ref in line.notes]
        cited = [TextLine(text, "note") for ref in refs for text in body.note(ref)]
        result.append(_page(number, [*above, *lines, *cited, *below]))
    return tuple(result)


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
            result.append(Element(line.kind, start, at, line.level))
        start = 0
    return tuple(result)


def _belong(one: TextLine, two: TextLine) -> bool:
    return one.kind == two.kind and one.table is two.table


SPEC: Final = ParserSpec(
    name="docx",
    revision=1,
    suffixes=(".docx",),
    media_type="application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    magic="zip",
    zip_kind="docx",
    parse=parse,
    preload=("lxml.etree",),
)
