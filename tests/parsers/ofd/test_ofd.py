"""Each trap of OFD, in a small file made here."""

import time
import zipfile

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.errors import Refused
from kb.parsers.ofd import ofd
from kb.parsers.ofd.geometry import POINTS, deltas, strokes
from kb.parsers.scans.ocr import Scan, Scans
from kb.text.noise import mark_noise

NS = 'xmlns:o="http://www.ofdspec.org/2016"'
FILL = "".join(chr(0x4E00 + i) for i in range(20))


def text(content, x, y, **more):
    """A text object of size 4 mm whose base line starts at (x, y + 4)."""
    own = {"DeltaX": "4"} if "DeltaY" not in more else {}
    code = {"X": "0", "Y": "4", **own, **{k: v for k, v in more.items() if k.startswith("Delta")}}
    attributes = "".join(f' {k}="{v}"' for k, v in more.items() if k[0].isupper() and k not in code)
    inside = more.get("inside", "")
    places = "".join(f' {k}="{v}"' for k, v in code.items())
    return (
        f'<o:TextObject Boundary="{x} {y} 100 5" Size="4"{attributes}>{inside}'
        f"<o:TextCode{places}>{content}</o:TextCode></o:TextObject>"
    )


def line(x0, y0, x1, y1):
    return (
        f'<o:PathObject Boundary="{x0} {y0} {x1 - x0} {y1 - y0}"><o:AbbreviatedData>'
        f"M 0 0 L {x1 - x0} {y1 - y0}</o:AbbreviatedData></o:PathObject>"
    )


def page(*objects, template=""):
    return (
        f"<o:Page {NS}>{template}<o:Content><o:Layer>{''.join(objects)}</o:Layer></o:Content>"
        "</o:Page>"
    )


def document(pages, common="", more=""):
    entries = "".join(
        f'<o:Page ID="{i}" BaseLoc="{place}"/>' for i, place in enumerate(pages, start=1)
    )
    area = "<o:PageArea><o:PhysicalBox>0 0 210 297</o:PhysicalBox></o:PageArea>"
    return (
        f"<o:Document {NS}><o:CommonData>{area}{common}</o:CommonData><o:Pages>{entries}</o:Pages>"
        f"{more}</o:Document>"
    )


def body(root="Doc_0/Document.xml", info=""):
    return f"<o:DocBody>{info}<o:DocRoot>{root}</o:DocRoot></o:DocBody>"


def root(*bodies):
    return f"<o:OFD {NS}>{''.join(bodies or (body(),))}</o:OFD>"


@pytest.fixture
def read(tmp_path):
    """Parse a package of parts; one page is enough to say where there is no document."""

    def read(parts):
        path = tmp_path / "x.ofd"
        whole = {"OFD.xml": root(), "Doc_0/Document.xml": document(["P.xml"]), **parts}
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in whole.items():
                archive.writestr(name, content)
        return ofd.parse(path, "x.ofd")

    return read


def one(read, *objects):
    """The lines of a page of `objects`."""
    return read({"Doc_0/P.xml": page(*objects)}).pages[0].text.split("\n")


def test_pages_follow_the_declared_order_and_documents_one_another(read):
    titled = "<o:DocInfo><o:Title>附件一</o:Title></o:DocInfo>"
    parsed = read(
        {
            "OFD.xml": root(body(), body("Doc_1/Document.xml", titled)),
            "Doc_0/Document.xml": document(["Pages/Page_10/C.xml", "Pages/Page_2/C.xml"]),
            "Doc_0/Pages/Page_10/C.xml": page(text("第十在前", 10, 10)),
            "Doc_0/Pages/Page_2/C.xml": page(text("第二在后", 10, 10)),
            "Doc_1/Document.xml": document(["C.xml"]),
            "Doc_1/C.xml": page(text("另一文档", 10, 10)),
        }
    )
    assert [(p.number, p.text) for p in parsed.pages] == [
        (1, "第十在前"),
        (2, "第二在后"),
        (3, "另一文档"),
    ]
    assert "附件一" in parsed.warnings[0]
    assert "3" in parsed.warnings[0]


def test_shuffled_codes_become_visual_lines(read):
    objects = [
        text("元", 42, 10),
        text("第三行", 10, 30),
        text("3200万", 22, 10, DeltaX="g 3 2 4"),
        text("第二行", 10, 20),
        text("经费为", 10, 10),
    ]
    assert one(read, *objects) == ["经费为3200万 元", "第二行", "第三行"]


