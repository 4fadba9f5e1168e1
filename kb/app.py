"""The knowledge base put together: the only file that names adapters."""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Final

from kb import backup, derived, pipeline, retrieval
from kb.catalog import Catalog
from kb.config import PROJECT_NAME, ROOT, Settings
from kb.derived import VectorState
from kb.errors import EmbeddingFailed, InvalidInput
from kb.legacy import find_legacy
from kb.lock import owner
from kb.messages import set_language, tr
from kb.objects.folder import resolve_key
from kb.scope import clean_source, find_document, near_names

if TYPE_CHECKING:
    from pathlib import Path

    from kb.backup import Content
    from kb.ports import DocumentParser, Embedder, OnProgress
    from kb.types import IngestReport, Passage, Progress, SearchResult, SourceInfo
    from kb.vectors.chroma import ChromaPlace
    from kb.vectors.search import DenseSearch

_TEXT_SHARE: Final = 0.8
"""Share of an answer's characters for document text; headings, notices and hints get the rest."""


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


@dataclass(frozen=True, slots=True)
class Listing:
    """Documents of a project. `total` counts those that the query left out too."""

    project: str
    sources: tuple[SourceInfo, ...]
    total: int
    notice: str


class KnowledgeBase:
    """Everything a caller can do. Thread-safe; nothing is opened before it is used.

    `embedder` stands in for the configured one.
    """

    def __init__(self, settings: Settings, embedder: Embedder | None = None) -> None:
        self.settings = settings
        self._given_embedder = embedder
        self._projects: dict[str, Project] = {}
        self._lock = threading.Lock()
        set_language(settings.lang)

    def project(self, name: str | None = None) -> Project:
        """The project called `name` (None: the default one). Raises InvalidInput."""
        wanted = self.settings.project if name is None else name
        if not _is_project_name(wanted):
            raise InvalidInput(tr("project.bad", name=ascii(wanted)[:100]), tr("project.bad.hint"))
        with self._lock:
            return self._projects.setdefault(wanted, Project(wanted, self.settings))

    # -- reading ---------------------------------------------------------------------------

    def search(
        self,
        query: str,
        top_k: int = 6,
        source: str | None = None,
        project: str | None = None,
        min_relevance: float | None = None,
    ) -> SearchResult:
        """See `retrieval.search`. Raises InvalidInput, NotFound, IndexDamaged."""
        checked = retrieval.check_query(query, top_k, source, min_relevance)
        shard = self.project(project)
        with shard.catalog.reading() as reader:
            return retrieval.search(reader, checked, lambda: shard.dense, self.embedder, self._room)

    def read_range(
        self,
        source: str,
        page: int,
        line_start: int = 1,
        line_end: int = -1,
        context: int = 0,
        project: str | None = None,
    ) -> Passage:
        """See `retrieval.read_range`. Raises InvalidInput, NotFound, IndexDamaged."""
        with self.project(project).catalog.reading() as reader:
            return retrieval.read_range(
                reader, source, page, line_start, line_end, context, max_chars=self._room
            )

    def list_sources(self, query: str = "", project: str | None = None) -> Listing:
        """Current documents whose name holds `query` (folded), or is like it when none does."""
        shard = self.project(project)
        with shard.catalog.reading() as reader:
            infos = reader.source_infos()
            behind = reader.pending_count()
        found = _named(infos, query)
        notice = tr("list.behind", count=behind) if behind else ""
        if not infos:
            notice = "\n".join([tr("search.no_documents"), *self.legacy_notices(project)])
        elif not found:
            found = [i for i in infos if i.source in near_names(query, [i.source for i in infos])]
            notice = tr("list.near" if found else "list.nothing", query=query[:100])
        return Listing(shard.name, tuple(found), len(infos), notice)

    def legacy_notices(self, project: str | None = None) -> list[str]:
        """What data of the plugin's v1/v2 still waits to be ingested again, one text a folder."""
        shard = self.project(project)
        homes = (shard.folder, self.settings.data_dir, ROOT)
        with shard.catalog.reading() as reader:
            present = reader.sources()
        # What our own index was given the name of is kept beside it.
        folders = {kept for home in homes for kept in home.glob("chroma_data*") if kept.is_dir()}
        found = (legacy.describe(present) for legacy in find_legacy(sorted(folders)))
        return [text for text in found if text]

    @property
    def _room(self) -> int:
        return int(self.settings.max_chars * _TEXT_SHARE)

    # -- writing ---------------------------------------------------------------------------

    def ingest(
        self,
        path: Path,
        source: str,
        project: str | None = None,
        *,
        dry_run: bool = False,
        on_progress: OnProgress | None = None,
    ) -> IngestReport:
        """See `pipeline.ingest`: keywords are ready on return, vectors by `update`."""
        return pipeline.ingest(
            self.project(project).catalog,
            self.parser,
            path,
            source,
            max_mb=self.settings.max_file_mb,
            dry_run=dry_run,
            on_progress=on_progress,
        )

    def remove(self, source: str, project: str | None = None) -> str:
        """Forget every version of a document; returns its full source. Raises NotFound, Busy."""
        catalog = self.project(project).catalog
        with catalog.reading() as reader:
            found = find_document(reader, source).source
        with catalog.writing(tr("lock.remove", source=found)) as writer:
            writer.remove(found)
        return found

    def back_up(self, file: Path, project: str | None = None) -> Content:
        """See `backup.back_up`."""
        return backup.back_up(self.project(project).catalog, file)

    def restore(self, file: Path, project: str | None = None) -> Content:
        """See `backup.restore`; vectors come with it, Chroma by `update`."""
        shard = self.project(project)
        return backup.restore(shard.catalog, file, shard.vectors_lock)

    def update(
        self,
        project: str | None = None,
        on_progress: OnProgress | None = None,
        *,
        change_model: bool = False,
        check_chroma: bool = False,
    ) -> VectorState:
        """See `derived.bring_up_to_date`."""
        shard = self.project(project)
        engine, why = self._embedder_or_reason()
        state = derived.bring_up_to_date(
            shard.catalog,
            engine,
            shard.place,
            shard.vectors_lock,
            on_progress=on_progress or _silent,
            change_model=change_model,
            check_chroma=check_chroma,
        )
        if engine is None and state.pending:
            return VectorState(state.blocks, state.pending, state.chroma, why)
        return state

    # -- adapters --------------------------------------------------------------------------

    @cached_property
    def parser(self) -> DocumentParser:
        """The sandbox that parses documents."""
        from kb.parsers.sandbox import Sandbox

        return Sandbox(self.settings.parse_limits, self.settings.ocr_options)

    def embedder(self) -> Embedder:
        """The configured embedder. Raises EmbeddingFailed, naming what mends it."""
        engine, why = self._embedder_or_reason()
        if engine is None:
            raise EmbeddingFailed(why)
        return engine

    @cached_property
    def _embedder(self) -> Embedder | None:
        from kb.embedding import open_embedder

        return self._given_embedder or open_embedder(self.settings)

    def _embedder_or_reason(self) -> tuple[Embedder | None, str]:
        from kb.embedding import missing_embedder_hint

        try:
            engine = self._embedder
        except EmbeddingFailed as error:
            return None, str(error)
        if engine is not None:
            return engine, ""
        if self.settings.embedder == "none":
            return None, tr("embed.on_purpose")
        return None, missing_embedder_hint()

    def warm_up(self) -> None:
        """Load what the first search would wait for. Never raises: the search will tell."""
        with suppress(Exception):
            self.embedder().embed_query("warm")
        with suppress(Exception):
            self.search("warm", 1)


