"""OpenDocument text (.odt), read from content.xml: the whole body, in order."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kb.errors import Refused
from kb.messages import tr
from kb.model import Parsed
from kb.parsers.flow import rendered_pages
from kb.parsers.odf import package
from kb.parsers.odf.body import Body
from kb.parsers.registry import ParserSpec


def parse(path: Path, name: str) -> Parsed:
    """Rendered pages: recorded and hard breaks, capped at 60 lines. Raises Refused."""
    content = package.read(path, name, "text")
    pages = rendered_pages(Body(content).blocks(content.body))
    if not any(page.text.strip() for page in pages):
        raise Refused(tr("parse.no_text", name=name), tr("parse.empty_hint"))
    return Parsed(pages, SPEC.id, SPEC.media_type, warnings=tuple(content.warnings))


SPEC: Final = ParserSpec(
    name="odt",
    revision=1,
    suffixes=(".odt", ".ott"),
    media_type="application/vnd.oasis.opendocument.text",
    magic="zip",
    zip_kind="odt",
    parse=parse,
    preload=("lxml.etree",),
)
