"""Web pages: their main text by structure, tables as rows, headings known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kb.errors import Refused
from kb.messages import tr
from kb.model import Element, Page, Parsed
from kb.parsers import paging
from kb.parsers.plain.decode import Decoded, decode
from kb.parsers.refusals import not_text
from kb.parsers.registry import ParserSpec
from kb.parsers.web import tree
from kb.parsers.web.body import Body, FlowLine

Node = Any
"""An lxml element; lxml has no types of its own."""

_MAIN_SHARE: Final = 2 / 3
"""Of the text outside navigation: what the main element must hold for the rest to be left out."""
_HEAD: Final = 4096
_CHARSET: Final = re.compile(rb"<meta[^>]*?\bcharset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_XML_ENCODING: Final = re.compile(rb"^\s*<\?xml[^>]*?\bencoding\s*=\s*[\"']([\w.:-]+)")


@dataclass(frozen=True, slots=True)
class HtmlText:
    """A page's lines and its title; `hidden` and `aside` count the characters left out."""

    lines: tuple[FlowLine, ...]
    title: str
    hidden: int = 0
    aside: int = 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out, said."""
        hidden = [tr("parse.warn_hidden", count=self.hidden)] if self.hidden else []
        aside = [tr("web.warn_aside", count=self.aside)] if self.aside else []
        return (*hidden, *aside)


def parse(path: Path, name: str) -> Parsed:
    """Virtual pages of at most 60 lines, cut before headings where possible. Raises Refused."""
    data = path.read_bytes()
    decoded = decode(data, declared_encoding(data))
    if decoded is None:
        raise not_text(name)
    return parsed(decoded, name)


def parsed(decoded: Decoded, name: str) -> Parsed:
    """The pages of decoded markup. Raises Refused when they hold no text."""
    page = read(decoded.text, name)
    lines = with_title(page)
    if not lines:
        raise Refused(tr("parse.no_text", name=name), tr("parse.empty_hint"))
    return Parsed(
        pages=tuple(pages(lines)),
        parser=SPEC.id,
        media_type=SPEC.media_type,
        encoding=decoded.encoding,
        warnings=(*decoded.warnings, *page.warnings),
    )


def pages(lines: Sequence[FlowLine]) -> Iterator[Page]:
    """Virtual pages of at most 60 lines, tables and headings' lines kept together if possible."""

    def strength(_near: Sequence[str], i: int) -> int:
        one, before = lines[i], lines[i - 1]
        if one.group and one.group == before.group:
            return -1
        return 10 - one.level if one.kind == "heading" else 1

    sheets, kind = paging.sheets("\n".join(line.text for line in lines), strength)
    for number, sheet in enumerate(sheets, 1):
        own = lines[sheet.start :][: len(sheet.lines)]
        yield paging.page(number, sheet, kind, elements(own))


def declared_encoding(data: bytes) -> str:
    """The encoding that the first bytes declare, by XML declaration or `meta`, or nothing."""
    head = data[:_HEAD]
    match = _XML_ENCODING.match(head) or _CHARSET.search(head)
    return match.group(1).decode("ascii") if match else ""


def read(markup: str, name: str, *, whole: bool = False) -> HtmlText:
    """The lines of a page. Raises Refused when it nests too deep.

    Navigation, and what stands beside a main element that holds most of the text, is left out
    unless `whole`; where that would leave too little, or a table would go, it is kept.
    """
    root = tree.tree(markup, name)
    main = _main(root)
    body = Body(main)
    lines = body.read(root)
    if not lines and body.hidden:
        body = Body(main, show_hidden=True)
        lines = body.read(root)
    kept = lines if whole else _chosen(lines)
    aside = _size(lines) - _size(kept)
    return HtmlText(tuple(kept), tree.title(root), body.hidden, aside)


def with_title(page: HtmlText) -> list[FlowLine]:
    """The lines, below the page's title where they do not say it themselves."""
    text = _squeezed(line.text for line in page.lines)
    if not page.title or _squeezed([page.title]) in text:
        return list(page.lines)
    return [FlowLine(page.title), *page.lines]


def elements(lines: Sequence[FlowLine]) -> list[Element]:
    """Headings and tables among the lines of one page."""
    result: list[Element] = []
    start = 0
    for at, line in enumerate(lines, 1):
        start = start or at
        if line.group and at < len(lines) and lines[at].group == line.group:
            continue
        if line.kind == "heading":
            result.append(Element("heading", start, at, line.level))
        elif line.kind == "table":
            headers = sum(line.level for line in lines[start - 1 : at])
            result.append(Element("table", start, at, headers))
        start = 0
    return result


def _main(root: Node) -> Node | None:
    """The one element that says it is the main text, or the one article."""
    mains = [
        node
        for node in root.iter("*")
        if (node.tag == "main" or node.get("role") == "main") and not tree.is_hidden(node)
    ]
    if not mains:
        articles = root.iter("article")
        mains = [one for one in articles if next(one.iterancestors("article"), None) is None]
    return mains[0] if len(mains) == 1 else None


def _chosen(lines: Sequence[FlowLine]) -> list[FlowLine]:
    readable = [line for line in lines if line.region != "nav"]
    if _size(readable) * 2 < _size(lines):
        return list(lines)
    main = [line for line in readable if line.region == "main"]
    loses_table = any(line.kind == "table" and line.region != "main" for line in readable)
    if _size(main) >= _MAIN_SHARE * _size(readable) and not loses_table:
        return main
    return readable


def _size(lines: Sequence[FlowLine]) -> int:
    return len(_squeezed(line.text for line in lines))


def _squeezed(texts: Iterable[str]) -> str:
    return "".join("".join(texts).split())


SPEC: Final = ParserSpec(
    name="html",
    revision=1,
    suffixes=(".html", ".htm", ".xhtml"),
    media_type="text/html",
    magic="text",
    parse=parse,
    preload=("lxml.etree", "charset_normalizer"),
)
