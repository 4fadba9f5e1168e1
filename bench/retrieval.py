"""Line hits on retrieval sets: `python -m bench.retrieval SET_DIR… [--json FILE]`.

A set is a folder with `docs/*.txt` and `qrels.jsonl` (query, answers as source, page, line_start,
line_end). A hit is right when its source and page match and its matched lines overlap an answer.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kb import retrieval
from kb.app import KnowledgeBase
from kb.config import Settings
from kb.console import prepare_streams, progress_bars, say
from kb.objects.folder import walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kb.ports import Embedder, Vectors
    from kb.types import Hit

    Rank = Callable[[str], Sequence[Hit]]

TOP: Final = 10
SYSTEMS: Final = ("BM25", "vectors", "fused")
_METRICS: Final = ("hit@1", "hit@5", "hit@10", "mrr@10", "p50 ms", "p95 ms")


@dataclass(frozen=True, slots=True)
class Answer:
    """Lines that answer a question, 1-based and inclusive."""

    source: str
    page: int
    line_start: int
    line_end: int


@dataclass(frozen=True, slots=True)
class Question:
    """A human's question and every range that answers it."""

    id: str
    text: str
    answers: tuple[Answer, ...]


def load_questions(folder: Path, field: str = "query") -> list[Question]:
    """The questions of a set that have `field` (`text_zh`: the same question in Chinese)."""
    lines = (folder / "qrels.jsonl").read_text(encoding="utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line.strip()]
    return [
        Question(row["qid"], row[field], tuple(Answer(**answer) for answer in row["answers"]))
        for row in rows
        if row.get(field)
    ]


def first_right(hits: Sequence[Hit], answers: Iterable[Answer]) -> int:
    """Rank (from 1) of the first hit whose matched lines overlap an answer; 0 for none."""
    wanted = tuple(answers)
    for rank, hit in enumerate(hits[:TOP], 1):
        if any(_overlaps(hit, answer) for answer in wanted):
            return rank
    return 0


def scores(ranks: Sequence[int], seconds: Sequence[float]) -> dict[str, float]:
    """Metrics in per cent, times in milliseconds."""
    share = {k: 100 * statistics.mean(0 < rank <= k for rank in ranks) for k in (1, 5, 10)}
    reciprocal = 100 * statistics.mean(1 / rank if rank else 0 for rank in ranks)
    ordered = sorted(seconds)
    return {
        "hit@1": share[1],
        "hit@5": share[5],
        "hit@10": share[10],
        "mrr@10": reciprocal,
        "p50 ms": 1e3 * ordered[len(ordered) // 2],
        "p95 ms": 1e3 * ordered[int(len(ordered) * 0.95)],
    }


def systems(kb: KnowledgeBase) -> dict[str, Rank]:
    """The named configurations: keywords alone, vectors alone, and the product."""
    without = KnowledgeBase(kb.settings.model_copy(update={"embedder": "none"}))
    return {
        "BM25": lambda query: without.search(query, TOP).hits,
        "vectors": lambda query: _vectors_only(kb, query),
        "fused": lambda query: kb.search(query, TOP).hits,
    }


def measure(
    kb: KnowledgeBase, questions: Sequence[Question], names: Sequence[str] = SYSTEMS
) -> dict[str, dict[str, float]]:
    """The named systems on every question, whose vector is computed once, before timing."""
    results = {}
    ranked = systems(kb)
    for name in names:
        rank = ranked[name]
        ranks, seconds = [], []
        for question in questions:
            started = time.perf_counter()
            hits = rank(question.text)
            seconds.append(time.perf_counter() - started)
            ranks.append(first_right(hits, question.answers))
        results[name] = scores(ranks, seconds)
    return results


def run(
    folder: Path, data_dir: Path, field: str, limit: int, names: Sequence[str] = SYSTEMS
) -> dict[str, dict[str, float]]:
    """Ingest a set (or go on with what lies in `data_dir`) and measure it.

    Keywords alone need no embedding model, and none is then opened.
    """
    kb = KnowledgeBase(Settings(data_dir=data_dir, project=folder.name))
    for path, source in walk(folder / "docs"):
        kb.ingest(path, source)
    questions = load_questions(folder, field)[: limit or None]
    if set(names) == {"BM25"}:
        return measure(kb, questions, names)
    with progress_bars(quiet=False) as show:
        state = kb.update(on_progress=show)
    if state.notice:
        say(state.notice)
    engine = _Remembering(kb.embedder(), [question.text.strip() for question in questions])
    return measure(KnowledgeBase(kb.settings, engine), questions, names)


def table(results: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """The results as a Markdown table."""
    lines = [f"| set | system | {' | '.join(_METRICS)} |", "|---" * (len(_METRICS) + 2) + "|"]
    for name, by_system in results.items():
        for system, metrics in by_system.items():
            values = " | ".join(f"{metrics[metric]:.1f}" for metric in _METRICS)
            lines.append(f"| {name} | {system} | {values} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    prepare_streams()
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval", description=__doc__)
    parser.add_argument("sets", nargs="+", type=Path, metavar="SET_DIR")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results here")
    parser.add_argument("--data", type=Path, help="keep the index here (default: a temporary one)")
    parser.add_argument("--field", default="query", help="field of the question (text_zh, …)")
    parser.add_argument("--limit", type=int, default=0, help="only the first N questions")
    parser.add_argument(
        "--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS, help="only these (BM25 …)"
    )
    options = parser.parse_args(arguments)
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        for folder in options.sets:
            data = options.data or Path(temporary)
            results[folder.name] = run(folder, data, options.field, options.limit, options.systems)
    print(table(results))
    if options.json:
        options.json.write_text(json.dumps(results, indent=2), encoding="utf-8")
    return 0


def _overlaps(hit: Hit, answer: Answer) -> bool:
    place = hit.citation
    if (place.source, place.page) != (answer.source, answer.page):
        return False
    matched = [line.line for line in hit.lines if line.match]
    return any(answer.line_start <= line <= answer.line_end for line in matched)


def _vectors_only(kb: KnowledgeBase, query: str) -> Sequence[Hit]:
    from kb.fusion import reciprocal_rank_fusion
    from kb.hits import build_hits

    shard = kb.project()
    with shard.catalog.reading() as reader:
        near, _ = retrieval.nearest(reader, query.strip(), None, lambda: shard.dense, kb.embedder)
        return build_hits(reader, reciprocal_rank_fusion(near, []), TOP, 1_000_000)[0]


class _Remembering:
    """An embedder whose questions are embedded beforehand: times are those of the search alone."""

    def __init__(self, engine: Embedder, questions: Sequence[str]) -> None:
        self._engine = engine
        self._known = {text: engine.embed_query(text) for text in questions}

    @property
    def name(self) -> str:
        return self._engine.name

    @property
    def dimension(self) -> int:
        return self._engine.dimension

    @property
    def fingerprint(self) -> str:
        return self._engine.fingerprint

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._engine.embed_passages(texts)

    def embed_query(self, text: str) -> Vectors:
        return self._known[text]


if __name__ == "__main__":
    sys.exit(main())
