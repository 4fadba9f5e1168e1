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
from kb.model import Page, Parsed
from kb.parsers.flow import TextLine
from kb.parsers.registry import ParserSpec
from kb.parsers.word.body import Body
from kb.parsers.word.package import Package
from kb.parsers.word.pages import Sheet, page, paginate
from kb.parsers.word.sections import Role

_HEADS: Final[tuple[Role, ...]] = ("header", "footer")


def parse(path: Path, name: str) -> Parsed:
    """Rendered pages: hard, recorded and section breaks, capped at 60 lines.

    Raises Refused when the package is damaged or holds no text.
    """
    with Package(path, name) as package:
        body = Body(package)
        sheets = paginate(body.read())
        pages = _numbered(sheets, body)
        warnings = (*body.warnings(), *package.warnings)
    if not any(page.text.strip() for page in pages):
        raise Refused(tr("parse.no_text", name=name), tr("parse.empty_hint"))
    return Parsed(pages, SPEC.id, SPEC.media_type, warnings=tuple(dict.fromkeys(warnings)))


def _numbered(sheets: list[Sheet], body: Body) -> tuple[Page, ...]:
    """Pages with their notes below, between their headers and footers where these are new."""
    margins = _Margins(body)
    result = []
    for number, sheet in enumerate(sheets, start=1):
        above, below = (margins.lines(role, number, sheet) for role in _HEADS)
        refs = [ref for line in sheet.lines for ref in line.notes]
        cited = [TextLine(text, "note") for ref in refs for text in body.note(ref)]
        result.append(page(number, [*above, *sheet.lines, *cited, *below]))
    return tuple(result)


class _Margins:
    """Headers and footers: each is shown where it first holds, and again after another section."""

    def __init__(self, body: Body) -> None:
        self._sections = body.sections
        self._texts = {role: body.margins(role) for role in _HEADS}
        self._shown: set[tuple[Role, tuple[str, ...]]] = set()
        self._names: dict[Role, frozenset[str]] = {}

    def lines(self, role: Role, number: int, sheet: Sheet) -> list[TextLine]:
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