def test_a_huge_count_costs_nothing(read):
    bomb = '<o:CGTransform CodePosition="0" CodeCount="1000000000" GlyphCount="1000000000"/>'
    started = time.monotonic()
    assert one(read, text("安全", 10, 10, DeltaX="g 1000000000 4", inside=bomb)) == ["安全"]
    assert time.monotonic() - started < 1


def test_glyphs_without_characters_are_said(read):
    glyphs = (
        '<o:CGTransform CodeCount="3" GlyphCount="3"><o:Glyphs>7 8 9</o:Glyphs></o:CGTransform>'
    )
    parsed = read({"Doc_0/P.xml": page(text("甲", 10, 10, inside=glyphs))})
    assert "2 个字形" in parsed.warnings[0]


def test_several_characters_of_one_glyph_take_one_step(read):
    ligature = '<o:CGTransform CodePosition="1" CodeCount="2" GlyphCount="1"/>'
    parsed = read({"Doc_0/P.xml": page(text("offer", 10, 10, DeltaX="2 2 2", inside=ligature))})
    assert parsed.pages[0].text == "offer"
    assert parsed.pages[0].boxes[0][2] == pytest.approx((10 + 3 * 2 + 2) * 72 / 25.4, abs=0.2)


def test_template_text_is_page_text(read):
    parts = {
        "Doc_0/Document.xml": document(["P.xml"], '<o:TemplatePage ID="9" BaseLoc="T.xml"/>'),
        "Doc_0/T.xml": page(text("名称：", 10, 10)),
        "Doc_0/P.xml": page(text("海州公司", 22, 10), template='<o:Template TemplateID="9"/>'),
    }
    assert read(parts).pages[0].text == "名称：海州公司"


def test_composite_objects_are_followed_and_placed(read):
    unit = f"<o:Content>{text('深处', 10, 10)}</o:Content>"
    resources = (
        f'<o:Res {NS}><o:CompositeGraphicUnits><o:CompositeGraphicUnit ID="5">{unit}'
        "</o:CompositeGraphicUnit></o:CompositeGraphicUnits></o:Res>"
    )
    holder = '<o:CompositeObject ResourceID="5" Boundary="50 60 9 9" CTM="0.5 0 0 0.5 0 0"/>'
    parts = {
        "Doc_0/Document.xml": document(["P.xml"], "<o:DocumentRes>R.xml</o:DocumentRes>"),
        "Doc_0/R.xml": resources,
        "Doc_0/P.xml": page(f"<o:PageBlock><o:PageBlock>{holder}</o:PageBlock></o:PageBlock>"),
    }
    found = read(parts).pages[0]
    assert found.text == "深处"
    assert found.boxes[0][0] == pytest.approx(55 * 72 / 25.4, abs=0.1)


def test_units_that_hold_themselves_end(read):
    again = '<o:CompositeObject ResourceID="5"/>' * 9
    resources = (
        f'<o:Res {NS}><o:CompositeGraphicUnits><o:CompositeGraphicUnit ID="5"><o:Content>{again}'
        "</o:Content></o:CompositeGraphicUnit></o:CompositeGraphicUnits></o:Res>"
    )
    parts = {
        "Doc_0/Document.xml": document(["P.xml"], "<o:PublicRes>R.xml</o:PublicRes>"),
        "Doc_0/R.xml": resources,
        "Doc_0/P.xml": page(text("正文", 10, 10), '<o:CompositeObject ResourceID="5"/>'),
    }
    parsed = read(parts)
    assert parsed.pages[0].text == "正文"
    assert "1" in parsed.warnings[0]


def test_what_is_missing_is_named(read):
    parsed = read(
        {
            "Doc_0/Document.xml": document(["P.xml", "Q.xml"], "<o:PublicRes>R.xml</o:PublicRes>"),
            "Doc_0/P.xml": page(text("正文", 10, 10), template='<o:Template TemplateID="9"/>'),
        }
    )
    said = "\n".join(parsed.warnings)
    assert len(parsed.pages) == 2
    for name in ("R.xml", "Q.xml", "Template 9", "第 2 页"):
        assert name in said


@pytest.mark.parametrize(
    ("declared", "stored"),
    [
        ("/Doc_0/页/C.xml", "Doc_0/页/C.xml"),
        ("./P/C.xml", "Doc_0/P/C.xml"),
        ("P\\C.XML", "Doc_0/p/c.xml"),
        ("Doc_0/P/C.xml", "Doc_0/P/C.xml"),
        ("/P/C.xml", "Doc_0/P/C.xml"),
    ],
)
def test_locations_are_found_however_they_are_written(read, declared, stored):
    parts = {"Doc_0/Document.xml": document([declared]), stored: page(text("找到", 10, 10))}
    assert read(parts).pages[0].text == "找到"


