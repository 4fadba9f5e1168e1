"""Which source an object is. Pure."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from kb.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_PLAIN: Final = "/ ()[]{}!@$&'+,;=#~-._"


def name_objects(
    keys: Iterable[str], held: Mapping[str, str], prefix: str, clean: Callable[[str], str]
) -> dict[str, str]:
    """The source of each of `keys`; no two have the same.

    A key that has a source (`held`: key → source) keeps it. The others are called `prefix` and
    their `clean` form (NFC, `/` separators, nothing invisible). Where another key has that name,
    or there is none, a key is called by its escaped form, at last with a hash. Of several keys with
    one clean form, the one that equals it comes first.
    """
    names = dict(held)
    taken = set(held.values())

    def rank(key: str) -> tuple[bool, str]:
        return _cleaned(key, clean) != key, key

    for key in sorted((key for key in keys if key not in held), key=rank):
        names[key] = next(n for n in _candidates(key, prefix, clean) if n not in taken)
        taken.add(names[key])
    return names


def _candidates(key: str, prefix: str, clean: Callable[[str], str]) -> Iterable[str]:
    raw = key.encode("utf-8", "surrogatepass")
    hashed = f"{quote(raw, safe='')}~{sha256(raw).hexdigest()[:16]}"
    for name in (_cleaned(key, clean), _escaped(key), quote(raw, safe="")):
        if name and _cleaned(name, clean) == name:
            yield prefix + name
    yield prefix + hashed


def _cleaned(key: str, clean: Callable[[str], str]) -> str:
    try:
        return clean(key)
    except InvalidInput:
        return ""


def _escaped(key: str) -> str:
    """`key` with everything but letters, digits and plain signs as %XX (RFC 3986)."""
    return "".join(
        c if c.isalnum() or c in _PLAIN else quote(c.encode("utf-8", "surrogatepass"), safe="")
        for c in key
    )
