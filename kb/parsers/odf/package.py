"""OpenDocument packages (.odt, .ods, .odp): their content, and text as they mark it up."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from kb.errors import Refused
from kb.messages import tr
from kb.parsers.refusals import damaged
from kb.parsers.xml.nodes import child, local, value
from kb.parsers.xml.packages import BROKEN_ZIP

MOST_REPEATS: Final = 1 << 20
BREAK: Final = "\f"
"""Stands in a text for a page break; XML cannot hold the character itself."""

_MANIFEST: Final = "META-INF/manifest.xml"
_MOST_MANIFEST: Final = 4 << 20
_SPACES: Final = re.compile(r"[ \t\r\n]+")
_DROPPED: Final = frozenset(
    {
        *("tracked-changes", "annotation", "annotation-end", "note", "ruby-text", "script"),
        *("forms", "event-listeners", "title", "desc", "sequence-decls", "variable-decls"),
        *("user-field-decls", "notes", "alphabetical-index-mark", "toc-mark", "image-map"),
        *("toc-mark-start", "toc-mark-end", "alphabetical-index-mark-start", "shapes"),
    }
)
_LEFT_OUT: Final = {
    "annotation": "parse.warn_comments",
    "image": "office.warn_images",
    "object": "office.warn_embedded",
    "object-ole": "office.warn_embedded",
    "plugin": "office.warn_embedded",
    "deletion": "office.warn_tracked",
}


class Content(NamedTuple):
    """The body of a document, its styles by name, the list styles by name, the outline's style."""

    body: Any
    styles: dict[str, Any]
    lists: dict[str, Any]
    outline: Any | None
    warnings: list[str]


def read(path: Path, name: str, kind: str) -> Content:
    """The content of a package whose body is `kind`: text, spreadsheet, presentation.

    Raises Refused when it is encrypted, damaged, or something else.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            _check_encryption(archive, name)
            content = _root(archive, "content.xml", name)
            styles = _root(archive, "styles.xml", name) if "styles.xml" in _names(archive) else None
    except BROKEN_ZIP as error:
        raise damaged(name, tr("parse.reason_zip")) from error
    body = child(child(content, "body"), kind)
    if body is None:
        raise damaged(name, tr("parse.reason_part", part=f"office:{kind}"))
    roots = [root for root in (styles, content) if root is not None]
    outline = next((e for root in roots for e in root.iter("{*}outline-style")), None)
    return Content(
        body,
        {value(e, "name"): e for root in roots for e in root.iter("{*}style")},
        {value(e, "name"): e for root in roots for e in root.iter("{*}list-style")},
        outline,
        list(_warnings(body, kind)),
    )


def style_property(content: Content, element: Any, *names: str) -> str:
    """The first of these properties that the element's style sets, itself or by its parents."""
    style = content.styles.get(value(element, "style-name"))
    for _ in range(10):
        for properties in style if style is not None else ():
            for name in names:
                if value(properties, name):
                    return value(properties, name)
        parent = value(style, "parent-style-name")
        if not parent:
            break
        style = content.styles.get(parent)
    return ""


def repeats(element: Any, what: str) -> int:
    """How often a row or cell stands there: `what` is `rows` or `columns`."""
    text = value(element, f"number-{what}-repeated")
    return min(int(text), MOST_REPEATS) if text.isdigit() and int(text) else 1


def span(element: Any, what: str) -> int:
    """How many rows or columns a cell covers."""
    text = value(element, f"number-{what}-spanned")
    return min(int(text), MOST_REPEATS) if text.isdigit() and int(text) else 1


