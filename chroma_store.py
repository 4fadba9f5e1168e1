"""Find and list documents: plain dicts out, ready for `json.dumps`.

python -c "from chroma_store import search; print(search('数字档案馆 资金'))"
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kb.app import open_kb

if TYPE_CHECKING:
    from kb.model import Failure, Hit

__all__ = ["list_sources", "remove_source", "search"]


def search(
    query: str,
    top_k: int = 6,
    *,
    source: str | None = None,
    project: str | None = None,
    min_relevance: float | None = None,
) -> dict[str, Any]:
    """Locate lines: the best `top_k` (1-50) ranges for `query`, best first.

    `source` restricts the search to one document (exact, or its file name where that is unique)
    or, ending in `/`, to all below a prefix. Words in quotes (「…」 “…” "…") are
    matched literally. Where nothing is relevant there are no hits and `notice` names the nearest
    documents; `min_relevance` (0-1) leaves weaker hits out instead, 0 gives everything. Pages and
    lines are 1-based, ranges inclusive; `text` is what `read_range` returns for the range.
    Raises KbError: message and hint.
    """
    result = open_kb().search(query, top_k, source, project, min_relevance)
    return {
        "query": result.query,
        "project": result.project,
        "hits": [_hit(hit) for hit in result.hits],
        "notice": result.notice,
    }


def list_sources(query: str = "", project: str | None = None) -> dict[str, Any]:
    """Current documents whose name holds `query` (all for ""), near names when none does.

    `failures` are the objects that syncs could not take, with the time of the next try.
    """
    listing = open_kb().list_sources(query, project)
    sources = [{**asdict(info), "warnings": list(info.warnings)} for info in listing.sources]
    return {
        "project": listing.project,
        "sources": sources,
        "total": listing.total,
        "failures": [_failure(failure) for failure in listing.failures],
        "notice": listing.notice,
    }


def remove_source(source: str, project: str | None = None) -> dict[str, Any]:
    """Forget every version of a document, in keywords at once and in Chroma before returning.

    Raises KbError (NotFound with near names, Busy).
    """
    kb = open_kb()
    removed = kb.remove(source, project)
    state = kb.update(project)
    return {"removed": removed, "project": kb.project(project).name, "vectors": asdict(state)}


def _failure(failure: Failure) -> dict[str, Any]:
    return {
        "source": failure.source,
        "store": failure.store,
        "key": failure.ref.key,
        "kind": failure.kind,
        "error": failure.message,
        "hint": failure.hint,
        "attempts": failure.attempts,
        "failed_at": failure.failed_at,
        "retry_at": failure.retry_at,
    }


def _hit(hit: Hit) -> dict[str, Any]:
    place = hit.citation
    return {
        "source": place.source,
        "version": place.version,
        "page": place.page,
        "page_kind": hit.page_kind,
        "page_label": hit.page_label,
        "ocr": hit.ocr,
        "line_start": place.line_start,
        "line_end": place.line_end,
        "text": hit.text,
        "lines": [asdict(line) for line in hit.lines],
        "heading_path": list(place.heading_path),
        "citation": place.label,
        "digest": place.digest,
        "score": hit.score,
        "relevance": round(hit.relevance, 4),
        "dense_rank": hit.dense_rank,
        "sparse_rank": hit.sparse_rank,
        "dense_score": hit.dense_score,
        "sparse_score": hit.sparse_score,
    }
