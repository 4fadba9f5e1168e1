"""What can go wrong, said so that the caller knows what to do next."""

from __future__ import annotations

from typing import ClassVar


class KbError(Exception):
    """Any refusal or failure of the knowledge base.

    `message` names the thing that is wrong; `hint` is the next call or command that mends it
    (may be empty). Both are already in the configured language and hold no document text.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class InvalidInput(KbError):
    """An argument has no meaning: out of range, empty, of the wrong type, unknown."""

    exit_code = 3


class NotFound(KbError):
    """The named source, page, path or project does not exist."""

    exit_code = 3


class Refused(KbError):
    """The document cannot be taken as it is: empty, encrypted, unsupported, no text, too large."""

    exit_code = 3


class ParseFailed(KbError):
    """The parser crashed, hung or ran past its limits on this document."""


class Busy(KbError):
    """Another process holds the write lock and did not let go in time."""


class EmbeddingFailed(KbError):
    """The embedder is missing, unreachable, or returned vectors that cannot be used."""


class RerankingFailed(KbError):
    """The reranker is missing, is no cross-encoder, or returned scores that cannot be used."""


class IndexDamaged(KbError):
    """The index was made by a newer version, or its files cannot be read or written."""


class StoreFailed(KbError):
    """The object store broke off, is overloaded or cannot be reached: trying again may help."""


class StoreRefused(StoreFailed):
    """The store does not let us in, or is not what was configured: trying again does not help."""


class ObjectChanged(StoreFailed):
    """The object is no longer the one that was listed: look again, then read again."""
