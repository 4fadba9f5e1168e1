"""Names of documents: cleaned, and compared with what a person typed. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from kb.errors import InvalidInput
from kb.messages import tr

if TYPE_CHECKING:
    from collections.abc import Sequence


MAX_SOURCE_BYTES: Final = 4_096
"""An object's key has 1,024 at most: room for its bucket, and for escapes."""


_BUCKET: Final = re.compile(r"s3://[^/]+/")


_NOT_IN_NAMES: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Control characters, lone surrogates, line and paragraph separators. Wide spaces and the joiners
inside emoji are parts of names."""


_SUGGESTIONS: Final = 5


_SIMILAR: Final = 45  # of 100: below it a name is no help


def clean_source(name: str) -> str:
    """`name` as a source: NFC, `/` separators, no leading `./` or `/`; `s3://bucket/` stays.

    Raises InvalidInput when nothing is left, for `..`, control characters, or over 4,096 bytes.
    """
    source = unicodedata.normalize("NFC", name).replace("\\", "/").strip()
    found = _BUCKET.match(source)
    bucket = found.group() if found else ""
    parts = _parts(source[len(bucket) :])
    clean = bucket + "/".join(parts)
    if not parts:
        raise InvalidInput(tr("source.empty"), tr("source.empty.hint"))
    if ".." in parts or any(unicodedata.category(c) in _NOT_IN_NAMES for c in clean):
        raise InvalidInput(tr("source.bad", source=ascii(name)[:200]), tr("source.bad.hint"))
    if len(clean.encode("utf-8", "surrogatepass")) > MAX_SOURCE_BYTES:
        raise InvalidInput(tr("source.long", limit=MAX_SOURCE_BYTES), tr("source.bad.hint"))
    return clean


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in {"", "."}]


def near_names(name: str, sources: Sequence[str]) -> list[str]:
    """The sources most like `name`, best first, at most five."""
    from rapidfuzz import fuzz, process, utils

    found = process.extract(
        name[:200],
        sources,
        scorer=fuzz.WRatio,
        processor=utils.default_process,
        limit=_SUGGESTIONS,
        score_cutoff=_SIMILAR,
    )
    return [choice for choice, _score, _index in found]
