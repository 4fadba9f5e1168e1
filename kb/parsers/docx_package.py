"""The parts of an OOXML package, by role rather than by file name."""

from __future__ import annotations

import posixpath
import zipfile
from pathlib import Path
from types import TracebackType
from typing import Any, final

from kb.errors import Refused
from kb.messages import tr
from kb.parsers.checks import damaged
from kb.parsers.xml_parts import BROKEN_ZIP, read_root


@final
class Package:
    """An open .docx. Parts are found through relations, whose types end alike in all editions."""

    def __init__(self, path: Path, name: str) -> None:
        self._name = name
        self.warnings: list[str] = []
        try:
            self._zip = zipfile.ZipFile(path)
        except BROKEN_ZIP as error:
            raise damaged(name, tr("parse.reason_zip")) from error
        self._names = {info.filename.lower(): info.filename for info in self._zip.infolist()}
        self._main_path = next(iter(self._targets("", "officeDocument").values()), "")

    def __enter__(self) -> Package:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._zip.close()

    def main(self) -> Any:
        """Root of the document part. Raises Refused when it is missing or broken."""
        root = self._root(self._main_path)
        if root is None:
            part = self._main_path or "word/document.xml"
            raise damaged(self._name, tr("parse.reason_part", part=part))
        return root

    def part(self, role: str) -> Any | None:
        """Root of the part that the document names as `styles`, `footnotes`, … or None."""
        return next(iter(self.parts(role).values()), None)

    def parts(self, role: str) -> dict[str, Any]:
        """Roots of all readable parts of one role, by relation id; the others give a warning."""
        result = {}
        for ref, target in self._targets(self._main_path, role).items():
            root = self._optional(target)
            if root is not None:
                result[ref] = root
        return result

    def related(self, role: str, ref: str) -> Any | None:
        """Root of the part that the document names by relation `ref`, None when unreadable."""
        target = self._targets(self._main_path, role).get(ref)
        return self._optional(target) if target else None

    def _optional(self, target: str) -> Any | None:
        try:
            root = self._root(target)
        except Refused:
            root = None
        if root is None:
            self.warnings.append(tr("parse.warn_part", part=target[:100]))
        return root

    def _targets(self, source: str, role: str) -> dict[str, str]:
        """Part names by relation id, for the relations of `source` whose type ends in `role`."""
        folder, base = posixpath.split(source)
        relations = self._root(posixpath.join(folder, "_rels", f"{base}.rels"))
        found = {}
        for relation in relations if relations is not None else ():
            if not isinstance(relation.tag, str) or relation.get("TargetMode") == "External":
                continue
            if relation.get("Type", "").rsplit("/", 1)[-1] == role:
                target = posixpath.join("/", folder, relation.get("Target", ""))
                found[relation.get("Id", "")] = posixpath.normpath(target).lstrip("/")
        return found

    def _root(self, part: str) -> Any | None:
        """The parsed part, None when there is none. Raises Refused when it is not valid XML."""
        member = self._names.get(part.lower())
        if member is None:
            return None
        return read_root(self._zip, member, self._name)
