"""A walk over the body of a Word document, by local names.

What a reader of the document sees, once: insertions but not deletions, field results but not codes,
the Choice of alternate content but not its Fallback, text boxes after the paragraph that holds
them. Elements that nothing here knows are walked through, so their text is kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from kb.messages import tr
from kb.parsers.flow import Break, TextLine
from kb.parsers.layout.lines import CELL
from kb.parsers.word import equations
from kb.parsers.word.markup import (
    DROPPED,
    Item,
    NextSection,
    alternative,
    has,
    header_rows,
    is_hidden,
    is_merged,
    text_line,
    through,
)
from kb.parsers.word.numbering import Numbering
from kb.parsers.word.package import Package
from kb.parsers.word.sections import Role, Sections
from kb.parsers.word.styles import Styles
from kb.parsers.xml.drawingml import chart_lines, diagram_lines
from kb.parsers.xml.nodes import child, local, value

_CHARS: Final = {"tab": "\t", "ptab": "\t", "cr": "\n", "noBreakHyphen": "-", "softHyphen": ""}
_SPACES: Final = re.compile(r"[\n\r\t\f]+")
_PAGE: Final = "\f"
"""Stands in a paragraph's text for a page break; XML text cannot hold the character itself."""
_LONGEST_HEAD: Final = 200
_LABELS: Final = {"footnotes": "[{}]", "endnotes": "[e{}]"}


@dataclass(slots=True)
class _Field:
    """An open field: its code is not text, its result is."""

    state: Literal["code", "result"] = "code"


def _can_head(row: str) -> bool:
    """Whether a row is short enough to be indexed with all rows below it, and has columns."""
    return CELL in row and len(row) <= _LONGEST_HEAD


