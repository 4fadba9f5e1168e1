"""The knowledge base put together: the only file that names adapters."""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Final

from kb import embedding
from kb.catalog import Catalog, backup
from kb.config import PROJECT_NAME, ROOT, Settings, variable
from kb.errors import EmbeddingFailed, InvalidInput, NotFound
from kb.ingest import document
from kb.lock import owner
from kb.messages import set_language, tr
from kb.objects.places import Places
from kb.search import locate, read
from kb.search.listing import Listing, _named
from kb.search.ranking import DEFAULT
from kb.search.reranking import Reranking
from kb.search.scope import find_document
from kb.text.names import clean_source, near_names
from kb.text.tokens import fold
from kb.vectors import update
from kb.vectors.legacy import find_legacy
from kb.vectors.update import VectorState

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kb.catalog.backup import Content
    from kb.ingest.report import SyncReport
    from kb.ingest.sync import SyncOptions
    from kb.model import IngestReport, Passage, Progress, SearchResult
    from kb.ports import DocumentParser, Embedder, OnProgress, Reranker
    from kb.search.ranking import Ranking
    from kb.vectors.chroma import ChromaPlace
    from kb.vectors.search import DenseSearch

_TEXT_SHARE: Final = 0.8
"""Share of an answer's characters for document text; headings, notices and hints get the rest."""


