"""Which documents a call means: an exact source, a unique file name, or a prefix ending in `/`."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from kb.errors import InvalidInput, NotFound
from kb.messages import tr
from kb.text.names import _BUCKET, _SUGGESTIONS, _parts, near_names
from kb.text.tokens import fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kb.catalog import Reader
    from kb.model import Document


def find_document(reader: Reader, source: str) -> Document:
    """The current document that `source` names exactly, or alone by its file name.

    Failing that, the only one whose name is the same but for width, case, script. Raises NotFound,
    with near names.
    """
    name = _spelled(source)
    if not name:
        raise InvalidInput(tr("source.empty"), tr("source.empty.hint"))
    exact = reader.document(name)
    if exact:
        return exact
    sources = reader.sources()
    named = [s for s in sources if s.rpartition("/")[2] == name] or _alike(name, sources)
    only = reader.document(named[0]) if len(named) == 1 else None
    if only:
        return only
    raise unknown_source(name, sources, named)


def _spelled(name: str) -> str:
    """`name` as sources are spelled, but for what may not be in one; a `/` at its end stays."""
    plain = unicodedata.normalize("NFC", name).replace("\\", "/").strip()
    found = _BUCKET.match(plain)
    bucket = found.group() if found else ""
    clean = "/".join(_parts(plain[len(bucket) :]))
    return f"{bucket}{clean}/" if clean and plain.endswith("/") else bucket + clean


def _alike(name: str, sources: Sequence[str]) -> list[str]:
    """The sources that are `name`, or whose file name is, once folded."""
    wanted = fold(name)
    return [s for s in sources if wanted in {fold(s), fold(s.rpartition("/")[2])}]


def find_scope(reader: Reader, source: str | None) -> list[int] | None:
    """Ids of the documents that `source` means; None for all. Raises NotFound, InvalidInput.

    Where no source begins with a prefix, those do that are the same but for width, case, script.
    """
    if source is None:
        return None
    if not source.strip().endswith(("/", "\\", "／")):
        return [find_document(reader, source).id]
    prefix = _spelled(f"{source.strip()[:-1]}/")
    documents = reader.documents().values()
    found = [d.id for d in documents if d.source.startswith(prefix)]
    if not found:
        alike = fold(prefix)
        found = [d.id for d in documents if fold(d.source).startswith(alike)]
    if not found:
        raise unknown_source(prefix, reader.sources(), [])
    return found


def unknown_source(name: str, sources: Sequence[str], named: Sequence[str]) -> NotFound:
    """The refusal for a source that is not there; `named` are several that share its name."""
    near = list(named) or near_names(name, sources)
    shown = name[:200]
    if not sources:
        return NotFound(tr("source.none", source=shown), tr("source.none.hint"))
    if not near:
        return NotFound(tr("source.unknown", source=shown), tr("source.unknown.hint"))
    message = "source.several" if named else "source.unknown"
    names = tr("list.separator").join(f'"{n}"' for n in near[:_SUGGESTIONS])
    return NotFound(tr(message, source=shown), tr("source.near", names=names))
