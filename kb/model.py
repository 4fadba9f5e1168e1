"""The words of the product. Pages and lines are 1-based, ranges inclusive, times UTC ISO 8601."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PageKind = Literal["physical", "rendered", "virtual", "sheet", "slide"]
ElementKind = Literal["heading", "paragraph", "table", "merged", "header", "footer", "note"]
Box = tuple[float, float, float, float]
State = Literal["ingested", "unchanged", "running", "quarantined", "blocked", "failed"]


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """One object as its store lists it: equal references, equal bytes.

    `key` is the store's own, character for character. `etag` and `version` are empty where the
    store tells none; an empty `etag` equals nothing.
    """

    key: str
    size: int
    etag: str
    version: str
    last_modified: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the bytes of a document came from.

    `place` is what a person would open (`s3://bucket/key`, an absolute path). `store` names the
    object store and `ref` the object, as it was read; without a store the file was given by hand.
    """

    place: str
    store: str = ""
    ref: ObjectRef | None = None


@dataclass(frozen=True, slots=True)
class Element:
    """What a run of lines of a page is.

    `level` counts headings from 1; of a table it is how many of its first lines are its header (0:
    it has none here, for instance because it goes on from the page before); of a merged cell, whose
    text stands in its first line and holds for all its lines, it is the column, from 0. Else 0.
    """

    kind: ElementKind
    line_start: int
    line_end: int
    level: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """A page as the parser read it.

    `text` holds LF line ends only and is split on LF alone. `label` is the printed page number
    where the document declares one; `width` and `height` are points (0: no geometry). `boxes` has
    one (x0, y0, x1, y1) a line, in points from the top left of the page as it is seen, or nothing.
    `noise` lists the lines that repeat or only number pages: shown, never indexed. `ocr` says that
    the text was read from an image of the page.
    """

    number: int
    text: str
    kind: PageKind
    label: str = ""
    width: float = 0.0
    height: float = 0.0
    elements: tuple[Element, ...] = ()
    boxes: tuple[Box, ...] = ()
    noise: tuple[int, ...] = ()
    ocr: bool = False


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a parser made of one document.

    `parser` is name/revision, with a mark where the text depends on OCR (`kb.parsers.session`): a
    document is read again when its stored `parser` is not what would read it now.
    """

    pages: tuple[Page, ...]
    parser: str
    media_type: str
    encoding: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drawing:
    """A page as it is seen: 8-bit RGB rows from the top, `scale` pixels a point."""

    rgb: bytes
    width: int
    height: int
    scale: float


@dataclass(frozen=True, slots=True)
class Block:
    """A range of lines that is found as one. `id` is 0 until the catalogue has given one.

    `table_header` is the header row of the table that the block stands in and the merged cells
    that reach into it, where the block does not hold them itself: indexed with it, never shown.
    """

    id: int
    document_id: int
    page: int
    line_start: int
    line_end: int
    heading_path: tuple[str, ...] = ()
    table_header: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """One version of one source in the catalogue. `valid_until` is empty while it is current.

    `store`, `object_key`, `etag`, `object_version` and `modified` name the object whose bytes these
    are (`Origin`); they are empty for a file that was given by hand.
    """

    id: int
    project: str
    source: str
    version: int
    sha256: str
    media_type: str
    title: str
    parser: str
    pages: int
    blocks: int
    status: str
    origin: str
    valid_from: str
    valid_until: str
    ingested_at: str
    encoding: str = ""
    warnings: tuple[str, ...] = ()
    size: int = 0
    store: str = ""
    object_key: str = ""
    etag: str = ""
    object_version: str = ""
    modified: str = ""

    @property
    def from_where(self) -> Origin:
        """The same as an `Origin`."""
        if not self.store:
            return Origin(self.origin)
        ref = ObjectRef(self.object_key, self.size, self.etag, self.object_version, self.modified)
        return Origin(self.origin, self.store, ref)


@dataclass(frozen=True, slots=True)
class Failure:
    """An object that a sync could not take, as it was then. `retry_at`: not tried before."""

    store: str
    ref: ObjectRef
    source: str
    kind: str
    message: str
    hint: str
    attempts: int
    failed_at: str
    retry_at: str


@dataclass(frozen=True, slots=True)
class Citation:
    """Where lines stand, precisely enough to read them again. `digest` hashes the cited lines."""

    source: str
    version: int
    page: int
    line_start: int
    line_end: int
    heading_path: tuple[str, ...]
    digest: str
    label: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a page. `match` marks the lines of the block that was found."""

    line: int
    text: str
    match: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """A found range. `score` is the fused score, higher is better; `relevance` is 0-1, calibrated.

    An engine's rank (from 1) and its own score (cosine, BM25) are None where it did not list it.
    `ocr` says that the page's text was read from its image.
    """

    citation: Citation
    page_kind: PageKind
    page_label: str
    lines: tuple[Line, ...]
    score: float
    relevance: float
    dense_rank: int | None
    sparse_rank: int | None
    dense_score: float | None = None
    sparse_score: float | None = None
    ocr: bool = False

    @property
    def text(self) -> str:
        """The shown lines joined by LF: what `read_range` returns for the same range."""
        return "\n".join(line.text for line in self.lines)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first. `notice` says what the caller must know (vectors behind, keyword-only)."""

    query: str
    project: str
    hits: tuple[Hit, ...]
    notice: str


@dataclass(frozen=True, slots=True)
class Passage:
    """Exact lines of one page.

    `pages` counts the document's pages, `page_lines` this page's lines. When `truncated`, `next`
    holds the arguments of the `read_range` call that continues (empty otherwise). `notice` says
    where the answer is less than what was asked for. `ocr` says that the page's text was read from
    its image.
    """

    source: str
    version: int
    page: int
    pages: int
    page_lines: int
    page_kind: PageKind
    page_label: str
    line_start: int
    line_end: int
    lines: tuple[Line, ...]
    truncated: bool
    next: dict[str, str | int]
    notice: str = ""
    ocr: bool = False


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """A current document as a listing shows it. `vectors` counts its blocks that have one."""

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
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of one document. `seconds` is wall time until its keywords were ready."""

    source: str
    state: State
    version: int
    pages: int
    blocks: int
    parser: str
    encoding: str
    seconds: float
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one stage of the work is. `total` is 0 while unknown."""

    stage: Literal["parse", "pages", "ocr", "embed", "index", "download"]
    done: int
    total: int
    name: str = ""
