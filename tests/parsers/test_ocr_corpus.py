"""Real scans, read page by page: minutes of work, so only where KB_SLOW=1 asks for it."""

import os
import time
from collections import Counter

import pymupdf
import pytest
from paths import SHARED

from kb.ports import OcrOptions, ParseLimits
from kb.sandbox.sandbox import Sandbox

CORPUS = SHARED / "corpus" / "pdf"
PHRASES = {
    "zh_book_scan_image_only_8p.pdf": [
        "商品体本身，例如铁、小麦、金钢石等等，就是使用价值",
        "第一篇 商品和货币",
    ],
    "zh_scan_clean_1p.pdf": ["2024年度营业收入：人民币5,000万元", "感谢股东们的信任与支持"],
    "mixed_text_and_image_pages_2p.pdf": [
        "South China University of Technology",
        "Defending Ukraine: Early Lessons from the Cyber War",
    ],
    "no_tounicode_garbled.pdf": ["The quick brown fox jumps over the lazy dog 0123456789"],
}
SCANNED = {
    "zh_book_scan_image_only_8p.pdf": range(1, 9),
    "zh_scan_clean_1p.pdf": [1],
    "mixed_text_and_image_pages_2p.pdf": [2],
    "no_tounicode_garbled.pdf": [1],
    "empty_pages.pdf": [],
}
CER = {
    "zh_quarterly_report_22p.pdf": (6, 0.03),
    "zh_prospectus_tables.pdf": (1, 0.03),
    "en_two_column_paper_10p.pdf": (2, 0.05),
}
"""Of a page that holds text (the page, its bound): OCR of its image against that text."""

pytestmark = [
    pytest.mark.skipif("KB_SLOW" not in os.environ, reason="KB_SLOW=1 reads the scanned corpus"),
    pytest.mark.skipif(not CORPUS.is_dir(), reason="the shared corpus is not here"),
]


def squeezed(text):
    return "".join(text.replace("|", "").split())


def parse(path, mode):
    box = Sandbox(ParseLimits(), OcrOptions(mode))
    try:
        return box.parse(path, path.name)
    finally:
        box.close()


@pytest.mark.parametrize("name", SCANNED)
def test_scans_are_read_where_they_need_it_and_right(name):
    parsed = parse(CORPUS / name, "auto")
    assert [page.number for page in parsed.pages if page.ocr] == list(SCANNED[name])
    text = squeezed("".join(page.text for page in parsed.pages))
    for phrase in PHRASES.get(name, []):
        assert squeezed(phrase) in text


@pytest.mark.parametrize("name", CER)
def test_few_characters_of_a_page_are_read_wrong(name, tmp_path, capsys):
    """By characters regardless of their order, which tables and formulas do not have."""
    number, bound = CER[name]
    page = tmp_path / name
    with pymupdf.open(CORPUS / name) as doc:
        doc.select([number - 1])
        doc.save(page)
    wanted = Counter(squeezed(parse(page, "off").pages[0].text))
    started = time.monotonic()
    found = Counter(squeezed(parse(page, "force").pages[0].text))
    lost = sum((wanted - found).values()) / sum(wanted.values())
    with capsys.disabled():
        print(f"\n{name} page {number}: {lost:.2%} lost, {time.monotonic() - started:.1f} s")  # noqa: T201
    assert lost < bound
