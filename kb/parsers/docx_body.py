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
from kb.parsers.docx_package import Package
from kb.parsers.docx_styles import Styles, child, local, value
from kb.parsers.pdf_lines import CELL
from kb.types import ElementKind

_DROPPED: Final = frozenset(
    {
        *("del", "moveFrom", "delText", "instrText", "delInstrText", "Fallback"),
        *("pPr", "tblPr", "tblGrid", "trPr", "tcPr", "sectPr", "sdtPr", "sdtEndPr", "rubyPr"),
        *("annotationRef", "footnoteRef", "endnoteRef", "separator", "continuationSeparator"),
    }
)
_CHARS: Final = {"tab": "\t", "ptab": "\t", "cr": "\n", "noBreakHyphen": "-", "softHyphen": ""}
_SPACES: Final = re.compile(r"[\n\r\t\f]+")
_PAGE: Final = "\f"
"""Stands in a paragraph's text for a page break; XML text cannot hold the character itself."""
_LABELS: Final = {"footnotes": "[{}]", "endnotes": "[e{}]"}


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line. `table` tells touching tables apart; `notes` are the notes it refers to."""

    text: str
    kind: ElementKind = "paragraph"
    level: int = 0
    table: Any = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Break:
    """The page ends here."""


@dataclass(slots=True)
class _Field:
    """An open field: its code is not text, its result is."""

    state: Literal["code", "result"] = "code"


class Body:
    """Reads one document."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._styles = Styles(package.part("styles"))
        self._root = package.main()
        self._fields: list[_Field] = []
        self._boxes: list[Any] = []
        self._cited: list[str] = []
        self._carry = ""
        self._depth = 0
        self._left_out: Counter[str] = Counter()
        self._sections = _section_types(self._root)
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
            "chart": self._drawing,
            "relIds": self._drawing,
            "footnoteReference": self._footnote,
            "endnoteReference": self._endnote,
        }
        self._read_notes()

    def read(self) -> list[TextLine | Break]:
        """Lines and page breaks of the body, in order."""
        return list(self._blocks(self._root))

    def note(self, ref: str) -> list[str]:
        """The lines of a note that a line refers to, its mark before the first."""
        first, *rest = self._notes[ref] or [""]
        return [f"{self._labels[ref]} {first}".rstrip(), *rest]

    def headers(self) -> list[str]:
        """Texts of all headers, each once."""
        return self._margin("header")

    def footers(self) -> list[str]:
        """Texts of all footers, each once."""
        return self._margin("footer")

    def warnings(self) -> tuple[str, ...]:
        """What was left out."""
        comments = self._package.part("comments")
        if comments is not None:
            self._left_out["comments"] = sum(local(item) == "comment" for item in comments)
        return tuple(
            tr(f"parse.warn_{what}", count=count) for what, count in self._left_out.items() if count
        )

    # Blocks

    def _blocks(self, parent: Any) -> Iterator[TextLine | Break]:
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
                yield from self._blocks(_alternative(element))
            elif name not in _DROPPED:
                yield from self._blocks(element)

    def _paragraph(self, element: Any) -> Iterator[TextLine | Break]:
        properties = child(element, "pPr")
        if self._styles.breaks_before(properties):
            yield Break()
        text = self._carry + self._text(element)
        self._carry = ""
        for field in self._fields:  # a code that never ends must not swallow the document
            field.state = "result"
        if _is_merged(properties):
            self._carry = text
            return
        yield from self._lines(text, self._styles.level(properties))
        yield from self._text_boxes()
        if child(properties, "sectPr") is not None and self._next_section_breaks():
            yield Break()

    def _lines(self, text: str, level: int) -> list[TextLine | Break]:
        """Lines of a paragraph: a break alone makes no empty line beside it."""
        items: list[TextLine | Break] = []
        parts = text.split(_PAGE)
        for place, part in enumerate(parts):
            if place:
                items.append(Break())
            if part.strip() or len(parts) == 1:
                items += [_text_line(line, level) for line in part.split("\n")]
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

    def _text_boxes(self) -> Iterator[TextLine | Break]:
        boxes, self._boxes = self._boxes, []
        for box in boxes:
            for item in self._blocks(box):
                if isinstance(item, TextLine) and item.text.strip():
                    yield item

    def _next_section_breaks(self) -> bool:
        """A section says how it starts itself: the next one's type decides."""
        following = self._sections.pop(0) if self._sections else "nextPage"
        return following not in {"continuous", "nextColumn"}

    # Tables

    def _table(self, table: Any) -> Iterator[TextLine | Break]:
        """One line a row. A table in a cell has no cells of its own: its text flows."""
        divider = " " if self._depth else CELL
        for row in _through(table, "tr"):
            if _has(row, "trPr", "del"):
                continue
            self._depth += 1
            text = divider.join(self._cell(cell) for cell in _through(row, "tc"))
            self._depth -= 1
            if _PAGE in text:
                yield Break()
                text = text.replace(_PAGE, "")
            if text.replace("|", "").strip():
                line = TextLine(text.strip(), "table", table=table)
                yield line if self._depth else self._with_notes(line)

    def _cell(self, cell: Any) -> str:
        """A cell's text in order, on one line; the rest of a vertically merged cell is empty."""
        merged = child(child(cell, "tcPr"), "vMerge")
        if merged is not None and value(merged, "val") in {"", "continue"}:
            return ""
        if _has(cell, "tcPr", "cellDel"):
            return ""
        texts = [*self._cell_texts(cell)]
        return " ".join(" ".join(texts).replace("\t", "\n").split("\n")).strip(" ")

    def _cell_texts(self, parent: Any) -> Iterator[str]:
        for item in self._blocks(parent):
            if isinstance(item, Break):
                yield _PAGE
                continue
            if item.text.strip():
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
                yield from self._pieces(_alternative(element))
            elif name in self._special:
                yield self._special[name](element)
            elif name not in _DROPPED:
                yield from self._pieces(element)

    def _run(self, run: Any) -> str:
        text = self._text(run)
        if _is_hidden(child(run, "rPr")) and text.strip():
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

    def _drawing(self, _element: Any) -> str:
        self._left_out["drawings"] += 1
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
        lines = [item.text.strip() for item in self._blocks(root) if isinstance(item, TextLine)]
        return [line for line in lines if line]

    def _margin(self, role: str) -> list[str]:
        roots = self._package.parts(role).values()
        return list(dict.fromkeys(line for root in roots for line in self._plain_lines(root)))


