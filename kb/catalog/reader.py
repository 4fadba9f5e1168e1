"""Reads of the catalogue. A `Reader` lives in one transaction: it sees one state of the index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kb.catalog.keywords import PhraseReads, within
from kb.catalog.rows import (
    BLOCK_COLUMNS,
    DOCUMENT_COLUMNS,
    FAILURE_COLUMNS,
    PAGE_COLUMNS,
    Model,
    Pending,
    page_id,
    to_block,
    to_document,
    to_failure,
    to_page,
    to_text,
)
from kb.messages import tr
from kb.model import SourceInfo
from kb.text.blocks import indexed_text
from kb.text.lines import split_lines

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterator, Sequence

    from kb.model import Block, Document, Failure, Page

_CHUNK: Final = 500  # parameters in one statement: SQLite may be built for 999
_NOT_SYNCED: Final = " AND (b.synced <= 0 OR b.synced > ?)"
"""True of blocks that a Chroma opened at that sync cannot contain."""


class Reader(PhraseReads):
    """One consistent view of a project's catalogue."""

    def __init__(self, connection: sqlite3.Connection, project: str) -> None:
        self._db = connection
        self.project = project

    # -- the state of the index ------------------------------------------------------------

    def meta(self, key: str) -> str:
        """A value of `meta`, empty where there is none."""
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    @property
    def generation(self) -> int:
        """Counts committed changes: equal generations, equal answers."""
        return int(self.meta("generation"))

    @property
    def model(self) -> Model | None:
        """The model of the index's vectors, None before the first."""
        row = self._db.execute(
            "SELECT m.id, fingerprint, name, dimension FROM models m"
            " JOIN meta ON key = 'model' AND CAST(value AS INTEGER) = m.id"
        ).fetchone()
        return Model(*row) if row else None

    def block_count(self) -> int:
        """Blocks of current documents, by the documents' own count."""
        return self._one("SELECT COALESCE(SUM(blocks), 0) FROM documents WHERE valid_until = ''")

    def pending_count(self) -> int:
        """Blocks that have no vector yet."""
        return self._one("SELECT COUNT(*) FROM blocks WHERE vector_id IS NULL")

    def keyword_problem(self) -> str:
        """What is wrong with the file or its keyword index; empty when nothing is."""
        damage = [row[0] for row in self._db.execute("PRAGMA quick_check(3)") if row[0] != "ok"]
        if damage:
            return "; ".join(damage)
        blocks = self._one("SELECT COUNT(*) FROM blocks")
        indexed = self._one("SELECT COUNT(*) FROM blocks_fts_docsize")
        declared = self.block_count()
        if blocks == indexed == declared:
            return ""
        return tr("catalog.counts", blocks=blocks, indexed=indexed, declared=declared)

    # -- documents and pages ---------------------------------------------------------------

    def document(self, source: str) -> Document | None:
        """The current version of `source`."""
        return self._document("source = ?", source)

    def document_of(self, store: str, key: str) -> Document | None:
        """The current document of the object `key` of `store`."""
        return self._document("store = ? AND object_key = ?", store, key)

    def documents_of(self, store: str) -> list[Document]:
        """The current documents that are objects of `store`."""
        rows = self._db.execute(
            f"SELECT {DOCUMENT_COLUMNS} FROM documents WHERE store = ? AND valid_until = ''",  # noqa: S608
            (store,),
        )
        return [to_document(row, self.project) for row in rows]

    def same_bytes(self, sha256: str) -> list[Document]:
        """The current documents made of the bytes with this hash."""
        rows = self._db.execute(
            f"SELECT {DOCUMENT_COLUMNS} FROM documents WHERE sha256 = ? AND valid_until = ''",  # noqa: S608
            (sha256,),
        )
        return [to_document(row, self.project) for row in rows]

    def failures(self, store: str | None = None) -> list[Failure]:
        """What syncs could not take, of all stores or of one, by key."""
        rows = self._db.execute(
            f"SELECT {FAILURE_COLUMNS} FROM failures WHERE ? IS NULL OR store = ?"  # noqa: S608
            " ORDER BY store, object_key",
            (store, store),
        )
        return [to_failure(row) for row in rows]

    def documents(self, ids: Collection[int] | None = None) -> dict[int, Document]:
        """Current documents by id, all or those of `ids`."""
        wanted = None if ids is None else sorted(ids)
        rows = self._db.execute(
            f"SELECT {DOCUMENT_COLUMNS} FROM documents WHERE valid_until = '' ORDER BY source"  # noqa: S608
            if wanted is None
            else f"SELECT {DOCUMENT_COLUMNS} FROM documents"  # noqa: S608
            f" WHERE valid_until = '' AND id IN ({_marks(wanted)})",
            wanted or (),
        )
        return {row[0]: to_document(row, self.project) for row in rows}

    def sources(self) -> list[str]:
        """Names of all current documents, sorted."""
        rows = self._db.execute("SELECT source FROM documents WHERE valid_until = '' ORDER BY 1")
        return [row[0] for row in rows]

    def source_infos(self) -> list[SourceInfo]:
        """All current documents as a listing shows them, by source."""
        vectors = dict(
            self._db.execute("SELECT document_id, COUNT(vector_id) FROM blocks GROUP BY 1")
        )
        return [_info(d, vectors.get(d.id, 0)) for d in self.documents().values()]

    def page(self, document_id: int, number: int) -> Page | None:
        """A page with its whole text."""
        row = self._db.execute(
            f"SELECT {PAGE_COLUMNS} FROM pages WHERE id = ?",  # noqa: S608
            (page_id(document_id, number),),
        ).fetchone()
        return to_page(row) if row else None

    def page_texts(self, places: Collection[tuple[int, int]]) -> dict[tuple[int, int], str]:
        """The text of each of the pages (document id, number) that exist."""
        by_id = {page_id(*place): place for place in places}
        ids, texts = list(by_id), {}
        for start in range(0, len(ids), _CHUNK):
            part = ids[start : start + _CHUNK]
            rows = self._db.execute(
                f"SELECT id, text FROM pages WHERE id IN ({_marks(part)})",  # noqa: S608
                part,
            )
            texts.update({by_id[row[0]]: to_text(row[1]) for row in rows})
        return texts

    def pages(self, document_id: int) -> Iterator[Page]:
        """All pages of a document, in order."""
        rows = self._db.execute(
            f"SELECT {PAGE_COLUMNS} FROM pages WHERE document_id = ? ORDER BY id",  # noqa: S608
            (document_id,),
        )
        return map(to_page, rows)

    # -- blocks ----------------------------------------------------------------------------

    def blocks(self, ids: Sequence[int]) -> dict[int, Block]:
        """The blocks of `ids` that exist; one that is missing was removed."""
        found: dict[int, Block] = {}
        for start in range(0, len(ids), _CHUNK):
            chunk = ids[start : start + _CHUNK]
            rows = self._db.execute(
                f"SELECT {BLOCK_COLUMNS} FROM blocks WHERE id IN ({_marks(chunk)})",  # noqa: S608
                chunk,
            )
            found.update((row[0], to_block(row)) for row in rows)
        return found

    def page_blocks(self, document_id: int, page: int) -> list[Block]:
        """The blocks of one page, from top to bottom."""
        rows = self._db.execute(
            f"SELECT {BLOCK_COLUMNS} FROM blocks WHERE document_id = ? AND page = ? ORDER BY id",  # noqa: S608
            (document_id, page),
        )
        return [to_block(row) for row in rows]

    def indexed_texts(self, document: Document) -> Iterator[tuple[int, str]]:
        """(block id, indexed text) of every block of a current document."""
        for page in self.pages(document.id):
            for block in self.page_blocks(document.id, page.number):
                yield block.id, indexed_text(document.title, block, page)

    def pending(self, after_block: int, limit: int) -> list[Pending]:
        """Up to `limit` blocks without a vector, of ids above `after_block`, by id."""
        rows = self._db.execute(
            "SELECT id, document_id, page, text_hash FROM blocks"
            " WHERE vector_id IS NULL AND id > ? ORDER BY id LIMIT ?",
            (after_block, limit),
        ).fetchall()
        texts = self._texts_of_pages({(row[1], row[2]) for row in rows})
        return [Pending(row[0], row[3], texts[row[0]]) for row in rows]

    def pending_among(self, ids: Sequence[int]) -> set[int]:
        """Those of `ids` that wait for their vector."""
        found: set[int] = set()
        for start in range(0, len(ids), _CHUNK):
            part = ids[start : start + _CHUNK]
            rows = self._db.execute(
                f"SELECT id FROM blocks WHERE vector_id IS NULL AND id IN ({_marks(part)})",  # noqa: S608
                part,
            )
            found.update(row[0] for row in rows)
        return found

    def _texts_of_pages(self, places: set[tuple[int, int]]) -> dict[int, str]:
        documents = self.documents({document_id for document_id, _page in places})
        texts: dict[int, str] = {}
        for document_id, number in places:
            page = self.page(document_id, number)
            if page:
                title = documents[document_id].title
                blocks = self.page_blocks(document_id, number)
                texts.update((block.id, indexed_text(title, block, page)) for block in blocks)
        return texts

    def match(
        self, tokens: Collection[str], limit: int, documents: Collection[int] | None = None
    ) -> list[tuple[int, float]]:
        """Blocks that hold any of `tokens`, best BM25 first, as (block id, score > 0).

        FTS5's bm25: k1 = 1.2, b = 0.75, idf = ln((N - df + 0.5) / (df + 0.5)), at least 1e-6.
        `documents` restricts the search itself, not its result.
        """
        if not tokens:
            return []
        return self._ranked(" OR ".join(f'"{token}"' for token in tokens), limit, documents)

    def document_frequencies(self, tokens: Collection[str]) -> dict[str, int]:
        """In how many blocks each of `tokens` stands; 0 for none."""
        terms = list(tokens)
        found = dict.fromkeys(terms, 0)
        for start in range(0, len(terms), _CHUNK):
            chunk = terms[start : start + _CHUNK]
            rows = self._db.execute(
                f"SELECT term, doc FROM blocks_vocab WHERE term IN ({_marks(chunk)})",  # noqa: S608
                chunk,
            )
            found.update(rows.fetchall())
        return found

    # -- vectors ---------------------------------------------------------------------------

    def vectors(
        self,
        *,
        after_block: int = 0,
        after_vector: int = 0,
        documents: Collection[int] | None = None,
        not_synced_by: int | None = None,
    ) -> Iterator[tuple[int, int, bytes]]:
        """(block id, vector id, float16 bytes) of live blocks, by block id.

        With `after_block` and `after_vector` only what is newer than either; with
        `not_synced_by` only what a Chroma opened at that sync cannot hold.
        """
        scope, parameters = within("", documents, ""), []
        if after_block or after_vector:
            scope += " AND (b.id > ? OR v.id > ?)"
            parameters += [after_block, after_vector]
        if not_synced_by is not None:
            scope += _NOT_SYNCED
            parameters.append(not_synced_by)
        return self._db.execute(
            "SELECT b.id, v.id, v.vector FROM blocks b JOIN vectors v ON v.id = b.vector_id"  # noqa: S608
            f" WHERE 1{scope} ORDER BY b.id",
            parameters,
        )

    def sample(self, count: int) -> list[tuple[str, bytes]]:
        """(own lines, float16 bytes) of about `count` live blocks, spread over the index."""
        step = max(1, self.vector_count() // count)
        # Ids are mixed by Fibonacci hashing: every nth of them might be of one document.
        rows = self._db.execute(
            "SELECT b.document_id, b.page, b.line_start, b.line_end, v.vector"
            " FROM blocks b JOIN vectors v ON v.id = b.vector_id"
            " WHERE (b.id * 2654435769 >> 16) % ? = 0 LIMIT ?",
            (step, 2 * count),
        ).fetchall()
        texts = self.page_texts({(row[0], row[1]) for row in rows})
        pages = {place: split_lines(text) for place, text in texts.items()}
        return [
            ("\n".join(pages[document, page][start - 1 : end]), vector)
            for document, page, start, end, vector in rows
            if (document, page) in pages
        ]

    def block_ids(
        self, documents: Collection[int] | None = None, *, not_synced_by: int | None = None
    ) -> list[int]:
        """Ids of the live blocks that have a vector, restricted as in `vectors`."""
        scope, parameters = within("", documents, ""), []
        if not_synced_by is not None:
            scope += _NOT_SYNCED
            parameters.append(not_synced_by)
        rows = self._db.execute(
            f"SELECT b.id FROM blocks b WHERE b.vector_id IS NOT NULL{scope}",  # noqa: S608
            parameters,
        )
        return [row[0] for row in rows]

    def vectors_of(self, ids: Sequence[int]) -> list[tuple[int, bytes]]:
        """(block id, float16 bytes) of at most 500 blocks, of those that have a vector."""
        rows = self._db.execute(
            "SELECT b.id, v.vector FROM blocks b JOIN vectors v ON v.id = b.vector_id"  # noqa: S608
            f" WHERE b.id IN ({_marks(ids)})",
            ids,
        )
        return rows.fetchall()

    def unsynced(self, limit: int) -> list[tuple[int, bytes]]:
        """Up to `limit` of (block id, float16 bytes) that Chroma must be given."""
        rows = self._db.execute(
            "SELECT b.id, v.vector FROM blocks b JOIN vectors v ON v.id = b.vector_id"
            " WHERE b.synced <= 0 ORDER BY b.id LIMIT ?",
            (limit,),
        )
        return rows.fetchall()

    def unsynced_count(self) -> int:
        """How many vectors no finished sync has written to Chroma."""
        return self.vector_count(int(self.meta("chroma_sync")))

    def removed(self, limit: int) -> list[int]:
        """Up to `limit` ids of removed blocks that Chroma must drop."""
        rows = self._db.execute("SELECT block_id FROM chroma_removed LIMIT ?", (limit,))
        return [row[0] for row in rows]

    def synced_sample(self, count: int = 5) -> list[bytes]:
        """Vectors of up to `count` blocks that Chroma must hold, the newest and spread over it."""
        where = "FROM blocks WHERE synced BETWEEN 1 AND ? AND vector_id IS NOT NULL"
        sync = int(self.meta("chroma_sync"))
        row = self._db.execute(f"SELECT MIN(id), MAX(id) {where}", (sync,)).fetchone()
        if row[0] is None:
            return []
        ids = {row[0] + (row[1] - row[0]) * i // max(1, count - 1) for i in range(count)}
        found = (
            self._db.execute(
                f"SELECT vector FROM vectors WHERE id = (SELECT vector_id {where} AND id >= ?"  # noqa: S608
                " ORDER BY id LIMIT 1)",
                (sync, id_),
            ).fetchone()
            for id_ in sorted(ids)
        )
        return [vector[0] for vector in found if vector]

    def vector_count(self, not_synced_by: int | None = None) -> int:
        """How many rows `vectors` would give."""
        statement = "SELECT COUNT(*) FROM blocks b WHERE b.vector_id IS NOT NULL"
        if not_synced_by is None:
            return self._one(statement)
        return self._one(statement + _NOT_SYNCED, not_synced_by)

    def _document(self, condition: str, *parameters: str) -> Document | None:
        row = self._db.execute(
            f"SELECT {DOCUMENT_COLUMNS} FROM documents WHERE {condition} AND valid_until = ''",  # noqa: S608
            parameters,
        ).fetchone()
        return to_document(row, self.project) if row else None

    def _one(self, statement: str, *parameters: Any) -> int:
        return int(self._db.execute(statement, parameters).fetchone()[0])


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _info(document: Document, vectors: int) -> SourceInfo:
    return SourceInfo(
        source=document.source,
        version=document.version,
        title=document.title,
        pages=document.pages,
        blocks=document.blocks,
        vectors=vectors,
        media_type=document.media_type,
        parser=document.parser,
        encoding=document.encoding,
        sha256=document.sha256,
        etag=document.etag,
        origin=document.origin,
        ingested_at=document.ingested_at,
        warnings=document.warnings,
    )
