"""Lays out `plan.txt` as an A4 PDF: cover, contents, chapters, ruled tables across pages.

In `plan.txt`, `#`, `##` start headings, `^` a table's caption, `|` a table row; every other line
is a paragraph, and one that opens like `一、标题。` is a numbered item.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

import pymupdf

TEXT: Final = Path(__file__).with_name("plan.txt")
TITLE: Final = "海州市数字档案建设规划"
PERIOD: Final = "（2026—2030年）"
HEADER: Final = f"{TITLE}{PERIOD}"

WIDTH, HEIGHT = pymupdf.paper_size("a4")
LEFT, RIGHT, TOP, BOTTOM = 82.0, WIDTH - 82.0, 84.0, HEIGHT - 68.0
BODY, LEADING = 10.5, 15.8
RED, BLUE, INK, GREY = (0.70, 0.10, 0.12), (0.09, 0.20, 0.40), (0, 0, 0), (0.4, 0.4, 0.4)
CELL, CELL_LEADING, PADDING = 8.5, 12.0, 3.6

FONT: Final = pymupdf.Font("cjk")
NO_LINE_START: Final = "，。；：、！？）》】”’％%"
NO_LINE_END: Final = "（《【“‘"
# Numbers with their separators, words and single characters: what a line is broken between.
_UNIT: Final = re.compile(r"[0-9A-Za-z.,%]*[0-9A-Za-z%]|.")


def write(path: Path) -> None:
    """Write the plan to `path`."""
    # The contents need the page numbers, which need the chapters laid out: so lay out twice.
    headings = _Layout(contents=[]).run().headings
    layout = _Layout(contents=headings).run()
    layout.furnish()
    document = layout.document
    dates = dict.fromkeys(("creationDate", "modDate"), "D:20251225090000+08'00'")
    document.set_metadata({"title": HEADER, "author": "海州市档案馆", **dates})
    document.set_toc([[level, title, page] for level, title, page in headings])
    document.subset_fonts()
    document.save(path, garbage=4, deflate=True, no_new_id=True)


@dataclass(slots=True)
class _Layout:
    """The document being set, `y` the baseline that was set last."""

    contents: list[tuple[int, str, int]]
    document: pymupdf.Document = field(default_factory=pymupdf.open)
    headings: list[tuple[int, str, int]] = field(default_factory=list)
    y: float = TOP

    def run(self) -> _Layout:
        """Set every page's body."""
        self._cover()
        self._contents()
        self._new_page()
        table: list[list[str]] = []
        for line in [*TEXT.read_text(encoding="utf-8").split("\n"), ""]:
            if line.startswith("|"):
                table.append([cell.strip() for cell in line[1:].split("|")])
                continue
            if table:
                self._table(table)
                table = []
            self._line(line)
        return self

    def furnish(self) -> None:
        """Running header on every page, a page number on all but the cover."""
        for number, page in enumerate(self.document, start=1):
            self._put(page, LEFT, 56, HEADER, size=9, colour=GREY)
            page.draw_line((LEFT, 62), (RIGHT, 62), color=GREY, width=0.5)
            if number > 1:
                label = f"第 {number} 页"
                x = (WIDTH - _length(label, 9)) / 2
                self._put(page, x, HEIGHT - 44, label, size=9, colour=GREY)

    def _line(self, line: str) -> None:
        if line.startswith("# "):
            if self.y > TOP:
                self.y += LEADING * 0.6
            self._heading(1, line[2:], size=16, colour=RED)
        elif line.startswith("## "):
            self._heading(2, line[3:], size=12.5, colour=BLUE)
        elif line.startswith("^ "):
            self._caption(line[2:])
        elif line:
            self._paragraph(line)

    def _cover(self) -> None:
        page = self._new_page()
        centred = (
            (190, 13, "海政办发〔2025〕46号", INK, False),
            (292, 32, TITLE, RED, True),
            (344, 18, PERIOD, RED, False),
            (640, 15, "海州市档案馆　海州市数据局", INK, False),
            (672, 13, "二〇二五年十二月", INK, False),
        )
        for y, size, text, colour, bold in centred:
            x = (WIDTH - _length(text, size)) / 2
            self._put(page, x, y, text, size=size, colour=colour, bold=bold)
        for y, width in ((226, 2.2), (232, 0.6), (376, 0.6), (380, 2.2)):
            page.draw_line((LEFT, y), (RIGHT, y), color=RED, width=width)

    def _contents(self) -> None:
        page = self._new_page()
        self._put(page, (WIDTH - 60) / 2, TOP + 18, "目　录", size=20, colour=RED, bold=True)
        y = TOP + 62.0
        dot = _length(".", BODY)
        for level, title, target in self.contents:
            x = LEFT + 22 * (level - 1)
            self._put(page, x, y, title, size=BODY, bold=level == 1)
            start = x + _length(title, BODY) + 6
            dots = "." * int((RIGHT - 22 - start) / dot)
            self._put(page, RIGHT - 18 - dot * len(dots), y, dots, size=BODY, colour=GREY)
            label = str(target)
            self._put(page, RIGHT - _length(label, BODY), y, label, size=BODY)
            y += 24 if level == 1 else 21

    def _heading(self, level: int, title: str, *, size: float, colour: tuple[float, ...]) -> None:
        gap = size * 1.9
        keep = 7 if level == 1 else 3
        if self.y + gap + keep * LEADING > BOTTOM:  # a heading stays with what it heads
            self._new_page()
        page = self.document[-1]
        self.y += gap if self.y > TOP else size
        x = (WIDTH - _length(title, size)) / 2 if level == 1 else LEFT
        self._put(page, x, self.y, title, size=size, colour=colour, bold=True)
        self.y += size * 0.45
        self.headings.append((level, title, len(self.document)))

    def _paragraph(self, text: str) -> None:
        item = re.match(r"[一二三四五六七八九十]+、[^，。]+。", text)
        lead = item.end() if item else 0
        done = 0
        for line in _wrap("　　" + text, RIGHT - LEFT, BODY):
            self._feed(LEADING)
            start = line.index(text[0]) if not done else 0
            bold = line[: max(0, lead - done + start)] if done < lead else ""
            self._put(self.document[-1], LEFT, self.y, bold, size=BODY, bold=True)
            x = LEFT + _length(bold, BODY)
            self._put(self.document[-1], x, self.y, line[len(bold) :], size=BODY)
            done += len(line) - start

    def _caption(self, text: str) -> None:
        if self.y + 8 * LEADING > BOTTOM:
            self._new_page()
        self.y += LEADING * 1.4
        x = (WIDTH - _length(text, BODY)) / 2
        self._put(self.document[-1], x, self.y, text, size=BODY, bold=True)
        self.y += 7

    def _table(self, rows: list[list[str]]) -> None:
        """Ruled; a page that it goes on to repeats the first row."""
        edges = _columns(rows)
        self._row(rows[0], edges, bold=True)
        for row in rows[1:]:
            if self.y + _row_height(row, edges) > BOTTOM:
                self._new_page()
                self._row(rows[0], edges, bold=True)
            self._row(row, edges, bold=row[0] == "合计")
        self.y += 8

    def _row(self, row: list[str], edges: list[float], *, bold: bool) -> None:
        page, top, bottom = self.document[-1], self.y, self.y + _row_height(row, edges)
        for cell, x0, x1 in zip(row, edges, edges[1:], strict=False):
            lines = _wrap(cell, x1 - x0 - 2 * PADDING, CELL)
            y = (top + bottom - len(lines) * CELL_LEADING) / 2 + CELL_LEADING * 0.78
            page.draw_rect((x0, top, x1, bottom), color=INK, width=0.6)
            for line in lines:
                length = _length(line, CELL)
                number = re.fullmatch(r"[\d,.]+", cell) and x1 == edges[-1]
                x = x1 - PADDING - length if number else (x0 + x1 - length) / 2
                self._put(page, x, y, line, size=CELL, bold=bold)
                y += CELL_LEADING
        self.y = bottom

    def _feed(self, height: float) -> None:
        if self.y + height > BOTTOM:
            self._new_page()
        self.y += height

    def _new_page(self) -> pymupdf.Page:
        page = self.document.new_page(width=WIDTH, height=HEIGHT)
        page.insert_font(fontname="cjk", fontbuffer=FONT.buffer)
        self.y = TOP
        return page

    def _put(
        self,
        page: pymupdf.Page,
        x: float,
        y: float,
        text: str,
        *,
        size: float,
        colour: tuple[float, ...] = INK,
        bold: bool = False,
    ) -> None:
        """One run of text at the baseline (x, y); bold is an outline as thick as the pen."""
        style = {"render_mode": 2, "border_width": 0.03} if bold else {}
        if text:
            page.insert_text(
                (x, y), text, fontname="cjk", fontsize=size, color=colour, fill=colour, **style
            )


