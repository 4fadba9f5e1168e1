"""The parts of a Word document, by role rather than by file name."""

from __future__ import annotations

from pathlib import Path
from typing import Any, final

from kb.errors import Refused
from kb.messages import tr
from kb.parsers.xml.ooxml import OoxmlPackage


@final
class Package(OoxmlPackage):
    """An open .docx; `warnings` names the parts that could not be read."""

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(path, name)
        self.warnings: list[str] = []
        self._main = self.main()

    def document(self) -> Any:
        """Root of the document part. Raises Refused when it is broken."""
        return self.root(self._main)

    def part(self, role: str) -> Any | None:
        """Root of the part that the document names as `styles`, `footnotes`, … or None."""
        return next(iter(self.parts(role).values()), None)

    def parts(self, role: str) -> dict[str, Any]:
        """Roots of all readable parts of one role, by relation id; the others give a warning."""
        found = ((ref, self._optional(target)) for ref, target in self._targets(role).items())
        return {ref: root for ref, root in found if root is not None}

    def related(self, role: str, ref: str) -> Any | None:
        """Root of the part that the document names by relation `ref`, None when unreadable."""
        target = self._targets(role).get(ref)
        return self._optional(target) if target else None

    def _targets(self, role: str) -> dict[str, str]:
        """Part names by relation id, of the document's relations of that role."""
        return {r.id: r.target for r in self.relations(self._main) if r.role == role}

    def _optional(self, target: str) -> Any | None:
        try:
            return self.root(target)
        except Refused:
            self.warnings.append(tr("parse.warn_part", part=target[:100]))
            return None
