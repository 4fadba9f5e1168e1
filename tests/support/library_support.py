"""What the core's tests share: a small library of text files, and a parser without a process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kb.app import KnowledgeBase
from kb.config import Settings
from kb.model import IngestReport, Page, Parsed
from kb.ports import Embedder, OnProgress


def settings_for(folder: Path, **changes: Any) -> Settings:
    values: dict[str, Any] = {"data_dir": folder / "data", "embedder": "hash", "lock_wait": 5.0}
    return Settings(_env_file=None, **(values | changes))


class PlainParser:
    """Pages by form feed, in this process: for tests that are not about parsing."""

    def __init__(self) -> None:
        self.parsed: list[str] = []
        self.revision = 1

    @property
    def id(self) -> str:
        return f"plain/{self.revision}"

    def is_current(self, parser: str, name: str) -> bool:
        return parser == self.id

    def parse(self, path: Path, name: str, on_progress: OnProgress | None = None) -> Parsed:
        self.parsed.append(name)
        texts = path.read_bytes().decode("utf-8").split("\f")
        pages = tuple(Page(n, text, "virtual") for n, text in enumerate(texts, 1))
        return Parsed(pages, self.id, "text/plain", "utf-8")


class Library:
    """A knowledge base and the files that go into it."""

    def __init__(self, folder: Path, settings: Settings, embedder: Embedder | None = None) -> None:
        self.folder = folder
        self.kb = KnowledgeBase(settings, embedder)
        self.parser = PlainParser()
        self.kb.__dict__["parser"] = self.parser

    def put(self, source: str, text: str, *, update: bool = True) -> IngestReport:
        path = self.folder / "in" / source
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
        report = self.kb.ingest(path, source)
        if update:
            self.kb.update()
        return report

    def texts(self, query: str, top_k: int = 6, **options: Any) -> list[str]:
        return [hit.text for hit in self.kb.search(query, top_k, **options).hits]

    def sources(self, query: str, top_k: int = 6, **options: Any) -> list[str]:
        return [hit.citation.source for hit in self.kb.search(query, top_k, **options).hits]


def numbered(words: str, count: int) -> str:
    """`count` lines that share `words` and differ in their number."""
    return "\n".join(f"{words} 编号{n}" for n in range(1, count + 1))


class Failing:
    """An embedder that gives up after so many passages."""

    def __init__(self, engine: Embedder, passages: int, error: Exception) -> None:
        self._engine, self._left, self._error = engine, passages, error
        self.name, self.dimension = engine.name, engine.dimension
        self.fingerprint = engine.fingerprint

    def embed_passages(self, texts: Sequence[str]) -> Any:
        self._left -= len(texts)
        if self._left < 0:
            raise self._error
        return self._engine.embed_passages(texts)

    def embed_query(self, text: str) -> Any:
        return self._engine.embed_query(text)
