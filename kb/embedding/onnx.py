"""Any sentence embedding model as an ONNX file, through onnxruntime and tokenizers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from kb.embedding.check import checked, clean
from kb.embedding.folder import ModelFolder, fingerprint
from kb.embedding.running import by_length, thread_count
from kb.errors import EmbeddingFailed
from kb.messages import tr

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from kb.ports import Vectors

WINDOW_TOKENS: Final = 1024
"""Longest window, whatever the model allows: attention costs memory by the square of it."""

BATCH_TOKENS: Final = 512
"""Tokens of one run, padding included; a longer window runs alone. Larger runs only cost: on two
busy cores 512, 2,048 and 4,096 gave 16.7, 12.9 and 11.7 blocks/s (MiniLM, 229 tokens a block) and
took 288, 379 and 541 MB."""

_INTEGERS: Final = {"tensor(int64)": "int64", "tensor(int32)": "int32"}
_POOLED: Final = ("sentence_embedding", "sentence_embeddings", "dense_vecs")
_TOKENWISE: Final = ("last_hidden_state", "token_embeddings")


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of one text that fits the model. `row` is the text's place in the call."""

    row: int
    ids: Sequence[int]
    types: Sequence[int]


@dataclass(frozen=True, slots=True)
class _Runtime:
    """A loaded model. `pooled` says that `output` already is one vector a text."""

    session: Any
    tokenizer: Tokenizer
    inputs: dict[str, str]
    output: str
    pooled: bool


class OnnxEmbedder:
    """Embeds with the model in `folder`; it is loaded at the first text.

    A text longer than the model's window is cut into windows, and its vector is their mean weighted
    by length. May be called from several threads. For `threads` see `thread_count`; `caches` are
    folders where the digest of the weights may be remembered.
    """

    def __init__(self, folder: ModelFolder, threads: int, caches: Sequence[Path] = ()) -> None:
        self._folder = folder
        self._threads = threads
        self._caches = caches
        self._lock = Lock()
        self._loaded: _Runtime | None = None

    @property
    def name(self) -> str:
        """`onnx:` and the folder's name."""
        return f"onnx:{self._folder.path.name}"

    @property
    def dimension(self) -> int:
        """Length of every vector. Loads the model only where no file declares it."""
        return self._folder.spec.dimension or self._measured

    @cached_property
    def fingerprint(self) -> str:
        """Digest of weights, tokenizer and rules. Reads the weights once; see `folder`."""
        return fingerprint(self._folder, self._caches)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of `texts` in their order, shape (len(texts), dimension), unit length.

        Raises EmbeddingFailed if the model cannot be loaded or gives vectors of no use.
        """
        return self._embed(texts, self._folder.spec.passage_prefix)

    def embed_query(self, text: str) -> Vectors:
        """Vector of a question, shape (dimension,), unit length. Raises EmbeddingFailed."""
        row: Vectors = self._embed([text], self._folder.spec.query_prefix)[0]
        return row

    def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        import numpy as np

        runtime = self._runtime()
        sums = np.zeros((len(texts), self.dimension))
        windows = _windows(runtime.tokenizer, [prefix + clean(text) for text in texts])
        for batch in batches(windows):
            vectors = checked(self._run(runtime, batch), len(batch), self.dimension, self.name)
            for window, vector in zip(batch, vectors, strict=True):
                sums[window.row] += len(window.ids) * vector
        return checked(sums, len(texts), self.dimension, self.name)

    def _run(self, runtime: _Runtime, batch: Sequence[Window]) -> NDArray[Any]:
        """One vector a window, not yet of unit length."""
        given = feed(batch, runtime.inputs)
        output: NDArray[Any] = runtime.session.run([runtime.output], given)[0]
        if runtime.pooled:
            return output
        return pool(output, padded(batch)[1], self._folder.spec.pooling)

    @cached_property
    def _measured(self) -> int:
        """The dimension as the model shows it on one word."""
        batch = _windows(self._runtime().tokenizer, ["a"])
        return int(self._run(self._runtime(), batch).shape[-1])

    def _runtime(self) -> _Runtime:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._folder, self._threads)
            return self._loaded


def _windows(tokenizer: Tokenizer, texts: Sequence[str]) -> list[Window]:
    """Every text's windows. One text at a time: encode_batch warns when the process forks later."""
    windows = []
    for row, text in enumerate(texts):
        first = tokenizer.encode(text)
        windows += [Window(row, e.ids, e.type_ids) for e in (first, *first.overflowing)]
    return windows


def batches(windows: Sequence[Window]) -> Iterator[list[Window]]:
    """`windows` in batches of like length, longest first, of at most `BATCH_TOKENS`."""
    sizes = [len(window.ids) for window in windows]
    for places in by_length(sizes, BATCH_TOKENS, len(windows)):
        yield [windows[place] for place in places]


