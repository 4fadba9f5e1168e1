"""Numbers as documents write them: 12, xii, 十二, 二〇. Pure."""

from __future__ import annotations

from typing import Final

_ROMAN: Final = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_HAN_DIGITS: Final = {char: value for value, char in enumerate("〇一二三四五六七八九")} | {
    "零": 0,
    "两": 2,
}
_HAN_UNITS: Final = {"十": 10, "百": 100, "千": 1000}


def numeral(text: str) -> int:
    """The value of an Arabic, Roman or Han numeral, which `text` must be."""
    low = text.lower()
    if low.isdigit():
        return int(low)
    return _roman(low) if low[0] in _ROMAN else _han(low)


def _roman(text: str) -> int:
    values = [_ROMAN[char] for char in text]
    following = [*values[1:], 0]
    return sum(-v if v < after else v for v, after in zip(values, following, strict=True))


def _han(text: str) -> int:
    """十二, 二十, 一百零三, and digit by digit: 二〇."""
    if not set(text) & set(_HAN_UNITS):
        return int("".join(str(_digit(char)) for char in text))
    total = digit = 0
    for char in text:
        if char in _HAN_UNITS:
            total += (digit or 1) * _HAN_UNITS[char]
            digit = 0
        else:
            digit = _digit(char)
    return total + digit


def _digit(char: str) -> int:
    return _HAN_DIGITS[char] if char in _HAN_DIGITS else int(char)
