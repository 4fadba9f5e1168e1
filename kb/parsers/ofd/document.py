"""The documents of an OFD file: their pages in declared order, with templates and annotations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from kb.errors import Refused
from kb.messages import tr
from kb.parsers.ofd.content import Content, Reader
from kb.parsers.ofd.geometry import placed, rectangle
from kb.parsers.ofd.package import Package
from kb.parsers.refusals import damaged
from kb.parsers.xml.nodes import child, local

_A4: Final = (210.0, 297.0)
_FILES: Final = {"MultiMedia": "MediaFile", "Font": "FontFile"}
"""Resources that are files, and the elements that say where."""
_TILES: Final = 3
"""An annotation that says the same thing this often is a watermark, whatever it calls itself."""


@dataclass(frozen=True, slots=True)
class Note:
    """Text of one annotation. `watermark`: it is laid over the page and says nothing of it."""

    content: Content
    remark: str
    watermark: bool


@dataclass(frozen=True, slots=True)
class PageContent:
    """A page: its size in millimetres and what it holds. `failed`: it could not be read."""

    width: float
    height: float
    content: Content
    notes: tuple[Note, ...] = ()
    failed: bool = False


@dataclass(slots=True)
class Found:
    """What was named but is not there, left out, or only counted."""

    missing: list[str] = field(default_factory=list)
    attachments: list[str] = field(default_factory=list)
    signatures: int = 0


class Document:
    """One DocBody. `title` is what it is called in the file, or where it stands."""

    def __init__(self, package: Package, body: Any, found: Found) -> None:
        self._package, self._found = package, found
        self._part = package.find(_text(body, "DocRoot"), "OFD.xml")
        if not self._part:
            raise damaged(package.name, tr("parse.reason_part", part=_text(body, "DocRoot")[:100]))
        self.title = _text(child(body, "DocInfo"), "Title") or self._part
        self._root = package.root(self._part)
        self._common = child(self._root, "CommonData")
        self._entries = list(_named(child(self._root, "Pages"), "Page"))
        self._units = dict(self._read_units())
        self._files: dict[str, str] | None = None
        self._templates: dict[str, Any] = {}
        self._annotations = dict(self._read_annotations())
        self._count_signatures(_text(body, "Signatures"))
        self._list_attachments()

    def pages(self) -> Iterator[PageContent]:
        """The pages in the order that the document declares, one that cannot be read as failed."""
        yield from map(self._page, self._entries)

    def page(self, index: int) -> PageContent:
        """The page of that 0-based place, read again."""
        return self._page(self._entries[index])

    def data(self, resource: str) -> bytes:
        """The bytes of an image or an embedded font; empty when it is not there."""
        if self._files is None:
            self._files = dict(self._read_files())
        part = self._files.get(resource, "")
        return self._package.data(part) if part else b""

    # Pages

    def _page(self, entry: Any) -> PageContent:
        root = self._named(entry.get("BaseLoc", ""), self._part)
        if root is None:
            return PageContent(*_A4, Content(), failed=True)
        reader = Reader({**self._units, **dict(self._page_units(root))})
        areas = [root, *filter(lambda t: t is not None, map(self._template, _templates(root)))]
        for layer in reversed(areas):  # templates lie below the page
            reader.page(layer)
        width, height = self._size(areas)
        notes = tuple(self._notes(entry.get("ID", "")))
        return PageContent(width, height, reader.content, notes)

    def _size(self, areas: Iterable[Any]) -> tuple[float, float]:
        """Of the page, its template, or the document, whichever says so first."""
        boxes = [_text(child(area, "Area"), "PhysicalBox") for area in areas]
        boxes.append(_text(child(self._common, "PageArea"), "PhysicalBox"))
        for box in filter(None, map(rectangle, boxes)):
            if box[2] > box[0] and box[3] > box[1]:
                return box[2] - box[0], box[3] - box[1]
        return _A4

    def _template(self, template_id: str) -> Any | None:
        if template_id not in self._templates:
            places = {
                t.get("ID"): t.get("BaseLoc", "") for t in _named(self._common, "TemplatePage")
            }
            location = places.get(template_id, "")
            root = self._named(location, self._part) if location else None
            if not location:
                self._found.missing.append(f"Template {template_id}"[:100])
            self._templates[template_id] = root
        return self._templates[template_id]

    # Annotations

    def _read_annotations(self) -> Iterator[tuple[str, tuple[str, str]]]:
        """Location of each page's annotations, and the part that names it, by page id."""
        location = _text(self._root, "Annotations")
        part = self._package.find(location, self._part)
        root = self._named(location, self._part) if location else None
        for page in _named(root, "Page"):
            yield page.get("PageID", ""), (_text(page, "FileLoc"), part)

    def _notes(self, page_id: str) -> Iterator[Note]:
        location, base = self._annotations.get(page_id, ("", ""))
        root = self._named(location, base) if location else None
        for annotation in _named(root, "Annot"):
            if annotation.get("Visible", "").lower() != "false":
                yield self._note(annotation)

    def _note(self, annotation: Any) -> Note:
        reader = Reader(self._units)
        for appearance in _named(annotation, "Appearance"):
            reader.block(appearance, placed(appearance.get("Boundary"), None))
        said = Counter(run.text.strip() for run in reader.content.runs)
        tiled = any(count >= _TILES for text, count in said.items() if text)
        watermark = annotation.get("Type", "") == "Watermark" or tiled
        return Note(reader.content, _text(annotation, "Remark"), watermark)

    # Resources

    def _resources(self, root: Any, base: str, *names: str) -> Iterator[tuple[Any, str, str]]:
        """Each readable resource file: its root, its part name and the folder of its media."""
        for element in root if root is not None else ():
            if local(element) in names and (element.text or "").strip():
                resource = self._named(element.text, base)
                if resource is not None:
                    part = self._package.find(element.text, base)
                    yield resource, part, resource.get("BaseLoc", "")

    def _read_units(self) -> Iterator[tuple[str, Any]]:
        for root, _, _ in self._resources(self._common, self._part, "PublicRes", "DocumentRes"):
            yield from _units(root)

    def _page_units(self, page: Any) -> Iterator[tuple[str, Any]]:
        for root, _, _ in self._resources(page, self._part, "PageRes"):
            yield from _units(root)

    def _read_files(self) -> Iterator[tuple[str, str]]:
        """Part names of media and fonts by their id."""
        for root, part, folder in self._resources(
            self._common, self._part, "PublicRes", "DocumentRes"
        ):
            for item in root.iter():
                location = _text(item, _FILES.get(local(item), ""))
                if location:
                    places = (f"{folder.rstrip('/')}/{location}" if folder else location, location)
                    there = (self._package.find(place, part) for place in places)
                    yield item.get("ID", ""), next(filter(None, there), "")

    # Beside the pages

    def _count_signatures(self, location: str) -> None:
        part = self._package.find(location, self._part)
        root = self._quiet(part)
        self._found.signatures += sum(1 for _ in _named(root, "Signature"))

    def _list_attachments(self) -> None:
        part = self._package.find(_text(self._root, "Attachments"), self._part)
        for attachment in _named(self._quiet(part), "Attachment"):
            name = attachment.get("Name", "") or _text(attachment, "FileLoc")
            suffix = attachment.get("Format", "")
            whole = name if not suffix or name.endswith(f".{suffix}") else f"{name}.{suffix}"
            self._found.attachments.append(whole[:100])

    def _named(self, location: str, base: str) -> Any | None:
        """Root of the part at `location`; None, and said, when it is missing or broken."""
        root = self._quiet(self._package.find(location, base))
        if root is None:
            self._found.missing.append(location.strip()[:100])
        return root

    def _quiet(self, part: str) -> Any | None:
        try:
            return self._package.root(part) if part else None
        except Refused:
            return None