def padded(batch: Sequence[Window]) -> tuple[NDArray[np.int64], ...]:
    """Ids, mask and types of a batch, each (rows, longest), padded on the right with 0.

    The mask hides the padding, so its id does not matter; models that derive positions from the
    ids (XLM-R) number the real tokens, which come first, the same whatever follows.
    """
    import numpy as np

    shape = (len(batch), max(len(window.ids) for window in batch))
    ids, mask, types = (np.zeros(shape, np.int64) for _ in range(3))
    for row, window in enumerate(batch):
        used = len(window.ids)
        ids[row, :used] = window.ids
        mask[row, :used] = 1
        types[row, :used] = window.types
    return ids, mask, types


def feed(batch: Sequence[Window], inputs: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    """What a graph with `inputs` (`integer_inputs`) is given for a batch."""
    ids, mask, types = padded(batch)
    values = {
        "input_ids": ids,
        "attention_mask": mask,
        "token_type_ids": types,
        "position_ids": (mask.cumsum(axis=1) - 1).clip(0),
    }
    return {name: values[name].astype(dtype) for name, dtype in inputs.items()}


def pool(states: NDArray[Any], mask: NDArray[np.int64], pooling: str) -> NDArray[Any]:
    """One vector a row from token states (rows, tokens, width) that are padded on the right."""
    import numpy as np

    if pooling == "cls":
        first: NDArray[Any] = states[:, 0]
        return first
    if pooling == "last":
        last: NDArray[Any] = states[np.arange(len(states)), mask.sum(axis=1) - 1]
        return last
    weights = mask[..., None].astype(np.float32)
    mean: NDArray[Any] = (states * weights).sum(axis=1) / weights.sum(axis=1)
    return mean


def _load(folder: ModelFolder, threads: int) -> _Runtime:
    """The model in memory. Raises EmbeddingFailed with what the library said."""
    try:
        session = open_session(folder.graph, threads)
        tokenizer = _tokenizer(folder)
    except Exception as error:
        raise _broken(folder, error) from error
    try:
        inputs = integer_inputs(session)
    except ValueError as error:
        raise _broken(folder, tr("embed.graph_inputs", names=error)) from error
    return _Runtime(session, tokenizer, inputs, *_output(folder, session))


def integer_inputs(session: Any) -> dict[str, str]:
    """The graph's inputs with their integer types.

    Raises ValueError, naming them, when they are not those of a model that reads tokens.
    """
    inputs = {i.name: i.type for i in session.get_inputs()}
    wanted = {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
    if "input_ids" not in inputs or not set(inputs) <= wanted:
        raise ValueError(", ".join(inputs))
    return {name: _INTEGERS.get(kind, "int64") for name, kind in inputs.items()}


def open_session(graph: Path, threads: int) -> Any:
    """An onnxruntime session on the processor; for `threads` see `thread_count`."""
    import onnxruntime  # type: ignore[import-untyped]

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    # Set in every case: left alone, onnxruntime pins its threads and complains in containers.
    options.intra_op_num_threads = thread_count(threads)
    options.inter_op_num_threads = 1
    # Inputs differ in shape every time; a pattern of one run is of no use to the next.
    options.enable_mem_pattern = False
    # Waiting threads that spin cost a third of the speed when something else wants the cores, and
    # gain nothing for a single question.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        str(graph), sess_options=options, providers=["CPUExecutionProvider"]
    )


def _tokenizer(folder: ModelFolder) -> Tokenizer:
    """The tokenizer, cutting at the window and padding nothing."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder.tokenizer))
    tokenizer.no_padding()
    tokenizer.enable_truncation(min(folder.spec.max_tokens, WINDOW_TOKENS))
    return tokenizer


def _output(folder: ModelFolder, session: Any) -> tuple[str, bool]:
    """The output to read, and whether it is pooled already.

    A pooled output counts only by name: BERT's `pooler_output` is no sentence embedding.
    """
    ranks = {o.name: len(o.shape) for o in session.get_outputs()}
    for name in _POOLED:
        if name in ranks:
            return name, True
    tokenwise = [name for name, rank in ranks.items() if rank == 3]  # noqa: PLR2004 - (rows, tokens, width)
    for name in (*_TOKENWISE, *tokenwise):
        if name in ranks:
            return name, False
    if len(ranks) == 1:
        return next(iter(ranks)), True
    raise _broken(folder, tr("embed.graph_outputs", names=", ".join(ranks)))


def _broken(folder: ModelFolder, error: object) -> EmbeddingFailed:
    return EmbeddingFailed(
        tr("embed.cannot_load", folder=folder.path, error=error), tr("embed.incomplete_hint")
    )
