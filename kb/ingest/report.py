"""What a sync did, or would do."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from kb.model import Failure

Action = Literal["new", "changed", "moved", "deleted", "kept", "failed", "waiting", "unsupported"]
ACTIONS: Final[tuple[Action, ...]] = (
    "new",
    "changed",
    "moved",
    "deleted",
    "kept",
    "failed",
    "waiting",
    "unsupported",
)
"""`kept` lost their object and were not deleted; `waiting` failed before and are not due yet."""


@dataclass(slots=True)
class SyncReport:
    """Counts, and a line for every object that is not simply unchanged.

    `listed` objects make up unchanged + ignored + the lines, without those of deletions.
    """

    store: str
    prefix: str
    dry_run: bool
    listed: int = 0
    unchanged: int = 0
    ignored: int = 0
    seconds: float = 0.0
    notice: str = ""
    stopped: bool = False
    objects: list[dict[str, Any]] = field(default_factory=list)

    def add(self, action: Action, source: str, **details: Any) -> None:
        """Note what was, or would be, done with one object."""
        self.objects.append({"source": source, "action": action, **details})

    def add_failure(self, action: Action, failure: Failure) -> None:
        """Note an object that could not be taken."""
        self.add(
            action,
            failure.source,
            kind=failure.kind,
            error=failure.message,
            hint=failure.hint,
            attempts=failure.attempts,
            retry_at=failure.retry_at,
        )

    def counts(self) -> dict[str, int]:
        """How many objects met with each action."""
        counted = Counter(line["action"] for line in self.objects)
        return {
            "listed": self.listed,
            "unchanged": self.unchanged,
            "ignored": self.ignored,
            **{action: counted[action] for action in ACTIONS},
        }

    def as_dict(self) -> dict[str, Any]:
        """For JSON: the counts first."""
        return {
            "store": self.store,
            "prefix": self.prefix,
            "dry_run": self.dry_run,
            **self.counts(),
            "seconds": self.seconds,
            "stopped": self.stopped,
            "notice": self.notice,
            "objects": self.objects,
        }
