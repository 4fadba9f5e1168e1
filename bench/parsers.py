"""How well documents are read: `python -m bench.parsers [CORPUS_DIR] [--json FILE] [--markdown]`.

Three parts, in one run: every file of the corpus against its manifest; our text of PDF and Word
files against an independent reader's; our pages a second beside bare pymupdf. Exit code 1 when an
expectation of the manifest is missed; missed targets of the other parts are named.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.corpus import Outcome, Row, load, read
from bench.differential import Difference, compare_pdf, compare_word
from kb.cli.console import prepare_streams, say
from kb.config import ROOT, Settings
from kb.errors import KbError
from kb.parsers.pdf import pdf
from kb.ports import ParseLimits
from kb.sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kb.model import Parsed

SHARED: Final = Path(os.environ.get("KB_SHARED", ROOT.parent / "shared"))
KEPT: Final = 0.995
DOUBLED: Final = 0.0
SPEED: Final = 0.5
"""Targets: share of characters kept and doubled, share of bare pymupdf's pages a second."""
_ROUNDS: Final = 3
_SHORTEST: Final = 4
"""Pages of a file whose speed is measured."""
_FEW_RULED: Final = 0.05
GARBLED: Final = frozenset({"pdf/no_tounicode_garbled.pdf"})
"""Without a Unicode map every reader sees other wrong letters: nothing to compare."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Pages a CPU second: ours and bare pymupdf's `dict` without images, in this very process."""

    file: str
    pages: int
    ours: float
    bare: float

    @property
    def share(self) -> float:
        """Ours as a share of bare pymupdf's."""
        return self.ours / self.bare


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    prepare_streams()
    parser = argparse.ArgumentParser(prog="python -m bench.parsers", description=__doc__)
    parser.add_argument("corpus", nargs="?", type=Path, default=SHARED / "corpus")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables")
    parser.add_argument("--only", nargs="+", metavar="FORMAT", help="only these formats (pdf …)")
    parser.add_argument("--no-ocr", action="store_true", help="do not read scans")
    options = parser.parse_args(arguments)
    rows = [row for row in load(options.corpus) if not options.only or row.format in options.only]
    if not rows:
        say(f"no rows of a MANIFEST.tsv in {options.corpus}")
        return 3
    outcomes = check_corpus(options.corpus, rows, ocr=not options.no_ocr)
    differences = list(check_text(options.corpus, outcomes))
    speeds = list(check_speed(options.corpus, outcomes))
    _print(outcomes, differences, speeds, markdown=options.markdown)
    if options.json:
        plain = {
            "corpus": [asdict(outcome) for outcome in outcomes],
            "differences": [asdict(difference) for difference in differences],
            "speed": [asdict(speed) for speed in speeds],
        }
        options.json.write_text(json.dumps(plain, indent=2, ensure_ascii=False), encoding="utf-8")
    return int(any(outcome.missed for outcome in outcomes))


def check_corpus(folder: Path, rows: Iterable[Row], *, ocr: bool) -> list[Outcome]:
    """Every file through the sandbox, as the product reads it."""
    sandbox = _sandbox(ocr=ocr)
    try:
        return [read(sandbox, folder, row, ocr=ocr) for row in rows]
    finally:
        sandbox.close()


def check_text(folder: Path, outcomes: Iterable[Outcome]) -> Iterator[Difference]:
    """PDF and Word files that were read, without scans and garbled text, against another reader."""
    sandbox = _sandbox(ocr=False)
    for outcome in outcomes:
        row = outcome.row
        if outcome.refusal or row.is_scan or row.file in GARBLED:
            continue
        parsed = _parsed(sandbox, folder, row) if row.suffix in {".pdf", ".docx"} else None
        if parsed:
            compare = compare_pdf if row.suffix == ".pdf" else compare_word
            yield compare(row.file, folder / row.file, parsed.pages)
    sandbox.close()


def check_speed(folder: Path, outcomes: Iterable[Outcome]) -> Iterator[Speed]:
    """PDF files of several pages, hardly one of them ruled: ours beside `get_text("dict")`."""
    sandbox = _sandbox(ocr=False)
    for outcome in outcomes:
        row = outcome.row
        if row.suffix != ".pdf" or outcome.pages < _SHORTEST or row.is_scan:
            continue
        parsed = _parsed(sandbox, folder, row)
        if parsed and _ruled(parsed) <= _FEW_RULED * len(parsed.pages):
            path, pages = folder / row.file, len(parsed.pages)
            ours, bare = _best(partial(_ours, path)), _best(partial(_bare, path))
            yield Speed(row.file, pages, pages / ours, pages / bare)
    sandbox.close()


