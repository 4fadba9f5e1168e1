"""A document read once, whole, and of one version."""

from __future__ import annotations

import hashlib
import logging
import random
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from kb.errors import ObjectChanged, Refused, StoreFailed, StoreRefused
from kb.messages import tr
from kb.model import Origin
from kb.objects.folder import FolderStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kb.model import ObjectRef
    from kb.ports import ObjectStore, Readable

_CHUNK: Final = 1 << 20
_ATTEMPTS: Final = 3
_FIRST_PAUSE: Final = 0.2
_PATIENCE: Final = 60.0
_SLOWEST: Final = 16 << 10
"""Bytes a second: an object that arrives more slowly, after `_PATIENCE` seconds, is broken off."""
_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Copy:
    """A private copy of a document, complete, the hash of its bytes, and where they came from."""

    path: Path
    sha256: str
    size: int
    origin: Origin


@contextmanager
def copied(path: Path, max_mb: int) -> Iterator[Copy]:
    """The file at `path` read once: what is hashed is what is parsed, whoever writes meanwhile.

    Raises NotFound, Refused (a folder, a device, empty, over `max_mb` MiB), StoreFailed.
    """
    file = path.resolve()  # a link may lead to another folder
    with fetched(FolderStore(file.parent), file.name, max_mb) as copy:
        yield replace(copy, origin=Origin(str(path.absolute())))


@contextmanager
def fetched(
    store: ObjectStore, key: str, max_mb: int, listed: ObjectRef | None = None
) -> Iterator[Copy]:
    """The object at `key` as it was `listed` (None: as it is now), or as it is now if it changed.

    A body that breaks off, is too slow or too short is read again, `_ATTEMPTS` times in all, and
    never handed out in part. Raises NotFound, Refused (empty, over `max_mb` MiB), StoreFailed.
    """
    # The file may not be on the temporary disk for longer than it is parsed.
    with tempfile.TemporaryDirectory(prefix="kb-", ignore_cleanup_errors=True) as folder:
        target = Path(folder) / f"document{PurePosixPath(key).suffix.lower()}"
        yield _download(store, key, listed, target, max_mb)


def _download(
    store: ObjectStore, key: str, listed: ObjectRef | None, target: Path, max_mb: int
) -> Copy:
    ref = listed
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            ref = ref or store.stat(key)
            _check_size(ref, max_mb)
            digest, ref = _read(store, ref, target)
            return Copy(target, digest, ref.size, Origin(store.place(key), store.name, ref))
        except StoreFailed as error:  # noqa: PERF203 - three rounds
            if attempt == _ATTEMPTS or isinstance(error, StoreRefused):
                raise
            _LOG.info("%s: %s", key, error.message)
            if isinstance(error, ObjectChanged):
                ref = None
            time.sleep(_FIRST_PAUSE * 2 ** (attempt - 1) * random.uniform(0.5, 1.5))  # noqa: S311 - jitter
    raise AssertionError


def _check_size(ref: ObjectRef, max_mb: int) -> None:
    name = PurePosixPath(ref.key).name
    if not ref.size:
        raise Refused(tr("file.empty", name=name), tr("file.empty.hint"))
    if ref.size > max_mb << 20:
        raise Refused(
            tr("file.large", name=name, size=ref.size >> 20, limit=max_mb), tr("file.large.hint")
        )


def _read(store: ObjectStore, ref: ObjectRef, target: Path) -> tuple[str, ObjectRef]:
    """The hash of the bytes, now at `target`, and the reference that the store gave with them."""
    with target.open("wb") as file, store.open(ref) as source:
        return _pour(source, file.write), source.ref


def _pour(source: Readable, write: Callable[[bytes], object]) -> str:
    ref, digest = source.ref, hashlib.sha256()
    deadline = time.monotonic() + _PATIENCE + ref.size / _SLOWEST
    size = 0
    while chunk := source.read(_CHUNK):
        size += len(chunk)
        if size > ref.size:
            break
        if time.monotonic() > deadline:
            raise StoreFailed(tr("store.slow", name=ref.key[:200]), tr("store.retry.hint"))
        digest.update(chunk)
        write(chunk)
    if size != ref.size:
        raise StoreFailed(
            tr("store.truncated", name=ref.key[:200], size=ref.size, got=size),
            tr("store.retry.hint"),
        )
    return digest.hexdigest()
