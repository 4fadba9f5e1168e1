"""What was read by OCR says so, from the parser to the reader."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from library_support import Library

from kb.catalog.rows import from_page, to_page
from kb.model import Element, Page, Progress


@pytest.mark.parametrize("ocr", [True, False])
@pytest.mark.parametrize("elements", [(), (Element("table", 1, 2, 1),)])
def test_a_stored_page_keeps_how_it_was_read(ocr: bool, elements: tuple[Element, ...]) -> None:
    page = Page(3, "甲\n乙", "physical", "iii", 595, 842, elements, ocr=ocr)
    id_, _document, kind, label, width, height, _lines, marks, text = from_page(7, page, 2)
    assert to_page((id_, kind, label, width, height, marks, text)) == page


def test_a_page_stored_before_there_was_ocr_is_read() -> None:
    row = from_page(7, Page(1, "甲", "physical"), 1)
    old = (row[0], *row[2:6], "[[1], []]", row[8])
    assert to_page(old) == Page(1, "甲", "physical", noise=(1,))


def test_hits_and_passages_say_which_page_was_read_by_ocr(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = library.parser.parse

    def half_scanned(path: Path, name: str, on_progress: object = None) -> object:
        parsed = parse(path, name)
        first, second = parsed.pages
        return replace(parsed, pages=(first, replace(second, ocr=True)))

    monkeypatch.setattr(library.parser, "parse", half_scanned)
    library.put("a.txt", "海州档案\f灯塔观测")
    assert [library.kb.read_range("a.txt", page).ocr for page in (1, 2)] == [False, True]
    assert {h.citation.page: h.ocr for h in library.kb.search("海州档案 灯塔观测").hits} == {
        1: False,
        2: True,
    }


def test_the_pages_of_a_parse_are_told_as_they_come(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = library.parser.parse

    def telling(path: Path, name: str, on_progress: object = None) -> object:
        on_progress(Progress("ocr", 1, 2, name))  # type: ignore[operator]
        return parse(path, name)

    monkeypatch.setattr(library.parser, "parse", telling)
    path = library.folder / "a.txt"
    path.write_text("甲", encoding="utf-8")
    told: list[Progress] = []
    library.kb.ingest(path, "a.txt", on_progress=told.append)
    assert told == [Progress("ocr", 1, 2, "a.txt")]
