"""The answers of the flat modules and the tools, as JSON sees them, and their JSON schemas."""

from __future__ import annotations

import types
from typing import Any, Literal, TypedDict, Union, get_args, get_origin, get_type_hints

from kb.model import PageKind, State


class _Noticed(TypedDict, total=False):
    """An answer may say what its reader must know: lines cut short, work still going on."""

    notice: str


class LineDict(TypedDict):
    """One line of a page."""

    line: int
    text: str


class HitLineDict(LineDict):
    """One line of a hit. `match` marks the lines of the block that was found."""

    match: bool


class HitDict(TypedDict):
    """A found range; `text` is its lines joined by LF. `ocr`: the text was read from an image."""

    source: str
    version: int
    page: int
    page_kind: PageKind
    page_label: str
    ocr: bool
    line_start: int
    line_end: int
    text: str
    lines: list[HitLineDict]
    heading_path: list[str]
    citation: str
    digest: str
    score: float
    relevance: float
    dense_rank: int | None
    sparse_rank: int | None
    dense_score: float | None
    sparse_score: float | None


class SearchDict(TypedDict):
    """What `search` answers."""

    query: str
    project: str
    hits: list[HitDict]
    notice: str


class PassageDict(_Noticed):
    """What `read_range` answers; `next` holds the arguments of the continuing call, or nothing.

    `ocr`: the text was read from an image.
    """

    source: str
    version: int
    page: int
    pages: int
    page_lines: int
    page_kind: PageKind
    page_label: str
    ocr: bool
    line_start: int
    line_end: int
    lines: list[LineDict]
    truncated: bool
    next: dict[str, Any]


class SourceDict(TypedDict):
    """One document of a listing."""

    source: str
    version: int
    title: str
    pages: int
    blocks: int
    vectors: int
    media_type: str
    parser: str
    encoding: str
    sha256: str
    etag: str
    origin: str
    ingested_at: str
    warnings: list[str]


class SourcesDict(TypedDict):
    """What `list_sources` answers; `total` counts every document of the project.

    `failures` are objects that a sync could not take: source, store, key, kind, error, hint,
    attempts, failed_at, retry_at. Their schema is left open: every client pays for its size.
    """

    project: str
    sources: list[SourceDict]
    total: int
    failures: list[dict[str, Any]]
    notice: str


class ReportDict(_Noticed):
    """What `ingest_file` answers."""

    source: str
    state: State
    version: int
    pages: int
    blocks: int
    parser: str
    encoding: str
    seconds: float
    warnings: list[str]


_SIMPLE: dict[object, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
}


def json_schema(kind: Any) -> dict[str, Any]:
    """JSON schema of one of the classes above; `required` at the top only.

    Written here since every client pays for its size: pydantic's repeats each name as a title.
    Raises TypeError for a type that these classes do not use.
    """
    schema = _schema(kind)
    # In the order of the fields: that of the set differs from run to run.
    schema["required"] = [n for n in schema["properties"] if n in kind.__required_keys__]
    return schema


def _schema(kind: Any) -> dict[str, Any]:
    if kind in _SIMPLE:
        return dict(_SIMPLE[kind])
    if hasattr(kind, "__required_keys__"):
        hints = get_type_hints(kind)
        return {"type": "object", "properties": {n: _schema(hint) for n, hint in hints.items()}}
    return _generic_schema(get_origin(kind), get_args(kind))


def _generic_schema(origin: Any, args: tuple[Any, ...]) -> dict[str, Any]:
    if origin is list:
        return {"type": "array", "items": _schema(args[0])}
    if origin is dict:
        return {"type": "object"}
    if origin is Literal:
        return {"type": "string", "enum": list(args)}
    if origin in (Union, types.UnionType):
        return {"type": [_schema(arg)["type"] for arg in args]}
    raise TypeError(f"no JSON schema for {origin}[{args}]")
