"""A cross-encoder as an ONNX file: it reads question and passage together, and scores the pair."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kb.embedding.check import clean
from kb.embedding.folder import ModelFolder
from kb.embedding.onnx import Window, batches, feed, integer_inputs, open_session
from kb.errors import RerankingFailed
from kb.messages import tr

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PAIR_TOKENS: Final = 512
"""Longest pair, whatever the model allows. Of a longer one the passage is cut, never the question,
unless that fills more than half of it by itself."""

CHUNK_TOKENS: Final = 512
"""Tokens, padding included, between two looks at the clock: one run of the longest pair."""

_LOGITS: Final = "logits"
_WARM: Final = "市财政局负责落实经费。" * 32
_TICK: Final = 0.016
"""Seconds that a clock may not see: Windows counts in steps of a 64th."""


@dataclass(frozen=True, slots=True)
class _Runtime:
    session: Any
    tokenizer: Tokenizer
    inputs: dict[str, str]
    output: str


class CrossEncoder:
    """Scores with the model in `folder`, which is loaded here. May be called from several threads.

    A model of one output gives its logit, one of two the second minus the first (the log-odds of
    "relevant"). For `threads` see `thread_count`; `clock` counts seconds. Raises RerankingFailed
    for a model that cannot be loaded or is no cross-encoder.
    """

    def __init__(
        self, folder: ModelFolder, threads: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._runtime = _load(folder, threads)
        self._pace = float("inf")
        for _ in range(2):  # the first run also allocates
            self._measured(self._pairs(_WARM[:10], [_WARM]))

    @property
    def name(self) -> str:
        """`onnx:` and the folder's name."""
        return f"onnx:{self._folder.path.name}"

    def score(self, question: str, passages: Sequence[str], deadline: float) -> list[float]:
        """See `ports.Reranker`. What would pass `deadline`, by the pace so far, is left out.

        A call's first chunk is judged by the best pace of all calls: a slow moment has no sequel.
        """
        pairs = self._pairs(question, passages)
        scores: list[float] = []
        pace = self._pace
        while len(scores) < len(pairs):
            affordable = (deadline - self._clock()) / pace
            chunk = _chunk(pairs[len(scores) :], min(affordable, CHUNK_TOKENS))
            if not chunk:
                break
            found, pace = self._measured(chunk)
            scores += found
        return scores

    def _pairs(self, question: str, passages: Sequence[str]) -> list[Window]:
        """Each pair as the tokenizer joins it, cut to fit."""
        tokenizer = self._runtime.tokenizer
        limit = min(self._folder.spec.max_tokens, PAIR_TOKENS)
        asked = tokenizer.encode(clean(question), add_special_tokens=False)
        asked.truncate(limit // 2)
        room = limit - len(asked.ids) - tokenizer.num_special_tokens_to_add(is_pair=True)
        pairs = []
        for row, passage in enumerate(passages):
            read = tokenizer.encode(clean(passage), add_special_tokens=False)
            read.truncate(room)
            joined = tokenizer.post_process(asked, read)
            pairs.append(Window(row, joined.ids, joined.type_ids))
        return pairs

    def _measured(self, chunk: Sequence[Window]) -> tuple[list[float], float]:
        """The scores of a chunk and the seconds a token it took; remembers the best."""
        started = self._clock()
        found = {row: score for batch in batches(chunk) for row, score in self._run(batch)}
        pace = max(self._clock() - started, _TICK) / _cost(chunk)
        self._pace = min(self._pace, pace)
        return [found[pair.row] for pair in chunk], pace

    def _run(self, batch: Sequence[Window]) -> Iterator[tuple[int, float]]:
        runtime = self._runtime
        try:
            output = runtime.session.run([runtime.output], feed(batch, runtime.inputs))[0]
        except Exception as error:
            raise RerankingFailed(tr("rerank.run", name=self.name, error=error)) from error
        scores = checked_scores(output, len(batch), self.name)
        yield from zip((pair.row for pair in batch), scores, strict=True)


def checked_scores(logits: Any, rows: int, name: str) -> list[float]:
    """One finite number a row from logits of shape (rows, 1) or (rows, 2).

    Raises RerankingFailed for any other shape, NaN and infinity.
    """
    import numpy as np

    array = np.asarray(logits, dtype=np.float64)
    if array.shape not in {(rows, 1), (rows, 2)}:
        raise RerankingFailed(
            tr("rerank.shape", name=name, got=array.shape, rows=rows), tr("rerank.wrong_hint")
        )
    if not np.isfinite(array).all():
        raise RerankingFailed(tr("rerank.not_finite", name=name), tr("rerank.broken_hint"))
    scores: list[float] = (array[:, -1] - (array[:, 0] if array.shape[1] > 1 else 0)).tolist()
    return scores


def _chunk(pairs: Sequence[Window], tokens: float) -> Sequence[Window]:
    """As many of the first pairs as cost at most `tokens`."""
    count = 0
    while count < len(pairs) and _cost(pairs[: count + 1]) <= tokens:
        count += 1
    return pairs[:count]


def _cost(pairs: Sequence[Window]) -> int:
    """Tokens that are computed, padding included."""
    return sum(len(batch) * len(batch[0].ids) for batch in batches(pairs))


def _load(folder: ModelFolder, threads: int) -> _Runtime:
    """The model in memory. Raises RerankingFailed with what the library said."""
    try:
        from tokenizers import Tokenizer

        session = open_session(folder.graph, threads)
        tokenizer = Tokenizer.from_file(str(folder.tokenizer))
        tokenizer.no_padding()
        tokenizer.no_truncation()
    except Exception as error:
        raise RerankingFailed(
            tr("rerank.cannot_load", folder=folder.path, error=error), tr("rerank.broken_hint")
        ) from error
    try:
        inputs = integer_inputs(session)
    except ValueError as error:
        raise _wrong(folder, error) from error
    return _Runtime(session, tokenizer, inputs, _output(folder, session))


def _output(folder: ModelFolder, session: Any) -> str:
    """The output that holds the logits: the one of that name, else the only one.

    A dimension that the graph leaves open is checked when the model first runs.
    """
    shapes = {o.name: o.shape for o in session.get_outputs()}
    name = _LOGITS if _LOGITS in shapes or len(shapes) > 1 else next(iter(shapes))
    shape = shapes.get(name)
    if shape is None or len(shape) != 2 or (isinstance(shape[1], int) and shape[1] not in {1, 2}):  # noqa: PLR2004 - (rows, 1 or 2)
        raise _wrong(folder, ", ".join(f"{name} {shape}" for name, shape in shapes.items()))
    return name


def _wrong(folder: ModelFolder, found: object) -> RerankingFailed:
    return RerankingFailed(
        tr("rerank.wrong", folder=folder.path, found=found), tr("rerank.wrong_hint")
    )
