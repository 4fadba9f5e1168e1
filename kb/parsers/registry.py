"""Which parser reads which file name.

A format is one module in this package with a `SPEC`; nothing else has to be told about it. Heavy
libraries are imported inside the parse functions only, so looking a parser up costs no import.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, Literal

from kb import parsers
from kb.errors import Refused
from kb.messages import tr
from kb.model import Parsed

if TYPE_CHECKING:
    from kb.model import Drawing

Magic = Literal["pdf", "zip", "text", "xls", "image", "doc"]

_SAVE_AS: Final = {
    ".pages": ".docx",
    ".caj": ".pdf",
    ".xps": ".pdf",
    ".ps": ".pdf",
    ".mobi": ".epub",
    ".azw3": ".epub",
    ".mht": ".html",
    ".mhtml": ".html",
    ".msg": ".eml",
    ".ppt": ".pptx",
    ".dps": ".pptx",
    ".et": ".xlsx",
    ".xlsb": ".xlsx",
    ".numbers": ".xlsx",
    ".key": ".pptx",
    ".odg": ".pdf",
}
"""What a person can make of a format that nothing here reads."""


@dataclass(frozen=True, slots=True)
class ParserSpec:
    """One format.

    `suffixes` are lower case with their dot. `magic` says which check of the first bytes applies
    (`kb.sandbox.checks`); a zip format names itself in `zip_kind`. `parse(path, name)` runs in the
    sandbox's child and may raise any KbError. `preload` names the modules worth importing once,
    before the child is forked. `can_ocr` says that it reads images of pages
    (`kb.parsers.scans.ocr`). `draw(path, name, page)` gives one page as it is seen, None for an
    empty one; like `parse` it runs in the child. Without it people are shown text.
    Raise `revision` when the same bytes would give other pages.
    """

    name: str
    revision: int
    suffixes: tuple[str, ...]
    media_type: str
    magic: Magic
    parse: Callable[[Path, str], Parsed]
    zip_kind: str = ""
    preload: tuple[str, ...] = ()
    can_ocr: bool = False
    draw: Callable[[Path, str, int], Drawing | None] | None = None

    @property
    def id(self) -> str:
        """`name/revision`, as it is stored with a document."""
        return f"{self.name}/{self.revision}"


class Registry:
    """The parsers of this package, then those of `extra` modules (dotted names with a `SPEC`)."""

    def __init__(self, extra: Sequence[str] = ()) -> None:
        self.specs = tuple(_discover(extra))
        self._by_suffix = {suffix: spec for spec in self.specs for suffix in spec.suffixes}

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Every suffix that can be read, sorted."""
        return tuple(sorted(self._by_suffix))

    def spec(self, name: str) -> ParserSpec:
        """The parser of a document called `name`. Raises Refused when there is none."""
        suffix = suffix_of(name)
        found = self._by_suffix.get(suffix)
        if found is None:
            raise Refused(tr("parse.unknown_suffix", name=name), self._hint(suffix))
        return found

    def _hint(self, suffix: str) -> str:
        valid = " ".join(self.suffixes)
        if suffix == ".zim":
            return tr("web.zim_hint", suffixes=valid)
        better = _SAVE_AS.get(suffix)
        if better is None:
            return tr("parse.valid_suffixes", suffixes=valid)
        return tr("parse.save_as", suffix=better, suffixes=valid)


def suffix_of(name: str) -> str:
    """The last suffix of a document name, lower case with its dot, or an empty string."""
    return PurePosixPath(name.replace("\\", "/").strip()).suffix.lower()


def _discover(extra: Sequence[str]) -> Iterator[ParserSpec]:
    own = (info.name for info in pkgutil.walk_packages(parsers.__path__, f"{parsers.__name__}."))
    for module in (*sorted(own), *extra):
        spec = getattr(importlib.import_module(module), "SPEC", None)
        if isinstance(spec, ParserSpec):
            yield spec
