"""Automatic numbers of Word paragraphs, which stand in no text run. Pure apart from its XML input.

Rules: ECMA-376-1, 17.9. Counts belong to the abstract list, so lists that share one count on; a
`startOverride` begins anew when its list is first used. What a level counts starts again after any
higher level, unless `lvlRestart` names another one or none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from kb.parsers.word.styles import Styles
from kb.parsers.xml.nodes import child, local, value
from kb.text.numerals import in_chinese, in_digits

_LEVELS: Final = 9
_MOST: Final = 32_767
"""Word's own limit of a count."""
_PLACE: Final = re.compile(r"%([1-9])")
_SYMBOL: Final = re.compile("[\\ue000-\\uf8ff]|[A-Za-z§¨·\u00d8\u00fc]")
"""A bullet written as a letter of a symbol font."""
_ROMAN: Final = (
    *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L")),
    *((40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
)
_CIRCLED: Final = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳㉑㉒㉓㉔㉕㉖㉗㉘㉙㉚㉛㉜㉝㉞㉟㊱㊲㊳㊴㊵㊶㊷㊸㊹㊺㊻㊼㊽㊾㊿"
_STEMS: Final = "甲乙丙丁戊己庚辛壬癸"
_BRANCHES: Final = "子丑寅卯辰巳午未申酉戌亥"
_TABLES: Final = {
    "decimalEnclosedCircle": _CIRCLED,
    "decimalEnclosedCircleChinese": _CIRCLED,
    "decimalEnclosedParen": "⑴⑵⑶⑷⑸⑹⑺⑻⑼⑽⑾⑿⒀⒁⒂⒃⒄⒅⒆⒇",
    "decimalEnclosedFullstop": "⒈⒉⒊⒋⒌⒍⒎⒏⒐⒑⒒⒓⒔⒕⒖⒗⒘⒙⒚⒛",
    "ideographEnclosedCircle": "㊀㊁㊂㊃㊄㊅㊆㊇㊈㊉",
    "ideographTraditional": _STEMS,
    "ideographZodiac": _BRANCHES,
    "ideographZodiacTraditional": [_STEMS[i % 10] + _BRANCHES[i % 12] for i in range(60)],
    "aiueo": (
        "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホ"
        "マミムメモヤユヨラリルレロワヲン"
    ),
    "iroha": (
        "イロハニホヘトチリヌルヲワカヨタレソツネナラム"
        "ウヰノオクヤマケフコエテアサキユメミシヱヒモセスン"
    ),
    "russianLower": "абвгдежзиклмнопрстуфхцчшщыэюя",
    "russianUpper": "АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЫЭЮЯ",
}
"""Formats that are a list of signs; what is beyond its end is written in digits."""


def number_text(count: int, form: str) -> str:
    """`count` as the number format `form` (ST_NumberFormat) writes it; digits where it cannot."""
    if form in _TABLES:
        signs = _TABLES[form]
        return signs[count - 1] if 0 < count <= len(signs) else str(count)
    writer = _WRITERS.get(form)
    return writer(count) if writer and count >= 0 else str(count)


def _roman(count: int) -> str:
    if not 0 < count < 5000:  # noqa: PLR2004 - Roman numerals end here
        return str(count)
    out = ""
    for size, sign in _ROMAN:
        out += sign * (count // size)
        count %= size
    return out


def _letters(count: int) -> str:
    """A … Z, AA, BB … as Word counts, up to its thirty letters."""
    repeat, place = divmod(count - 1, 26)
    return chr(ord("A") + place) * (repeat + 1) if 0 < count <= 26 * 30 else str(count)


def _counting(count: int) -> str:
    """Chinese: in words below a hundred, by digits above (一百 is 一〇〇)."""
    return _thousand(count) if count < 100 else in_digits(str(count), formal=False)  # noqa: PLR2004


def _thousand(count: int) -> str:
    return in_chinese(str(count), formal=False).replace("〇", "零") if count else "〇"


def _japanese(count: int) -> str:
    """No 一 before 十, 百 and 千, and no zero: 百一."""
    return re.sub("一(?=[十百千])", "", _thousand(count).replace("零", "")) if count else "〇"


def _ordinal(count: int) -> str:
    teen = count // 10 % 10 == 1
    return f"{count}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(count % 10, 'th')}"


def _full_width(count: int) -> str:
    return "".join(chr(ord(digit) + 0xFEE0) for digit in str(count))


_WRITERS: Final[dict[str, Callable[[int], str]]] = {
    "none": lambda _count: "",
    "decimalZero": "{:02}".format,
    "upperRoman": _roman,
    "lowerRoman": lambda count: _roman(count).lower(),
    "upperLetter": _letters,
    "lowerLetter": lambda count: _letters(count).lower(),
    "ordinal": _ordinal,
    "numberInDash": "- {} -".format,
    "hex": "{:X}".format,
    "decimalFullWidth": _full_width,
    "decimalFullWidth2": _full_width,
    "ideographDigital": lambda count: in_digits(str(count), formal=False),
    "japaneseDigitalTenThousand": lambda count: in_digits(str(count), formal=False),
    "taiwaneseDigital": lambda count: in_digits(str(count), formal=False),
    "chineseCounting": _counting,
    "taiwaneseCounting": _counting,
    "chineseCountingThousand": _thousand,
    "taiwaneseCountingThousand": _thousand,
    "japaneseCounting": _japanese,
    "chineseLegalSimplified": lambda count: in_chinese(str(count), formal=True),
    "ideographLegalTraditional": lambda count: in_chinese(str(count), formal=True),
}


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a list. `restart`: the level (from 1) after which it starts again, 0: none."""

    start: int = 1
    form: str = "decimal"
    text: str = ""
    suffix: str = " "
    restart: int | None = None
    legal: bool = False
    digits: int = 0
    style: str = ""


@dataclass(slots=True)
class _List:
    """A list that paragraphs name: whose counts it shares, its levels, where it begins anew."""

    counts: str
    levels: list[Level]
    anew: dict[int, int] = field(default_factory=dict)


class Numbering:
    """The numbering part of a document, or none."""

    def __init__(self, root: Any | None, styles: Styles) -> None:
        self._styles = styles
        parts = list(root) if root is not None else []
        self._abstract = {value(p, "abstractNumId"): p for p in parts if local(p) == "abstractNum"}
        nums = [(value(part, "numId"), part) for part in parts if local(part) == "num"]
        self._nums = dict(nums)
        self._lists = {num_id: self._list(num) for num_id, num in nums}

    def counters(self) -> Counters:
        """A fresh count, for one story: the body, a header, a note."""
        return Counters(self._lists)

    def place(self, properties: Any | None) -> tuple[str, int] | None:
        """List and level (from 0) of a paragraph, by itself or its style; None without a number."""
        own = child(properties, "numPr")
        style, inherited = self._styles.numbering(properties)
        num_id = value(child(own, "numId"), "val") or value(child(inherited, "numId"), "val")
        found = self._lists.get(num_id)
        if found is None:
            return None
        level = value(child(own, "ilvl"), "val")
        if not level:
            linked = (i for i, item in enumerate(found.levels) if style and item.style == style)
            level = str(next(linked, value(child(inherited, "ilvl"), "val") or 0))
        return num_id, min(_integer(level, 0), _LEVELS - 1)

    def _list(self, num: Any) -> _List:
        abstract_id = self._resolved(value(child(num, "abstractNumId"), "val"))
        levels = _levels(self._abstract.get(abstract_id))
        anew: dict[int, int] = {}
        for override in num:
            at = _integer(value(override, "ilvl"), _LEVELS)
            if local(override) != "lvlOverride" or at >= _LEVELS:
                continue
            own, start = child(override, "lvl"), child(override, "startOverride")
            if own is not None:
                levels[at] = _level(own)
            if start is not None:
                anew[at] = _integer(value(start, "val"), 0)
        return _List(abstract_id, levels, anew)

    def _resolved(self, abstract_id: str) -> str:
        """The abstract list itself, through one that only names a numbering style."""
        link = value(child(self._abstract.get(abstract_id), "numStyleLink"), "val")
        num = self._nums.get(self._styles.list_of(link)) if link else None
        return abstract_id if num is None else value(child(num, "abstractNumId"), "val")


class Counters:
    """Counts the paragraphs of one story, in order."""

    def __init__(self, lists: dict[str, _List]) -> None:
        self._lists = lists
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[tuple[str, int]] = set()

    def label(self, place: tuple[str, int]) -> str:
        """The number of the next paragraph at `place`, with the space that follows it."""
        num_id, at = place
        found = self._lists[num_id]
        counts = self._counts.setdefault(found.counts, {})
        for above in range(at):  # a level that is passed over counts as begun, as in Word
            if above not in counts:
                counts[above] = self._next(num_id, above, counts)
        counts[at] = self._next(num_id, at, counts)
        for deeper in [level for level in counts if level > at]:
            restart = found.levels[deeper].restart
            if restart is None or at < restart:
                del counts[deeper]
        text = _rendered(found.levels, at, counts)
        return text + found.levels[at].suffix if text else ""

    def _next(self, num_id: str, at: int, counts: dict[int, int]) -> int:
        found = self._lists[num_id]
        if at in found.anew and (num_id, at) not in self._begun:
            self._begun.add((num_id, at))
            return found.anew[at]
        return min(counts[at] + 1, _MOST) if at in counts else found.levels[at].start


def _rendered(levels: list[Level], at: int, counts: dict[int, int]) -> str:
    own = levels[at]
    if own.form == "bullet":
        return "•" if _SYMBOL.fullmatch(own.text) else own.text

    def one(match: re.Match[str]) -> str:
        level = levels[int(match.group(1)) - 1]
        count = counts.get(int(match.group(1)) - 1, level.start)
        if own.legal:
            return str(count)
        return f"{count:0{level.digits}}" if level.digits else number_text(count, level.form)

    return _PLACE.sub(one, own.text)


def _levels(abstract: Any | None) -> list[Level]:
    levels = [Level() for _ in range(_LEVELS)]
    for element in abstract if abstract is not None else ():
        at = _integer(value(element, "ilvl"), _LEVELS)
        if local(element) == "lvl" and at < _LEVELS:
            levels[at] = _level(element)
    return levels


def _level(element: Any) -> Level:
    suffix = value(child(element, "suff"), "val")
    restart = value(child(element, "lvlRestart"), "val")
    legal = child(element, "isLgl")
    level = Level(
        start=_integer(value(child(element, "start"), "val"), 0),
        text=value(child(element, "lvlText"), "val"),
        suffix="" if suffix == "nothing" else " ",
        restart=_integer(restart, 0) if restart else None,
        legal=legal is not None and value(legal, "val") not in {"0", "false", "off"},
        style=value(child(element, "pStyle"), "val"),
    )
    for form in _forms(element):
        digits = re.match(r"0+(?=1\b)", value(form, "format"))
        width = len(digits.group()) + 1 if digits else 0
        return replace(level, form=value(form, "val"), digits=width)
    return level


def _forms(level: Any) -> Iterator[Any]:
    """The number format of a level; a custom one hides in alternate content."""
    for element in level:
        if local(element) == "numFmt":
            yield element
        elif local(element) == "AlternateContent":
            yield from (
                one for one in [child(child(element, "Choice"), "numFmt")] if one is not None
            )


def _integer(text: str, default: int) -> int:
    return min(int(text), _MOST) if text.isascii() and text.isdigit() else default
