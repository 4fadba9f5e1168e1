"""Feature hashing of keywords: for wiring tests only, it knows nothing of meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from kb.embedding.check import checked, clean
from kb.text.tokens import TOKENS_REVISION, tokens

if TYPE_CHECKING:
    from kb.ports import Vectors

_DIMENSION: Final = 256


class HashingEmbedder:
    """Each token adds ±1 to one place that its hash names (Weinberger et al. 2009).

    The same text gives the same vector on every machine, and texts that share words are near.
    `KB_EMBEDDER=hash` selects it; it is for tests, not for documents.
    """

    name: Final = "hash"
    dimension: Final = _DIMENSION
    fingerprint: Final = f"hash-{TOKENS_REVISION}-{_DIMENSION}"

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of `texts`, shape (len(texts), 256), float32, unit length."""
        return checked([_features(text) for text in texts], len(texts), _DIMENSION, self.name)

    def embed_query(self, text: str) -> Vectors:
        """Vector of `text`, shape (256,): the same as that of a passage."""
        row: Vectors = self.embed_passages([text])[0]
        return row


def _features(text: str) -> list[float]:
    """Signed token counts. Place 0 is 1 for every text, so that no text is without a vector."""
    from zlib import crc32

    row = [0.0] * _DIMENSION
    for token in tokens(clean(text)):
        code = crc32(token.encode())
        row[1 + code % (_DIMENSION - 1)] += 1.0 if code & 0x80000000 else -1.0
    row[0] = 1.0
    return row
