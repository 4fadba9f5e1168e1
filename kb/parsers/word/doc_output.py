"""What antiword and catdoc say of a Word 97 file, to lines and page breaks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from kb.parsers.flow import Break, TextLine
from kb.parsers.layout.lines import CELL
from kb.parsers.word.markup import Item
from kb.parsers.xml.nodes import local
from kb.text.lines import normalize_newlines

_CODES: Final = re.compile(
    r"[ \t]*\b(?:HYPERLINK|PAGEREF|TOC|REF|SEQ|INCLUDEPICTURE|STYLEREF|NUMPAGES|PAGE|DATE|EMBED)\b"
    r"(?:[ \t]+(?:\\[*@\w]\w*|\"[^\"]*\"))+[ \t]?"
)
"""Codes of fields, which catdoc prints before their results."""
_PICTURE: Final = "[pic]"
_BLOCKS: Final = frozenset(
    {"informaltable", "itemizedlist", "orderedlist", "listitem", "beginpage", "para"}
)


def docbook_lines(printed: bytes) -> list[Item]:
    """The items of antiword's DocBook; empty when it is none at all."""
    from lxml import etree  # type: ignore[import-untyped]

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True)
    root = etree.fromstring(printed, parser) if printed.strip() else None
    return [] if root is None else list(_blocks(root, 0))


def plain_lines(printed: bytes) -> list[Item]:
    """The items of catdoc's text: a line a paragraph, cells parted by tabs."""
    text = _CODES.sub("", normalize_newlines(printed.decode("utf-8", "replace")))
    flow: list[Item] = []
    for place, page in enumerate(text.split("\f")):
        flow += [Break()] if place else []
        flow += [TextLine(line.strip()) for line in page.split("\n") if line.strip()]
    return flow


def _blocks(parent: Any, depth: int) -> Iterator[Item]:
    """What `parent` holds; `depth` counts the chapters and sections around it.

    antiword guesses the numbers of lists, often wrongly: items are shown without any.
    """
    for element in parent:
        name = local(element)
        if name == "title" and depth:
            yield from _line("".join(element.itertext()), depth)
        elif name in {"para", "listitem", "screen"}:
            yield from _paragraph(element)
        elif name == "informaltable":
            yield from _table(element)
        elif name == "beginpage":
            yield Break()
        elif name not in {"bookinfo", "title"}:
            yield from _blocks(element, depth + (name[:4] in {"chap", "sect"}))


def _paragraph(element: Any) -> Iterator[Item]:
    """Text, and the tables, lists and breaks that antiword puts inside paragraphs."""
    piece = element.text or ""
    for inner in element:
        if local(inner) in _BLOCKS:
            yield from _line(piece, 0)
            yield from _blocks([inner], 0)
            piece = inner.tail or ""
        else:
            piece += "".join(inner.itertext()) + (inner.tail or "")
    yield from _line(piece, 0)


def _line(text: str, level: int) -> Iterator[Item]:
    said = _said(text)
    if said:
        yield TextLine(said, "heading" if level else "paragraph", level)


def _table(table: Any) -> Iterator[Item]:
    for row in table.iter():
        if local(row) == "row":
            entries = (entry for entry in row if local(entry) == "entry")
            text = CELL.join(_said(" ".join(entry.itertext())) for entry in entries).strip()
            if text.replace("|", "").strip():
                yield TextLine(text, "table", table=table)


def _said(text: str) -> str:
    """Text on one line, without antiword's sign for a picture."""
    return " ".join(text.replace(_PICTURE, " ").split())
