"""Which documents a project contains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kb.text.tokens import fold

if TYPE_CHECKING:
    from kb.model import Failure, SourceInfo


@dataclass(frozen=True, slots=True)
class Listing:
    """Documents of a project. `total` counts those that the query left out too.

    `failures` are objects that syncs could not take, `last_sync` the last one's summary as JSON.
    """

    project: str
    sources: tuple[SourceInfo, ...]
    total: int
    notice: str
    failures: tuple[Failure, ...] = ()
    last_sync: str = ""


def _named(infos: list[SourceInfo], query: str) -> list[SourceInfo]:
    wanted = fold(query).strip()
    return [info for info in infos if wanted in fold(info.source)]
