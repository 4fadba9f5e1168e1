"""Cell values as a spreadsheet shows them: the number formats of ECMA-376 part 1, 18.8.31.

Bounded: a code is read up to 255 characters, the most that Excel takes, and what is not understood
shows the plain value. Dates are in `date_format`. Three things differ from Excel on purpose. A
whole number in General shows all its digits, for it may be an identity. The short date of the
reader's system (formats 14 and 22) is written year first. Fill and alignment characters are left
out.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

from kb.parsers.sheets import date_format
from kb.text.numerals import in_chinese, in_digits

GENERAL: Final = "General"
MOST_CODE: Final = 255
_MOST_DECIMALS: Final = 30
_GENERAL_DIGITS: Final = 10
_EXACT: Final = 15
"""Significant digits that a spreadsheet keeps."""
_MOST_WHOLE: Final = 1e21
_CONTEXT: Final = Context(prec=400, rounding=ROUND_HALF_UP)

BUILTIN: Final = {
    0: GENERAL,
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    **dict.fromkeys((5, 6, 37, 38), "#,##0;-#,##0"),
    **dict.fromkeys((7, 8, 39, 40), "#,##0.00;-#,##0.00"),
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    12: "# ?/?",
    13: "# ??/??",
    14: "yyyy/m/d",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: "yyyy/m/d h:mm",
    **dict.fromkeys((27, 36, 50, 52, 57), 'yyyy"年"m"月"'),
    **dict.fromkeys((28, 29, 51, 53, 54, 58), 'm"月"d"日"'),
    30: "m-d-yy",
    31: 'yyyy"年"m"月"d"日"',
    32: 'h"时"mm"分"',
    33: 'h"时"mm"分"ss"秒"',
    **dict.fromkeys((34, 55), '上午/下午h"时"mm"分"'),
    **dict.fromkeys((35, 56), '上午/下午h"时"mm"分"ss"秒"'),
    **dict.fromkeys((41, 42), "#,##0;-#,##0;-"),
    **dict.fromkeys((43, 44), "#,##0.00;-#,##0.00;-"),
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    48: "##0.0E+0",
    49: "@",
}
"""Formats by their number; 27-36 and 50-58 as Chinese Excel has them."""

_TOKEN: Final = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.?)|_(?P<blank>.?)|\*(?P<fill>.?)'
    r"|\[(?P<bracket>[^\]]*)\]?|(?P<section>;)"
    r"|(?P<general>General|G/通用格式)|(?P<half>AM/PM|A/P|上午/下午)|(?P<exponent>E[+-])"
    r"|(?P<date>y+|m+|d+|h+|s+(?:\.0+)?|e+|g+|b+|a{3,4})"
    r"|(?P<digit>[0#?])|(?P<point>\.)|(?P<comma>,)|(?P<percent>%)|(?P<slash>/)|(?P<text>@)"
    r"|(?P<literal>.)",
    re.IGNORECASE | re.DOTALL,
)
_LITERALS: Final = frozenset({"quoted", "escaped", "literal"})
_CONDITION: Final = re.compile(r"\s*(<=|>=|<>|<|>|=)\s*(-?[0-9]+(?:\.[0-9]+)?)\s*")
_OPERATORS: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "<>": operator.ne,
}
_CURRENCY: Final = re.compile(r"\$([^-]*)(?:-([0-9A-Fa-f]+))?")
_ELAPSED: Final = re.compile("h+|m+|s+", re.IGNORECASE)
_SYSTEM: Final = {"F800": 'yyyy"年"m"月"d"日"', "F400": "h:mm:ss"}
"""The long date and the time of the reader's system."""


