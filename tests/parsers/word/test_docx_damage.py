"""Word documents that are damaged, hostile or empty."""

import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from docx.oxml.ns import qn
from docx_support import SAMPLE, W, shown
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.errors import ParseFailed, Refused
from kb.parsers.word import docx as parser
from kb.ports import ParseLimits
from kb.sandbox.sandbox import Sandbox

# Damage


@pytest.fixture
def saved(document, tmp_path):
    document.add_paragraph("正文")
    path = tmp_path / "x.docx"
    document.save(path)
    return path


def test_strict_ooxml_is_read(saved, edit_docx):
    def strict(data):
        data = data.replace(
            b"http://schemas.openxmlformats.org/wordprocessingml/2006/",
            b"http://purl.oclc.org/ooxml/wordprocessingml/",
        )
        return data.replace(
            b"http://schemas.openxmlformats.org/officeDocument/2006/",
            b"http://purl.oclc.org/ooxml/officeDocument/",
        )

    parts = ("_rels/.rels", "word/document.xml", "word/_rels/document.xml.rels", "word/styles.xml")
    path = edit_docx(saved, dict.fromkeys(parts, strict))
    assert shown(parser.parse(path, "x.docx")) == [["正文"]]


def test_a_relation_to_nowhere_is_no_obstacle(saved, edit_docx):
    """WPS writes Target="NULL" for pictures it has lost; python-docx raises KeyError there."""

    def break_styles(data):
        return data.replace(b'Target="styles.xml"', b'Target="NULL"')

    parsed = parser.parse(
        edit_docx(saved, {"word/_rels/document.xml.rels": break_styles}), "x.docx"
    )
    assert shown(parsed) == [["正文"]]
    assert "NULL" in parsed.warnings[0]


@pytest.mark.parametrize("content", [b"<w:document", b"", b"\0\0"])
def test_a_broken_body_is_refused(saved, edit_docx, content):
    with pytest.raises(Refused, match=r"规划\.docx"):
        parser.parse(edit_docx(saved, {"word/document.xml": lambda _: content}), "规划.docx")


def test_a_missing_body_is_refused_by_its_name(saved, edit_docx):
    path = edit_docx(saved, {"_rels/.rels": lambda data: data.replace(b"word/document", b"word/x")})
    with pytest.raises(Refused, match=r"word/x\.xml"):
        parser.parse(path, "x.docx")


def test_a_document_type_is_refused(saved, edit_docx):
    """The standard forbids it; entities could hide or fetch text."""
    bomb = (
        "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/hostname'>]>"
        f"<w:document {W}><w:body><w:p><w:r><w:t>甲&a;乙</w:t></w:r></w:p></w:body></w:document>"
    )
    with pytest.raises(Refused, match="XML"):
        parser.parse(edit_docx(saved, {"word/document.xml": lambda _: bomb.encode()}), "x.docx")


def test_a_document_without_text_is_refused(document, read_docx):
    document.add_paragraph(" ")
    with pytest.raises(Refused):
        read_docx(document)


def test_a_table_without_text_is_no_text(document, read_docx):
    document.add_table(2, 2)
    with pytest.raises(Refused):
        read_docx(document)


def test_lists_and_styles_never_lose_a_character(document, read_docx):
    """Every w:t that is not deleted is shown: the whole of python-docx' own view."""
    document.add_heading("标题", 1)
    for style in ("List Bullet", "List Number", "Quote", "Caption"):
        document.add_paragraph(f"{style}的内容", style=style)
    wanted = [t.text for t in document.element.body.iter(qn("w:t"))]
    lines = shown(read_docx(document))[0]
    assert [line.removeprefix("• ").removeprefix("1. ") for line in lines] == wanted


@given(
    st.lists(
        st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=20
    )
)
@settings(max_examples=150, deadline=None)
def test_any_damage_is_a_refusal_or_a_reading_never_another_error(changes):
    data = bytearray(SAMPLE)
    for place, byte in changes:
        data[int(place * len(data))] = byte
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.docx"
        path.write_bytes(data)
        with suppress(Refused):
            assert parser.parse(path, "x.docx").pages


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="RLIMIT_AS")
def test_too_little_memory_for_the_xml_is_not_called_damage(saved, edit_docx):
    row = b"<w:p><w:r><w:t>1</w:t></w:r></w:p>"
    path = edit_docx(
        saved,
        {
            "word/document.xml": lambda data: data.replace(
                b"<w:sectPr", row * 1_000_000 + b"<w:sectPr"
            )
        },
    )
    box = Sandbox(ParseLimits(memory_mb=400))
    with pytest.raises(ParseFailed, match="400 MiB"):
        box.parse(path, "x.docx")
    box.close()
