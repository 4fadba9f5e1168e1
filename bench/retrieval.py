"""Line hits on retrieval sets: `python -m bench.retrieval SET_DIR… [--json FILE] [--plots DIR]`.

A set is a folder with `docs/*.txt` and `qrels.jsonl` (see `bench.questions`). What is counted, in
per cent of the questions:

hit@k     one of the first k hits is right: a *matched* line of it lies in an answer. Touching
          blocks of a page are one hit, as the product answers; lines shown around do not count.
block@k   the same over single blocks, none merged: comparable with other tools.
pool      a right block is among all candidates of both engines.
lines     matched lines of the first hit, the median.
span@5    the whole answer stands in the lines shown by the first five of six hits within the
          default answer budget (questions of kind `span` only).
AUC       of telling right first hits from the first hits of the same questions asked with their
          right documents left out, by relevance (baselines: by their own score).
accepted  of those questions without an answer, how many pass where 3 % of right hits are lost.
p50, p95  milliseconds to rank and to build ten hits, the question's embedding left out.

With KB_RERANKER set there is one system more, `product + reranker`, on its own budget.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bench import metrics, report
from bench.questions import (
    Question,
    Span,
    first_right,
    gains,
    load_questions,
    matched,
    question_fields,
    shown,
)
from bench.systems import MEANING, OURS, PRODUCT, RERANKED, SYSTEMS, Bench
from kb.app import KnowledgeBase
from kb.cli.console import prepare_streams, progress_bars, say
from kb.config import ROOT, Settings
from kb.objects.folder import walk
from kb.search.hits import build_hits
from kb.search.ranking import NO_MATCH

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from kb.catalog import Reader
    from kb.ports import Embedder, Vectors
    from kb.search.fusion import Fused

TOP: Final = 10
DEFAULT_TOP_K: Final = 6
_TOGETHER: Final = "together"
_ROOM: Final = 9_600  # of the default 12,000 characters, what document text may take


@dataclass(slots=True)
class Outcomes:
    """What one system did, a value a question."""

    ranks: list[int] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    ndcg: list[float] = field(default_factory=list)
    pool: list[bool] = field(default_factory=list)
    spans: list[bool] = field(default_factory=list)
    sure: list[float] = field(default_factory=list)
    unsure: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def measure(
    bench: Bench, questions: Sequence[Question], names: Sequence[str] = SYSTEMS
) -> dict[str, Outcomes]:
    """The named systems on every question."""
    outcomes = {name: Outcomes() for name in names}
    by_source = {d.source: id_ for id_, d in bench.reader.documents().items()}
    blocks = _Places(bench.reader)
    for question in questions:
        right = {by_source[answer.source] for answer in question.answers}
        others = tuple(id_ for id_ in by_source.values() if id_ not in right)
        for name in names:
            _ask(bench, name, question, outcomes[name], blocks)
        for name in names:
            if name in OURS and others:
                said = bench.ask(name, question.text, others)
                outcomes[name].unsure.append(_sureness(name, said.fused))
    return outcomes


def _ask(bench: Bench, name: str, question: Question, into: Outcomes, places: _Places) -> None:
    said = bench.ask(name, question.text)
    started = time.perf_counter()
    hits, _ = build_hits(bench.reader, said.fused, TOP, 10**9)
    into.seconds.append(said.seconds + time.perf_counter() - started)
    found = [matched(hit) for hit in hits]
    into.ranks.append(first_right(found, question.answers))
    into.lines.append(len(found[0]) if found else 0)
    into.ndcg.append(metrics.ndcg(gains(found, question.answers), len(set(question.answers))))
    single = places.of([hit.id for hit in said.fused])
    into.blocks.append(first_right([[span] for span in single[:TOP]], question.answers))
    into.pool.append(any(span.overlaps(a) for span in single for a in question.answers))
    if question.kind == "span":
        answered, _ = build_hits(bench.reader, said.fused, DEFAULT_TOP_K, _ROOM)
        ranges = [shown(hit) for hit in answered[:5]]
        into.spans.append(any(r.holds(a) for r in ranges for a in question.answers))
    into.sure.append(_sureness(name, said.fused))


def _sureness(name: str, fused: Sequence[Fused]) -> float:
    """What the decision rests on: the best relevance of the hits, of baselines the best score."""
    if name == PRODUCT:
        return max((hit.relevance for hit in fused[:DEFAULT_TOP_K]), default=0.0)
    if not fused:
        return -1e9
    best = fused[0]
    own = {"BM25": best.sparse_score, "vectors": best.dense_score}.get(name)
    return best.score if own is None else own


class _Places:
    """Where the blocks of an index stand."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._documents = {id_: d.source for id_, d in reader.documents().items()}

    def of(self, ids: Collection[int]) -> list[Span]:
        blocks = self._reader.blocks(list(ids))
        found = (blocks[id_] for id_ in ids)
        return [
            Span(self._documents[b.document_id], b.page, b.line_start, b.line_end) for b in found
        ]


