"""Arguments of a tool call: what is accepted, and refusals that say how to call instead."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from kb.answers.render import call_text
from kb.errors import InvalidInput
from kb.messages import tr

_INTEGER: Final = re.compile(r"[+-]?\d{1,15}(?:\.0+)?")
_REQUIRED: Final = object()
_SHOWN: Final = 60


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a tool.

    `low` and `high` are the inclusive bounds of an integer, `special` one more value beside them.
    `nullable` text may be null or blank: both mean that it was not given.
    """

    name: str
    kind: Literal["text", "integer"]
    default: Any = _REQUIRED
    low: int | None = None
    high: int | None = None
    special: int | None = None
    nullable: bool = False
    example: Any = None

    @property
    def required(self) -> bool:
        """Whether a call must name it."""
        return self.default is _REQUIRED


def input_schema(tool: str, arguments: Sequence[Argument]) -> dict[str, Any]:
    """The JSON schema that clients see. Bounds are shown in it but enforced by `checked`."""
    return {
        "type": "object",
        "properties": {a.name: _argument_schema(tool, a) for a in arguments},
        "required": [a.name for a in arguments if a.required],
        "additionalProperties": False,
    }


def checked(tool: str, arguments: Sequence[Argument], given: Mapping[str, Any]) -> dict[str, Any]:
    """The values to call `tool` with, defaults filled in.

    Raises InvalidInput for an unknown, missing or meaningless argument; the hint is a valid call.
    """
    known = [a.name for a in arguments]
    for name in given:
        if name not in known:
            raise _refused(tool, arguments, given, _unknown(name, known))
    try:
        return {a.name: _value(a, given) for a in arguments}
    except InvalidInput as problem:
        raise _refused(tool, arguments, given, problem.message) from None


def near(word: str, choices: Sequence[str], limit: int = 3) -> list[str]:
    """The `choices` most similar to `word`, best first."""
    from rapidfuzz import fuzz, process, utils

    found = process.extract(
        word[:200],
        choices,
        scorer=fuzz.token_sort_ratio,
        processor=utils.default_process,
        limit=limit,
        score_cutoff=55,
    )
    return [choice for choice, _, _ in found]


def _argument_schema(tool: str, argument: Argument) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string" if argument.kind == "text" else "integer"}
    if argument.nullable:
        schema = {"anyOf": [schema, {"type": "null"}]}
    schema["description"] = tr(f"tool.{tool}.{argument.name}")
    if not argument.required:
        schema["default"] = argument.default
    if argument.low is not None:
        schema["minimum"] = argument.low if argument.special is None else argument.special
    if argument.high is not None:
        schema["maximum"] = argument.high
    return schema


def _value(argument: Argument, given: Mapping[str, Any]) -> Any:
    """The value of one argument. Raises InvalidInput that says what is wrong with it."""
    if argument.name not in given:
        if argument.required:
            raise InvalidInput(tr("tool.arg.missing", name=argument.name))
        return argument.default
    value = given[argument.name]
    if argument.kind == "integer":
        return _integer(argument, value)
    return _text(argument, value)


def _text(argument: Argument, value: Any) -> str | None:
    if argument.nullable and (value is None or value == ""):
        return None
    if not isinstance(value, str):
        raise InvalidInput(tr("tool.arg.not_text", name=argument.name, value=_shown(value)))
    if argument.required and not value.strip():
        raise InvalidInput(tr("tool.arg.blank", name=argument.name))
    return value


def _integer(argument: Argument, value: Any) -> int:
    number = _as_integer(value)
    if number is None:
        raise InvalidInput(
            tr(
                "tool.arg.not_integer",
                name=argument.name,
                value=_shown(value),
                valid=_bounds(argument),
            )
        )
    if number != argument.special and not _within(argument, number):
        shown = _shown(number)
        raise InvalidInput(
            tr("tool.arg.range", name=argument.name, value=shown, valid=_bounds(argument))
        )
    return number


def _as_integer(value: Any) -> int | None:
    """5, 5.0, "5" and "5.0" are 5. True is not 1: whoever sends it meant something else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        return int(value.strip().partition(".")[0])
    return None


def _within(argument: Argument, number: int) -> bool:
    above = argument.low is None or number >= argument.low
    return above and (argument.high is None or number <= argument.high)


def _bounds(argument: Argument) -> str:
    text = tr("tool.arg.integer")
    if argument.low is not None and argument.high is not None:
        text = tr("tool.arg.between", low=argument.low, high=argument.high)
    elif argument.low is not None:
        text = tr("tool.arg.from", low=argument.low)
    if argument.special is not None:
        text = tr("tool.arg.or", valid=text, special=argument.special)
    return text


def _unknown(name: str, known: Sequence[str]) -> str:
    guess = near(name, known, limit=1)
    key = "tool.arg.unknown_near" if guess else "tool.arg.unknown"
    return tr(key, name=_shown(name), guess=guess[0] if guess else "", known=", ".join(known))


def _refused(
    tool: str, arguments: Sequence[Argument], given: Mapping[str, Any], problem: str
) -> InvalidInput:
    """The refusal, with a call that keeps what was right."""
    values: dict[str, Any] = {}
    for argument in arguments:
        try:
            value = _value(argument, given)
        except InvalidInput:
            value = argument.example if argument.required else argument.default
        if argument.required or value != argument.default:
            values[argument.name] = value[:_SHOWN] if argument.name == "query" else value
    return InvalidInput(problem, tr("tool.arg.call", call=call_text(tool, values)))


def _shown(value: Any) -> str:
    """A value as the refusal quotes it: JSON, short."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except ValueError:  # an integer of more than 4,300 digits
        text = type(value).__name__
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