class Body:
    """Reads one document."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._styles = Styles(package.part("styles"))
        self._root = package.document()
        self._numbering = Numbering(package.part("numbering"), self._styles)
        self._counters = self._numbering.counters()
        self.sections = Sections(self._root, package)
        self._fields: list[_Field] = []
        self._boxes: list[Any] = []
        self._drawn: list[str] = []
        self._in_body = True
        self._cited: list[str] = []
        self._carry = ""
        self._depth = 0
        self._left_out: Counter[str] = Counter()
        self._section = 0
        self._notes: dict[str, list[str]] = {}
        self._labels: dict[str, str] = {}
        self._shown_notes: set[str] = set()
        self._special: dict[str, Callable[[Any], str]] = {
            "r": self._run,
            "br": self._line_break,
            "lastRenderedPageBreak": self._rendered_break,
            "sym": self._symbol,
            "fldChar": self._field,
            "ruby": self._ruby,
            "txbxContent": self._text_box,
            "chart": self._chart,
            "relIds": self._diagram,
            "footnoteReference": self._footnote,
            "endnoteReference": self._endnote,
        }
        self._read_notes()

    def read(self) -> list[Item]:
        """Lines and page breaks of the body, in order."""
        return list(self._blocks(self._root))

    def note(self, ref: str) -> list[str]:
        """The lines of a note that a line refers to, its mark before the first."""
        first, *rest = self._notes[ref] or [""]
        return [f"{self._labels[ref]} {first}".rstrip(), *rest]

    def margins(self, role: Role) -> dict[str, tuple[str, ...]]:
        """The lines of all headers or footers, by relation id."""
        roots = self._package.parts(role)
        return {ref: tuple(self._plain_lines(root)) for ref, root in roots.items()}

    def warnings(self) -> tuple[str, ...]:
        """What was left out."""
        comments = self._package.part("comments")
        if comments is not None:
            self._left_out["comments"] = sum(local(item) == "comment" for item in comments)
        return tuple(
            tr(f"parse.warn_{what}", count=count) for what, count in self._left_out.items() if count
        )

    # Blocks

    def _blocks(self, parent: Any) -> Iterator[Item]:
        """Lines of the paragraphs and tables in `parent`, through every wrapper."""
        for element in parent:
            name = local(element)
            if name == "p":
                yield from self._paragraph(element)
            elif name == "tbl":
                yield from self._table(element)
            elif name == "altChunk":
                self._left_out["embedded"] += 1
            elif name == "AlternateContent":
                yield from self._blocks(alternative(element))
            elif name not in DROPPED:
                yield from self._blocks(element)

    def _paragraph(self, element: Any) -> Iterator[Item]:
        properties = child(element, "pPr")
        if self._styles.breaks_before(properties):
            yield Break()
        text = self._carry + self._text(element)
        self._carry = ""
        for field in self._fields:  # a code that never ends must not swallow the document
            field.state = "result"
        if is_merged(properties):
            self._carry = text
            return
        yield from self._lines(self._numbered(properties, text), self._styles.level(properties))
        yield from self._beside()
        if child(properties, "sectPr") is not None:
            self._section += 1
            yield NextSection()
            if self.sections[self._section].starts_page:
                yield Break()

    def _numbered(self, properties: Any, text: str) -> str:
        """`text` behind the automatic number of its paragraph, and behind a break that opens it."""
        place = self._numbering.place(properties)
        if place is None or is_hidden(child(properties, "rPr")):
            return text
        bare = text.lstrip(_PAGE)
        return _PAGE * (len(text) - len(bare)) + self._counters.label(place) + bare

    def _lines(self, text: str, level: int) -> list[Item]:
        """Lines of a paragraph: a break alone makes no empty line beside it."""
        items: list[Item] = []
        parts = text.split(_PAGE)
        for place, part in enumerate(parts):
            if place:
                items.append(Break())
            if part.strip() or len(parts) == 1:
                items += [text_line(line, level) for line in part.split("\n")]
        for i, item in reversed(list(enumerate(items))):
            if isinstance(item, TextLine) and not self._depth:
                items[i] = self._with_notes(item)
                break
        return items

    def _with_notes(self, line: TextLine) -> TextLine:
        """The line with the marks of its notes at its end, where they cut no phrase in two."""
        refs, self._cited = dict.fromkeys(self._cited), []
        marks = "".join(self._labels[ref] for ref in refs)
        new = tuple(ref for ref in refs if ref not in self._shown_notes)
        self._shown_notes.update(new)
        return replace(line, text=f"{line.text} {marks}".strip(), notes=new) if refs else line

    def _beside(self) -> Iterator[Item]:
        """What stands in the paragraph's text boxes, charts and diagrams."""
        boxes, self._boxes = self._boxes, []
        drawn, self._drawn = self._drawn, []
        yield from map(TextLine, drawn)
        for box in boxes:
            for item in self._blocks(box):
                if isinstance(item, TextLine) and item.text.strip():
                    yield item

    # Tables

    def _table(self, table: Any) -> Iterator[Item]:
        """One line a row. A table in a cell has no cells of its own: its text flows."""
        divider = " " if self._depth else CELL
        rows = [row for row in through(table, "tr") if not has(row, "trPr", "del")]
        heads = header_rows(rows)
        for at, row in enumerate(rows):
            self._depth += 1
            text = divider.join(self._cell(cell) for cell in through(row, "tc"))
            self._depth -= 1
            if _PAGE in text:
                yield Break()
                text = text.replace(_PAGE, "")
            if text.replace("|", "").strip():
                line = TextLine(text.strip(), "table", int(at < heads and _can_head(text)), table)
                yield line if self._depth else self._with_notes(line)

    def _cell(self, cell: Any) -> str:
        """A cell's text in order, on one line; the rest of a vertically merged cell is empty."""
        merged = child(child(cell, "tcPr"), "vMerge")
        if merged is not None and value(merged, "val") in {"", "continue"}:
            return ""
        if has(cell, "tcPr", "cellDel"):
            return ""
        texts = [*self._cell_texts(cell)]
        return " ".join(" ".join(texts).replace("\t", "\n").split("\n")).strip(" ")

    def _cell_texts(self, parent: Any) -> Iterator[str]:
        for item in self._blocks(parent):
            if isinstance(item, Break):
                yield _PAGE
            elif isinstance(item, TextLine) and item.text.strip():
                yield item.text

    # Text

    def _text(self, parent: Any) -> str:
        return "".join(self._pieces(parent))

    def _pieces(self, parent: Any) -> Iterator[str]:
        """The visible text of everything inside `parent`; text boxes are put aside."""
        for element in parent:
            name = local(element)
            if name == "t":
                yield self._shown(_SPACES.sub(" ", element.text or ""))
            elif name in _CHARS:
                yield self._shown(_CHARS[name])
            elif name == "AlternateContent":
                yield from self._pieces(alternative(element))
            elif name in self._special:
                yield self._special[name](element)
            elif equations.is_structure(element):
                yield equations.linear(element, self._text)
            elif name not in DROPPED:
                yield from self._pieces(element)

    def _run(self, run: Any) -> str:
        text = self._text(run)
        if is_hidden(child(run, "rPr")) and text.strip():
            self._left_out["hidden"] += len(text)
            return ""
        return text

    def _shown(self, text: str) -> str:
        """`text`, or nothing inside the code of a field."""
        return "" if any(field.state == "code" for field in self._fields) else text

    def _line_break(self, element: Any) -> str:
        return _PAGE if value(element, "type") == "page" else self._shown("\n")

    def _rendered_break(self, _element: Any) -> str:
        return _PAGE

    def _symbol(self, element: Any) -> str:
        """The character of w:sym; symbol fonts use F000-F0FF, which needs the font to be seen."""
        try:
            return self._shown(chr(int(value(element, "char"), 16)))
        except (ValueError, OverflowError):
            return ""

    def _field(self, element: Any) -> str:
        kind = value(element, "fldCharType")
        if kind == "begin":
            self._fields.append(_Field())
        elif kind == "separate" and self._fields:
            self._fields[-1].state = "result"
        elif kind == "end" and self._fields:
            self._fields.pop()
        return ""

    def _text_box(self, element: Any) -> str:
        self._boxes.append(element)
        return ""

    def _chart(self, element: Any) -> str:
        return self._draw("chart", value(element, "id"), chart_lines)

    def _diagram(self, element: Any) -> str:
        return self._draw("diagramData", value(element, "dm"), diagram_lines)

    def _draw(self, role: str, ref: str, read: Callable[[Any], Iterator[str]]) -> str:
        """Put the lines of a drawing aside; one that says nothing is counted as left out.

        `ref` is a relation of the body alone: a header's drawings are counted too.
        """
        root = self._package.related(role, ref) if self._in_body else None
        lines = [] if root is None else [*read(root)]
        self._drawn += lines
        self._left_out["drawings"] += not lines
        return ""

    def _footnote(self, element: Any) -> str:
        return self._mark("footnotes", value(element, "id"))

    def _endnote(self, element: Any) -> str:
        return self._mark("endnotes", value(element, "id"))

    def _mark(self, role: str, number: str) -> str:
        """Remember a note, counted in the order of the text, as Word shows it."""
        ref = f"{role}:{number}"
        if ref in self._notes:
            count = sum(other.startswith(role) for other in self._labels) + 1
            self._labels.setdefault(ref, _LABELS[role].format(count))
            self._cited.append(ref)
        return ""

    def _ruby(self, element: Any) -> str:
        """Base text, then its reading in brackets."""
        base, reading = (
            "" if part is None else self._text(part)
            for part in (child(element, "rubyBase"), child(element, "rt"))
        )
        return f"{base}（{reading}）" if reading else base

    # Other parts

    def _read_notes(self) -> None:
        for role in _LABELS:
            root = self._package.part(role)
            for note in root if root is not None else ():
                if local(note) and value(note, "type") in {"", "normal"}:
                    self._notes[f"{role}:{value(note, 'id')}"] = self._plain_lines(note)

    def _plain_lines(self, root: Any) -> list[str]:
        """The lines of a story of its own: a note, a header, a footer."""
        counters, self._counters = self._counters, self._numbering.counters()
        self._in_body = False
        lines = [item.text.strip() for item in self._blocks(root) if isinstance(item, TextLine)]
        self._counters = counters
        self._in_body = True
        return [line for line in lines if line]
