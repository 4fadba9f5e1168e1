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


_PLAIN: Final = "〇一二三四五六七八九"


_FORMAL: Final = "零壹贰叁肆伍陆柒捌玖"


_UNITS: Final = {False: ("", "十", "百", "千"), True: ("", "拾", "佰", "仟")}


_GROUPS: Final = ("", "万", "亿", "万亿", "亿亿")


_LONGEST: Final = 20


def in_digits(text: str, *, formal: bool) -> str:
    """Every digit of `text` as a character: 2024 → 二〇二四."""
    return text.translate(str.maketrans("0123456789", _FORMAL if formal else _PLAIN))


def in_chinese(text: str, *, formal: bool) -> str:
    """A decimal number in words: 1203.5 → 一千二百〇三.五. Anything longer is read by digits."""
    whole, point, rest = text.partition(".")
    if not whole.isdigit() or len(whole) > _LONGEST:
        return in_digits(text, formal=formal)
    return _whole(whole, formal) + point + in_digits(rest, formal=formal)


def _whole(digits: str, formal: bool) -> str:
    zero = (_FORMAL if formal else _PLAIN)[0]
    groups = [digits[max(end - 4, 0) : end] for end in range(len(digits), 0, -4)]
    out = ""
    for place in range(len(groups) - 1, -1, -1):
        words = _group(groups[place], formal)
        if out and words and (groups[place].startswith("0") or out.endswith(zero)):
            words = zero + words
        out += words + _GROUPS[place] if words else ""
    out = out or zero
    return out.removeprefix("一") if out.startswith("一十") else out


def _group(digits: str, formal: bool) -> str:
    """Up to four digits, without zeros at either end; zeros between are said once."""
    names = _FORMAL if formal else _PLAIN
    out = ""
    gap = False
    for place, digit in zip(range(len(digits) - 1, -1, -1), digits, strict=True):
        if digit == "0":
            gap = bool(out)
            continue
        out += (names[0] if gap else "") + names[int(digit)] + _UNITS[formal][place]
        gap = False
    return out
