"""PowerPoint presentations (.pptx): a slide is a page, read from the XML itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kb.errors import Refused
from kb.messages import tr
from kb.model import Drawing, Parsed
from kb.parsers.registry import ParserSpec
from kb.parsers.slides import deck
from kb.parsers.slides.deck import Size, Slide
from kb.parsers.slides.pptx_shapes import Shapes, paragraphs, placeholder
from kb.parsers.slides.sketch import draw_slide
from kb.parsers.xml.nodes import child, local, value
from kb.parsers.xml.ooxml import OoxmlPackage

_WIDTH: Final = 9_144_000
_HEIGHT: Final = 6_858_000
"""EMU; a slide of 10 by 7.5 inches, where the presentation does not say."""
_EMU: Final = 12_700
"""EMU in a point."""
_DIGITS: Final = 10


def parse(path: Path, name: str) -> Parsed:
    """A page for each slide, in the order of the presentation. Raises Refused."""
    with OoxmlPackage(path, name) as package:
        presentation = _Deck(package)
        pages, warnings = deck.pages(list(presentation.read()), presentation.size, name)
        warnings += [tr(key, count=count) for key, count in presentation.left_out.items() if count]
        if presentation.failed:
            warnings.append(tr("office.warn_slides_failed", slides="、".join(presentation.failed)))
    return Parsed(pages, SPEC.id, SPEC.media_type, warnings=tuple(warnings))


def draw(path: Path, name: str, page: int) -> Drawing:
    """A sketch of one slide, counted from 1."""
    return draw_slide(parse(path, name).pages[page - 1])


class _Deck:
    """The presentation part. `left_out` counts what is not read, `failed` names broken slides."""

    def __init__(self, package: OoxmlPackage) -> None:
        self._package = package
        main = package.main()
        self._root = package.root(main)
        self._parts = {relation.id: relation.target for relation in package.relations(main)}
        sides = [value(child(self._root, "sldSz"), side) for side in ("cx", "cy")]
        told = [int(side) if side.isdecimal() and len(side) < _DIGITS else 0 for side in sides]
        self.size = Size(told[0] or _WIDTH, told[1] or _HEIGHT, _EMU)
        self.left_out: Counter[str] = Counter()
        self.failed: list[str] = []

    def read(self) -> Iterator[Slide]:
        """Every slide; one that cannot be read is empty and named in `failed`."""
        listed = child(self._root, "sldIdLst")
        for number, item in enumerate(listed if listed is not None else (), start=1):
            ids = [str(text) for key, text in item.attrib.items() if key.endswith("}id")]
            try:
                yield self._slide(self._parts.get(ids[0] if ids else "", ""))
            except Refused:
                self.failed.append(str(number))
                yield Slide(())

    def _slide(self, part: str) -> Slide:
        root = self._package.root(part)
        shapes = Shapes(self._package, part, self.left_out)
        content = child(root, "cSld")
        return Slide(
            shapes=tuple(shapes.read(child(content, "spTree"))),
            notes=tuple(self._notes(part)),
            label=value(content, "name").strip(),
            hidden=value(root, "show") in {"0", "false"},
        )

    def _notes(self, part: str) -> Iterator[str]:
        """Paragraphs of the slide's notes; its picture and margins on the notes page are none."""
        for relation in self._package.relations(part):
            if relation.role == "comments":
                self._count_comments(relation.target)
            if relation.role != "notesSlide" or not self._package.has(relation.target):
                continue
            for shape in self._package.root(relation.target).iter("{*}sp"):
                if placeholder(shape)[0] not in {"sldNum", "hdr", "ftr", "dt", "sldImg"}:
                    yield from paragraphs(child(shape, "txBody"))

    def _count_comments(self, part: str) -> None:
        if self._package.has(part):
            comments = [e for e in self._package.root(part) if local(e) in {"cm", "comment"}]
            self.left_out["parse.warn_comments"] += len(comments)


SPEC: Final = ParserSpec(
    name="pptx",
    revision=1,
    suffixes=(".pptx", ".pptm", ".ppsx"),
    media_type="application/vnd.openxmlformats-officedocument.presentationml.presentation",
    magic="zip",
    zip_kind="pptx",
    parse=parse,
    preload=("lxml.etree",),
    draw=draw,
)
