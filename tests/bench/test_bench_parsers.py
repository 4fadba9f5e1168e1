"""The parsers' benchmark itself: what it calls kept, doubled, in order, and as expected."""

from pathlib import Path

import pymupdf
import pytest

from bench.corpus import Row, load, read
from bench.differential import compare_pdf
from kb.errors import Refused
from kb.model import Page, Parsed

# pypdfium2 opens a file of its own without naming an encoding.
pytestmark = pytest.mark.filterwarnings("ignore::EncodingWarning")

LINES = [f"Line {n} of the report on tables." for n in range(9)]


@pytest.fixture
def pdf(tmp_path):
    path = tmp_path / "a.pdf"
    with pymupdf.open() as document:
        page = document.new_page()
        for at, line in enumerate(LINES):
            page.insert_text((72, 72 + 14 * at), line)
        document.save(path)
    return path


def difference(pdf, lines):
    return compare_pdf("a.pdf", pdf, [Page(1, "\n".join(lines), "physical")])


def test_the_same_text_is_kept_whole_in_order(pdf):
    found = difference(pdf, LINES)
    assert (found.kept, found.doubled, found.order) == (1.0, 0.0, 1.0)


def test_a_lost_line_and_a_doubled_line_are_seen(pdf):
    assert difference(pdf, LINES[1:]).kept < 0.95
    doubled = difference(pdf, [*LINES, LINES[0]])
    assert doubled.kept == 1.0
    assert doubled.doubled > 0.05


def test_another_order_is_seen(pdf):
    found = difference(pdf, LINES[::-1])
    assert (found.kept, found.doubled) == (1.0, 0.0)
    assert found.order < 0.7


class Reader:
    """Reads every file as one page, or refuses it."""

    def __init__(self, answer):
        self._answer = answer

    def parse(self, path, name):
        if isinstance(self._answer, str):
            return Parsed((Page(1, self._answer, "virtual"),), "x/1", "text/plain")
        raise self._answer


def row(file="a.txt", **changes):
    plain = {"format": "txt", "pages": 1, "phrases": ("甲 乙",), "verified": "two tools agree"}
    return Row(file, **(plain | changes))


def missed(answer, one, *, ocr=True):
    return read(Reader(answer), Path(), one, ocr=ocr).missed


def test_phrases_are_compared_without_white_space_and_borders():
    assert missed("前甲 |\n乙后", row()) == ()
    assert missed("前", row()) == ("no “甲 乙”",)


def test_pages_must_be_as_many():
    assert missed("甲乙", row(pages=3)) == ("1 pages, not 3",)


def test_a_refusal_must_be_expected_and_help():
    good = Refused("a.txt is damaged", "save it again")
    assert missed(good, row(verified="error expected")) == ()
    assert missed(good, row()) == ("refused",)
    assert missed(Refused("x"), row(verified="error expected")) != ()
    assert missed("甲乙", row(verified="error expected")) != ()


def test_a_scan_may_be_refused_only_without_ocr():
    scan = row(phrases=("[OCR p1] 第一篇 商品和货币",))
    refusal = Refused("a.txt has no text", "turn OCR on")
    assert missed(refusal, scan, ocr=False) == ()
    assert missed(refusal, scan) == ("refused",)
    assert missed("第一篇 商品和货市", scan) == ()


def test_a_garbled_phrase_is_only_expected_without_ocr():
    garbled = row(phrases=("浏览\ue001",))
    assert missed("浏览器", garbled) == ()
    assert missed("浏览器", garbled, ocr=False) != ()


def test_a_manifest_is_read(tmp_path):
    head = "file\tformat\tpages_or_units\tphrase_1\tphrase_2\tverified\n"
    manifest = head + "a/b.pdf\tpdf\t3\t甲\t\ttwo tools agree\n"
    (tmp_path / "MANIFEST.tsv").write_text(manifest, encoding="utf-8")
    assert load(tmp_path) == [Row("a/b.pdf", "pdf", 3, ("甲",), "two tools agree")]
    assert load(tmp_path / "none") == []