def _ruled(parsed: Parsed) -> int:
    return sum(any(e.kind == "table" for e in page.elements) for page in parsed.pages)


def _ours(path: Path) -> None:
    pdf.parse(path, path.name)


def _bare(path: Path) -> None:
    import pymupdf

    flags = pymupdf.TEXTFLAGS_DICT & ~pymupdf.TEXT_PRESERVE_IMAGES
    with pymupdf.open(path) as document:  # type: ignore[no-untyped-call]
        for page in document:
            page.get_text("dict", flags=flags)


def _sandbox(*, ocr: bool) -> Sandbox:
    settings = Settings() if ocr else Settings(ocr="off")
    limits = ParseLimits(wall_seconds=settings.parse_seconds, cpu_seconds=settings.parse_seconds)
    return Sandbox(limits, settings.ocr_options)


def _parsed(sandbox: Sandbox, folder: Path, row: Row) -> Parsed | None:
    try:
        return sandbox.parse(folder / row.file, row.file)
    except KbError:
        return None


def _best(work: Callable[[], Any]) -> float:
    seconds = []
    for _ in range(_ROUNDS):
        started = time.process_time()
        work()
        seconds.append(time.process_time() - started)
    return min(seconds)


# -- the report ----------------------------------------------------------------------------


def _print(
    outcomes: Sequence[Outcome],
    differences: Sequence[Difference],
    speeds: Sequence[Speed],
    *,
    markdown: bool,
) -> None:
    files = ("file", "pages", "phrases", "lines", "warnings", "seconds", "result")
    print(_table(files, [_corpus_line(outcome) for outcome in outcomes], markdown=markdown))
    met = sum(not outcome.missed for outcome in outcomes)
    print(f"\n{met} of {len(outcomes)} files as expected. {_by_format(outcomes)}\n")
    texts = ("file", "characters", "kept %", "doubled %", "order %", "missed")
    print(_table(texts, [_text_line(difference) for difference in differences], markdown=markdown))
    print()
    rates = ("file", "pages", "pages/CPU s", "bare pymupdf", "share", "missed")
    print(_table(rates, [_speed_line(speed) for speed in speeds], markdown=markdown))


def _corpus_line(outcome: Outcome) -> tuple[str, ...]:
    row = outcome.row
    result = "; ".join(outcome.missed) or outcome.refusal or "read"
    return (
        row.file,
        f"{outcome.pages}/{row.pages or '-'}",
        f"{outcome.found}/{len(row.phrases)}",
        str(outcome.lines),
        str(len(outcome.warnings)),
        f"{outcome.seconds:.2f}",
        f"MISSED: {result}" if outcome.missed else result,
    )


def _by_format(outcomes: Sequence[Outcome]) -> str:
    every = Counter(outcome.row.format for outcome in outcomes)
    met = Counter(outcome.row.format for outcome in outcomes if not outcome.missed)
    return ", ".join(f"{name} {met[name]}/{count}" for name, count in every.items())


def _text_line(difference: Difference) -> tuple[str, ...]:
    missed = [
        "kept" if difference.kept < KEPT else "",
        "doubled" if difference.doubled > DOUBLED else "",
    ]
    why = " ".join(f"{char}×{count}" for char, count in difference.lost)
    return (
        difference.file,
        str(difference.characters),
        f"{100 * difference.kept:.2f}",
        f"{100 * difference.doubled:.2f}",
        f"{100 * difference.order:.1f}",
        " ".join(filter(None, (*missed, why if difference.kept < KEPT else ""))),
    )


def _speed_line(speed: Speed) -> tuple[str, ...]:
    return (
        speed.file,
        str(speed.pages),
        f"{speed.ours:.0f}",
        f"{speed.bare:.0f}",
        f"{speed.share:.2f}",
        "" if speed.share >= SPEED else "speed",
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, markdown: bool) -> str:
    if markdown:
        lines = [head, ["---"] * len(head), *rows]
        return "\n".join(f"| {' | '.join(_escaped(cell) for cell in line)} |" for line in lines)
    widths = [max(len(line[i]) for line in (head, *rows)) for i in range(len(head) - 1)]
    return "\n".join(
        "  ".join(
            [*(cell.ljust(width) for cell, width in zip(line, widths, strict=False)), line[-1]]
        )
        for line in (head, *rows)
    )


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    sys.exit(main())
