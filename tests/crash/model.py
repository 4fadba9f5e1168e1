"""What an index must hold, worked out without the code under test, and how it is compared."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import numpy as np

COMMON = "资金"
ABSENT = 0


def token(source, version, page, line):
    """A word that stands in one line of one version of one document."""
    return f"{source.split('.')[0]}v{version}p{page}n{line}"


def pages(source, version):
    """The lines of every page of a version; their number differs from version to version."""
    name = source.split(".")[0]
    seed = sum(map(ord, name)) + 7 * version
    return [
        [f"{COMMON} 行 {token(source, version, page, line)}" for line in range(1, count + 1)]
        for page, count in enumerate((8 + seed % 13, 1 + seed % 9)[: 1 + seed % 2], 1)
    ]


def text(source, version):
    return "\f".join("\n".join(lines) for lines in pages(source, version))


def ranges(count):
    """The blocks of a page of `count` lines: six lines, one shared with the block before."""
    found, start = [], 1
    while not found or found[-1][1] < count:
        found.append((start, min(start + 5, count)))
        start += 5
    return found


def blocks(source, version):
    return [
        (number, first, last)
        for number, lines in enumerate(pages(source, version), 1)
        for first, last in ranges(len(lines))
    ]


class Violation(AssertionError):
    """The index is not what the model allows."""


def require(condition, *what):
    if not condition:
        raise Violation(*what)


def check(kb, allowed, *, keywords=True, converged=False):
    """Compare everything that a reader can see; returns {source: version}.

    `allowed` is {source: set of versions}, ABSENT among them. `keywords=False`: the keyword index
    is broken on purpose and not repaired yet. `converged`: vectors and Chroma must be complete.
    """
    started = time.monotonic()
    names = {info.source for info in kb.list_sources().sources}
    kb.search(COMMON, 3)
    seconds = time.monotonic() - started
    require(seconds < 10, "reopening took", seconds)
    require(names <= set(allowed), "phantom documents", names - set(allowed))
    state = {}
    for source, versions in allowed.items():
        state[source] = _version(kb, source, versions) if source in names else ABSENT
        require(state[source] in versions, source, "is at", state[source], "of", versions)
    _blocks(kb, state)
    if keywords:
        _keywords(kb, state, allowed)
    _vectors(kb)
    if converged:
        _chroma(kb)
    return {"state": state, "seconds": seconds}


def _version(kb, source, versions):
    """The one version whose every line `read_range` gives back."""
    passage = kb.read_range(source, 1)
    found = [[line.text for line in passage.lines]]
    found += [
        [line.text for line in kb.read_range(source, page).lines]
        for page in range(2, passage.pages + 1)
    ]
    matching = [v for v in versions if v != ABSENT and pages(source, v) == found]
    require(len(matching) == 1, source, "holds no whole version of", versions, found)
    return matching[0]


def _blocks(kb, state):
    """No block lost, doubled or invented, in the table and in the keyword index."""
    with kb.project().catalog.reading() as reader:
        rows = reader._db.execute(
            "SELECT source, page, line_start, line_end FROM blocks b"
            " LEFT JOIN documents d ON d.id = document_id AND valid_until = ''"
        ).fetchall()
    expected = [(s, *b) for s, version in state.items() if version for b in blocks(s, version)]
    require(sorted(rows, key=str) == sorted(expected, key=str), "blocks", set(rows) ^ set(expected))


def _keywords(kb, state, allowed):
    catalog = kb.project().catalog
    with catalog.reading() as reader:
        require(not reader.keyword_problem(), reader.keyword_problem())
        live = dict(reader.blocks(range(1, 1 + _last(reader))).items())
        common = [id_ for id_, _score in reader.match([COMMON], 10_000)]
        require(sorted(common) == sorted(live), "keyword index", len(common), len(live))
        for source, versions in allowed.items():
            for version in versions - {ABSENT, state[source]}:
                ghost = reader.match([token(source, version, 1, 1)], 5)
                require(not ghost, source, version, "is still found")
    for source, version in state.items():
        if version:
            _found(kb, source, version, state)


def _found(kb, source, version, state):
    """A word of each page leads to its line, and every hit is what the document says."""
    for number, lines in enumerate(pages(source, version), 1):
        line = len(lines)
        hits = kb.search(token(source, version, number, line), 5).hits
        require(hits, source, number, line, "is not found")
        top = hits[0].citation
        at = (top.source, top.page, top.line_start <= line <= top.line_end)
        require(at == (source, number, True), "found", at)
        places = [(h.citation.source, h.citation.page, h.citation.line_start) for h in hits]
        require(len(set(places)) == len(places), "doubled hits", places)
        for hit in hits:
            c = hit.citation
            require(state.get(c.source), "a hit of", c.source)
            shown = pages(c.source, state[c.source])[c.page - 1][c.line_start - 1 : c.line_end]
            require(hit.text.split("\n") == shown, "a hit shows", hit.text)


def _vectors(kb):
    """Every vector that is there is the vector of its block's text."""
    from kb.text.blocks import text_hash
    from kb.vectors.exact import encode

    engine = kb.embedder()
    with kb.project().catalog.reading() as reader:
        if reader.model is None or reader.model.fingerprint != engine.fingerprint:
            return
        held = {row[0]: row[2] for row in reader.vectors()}
        texts = dict(
            pair for doc in reader.documents().values() for pair in reader.indexed_texts(doc)
        )
        hashes = dict(reader._db.execute("SELECT id, text_hash FROM blocks"))
    require(set(held) <= set(texts), "vectors of no block")
    require(all(hashes[i] == text_hash(t) for i, t in texts.items()), "text hashes")
    made = encode(engine.embed_passages([texts[i] for i in held])) if held else []
    require(all(a == b for a, b in zip(held.values(), made, strict=True)), "foreign vectors")