def test_zip_names_may_be_gbk(tmp_path):
    path = tmp_path / "x.ofd"
    holder = "ABCDEF"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("OFD.xml", root())
        archive.writestr("Doc_0/Document.xml", document(["第一页/C.xml"]))
        archive.writestr(f"Doc_0/{holder}/C.xml", page(text("找到", 10, 10)))
    path.write_bytes(path.read_bytes().replace(holder.encode(), "第一页".encode("gbk")))
    assert ofd.parse(path, "x.ofd").pages[0].text == "找到"


def test_a_stacked_label_is_one_word_of_its_row(read):
    rules = [line(10, y, 110, y) for y in (10, 40, 50)]
    rules += [line(x, 10, x, 50) for x in (10, 20, 110)]
    objects = [
        text("购买方", 12, 12, DeltaY="8 8"),
        text("名称：海州公司", 24, 12),
        text("税号：", 24, 20),
        text("911000", 36, 20, DeltaX="2"),
        text("备", 12, 42),
        text("注", 12, 45.5),
        text("无", 24, 42),
    ]
    assert one(read, *rules, *objects) == [
        "购买方 | 名称：海州公司",
        "税号：911000",
        "备注 | 无",
    ]


def test_goods_in_one_ruled_field_are_lines_and_broken_text_is_not(read):
    rules = [line(10, y, 110, y) for y in (10, 40, 60)]
    rules += [line(x, 10, x, 60) for x in (10, 50, 110)]
    goods = [text(f"货物{n}", 12, 12 + 6 * i) for i, n in enumerate("甲乙丙")]
    prices = [text("10", 60, 12 + 6 * i, DeltaX="2") for i in range(3)]
    broken = [text(FILL[:9], 12, 42), text(FILL[9:12], 12, 47), text("值", 60, 44.5)]
    parsed = read({"Doc_0/P.xml": page(*rules, *goods, *prices, *broken)})
    assert parsed.pages[0].text.split("\n") == [
        "货物甲 | 10",
        "货物乙 | 10",
        "货物丙 | 10",
        f"{FILL[:12]} | 值",
    ]
    assert [(e.kind, e.line_start, e.line_end) for e in parsed.pages[0].elements] == [
        ("table", 1, 4)
    ]


def test_columns_of_prose_are_read_one_after_another(read):
    left = [text(f"左{i}{FILL[:18]}", 10, 20 + 6 * i) for i in range(4)]
    right = [text(f"右{i}{FILL[:18]}", 110, 20 + 6 * i) for i in range(4)]
    head = text("横贯全页的标题", 80, 10)
    mixed = [part for pair in zip(right, left, strict=True) for part in pair]
    found = "".join(entry[:2] for entry in one(read, *mixed, head))
    assert found == "横贯左0左1左2左3右0右1右2右3"


def test_vertical_pages_are_read_from_the_right(read):
    columns = [text(FILL[5 * i : 5 * i + 5], 100 - 8 * i, 10, DeltaY="4") for i in range(3)]
    found = one(read, *reversed(columns))
    assert found == [FILL[:5], FILL[5:10], FILL[10:15]]


def test_a_code_that_wraps_is_several_lines(read):
    assert one(read, text("甲乙丙丁", 10, 10, DeltaX="4 -4 4", DeltaY="0 6 0")) == ["甲乙", "丙丁"]


def test_a_broken_text_stays_together_beside_others(read):
    wrapped = text(FILL[:10] + "续行", 100, 10, DeltaX="g 9 4 -36 4", DeltaY="g 9 0 6 0")
    label = text("地址：", 88, 10)
    assert one(read, wrapped, label, text("编号", 10, 16)) == [f"地址：{FILL[:10]}", "续行", "编号"]


def test_text_that_nobody_sees_is_left_out_and_counted(read):
    hidden = [text("隐藏", 10, 20, Visible="false"), text("透明", 10, 30, Alpha="0")]
    parsed = read({"Doc_0/P.xml": page(text("可见", 10, 10), *hidden, text("页外", 300, 10))})
    assert parsed.pages[0].text == "可见"
    assert "4" in parsed.warnings[0]


def test_the_text_layer_of_a_scan_is_read(read):
    image = '<o:ImageObject ResourceID="1" Boundary="0 0 210 297" CTM="210 0 0 297 0 0"/>'
    assert one(read, image, text("扫描文字", 10, 20, Visible="false")) == ["扫描文字"]


