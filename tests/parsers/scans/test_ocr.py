"""Pages without readable text are read by OCR, and whoever reads them is told so."""

import importlib.util
import unicodedata
from pathlib import Path

import numpy as np
import pymupdf
import pytest

from kb.errors import Refused
from kb.model import Drawing, Progress
from kb.parsers import session
from kb.parsers.pdf import pdf
from kb.parsers.scans import ocr
from kb.parsers.scans.ocr import Scan
from kb.parsers.scans.order import Seen
from kb.parsers.session import Session
from kb.ports import OcrOptions, ParseLimits
from kb.sandbox.sandbox import Sandbox

LINES = [
    "海州市数字档案馆建设规划",
    "二〇二六年度专项资金 5,000 万元",
    "Backup centre opens in 2027",
]
COLUMNS = ("项目", "金额")


def printed(lines=LINES):
    """A page with those lines, and two cells, as a picture of 130 dpi."""
    with pymupdf.open() as doc:
        page = doc.new_page(width=420, height=240)
        for n, line in enumerate(lines):
            page.insert_text((40, 50 + 40 * n), line, fontname="china-s", fontsize=14)
        for n, cell in enumerate(COLUMNS):
            page.insert_text(
                (40 + 220 * n, 50 + 40 * len(lines)), cell, fontname="china-s", fontsize=14
            )
        return page.get_pixmap(dpi=130)


def scanned(path, *, text="", blank=False):
    """A PDF of one scanned page, with a page of text before it and a blank one after it."""
    with pymupdf.open() as doc:
        if text:
            doc.new_page().insert_text((72, 100), text, fontname="china-s")
        page = doc.new_page(width=420, height=240)
        page.insert_image(page.rect, pixmap=printed())
        if blank:
            doc.new_page()
        doc.save(path)
    return path


@pytest.fixture
def asked():
    """Begin a session of one mode in this very process; what it tells comes as a list."""
    told = []
    before = session.current()

    def ask(mode):
        session.begin(Session(OcrOptions(mode), told.append))
        return told

    yield ask
    session.begin(before)


@pytest.fixture
def recognised(monkeypatch):
    """Stand in for the engine: every page drawn reads as its number of pixels across."""
    monkeypatch.setattr(
        ocr, "_read", lambda picture: Scan(f"{picture.width} wide", ((0, 0, 1, 1),))
    )


