"""Named places where a test may end this process; nothing happens unless one is armed.

`XIN_FAILPOINT=NAME[:N]` ends the process, as SIGKILL does, when it comes by NAME for the Nth time.
It is no setting: it is not read from `.env`, and nobody but a test has a use for it.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_TRANSACTIONS: Final = (
    "replace",
    "remove",
    "rebuild",
    "use_model",
    "store_vectors",
    "prune_vectors",
    "start_chroma",
    "forget_removed",
    "reopen_sync",
    "mark_synced",
    "finish_sync",
)
NAMES: Final = (
    "parse.before",
    "parse.after",
    "replace.closed",
    "replace.pages",
    "migrate.before",
    "migrate.after",
    *(f"{name}.{step}" for name in _TRANSACTIONS for step in ("begun", "commit", "committed")),
    *(
        f"chroma.{step}.{moment}"
        for step in ("create", "upsert", "delete", "record")
        for moment in ("before", "after")
    ),
    "chroma.create.removed",
    "backup.copied",
    "backup.replaced",
    "restore.copied",
    "restore.locked",
    "restore.emptied",
    "restore.replaced",
)
"""Every place there is, in the order in which a document comes by them."""

_hook: Callable[[str], None] | None = None


def reached(name: str) -> None:
    """The process has come to the place `name`."""
    if _hook is not None:
        _hook(name)


def arm(hook: Callable[[str], None] | None) -> None:
    """Call `hook` with the name of every place from now on; None: nothing."""
    global _hook  # noqa: PLW0603 - one process has one hook
    _hook = hook


def killer(place: str) -> Callable[[str], None]:
    """A hook that ends the process at `NAME[:N]`."""
    name, _colon, count = place.partition(":")
    left = int(count or 1)

    def kill(reached_name: str) -> None:
        nonlocal left
        left -= reached_name == name
        if left == 0:
            # Windows has no SIGKILL: any signal ends a process at once there.
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))

    return kill


if _place := os.environ.get("XIN_FAILPOINT", ""):
    arm(killer(_place))
