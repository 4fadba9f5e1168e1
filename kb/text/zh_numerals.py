"""Numbers in Chinese characters, as spreadsheets write them for [DBNum1] and [DBNum2]."""

from __future__ import annotations

from typing import Final

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
