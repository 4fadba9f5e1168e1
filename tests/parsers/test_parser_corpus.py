"""Real documents: pages, phrases and refusals as people verified them (../shared, if there)."""

import csv
import os
import re
import time
import zipfile
from collections import Counter
from pathlib import Path

import pymupdf
import pytest

from kb.errors import KbError, Refused
from kb.noise import mark_noise
from kb.parsers.sandbox import Sandbox
from kb.ports import ParseLimits

SHARED = Path(os.environ.get("KB_SHARED", Path(__file__).resolve().parents[3] / "shared"))
CORPUS = SHARED / "corpus"
FORMATS = {".pdf", ".docx", ".ofd", ".txt", ".md"}

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the shared corpus is not here")


def rows():
    manifest = CORPUS / "MANIFEST.tsv"
    if not manifest.is_file():
        return []
    with manifest.open(encoding="utf-8", newline="") as file:
        return [
            row
            for row in csv.DictReader(file, delimiter="\t")
            if Path(row["file"]).suffix in FORMATS
        ]


def is_readable(row):
    """Neither broken nor a scan, which waits for OCR."""
    if row["format"] == "ofd" and "no common text" in row["verified"]:
        return False
    return "error expected" not in row["verified"] and not row["phrase_1"].startswith("[OCR]")


def ids(row):
    return row["file"]


# Strict OOXML breaks python-docx, on which the manifest's verdict rests; we read it.
READ_ANYWAY = {"docx_bad/strict_ooxml.docx"}
READABLE = [row for row in rows() if is_readable(row)]
REFUSED = [row for row in rows() if not is_readable(row) and row["file"] not in READ_ANYWAY]


@pytest.fixture(scope="module")
def parse(sandbox):
    seen = {}

    def parse(name):
        if name not in seen:
            seen[name] = sandbox.parse(CORPUS / name, name)
        return seen[name]

    return parse


def squeezed(text):
    return "".join(text.split())


@pytest.mark.parametrize("row", READABLE, ids=ids)
def test_pages_and_phrases_are_right(parse, row):
    parsed = parse(row["file"])
    if row["pages_or_units"]:
        assert len(parsed.pages) == int(row["pages_or_units"])
    # A cell border may fall into a phrase: it is what tells cells apart, not text.
    shown = " ".join(page.text for page in parsed.pages)
    # Automatic numbers of Word were not seen by the tools that agreed.
    bare = re.sub(r"(?:•|\b\w{1,3}[.)]) ", "", shown) if row["format"] == "docx" else shown
    texts = [squeezed(text).replace("|", "") for text in (shown, bare)]
    for phrase in (row["phrase_1"], row["phrase_2"]):
        assert any(squeezed(phrase or "").replace("|", "") in text for text in texts)


@pytest.mark.parametrize("row", REFUSED, ids=ids)
def test_a_bad_file_is_refused_with_its_reason(sandbox, row):
    with pytest.raises(Refused) as error:
        sandbox.parse(CORPUS / row["file"], row["file"])
    assert row["file"] in error.value.message
    assert error.value.hint


def test_strict_ooxml_is_read(parse):
    assert parse("docx_bad/strict_ooxml.docx").pages[0].text == "Some text"


@pytest.mark.parametrize("name", sorted(path.name for path in (SHARED / "hostile").glob("*")))
def test_a_hostile_file_costs_little_and_is_answered(name):
    box = Sandbox(ParseLimits(wall_seconds=20, cpu_seconds=20, memory_mb=2048))
    started = time.monotonic()
    try:
        assert box.parse(SHARED / "hostile" / name, name).pages
    except KbError as error:
        assert name in error.message  # noqa: PT017 - either ending is right
        assert error.hint  # noqa: PT017
    box.close()
    assert time.monotonic() - started < 30


def test_the_wrong_name_is_told_the_right_one(sandbox):
    for name, found in (("pdf_as.docx", "PDF"), ("html_as.pdf", "HTML")):
        with pytest.raises(Refused, match=found):
            sandbox.parse(SHARED / "hostile" / name, name)


def test_exactly_headers_and_page_numbers_of_the_report_are_noise(parse):
    pages = mark_noise(parse("pdf/zh_quarterly_report_22p.pdf").pages)
    for page in pages:
        lines = page.text.split("\n")
        assert [lines[line - 1] for line in page.noise] == [
            "东北电气发展股份有限公司2018 年第一季度报告全文",
            str(page.number),
        ]


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("zh_quarterly_report_22p", "史宇波 | 3,992,100 | 人民币普通股 | 3,992,100"),
        ("zh_quarterly_report_22p", "2、利润表项目变动的情况及原因 | 单位：人民币元"),
        (
            "zh_prospectus_tables",
            "2 | 徽商银行南京中山北路支行 | 330,435.30 | 256,735.30 | 73,700.00",
        ),
        (
            "zh_land_standard_tables",
            "高速公路 | 八 | 80000≤Q＜100000 | 0.92 | 1.02 | 1.11 | 1.19 | 1.26",
        ),
        ("zh_lab_report_rotated90", "白细胞计数(WBC) | 仪器法 | ↓ | 3.9 | E+9/L | [4.0-10.0]"),
        ("zh_toc_scattered_glyphs", "（一九三七年八月一日）"),
        (
            "zh_shipping_form",
            "Port of Discharge（卸货港） | Place of Delivery（目的地）Cape town，SA |",
        ),
    ],
)
def test_a_row_is_a_line(parse, name, row):
    pages = parse(f"pdf/{name}.pdf").pages
    assert row in [line for page in pages for line in page.text.split("\n")]


@pytest.mark.parametrize(
    "name", sorted(row["file"] for row in READABLE if row["file"].endswith(".pdf"))
)
def test_no_character_of_a_pdf_is_lost_or_doubled(parse, name):
    """Against MuPDF's own plain text; `|` stands between our cells."""
    shown = Counter(squeezed("".join(page.text for page in parse(name).pages)))
    flags = pymupdf.TEXT_MEDIABOX_CLIP | pymupdf.TEXT_PRESERVE_WHITESPACE
    with pymupdf.open(CORPUS / name) as doc:
        plain = Counter(squeezed("".join(page.get_text("text", flags=flags) for page in doc)))
    lost = plain - shown
    del lost["|"]
    # Control characters stand for glyphs without a letter; they are shown as U+FFFD.
    assert [char for char in lost if char.isprintable() and char != "\ufffd"] == []


@pytest.mark.parametrize(
    "name", sorted(row["file"] for row in READABLE if row["file"].endswith(".docx"))
)
def test_no_text_of_a_docx_is_lost(parse, name):
    """Every w:t outside deletions, fallbacks and field codes, by characters."""
    from lxml import etree

    with zipfile.ZipFile(CORPUS / name) as archive:
        root = etree.fromstring(archive.read("word/document.xml"))
    wanted = Counter()
    for element in root.iter("{*}t"):
        above = {etree.QName(parent).localname for parent in element.iterancestors()}
        if not above & {"del", "moveFrom", "Fallback"}:
            wanted.update(squeezed(element.text or ""))
    shown = Counter(squeezed("".join(page.text for page in parse(name).pages)))
    assert wanted - shown == Counter()


def test_many_documents_leave_no_weight_behind(sandbox):
    path = CORPUS / "pdf" / "zh_poster_line.pdf"
    sandbox.parse(path, "x.pdf")
    started = time.monotonic()
    for _ in range(20):
        sandbox.parse(path, "x.pdf")
    assert time.monotonic() - started < 20