@cache
def _opened(settings: Settings) -> KnowledgeBase:
    return KnowledgeBase(settings)


def open_kb(settings: Settings | None = None) -> KnowledgeBase:
    """The knowledge base of `settings` (None: of the environment now); one a configuration.

    Raises InvalidInput when a setting is not valid, naming it.
    """
    return _opened(settings or _from_environment())


def _from_environment() -> Settings:
    from pydantic import ValidationError

    try:
        return Settings()
    except ValidationError as error:
        names = ", ".join(f"KB_{'.'.join(map(str, e['loc'])).upper()}" for e in error.errors())
        raise InvalidInput(tr("config.bad", names=names), tr("config.bad.hint")) from None


def resolve_ingest_path(path: str, source_name: str = "") -> tuple[str, str]:
    """What the ingest tool may read for `path`: (absolute path, source).

    Raises InvalidInput, NotFound, Refused: only the object folder and KB_INGEST_ROOTS are open.
    """
    found, source = resolve_key(path, open_kb().settings.roots)
    return str(found), clean_source(source_name or source)


def vectors_wait(project: str) -> bool:
    """Whether blocks wait for vectors, or Chroma for a rebuild, that can be made unattended."""
    kb = open_kb()
    shard = kb.project(project)
    if owner(shard.vectors_lock) is not None:
        return False
    with shard.catalog.reading() as reader:
        model, pending = reader.model, reader.pending_count()
    try:
        waiting = pending > 0 or bool(shard.dense.problem)
        return waiting and (model is None or model.fingerprint == kb.embedder().fingerprint)
    except EmbeddingFailed:
        return False


def warm_up() -> None:
    """Load what the first search would wait for, in whatever thread this is called."""
    open_kb().warm_up()


def _named(infos: list[SourceInfo], query: str) -> list[SourceInfo]:
    from kb.text import fold

    wanted = fold(query).strip()
    return [info for info in infos if wanted in fold(info.source)]


def _is_project_name(name: str) -> bool:
    return re.match(PROJECT_NAME, name) is not None and name.isprintable()


def _silent(_progress: Progress) -> None:
    return None
