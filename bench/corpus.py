"""What is expected of each file of a corpus: `MANIFEST.tsv` beside the files, one row a file.

Columns used: file, format, pages_or_units (may be empty), phrase_1, phrase_2, verified. Phrases are
compared without white space. `[OCR]` marks a phrase of a scan, `error expected` a file that cannot
be read, `no common text` one whose text no tool agreed on.
"""

from __future__ import annotations

import csv
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kb.errors import KbError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kb.model import Parsed
    from kb.ports import DocumentParser

READ_ANYWAY: Final = frozenset({"docx_bad/strict_ooxml.docx"})
"""Its verdict is that of python-docx, which cannot read strict OOXML; we can."""
NOT_READ: Final = frozenset({".zim"})
"""Formats that are refused, with advice."""
NEEDS_PROGRAM: Final = frozenset({".doc"})
"""Formats that another program must read first: read or refused, as it is installed."""

_OCR: Final = re.compile(r"\[OCR[^\]]*\]\s*")
_GARBLED: Final = re.compile("[\ue000-\uf8ff]")
"""In a phrase that tools agreed on where a font has no Unicode map; OCR reads the real text."""
_OCR_ALIKE: Final = 90.0
"""Per cent of a scan's phrase that must be read right."""
_TAG: Final = re.compile("<[^<>]*>")
_MARKER: Final = re.compile(r"(?:•|\b\w{1,3}[.)]) ")
"""Automatic numbers of Word, which the tools that agreed on the phrases did not see."""


@dataclass(frozen=True, slots=True)
class Row:
    """One file and what people found in it. `pages` is 0 where the format has none."""

    file: str
    format: str
    pages: int
    phrases: tuple[str, ...]
    verified: str

    @property
    def suffix(self) -> str:
        """Lower case, with its dot."""
        return Path(self.file).suffix.lower()

    @property
    def is_scan(self) -> bool:
        """Whether its text is in pictures only."""
        return any(phrase.startswith("[OCR") for phrase in self.phrases)

    @property
    def may_be_refused(self) -> bool:
        """Whether a clear refusal is as good as text."""
        return self.suffix in NEEDS_PROGRAM or (
            not self.phrases and "no common text" in self.verified and self.format in {"pdf", "ofd"}
        )

    @property
    def must_be_refused(self) -> bool:
        """Whether text would be a surprise."""
        if self.file in READ_ANYWAY:
            return False
        return "error expected" in self.verified or self.suffix in NOT_READ


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a file was read. `missed` says what was expected and not met; empty when all was."""

    row: Row
    pages: int
    lines: int
    found: int
    warnings: tuple[str, ...]
    seconds: float
    refusal: str
    missed: tuple[str, ...]


def load(folder: Path) -> list[Row]:
    """The rows of the manifest in `folder`; none when there is no manifest."""
    manifest = folder / "MANIFEST.tsv"
    if not manifest.is_file():
        return []
    with manifest.open(encoding="utf-8", newline="") as file:
        return [_row(raw) for raw in csv.DictReader(file, delimiter="\t")]


def read(parser: DocumentParser, folder: Path, row: Row, *, ocr: bool) -> Outcome:
    """Parse the row's file and hold it against the row. With `ocr` off, scans may be refused."""
    started = time.perf_counter()
    try:
        parsed = parser.parse(folder / row.file, row.file)
    except KbError as error:
        return _refused(row, error, time.perf_counter() - started, ocr=ocr)
    seconds = time.perf_counter() - started
    missed = tuple(_missed(row, parsed, ocr=ocr))
    lines = sum(page.text.count("\n") + 1 for page in parsed.pages if page.text)
    found = sum(has_phrase(row, parsed, phrase) for phrase in row.phrases)
    return Outcome(row, len(parsed.pages), lines, found, parsed.warnings, seconds, "", missed)


def has_phrase(row: Row, parsed: Parsed, phrase: str) -> bool:
    """Whether the shown text holds a phrase, but for white space and cell borders."""
    shown = "\n".join(page.text for page in parsed.pages)
    if phrase.startswith("[OCR"):
        from rapidfuzz import fuzz

        wanted = _squeezed(_OCR.sub("", phrase))
        return fuzz.partial_ratio(wanted, _squeezed(shown)) >= _OCR_ALIKE
    if row.suffix in {".html", ".htm"}:
        phrase = _TAG.sub("", phrase)
    if row.suffix == ".csv":  # its separators are cell borders
        phrase, shown = phrase.replace(",", "|"), shown.replace(",", "|")
    texts = [shown, _MARKER.sub("", shown)] if row.suffix == ".docx" else [shown]
    return any(_squeezed(phrase) in _squeezed(text) for text in texts)


def _row(raw: dict[str, str | None]) -> Row:
    values = {key: value or "" for key, value in raw.items()}
    phrases = (values["phrase_1"], values["phrase_2"])
    return Row(
        file=values["file"],
        format=values["format"],
        pages=int(values["pages_or_units"] or 0),
        phrases=tuple(phrase for phrase in phrases if phrase.strip()),
        verified=values["verified"],
    )


def _refused(row: Row, error: KbError, seconds: float, *, ocr: bool) -> Outcome:
    missed = []
    if not (row.must_be_refused or row.may_be_refused or (row.is_scan and not ocr)):
        missed.append("refused")
    if row.file not in error.message or not error.hint:
        missed.append("refusal names no file or no way on")
    return Outcome(row, 0, 0, 0, (), seconds, error.message, tuple(missed))


def _missed(row: Row, parsed: Parsed, *, ocr: bool) -> Iterator[str]:
    if row.must_be_refused:
        yield "read, though a refusal was expected"
    if row.pages and _units(parsed) != row.pages:
        yield f"{_units(parsed)} pages, not {row.pages}"
    for phrase in row.phrases:
        beyond = _GARBLED.search(phrase) if ocr else row.is_scan
        if not beyond and not has_phrase(row, parsed, phrase):
            yield f"no “{phrase}”"


def _units(parsed: Parsed) -> int:
    """Pages; of workbooks sheets, which may take several."""
    sheets = {page.label or page.number for page in parsed.pages if page.kind == "sheet"}
    return len(sheets) or len(parsed.pages)


def _squeezed(text: str) -> str:
    return "".join(text.split()).replace("|", "")