class Token(NamedTuple):
    """A piece of a format: its kind is the group of `_TOKEN` that it matched."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class _Section:
    """One of the parts of a code that semicolons divide."""

    tokens: tuple[Token, ...]
    condition: tuple[str, float] | None = None
    chinese: int = 0
    locale: int = 0

    def has(self, *kinds: str) -> bool:
        return any(token.kind in kinds for token in self.tokens)


def shown_number(value: float, code: str, *, from_1904: bool = False) -> str:
    """`value` as a cell with that format code shows it, without padding."""
    if not math.isfinite(value):
        return str(value)
    sections = _sections(code)
    section, magnitude, sign = _chosen(sections, value)
    if section.has("date", "half", "elapsed"):
        serial = magnitude if sign == "" else -magnitude
        moment = date_format.shown(
            serial, section.tokens, section.locale, section.chinese, from_1904=from_1904
        )
        return general(value) if moment is None else moment.strip()
    return (sign + _number(magnitude, section)).strip()


def shown_text(text: str, code: str) -> str:
    """`text` as a cell with that format shows it: through the section with an `@`, if any."""
    section = _sections(code)[-1]
    if not section.has("text"):
        return text
    return "".join(text if kind == "text" else literal for kind, literal in section.tokens)


def is_date(code: str) -> bool:
    """Whether the format shows a point in time."""
    return _sections(code)[0].has("date", "half", "elapsed")


def general(value: float) -> str:
    """`value` without a format: whole numbers in full, others to ten significant digits."""
    if value == int(value) and abs(value) < _MOST_WHOLE:
        return str(int(value))
    text = f"{value:.{_GENERAL_DIGITS}g}"
    mantissa, _, exponent = text.partition("e")
    if not exponent:
        return text
    return f"{mantissa}E{exponent[0]}{exponent[1:].lstrip('0').zfill(2)}"


# -- reading a code --------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _sections(code: str) -> tuple[_Section, ...]:
    """The sections of a code, at least one."""
    parts: list[list[Token]] = [[]]
    for match in _TOKEN.finditer(code[:MOST_CODE]):
        kind = match.lastgroup or "literal"
        if kind == "section":
            parts.append([])
        elif kind not in {"blank", "fill"}:
            parts[-1].append(Token(kind, match.group(kind)))
    return tuple(_section(part) for part in parts)


def _section(tokens: Sequence[Token]) -> _Section:
    """A section with its brackets understood; colours and what is unknown are left out."""
    condition, chinese, locale = None, 0, 0
    kept: list[Token] = []
    for token in tokens:
        if token.kind != "bracket":
            kept.append(Token("literal", token.text) if token.kind in _LITERALS else token)
            continue
        limit = _CONDITION.fullmatch(token.text)
        currency = _CURRENCY.fullmatch(token.text)
        if limit:
            condition = (limit.group(1), float(limit.group(2)))
        elif currency:
            tag = (currency.group(2) or "").upper()
            if tag in _SYSTEM:
                return _sections(_SYSTEM[tag])[0]
            kept.append(Token("literal", currency.group(1)))
            locale = int(tag or "0", 16)
        elif _ELAPSED.fullmatch(token.text):
            kept.append(Token("elapsed", token.text.lower()))
        elif re.fullmatch("dbnum[12]", token.text, re.IGNORECASE):
            chinese = int(token.text[-1])
    return _Section(tuple(kept), condition, chinese, locale)


def _chosen(sections: Sequence[_Section], value: float) -> tuple[_Section, float, str]:
    """The section for `value`, the value to show in it, and the sign to write before it."""
    sign = "-" if value < 0 else ""
    numeric = [s for s in sections[:3] if not s.has("text")] or [_Section((Token("general", ""),))]
    if any(section.condition for section in numeric):
        return _by_condition(numeric, value), abs(value), sign
    if value < 0 and len(numeric) > 1:
        return numeric[1], abs(value), ""
    if value == 0 and len(numeric) > 2:  # noqa: PLR2004 - positive; negative; zero
        return numeric[2], 0.0, ""
    return numeric[0], abs(value), sign


def _by_condition(sections: Sequence[_Section], value: float) -> _Section:
    for section in sections:
        if section.condition is None:
            return section
        name, limit = section.condition
        if _OPERATORS[name](value, limit):
            return section
    return _Section((Token("general", ""),))


# -- numbers -----------------------------------------------------------------------------------


def _number(value: float, section: _Section) -> str:
    """A value that is not negative, by its section."""
    tokens = section.tokens
    if section.has("general"):
        plain = _in_script(general(value), section, digits_only=False)
        return "".join(plain if kind == "general" else text for kind, text in tokens)
    if not section.has("digit"):
        return "".join(text for _, text in tokens)
    if section.has("exponent"):
        return _scientific(value, tokens)
    if section.has("slash") and not section.has("point"):
        return _fraction(value, tokens)
    return _in_script(_decimal(_exact(value), tokens), section, digits_only=True)


def _in_script(text: str, section: _Section, *, digits_only: bool) -> str:
    """`text` in Chinese numerals when the section asks for them ([DBNum1], [DBNum2])."""
    if not section.chinese:
        return text
    formal = section.chinese == 2  # noqa: PLR2004 - [DBNum2]: 壹贰叁
    return in_digits(text, formal=formal) if digits_only else in_chinese(text, formal=formal)


def _exact(value: float) -> Decimal:
    """The decimal number that the spreadsheet holds, without the tail of its binary form."""
    return Decimal(f"{value:.{_EXACT}g}")


def _decimal(value: Decimal, tokens: Sequence[Token]) -> str:
    """Digits laid into the placeholders of `0 # ?`, with grouping, percent and scaling."""
    point = next((i for i, token in enumerate(tokens) if token.kind == "point"), len(tokens))
    whole, rest = list(tokens[:point]), tokens[point:]
    value *= 100 ** sum(token.kind == "percent" for token in tokens)
    value /= 1000 ** _scale(whole, rest)
    decimals = min(sum(token.kind == "digit" for token in rest), _MOST_DECIMALS)
    text = f"{_rounded(value, decimals):f}"
    integer, _, fraction = text.partition(".")
    return _whole(integer.lstrip("0"), whole) + _after_point(fraction, rest)


def _rounded(value: Decimal, decimals: int) -> Decimal:
    """Half away from zero, as spreadsheets do."""
    return value.quantize(Decimal(1).scaleb(-decimals), context=_CONTEXT)


def _scale(whole: Sequence[Token], rest: Sequence[Token]) -> int:
    """How many thousands the commas after the last digit divide by."""
    count = 0
    for part in (whole, rest):
        kinds = [token.kind for token in part if token.kind in {"digit", "comma"}]
        while kinds and kinds[-1] == "comma":
            count += 1
            kinds.pop()
    return count


def _whole(digits: str, tokens: Sequence[Token]) -> str:
    """The part before the point, filled from the right; the first place takes what is left."""
    places = [i for i, token in enumerate(tokens) if token.kind == "digit"]
    grouped = any(
        token.kind == "comma" and places and places[0] < i < places[-1]
        for i, token in enumerate(tokens)
    )
    out: list[str] = []
    written = 0
    for i in range(len(tokens) - 1, -1, -1):
        kind, text = tokens[i]
        if kind != "digit":
            out.append("" if kind == "comma" else text)
            continue
        take = len(digits) if i == places[0] else 1
        run, digits = digits[len(digits) - take :] if digits else "", digits[: len(digits) - take]
        run = run or ("0" if text == "0" else "")
        for char in reversed(run):
            if grouped and written and written % 3 == 0:
                out.append(",")
            out.append(char)
            written += 1
    return "".join(reversed(out))


def _after_point(digits: str, tokens: Sequence[Token]) -> str:
    """The point and what follows: `#` and `?` show no zero at the end."""
    places = sum(token.kind == "digit" for token in tokens)
    optional = 0
    for token in reversed([token for token in tokens if token.kind == "digit"]):
        if token.text == "0" or digits[places - optional - 1 : places - optional] != "0":
            break
        optional += 1
    left = list(digits[: max(places - optional, 0)])
    out = []
    for kind, text in tokens:
        if kind == "digit":
            out.append(left.pop(0) if left else "")
        elif kind != "comma":
            out.append(text)
    return "".join(out)


def _scientific(value: float, tokens: Sequence[Token]) -> str:
    """`0.00E+00`; a mantissa of several places steps the exponent by as many."""
    at = next(i for i, token in enumerate(tokens) if token.kind == "exponent")
    mantissa, tail = tokens[:at], tokens[at + 1 :]
    point = next((i for i, token in enumerate(mantissa) if token.kind == "point"), at)
    step = max(sum(token.kind == "digit" for token in mantissa[:point]), 1)
    decimals = sum(token.kind == "digit" for token in mantissa[point:])
    number = _exact(value)
    power = _power(number, step)
    scaled = _rounded(number.scaleb(-power), decimals)
    if scaled >= 10**step:
        power += step
    places = [token for token in tail if token.kind == "digit"]
    written = str(abs(power)).zfill(len([token for token in places if token.text == "0"]))
    sign = "-" if power < 0 else "+" * (tokens[at].text[-1] == "+")
    rest = "".join(token.text for token in tail if token.kind == "literal")
    return f"{_decimal(number.scaleb(-power), mantissa)}E{sign}{written}{rest}"


def _power(number: Decimal, step: int) -> int:
    return 0 if not number else number.adjusted() // step * step


def _fraction(value: float, tokens: Sequence[Token]) -> str:
    """`# ?/?`: the nearest fraction with so many digits below, or over a fixed number."""
    at = next(i for i, token in enumerate(tokens) if token.kind == "slash")
    below = "".join(token.text for token in tokens[at + 1 :]).strip()
    limit = 10 ** min(len(below), 4) - 1
    exact = Fraction(value)
    if re.fullmatch("[1-9][0-9]{0,3}", below):
        part = round(exact * int(below))
        top, bottom = part, int(below)
    else:
        near = exact.limit_denominator(max(limit, 1))
        top, bottom = near.numerator, near.denominator
    mixed = any(token.kind == "literal" and token.text == " " for token in tokens[:at])
    whole, top = divmod(top, bottom) if mixed else (0, top)
    if not top:
        return str(whole)
    return f"{whole} {top}/{bottom}" if whole else f"{top}/{bottom}"