def squeezed(text):
    """Without spaces and the width of commas, which OCR does not tell."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def read(path, mode="auto", **limits):
    told = []
    box = Sandbox(ParseLimits(**limits), OcrOptions(mode))
    try:
        return box.parse(path, path.name, told.append), told
    finally:
        box.close()


def test_only_the_page_without_text_is_read_and_says_so(tmp_path):
    parsed, told = read(scanned(tmp_path / "x.pdf", text="第一章 总则", blank=True))
    assert [page.ocr for page in parsed.pages] == [False, True, False]
    assert parsed.pages[0].text == "第一章 总则"
    lines = parsed.pages[1].text.split("\n")
    assert [squeezed(line) for line in lines] == list(map(squeezed, (*LINES, " | ".join(COLUMNS))))
    x0, y0, x1, y1 = parsed.pages[1].boxes[0]
    assert (x0, x1) == (pytest.approx(40, abs=5), pytest.approx(40 + 12 * 14, abs=8))
    assert y0 < 50 - 5 < y1 < 50 + 10
    assert parsed.parser.endswith("+ocr1")
    assert [p.done for p in told if p.stage == "ocr"] == [0, 1]
    assert any("2" in w and "OCR" in w for w in parsed.warnings)
    assert any("3" in w and "空白" in w for w in parsed.warnings)


def test_switched_off_it_is_said_and_marked(tmp_path):
    parsed, _told = read(scanned(tmp_path / "x.pdf", text="第一章"), "off")
    assert [page.text for page in parsed.pages] == ["第一章", ""]
    assert parsed.parser.endswith("-ocr")
    assert any("KB_OCR" in warning for warning in parsed.warnings)


@pytest.mark.parametrize("mode", ["off", "auto"])
def test_a_document_of_nothing_is_refused(tmp_path, mode):
    with pymupdf.open() as doc:
        doc.new_page()
        doc.save(tmp_path / "x.pdf")
    with pytest.raises(Refused, match="空白"):
        read(tmp_path / "x.pdf", mode)


def test_a_scan_is_refused_when_ocr_is_off(tmp_path):
    with pytest.raises(Refused, match="KB_OCR=off") as error:
        read(scanned(tmp_path / "x.pdf"), "off")
    assert "KB_OCR=auto" in error.value.hint


def test_a_scan_that_holds_no_text_is_refused(tmp_path, asked, monkeypatch):
    asked("auto")
    monkeypatch.setattr(ocr, "_read", lambda picture: Scan("", ()))
    with pytest.raises(Refused, match="OCR 也没有识别出文字"):
        pdf.parse(scanned(tmp_path / "x.pdf"), "x.pdf")


def test_forced_every_page_is_read(tmp_path, asked, recognised):
    told = asked("force")
    parsed = pdf.parse(scanned(tmp_path / "x.pdf", text="第一章"), "x.pdf")
    assert [page.text.endswith("wide") for page in parsed.pages] == [True, True]
    assert session.current().mark(can_ocr=True) == "+ocr1!"
    assert [step for step in told if step.stage == "ocr"] == [
        Progress("ocr", n, 2) for n in range(3)
    ]


def test_text_without_a_character_map_is_read_from_the_page(tmp_path, asked, recognised):
    with pymupdf.open() as doc:
        doc.new_page().insert_text((72, 100), "\x03\x04\x05abc")
        doc.save(tmp_path / "x.pdf")
    asked("auto")
    parsed = pdf.parse(tmp_path / "x.pdf", "x.pdf")
    assert parsed.pages[0].ocr
    asked("off")
    parsed = pdf.parse(tmp_path / "x.pdf", "x.pdf")
    assert parsed.pages[0].text.endswith("abc")
    assert any("乱码" in warning for warning in parsed.warnings)


def test_a_page_that_breaks_the_engine_is_named_and_the_next_is_read(asked, monkeypatch):
    asked("auto")

    def read_one(picture):
        if picture.width == 1:
            raise RuntimeError("bad image")
        return Scan("text", ((0, 0, 1, 1),))

    monkeypatch.setattr(ocr, "_read", read_one)
    scans = ocr.read_pages({n: lambda n=n: Drawing(b"", n, 1, 1.0) for n in (1, 2)})
    assert (list(scans.pages), scans.failed) == ([2], [1])
    assert any("1" in warning for warning in scans.warnings())


def test_no_memory_is_no_page_of_a_document(asked, monkeypatch):
    asked("auto")

    def read_one(_picture):
        raise RuntimeError("[ONNXRuntimeError] Failed to allocate memory")

    monkeypatch.setattr(ocr, "_read", read_one)
    with pytest.raises(MemoryError):
        ocr.read_pages({1: lambda: Drawing(b"", 1, 1, 1.0)})


def test_a_document_of_endless_pages_is_read_to_the_limit(asked, recognised, monkeypatch):
    asked("auto")
    monkeypatch.setattr(ocr, "MAX_OCR_PAGES", 3)
    scans = ocr.read_pages({n: lambda: Drawing(b"", 1, 1, 1.0) for n in range(1, 6)})
    assert (list(scans.pages), scans.beyond) == ([1, 2, 3], [4, 5])


def test_without_the_library_the_page_waits(asked, monkeypatch):
    asked("auto")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    scans = ocr.read_pages({1: lambda: None})
    assert scans.unread == [1]
    assert "rapidocr" in "".join(scans.warnings()) + scans.refusal("x.pdf", 1)[0]
    assert session.current().mark(can_ocr=True) == "-ocr"


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_a_page_that_lies_on_its_side_is_turned_and_its_boxes_turned_back(turns, monkeypatch):
    """The engine stands in: it reads dark rows, well only where they are level and on top."""
    page = np.full((100, 60, 3), 255, np.uint8)
    rows = {n: (10 + 10 * n, 14 + 10 * n) for n in range(4)}
    for top, bottom in rows.values():
        page[top:bottom, 10:50] = 0
    page[0:4, 0:4] = 100  # the top left corner of the upright page
    turned = np.rot90(page, -turns)

    def engine(bgr):
        dark = bgr[:, :, 0] == 0
        level = bgr.shape[0] > bgr.shape[1]
        upright = bgr[1, 1, 0] == 100
        lines = np.argwhere(dark.any(axis=1 if level else 0)).ravel()[::4]
        score = 0.95 if level and upright else 0.6
        found = []
        for n, at in enumerate(lines):
            across = np.argwhere(dark.any(axis=0 if level else 1)).ravel()
            x0, x1, y0, y1 = across[0], across[-1] + 1, at, at + 4
            box = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
            corners = box if level else [(y, x) for x, y in box]
            found.append(Seen(f"line {n}", tuple(corners), score))
        return found

    monkeypatch.setattr(ocr, "_recognise", engine)
    samples = np.ascontiguousarray(turned).tobytes()
    scan = ocr._read(Drawing(samples, turned.shape[1], turned.shape[0], 1.0))
    assert scan.text == "line 0\nline 1\nline 2\nline 3"
    for (top, bottom), (x0, y0, x1, y1) in zip(rows.values(), scan.boxes, strict=True):
        upright = np.zeros((100, 60), bool)
        upright[top:bottom, 10:50] = True
        where = np.argwhere(np.rot90(upright, -turns))
        assert [y0, x0] == where.min(axis=0).tolist()
        assert [y1, x1] == (where.max(axis=0) + 1).tolist()


def test_a_page_of_any_size_is_drawn_within_bounds():
    for width, height in ((595, 842), (14_400, 14_400), (20, 14_400), (1, 1)):
        scale = ocr.scale_for(width, height)
        assert 0 < scale <= 2
        assert width * height * scale**2 <= 3_000_001
        assert max(width, height) * scale <= 4_001


def test_the_models_are_in_the_wheel():
    """They are named by path, so that nothing can ever be fetched."""
    spec = importlib.util.find_spec("rapidocr")
    models = Path(spec.origin).parent / "models"
    for name in ("PP-OCRv6_det_small.onnx", "PP-OCRv6_rec_small.onnx"):
        assert (models / name).stat().st_size > 1_000_000
