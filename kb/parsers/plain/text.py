"""Plain text."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kb.errors import Refused
from kb.messages import tr
from kb.model import Parsed
from kb.parsers import paging
from kb.parsers.plain.decode import Decoded, decode
from kb.parsers.refusals import not_text
from kb.parsers.registry import ParserSpec


def read_text(path: Path, name: str) -> Decoded:
    """The decoded file. Raises Refused when it is binary or holds nothing but white space."""
    decoded = decode(path.read_bytes())
    if decoded is None:
        raise not_text(name)
    if not decoded.text.strip():
        raise Refused(tr("parse.no_text", name=name), tr("parse.empty_hint"))
    return decoded


def parse(path: Path, name: str) -> Parsed:
    """Pages by form feeds, or of at most 60 lines. Raises Refused."""
    decoded = read_text(path, name)
    sheets, kind = paging.sheets(decoded.text, paging.plain_strength)
    pages = (paging.page(number, sheet, kind) for number, sheet in enumerate(sheets, 1))
    return Parsed(
        pages=tuple(pages),
        parser=SPEC.id,
        media_type=SPEC.media_type,
        encoding=decoded.encoding,
        warnings=decoded.warnings,
    )


SPEC: Final = ParserSpec(
    name="text",
    revision=2,
    suffixes=(".txt", ".text", ".log"),
    media_type="text/plain",
    magic="text",
    parse=parse,
    preload=("charset_normalizer",),
)
