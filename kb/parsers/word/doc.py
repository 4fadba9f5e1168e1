"""Word 97-2003 (and RTF) through a program that reads it: LibreOffice, antiword or catdoc.

No library in Python reads the format well. LibreOffice makes a .docx of it, which keeps everything
that our reader of .docx shows; antiword keeps headings, lists and tables; catdoc the text.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from kb.errors import Refused
from kb.messages import tr
from kb.model import Page, Parsed
from kb.parsers.registry import ParserSpec
from kb.parsers.word import doc_programs, docx
from kb.parsers.word.doc_output import docbook_lines, plain_lines
from kb.parsers.word.markup import Item
from kb.parsers.word.pages import page, paginate

_SECONDS: Final = 60.0
"""For one program: another may still have its turn within the sandbox's own limit."""
_RTF: Final = b"{\\rtf"
_SECTOR: Final = 512
_FIB: Final = b"\xec\xa5"
_ENCRYPTED: Final = 0x0100
_PLATFORMS: Final = {"win32": "windows", "darwin": "macos"}


class _Tool(NamedTuple):
    """A way to read: what it is called, its programs by preference, whether it reads everything."""

    name: str
    programs: tuple[str, ...]
    read: Callable[[str, Path, str], Parsed | None]
    is_full: bool = False


def parse(path: Path, name: str) -> Parsed:
    """Pages as the best installed program gives them; a warning names it.

    Raises Refused: encrypted, no program installed, or none can read the file.
    """
    rtf = _is_rtf(path)
    if not rtf and _is_encrypted(path):
        raise Refused(tr("parse.encrypted", name=name), tr("parse.encrypted_hint"))
    usable = [
        (tool, found)
        for tool in _TOOLS
        if (tool.is_full or not rtf) and (found := doc_programs.program(*tool.programs))
    ]
    if not usable:
        raise Refused(tr("doc.no_tool", name=name), _hint("rtf" if rtf else "doc"))
    for tool, found in usable:
        with doc_programs.copied(path, ".rtf" if rtf else ".doc") as copy:
            parsed = tool.read(found, copy, name)
        if parsed:
            return _signed(parsed, tool)
    tools = "、".join(tool.name for tool, _ in usable)
    raise Refused(tr("doc.unreadable", name=name, tools=tools), tr("parse.resave_hint"))


def _signed(parsed: Parsed, tool: _Tool) -> Parsed:
    said = tr("doc.warn_full" if tool.is_full else "doc.warn_plain", tool=tool.name)
    return replace(
        parsed,
        parser=SPEC.id,
        media_type=SPEC.media_type,
        warnings=(said, *parsed.warnings),
    )


def _by_libreoffice(program: str, path: Path, name: str) -> Parsed | None:
    made = doc_programs.converted(program, path, _SECONDS)
    try:
        return docx.parse(made, name) if made else None
    except Refused:
        return None


def _by_antiword(program: str, path: Path, _name: str) -> Parsed | None:
    return _parsed(
        docbook_lines(doc_programs.output((program, "-x", "db", str(path)), path.parent, _SECONDS))
    )


def _by_catdoc(program: str, path: Path, _name: str) -> Parsed | None:
    command = (program, "-d", "utf-8", "-w", str(path))
    return _parsed(plain_lines(doc_programs.output(command, path.parent, _SECONDS)))


def _parsed(flow: list[Item]) -> Parsed | None:
    """Pages of `flow`, or nothing where it says nothing."""
    pages: list[Page] = []
    for number, sheet in enumerate(paginate(flow), start=1):
        pages.append(page(number, sheet.lines))
    if not any(one.text.strip() for one in pages):
        return None
    return Parsed(tuple(pages), "", "")


_TOOLS: Final = (
    _Tool("LibreOffice", ("soffice", "libreoffice"), _by_libreoffice, is_full=True),
    _Tool("antiword", ("antiword",), _by_antiword),
    _Tool("catdoc", ("catdoc",), _by_catdoc),
)


def _is_rtf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_RTF)) == _RTF


def _is_encrypted(path: Path) -> bool:
    """By the flag fEncrypted of the FIB ([MS-DOC] 2.5.1), which begins a sector of the file."""
    with path.open("rb") as file:
        while sector := file.read(_SECTOR):
            if sector.startswith(_FIB) and sector[3] == 0:
                return bool(int.from_bytes(sector[10:12], "little") & _ENCRYPTED)
    return False


def _hint(kind: str) -> str:
    platform = _PLATFORMS.get(sys.platform, "linux")
    return tr(f"doc.install_{kind}_{platform}")


SPEC: Final = ParserSpec(
    name="doc",
    revision=1,
    suffixes=(".doc", ".dot", ".wps", ".wpt", ".rtf"),
    media_type="application/msword",
    magic="doc",
    parse=parse,
    preload=("lxml.etree",),
)
