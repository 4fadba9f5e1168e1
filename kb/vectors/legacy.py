"""Chroma data that the plugin's first two versions left: recognised, named, never deleted.

They kept everything in one Chroma collection, without the documents' lines; so it cannot be
converted. Its SQLite is read directly and trusted in nothing.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kb.messages import tr

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

_COLLECTION: Final = "knowledge_base"
_KEYS: Final = ("source", "file_name", "filename", "file")
"""Metadata keys that may name a document, the likeliest first."""
_MOST_NAMES: Final = 10_000
_LONGEST_NAME: Final = 200
_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Legacy:
    """A folder of v1/v2, and the names of its documents as far as they can be read."""

    folder: Path
    sources: tuple[str, ...]

    def missing(self, present: Collection[str]) -> list[str]:
        """The sources that were not ingested again, by name or by base name."""
        known = {name.rpartition("/")[2] for name in present}
        return [name for name in self.sources if _base(name) not in known]

    def describe(self, present: Collection[str]) -> str:
        """What must be ingested again, for a person; empty when nothing is left."""
        missing = self.missing(present)
        if self.sources and not missing:
            return ""
        names = "、".join(missing[:_SHOWN]) or tr("legacy.unnamed")
        more = f" … ({len(missing)})" if len(missing) > _SHOWN else ""
        return tr("legacy.found", folder=self.folder, sources=names + more)


def find_legacy(folders: Iterable[Path]) -> list[Legacy]:
    """Those of `folders` that are Chroma data of v1/v2."""
    return [found for folder in folders if (found := read_legacy(folder)) is not None]


def read_legacy(folder: Path) -> Legacy | None:
    """The Chroma folder of v1/v2 at `folder`; None when it is none, or cannot be told."""
    database = folder / "chroma.sqlite3"
    if not database.is_file():
        return None
    try:
        uri = f"{database.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            query = "SELECT COUNT(*) FROM collections WHERE name = ?"
            if not connection.execute(query, (_COLLECTION,)).fetchone()[0]:
                return None
            return Legacy(folder, tuple(_names(connection)))
    except (sqlite3.Error, OSError):
        return None


def set_aside(folder: Path) -> Path | None:
    """Give Chroma data of v1/v2 at `folder` another name, before the place is used for ours."""
    if read_legacy(folder) is None:
        return None
    number = 1
    while (kept := folder.with_name(f"{folder.name}.v2-{number}")).exists():
        number += 1
    folder.replace(kept)
    return kept


def _names(connection: sqlite3.Connection) -> Iterator[str]:
    for key in _KEYS:
        try:
            rows = connection.execute(
                "SELECT DISTINCT string_value FROM embedding_metadata WHERE key = ?"
                " AND string_value IS NOT NULL ORDER BY 1 LIMIT ?",
                (key, _MOST_NAMES),
            ).fetchall()
        except sqlite3.Error:
            return
        if rows:
            yield from filter(None, (_clean(row[0]) for row in rows))
            return


def _clean(name: object) -> str:
    """A stranger's text as one short printable line."""
    text = "".join(c for c in str(name) if c.isprintable())
    return text.strip()[:_LONGEST_NAME]


def _base(name: str) -> str:
    return name.replace(os.sep, "/").replace("\\", "/").rpartition("/")[2]
