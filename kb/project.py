"""One isolated shard of the knowledge base."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kb.catalog import Catalog

if TYPE_CHECKING:
    from kb.config import Settings
    from kb.vectors.chroma import ChromaPlace
    from kb.vectors.search import DenseSearch


class Project:
    """One isolated shard: its folder, its catalogue, its vectors."""

    def __init__(self, name: str, settings: Settings) -> None:
        self.name = name
        self.folder = settings.data_dir / name
        self.catalog = Catalog(self.folder, settings.lock_wait)
        self.vectors_lock = self.folder / "vectors.lock"
        self._settings = settings

    @property
    def place(self) -> ChromaPlace:
        """Where this project's Chroma collection lives."""
        from hashlib import sha256

        from kb.vectors.chroma import ChromaPlace

        # A collection's name is ASCII of limited length; a project's is not.
        name = f"kb-{sha256(self.name.encode()).hexdigest()[:16]}"
        return ChromaPlace(self.folder / "chroma_data", self._settings.chroma_url, name)

    @cached_property
    def dense(self) -> DenseSearch:
        """Vector search; what it has read stays in memory."""
        from kb.vectors.search import DenseSearch

        return DenseSearch(self.place, self._settings.exact_limit)
