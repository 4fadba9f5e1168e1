"""Real documents: pages, phrases and refusals as people verified them (../shared, if there)."""

import time
import zipfile
from collections import Counter

import pymupdf
import pytest
from paths import SHARED

from bench.corpus import load, read
from kb.errors import KbError, Refused
from kb.ports import OcrOptions, ParseLimits
from kb.sandbox.sandbox import Sandbox
from kb.text.noise import mark_noise

CORPUS = SHARED / "corpus"

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the shared corpus is not here")

ROWS = load(CORPUS)
READABLE = [
    row.file for row in ROWS if not (row.must_be_refused or row.may_be_refused or row.is_scan)
]


@pytest.fixture(scope="module")
def sandbox():
    """Without OCR: reading scans takes minutes."""
    box = Sandbox(ParseLimits(wall_seconds=30, cpu_seconds=30), OcrOptions(mode="off"))
    yield box
    box.close()


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


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.file)
def test_every_file_is_read_as_people_read_it_or_refused(sandbox, row):
    assert read(sandbox, CORPUS, row, ocr=False).missed == ()


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


@pytest.mark.parametrize("name", [file for file in READABLE if file.endswith(".pdf")])
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


@pytest.mark.parametrize("name", [file for file in READABLE if file.endswith(".docx")])
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
