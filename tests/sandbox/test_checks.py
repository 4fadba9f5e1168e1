"""What is refused before any parser runs, and how it is said."""

import struct
import subprocess
import sys
import zipfile

import pytest
from paths import ROOT

from kb.errors import Refused
from kb.parsers.registry import Registry
from kb.ports import ParseLimits
from kb.sandbox.checks import MAX_ENTRIES, check

LIMITS = ParseLimits(file_mb=1)
REGISTRY = Registry()
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def refusal(path, name=None):
    with pytest.raises(Refused) as error:
        check(path, name or path.name, REGISTRY, LIMITS)
    assert error.value.hint
    return error.value


@pytest.fixture
def zipped(tmp_path):
    def zipped(name, parts, compression=zipfile.ZIP_DEFLATED):
        path = tmp_path / name
        with zipfile.ZipFile(path, "w", compression) as archive:
            for part, data in parts.items():
                archive.writestr(part, data)
        return path

    return zipped


def test_a_missing_path_is_named(tmp_path):
    assert str(tmp_path / "没有.pdf") in refusal(tmp_path / "没有.pdf").message


def test_a_folder_is_not_a_document(tmp_path):
    folder = tmp_path / "资料.pdf"
    folder.mkdir()
    assert "ingest.py" in refusal(folder).hint


def test_an_empty_file_has_no_bytes(write):
    assert "0" in refusal(write("空.pdf", b"")).message


def test_a_large_file_meets_its_limit(write):
    error = refusal(write("大.txt", b"x" * ((1 << 20) + 1)))
    assert "2 MiB" in error.message
    assert "KB_MAX_FILE_MB" in error.hint


def test_an_unknown_suffix_lists_what_is_valid(write):
    error = refusal(write("图.xyz", b"x"))
    assert ".docx" in error.hint
    assert ".pdf" in error.hint


@pytest.mark.parametrize(
    ("name", "better"), [("旧.ppt", ".pptx"), ("旧.DPS", ".pptx"), ("a.caj", ".pdf")]
)
def test_an_old_format_is_told_what_to_become(write, name, better):
    hint = refusal(write(name, b"x")).hint
    assert better in hint.split("。", 1)[0]


def test_a_zim_is_told_how_to_be_unpacked(write):
    assert "zimdump" in refusal(write("维基.zim", b"x")).hint


def test_a_name_without_a_suffix_is_refused(write):
    assert ".txt" in refusal(write("README", b"x")).hint


@pytest.mark.parametrize(
    ("name", "content", "looks", "suffix"),
    [
        ("a.docx", b"%PDF-1.7\n1 0 obj", "PDF", ".pdf"),
        ("a.pdf", b"<!DOCTYPE html><html>", "HTML", ".html"),
        ("a.pdf", b"\n <HTML>", "HTML", ".html"),
        ("a.pdf", b"\x89PNG\r\n\x1a\n", "PNG", ".png"),
        ("a.txt", b"%PDF-1.4", "PDF", ".pdf"),
        ("a.docx", "只是文字".encode(), "text", ".txt"),
        ("a.docx", OLE + "WordDocument".encode("utf-16-le"), "DOC", ".doc"),
        ("a.docx", b"{\\rtf1 x}", "RTF", ".rtf"),
        ("a.doc", b"%PDF-1.4", "PDF", ".pdf"),
        ("a.doc", "只是文字".encode(), "text", ".txt"),
    ],
)
def test_a_wrong_suffix_is_told_what_the_file_really_is(write, name, content, looks, suffix):
    error = refusal(write(name, content))
    assert f" {looks}" in error.message
    assert suffix in error.hint


def test_random_bytes_are_no_pdf(write):
    assert "PDF" in refusal(write("a.pdf", bytes(range(256)) * 8)).message


def test_an_encrypted_office_file_asks_for_its_password(write):
    far = b"\0" * 5000 + "EncryptedPackage".encode("utf-16-le")
    error = refusal(write("密.docx", OLE + far))
    assert "密码" in error.hint


def test_a_workbook_called_docx_says_so(zipped):
    error = refusal(zipped("a.docx", {"[Content_Types].xml": "x", "xl/workbook.xml": "x"}))
    assert "XLSX" in error.message


def test_a_docx_called_doc_says_so(zipped):
    error = refusal(zipped("a.doc", {"[Content_Types].xml": "x", "word/document.xml": "x"}))
    assert "DOCX" in error.message
    assert ".docx" in error.hint


@pytest.mark.parametrize(
    ("kind", "found"), [("text", "ODT"), ("spreadsheet", "ODS"), ("presentation", "ODP")]
)
def test_an_open_document_says_what_it_is(zipped, kind, found):
    mimetype = f"application/vnd.oasis.opendocument.{kind}"
    parts = {"mimetype": mimetype, "content.xml": "x", "META-INF/manifest.xml": "x"}
    path = zipped("a.docx", parts, zipfile.ZIP_STORED)
    assert found in refusal(path).message
    suffix = found.lower()
    assert check(path, f"a.{suffix}", REGISTRY, LIMITS).name == suffix


def test_an_old_workbook_called_xlsx_says_so(write):
    error = refusal(write("a.xlsx", OLE + "Workbook".encode("utf-16-le")))
    assert ".xls" in error.hint


def test_a_truncated_zip_is_damaged(zipped, write):
    whole = zipped("b.docx", {"word/document.xml": "x" * 999}).read_bytes()
    assert "压缩包" in refusal(write("半.docx", whole[: len(whole) // 2])).message


def test_too_many_entries_are_counted_before_they_are_listed(zipped):
    parts = {f"word/{i}": b"" for i in range(MAX_ENTRIES + 1)}
    assert str(MAX_ENTRIES) in refusal(zipped("多.docx", parts)).message


def test_a_huge_directory_is_refused_by_its_end_record(write):
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, 50 << 20, 0, 0)
    assert str(MAX_ENTRIES) in refusal(write("a.docx", b"PK\x03\x04" + b"x" * 99 + end)).message


def test_a_bomb_is_known_by_its_ratio(zipped):
    assert "炸弹" in refusal(zipped("弹.docx", {"word/document.xml": b"\0" * (40 << 20)})).message


def test_a_repetitive_but_small_document_passes(zipped):
    path = zipped("表.docx", {"word/document.xml": b"<w:tc/>" * 300_000})
    assert check(path, path.name, REGISTRY, LIMITS).name == "docx"


def test_an_encrypted_entry_asks_for_its_password(zipped):
    path = zipped("a.docx", {"word/document.xml": "x"})
    data = bytearray(path.read_bytes())
    data[data.rfind(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    assert "密码" in refusal(path).hint


def test_the_name_decides_not_the_path(write):
    path = write("tmp1234", "第一行".encode())
    assert check(path, "政策/规划.TXT", REGISTRY, LIMITS).id == "text/2"


def test_every_parser_has_its_own_name_and_suffixes():
    specs = REGISTRY.specs
    assert len({spec.name for spec in specs}) == len(specs)
    suffixes = [suffix for spec in specs for suffix in spec.suffixes]
    assert len(set(suffixes)) == len(suffixes)
    assert {".pdf", ".docx", ".txt", ".md"} <= set(suffixes)


def test_looking_up_parsers_imports_no_library():
    code = (
        "import sys; from kb.sandbox.sandbox import Sandbox; from kb.ports import ParseLimits; "
        "Sandbox(ParseLimits()).is_current('pdf', 'x.pdf'); print(*sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True, encoding="utf-8"
    )
    assert not set(run.stdout.split()) & {"pymupdf", "lxml", "docx", "charset_normalizer"}
