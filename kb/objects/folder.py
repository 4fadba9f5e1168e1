"""A folder as an object store, and which local paths an agent may mean."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import unicodedata
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING, BinaryIO, Final, Literal

from kb.errors import InvalidInput, NotFound, ObjectChanged, Refused, StoreFailed, StoreRefused
from kb.messages import tr
from kb.model import ObjectRef

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kb.ports import Readable

STORE_NAME: Final = "file:"
"""The same wherever the folder lies: it may be moved together with the index."""
_LEFT_BY_PROGRAMS: Final = ("~$", ".", "Thumbs.db", "desktop.ini")
_UNSETTLED_NS: Final = 2_000_000_000
"""File systems tell times as coarsely as this: a younger file may change and keep its times."""


class FolderStore:
    """The files below `root`; a key is the path relative to it, `/` separated, as on disk."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.name = STORE_NAME

    def place(self, key: str) -> str:
        """The absolute path."""
        return str(self._path(key))

    def check(self) -> None:
        """Raise StoreRefused unless the folder is there."""
        if not self.root.is_dir():
            raise StoreRefused(tr("store.no_folder", folder=self.root), tr("store.no_folder.hint"))

    def stat(self, key: str) -> ObjectRef:
        """The file as it is now. Raises NotFound; Refused for what is no file."""
        path = self._path(key)
        with _told(key):
            if not path.exists():
                raise missing(key)
            if path.is_dir():
                raise Refused(tr("file.folder", name=key), tr("file.folder.hint"))
            if not path.is_file():
                raise Refused(tr("file.special", name=key), tr("file.missing.hint"))
            return _ref(key, path.stat())

    @contextmanager
    def open(self, ref: ObjectRef) -> Iterator[Readable]:
        """The file's bytes. Raises ObjectChanged when it is not, or not any more, `ref`."""
        path = self._path(ref.key)
        with _told(ref.key), path.open("rb") as file:
            yield _Reading(ref, file)
            if _ref(ref.key, os.fstat(file.fileno())) != ref:
                raise changed(ref.key)

    def list(self, prefix: str = "") -> Iterator[ObjectRef]:
        """Every file. Links out of the folder are not followed. Raises StoreFailed."""
        self.check()
        for path in self._files():
            key = path.relative_to(self.root).as_posix()
            if key.startswith(prefix) and (ref := self._ref_or_gone(key, path)):
                yield ref

    def put(self, key: str, data: BinaryIO, size: int) -> ObjectRef:
        """Write `size` bytes beside the file, then take its place."""
        path = self._path(key)
        with _told(key):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=".kb-", dir=path.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    shutil.copyfileobj(data, file)
                    _check_complete(key, file.tell(), size)
                Path(name).replace(path)
            except BaseException:
                with suppress(OSError):
                    Path(name).unlink()
                raise
        return self.stat(key)

    def versions(self, key: str) -> Sequence[ObjectRef]:
        """The file as it is: a folder keeps no history."""
        return [self.stat(key)]

    def _path(self, key: str) -> Path:
        """Raises NotFound for a key that leads out of the folder."""
        path = self.root / key
        if not key or "\0" in key or not _below(path, self.root):
            raise missing(key)
        return path

    def _files(self) -> Iterator[Path]:
        def fail(error: OSError) -> None:
            if isinstance(error, FileNotFoundError) and self.root.is_dir():
                return  # a folder that went while we looked holds nothing
            raise _unlisted(error, str(error.filename)) from error

        for folder, folders, names in os.walk(self.root, onerror=fail):
            folders.sort()
            yield from (Path(folder) / name for name in sorted(names))

    def _ref_or_gone(self, key: str, path: Path) -> ObjectRef | None:
        try:
            if path.is_symlink() and not _below(path, self.root):
                return None
            status = path.stat()
        except FileNotFoundError:  # it went while we looked, or is a link to nowhere
            return None
        except OSError as error:
            raise _unlisted(error, key) from error
        return _ref(key, status) if S_ISREG(status.st_mode) else None


def _unlisted(error: OSError, name: str) -> StoreRefused:
    return StoreRefused(
        tr("store.unlisted", name=name[:200], reason=error.strerror), tr("store.unlisted.hint")
    )


def _check_complete(key: str, got: int, size: int) -> None:
    if got != size:
        reason = tr("store.truncated", name=key[:200], size=size, got=got)
        raise StoreFailed(reason, tr("store.retry.hint"))