def figures(outcomes: Outcomes, product: Outcomes | None = None) -> dict[str, Any]:
    """One system's figures; with `product` also by how much the product is ahead, per cent."""
    ranks = outcomes.ranks
    first = [100.0 * (rank == 1) for rank in ranks]
    result: dict[str, Any] = {
        **{f"hit@{k}": metrics.share_within(ranks, k) for k in (1, 5, 10)},
        **{f"block@{k}": metrics.share_within(outcomes.blocks, k) for k in (1, 5)},
        "hit@1 interval": metrics.interval(first),
        "hit@5 interval": metrics.interval([100.0 * (0 < rank <= 5) for rank in ranks]),
        "block@1 interval": metrics.interval([100.0 * (rank == 1) for rank in outcomes.blocks]),
        "lines": float(np.median(outcomes.lines)),
        "mrr@10": metrics.reciprocal_rank(ranks),
        "ndcg@10": 100 * sum(outcomes.ndcg) / len(outcomes.ndcg),
        "pool": 100 * sum(outcomes.pool) / len(outcomes.pool),
        "p50 ms": metrics.percentile(outcomes.seconds, 0.5),
        "p95 ms": metrics.percentile(outcomes.seconds, 0.95),
    }
    if outcomes.spans:
        result["span@5"] = 100 * sum(outcomes.spans) / len(outcomes.spans)
    right = [s for s, rank in zip(outcomes.sure, ranks, strict=True) if rank == 1]
    if outcomes.unsure and right:
        result["auc"] = metrics.auc(right, outcomes.unsure)
        result["auc of all"] = metrics.auc(outcomes.sure, outcomes.unsure)
        result["accepted"] = metrics.accepted_at_loss(right, outcomes.unsure)
    if product is outcomes and right:
        result["lost at default"] = 100 * sum(s < NO_MATCH for s in right) / len(right)
        refused = sum(s < NO_MATCH for s in outcomes.unsure)
        result["refused at default"] = 100 * refused / max(1, len(outcomes.unsure))
    elif product:
        ours = [100.0 * (rank == 1) for rank in product.ranks]
        result["product ahead at 1"] = metrics.paired_interval(ours, first)
    return result


