"""One writer at a time, across processes: an operating-system lock with a named owner.

The lock itself is the operating system's (released when its holder dies, however it dies). Beside
it lies a note of who holds it, since when, for what, and a heartbeat: it only informs.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from filelock import FileLock, Timeout

from kb.errors import Busy, IndexDamaged
from kb.messages import tr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

HEARTBEAT_SECONDS: Final = 5.0
_POLL_SECONDS: Final = 0.05
_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Owner:
    """Who holds a lock. Times are seconds since the epoch."""

    pid: int
    host: str
    purpose: str
    since: float
    heartbeat: float


@contextmanager
def hold(
    path: Path,
    purpose: str,
    wait: float,
    on_wait: Callable[[Owner | None], None] | None = None,
) -> Iterator[None]:
    """Hold the lock at `path`, waiting up to `wait` seconds (negative: as long as it takes).

    Whoever waits for more than a second is told for whom; `on_wait` is called about every second
    with the present owner. Raises Busy naming the owner, and IndexDamaged where the lock's file
    cannot be written.
    """
    lock = FileLock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _acquire(lock, path, wait, on_wait)
    except OSError as error:
        reason = tr("catalog.unusable", name=path.name, reason=error)
        raise IndexDamaged(reason, tr("catalog.unusable.hint")) from error
    stop = threading.Event()
    note = threading.Thread(target=_keep_note, args=(_note(path), purpose, stop), daemon=True)
    note.start()
    try:
        yield
    finally:
        stop.set()
        note.join()
        lock.release()


def owner(path: Path) -> Owner | None:
    """Who holds the lock at `path`; None when nobody does."""
    if not path.exists():
        return None
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return _read_note(path)
    lock.release()
    return None


def _acquire(
    lock: FileLock, path: Path, wait: float, on_wait: Callable[[Owner | None], None] | None
) -> None:
    deadline = time.monotonic() + wait if wait >= 0 else None
    told = False
    while True:
        left = 1.0 if deadline is None else min(1.0, deadline - time.monotonic())
        try:
            lock.acquire(timeout=max(0.0, left), poll_interval=_POLL_SECONDS)
        except Timeout:
            holder = _read_note(path)
            if deadline is not None and time.monotonic() >= deadline:
                raise _busy(path, holder) from None
            if not told:
                _LOG.warning(tr("lock.waiting", project=path.parent.name, owner=_named(holder)))
                told = True
            if on_wait:
                on_wait(holder)
        else:
            return


def _busy(path: Path, holder: Owner | None) -> Busy:
    busy = tr("lock.busy", project=path.parent.name, owner=_named(holder))
    return Busy(busy, tr("lock.busy.hint"))


def _named(holder: Owner | None) -> str:
    if holder is None:
        return tr("lock.unknown")
    return tr("lock.owner", pid=holder.pid, host=holder.host, purpose=holder.purpose)


def _note(path: Path) -> Path:
    return path.with_name(path.name + ".owner")


def _keep_note(note: Path, purpose: str, stop: threading.Event) -> None:
    since = time.time()
    while True:
        holder = Owner(os.getpid(), socket.gethostname(), purpose, since, time.time())
        # A note that cannot be written costs a name in a message, never the work.
        with suppress(OSError):
            note.write_text(json.dumps(asdict(holder)), encoding="utf-8")
        if stop.wait(HEARTBEAT_SECONDS):
            break
    with suppress(OSError):
        note.unlink()


def _read_note(path: Path) -> Owner | None:
    with suppress(OSError, ValueError, TypeError):
        return Owner(**json.loads(_note(path).read_text(encoding="utf-8")))
    return None