def documents(package: Package, found: Found) -> list[Document]:
    """The documents of the file, in order.

    Raises Refused when none of them can be read; one that cannot beside others is named in `found`.
    """
    part = package.find("OFD.xml")
    if not part:
        raise damaged(package.name, tr("parse.reason_part", part="OFD.xml"))
    failures: list[Refused] = []
    read = (
        _document(package, body, found, failures) for body in _named(package.root(part), "DocBody")
    )
    result = [document for document in read if document]
    if not result:
        no_body = damaged(package.name, tr("parse.reason_part", part="DocBody"))
        raise failures[0] if failures else no_body
    return result


def _document(
    package: Package, body: Any, found: Found, failures: list[Refused]
) -> Document | None:
    try:
        return Document(package, body, found)
    except Refused as error:
        failures.append(error)
        found.missing.append(_text(body, "DocRoot")[:100])
        return None


def _templates(root: Any) -> Iterator[str]:
    yield from (template.get("TemplateID", "") for template in _named(root, "Template"))


def _units(root: Any) -> Iterator[tuple[str, Any]]:
    for unit in _named(child(root, "CompositeGraphicUnits"), "CompositeGraphicUnit"):
        yield unit.get("ID", ""), unit


def _named(parent: Any | None, name: str) -> Iterator[Any]:
    yield from (item for item in (parent if parent is not None else ()) if local(item) == name)


def _text(parent: Any | None, name: str) -> str:
    element = child(parent, name)
    return "" if element is None else (element.text or "").strip()
