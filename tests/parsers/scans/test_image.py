"""Images as documents: checked before they are decoded, read by OCR, or refused."""

import struct
import zlib

import pytest
from PIL import Image

from kb.errors import Refused
from kb.parsers import session
from kb.parsers.registry import Registry
from kb.parsers.scans import image, ocr
from kb.parsers.scans.ocr import Scan
from kb.parsers.session import Session
from kb.ports import OcrOptions, ParseLimits
from kb.sandbox.checks import check

REGISTRY = Registry()


def ramp(size=(300, 200), mode="RGB"):
    """An image that is not of one colour."""
    return Image.linear_gradient("L").resize(size).convert(mode)


@pytest.fixture
def drawn(monkeypatch):
    """Stand in for the engine: the pictures that it was given."""
    pictures = []

    def read(picture):
        pictures.append(picture)
        return Scan("文字", ((0.0, 0.0, 1.0, 1.0),))

    before = session.current()
    session.begin(Session(OcrOptions()))
    monkeypatch.setattr(ocr, "_read", read)
    yield pictures
    session.begin(before)


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".tif", ".bmp", ".webp"])
def test_an_image_is_a_page(tmp_path, drawn, suffix):
    path = tmp_path / f"x{suffix}"
    ramp().save(path, dpi=(72, 72))
    assert check(path, path.name, REGISTRY, ParseLimits()).name == "image"
    (page,) = image.parse(path, path.name).pages
    assert (page.text, page.kind, page.ocr) == ("文字", "physical", True)
    assert (page.width, page.height) == pytest.approx((300, 200), abs=0.1)
    assert (drawn[0].width, drawn[0].height, len(drawn[0].rgb)) == (300, 200, 180_000)


def test_every_image_of_a_tiff_is_a_page_in_points_of_its_resolution(tmp_path, drawn):
    path = tmp_path / "x.tiff"
    pages = [ramp((600, 900), "1"), ramp((3000, 2000), "L")]
    pages[0].save(path, save_all=True, append_images=pages[1:], dpi=(300, 300))
    found = image.parse(path, path.name).pages
    assert [(p.number, p.width, p.height) for p in found] == [(1, 144, 216), (2, 720, 480)]
    assert drawn[1].width * drawn[1].height <= 3_000_000
    assert drawn[1].scale == pytest.approx(drawn[1].width / 720, rel=0.01)


def test_a_photograph_is_turned_the_way_it_was_taken(tmp_path, drawn):
    path = tmp_path / "x.jpg"
    exif = Image.Exif()
    exif[0x0112] = 6
    ramp().save(path, exif=exif)
    (page,) = image.parse(path, path.name).pages
    assert (page.width, page.height) == (200, 300)


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "I;16"])
def test_what_is_transparent_is_paper(tmp_path, drawn, mode):
    path = tmp_path / "x.png"
    if mode == "I;16":
        Image.new(mode, (40, 40), 65535).save(path)
    elif mode == "P":
        Image.new(mode, (40, 40)).save(path, transparency=0)
    else:
        Image.new(mode, (40, 40)).save(path)
    image.parse(path, path.name)
    assert set(drawn[0].rgb) <= {254, 255}


def test_images_go_by_what_they_are_under_each_others_names(write):
    webp = b"RIFF\x10\0\0\0WEBPVP8 " + bytes(20)
    for content in (b"\x89PNG\r\n\x1a\n", b"II+\x00" + bytes(20), webp, b"BM" + bytes(40)):
        assert check(write("x.jpg", content), "x.jpg", REGISTRY, ParseLimits())
    with pytest.raises(Refused, match="PDF"):
        check(write("y.jpg", "%PDF-1.7"), "y.jpg", REGISTRY, ParseLimits())


@pytest.mark.parametrize("text", ["BM 公司年度报告，全文如下", "RIFF 是一种文件格式"])
def test_a_text_that_begins_like_an_image_is_a_text(write, text):
    assert check(write("x.txt", text), "x.txt", REGISTRY, ParseLimits()).name == "text"


def png(width, height):
    """A header that promises that many pixels."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = b"IHDR" + head
    chunk = struct.pack(">I", 13) + body + struct.pack(">I", zlib.crc32(body))
    return b"\x89PNG\r\n\x1a\n" + chunk + struct.pack(">I", 1 << 20) + b"IDAT"


def test_too_many_pixels_are_refused_before_they_are_decoded(write, drawn):
    with pytest.raises(Refused, match="50000×40000"):
        image.parse(write("x.png", png(50_000, 40_000)), "x.png")
    assert not drawn


@pytest.mark.parametrize(
    "content", [b"\x89PNG\r\n\x1a\n", b"BM" + bytes(40), b"II*\x00\xff\xff\xff\x7f"]
)
def test_a_broken_image_is_refused_by_name(write, drawn, content):
    with pytest.raises(Refused, match=r"x\.png"):
        image.parse(write("x.png", content), "x.png")


def test_a_cut_image_holds_no_text(tmp_path, drawn):
    path = tmp_path / "x.png"
    ramp((800, 800)).save(path)
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(Refused):
        image.parse(path, path.name)


def test_without_ocr_an_image_is_refused_with_the_way_out(tmp_path):
    path = tmp_path / "x.png"
    ramp().save(path)
    with pytest.raises(Refused, match="KB_OCR=off") as error:
        image.parse(path, path.name)
    assert "KB_OCR=auto" in error.value.hint