def annotated(appearance, kind="Stamp"):
    return {
        "Doc_0/Document.xml": document(["P.xml"], "", "<o:Annotations>A.xml</o:Annotations>"),
        "Doc_0/P.xml": page(text("正文", 10, 10)),
        "Doc_0/A.xml": f'<o:Annotations {NS}><o:Page PageID="1"><o:FileLoc>N.xml</o:FileLoc></o:Page>'
        "</o:Annotations>",
        "Doc_0/N.xml": f'<o:PageAnnot {NS}><o:Annot Type="{kind}"><o:Remark>批语</o:Remark>'
        f'<o:Appearance Boundary="20 30 90 90">{appearance}</o:Appearance></o:Annot></o:PageAnnot>',
    }


def test_annotations_are_notes_at_the_end(read):
    found = read(annotated(text("已作废", 0, 0))).pages[0]
    assert found.text == "正文\n已作废\n批语"
    assert [(e.kind, e.line_start, e.line_end) for e in found.elements] == [("note", 2, 3)]
    assert found.noise == ()
    assert found.boxes[1][0] == pytest.approx(20 * 72 / 25.4, abs=0.1)


@pytest.mark.parametrize("kind", ["Watermark", "Stamp"])
def test_watermarks_are_shown_once_and_never_indexed(read, kind):
    tiles = "".join(text("保密", 10 * i, 20 * i) for i in range(4))
    found = mark_noise(read(annotated(tiles, kind)).pages)[0]
    assert found.text.split("\n").count("保密") == 1
    assert found.noise == (2, 3)


def test_attachments_are_named(read):
    parsed = read(
        {
            "Doc_0/Document.xml": document(["P.xml"], "", "<o:Attachments>A.xml</o:Attachments>"),
            "Doc_0/P.xml": page(text("正文", 10, 10)),
            "Doc_0/A.xml": f'<o:Attachments {NS}><o:Attachment Name="清单" Format="xlsx"/>'
            "</o:Attachments>",
        }
    )
    assert "清单.xlsx" in parsed.warnings[0]


def test_pages_have_their_size_in_points(read):
    own = "<o:Area><o:PhysicalBox>0 0 100 50</o:PhysicalBox></o:Area>"
    found = read({"Doc_0/P.xml": page(text("正文", 10, 10), template=own)}).pages[0]
    assert (found.width, found.height) == pytest.approx((283.46, 141.73), abs=0.01)


def test_a_page_without_text_is_named_and_a_document_refused(read):
    drawn = page(line(10, 10, 90, 90))
    parts = {
        "Doc_0/Document.xml": document(["P.xml", "Q.xml"]),
        "Doc_0/P.xml": page(text("正文", 10, 10)),
        "Doc_0/Q.xml": drawn,
    }
    assert "2" in read(parts).warnings[0]
    with pytest.raises(Refused, match=r"x\.ofd.*1 页"):
        read({"Doc_0/P.xml": drawn})


@pytest.fixture
def scanned(monkeypatch):
    """Pages that OCR was asked for, as they were drawn; it reads 扫描 on every one."""
    drawn = {}

    def read_pages(pages):
        drawn.update({number: draw() for number, draw in pages.items()})
        scan = Scan("扫\n描", ((0, 0, 1, 1), (0, 1, 1, 2)))
        return Scans(pages=dict.fromkeys(pages, scan))

    monkeypatch.setattr(ofd.ocr, "read_pages", read_pages)
    return drawn


def pixel(picture, x, y):
    """The colour at a place given in millimetres."""
    place = (int(y * POINTS * picture.scale) * picture.width + int(x * POINTS * picture.scale)) * 3
    return tuple(picture.rgb[place : place + 3])


IMAGE = '<o:ImageObject ResourceID="7" Boundary="20 20 80 80" CTM="80 0 0 80 0 0"/>'


