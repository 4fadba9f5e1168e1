"""Markup to a tree: recovery as browsers do it, and what a reader of the page would never see."""

from __future__ import annotations

import re
from typing import Any, Final

from kb.messages import tr
from kb.parsers.refusals import damaged

Element = Any
"""An lxml element; lxml has no types of its own."""

VOID: Final = frozenset(
    "area base br col embed hr img input link meta param source track wbr".split()  # noqa: SIM905 - else a line a word
)
_UNREAD_WORDS: Final = (
    "head script style template noscript iframe object embed applet canvas audio video "
    "map datalist select button title desc defs metadata symbol annotation annotation-xml"
)
UNREAD: Final = frozenset(_UNREAD_WORDS.split())
"""Machinery and controls: what they hold is no text of the page (`title` in a body is an SVG's)."""
_UNREAD_CLASSES: Final = frozenset({"mw-editsection", "mw-jump-link"})
"""MediaWiki's edit links, which stand inside its headings."""
_HIDDEN_STYLE: Final = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE
)
_SELF_CLOSED: Final = re.compile(r"<([A-Za-z][\w:.-]*)((?:\s[^<>]*)?)/>")
_XHTML: Final = re.compile(r"\s*<\?xml|<html[^>]*\sxmlns\s*=", re.IGNORECASE)
_HEAD: Final = 4096
_INVALID: Final = re.compile("[\x00\ud800-\udfff]")


def tree(markup: str, name: str) -> Element:
    """The root of `markup`. Raises Refused when its elements nest deeper than libxml2 follows."""
    from lxml import etree  # type: ignore[import-untyped]

    if _XHTML.search(markup[:_HEAD]):
        markup = _SELF_CLOSED.sub(_spelled_out, markup)
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, no_network=True)
    data = _INVALID.sub("\ufffd", markup).encode("utf-8")
    root = etree.fromstring(data, parser) if data.strip() else None
    if any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log):
        raise damaged(name, tr("web.reason_depth"))
    return etree.Element("html") if root is None else root


def title(root: Element) -> str:
    """The text of the document's `title`, on one line."""
    found = root.find(".//head/title")
    return " ".join("".join(found.itertext()).split()) if found is not None else ""


def is_unread(element: Element) -> bool:
    """Whether nothing in `element` is text of the page."""
    classes = element.get("class")
    return element.tag in UNREAD or bool(
        classes and not _UNREAD_CLASSES.isdisjoint(classes.split())
    )


def is_hidden(element: Element) -> bool:
    """Whether the page itself hides `element`; its root may be hidden until a script runs."""
    if element.tag in {"html", "body"}:
        return False
    if element.get("hidden", "until-found") != "until-found":
        return True
    style = element.get("style")
    return bool(style and _HIDDEN_STYLE.search(style))


def text_length(element: Element) -> int:
    """Characters in `element` that could be read, white space left out."""
    parts = (
        (node.text or "") if node is element else (node.text or "") + (node.tail or "")
        for node in element.iter()
        if isinstance(node.tag, str) and node.tag not in {"script", "style"}
    )
    return sum(len("".join(part.split())) for part in parts)


def _spelled_out(match: re.Match[str]) -> str:
    """`<title/>` as `<title></title>`: in HTML it would swallow the rest of the page."""
    tag, attributes = match.groups()
    return match.group() if tag.lower() in VOID else f"<{tag}{attributes}></{tag}>"
