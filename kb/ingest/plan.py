"""What a listing asks for, compared with what the index holds. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kb.objects.folder import is_left_over
from kb.objects.naming import name_objects
from kb.text.names import clean_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kb.model import Document, Failure, ObjectRef

_SECONDS: Final = len("2026-01-01T00:00:00")


@dataclass(frozen=True, slots=True)
class Wanted:
    """An object to read. `known` is the document that was made of it before."""

    ref: ObjectRef
    source: str
    known: Document | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What makes the index equal to a listing.

    `wanted` are new or changed objects, `gone` the documents whose object is not listed any more,
    `waiting` failed before and their time to be tried again has not come, `unreadable` are of no
    format that can be read, `ignored` is how many are no documents at all.
    """

    listed: int
    wanted: tuple[Wanted, ...]
    gone: tuple[Document, ...]
    unchanged: int
    waiting: tuple[Failure, ...]
    unreadable: tuple[str, ...]
    ignored: int

    def likely_moves(self) -> dict[str, Document]:
        """Source → the document that is gone and seems to have the same bytes, unread."""
        by_bytes = {_bytes_of(d.etag, d.size): d for d in self.gone if d.etag}
        found = {
            w.source: by_bytes.get(_bytes_of(w.ref.etag, w.ref.size))
            for w in self.wanted
            if w.known is None and w.ref.etag
        }
        return {source: document for source, document in found.items() if document}


def make_plan(
    listed: Sequence[ObjectRef],
    documents: Iterable[Document],
    failures: Mapping[str, Failure],
    *,
    prefix: str,
    source_prefix: str,
    is_current: Callable[[str, str], bool | None],
    now: str,
) -> Plan:
    """Compare `listed`, everything below the key `prefix`, with a store's current `documents`.

    `is_current(parser, key)` says whether a document that `parser` read would be read the same now,
    None where nothing reads such a name. `failures` are by key, `now` is ISO 8601. Sources of new
    objects begin with `source_prefix`.
    """
    by_key = {document.object_key: document for document in documents}
    held = {key: document.source for key, document in by_key.items()}
    refs = {ref.key: ref for ref in listed if not is_left_over(ref.key)}
    readable = {
        key: ref for key, ref in refs.items() if _is_text(key) and is_current("", key) is not None
    }
    sources = name_objects(readable, held, source_prefix, clean_source)
    changed = [
        Wanted(ref, sources[key], by_key.get(key))
        for key, ref in readable.items()
        if not _is_same(by_key.get(key), ref, is_current)
    ]
    waiting = {w.ref.key: failures[w.ref.key] for w in changed if _must_wait(failures, w.ref, now)}
    gone = (d for k, d in by_key.items() if k.startswith(prefix) and k not in refs)
    return Plan(
        listed=len(listed),
        wanted=tuple(w for w in changed if w.ref.key not in waiting),
        gone=tuple(sorted(gone, key=lambda document: document.source)),
        unchanged=len(readable) - len(changed),
        waiting=tuple(waiting.values()),
        unreadable=tuple(sorted(_shown(key) for key in refs.keys() - readable.keys())),
        ignored=len(listed) - len(refs),
    )


def _is_text(key: str) -> bool:
    """Whether a file name is text at all: the index could not hold it otherwise."""
    return _shown(key) == key


def _shown(key: str) -> str:
    return key.encode("utf-8", "backslashreplace").decode("utf-8")


def same_object(one: ObjectRef, other: ObjectRef) -> bool:
    """Whether both are of the same bytes for sure: etag, size, time and, if told, version."""
    versions = {one.version, other.version} - {""}
    return (
        bool(one.etag)
        and (one.etag, one.size) == (other.etag, other.size)
        # A listing tells milliseconds, an object's own header seconds.
        and one.last_modified[:_SECONDS] == other.last_modified[:_SECONDS]
        and len(versions) < 2  # noqa: PLR2004 - one version, or none
    )


def _is_same(
    document: Document | None, ref: ObjectRef, is_current: Callable[[str, str], bool | None]
) -> bool:
    if document is None:
        return False
    read = document.from_where.ref
    current = is_current(document.parser, document.source)
    return read is not None and same_object(read, ref) and current is not False


def _must_wait(failures: Mapping[str, Failure], ref: ObjectRef, now: str) -> bool:
    failure = failures.get(ref.key)
    return failure is not None and same_object(failure.ref, ref) and now < failure.retry_at


def _bytes_of(etag: str, size: int) -> tuple[str, int]:
    # The last part of a folder's etag changes with the name.
    return etag.rpartition("-")[0] or etag, size
