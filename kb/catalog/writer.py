"""Writes of the catalogue, each public method one transaction, all or nothing.

The caller holds the project's writer lock (`kb.lock`).
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kb.catalog.reader import Reader
from kb.catalog.rows import Model, dump_path, from_failure, from_page
from kb.failpoints import reached
from kb.text.blocks import BLOCKS_REVISION, cut_blocks, indexed_text, text_hash
from kb.text.headings import mark_headings
from kb.text.lines import split_lines
from kb.text.tokens import TOKENS_REVISION, tokens

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kb.model import Block, Document, Failure, Origin, Page

REVISION: Final = f"{BLOCKS_REVISION}.{TOKENS_REVISION}"
"""How blocks and keywords were made; an index of another revision is made again from its pages."""


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A parsed document that is about to become the current version of its source."""

    source: str
    sha256: str
    size: int
    media_type: str
    title: str
    parser: str
    encoding: str
    origin: Origin
    warnings: tuple[str, ...]
    pages: tuple[Page, ...]
    ingested_at: str
    same_as: int = 0
    """The document that holds the same pages already: its vectors are taken over."""


class Writer(Reader):
    """All of `Reader`, and the changes."""

    def __init__(self, connection: sqlite3.Connection, project: str) -> None:
        super().__init__(connection, project)
        if self.meta("revision") not in {"", REVISION}:
            self.rebuild_blocks()

    @contextmanager
    def _transaction(self, name: str = "other") -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            reached(f"{name}.begun")
            yield
            reached(f"{name}.commit")
            self._db.execute("COMMIT")
        except BaseException:
            # SQLite has already rolled back after some errors: a full disk is one.
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        reached(f"{name}.committed")

    # -- documents -------------------------------------------------------------------------

    def replace(self, new: NewVersion) -> Document:
        """Make `new` the current version of its source and close its predecessor.

        The predecessor itself is returned when another writer brought the same bytes meanwhile.
        """
        blocks = cut_blocks(new.pages)
        with self._transaction("replace"):
            previous = self.document(new.source)
            if previous and (previous.sha256, previous.parser) == (new.sha256, new.parser):
                self._note_origin(previous, new.origin)
                return previous
            if previous:
                self._close(previous, new.ingested_at)
            self._disown(new.origin)
            reached("replace.closed")
            document_id = self._insert_document(new, self._next_version(new.source), len(blocks))
            self._db.executemany(
                "INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (from_page(document_id, p, len(split_lines(p.text))) for p in new.pages),
            )
            reached("replace.pages")
            self._insert_blocks(document_id, new.title, new.pages, blocks)
            self._take_vectors(document_id, new.same_as)
            self._set_meta("revision", REVISION)
            self._bump("generation")
        return self.documents([document_id])[document_id]

    def note_origin(self, document: Document, origin: Origin) -> None:
        """The same bytes now lie there, or are called so."""
        with self._transaction():
            self._note_origin(document, origin)

    def _note_origin(self, document: Document, origin: Origin) -> None:
        self._disown(origin)
        row = {"id": document.id, **_origin_row(origin)}
        values = ", ".join(f"{name} = :{name}" for name in row)
        self._db.execute(f"UPDATE documents SET {values} WHERE id = :id", row)  # noqa: S608

    def _disown(self, origin: Origin) -> None:
        """No two current documents are of one object: the newest name of it has it."""
        if origin.ref:
            self._db.execute(
                "UPDATE documents SET store = '', object_key = '' WHERE store = ?"
                " AND object_key = ? AND valid_until = ''",
                (origin.store, origin.ref.key),
            )

    def remove(self, source: str) -> bool:
        """Forget every version of `source`; False when there was none."""
        with self._transaction("remove"):
            current = self.document(source)
            if current:
                self._drop_blocks(current)
            removed = self._db.execute("DELETE FROM documents WHERE source = ?", (source,)).rowcount
            self._bump("generation")
        return removed > 0

    def _close(self, document: Document, until: str) -> None:
        self._drop_blocks(document)
        self._db.execute("UPDATE documents SET valid_until = ? WHERE id = ?", (until, document.id))

    def _next_version(self, source: str) -> int:
        return 1 + self._one(
            "SELECT COALESCE(MAX(version), 0) FROM documents WHERE source = ?", source
        )

    def _insert_document(self, new: NewVersion, version: int, blocks: int) -> int:
        row = {
            "source": new.source,
            "version": version,
            "sha256": new.sha256,
            "size": new.size,
            "media_type": new.media_type,
            "title": new.title,
            "parser": new.parser,
            "encoding": new.encoding,
            "pages": len(new.pages),
            "blocks": blocks,
            "status": "ready",
            **_origin_row(new.origin),
            "warnings": json.dumps(new.warnings, ensure_ascii=False),
            "valid_from": new.ingested_at,
            "ingested_at": new.ingested_at,
        }
        names = ", ".join(row)
        values = ", ".join(f":{name}" for name in row)
        inserted = self._db.execute(f"INSERT INTO documents ({names}) VALUES ({values})", row)  # noqa: S608
        return int(inserted.lastrowid or 0)

    # -- blocks and keywords ---------------------------------------------------------------

    def rebuild_blocks(self, on_progress: Callable[[int, int], None] | None = None) -> None:
        """Cut every current document again from its stored pages, and index the keywords anew.

        `on_progress(done, total)` counts documents. Vectors of unchanged text stay.
        """
        with self._transaction("rebuild"):
            self._db.execute("INSERT INTO blocks_fts (blocks_fts) VALUES ('delete-all')")
            self._tombstone("1")
            self._db.execute("DELETE FROM blocks")
            documents = self.documents()
            for done, document in enumerate(documents.values(), 1):
                pages = mark_headings(tuple(self.pages(document.id)))
                blocks = cut_blocks(pages)
                self._insert_blocks(document.id, document.title, pages, blocks)
                self._db.execute(
                    "UPDATE documents SET blocks = ? WHERE id = ?", (len(blocks), document.id)
                )
                if on_progress:
                    on_progress(done, len(documents))
            self._set_meta("revision", REVISION)
            self._bump("generation")

    def _insert_blocks(
        self, document_id: int, title: str, pages: Iterable[Page], blocks: Iterable[Block]
    ) -> None:
        by_number = {page.number: page for page in pages}
        model = self.model
        for block in blocks:
            text = indexed_text(title, block, by_number[block.page])
            key = text_hash(text)
            inserted = self._db.execute(
                "INSERT INTO blocks (document_id, page, line_start, line_end, heading_path,"
                " table_header, text_hash, vector_id) VALUES (?, ?, ?, ?, ?, ?, ?,"
                " (SELECT id FROM vectors WHERE model_id = ? AND text_hash = ?))",
                (
                    document_id,
                    block.page,
                    block.line_start,
                    block.line_end,
                    dump_path(block.heading_path),
                    block.table_header,
                    key,
                    model.id if model else 0,
                    key,
                ),
            )
            self._db.execute(
                "INSERT INTO blocks_fts (rowid, tokens) VALUES (?, ?)",
                (inserted.lastrowid, " ".join(tokens(text))),
            )

    def _take_vectors(self, document_id: int, other: int) -> None:
        """Blocks without a vector get that of the same lines of the document `other`.

        Their text differs in the title at most, which is what a document is called: a new name is
        no reason to embed every line again. A change of model embeds it under its own.
        """
        same = (
            " FROM blocks old JOIN blocks new USING (page, line_start, line_end)"
            " WHERE old.document_id = :other AND new.document_id = :id"
            " AND new.vector_id IS NULL AND old.vector_id IS NOT NULL"
        )
        ids = {"other": other, "id": document_id}
        self._db.execute(
            "INSERT OR IGNORE INTO vectors (model_id, text_hash, vector)"  # noqa: S608
            " SELECT model_id, new_hash, vector FROM vectors JOIN"
            f" (SELECT new.text_hash AS new_hash, old.vector_id AS old_id{same}) ON id = old_id",
            ids,
        )
        self._db.execute(
            "UPDATE blocks SET vector_id = (SELECT v.id FROM vectors v"
            " WHERE v.model_id = CAST(:model AS INTEGER) AND v.text_hash = blocks.text_hash)"
            " WHERE document_id = :id AND vector_id IS NULL",
            {"id": document_id, "model": self.meta("model") or 0},
        )

    def _drop_blocks(self, document: Document) -> None:
        # A contentless index deletes by the very tokens that were inserted (SQLite < 3.43).
        for block_id, text in self.indexed_texts(document):
            self._db.execute(
                "INSERT INTO blocks_fts (blocks_fts, rowid, tokens) VALUES ('delete', ?, ?)",
                (block_id, " ".join(tokens(text))),
            )
        self._tombstone("document_id = ?", document.id)
        self._db.execute("DELETE FROM blocks WHERE document_id = ?", (document.id,))

    def _tombstone(self, condition: str, *parameters: int) -> None:
        """Remember the blocks that Chroma may hold and must drop."""
        self._db.execute(
            "INSERT OR IGNORE INTO chroma_removed SELECT id FROM blocks"  # noqa: S608
            f" WHERE synced <> 0 AND {condition}",
            parameters,
        )

    # -- vectors ---------------------------------------------------------------------------

    def use_model(self, fingerprint: str, name: str, dimension: int) -> Model:
        """Make this the model of the index; of another one before it, nothing stays attached."""
        with self._transaction("use_model"):
            self._db.execute(
                "INSERT OR IGNORE INTO models (fingerprint, name, dimension) VALUES (?, ?, ?)",
                (fingerprint, name, dimension),
            )
            model_id = self._one("SELECT id FROM models WHERE fingerprint = ?", fingerprint)
            if self.meta("model") != str(model_id):
                self._attach_all(model_id)
                self._bump("generation")
        return Model(model_id, fingerprint, name, dimension)

    def _attach_all(self, model_id: int) -> None:
        self._set_meta("model", str(model_id))
        self._set_meta("chroma_epoch", "")
        self._db.execute(
            "UPDATE blocks SET synced = 0, vector_id = (SELECT v.id FROM vectors v"
            " WHERE v.model_id = ? AND v.text_hash = blocks.text_hash)",
            (model_id,),
        )

    def store_vectors(self, model: Model, vectors: Mapping[bytes, bytes]) -> None:
        """Keep float16 `vectors` by text hash and attach them to every block of that text."""
        with self._transaction("store_vectors"):
            for key, vector in vectors.items():
                self._db.execute(
                    "INSERT OR IGNORE INTO vectors (model_id, text_hash, vector) VALUES (?, ?, ?)",
                    (model.id, key, vector),
                )
                self._db.execute(
                    "UPDATE blocks SET vector_id = (SELECT id FROM vectors WHERE model_id = ?"
                    " AND text_hash = ?) WHERE vector_id IS NULL AND text_hash = ?",
                    (model.id, key, key),
                )
            self._bump("generation")

    def prune_vectors(self) -> int:
        """Drop vectors and models that no current block uses; returns how many vectors."""
        with self._transaction("prune_vectors"):
            dropped = self._db.execute(
                "DELETE FROM vectors WHERE id NOT IN"
                " (SELECT vector_id FROM blocks WHERE vector_id IS NOT NULL)"
            ).rowcount
            self._db.execute(
                "DELETE FROM models WHERE id NOT IN (SELECT model_id FROM vectors)"
                " AND CAST(id AS TEXT) <> ?",
                (self.meta("model"),),
            )
        return dropped

    # -- syncs -----------------------------------------------------------------------------

    def note_failure(self, failure: Failure) -> None:
        """Remember why an object could not be taken, in place of what was known of it."""
        row = from_failure(failure)
        with self._transaction():
            marks = ", ".join("?" * len(row))
            self._db.execute(f"INSERT OR REPLACE INTO failures VALUES ({marks})", row)  # noqa: S608

    def forget_failures(self, store: str, keys: Iterable[str]) -> None:
        """These objects were taken, or are gone."""
        with self._transaction():
            self._db.executemany(
                "DELETE FROM failures WHERE store = ? AND object_key = ?",
                ((store, key) for key in keys),
            )

    def note_sync(self, summary: str) -> None:
        """What the last finished sync did, as JSON."""
        with self._transaction():
            self._set_meta("last_sync", summary)

    # -- what Chroma holds -----------------------------------------------------------------

    def start_chroma(self, epoch: str) -> None:
        """Chroma was made anew under the name `epoch`: it holds nothing of ours yet."""
        with self._transaction("start_chroma"):
            self._set_meta("chroma_epoch", epoch)
            self._db.execute("UPDATE blocks SET synced = 0 WHERE synced <> 0")
            self._db.execute("DELETE FROM chroma_removed")

    def forget_removed(self, ids: Sequence[int]) -> None:
        """Chroma has dropped `ids`."""
        with self._transaction("forget_removed"):
            self._db.executemany(
                "DELETE FROM chroma_removed WHERE block_id = ?", ((id_,) for id_ in ids)
            )

    def reopen_sync(self) -> None:
        """Chroma is about to change; what an unfinished sync marked is to be written again."""
        with self._transaction("reopen_sync"):
            self._set_meta("chroma_seal", "")
            self._db.execute(
                "UPDATE blocks SET synced = -1 WHERE synced > ?", (int(self.meta("chroma_sync")),)
            )

    def mark_synced(self, ids: Sequence[int]) -> None:
        """`ids` are about to be written to Chroma by the sync that is under way."""
        running = int(self.meta("chroma_sync")) + 1
        with self._transaction("mark_synced"):
            self._db.executemany(
                "UPDATE blocks SET synced = ? WHERE id = ?", ((running, id_) for id_ in ids)
            )

    def finish_sync(self, seal: str) -> None:
        """Everything marked so far may be looked for in a Chroma that `seal` stands for."""
        with self._transaction("finish_sync"):
            self._set_meta("chroma_seal", seal)
            self._bump("chroma_sync")

    def checkpoint(self) -> None:
        """Fold the write-ahead log into the file."""
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    # -- helpers ---------------------------------------------------------------------------

    def _set_meta(self, key: str, value: str) -> None:
        self._db.execute(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, value),
        )

    def _bump(self, key: str) -> None:
        self._set_meta(key, str(int(self.meta(key) or 0) + 1))


def _origin_row(origin: Origin) -> dict[str, str]:
    ref = origin.ref
    return {
        "origin": origin.place,
        "store": origin.store if ref else "",
        "object_key": ref.key if ref else "",
        "etag": ref.etag if ref else "",
        "object_version": ref.version if ref else "",
        "modified": ref.last_modified if ref else "",
    }
