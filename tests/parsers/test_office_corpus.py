"""Real workbooks, slides, OpenDocument and delimited text (../shared, if there)."""

import csv
import re
import time
import zipfile
from collections import Counter

import pytest
from paths import SHARED

from kb.errors import Refused
from kb.ports import ParseLimits
from kb.sandbox.sandbox import Sandbox

CORPUS = SHARED / "corpus"
FORMATS = {"xlsx", "xlsx_bad", "xls", "ods", "csv", "pptx", "odt", "odt_bad"}

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the shared corpus is not here")


def rows():
    manifest = CORPUS / "MANIFEST.tsv"
    if not manifest.is_file():
        return []
    with manifest.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file, delimiter="\t") if row["format"] in FORMATS]


def is_broken(row):
    return "error expected" in row["verified"]


def ids(row):
    return row["file"]


@pytest.fixture(scope="module")
def parse(sandbox):
    seen = {}

    def parse(name):
        if name not in seen:
            seen[name] = sandbox.parse(CORPUS / name, name)
        return seen[name]

    return parse


def squeezed(text):
    """Without white space, and without what stands between cells: our bars, the file's commas."""
    return re.sub(r"[\s|,，]", "", text)


def shown(parsed):
    return "\n".join(page.text for page in parsed.pages)


@pytest.mark.parametrize("row", [row for row in rows() if not is_broken(row)], ids=ids)
def test_units_and_phrases_are_right(parse, row):
    parsed = parse(row["file"])
    units = {page.label or page.number for page in parsed.pages}
    if row["pages_or_units"]:
        assert len(units) == int(row["pages_or_units"])
    for phrase in (row["phrase_1"], row["phrase_2"]):
        assert squeezed(phrase or "") in squeezed(shown(parsed))


@pytest.mark.parametrize("row", [row for row in rows() if is_broken(row)], ids=ids)
def test_what_needs_a_password_says_so(sandbox, row):
    with pytest.raises(Refused) as error:
        sandbox.parse(CORPUS / row["file"], row["file"])
    assert row["file"] in error.value.message
    assert "密码" in error.value.hint


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("xlsx/dates.xlsx", "2018/9/20"),
        ("xlsx/big_numbers.xlsx", "1234567890123450 | 1234567890123451"),
        ("xlsx/ja_phonetic.xlsx", "2 | 日本オラクル | オラクル日本会社 | オラクル日本会社製品戦略事業統括本部にんきたいへんがあるジャパンオラクルシステム"),
        ("xlsx/merged_report_5_sheets.xlsx", "Zone NA | 12,553 | 2,713 | 2,632 | (81) | (29) | (44) | (337)"),
        ("xlsx_bad/strict.xlsx", "2nd row | 2nd row 2nd column"),
        ("xls/old.xls", "MC | What is 2+2? | 4 | correct | 3 | incorrect"),
        ("ods/columnar.ods", "2 | 4 | This is row            2 of           10 | 20% | 50.0% | 17-01-1960 | 01Jan60:00:01:40 | 00:00"),
        ("csv/cp932.csv", "髙橋淳 | 35 | 名古屋"),
        ("pptx/zh_small.pptx", "我是表格1 | 我是表格5"),
        ("odt/text_document_01.odt", "1. numbered list 1"),
        ("odt/external_dtd.odt", "[1] This is of course a simple footnote"),
    ],
)  # fmt: skip
def test_a_line_is_what_a_person_sees(parse, name, line):
    assert line in [line.strip() for line in shown(parse(name)).split("\n")]


@pytest.mark.parametrize(
    "name", [row["file"] for row in rows() if row["format"] == "pptx" and not is_broken(row)]
)
def test_no_text_of_a_slide_is_lost_or_doubled(parse, name):
    from lxml import etree

    with zipfile.ZipFile(CORPUS / name) as archive:
        parts = [part for part in archive.namelist() if re.fullmatch(r"ppt/slides/\w+\.xml", part)]
        roots = [etree.fromstring(archive.read(part)) for part in parts]
    wanted = "".join(text for root in roots for e in root.iter("{*}t") for text in e.text or "")
    assert Counter(squeezed(shown(parse(name)))) == Counter(squeezed(wanted))


@pytest.mark.parametrize("name", ["hugecell.xlsx", "xmlbomb.xlsx"])
def test_a_hostile_workbook_is_read_or_refused_in_time(name):
    box = Sandbox(ParseLimits(wall_seconds=20, cpu_seconds=20, memory_mb=2048))
    started = time.monotonic()
    try:
        assert len(box.parse(SHARED / "hostile" / name, name).pages[0].text) <= 32_767
    except Refused as error:
        assert name in error.message  # noqa: PT017 - either ending is right
    box.close()
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    ("name", "called", "found"),
    [
        ("odt/no_thumbnail.odt", "a.ods", "ODT"),
        ("ods/columnar.ods", "a.odt", "ODS"),
        ("xls/old.xls", "a.xlsx", "XLS"),
        ("xlsx/dates.xlsx", "a.xls", "XLSX"),
        ("pptx/zh_small.pptx", "a.xlsx", "PPTX"),
        ("odt/no_thumbnail.odt", "a.docx", "ODT"),
    ],
)
def test_a_wrong_name_is_told_the_right_one(sandbox, name, called, found):
    with pytest.raises(Refused) as error:
        sandbox.parse(CORPUS / name, called)
    assert found in error.value.message