def test_pictures_and_drawings_go_to_ocr_and_annotations_stay(read, scanned):
    media = '<o:MultiMedia ID="7"><o:MediaFile>p.png</o:MediaFile></o:MultiMedia>'
    red = pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 8, 8), 0)
    red.set_rect(red.irect, (255, 0, 0))
    blue = (
        '<o:PathObject Boundary="120 20 40 40" Fill="true" Stroke="false">'
        '<o:FillColor Value="#0 #0 #ff"/><o:AbbreviatedData>S 0 0 L 40 0 Q 40 20 40 40 '
        "B 30 40 10 40 0 40 C</o:AbbreviatedData></o:PathObject>"
    )
    parsed = read(
        {
            **annotated(text("批注", 0, 0)),
            "Doc_0/Document.xml": document(
                ["P.xml", "Q.xml", "E.xml"],
                "<o:DocumentRes>R.xml</o:DocumentRes>",
                "<o:Annotations>A.xml</o:Annotations>",
            ),
            "Doc_0/R.xml": f'<o:Res {NS} BaseLoc="Res"><o:MultiMedias>{media}</o:MultiMedias></o:Res>',
            "Doc_0/Res/p.png": red.tobytes("png"),
            "Doc_0/P.xml": page(IMAGE, blue),
            "Doc_0/Q.xml": page(text("正文", 10, 10), IMAGE),
            "Doc_0/E.xml": page(),
        }
    )
    assert list(scanned) == [1]
    assert [p.text for p in parsed.pages] == ["扫\n描\n批注\n批语", "正文", ""]
    assert [p.ocr for p in parsed.pages] == [True, False, False]
    assert [(e.kind, e.line_start, e.line_end) for e in parsed.pages[0].elements] == [
        ("note", 3, 4)
    ]
    assert len(parsed.pages[0].boxes) == 4
    found = [pixel(scanned[1], *place) for place in ((60, 60), (140, 30), (10, 10))]
    assert found == [(255, 0, 0), (0, 0, 255), (255, 255, 255)]


def test_garbled_text_is_drawn_in_its_own_font_and_read(read, scanned):
    font = '<o:Font ID="9"><o:FontFile>f.ttf</o:FontFile></o:Font>'
    parsed = read(
        {
            **annotated(text("批注", 0, 0)),
            "Doc_0/Document.xml": document(
                ["P.xml", "Q.xml"],
                "<o:PublicRes>R.xml</o:PublicRes>",
                "<o:Annotations>A.xml</o:Annotations>",
            ),
            "Doc_0/R.xml": f"<o:Res {NS}><o:Fonts>{font}</o:Fonts></o:Res>",
            "Doc_0/f.ttf": pymupdf.Font("helv").buffer,
            "Doc_0/P.xml": page(text("H\ue000\ue001", 10, 10, Font="9")),
            "Doc_0/Q.xml": page(text("正文" * 20 + "\ue000", 10, 10)),
        }
    )
    assert list(scanned) == [1]
    assert [p.text for p in parsed.pages][0] == "扫\n描\n批注\n批语"
    assert not any("乱码" in warning for warning in parsed.warnings)
    picture = scanned[1]
    dark = [i for i in range(0, len(picture.rgb), 3) if picture.rgb[i] < 100]
    columns = sorted(i // 3 % picture.width / picture.scale / POINTS for i in dark)
    assert columns[0] > 10
    assert columns[-1] < 22


def test_every_page_is_drawn_where_ocr_is_forced(read, scanned, monkeypatch):
    monkeypatch.setattr(ofd.ocr, "is_forced", lambda: True)
    parsed = read({"Doc_0/P.xml": page(text("正文", 10, 10))})
    assert scanned[1] is not None
    assert parsed.pages[0].text == "扫\n描"


def test_a_picture_that_is_none_leaves_its_place_empty(read, scanned):
    parsed = read({"Doc_0/P.xml": page(IMAGE, line(10, 10, 90, 90))})
    assert parsed.pages[0].ocr
    assert pixel(scanned[1], 25, 95) == (255, 255, 255)


@pytest.mark.parametrize("part", ["OFD.xml", "Doc_0/Document.xml", "Doc_0/P.xml"])
@pytest.mark.parametrize("content", ["", "<x", "<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>"])
def test_broken_parts_are_refused_by_name(read, part, content):
    with pytest.raises(Refused, match=r"x\.ofd"):
        read({"Doc_0/P.xml": page(text("正文", 10, 10)), part: content})


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(-9, 9))), st.integers(0, 30))
def test_deltas_spell_out_their_repeats(pairs, count):
    plain = [float(step) for repeat, step in pairs for _ in range(repeat)]
    found = deltas(" ".join(f"g {repeat} {step}" for repeat, step in pairs), count)
    assert len(found) in {0, count}
    assert found[: len(plain)] == plain[:count]


@given(st.text(alphabet="MLQBACS0123456789 .-ge", max_size=60), st.integers(0, 9))
def test_any_numbers_are_read_or_left(written, count):
    assert len(deltas(written, count)) in {0, count}
    assert all(len(piece) > 1 for piece in strokes(written))
