"""Data and settings as text: shown as they are, line by line, never reformatted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kb.errors import Refused
from kb.messages import tr
from kb.model import Parsed
from kb.parsers import paging
from kb.parsers.plain.decode import Decoded, decode
from kb.parsers.refusals import not_text
from kb.parsers.registry import ParserSpec

_XML_ENCODING: Final = re.compile(rb"^\s*<\?xml[^>]*?\bencoding\s*=\s*[\"']([\w.:-]+)")
_HEAD: Final = 1024
_LONG_LINE: Final = 2_000
"""A longer line, in characters, is more than one answer can show well."""


def parse(path: Path, name: str) -> Parsed:
    """Virtual pages of at most 60 lines, cut after blank lines. Raises Refused."""
    decoded = _read(path, name)
    sheets, kind = paging.sheets(decoded.text.replace("\f", " "), _strength)
    pages = tuple(paging.page(number, sheet, kind) for number, sheet in enumerate(sheets, 1))
    longest = max(len(line) for sheet in sheets for line in sheet.lines)
    long = (tr("web.warn_long_line", count=longest),) if longest > _LONG_LINE else ()
    return Parsed(pages, SPEC.id, _media_type(name), decoded.encoding, (*decoded.warnings, *long))


def _read(path: Path, name: str) -> Decoded:
    data = path.read_bytes()
    match = _XML_ENCODING.match(data[:_HEAD])
    decoded = decode(data, match.group(1).decode("ascii") if match else "")
    if decoded is None:
        raise not_text(name)
    if not decoded.text.strip():
        raise Refused(tr("parse.no_text", name=name), tr("parse.empty_hint"))
    return decoded


def _strength(lines: Sequence[str], i: int) -> int:
    return int(bool(lines[i].strip()) and not lines[i - 1].strip())


def _media_type(name: str) -> str:
    suffix = name.lower().rpartition(".")[2]
    return {"json": "application/json", "xml": "application/xml"}.get(suffix, SPEC.media_type)


SPEC: Final = ParserSpec(
    name="structured",
    revision=1,
    suffixes=(".json", ".jsonl", ".xml", ".yaml", ".yml", ".toml", ".ini"),
    media_type="text/plain",
    magic="text",
    parse=parse,
    preload=("charset_normalizer",),
)