def run(
    folder: Path,
    data_dir: Path,
    field_: str,
    limit: int,
    names: Sequence[str] = SYSTEMS,
    beside: Sequence[Path] = (),
) -> dict[str, dict[str, Any]]:
    """Ingest a set (or go on with what lies in `data_dir`) and measure it.

    The documents of the sets `beside` are in the index too. Keywords alone need no embedding model,
    and none is then opened.
    """
    project = _TOGETHER if beside else folder.name
    kb = KnowledgeBase(Settings(data_dir=data_dir, project=project))
    for each in sorted({folder, *beside}):
        for path, source in walk(each / "docs"):
            kb.ingest(path, source)
    questions = load_questions(folder, field_)
    questions = questions[:: max(1, -(-len(questions) // limit))] if limit else questions
    engine = None
    if set(names) - {"BM25", "rank_bm25 bigrams", "rank_bm25 jieba"}:
        with progress_bars(quiet=False) as show:
            state = kb.update(on_progress=show)
        if state.notice:
            say(state.notice)
        kept = data_dir / project / "questions.npz"
        engine = _Remembering(kb.embedder(), [question.text for question in questions], kept)
    reranker = kb.reranking.wait() if kb.reranking and RERANKED in names else None
    shard = kb.project()
    with shard.catalog.reading() as reader:
        outcomes = measure(Bench(shard, reader, engine, reranker), questions, names)
    product = outcomes.get(PRODUCT)
    return {name: figures(outcome, product) for name, outcome in outcomes.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    options = _options(arguments)
    if options.results:
        results = _merged(options.results)
    else:
        results = {}
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
            for folder in options.sets:
                for asked in [options.field] if options.field else question_fields(folder):
                    name = folder.name if asked == "query" else f"{folder.name} {asked}"
                    say(name)
                    data = options.data or Path(temporary)
                    beside = options.sets if options.together else ()
                    name += f" {_TOGETHER}" * options.together
                    limits = options.limit, options.systems
                    results[name] = run(folder, data, asked, *limits, beside)
    print(report.table(results))
    if options.json:
        commit = _commits(options.results or ()) or _commit()
        document = {"commit": commit, "systems": MEANING, "results": results}
        options.json.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(document, indent=1, ensure_ascii=False)
        options.json.write_text(text + "\n", encoding="utf-8")
    if options.plots:
        options.plots.mkdir(parents=True, exist_ok=True)
        for metric in ("hit@1", "hit@5"):
            path = options.plots / f"{metric.replace('@', '_at_')}.svg"
            path.write_text(report.plot(results, metric), encoding="utf-8")
    if options.readme:
        report.write_readmes(results, ROOT)
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    prepare_streams()
    systems = (*SYSTEMS, RERANKED) if Settings().reranker else SYSTEMS
    parser = argparse.ArgumentParser(
        prog="python -m bench.retrieval",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("sets", nargs="*", type=Path, metavar="SET_DIR")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results here")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="also draw SVG charts here")
    parser.add_argument("--readme", action="store_true", help="put the table into the readmes")
    parser.add_argument("--data", type=Path, help="keep the index here (default: a temporary one)")
    parser.add_argument("--field", help="only this field of the questions (query, text_zh, …)")
    parser.add_argument(
        "--limit", type=int, default=0, help="an even sample of at most N questions"
    )
    parser.add_argument("--together", action="store_true", help="all sets' documents in one index")
    parser.add_argument(
        "--systems", nargs="+", choices=systems, default=systems, help="only these (BM25 …)"
    )
    parser.add_argument(
        "--results", nargs="+", type=Path, metavar="FILE", help="measure nothing, show these"
    )
    return parser.parse_args(arguments)


def _merged(files: Sequence[Path]) -> dict[str, dict[str, Any]]:
    merged: dict[str, dict[str, Any]] = {}
    for path in files:
        merged |= json.loads(path.read_text(encoding="utf-8"))["results"]
    return merged


def _commits(files: Sequence[Path]) -> str:
    made = {json.loads(path.read_text(encoding="utf-8"))["commit"] for path in files}
    return ", ".join(sorted(made))


def _commit() -> str:
    """The commit that was measured, with a + where files differ from it."""
    command = ["git", "describe", "--always", "--dirty=+", "--abbrev=12"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    return done.stdout.strip()


def _read_vectors(file: Path, fingerprint: str) -> dict[str, Vectors]:
    if not file.is_file():
        return {}
    with np.load(file) as kept:
        made_by, *texts = kept["texts"].tolist()
        return dict(zip(texts, kept["vectors"], strict=True)) if made_by == fingerprint else {}


class _Remembering:
    """An embedder whose questions are embedded beforehand: times are those of the search alone.

    Their vectors are kept beside the index.
    """

    def __init__(self, engine: Embedder, questions: Sequence[str], file: Path) -> None:
        self._engine = engine
        self._known = _read_vectors(file, engine.fingerprint)
        new = [text for text in questions if text not in self._known]
        self._known |= {text: engine.embed_query(text) for text in new}
        if new:
            texts = np.array([engine.fingerprint, *self._known])
            np.savez(file, texts=texts, vectors=np.stack(list(self._known.values())))

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
