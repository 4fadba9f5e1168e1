"""Points in time and durations as a spreadsheet shows them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from kb.text.numerals import in_chinese, in_digits

_DAY: Final = 86_400
_EPOCH: Final = dt.datetime(1899, 12, 30)  # noqa: DTZ001 - cells know no time zone
_EPOCH_1904: Final = dt.datetime(1904, 1, 1)  # noqa: DTZ001 - same
_BEFORE_LEAP: Final = 60
"""1900 had no 29 February, but serial 60 is one; earlier serials count from a day later."""
_LAST: Final = 2_958_466
"""The day after 9999-12-31."""
_MONTHS: Final = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_DAYS: Final = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()  # noqa: SIM905
_ZH_DAYS: Final = "一二三四五六日"
_ZH_MONTHS: Final = ("一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")
_LANGUAGE: Final = 0x3FF
_CHINESE: Final = 0x04
_JAPANESE: Final = 0x11
_FULL: Final = 4


class _Token(Protocol):
    @property
    def kind(self) -> str: ...
    @property
    def text(self) -> str: ...


def shown(
    serial: float, tokens: Sequence[_Token], locale: int, chinese: int, *, from_1904: bool
) -> str | None:
    """`serial` days by the tokens of a date format, None when it is no date.

    `locale` is a Windows language id, `chinese` 1 or 2 for [DBNum1] and [DBNum2].
    """
    parts = _settle_minutes(tokens)
    decimals = max((len(text.partition(".")[2]) for _, text in parts), default=0)
    seconds = round(serial * _DAY, min(decimals, 3))
    moment = _moment(seconds, from_1904=from_1904)
    if moment is None:
        return None
    halves = any(kind == "half" for kind, _ in parts)
    view = _View(moment, seconds, locale, chinese, halves=halves)
    return "".join(view.part(kind, text) for kind, text in parts)


def _moment(seconds: float, *, from_1904: bool) -> dt.datetime | None:
    if seconds < 0 or seconds >= _LAST * _DAY:
        return None
    if from_1904:
        return _added(_EPOCH_1904, seconds)
    early = 1 <= seconds / _DAY < _BEFORE_LEAP
    return _added(_EPOCH, seconds + _DAY * early)


def _added(epoch: dt.datetime, seconds: float) -> dt.datetime | None:
    try:
        return epoch + dt.timedelta(seconds=seconds)
    except OverflowError:
        return None


def _settle_minutes(tokens: Sequence[_Token]) -> list[tuple[str, str]]:
    """Kind and text of each token; m and mm are minutes after hours and before seconds."""
    parts = [(token.kind, token.text.lower() if token.kind == "date" else token.text)
             for token in tokens]  # fmt: skip
    times = [i for i, (kind, _) in enumerate(parts) if kind in {"date", "elapsed"}]
    for place, i in enumerate(times):
        if parts[i][1] not in {"m", "mm"} or parts[i][0] != "date":
            continue
        before = parts[times[place - 1]][1][0] if place else ""
        after = parts[times[place + 1]][1][0] if place + 1 < len(times) else ""
        if before == "h" or after == "s":
            parts[i] = ("minute", parts[i][1])
    return parts


class _View:
    """One moment, token by token."""

    def __init__(
        self, moment: dt.datetime, seconds: float, locale: int, chinese: int, *, halves: bool
    ) -> None:
        self._moment, self._seconds = moment, seconds
        self._language = locale & _LANGUAGE
        self._chinese = chinese
        self._halves = halves

    def part(self, kind: str, text: str) -> str:
        if kind == "half":
            first, _, second = text.partition("/")
            return second if self._moment.hour >= 12 else first  # noqa: PLR2004 - noon
        if kind == "minute":
            return self._count(self._moment.minute, len(text))
        if kind == "elapsed":
            return self._elapsed(text)
        if kind == "date":
            return self._date(text)
        return text

    def _date(self, text: str) -> str:
        parts: dict[str, Callable[[str], str]] = {
            "y": self._year,
            "e": lambda _: self._digits(self._moment.year, 4),
            "m": self._month,
            "d": self._day,
            "a": self._weekday,
            "h": self._hour,
            "s": self._second,
        }
        part = parts.get(text[0])
        return part(text) if part else ""

    def _year(self, text: str) -> str:
        year = self._moment.year
        return self._digits(year, 4) if len(text) > 2 else self._digits(year % 100, 2)  # noqa: PLR2004

    def _month(self, text: str) -> str:
        month = self._moment.month
        if len(text) <= 2:  # noqa: PLR2004 - m and mm are numbers
            return self._count(month, len(text))
        if self._language == _CHINESE:
            return f"{_ZH_MONTHS[month - 1]}月"
        if self._language == _JAPANESE:
            return f"{month}月"
        name = _MONTHS[month - 1]
        return name if len(text) == _FULL else name[: 3 if len(text) < _FULL else 1]

    def _day(self, text: str) -> str:
        if len(text) <= 2:  # noqa: PLR2004 - d and dd are numbers
            return self._count(self._moment.day, len(text))
        day = self._moment.weekday()
        if self._language == _CHINESE:
            return ("星期" if len(text) >= _FULL else "周") + _ZH_DAYS[day]
        return _DAYS[day] if len(text) >= _FULL else _DAYS[day][:3]

    def _weekday(self, text: str) -> str:
        return "星期" * (len(text) == _FULL) + _ZH_DAYS[self._moment.weekday()]

    def _hour(self, text: str) -> str:
        hour = self._moment.hour
        return self._count((hour - 1) % 12 + 1 if self._halves else hour, len(text))

    def _second(self, text: str) -> str:
        places, _, decimals = text.partition(".")
        whole = self._count(self._moment.second, len(places))
        if not decimals:
            return whole
        return f"{whole}.{self._moment.microsecond:06d}"[: len(whole) + 1 + len(decimals)]

    def _elapsed(self, text: str) -> str:
        unit = {"h": 3600, "m": 60, "s": 1}[text[0]]
        return str(int(self._seconds // unit)).zfill(len(text))

    def _count(self, number: int, places: int) -> str:
        if self._chinese:
            return in_chinese(str(number), formal=self._chinese != 1)
        return str(number).zfill(min(places, 2))

    def _digits(self, number: int, places: int) -> str:
        text = str(number).zfill(places)
        return in_digits(text, formal=self._chinese != 1) if self._chinese else text