class KnowledgeBase:
    """Everything a caller can do. Thread-safe; nothing is opened before it is used.

    `embedder` stands in for the configured one, `load_reranker` for what loads that.
    `reranking` is None where there is none.
    """

    def __init__(
        self,
        settings: Settings,
        embedder: Embedder | None = None,
        load_reranker: Callable[[], Reranker] | None = None,
    ) -> None:
        self.settings = settings
        load = load_reranker or partial(embedding.load_reranker, settings)
        wanted = load_reranker or settings.reranker
        self.reranking = Reranking(load) if wanted else None
        self._given_embedder = embedder
        self.places = Places(settings)
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
        ranking: Ranking = DEFAULT,
    ) -> SearchResult:
        """See `locate.search`. Raises InvalidInput, NotFound, IndexDamaged."""
        checked = locate.check_query(query, top_k, source, min_relevance)
        shard = self.project(project)
        with shard.catalog.reading() as reader:
            return locate.search(
                reader,
                checked,
                lambda: shard.dense,
                self.embedder,
                self._room,
                ranking,
                self.reranking,
            )

    def read_range(
        self,
        source: str,
        page: int,
        line_start: int = 1,
        line_end: int = -1,
        context: int = 0,
        project: str | None = None,
    ) -> Passage:
        """See `read.read_range`. Raises InvalidInput, NotFound, IndexDamaged."""
        with self.project(project).catalog.reading() as reader:
            return read.read_range(
                reader, source, page, line_start, line_end, context, max_chars=self._room
            )

    def list_sources(self, query: str = "", project: str | None = None) -> Listing:
        """Current documents whose name holds `query` (folded), or is like it when none does."""
        shard = self.project(project)
        with shard.catalog.reading() as reader:
            infos = reader.source_infos()
            behind = reader.pending_count()
            failures, last_sync = reader.failures(), reader.meta("last_sync")
        found = _named(infos, query)
        notice = tr("list.behind", count=behind) if behind else ""
        if not infos:
            notice = "\n".join([tr("search.no_documents"), *self.legacy_notices(project)])
        elif not found:
            found = [i for i in infos if i.source in near_names(query, [i.source for i in infos])]
            notice = tr("list.near" if found else "list.nothing", query=query[:100])
        failed = tuple(f for f in failures if fold(query).strip() in fold(f.source))
        told = tr("list.failures", count=len(failed)) if failed else ""
        notice = "\n".join(filter(None, (notice, told)))
        return Listing(shard.name, tuple(found), len(infos), notice, failed, last_sync)

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
        name: str | Path,
        source: str = "",
        project: str | None = None,
        *,
        dry_run: bool = False,
        on_progress: OnProgress | None = None,
    ) -> IngestReport:
        """Ingest the file or object `name` (`Places.find`) as `source`, or as it is called.

        See `document.ingest`: keywords are ready on return, vectors by `update`.
        """
        catalog = self.project(project).catalog
        named = self.places.find(name)
        try:
            return document.ingest(
                catalog,
                self.parser,
                named.copying(self.settings.max_file_mb),
                source or self.places.source_of(named, catalog),
                dry_run=dry_run,
                on_progress=on_progress,
            )
        except NotFound as error:
            raise self.places.with_near_names(named, error) from error

    def sync(
        self,
        options: SyncOptions,
        project: str | None = None,
        bucket: str = "",
        *,
        stop: threading.Event | None = None,
        on_progress: OnProgress | None = None,
    ) -> SyncReport:
        """Make the project equal to the listing of a store: see `kb.ingest.sync.sync`."""
        from kb.ingest.sync import sync

        shard, store = self.project(project), self.places.store(bucket)
        options = replace(
            options,
            source_prefix=self.places.source_prefix(store),
            max_mb=self.settings.max_file_mb,
            lock_wait=self.settings.lock_wait,
        )
        return sync(
            shard.catalog,
            store,
            self._new_parser,
            shard.folder / "sync.lock",
            options,
            stop=stop or threading.Event(),
            on_progress=on_progress or _silent,
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
        """See `update.bring_up_to_date`."""
        shard = self.project(project)
        engine, why = self._embedder_or_reason()
        state = update.bring_up_to_date(
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

    def vectors(self, project: str | None = None) -> VectorState:
        """How far vectors and Chroma are."""
        return update.vector_state(self.project(project).catalog)

    def listen(
        self, bucket: str, prefix: str, changed: threading.Event, stop: threading.Event
    ) -> None:
        """Have `changed` set as soon as a MinIO tells that something below `prefix` changed."""
        from kb.objects.minio import MinioStore
        from kb.objects.notify import listen

        store = self.places.store(bucket)
        if isinstance(store, MinioStore):
            arguments = (store, prefix, changed, stop)
            threading.Thread(target=listen, args=arguments, daemon=True).start()

    # -- adapters --------------------------------------------------------------------------

    @cached_property
    def parser(self) -> DocumentParser:
        """The sandbox that parses documents."""
        return self._new_parser()

    def _new_parser(self) -> DocumentParser:
        from kb.sandbox.sandbox import Sandbox

        return Sandbox(self.settings.parse_limits, self.settings.ocr_options)

    def embedder(self) -> Embedder:
        """The configured embedder. Raises EmbeddingFailed, naming what mends it."""
        engine, why = self._embedder_or_reason()
        if engine is None:
            raise EmbeddingFailed(why)
        return engine

    @cached_property
    def _embedder(self) -> Embedder | None:
        return self._given_embedder or embedding.open_embedder(self.settings)

    def _embedder_or_reason(self) -> tuple[Embedder | None, str]:
        try:
            engine = self._embedder
        except EmbeddingFailed as error:
            return None, str(error)
        if engine is not None:
            return engine, ""
        if self.settings.embedder == "none":
            return None, tr("embed.on_purpose")
        return None, embedding.missing_embedder_hint()

    def warm_up(self) -> None:
        """Load what the first search would wait for. Never raises: the search will tell."""
        with suppress(Exception):
            self.embedder().embed_query("warm")
        if self.reranking:
            self.reranking.start()
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
        names = ", ".join(variable(str(e["loc"][0])) for e in error.errors())
        raise InvalidInput(tr("config.bad", names=names), tr("config.bad.hint")) from None


def resolve_ingest_path(path: str, source_name: str = "") -> tuple[str, str]:
    """What the ingest tool may read for `path`: (absolute path or s3:// address, source).

    Raises InvalidInput, NotFound, Refused: only objects and KB_INGEST_ROOTS are open.
    """
    kb = open_kb()
    named = kb.places.find_for_agent(path)
    source = clean_source(source_name) if source_name else ""
    address = named.store.place(named.address) if named.store else named.address
    return address, source or kb.places.source_of(named, kb.project().catalog)


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


def _is_project_name(name: str) -> bool:
    return re.match(PROJECT_NAME, name) is not None and name.isprintable()


def _silent(_progress: Progress) -> None:
    return None


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
