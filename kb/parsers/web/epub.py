"""E-books: each item of the spine is one page, read like a web page.

The container is OCF: META-INF/container.xml names the package document, whose spine orders the
items of its manifest. Titles of items come from the table of contents (EPUB 3 nav, EPUB 2 ncx).
"""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from kb.errors import Refused
from kb.messages import tr
from kb.model import Page, Parsed
from kb.parsers.plain.decode import decode
from kb.parsers.refusals import MAX_EXPANDED_MIB, MIB, damaged
from kb.parsers.registry import ParserSpec
from kb.parsers.web import html

Node = Any
"""An lxml element; lxml has no types of its own."""

_CONTAINER: Final = "META-INF/container.xml"
_ENCRYPTION: Final = "META-INF/encryption.xml"
_FONT_SCRAMBLING: Final = frozenset(
    {"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"}
)
"""Algorithms that scramble embedded fonts only; the text is in the clear."""
_MARKUP: Final = frozenset({"application/xhtml+xml", "text/html", "application/xml", "text/xml"})
_LONGEST_LABEL: Final = 60


def parse(path: Path, name: str) -> Parsed:
    """One page an item of the spine, its label the item's title.

    Raises Refused when the book is encrypted, damaged or holds no text.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            book = _Book(archive, name)
            pages = tuple(book.pages())
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError) as error:
        raise damaged(name, tr("parse.reason_zip")) from error
    if not any(page.text.strip() for page in pages):
        raise Refused(tr("parse.no_text", name=name), tr("parse.empty_hint"))
    return Parsed(pages, SPEC.id, SPEC.media_type, warnings=book.warnings())


class _Book:
    """An opened container. Raises Refused when it is encrypted or its package is missing."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive = archive
        self._name = name
        self._left = MAX_EXPANDED_MIB * MIB
        self._said: dict[str, None] = {}
        self._hidden = 0
        self._check_encryption()
        self._package_path = self._find_package()
        self._package = self._xml(self._package_path)
        self._manifest = {item.get("id"): item for item in self._package.iter("{*}item")}

    def pages(self) -> Iterator[Page]:
        """The spine's items in their order; one that cannot be read is an empty page, and said."""
        titles = self._titles()
        for number, ref in enumerate(self._package.iter("{*}itemref"), 1):
            item = self._manifest.get(ref.get("idref"))
            part = self._part_of(item)
            page = self._page(number, item, part)
            yield replace(page, label=titles.get(part, "")[:_LONGEST_LABEL] or page.label)

    def warnings(self) -> tuple[str, ...]:
        """What was left out, said once each."""
        hidden = [tr("parse.warn_hidden", count=self._hidden)] if self._hidden else []
        return (*self._said, *hidden)

    # -- pages -----------------------------------------------------------------------------

    def _page(self, number: int, item: Node | None, part: str) -> Page:
        if item is None or item.get("media-type", "") not in _MARKUP:
            return Page(number, "", "virtual")
        data = self._read(part)
        decoded = decode(data, html.declared_encoding(data)) if data else None
        if decoded is None:
            self._said[tr("parse.warn_part", part=part)] = None
            return Page(number, "", "virtual")
        self._said.update(dict.fromkeys(decoded.warnings))
        text = html.read(decoded.text, self._name, whole=True)
        self._hidden += text.hidden
        return Page(
            number=number,
            text="\n".join(line.text for line in text.lines),
            kind="virtual",
            label=text.title[:_LONGEST_LABEL],
            elements=tuple(html.elements(text.lines)),
        )

    # -- the container ---------------------------------------------------------------------

    def _check_encryption(self) -> None:
        if _ENCRYPTION not in self._archive.namelist():
            return
        methods = self._xml(_ENCRYPTION).iter("{*}EncryptionMethod")
        if any(method.get("Algorithm") not in _FONT_SCRAMBLING for method in methods):
            raise Refused(tr("web.epub_drm", name=self._name), tr("web.epub_drm_hint"))

    def _find_package(self) -> str:
        root = self._xml(_CONTAINER).find(".//{*}rootfile[@full-path]")
        return unquote(root.get("full-path", "")) if root is not None else ""

    def _titles(self) -> dict[str, str]:
        """Titles of the spine's items by part name, the first entry of each."""
        titles: dict[str, str] = {}
        for item in self._manifest.values():
            part = self._part_of(item)
            if "nav" in (item.get("properties") or "").split():
                _add_titles(titles, part, self._optional(part), ".//{*}a[@href]", "href")
            elif item.get("media-type") == "application/x-dtbncx+xml":
                _add_titles(titles, part, self._optional(part), ".//{*}navPoint", "")
        return titles

    def _part_of(self, item: Node | None) -> str:
        href = item.get("href", "") if item is not None else ""
        return _resolved(self._package_path, href)

    def _optional(self, part: str) -> Node | None:
        data = self._read(part)
        return _tree(data) if data else None

    def _xml(self, part: str) -> Node:
        data = self._read(part)
        if not data:
            raise damaged(self._name, tr("parse.reason_part", part=part or "OPF"))
        root = _tree(data)
        if root is None:
            raise damaged(self._name, tr("parse.reason_xml"))
        return root

    def _read(self, part: str) -> bytes:
        """The part's bytes, empty when it is missing; what is read in all is bounded."""
        try:
            with self._archive.open(part) as file:
                data = file.read(self._left + 1)
        except KeyError:
            return b""
        self._left -= len(data)
        if self._left < 0:
            raise Refused(
                tr(
                    "parse.zip_expands",
                    name=self._name,
                    size=MAX_EXPANDED_MIB + 1,
                    limit=MAX_EXPANDED_MIB,
                ),
                tr("parse.resave_hint"),
            )
        return data


def _tree(data: bytes) -> Node | None:
    """XML with mistakes forgiven; no entity is expanded, nothing is fetched."""
    from lxml import etree  # type: ignore[import-untyped]

    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True)
    return etree.fromstring(data, parser)


def _add_titles(
    titles: dict[str, str], part: str, root: Node | None, path: str, attribute: str
) -> None:
    """Add the entries of a table of contents: links (EPUB 3), or navPoints (EPUB 2)."""
    for entry in root.iterfind(path) if root is not None else ():
        content = entry if attribute else entry.find("{*}content")
        label = entry if attribute else entry.find("{*}navLabel")
        if content is None or label is None:
            continue
        target = _resolved(part, content.get(attribute or "src", ""))
        text = " ".join("".join(label.itertext()).split())
        if text:
            titles.setdefault(target, text)


def _resolved(base: str, href: str) -> str:
    """The part that `href` means in the part `base`."""
    target = unquote(href.partition("#")[0])
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), target))


SPEC: Final = ParserSpec(
    name="epub",
    revision=1,
    suffixes=(".epub",),
    media_type="application/epub+zip",
    magic="zip",
    zip_kind="epub",
    parse=parse,
    preload=("lxml.etree", "charset_normalizer"),
)
