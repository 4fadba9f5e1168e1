"""E-books: spine items as pages, titles, encryption, damage."""

import zipfile

import pytest

from kb.errors import Refused
from kb.parsers.web import epub

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/a.opf"/></rootfiles></container>'
)
ENCRYPTION = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" '
    'xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData>'
    '<e:EncryptionMethod Algorithm="{}"/></e:EncryptedData></encryption>'
)
NAV = '<html xmlns="http://www.w3.org/1999/xhtml"><body><nav><a href="c%201.xhtml#x">第一回</a></nav></body></html>'
XHTML = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>{}</title></head><body>{}</body></html>'


def package(items, spine):
    manifest = "".join(
        f'<item id="{id_}" href="{href}" media-type="{kind}" properties="{properties}"/>'
        for id_, href, kind, properties in items
    )
    refs = "".join(f'<itemref idref="{id_}"/>' for id_ in spine)
    return (
        '<package xmlns="http://www.idpf.org/2007/opf">'
        f"<manifest>{manifest}</manifest><spine>{refs}</spine></package>"
    )


ITEMS = [
    ("b", "c2.xhtml", "application/xhtml+xml", ""),
    ("a", "c%201.xhtml", "application/xhtml+xml", ""),
    ("pic", "p.svg", "image/svg+xml", ""),
    ("nav", "nav.xhtml", "application/xhtml+xml", "nav"),
]


@pytest.fixture
def book(tmp_path):
    def book(changes=()):
        parts = {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER,
            "OEBPS/a.opf": package(ITEMS, ["a", "pic", "b", "gone"]),
            "OEBPS/c 1.xhtml": XHTML.format("书名", "<h2>第一回</h2><p>甲</p><p>乙</p>"),
            "OEBPS/c2.xhtml": XHTML.format("二", "<p>丙</p>"),
            "OEBPS/nav.xhtml": NAV,
            **dict(changes),
        }
        path = tmp_path / "书.epub"
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in parts.items():
                if text is not None:
                    archive.writestr(name, text)
        return path

    return book


def test_the_spine_orders_the_pages(book):
    parsed = epub.parse(book(), "书.epub")
    assert [page.text for page in parsed.pages] == ["第一回\n甲\n乙", "", "丙", ""]
    assert [page.label for page in parsed.pages] == ["第一回", "", "二", ""]
    assert parsed.pages[0].elements[0].kind == "heading"


def test_a_missing_item_is_an_empty_page_and_said(book):
    parsed = epub.parse(book({"OEBPS/c2.xhtml": None}), "书.epub")
    assert parsed.pages[2].text == ""
    assert any("c2.xhtml" in warning for warning in parsed.warnings)


def test_encrypted_text_is_refused_and_scrambled_fonts_are_not(book):
    fonts = ENCRYPTION.format("http://www.idpf.org/2008/embedding")
    assert epub.parse(book({"META-INF/encryption.xml": fonts}), "书.epub").pages
    drm = ENCRYPTION.format("http://www.w3.org/2001/04/xmlenc#aes256-cbc")
    with pytest.raises(Refused, match="DRM"):
        epub.parse(book({"META-INF/encryption.xml": drm}), "书.epub")


@pytest.mark.parametrize(
    "changes",
    [
        {"META-INF/container.xml": None},
        {"META-INF/container.xml": "<container/>"},
        {"OEBPS/a.opf": None},
        {"OEBPS/a.opf": "<"},
        {"OEBPS/a.opf": package(ITEMS, [])},
    ],
)
def test_a_book_without_its_package_is_refused(book, changes):
    with pytest.raises(Refused, match=r"书\.epub"):
        epub.parse(book(changes), "书.epub")


def test_entities_are_not_expanded(book):
    bomb = '<!DOCTYPE package [<!ENTITY a "x"><!ENTITY b "&a;&a;">]>' + package(ITEMS, ["a"])
    assert len(epub.parse(book({"OEBPS/a.opf": bomb}), "书.epub").pages) == 1


def test_the_sandbox_reads_it(book, sandbox):
    parsed = sandbox.parse(book(), "书.epub")
    assert parsed.parser == "epub/1"
    assert parsed.pages[0].label == "第一回"
