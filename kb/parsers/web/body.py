"""The body of an HTML page as lines: paragraphs, headings, lists, tables' rows, preformatted text.

One walk without recursion but for tables inside tables. What a page hides is counted, not shown;
which region a line stands in (main text, navigation, the rest) is noted, so that the caller can
choose when all of it is known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, Literal

from kb.model import ElementKind
from kb.parsers.web import table, tree

Element = Any
"""An lxml element; lxml has no types of its own."""

Region = Literal["main", "nav", "other"]

_BLOCKS_WORDS: Final = (
    "html body p div section article main header footer aside nav h1 h2 h3 h4 h5 h6 "
    "hgroup ul ol menu li dl dt dd table caption thead tbody tfoot tr td th figure "
    "figcaption blockquote pre listing xmp textarea form fieldset legend address details "
    "summary hr center text option optgroup dialog search"
)
_BLOCKS: Final = frozenset(_BLOCKS_WORDS.split())
_PRE: Final = frozenset({"pre", "listing", "xmp", "textarea"})
_LISTS: Final = frozenset({"ul", "ol", "menu"})
_HEADING: Final = re.compile(r"h([1-6])")
_NAV_ROLES: Final = frozenset({"navigation", "search", "menu", "menubar"})
_INVISIBLE: Final = re.compile("[\u00ad\u200b\u2060\ufeff]")
_WIDE: Final = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
_BREAK_IN_HAN: Final = re.compile(f"(?<=[{_WIDE}])[ \t]*[\r\n][ \t\r\n\f]*(?=[{_WIDE}])")
"""A line break of the source between Han characters is no space (CSS Text 3, 4.1.3)."""
_SPACES: Final = re.compile("[ \t\r\n\f\u00a0]+")
_FILE_NAME: Final = re.compile(r"\S+\.(?:png|jpe?g|gif|svg|webp|bmp)", re.IGNORECASE)
_ROMAN: Final = tuple(zip((10, 9, 5, 4, 1), ("x", "ix", "v", "iv", "i"), strict=True))
_FEW: Final = 3
_MOST_ROMAN: Final = 89
_ALPHABET: Final = 26


@dataclass(frozen=True, slots=True)
class FlowLine:
    """One line of a page.

    Lines of one heading or one table share their `group`. `level` is a heading's; of a table's line
    it is 1 where the line is a header row.
    """

    text: str
    kind: ElementKind = "paragraph"
    level: int = 0
    group: int = 0
    region: Region = "other"


@dataclass(slots=True)
class _List:
    """An open list: `style` is empty for bullets, else the `type` of its numbers."""

    style: str
    next: int = 1


class Body:
    """Reads one page, whose main text stands in `main` where that is known.

    `hidden` counts the characters that the page itself hides.
    """

    def __init__(self, main: Element | None = None, *, show_hidden: bool = False) -> None:
        self.lines: list[FlowLine] = []
        self.hidden = 0
        self._main_element = main
        self._show_hidden = show_hidden
        self._buffer: list[str] = []
        self._lists: list[_List] = []
        self._marker = ""
        self._heading = 0
        self._pre = 0
        self._main = 0
        self._nav = 0
        self._groups = 0

    def read(self, root: Element) -> list[FlowLine]:
        """The lines of everything in `root`."""
        self._walk(root)
        self._flush()
        return self.lines

    # -- the walk --------------------------------------------------------------------------

    def _walk(self, root: Element) -> None:
        self._text(root.text)
        stack = [(root, iter(root))]
        while stack:
            parent, children = stack[-1]
            child = next(children, None)
            if child is None:
                stack.pop()
                if stack:
                    self._close(parent)
                    self._text(parent.tail)
            elif isinstance(child.tag, str) and self._open(child):
                stack.append((child, iter(child)))
                self._text(child.text)
            else:
                self._text(child.tail)

    def _open(self, element: Element) -> bool:
        """Begin `element`; False when what is in it is not to be walked."""
        tag = element.tag
        if tree.is_unread(element):
            return False
        if not self._show_hidden and tree.is_hidden(element):
            self.hidden += tree.text_length(element)
            return False
        if tag == "table":
            return self._table(element)
        if tag in _BLOCKS:
            self._open_block(element)
        elif tag == "br":
            self._flush(keep=bool(self._pre))
        elif tag == "img":
            self._image(element)
        return True

    def _open_block(self, element: Element) -> None:
        self._flush()
        tag = element.tag
        self._main += element is self._main_element
        self._nav += _is_nav(element)
        if tag in _LISTS:
            self._lists.append(_opened(element))
        elif tag == "li":
            self._marker = self._next_marker(element)
        elif tag in _PRE:
            self._pre += 1
        level = heading_level(element)
        if level and not self._heading:
            self._heading = level
            self._groups += 1

    def _close(self, element: Element) -> None:
        tag = element.tag
        if tag not in _BLOCKS:
            return
        self._flush()
        self._main -= element is self._main_element
        self._nav -= _is_nav(element)
        if tag in _LISTS:
            self._lists.pop()
        elif tag == "li":
            self._marker = ""
        elif tag in _PRE:
            self._pre -= 1
        if heading_level(element):
            self._heading = 0

    # -- text ------------------------------------------------------------------------------

    def _text(self, text: str | None) -> None:
        if text:
            self._buffer.append(text)

    def _image(self, element: Element) -> None:
        alt = " ".join((element.get("alt") or "").split())
        if alt and not _FILE_NAME.fullmatch(alt):
            self._buffer.append(f"[{alt}]")

    def _flush(self, *, keep: bool = False) -> None:
        """End the line; an empty one is kept where `keep` says so."""
        raw = _INVISIBLE.sub("", "".join(self._buffer))
        self._buffer.clear()
        if self._pre:
            self._add_preformatted(raw, keep=keep)
            return
        text = _SPACES.sub(" ", _BREAK_IN_HAN.sub("", raw)).strip()
        if text:
            self._add(self._marker + text)
            self._marker = ""

    def _add_preformatted(self, raw: str, *, keep: bool) -> None:
        plain = raw.replace("\r\n", "\n").replace("\r", "\n").replace("\f", " ")
        if not keep:
            plain = plain.strip("\n")
        if plain.strip() or keep:
            for line in plain.split("\n"):
                self._add(line.rstrip())

    def _add(self, text: str) -> None:
        kind: ElementKind = "heading" if self._heading else "paragraph"
        group = self._groups if self._heading else 0
        self.lines.append(FlowLine(text, kind, self._heading, group, self._region()))

    def _region(self) -> Region:
        if self._nav:
            return "nav"
        return "main" if self._main else "other"

    # -- lists -----------------------------------------------------------------------------

    def _next_marker(self, element: Element) -> str:
        if not self._lists:
            return "• "
        current = self._lists[-1]
        indent = "  " * (len(self._lists) - 1)
        if not current.style:
            return f"{indent}• "
        number = _number(element.get("value"), current.next)
        current.next = number + 1
        return f"{indent}{_numeral(number, current.style)}. "

    # -- tables ----------------------------------------------------------------------------

    def _table(self, element: Element) -> bool:
        """Rows of a table as lines; True when it is to be walked like any block instead."""
        self._flush()
        found = table.rows(element)
        if found is None:
            return True
        for caption in element.iterchildren("caption"):
            self._part(caption)
        flat: list[table.Row] = []
        for row in found:
            if self._hides(row):
                continue
            if table.is_layout(row):
                self._rows(flat)
                self._cells(row)
                flat = []
            else:
                flat.append(row)
        self._rows(flat)
        return False

    def _rows(self, found: list[table.Row]) -> None:
        """Consecutive rows without inner structure; a single column is no table."""
        grid = table.grid(found, self._cell)
        if not any(sum(map(bool, row)) > 1 for row in grid.rows):
            for row in found:
                self._cells(row)
            return
        self._groups += 1
        for number, cells in enumerate(grid.rows):
            text = " | ".join(cells).strip() if any(cells[1:]) else cells[0]
            is_header = int(number < grid.headers)
            line = self._marker + text
            self._marker = ""
            self.lines.append(FlowLine(line, "table", is_header, self._groups, self._region()))

    def _cell(self, cell: Element) -> str:
        """The text of a cell on one line."""
        if not self._show_hidden and tree.is_hidden(cell):
            self.hidden += tree.text_length(cell)
            return ""
        inner = Body(show_hidden=self._show_hidden)
        lines = inner.read(cell)
        self.hidden += inner.hidden
        return " ".join(line.text.strip() for line in lines).strip()

    def _hides(self, row: table.Row) -> bool:
        """Whether the page hides the row, or the part of the table that it is in."""
        parent = row.cells[0].getparent()
        hidden = not self._show_hidden and any(
            tree.is_hidden(part) for part in (parent, parent.getparent())
        )
        self.hidden += tree.text_length(parent) if hidden else 0
        return hidden

    def _cells(self, row: table.Row) -> None:
        """The cells of a row as blocks, one after the other."""
        for cell in row.cells:
            self._part(cell)

    def _part(self, element: Element) -> None:
        if self._open(element):
            self._walk(element)
            self._close(element)


def heading_level(element: Element) -> int:
    """1 to 6 for `h1` … `h6` and what plays their role, else 0."""
    match = _HEADING.fullmatch(element.tag)
    if match:
        return int(match.group(1))
    if element.get("role") == "heading":
        return max(1, min(_number(element.get("aria-level"), 2), 6))
    return 0


def _is_nav(element: Element) -> bool:
    if element.tag == "ul":
        return _lists_languages(element)
    return element.tag == "nav" or element.get("role") in _NAV_ROLES


def _lists_languages(element: Element) -> bool:
    """Whether every item is a link to the page in another language."""
    links = [link for item in element.iterchildren("li") for link in item.iterchildren("a")]
    return len(links) >= _FEW and all(link.get("hreflang") for link in links)


def _opened(element: Element) -> _List:
    if element.tag != "ol":
        return _List("")
    return _List(element.get("type") or "1", _number(element.get("start"), 1))


def _number(value: str | None, otherwise: int) -> int:
    text = (value or "").strip()
    return int(text) if re.fullmatch(r"-?[0-9]{1,6}", text) else otherwise


def _numeral(number: int, style: str) -> str:
    """`number` as a list of type 1, a, A, i or I shows it."""
    if style in {"a", "A"} and 1 <= number <= _ALPHABET:
        return chr(ord(style) + number - 1)
    if style in {"i", "I"} and 1 <= number <= _MOST_ROMAN:
        return _roman(number) if style == "i" else _roman(number).upper()
    return str(number)


def _roman(number: int) -> str:
    tens, rest = divmod(number, 10)
    text = ("", "x", "xx", "xxx", "xl", "l", "lx", "lxx", "lxxx")[tens]
    for value, letters in _ROMAN:
        while rest >= value:
            text += letters
            rest -= value
    return text
