"""An open OOXML package (.xlsx, .pptx): parts by their names, relations by how their types end.

The types of relations end alike in every edition of the standard, so strict files need no other
way.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kb.messages import tr
from kb.parsers.refusals import damaged
from kb.parsers.xml.packages import BROKEN_ZIP, ZipPackage, read_root


class Relation(NamedTuple):
    """A part that another names. `role` is how its type ends: `slide`, `notesSlide`."""

    id: str
    role: str
    target: str


class OoxmlPackage(ZipPackage):
    """An open package."""

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(path, name)
        self._names = {info.filename.lower(): info.filename for info in self.zip.infolist()}

    def main(self) -> str:
        """Name of the main part. Raises Refused when there is none."""
        target = next((r.target for r in self.relations("") if r.role == "officeDocument"), "")
        if not self.has(target):
            raise damaged(self.name, tr("parse.reason_part", part=target or "officeDocument"))
        return target

    def has(self, part: str) -> bool:
        """Whether there is a part of that name; case does not matter."""
        return part.lower() in self._names

    def root(self, part: str) -> Any:
        """The parsed part. Raises Refused when it is missing or not valid XML."""
        if not self.has(part):
            raise damaged(self.name, tr("parse.reason_part", part=part[:100]))
        return read_root(self.zip, self._names[part.lower()], self.name)

    def relations(self, part: str) -> list[Relation]:
        """What `part` names inside the package, in the file's order; nothing is external."""
        folder, base = posixpath.split(part)
        member = posixpath.join(folder, "_rels", f"{base}.rels")
        found = []
        for item in self.root(member) if self.has(member) else ():
            if isinstance(item.tag, str) and item.get("TargetMode") != "External":
                target = posixpath.join("/", folder, item.get("Target", ""))
                role = item.get("Type", "").rsplit("/", 1)[-1]
                path = posixpath.normpath(target).lstrip("/")
                found.append(Relation(item.get("Id", ""), role, path))
        return found

    def elements(self, part: str, *names: str) -> Iterator[Any]:
        """Elements of these local names, each when it is complete, then emptied.

        For parts too large to hold. Raises Refused when the part is missing, not valid XML, or
        declares a document type.
        """
        from lxml import etree  # type: ignore[import-untyped]

        if not self.has(part):
            raise damaged(self.name, tr("parse.reason_part", part=part[:100]))
        tags = [f"{{*}}{name}" for name in names]
        try:
            with self.zip.open(self._names[part.lower()]) as file:
                options = {"resolve_entities": False, "no_network": True, "remove_comments": True}
                stream = etree.iterparse(file, events=("end",), tag=tags, **options)
                for place, (_, element) in enumerate(stream):
                    if not place and element.getroottree().docinfo.doctype:
                        raise damaged(self.name, tr("parse.reason_xml"))
                    yield element
                    _forget(element)
        except etree.XMLSyntaxError as error:
            if error.code == etree.ErrorTypes.ERR_NO_MEMORY:
                raise MemoryError from error
            raise damaged(self.name, tr("parse.reason_xml")) from error
        except BROKEN_ZIP as error:
            raise damaged(self.name, tr("parse.reason_zip")) from error


def _forget(element: Any) -> None:
    """Free an element and its older siblings."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]
