"""What every provider's text and vectors pass through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kb.errors import EmbeddingFailed
from kb.messages import tr
from kb.ports import MAX_CHARS

if TYPE_CHECKING:
    from kb.ports import Vectors


_TINY: Final = 1e-12
_HUGE: Final = 1e100


def clean(text: str) -> str:
    """`text` as an embedder may see it: no NUL, no lone surrogate, at most `MAX_CHARS`.

    A C string ends at NUL, and neither UTF-8 nor JSON can hold a lone surrogate.
    """
    return text[:MAX_CHARS].replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def checked(vectors: Any, rows: int, dimension: int, name: str = "") -> Vectors:
    """`vectors` as float32 of shape (rows, dimension), each row of unit length.

    Takes whatever numpy can make an array of. `name` is the embedder's, for the message. Raises
    EmbeddingFailed for another shape, NaN, infinity and zero rows: such a vector would silently be
    near everything or nothing.
    """
    import numpy as np

    try:
        array = np.asarray(vectors, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise _unusable("embed.not_numbers", name) from error
    if rows == 0 and array.size == 0:
        return np.zeros((0, dimension), np.float32)
    if array.shape != (rows, dimension):
        raise _unusable("embed.shape", name, got=array.shape, wanted=(rows, dimension))
    if not (np.abs(array) < _HUGE).all():  # NaN is less than nothing
        raise _unusable("embed.not_finite", name)
    lengths = np.sqrt((array * array).sum(axis=1, keepdims=True))
    if not (lengths > _TINY).all():
        raise _unusable("embed.zero", name)
    unit: Vectors = (array / lengths).astype(np.float32)
    return unit


def _unusable(key: str, name: str, **fields: object) -> EmbeddingFailed:
    return EmbeddingFailed(tr(key, name=name, **fields), tr("embed.unusable_hint"))
