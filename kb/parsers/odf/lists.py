"""Numbers of lists and headings in OpenDocument text (ODF 1.2 part 1, 16.31-16.36, 5.3)."""

from __future__ import annotations

from typing import Any, Final

from kb.parsers.xml.nodes import local, value
from kb.text.numerals import in_chinese

BULLET: Final = "•"
_LETTERS: Final = 26
_ROMAN: Final = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_STEMS: Final = "甲乙丙丁戊己庚辛壬癸"
_CIRCLED: Final = 20
_MOST: Final = 4000
_LEVELS: Final = 10


class Counter:
    """Counts the items of one list or of the headings. Levels count from 0."""

    def __init__(self, style: Any | None) -> None:
        self._levels = {
            int(text) - 1: level
            for level in (style if style is not None else ())
            if (text := value(level, "level")).isdigit()
        }
        self._counts: list[int] = []

    def label(self, level: int, start: str = "") -> str:
        """The mark of the next item at `level`, counted; empty where the style has none.

        `start` is the number that the item itself asks for.
        """
        level = min(level, _LEVELS - 1)
        style = self._levels.get(level)
        first = len(self._counts)
        self._counts = self._counts[: level + 1]
        self._counts += [self._start(place) for place in range(first, level + 1)]
        if start.isdigit():
            self._counts[level] = int(start)
        elif first > level:
            self._counts[level] += 1
        if style is None:
            return ""
        if local(style) != "list-level-style-number" and local(style) != "outline-level-style":
            return BULLET
        return self._number(style, level)

    def _start(self, level: int) -> int:
        text = value(self._levels.get(level), "start-value")
        return int(text) if text.isdigit() else 1

    def _number(self, style: Any, level: int) -> str:
        if not value(style, "num-format"):
            return (value(style, "num-prefix") + value(style, "num-suffix")).strip()
        shown = value(style, "display-levels")
        count = min(int(shown), level + 1) if shown.isdigit() and int(shown) else 1
        numbers = [
            in_format(self._counts[place], value(self._levels.get(place), "num-format"))
            for place in range(level + 1 - count, level + 1)
        ]
        text = ".".join(filter(None, numbers))
        return value(style, "num-prefix") + text + value(style, "num-suffix")


def in_format(number: int, form: str) -> str:
    """A number in a style:num-format: `1`, `a`, `I`, `一, 二, 三, ...` and their like."""
    if not form or not 0 < number < _MOST:
        return str(number) if form else ""
    plain = {"a": _letters, "i": _roman}.get(form[0].lower())
    if plain:
        text = plain(number)
        return text.upper() if form[0].isupper() else text
    if form[0] in "一壹":
        return in_chinese(str(number), formal=form[0] == "壹")
    if form[0] == "①" and number <= _CIRCLED:
        return chr(ord("①") + number - 1)
    return _STEMS[(number - 1) % len(_STEMS)] if form[0] == "甲" else str(number)


def _letters(number: int) -> str:
    text = ""
    while number:
        number, digit = divmod(number - 1, _LETTERS)
        text = chr(ord("a") + digit) + text
    return text


def _roman(number: int) -> str:
    text = ""
    for amount, sign in _ROMAN:
        times, number = divmod(number, amount)
        text += sign * times
    return text