def _ref(key: str, status: os.stat_result) -> ObjectRef:
    modified = datetime.fromtimestamp(status.st_mtime_ns / 1e9, timezone.utc)
    return ObjectRef(key, status.st_size, _etag(status), "", modified.isoformat())


def _etag(status: os.stat_result) -> str:
    """Changes with every change of the file; only its last part when it is merely renamed."""
    return f"{status.st_mtime_ns:x}-{status.st_ino:x}-{status.st_ctime_ns:x}"


class _Reading:
    """An open file, and which one it is.

    A file that changed a moment ago has no etag: it may change once more within the same tick.
    """

    def __init__(self, listed: ObjectRef, file: BinaryIO) -> None:
        status = os.fstat(file.fileno())
        now = _ref(listed.key, status)
        if now != listed:
            raise changed(listed.key)
        age = time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns)
        self.ref = replace(now, etag="") if age < _UNSETTLED_NS else now
        self.read = file.read


@contextmanager
def _told(key: str) -> Iterator[None]:
    """The file system's errors as ours."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError) as error:
        raise missing(key) from error
    except OSError as error:
        raise _unreadable(key, error) from error


def missing(key: str) -> NotFound:
    """The object does not exist."""
    return NotFound(tr("file.missing", name=key[:200]), tr("file.missing.hint"))


def changed(key: str) -> ObjectChanged:
    """The object is another one than was listed."""
    return ObjectChanged(tr("store.changed", name=key[:200]), tr("store.retry.hint"))


def _unreadable(key: str, error: OSError) -> Refused:
    reason = error.strerror or type(error).__name__
    return Refused(tr("file.unreadable", name=key[:200], reason=reason), tr("file.unreadable.hint"))


def walk(folder: Path) -> list[tuple[Path, str]]:
    """Every document below `folder` as (path, source), by source."""
    refs = FolderStore(folder).list()
    return sorted(
        ((folder / ref.key, ref.key) for ref in refs if not is_left_over(ref.key)),
        key=lambda pair: pair[1],
    )


def is_left_over(key: str) -> bool:
    """Whether a key names what is no document.

    Hidden files, what office programs and file managers leave behind, markers of folders.
    """
    return key.endswith("/") or any(p.startswith(_LEFT_BY_PROGRAMS) for p in key.split("/"))


def resolve_key(path: str, roots: Sequence[Path]) -> tuple[Path, str]:
    """The file that an agent may mean by `path`, and its source (relative to its root).

    `path` is a key below the first of `roots` that has it, or an absolute path inside one of
    them; a link that leads out of a root is outside. Raises InvalidInput, NotFound, Refused.
    """
    if not path.strip() or "\0" in path:
        raise InvalidInput(tr("file.no_path"), tr("file.no_path.hint"))
    given = Path(path.strip()).expanduser()
    candidates = [given] if given.is_absolute() else [root / given for root in roots]
    inside = [c for c in candidates if any(_below(c, root) for root in roots)]
    if not inside:
        names = tr("list.separator").join(str(root) for root in roots)
        raise Refused(tr("file.outside", path=path[:200]), tr("file.outside.hint", roots=names))
    for candidate in inside:
        found = as_on_disk(candidate)
        if found:
            root = next(root for root in roots if _below(found, root))
            return found, found.resolve().relative_to(root.resolve()).as_posix()
    raise NotFound(tr("file.missing", name=path[:200]), tr("file.key.hint", root=roots[0]))


def _below(path: Path, root: Path) -> bool:
    try:
        return path.resolve(strict=path.is_symlink()).is_relative_to(root.resolve())
    except (OSError, RuntimeError):  # a link to nowhere, or to itself
        return False


def as_on_disk(path: Path) -> Path | None:
    """`path` as it is spelled on disk: macOS and some archives keep names decomposed (NFD)."""
    spellings = (str(path), *(unicodedata.normalize(form, str(path)) for form in ("NFC", "NFD")))
    return next((Path(name) for name in spellings if lies_at(name)), None)


def lies_at(path: str | Path) -> Literal["file", "folder", ""]:
    """What lies at `path`; nothing where there can be nothing.

    `Path.exists` raises for what is longer than a file's name can be, as an object's key may be.
    """
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return ""
    return "folder" if S_ISDIR(mode) else "file"


def free_bytes(folder: Path) -> int:
    """Free space on the disk that `folder` is, or will be, on."""
    existing = next(p for p in (folder, *folder.parents) if p.exists())
    return shutil.disk_usage(existing).free
