"""What a parser says of a document that it does not read."""

from __future__ import annotations

import re
from typing import Final

from kb.errors import Refused
from kb.messages import tr
from kb.parsers.registry import Registry

_OUT_OF_MEMORY: Final = re.compile(
    r"malloc|calloc|out.?of.?memory|cannot allocate|failed to allocate|bad.?alloc", re.IGNORECASE
)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a library says in its own words that there is no memory left."""
    return isinstance(error, MemoryError) or bool(_OUT_OF_MEMORY.search(str(error)))


MIB: Final = 1 << 20


MAX_EXPANDED_MIB: Final = 512


def damaged(name: str, reason: str) -> Refused:
    """The refusal of a file that is broken in itself."""
    return Refused(tr("parse.damaged", name=name, reason=reason), tr("parse.resave_hint"))


def not_text(name: str) -> Refused:
    """The refusal of a file that is binary under the name of a text file."""
    suffixes = " ".join(Registry().suffixes)
    return Refused(tr("parse.binary", name=name), tr("parse.binary_hint", suffixes=suffixes))


_NAMED_PAGES: Final = 20


def listed(numbers: list[int]) -> str:
    """Page numbers for a warning, the first twenty by name."""
    named = "、".join(map(str, numbers[:_NAMED_PAGES]))
    if len(numbers) > _NAMED_PAGES:
        return tr("parse.and_more", pages=named, count=len(numbers))
    return named