def _text_line(text: str, level: int) -> TextLine:
    if level and text.strip():
        return TextLine(text.rstrip(), "heading", level)
    return TextLine(text.rstrip())


def _alternative(element: Any) -> Any:
    """The first Choice of alternate content, its Fallback only when there is none."""
    choice = child(element, "Choice")
    if choice is not None:
        return choice
    fallback = child(element, "Fallback")
    return () if fallback is None else fallback


def _through(parent: Any, wanted: str) -> Iterator[Any]:
    """Rows of a table or cells of a row, through content controls and tracked insertions."""
    for element in parent:
        name = local(element)
        if name == wanted:
            yield element
        elif name not in _DROPPED and name not in {"tr", "tc", "p", "tbl"}:
            yield from _through(element, wanted)


def _has(element: Any, properties: str, name: str) -> bool:
    return child(child(element, properties), name) is not None


def _is_merged(properties: Any) -> bool:
    """Whether the paragraph's own mark is deleted: it runs into the next one."""
    mark = child(properties, "rPr")
    return child(mark, "del") is not None or child(mark, "moveFrom") is not None


def _is_hidden(properties: Any) -> bool:
    vanish = child(properties, "vanish")
    return vanish is not None and value(vanish, "val") not in {"0", "false", "off"}


def _section_types(root: Any) -> list[str]:
    """How each section but the first starts, in order."""
    found = (element for element in root.iter() if local(element) == "sectPr")
    sections = [section for section in found if local(section.getparent()) != "sectPrChange"]
    return [value(child(section, "type"), "val") or "nextPage" for section in sections[1:]]
