"""Sections of a Word document: how each starts, and the headers and footers of its pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from kb.parsers.word.package import Package
from kb.parsers.xml.nodes import child, local, value

Role = Literal["header", "footer"]
Which = Literal["default", "first", "even"]


@dataclass(frozen=True, slots=True)
class Section:
    """One section. `margins` are relation ids; what it does not name goes on from the one before.

    `starts_page` says how it begins, `titled` that its first page has headers of its own.
    """

    starts_page: bool = True
    titled: bool = False
    margins: dict[tuple[Role, str], str] = field(default_factory=dict)


class Sections:
    """All sections, in order; without any there is one that says nothing."""

    def __init__(self, root: Any, package: Package) -> None:
        self._list: list[Section] = []
        for element in root.iter():
            if local(element) == "sectPr" and local(element.getparent()) != "sectPrChange":
                before = self._list[-1].margins if self._list else {}
                self._list.append(_section(element, before))
        if not self._list:
            self._list.append(Section())
        settings = package.part("settings")
        self._facing = _is_on(child(settings, "evenAndOddHeaders"))

    def __getitem__(self, index: int) -> Section:
        """The section of that 0-based number; what is beyond is like the last."""
        return self._list[min(index, len(self._list) - 1)]

    def part(self, role: Role, index: int, number: int, *, first: bool) -> str:
        """Relation id of the header or footer of page `number` (from 1), empty without one.

        `first`: it is the first page of the section.
        """
        section = self[index]
        which: Which = "default"
        if first and section.titled:
            which = "first"
        elif self._facing and number % 2 == 0:
            which = "even"
        return section.margins.get((role, which), "")


def _section(element: Any, before: dict[tuple[Role, str], str]) -> Section:
    own: dict[tuple[Role, str], str] = {}
    roles: dict[str, Role] = {"headerReference": "header", "footerReference": "footer"}
    for item in element:
        role = roles.get(local(item))
        if role:
            own[role, value(item, "type") or "default"] = value(item, "id")
    start = value(child(element, "type"), "val")
    return Section(
        starts_page=start not in {"continuous", "nextColumn"},
        titled=_is_on(child(element, "titlePg")),
        margins={**before, **own},
    )


def _is_on(element: Any | None) -> bool:
    return element is not None and value(element, "val") not in {"0", "false", "off"}
