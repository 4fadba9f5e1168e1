"""Markdown: shown raw, with its headings and tables known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kb.model import Element, Parsed
from kb.parsers import paging
from kb.parsers.plain.text import read_text
from kb.parsers.registry import ParserSpec

_ATX: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t\u3000]|$)")
_SETEXT: Final = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_TABLE_RULE: Final = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_BLOCK_START: Final = re.compile(r" {0,3}(?:[-*+>]|\d+[.)])[ \t]| {4}|\t")


def parse(path: Path, name: str) -> Parsed:
    """Pages of at most 60 lines, cut before headings where possible. Raises Refused."""
    decoded = read_text(path, name)
    # A form feed ends a page, not a line: for structure it is one, and no line is lost or won.
    lines = _all_lines(decoded.text)
    levels = headings(lines)
    tables = table_lines(lines)

    def strength(near: Sequence[str], i: int) -> int:
        if i in levels:
            return 10 - levels[i]
        if i in tables and i - 1 in tables:
            return -1
        return int(bool(near[i].strip()) and not near[i - 1].strip())

    sheets, kind = paging.sheets(decoded.text, strength)
    pages = [
        paging.page(number, sheet, kind, _elements(sheet, levels, tables))
        for number, sheet in enumerate(sheets, 1)
    ]
    return Parsed(
        pages=tuple(pages),
        parser=SPEC.id,
        media_type=SPEC.media_type,
        encoding=decoded.encoding,
        warnings=decoded.warnings,
    )


def headings(lines: Sequence[str]) -> dict[int, int]:
    """Level (1-6) of every heading line, by 0-based index: `# …` and underlined, not in fences."""
    result = {}
    fenced = _fenced(lines)
    for i, line in enumerate(lines):
        if i in fenced:
            continue
        atx = _ATX.match(line)
        if atx:
            result[i] = len(atx.group(1))
        elif i + 1 < len(lines) and i + 1 not in fenced and _is_underlined(lines, i):
            result[i] = 1 if "=" in lines[i + 1] else 2
    return result


def table_lines(lines: Sequence[str]) -> set[int]:
    """0-based indices of the lines of pipe tables: header, rule and rows."""
    result: set[int] = set()
    fenced = _fenced(lines)
    for i in range(1, len(lines)):
        if i in fenced or "|" not in lines[i] or "|" not in lines[i - 1]:
            continue
        if _TABLE_RULE.match(lines[i]) or i - 1 in result:
            result |= {i - 1, i}
    return result


def _all_lines(text: str) -> list[str]:
    sheets, _ = paging.sheets(text, lambda _lines, _i: 0)
    return [line for sheet in sheets for line in sheet.lines]


def _fenced(lines: Sequence[str]) -> set[int]:
    """Indices inside fenced code, fences included. An open fence runs to the end (CommonMark)."""
    inside: set[int] = set()
    fence = ""
    for i, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            inside.add(i)
            closing = mark and mark.group(1).startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if closing else fence
        elif mark:
            inside.add(i)
            fence = mark.group(1)
    return inside


def _is_underlined(lines: Sequence[str], i: int) -> bool:
    """A setext heading: a one-line paragraph over === or ---."""
    text = lines[i]
    if not text.strip() or "|" in text or _BLOCK_START.match(text) or _ATX.match(text):
        return False
    before = lines[i - 1].strip() if i else ""
    return not before and bool(_SETEXT.match(lines[i + 1]))


def _elements(sheet: paging.Sheet, levels: dict[int, int], tables: set[int]) -> list[Element]:
    result = []
    start = 0
    for at in range(1, len(sheet.lines) + 1):
        i = sheet.start + at - 1
        if i in levels:
            result.append(Element("heading", at, at, levels[i]))
        if i in tables:
            start = start or at
            if i + 1 not in tables or at == len(sheet.lines):
                result.append(Element("table", start, at))
                start = 0
    return result


SPEC: Final = ParserSpec(
    name="markdown",
    revision=1,
    suffixes=(".md", ".markdown"),
    media_type="text/markdown",
    magic="text",
    parse=parse,
    preload=("charset_normalizer",),
)