def _length(text: str, size: float) -> float:
    return size * sum(map(_advance, text))


@cache
def _advance(character: str) -> float:
    """Width of a character at size 1."""
    return FONT.glyph_advance(ord(character))


def _wrap(text: str, width: float, size: float) -> list[str]:
    """`text` in lines of `width`; a closing mark may hang over the edge, never start a line."""
    lines, line = [], ""
    for unit in _UNIT.findall(text):
        full = _length(line + unit, size) > width + 0.1
        if line and full and unit not in NO_LINE_START:
            carry = line[-1] if line[-1] in NO_LINE_END else ""
            lines.append(line.removesuffix(carry))
            line = carry + unit
        else:
            line += unit
    return [*lines, line]


def _columns(rows: list[list[str]]) -> list[float]:
    """Where the vertical rules stand: every column as wide as its text, the widest cut to fit."""
    wish = [
        max(_length(cell, CELL) for cell in column) + 2 * PADDING + 1
        for column in zip(*rows, strict=True)
    ]
    cap = max(wish)
    while sum(min(w, cap) for w in wish) > RIGHT - LEFT:
        cap -= 1
    widths = [min(w, cap) for w in wish]
    spare = (RIGHT - LEFT - sum(widths)) / len(widths)
    edges = [LEFT]
    for width in widths:
        edges.append(edges[-1] + width + spare)
    return edges


def _row_height(row: list[str], edges: list[float]) -> float:
    lines = max(
        len(_wrap(cell, x1 - x0 - 2 * PADDING, CELL))
        for cell, x0, x1 in zip(row, edges, edges[1:], strict=False)
    )
    return lines * CELL_LEADING + 2 * PADDING
