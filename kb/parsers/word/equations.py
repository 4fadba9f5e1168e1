"""Office equations on one line: fractions with a stroke, powers and indices by their signs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kb.parsers.xml.nodes import child, local, value

_FORMS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "f": ("{}/{}", ("num", "den")),
    "sSup": ("{}^{}", ("e", "sup")),
    "sSub": ("{}_{}", ("e", "sub")),
    "sSubSup": ("{}_{}^{}", ("e", "sub", "sup")),
    "rad": ("{}√{}", ("deg", "e")),
    "limLow": ("{}_{}", ("e", "lim")),
}
"""Structures of OMML (ECMA-376-1, 22.1): how they read on a line, from which of their parts."""


def is_structure(element: Any) -> bool:
    """Whether `linear` knows the element; `f` has other meanings outside of equations."""
    space, _, name = str(element.tag).rpartition("}")
    return name in {*_FORMS, "d", "nary"} and space.endswith("/math")


def linear(element: Any, text: Callable[[Any], str]) -> str:
    """A structure as text; `text` reads its parts, put in brackets where they are long."""
    if local(element) == "d":
        return _bracketed(element, text)
    if local(element) == "nary":
        return _summed(element, text)
    form, parts = _FORMS[local(element)]
    found = (child(element, part) for part in parts)
    return form.format(*(_grouped("" if part is None else text(part)) for part in found))


def _bracketed(element: Any, text: Callable[[Any], str]) -> str:
    own = child(element, "dPr")
    begin, between, end = (
        default if child(own, name) is None else value(child(own, name), "val")
        for name, default in (("begChr", "("), ("sepChr", "|"), ("endChr", ")"))
    )
    return begin + between.join(text(part) for part in element if local(part) == "e") + end


def _summed(element: Any, text: Callable[[Any], str]) -> str:
    """A sum, product or integral: its sign, its bounds, what it is over."""
    sign = child(child(element, "naryPr"), "chr")
    parts = [child(element, name) for name in ("sub", "sup", "e")]
    low, high, over = ("" if part is None else text(part) for part in parts)
    bounds = (f"_{_grouped(low)}" if low else "") + (f"^{_grouped(high)}" if high else "")
    return ("∫" if sign is None else value(sign, "val")) + bounds + (f" {over}" if bounds else over)


def _grouped(text: str) -> str:
    simple = (
        text.isalnum() or len(text) <= 1 or (text[0] + text[-1] == "()" and "(" not in text[1:])
    )
    return text if simple else f"({text})"