class Inline:
    """Reads the text of paragraphs. What does not belong in the line is put aside for its reader.

    `boxes` has the frames and shapes met since it was last emptied, `notes` the footnotes and
    comments.
    """

    def __init__(self) -> None:
        self.boxes: list[Any] = []
        self.notes: list[Any] = []

    def text(self, paragraph: Any) -> str:
        """Visible text: LF for a line break, `BREAK` for a page break; white space as ODF has it.

        ODF 1.2 part 1, 6.1.2: runs of white space are one space, none at the beginning.
        """
        parts: list[str] = []
        for kind, text in self._pieces(paragraph):
            if kind == "text":
                folded = _SPACES.sub(" ", text)
                before = parts[-1] if parts else " "
                parts.append(folded.lstrip(" ") if before.endswith((" ", "\n")) else folded)
            else:
                parts.append(text)
            if not parts[-1]:
                parts.pop()
        return "".join(parts)

    def _pieces(self, parent: Any) -> Iterator[tuple[str, str]]:
        if parent.text:
            yield "text", parent.text
        for element in parent:
            yield from self._piece(element, local(element))
            if element.tail:
                yield "text", element.tail

    def _piece(self, element: Any, name: str) -> Iterator[tuple[str, str]]:
        if name == "s":
            count = value(element, "c")
            yield "sign", " " * (min(int(count), 1000) if count.isdigit() else 1)
        elif name in {"tab", "line-break", "soft-page-break"}:
            yield "sign", {"tab": "\t", "line-break": "\n"}.get(name, BREAK)
        elif name in {"note", "annotation"}:
            self.notes.append(element)
            if name == "note":
                yield "sign", f"[{citation(element)}]"
        elif is_shape(element):
            self.boxes.append(element)
        elif name and name not in _DROPPED:
            yield from self._pieces(element)


def is_shape(element: Any) -> bool:
    """Whether an element of the drawing namespace stands here (a frame, a shape, a group)."""
    tag = element.tag
    return isinstance(tag, str) and ":drawing:" in tag and local(element) != "a"


def dropped(name: str) -> bool:
    """Whether an element of that name holds nothing that is shown."""
    return not name or name in _DROPPED


def citation(note: Any) -> str:
    """The mark of a footnote, the author of a comment."""
    mark = child(note, "note-citation" if local(note) == "note" else "creator")
    return "".join(mark.itertext()).strip() if mark is not None else "*"


def _names(archive: zipfile.ZipFile) -> set[str]:
    return {info.filename for info in archive.infolist()}


def _check_encryption(archive: zipfile.ZipFile, name: str) -> None:
    """Encrypted parts are listed with their keys' parameters in the manifest."""
    names = _names(archive)
    encrypted = "encrypted-package" in names
    if _MANIFEST in names:
        with archive.open(_MANIFEST) as file:
            encrypted = encrypted or b"encryption-data" in file.read(_MOST_MANIFEST)
    if encrypted:
        raise Refused(tr("parse.encrypted", name=name), tr("parse.encrypted_hint"))


def _root(archive: zipfile.ZipFile, part: str, name: str) -> Any:
    """Root of a part. A document type that names an external DTD is left unread, never fetched."""
    from lxml import etree  # type: ignore[import-untyped]

    if part not in _names(archive):
        raise damaged(name, tr("parse.reason_part", part=part))
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True
    )
    try:
        with archive.open(part) as file:
            tree = etree.parse(file, parser)
    except etree.XMLSyntaxError as error:
        if error.code == etree.ErrorTypes.ERR_NO_MEMORY:
            raise MemoryError from error
        raise damaged(name, tr("parse.reason_xml")) from error
    declared = tree.docinfo.internalDTD
    if declared is not None and any(True for _ in declared.iterentities()):
        raise damaged(name, tr("parse.reason_xml"))
    return tree.getroot()


def _is_replacement(element: Any) -> bool:
    """Whether an image only stands for the object beside it."""
    frame = element.getparent()
    return local(element) == "image" and any(local(e).startswith("object") for e in frame)


def _warnings(body: Any, kind: str) -> Iterator[str]:
    """What is not read: images, charts, deletions; comments, except in texts."""
    found: Counter[str] = Counter()
    for element in body.iter():
        key = _LEFT_OUT.get(local(element))
        is_note = kind == "text" and local(element) == "annotation"
        if key and not is_note and not _is_replacement(element):
            found[key] += 1
    return (tr(key, count=count) for key, count in found.items())
