"""Our text against an independent reader's: what was kept, doubled, and in which order.

PDF: pypdfium2, page by page. Word: every `w:t` that is not deleted. Characters are compared after
NFKC, without white space, control characters, hyphens (pdfium drops those at line ends) and cell
borders.
"""

from __future__ import annotations

import re
import unicodedata
import zipfile
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kb.text.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from kb.model import Page

_RUN: Final = 12
_LONG_LINE: Final = 24
"""Characters of what counts as doubled when we show it more often than the other reader does: a run
of a PDF's page, a line of a Word file."""
_VARIED: Final = 4
"""Different characters in a run, so that rows of dots are none."""
_MARKER: Final = re.compile(r"^\s*(?:\W|[\w.]{1,7}[.)])\s+")
"""An automatic number of Word, which is in no `w:t`."""
_STEP: Final = 4
"""Characters of a run whose place is compared, where it is unique on both sides."""
_IGNORED: Final = frozenset("|-\u2010\u00ad\ufffd\ufffe\u200b\u2060\ufeff")
_UNSHOWN: Final = frozenset({"del", "moveFrom", "Fallback"})


@dataclass(frozen=True, slots=True)
class Difference:
    """Shares from 0 to 1. `lost` are the characters that are missing most, with their counts."""

    file: str
    characters: int
    kept: float
    doubled: float
    order: float
    lost: tuple[tuple[str, int], ...]


def compare_pdf(file: str, path: Path, pages: Sequence[Page]) -> Difference:
    """Our pages of the PDF at `path` against pdfium's, page by page if they are as many."""
    ours, theirs = [page.text for page in pages], pdfium_texts(path)
    if len(ours) != len(theirs):
        ours, theirs = ["\n".join(ours)], ["\n".join(theirs)]
    pairs = [(_plain(mine), _plain(other)) for mine, other in zip(ours, theirs, strict=True)]
    return _difference(file, pairs, sum(_doubled_runs(mine, other) for mine, other in pairs))


def compare_word(file: str, path: Path, pages: Sequence[Page]) -> Difference:
    """Our text of the Word file at `path` against its body.

    Notes are no doubles, nor are headers and footers, which are shown where they change.
    """
    lines = [(page, n, line) for page in pages for n, line in enumerate(split_lines(page.text), 1)]
    text = "\n".join(line for _, _, line in lines)
    body = [line for page, n, line in lines if n not in page.noise]
    pair = (_plain(text), _plain(word_text(path, "word/document.xml")))
    return _difference(file, [pair], _doubled_lines(body, _plain(word_text(path, "word/"))))


def pdfium_texts(path: Path) -> list[str]:
    """The text of every page as pdfium sees it."""
    import pypdfium2  # type: ignore[import-untyped]

    with pypdfium2.PdfDocument(path) as document:
        return [str(page.get_textpage().get_text_bounded()) for page in document]


def word_text(path: Path, parts: str) -> str:
    """Every `w:t` of the parts whose names start so, without deletions, fallbacks, hidden runs."""
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.startswith(parts)]
        xml = [archive.read(name) for name in names if name.endswith(".xml")]
    return "\n".join(text for data in xml for text in _texts(data))


def _texts(data: bytes) -> Iterator[str]:
    from lxml import etree  # type: ignore[import-untyped]

    for element in etree.fromstring(data).iter("{*}t"):
        above = {etree.QName(parent).localname for parent in element.iterancestors()}
        if not _UNSHOWN & above and element.getparent().find("{*}rPr/{*}vanish") is None:
            yield element.text or ""


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text.replace("\u22ef", "\u2026"))
    return "".join(c for c in folded if c.isprintable() and not c.isspace() and c not in _IGNORED)


def _runs(text: str, length: int) -> Counter[str]:
    return Counter(text[i : i + length] for i in range(len(text) - length + 1))


def _difference(file: str, pairs: Sequence[tuple[str, str]], doubled: int) -> Difference:
    lost = sum((Counter(other) - Counter(mine) for mine, other in pairs), Counter[str]())
    total = max(sum(len(other) for _, other in pairs), 1)
    orders = [_order(mine, other) for mine, other in pairs]
    compared = sum(count for _, count in orders)
    return Difference(
        file=file,
        characters=total,
        kept=1 - lost.total() / total,
        doubled=doubled / total,
        order=sum(good for good, _ in orders) / compared if compared else 1.0,
        lost=tuple(lost.most_common(8)),
    )


def _doubled_runs(ours: str, theirs: str) -> int:
    """Characters in runs that both have, and we more often; never more than we have too many."""
    known = _runs(theirs, _RUN)
    often = sum(
        max(0, count - known[run])
        for run, count in _runs(ours, _RUN).items()
        if run in known and len(set(run)) >= _VARIED
    )
    return min(often, (Counter(ours) - Counter(theirs)).total())


def _doubled_lines(ours: Sequence[str], theirs: str) -> int:
    """Characters in lines that both have, and we more often."""
    lines = Counter(_plain(_MARKER.sub("", line, count=1)) for line in ours)
    return sum(
        len(line) * max(0, count - theirs.count(line))
        for line, count in lines.items()
        if len(line) >= _LONG_LINE and line in theirs
    )


def _order(ours: str, theirs: str) -> tuple[int, int]:
    """How many runs unique on both sides stand in the same order, and how many there are."""
    mine, other = _places(ours), _places(theirs)
    places = [mine[run] for run in other if run in mine]
    return _longest_increasing(places), len(places)


def _places(text: str) -> dict[str, int]:
    counts = _runs(text, _STEP)
    return {
        text[i : i + _STEP]: i
        for i in range(len(text) - _STEP + 1)
        if counts[text[i : i + _STEP]] == 1
    }


def _longest_increasing(values: Iterable[int]) -> int:
    tails: list[int] = []
    for value in values:
        at = bisect_left(tails, value)
        tails[at : at + 1] = [value]
    return len(tails)
