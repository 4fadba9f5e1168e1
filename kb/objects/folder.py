"""Documents in folders: what to ingest, under which source, read once and unchanged."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import unicodedata
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kb.errors import InvalidInput, NotFound, Refused
from kb.messages import tr

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CHUNK: Final = 1 << 20
_LEFT_BY_PROGRAMS: Final = ("~$", ".", "Thumbs.db", "desktop.ini")


@dataclass(frozen=True, slots=True)
class Copy:
    """A private copy of a document, complete, and the hash of its bytes."""

    path: Path
    sha256: str
    size: int


@contextmanager
def copied(path: Path, max_mb: int) -> Iterator[Copy]:
    """The file at `path` read once: what is hashed is what is parsed, whoever writes meanwhile.

    Raises NotFound and Refused (a folder, a device, empty, over `max_mb` MiB, unreadable).
    """
    _check(path, max_mb)
    # The file may not be on the temporary disk for longer than it is parsed.
    with tempfile.TemporaryDirectory(prefix="kb-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / f"document{path.suffix.lower()}"
        digest = hashlib.sha256()
        size = 0
        try:
            with path.open("rb") as source, copy.open("wb") as target:
                while chunk := source.read(_CHUNK):
                    size += len(chunk)
                    if size > max_mb << 20:  # it grew since it was checked
                        raise _too_large(path, size, max_mb)
                    digest.update(chunk)
                    target.write(chunk)
        except OSError as error:
            raise Refused(
                tr("file.unreadable", name=path.name, reason=error.strerror),
                tr("file.unreadable.hint"),
            ) from error
        yield Copy(copy, digest.hexdigest(), size)


def _check(path: Path, max_mb: int) -> None:
    if path.is_dir():
        raise Refused(tr("file.folder", name=path.name), tr("file.folder.hint"))
    if not path.exists():
        raise NotFound(tr("file.missing", name=str(path)), tr("file.missing.hint"))
    if not path.is_file():
        raise Refused(tr("file.special", name=path.name), tr("file.missing.hint"))
    size = path.stat().st_size
    if not size:
        raise Refused(tr("file.empty", name=path.name), tr("file.empty.hint"))
    if size > max_mb << 20:
        raise _too_large(path, size, max_mb)


def _too_large(path: Path, size: int, max_mb: int) -> Refused:
    return Refused(
        tr("file.large", name=path.name, size=size >> 20, limit=max_mb), tr("file.large.hint")
    )


def walk(folder: Path) -> list[tuple[Path, str]]:
    """Every document below `folder` as (path, source), by source.

    A source is the path relative to `folder`, `/` separated. Hidden files and what office programs
    and file managers leave behind are no documents; links out of the folder are not followed.
    """
    found = (
        (path, path.relative_to(folder).as_posix())
        for path in folder.rglob("*")
        if path.is_file() and path.resolve().is_relative_to(folder.resolve())
    )
    return sorted(((p, s) for p, s in found if not _is_left_over(s)), key=lambda pair: pair[1])


def _is_left_over(relative: str) -> bool:
    return any(part.startswith(_LEFT_BY_PROGRAMS) for part in relative.split("/"))


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
        found = _as_on_disk(candidate)
        if found:
            root = next(root for root in roots if _below(found, root))
            return found, found.resolve().relative_to(root.resolve()).as_posix()
    raise NotFound(tr("file.missing", name=path[:200]), tr("file.key.hint", root=roots[0]))


def _below(path: Path, root: Path) -> bool:
    return path.resolve().is_relative_to(root.resolve())


def _as_on_disk(path: Path) -> Path | None:
    """`path` as it is spelled on disk: macOS and some archives keep names decomposed (NFD)."""
    for form in ("NFC", "NFD"):
        spelled = Path(unicodedata.normalize(form, str(path)))
        if spelled.exists():
            return spelled
    return path if path.exists() else None


def free_bytes(folder: Path) -> int:
    """Free space on the disk that `folder` is, or will be, on."""
    existing = next(p for p in (folder, *folder.parents) if p.exists())
    return shutil.disk_usage(existing).free