def _chroma(kb):
    """Chroma holds exactly the live vectors, and finds what an exact scan finds."""
    from kb.vectors.exact import decode, scan
    from kb.vectors.seal import alone, open_proven

    place = kb.project().place
    with kb.project().catalog.reading() as reader:
        require(not reader.pending_count(), "pending", reader.pending_count())
        rows = list(reader.vectors())
        if not rows and not reader.meta("chroma_epoch"):
            return
        dimension = reader.model.dimension if reader.model else 0
        with alone(place, 10):
            index = open_proven(place, reader)
            got = index._collection.get(include=["embeddings"])
            sample = decode([row[2] for row in rows[:: max(1, len(rows) // 3)]], dimension)
            near = [index.nearest(vector, 10) for vector in sample]
            index.close()
    require(len(got["ids"]) == len(rows), "Chroma holds", len(got["ids"]), "of", len(rows))
    held = dict(zip(map(int, got["ids"]), got["embeddings"], strict=True))
    for id_, _vector_id, blob in rows:
        require(id_ in held, "not in Chroma", id_)
        require(np.allclose(held[id_], decode([blob], dimension)[0], atol=1e-3), "vector", id_)
    for vector, found in zip(sample, near, strict=True):
        exact = scan(iter(rows), vector, 10)
        scores = ([round(s, 2) for _i, s in exact], [round(s, 2) for _i, s in found])
        require(len(exact) == len(found), "nearest", exact, found)
        require(np.allclose(scores[0], scores[1], atol=0.02), "nearest", exact, found)


def backup_is_whole(file: Path):
    """The file of a backup that was broken off is the one before, or the new one."""
    with closing(sqlite3.connect(file)) as connection:
        require(connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok", "backup")
        require(connection.execute("SELECT COUNT(*) FROM documents").fetchone()[0], "backup")


def _last(reader):
    return reader._db.execute("SELECT COALESCE(MAX(id), 0) FROM blocks").fetchone()[0]


def tidy(folder: Path):
    """Nothing half-written lies about once an operation has run to its end."""
    known = {"fulltext.sqlite3", "chroma_data", "writer.lock", "vectors.lock", "chroma.lock"}
    known |= {"fulltext.sqlite3-wal", "fulltext.sqlite3-shm"}
    # A note of who held a lock outlives its writer when that one is killed: it only informs.
    known |= {f"{name}.owner" for name in known if name.endswith(".lock")}
    strange = {path.name for path in folder.iterdir()} - known
    require(not strange, "left behind", strange)
