"""How things stand, for people: what every project holds, how large it is, what went wrong."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from kb.errors import KbError
from kb.messages import tr

if TYPE_CHECKING:
    from pathlib import Path

    from kb.app import KnowledgeBase, Project

_CATALOG = "fulltext.sqlite3"


@dataclass(frozen=True, slots=True)
class ProjectStatus:
    """One project. `bytes` are those of each store, `warned` the documents that have warnings.

    `last_sync` is the summary of the last finished sync, empty before the first. `failures` are
    objects that syncs could not take. `error` says why there is nothing else.
    """

    project: str
    documents: int = 0
    pages: int = 0
    blocks: int = 0
    vectors: int = 0
    warned: int = 0
    bytes: dict[str, int] = field(default_factory=dict)
    model: str = ""
    dimension: int = 0
    last_ingest: str = ""
    last_sync: dict[str, Any] = field(default_factory=dict)
    failures: tuple[dict[str, Any], ...] = ()
    error: str = ""


def status(kb: KnowledgeBase, project: str | None = None) -> list[ProjectStatus]:
    """Every project on disk and the default one, by name; or only `project`."""
    if project is not None:
        return [_status(kb, kb.project(project))]
    names = {path.parent.name for path in kb.settings.data_dir.glob(f"*/{_CATALOG}")}
    return [_status(kb, kb.project(name)) for name in sorted({*names, kb.project().name})]


def _status(kb: KnowledgeBase, shard: Project) -> ProjectStatus:
    try:
        listing = kb.list_sources("", shard.name)
        with shard.catalog.reading() as reader:
            model = reader.model
    except KbError as error:  # the other projects have something to tell
        return ProjectStatus(shard.name, bytes=_sizes(shard.folder), error=error.message)
    infos = listing.sources
    return ProjectStatus(
        project=shard.name,
        documents=len(infos),
        pages=sum(info.pages for info in infos),
        blocks=sum(info.blocks for info in infos),
        vectors=sum(info.vectors for info in infos),
        warned=sum(bool(info.warnings) for info in infos),
        bytes=_sizes(shard.folder),
        model=model.name if model else "",
        dimension=model.dimension if model else 0,
        last_ingest=max((info.ingested_at for info in infos), default=""),
        last_sync=json.loads(listing.last_sync) if listing.last_sync else {},
        failures=tuple(asdict(failure) for failure in listing.failures),
    )


def _sizes(folder: Path) -> dict[str, int]:
    """Bytes on disk: of the catalogue with its log, and of Chroma where it is embedded."""
    sqlite = sum(_size(path) for path in folder.glob(f"{_CATALOG}*"))
    chroma = sum(_size(path) for path in (folder / "chroma_data").rglob("*"))
    return {"sqlite": sqlite, "chroma": chroma}


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:  # it went while we looked
        return 0


def as_dict(found: list[ProjectStatus], data_dir: Path) -> dict[str, Any]:
    """For JSON."""
    return {"data_dir": str(data_dir), "projects": [asdict(project) for project in found]}


def rows(found: ProjectStatus) -> list[tuple[str, str]]:
    """A project as label and value, in the language of the messages."""
    if found.error:
        return [(tr("status.error"), found.error)]
    pending = found.blocks - found.vectors
    told = [
        (tr("status.documents"), f"{found.documents:,}"),
        (tr("status.pages"), f"{found.pages:,}"),
        (tr("status.blocks"), f"{found.blocks:,}"),
        (tr("status.vectors"), tr("status.vectors.of", done=found.vectors, pending=pending)),
        (tr("status.size"), ", ".join(f"{k} {_human(v)}" for k, v in found.bytes.items())),
        (tr("status.model"), f"{found.model} ({found.dimension})" if found.model else "—"),
        (tr("status.last_ingest"), found.last_ingest or "—"),
        (tr("status.last_sync"), _sync_text(found.last_sync)),
        (tr("status.warned"), f"{found.warned:,}"),
        (tr("status.failures"), f"{len(found.failures):,}"),
    ]
    return told + [(f"  {f['source']}", f["message"]) for f in found.failures[:10]]


def _sync_text(summary: dict[str, Any]) -> str:
    return ", ".join(f"{k} {v}" for k, v in summary.items() if v not in ("", 0, False)) or "—"


def _human(size: int) -> str:
    value, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB"):
        if value < 1024:  # noqa: PLR2004 - by definition
            break
        value, unit = value / 1024, larger
    return f"{value:.1f} {unit}" if unit != "B" else f"{size} B"
