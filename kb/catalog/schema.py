"""The schema of `fulltext.sqlite3`, as numbered migrations. It must run on SQLite 3.37."""

from __future__ import annotations

import sqlite3
from typing import Final

from kb.errors import IndexDamaged
from kb.failpoints import reached
from kb.messages import tr

_V1: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES
    ('uid', lower(hex(randomblob(8)))), ('generation', '0'), ('chroma_sync', '0'),
    ('chroma_epoch', '');

CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source TEXT NOT NULL,
    version INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    size INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    title TEXT NOT NULL,
    parser TEXT NOT NULL,
    encoding TEXT NOT NULL,
    pages INTEGER NOT NULL,
    blocks INTEGER NOT NULL,
    status TEXT NOT NULL,
    origin TEXT NOT NULL,
    warnings TEXT NOT NULL,
    valid_from TEXT NOT NULL,
    valid_until TEXT NOT NULL DEFAULT '',
    ingested_at TEXT NOT NULL,
    UNIQUE (source, version)
);
CREATE UNIQUE INDEX documents_current ON documents (source) WHERE valid_until = '';

-- id = document << 24 | page, so that one page is one look-up. text: zstd; marks: JSON of noise
-- lines and elements, so that blocks can be cut again from here.
CREATE TABLE pages (
    id INTEGER PRIMARY KEY,
    document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    label TEXT NOT NULL,
    width REAL NOT NULL,
    height REAL NOT NULL,
    lines INTEGER NOT NULL,
    marks TEXT NOT NULL,
    text BLOB NOT NULL
);
CREATE INDEX pages_document ON pages (document_id);

CREATE TABLE models (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    fingerprint TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    dimension INTEGER NOT NULL
);
-- The model of the index is the one named by meta 'model'; vector: float16, unit length.
CREATE TABLE vectors (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    model_id INTEGER NOT NULL REFERENCES models (id) ON DELETE CASCADE,
    text_hash BLOB NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (model_id, text_hash)
);

-- Only current versions have blocks. AUTOINCREMENT: an id that Chroma still holds for a removed
-- block must never name another one. synced: the Chroma sync that wrote it, or is about to; 0 for
-- none yet, -1 for one that was broken off: Chroma may hold it and must be given it again.
CREATE TABLE blocks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    page INTEGER NOT NULL,
    line_start INTEGER NOT NULL,
    line_end INTEGER NOT NULL,
    heading_path TEXT NOT NULL,
    table_header TEXT NOT NULL,
    text_hash BLOB NOT NULL,
    vector_id INTEGER REFERENCES vectors (id) ON DELETE SET NULL,
    synced INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX blocks_document ON blocks (document_id, page);
CREATE INDEX blocks_pending ON blocks (text_hash) WHERE vector_id IS NULL;
CREATE INDEX blocks_vector ON blocks (vector_id) WHERE vector_id IS NOT NULL;
CREATE INDEX blocks_synced ON blocks (synced);

-- Blocks that are gone here and not yet in Chroma.
CREATE TABLE chroma_removed (block_id INTEGER PRIMARY KEY);

-- Folded tokens, separated by spaces; every other character of a token is a token character.
CREATE VIRTUAL TABLE blocks_fts USING fts5 (
    tokens, content = '', detail = full, tokenize = "ascii tokenchars '._-+@#/'"
);
CREATE VIRTUAL TABLE blocks_vocab USING fts5vocab (blocks_fts, 'row');
"""

_V2: Final = """
-- The object that a version's bytes came from: store is 's3://bucket', 'file:' for the folder, ''
-- for a file that was given by hand.
ALTER TABLE documents ADD COLUMN store TEXT NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN object_key TEXT NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN etag TEXT NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN object_version TEXT NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN modified TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX documents_object ON documents (store, object_key)
    WHERE valid_until = '' AND store <> '';
CREATE INDEX documents_bytes ON documents (sha256);

-- Objects that a sync could not take, as they were then.
CREATE TABLE failures (
    store TEXT NOT NULL,
    object_key TEXT NOT NULL,
    size INTEGER NOT NULL,
    etag TEXT NOT NULL,
    object_version TEXT NOT NULL,
    modified TEXT NOT NULL,
    source TEXT NOT NULL,
    kind TEXT NOT NULL,
    message TEXT NOT NULL,
    hint TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    failed_at TEXT NOT NULL,
    retry_at TEXT NOT NULL,
    PRIMARY KEY (store, object_key)
) WITHOUT ROWID;
"""

MIGRATIONS: Final = (_V1, _V2)
"""Script i takes the schema from version i to i + 1; scripts are only ever added."""

APPLICATION_ID: Final = 0x786E4B42  # "xnKB": tells our file from any other SQLite database


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the schema up to date in one transaction: no reader ever sees a step between.

    Raises IndexDamaged when the file was made by a newer version or is another application's.
    """
    check_version(connection)
    steps = MIGRATIONS[schema_version(connection) :]
    if steps:
        reached("migrate.before")
        connection.executescript(
            f"BEGIN IMMEDIATE;{''.join(steps)}"
            f"PRAGMA application_id = {APPLICATION_ID};PRAGMA user_version = {len(MIGRATIONS)};"
            "COMMIT;"
        )
        reached("migrate.after")


def schema_version(connection: sqlite3.Connection) -> int:
    """The number of migrations that the file has seen; 0 for an empty file."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def check_version(connection: sqlite3.Connection) -> None:
    """Raise IndexDamaged unless this code can read the file's schema."""
    version = schema_version(connection)
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    if version and application != APPLICATION_ID:
        raise IndexDamaged(tr("catalog.foreign"), tr("catalog.foreign.hint"))
    if version > len(MIGRATIONS):
        raise IndexDamaged(
            tr("catalog.newer", found=version, known=len(MIGRATIONS)), tr("catalog.newer.hint")
        )
