"""PDF lines, tables, rotation and damage, in small files made here."""

from contextlib import suppress

import pymupdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.errors import Refused
from kb.parsers.layout import tables
from kb.parsers.layout.lines import Fragment, join
from kb.parsers.layout.tables import Rule
from kb.parsers.pdf import page, pdf

FONT = "china-s"


@pytest.fixture
def doc():
    with pymupdf.open() as doc:
        yield doc


@pytest.fixture
def read(tmp_path):
    def read(doc, **options):
        path = tmp_path / "x.pdf"
        doc.save(path, **options)
        return pdf.parse(path, "x.pdf")

    return read


def put(page, x, y, text, size=11, **more):
    page.insert_text((x, y), text, fontname=FONT, fontsize=size, **more)


def grid(page, xs, ys):
    for x in xs:
        page.draw_line((x, ys[0]), (x, ys[-1]))
    for y in ys:
        page.draw_line((xs[0], y), (xs[-1], y))


def shown(parsed):
    return [page.text.split("\n") for page in parsed.pages]


def test_a_line_is_a_line_with_its_box(doc, read):
    page = doc.new_page()
    put(page, 72, 100, "第一章　总则")
    put(page, 72, 120, "为了规范数据管理，制定本办法。")
    (parsed,) = read(doc).pages
    assert parsed.text == "第一章　总则\n为了规范数据管理，制定本办法。"
    assert (parsed.kind, parsed.width, parsed.height) == ("physical", 595.0, 842.0)
    x0, y0, x1, y1 = parsed.boxes[0]
    assert x0 == pytest.approx(72, abs=1)
    assert y0 < 100 < y1 < 115
    assert x1 == pytest.approx(72 + 6 * 11, abs=2)


def test_fragments_on_one_baseline_are_one_line(doc, read):
    page = doc.new_page()
    put(page, 72, 100, "截至")
    put(page, 72 + 23, 100, "2023")
    put(page, 72 + 23 + 45, 100, "年末")
    assert shown(read(doc)) == [["截至2023年末"]]


def test_a_wide_gap_parts_cells(doc, read):
    page = doc.new_page()
    for y, row in ((100, ("姓名", "部门", "电话")), (120, ("沈知远", "业务科", "0142"))):
        for x, text in zip((72, 200, 330), row, strict=True):
            put(page, x, y, text)
    assert shown(read(doc)) == [["姓名 | 部门 | 电话", "沈知远 | 业务科 | 0142"]]


def test_a_spaced_title_is_not_a_table(doc, read):
    page = doc.new_page()
    put(page, 200, 100, "目", 16)
    put(page, 280, 100, "录", 16)
    assert shown(read(doc)) == [["目 录"]]


def test_columns_keep_their_order(doc, read):
    page = doc.new_page()
    for x, name in ((60, "左"), (330, "右")):
        for i in range(5):
            put(page, x, 100 + 20 * i, f"{name}栏第{i}行文字文字文字")
    (lines,) = shown(read(doc))
    assert [line[0] for line in lines] == ["左"] * 5 + ["右"] * 5


def test_a_page_written_from_the_bottom_up_is_turned_round(doc, read):
    page = doc.new_page()
    for i in reversed(range(8)):
        put(page, 72, 100 + 20 * i, f"第{i}行")
    assert shown(read(doc)) == [[f"第{i}行" for i in range(8)]]


def test_text_drawn_twice_is_shown_once(doc, read):
    page = doc.new_page()
    put(page, 72, 100, "项目描述：负责全文检索")
    put(page, 72.4, 100.2, "项目描述：")
    put(page, 72, 130, "重要", 14)
    put(page, 72.3, 130, "重要", 14)
    assert shown(read(doc)) == [["项目描述：负责全文检索", "重要"]]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a_rotated_page_reads_as_it_is_seen(doc, read, rotation):
    page = doc.new_page()
    put(page, 72, 100, "甲")
    put(page, 200, 100, "乙")
    put(page, 72, 130, "丙")
    page.set_rotation(rotation)
    parsed = read(doc).pages[0]
    assert parsed.text.split("\n") == ["甲 乙", "丙"]
    seen = page.search_for("丙")[0] * page.rotation_matrix
    assert parsed.boxes[1] == pytest.approx(tuple(seen.normalize()), abs=2)
    assert (parsed.width, parsed.height) == ((595, 842) if rotation % 180 == 0 else (842, 595))


def test_text_printed_sideways_is_joined_along_its_own_direction(doc, read):
    page = doc.new_page()
    put(page, 100, 700, "项目", rotate=90)
    put(page, 100, 600, "金额", rotate=90)
    put(page, 130, 700, "经费", rotate=90)
    assert shown(read(doc)) == [["项目 | 金额", "经费"]]


# Ruled tables


def test_a_ruled_row_is_one_line(doc, read):
    page = doc.new_page()
    put(page, 72, 80, "表一")
    grid(page, (72, 172, 222, 322), (100, 130, 170, 200))
    for x, y, text in (
        *((75, 120, "指标"), (175, 120, "单位"), (225, 120, "目标")),
        *((75, 143, "馆藏档案数字"), (75, 160, "化率"), (175, 150, "%"), (225, 150, "85")),
        *((75, 190, "移交"), (225, 190, "12")),
    ):
        put(page, x, y, text)
    put(page, 72, 230, "注：以上为预期性指标。")
    parsed = read(doc)
    assert shown(parsed) == [
        [
            "表一",
            "指标 | 单位 | 目标",
            "馆藏档案数字化率 | % | 85",
            "移交 |  | 12",
            "注：以上为预期性指标。",
        ]
    ]
    assert [(e.kind, e.line_start, e.line_end) for e in parsed.pages[0].elements] == [
        ("table", 2, 4)
    ]
    assert len(parsed.pages[0].boxes) == 5


def test_cells_that_nearly_touch_are_still_two(doc, read):
    page = doc.new_page()
    grid(page, (72, 105, 200), (100, 120, 140))
    put(page, 74, 115, "12345")
    put(page, 108, 115, "人民币普通股")
    put(page, 74, 135, "1")
    put(page, 108, 135, "股")
    assert shown(read(doc)) == [["12345 | 人民币普通股", "1 | 股"]]


def test_text_that_flows_over_a_rule_stays_whole(doc, read):
    page = doc.new_page()
    grid(page, (72, 150, 250), (100, 120, 140))
    put(page, 74, 115, "2、利润表项目变动的情况及原因")
    put(page, 74, 135, "单位")
    put(page, 154, 135, "万元")
    assert shown(read(doc)) == [["2、利润表项目变动的情况及原因 |", "单位 | 万元"]]


def test_merged_cells_are_shown_once(doc, read):
    page = doc.new_page()
    for y, start in ((100, 72), (130, 172), (160, 72)):
        page.draw_line((start, y), (372, y))
    for x, start in ((72, 100), (172, 100), (272, 130), (372, 100)):
        page.draw_line((x, start), (x, 160))
    for x, y, text in (
        (75, 135, "类别"),
        (180, 120, "用地指标"),
        (180, 150, "甲"),
        (280, 150, "乙"),
    ):
        put(page, x, y, text)
    assert shown(read(doc)) == [["类别 | 用地指标", "| 甲 | 乙"]]


def test_records_between_two_rules_are_told_apart_by_their_numbers(doc, read):
    page = doc.new_page()
    grid(page, (72, 172, 272), (100, 125, 200))
    put(page, 75, 118, "地区")
    put(page, 175, 118, "数量")
    for i, (name, number) in enumerate((("东区", "1,024"), ("西区", "37"), ("北区", "0"))):
        put(page, 75, 145 + 20 * i, name)
        put(page, 175, 145 + 20 * i, number)
    assert shown(read(doc)) == [["地区 | 数量", "东区 | 1,024", "西区 | 37", "北区 | 0"]]


def test_open_sides_belong_to_the_table(doc, read):
    page = doc.new_page()
    for y in (100, 120, 140):
        page.draw_line((72, y), (372, y))
    for x in (172, 272):
        page.draw_line((x, 100), (x, 140))
    for y, row in ((115, "甲乙丙"), (135, "丁戊己")):
        for x, text in zip((75, 175, 275), row, strict=True):
            put(page, x, y, text)
    assert shown(read(doc)) == [["甲 | 乙 | 丙", "丁 | 戊 | 己"]]


def test_a_frame_of_one_cell_keeps_its_lines(doc, read):
    page = doc.new_page()
    grid(page, (72, 222, 372), (100, 120, 140))
    page.draw_rect((72, 140, 372, 220))
    for x, y, text in ((75, 115, "甲"), (225, 115, "乙"), (75, 135, "丙"), (225, 135, "丁")):
        put(page, x, y, text)
    put(page, 75, 165, "说明第一行，")
    put(page, 75, 185, "说明第二行。")
    assert shown(read(doc)) == [["甲 | 乙", "丙 | 丁", "说明第一行，", "说明第二行。"]]


RULES = st.builds(
    Rule,
    st.integers(0, 30).map(lambda n: n * 20.0),
    st.just(0.0),
    st.integers(5, 30).map(lambda n: n * 20.0),
)
PLACES = st.tuples(st.integers(0, 600), st.integers(0, 600))


@given(st.lists(RULES, max_size=12), st.lists(RULES, max_size=12), st.lists(PLACES, max_size=30))
@settings(deadline=None)
def test_a_table_loses_no_text(across, down, places):
    found = tables.find(across, down)
    fragments = [
        Fragment(f"〈{i}〉", (x, y, x + 8.0, y + 8.0)) for i, (x, y) in enumerate(set(places))
    ]
    for table in found:
        own = [f for f in fragments if table.cell_at(f.box[0] + 4, f.box[1] + 4)]
        table.content.clear()
        for fragment in own:
            cell = table.cell_at(fragment.box[0] + 4, fragment.box[1] + 4)
            table.content.setdefault(cell, []).append(fragment)
        text = "".join(line.text for line in table.lines(1))
        for fragment in own:
            assert text.count(fragment.text) == 1


@given(st.lists(st.tuples(PLACES, st.sampled_from(["甲", "乙丙", "word", "12"])), max_size=20))
def test_joining_loses_no_character(items):
    fragments = [Fragment(t, (x, y, x + 10.0 * len(t), y + 10.0)) for (x, y), t in items]
    kept = "".join(line.text.replace(" | ", "").replace(" ", "") for line in join(fragments))
    assert set(kept) == {char for _, text in items for char in text}


# Whole documents


def test_labels_are_kept_beside_numbers(doc, read):
    for _ in range(4):
        put(doc.new_page(), 72, 100, "文")
    doc.set_page_labels([{"startpage": 0, "style": "r"}, {"startpage": 2, "style": "D"}])
    assert [page.label for page in read(doc).pages] == ["i", "ii", "1", "2"]


def test_pages_without_text_are_named(doc, read):
    for text in ("甲", "", "丙", ""):
        page = doc.new_page()
        put(page, 72, 100, text)
    parsed = read(doc)
    assert shown(parsed) == [["甲"], [""], ["丙"], [""]]
    assert "2、4" in parsed.warnings[0]
    assert parsed.pages[1].boxes == ()


def test_a_document_without_any_text_is_refused(doc, read):
    doc.new_page().draw_rect((10, 10, 100, 100))
    with pytest.raises(Refused, match="扫描") as error:
        read(doc)
    assert "OCR" in error.value.hint


def test_a_password_is_asked_for(doc, read):
    put(doc.new_page(), 72, 100, "密")
    with pytest.raises(Refused, match=r"x\.pdf"):
        read(doc, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="u", owner_pw="o")


def test_an_owner_password_alone_is_no_obstacle(doc, read):
    put(doc.new_page(), 72, 100, "公开")
    assert shown(read(doc, encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="o")) == [["公开"]]


def test_a_cut_file_is_read_with_a_warning_or_refused(doc, tmp_path):
    for i in range(6):
        put(doc.new_page(), 72, 100, f"第{i}页文字")
    whole = doc.tobytes()
    path = tmp_path / "cut.pdf"
    for share in (0.3, 0.6, 0.9, 0.99):
        path.write_bytes(whole[: int(len(whole) * share)])
        with suppress(Refused):
            assert pdf.parse(path, "cut.pdf").warnings


@pytest.fixture
def with_damage(doc, tmp_path):
    """A page of as many lines as streams, some of which are overwritten."""

    def with_damage(lines, broken):
        page = doc.new_page()
        for i in range(lines):
            put(page, 72, 60 + 18 * i, f"第{i}行文字")
        data = doc.tobytes(deflate=True)
        with pymupdf.open(stream=data, filetype="pdf") as saved:
            for xref in saved[0].get_contents()[-broken:]:
                raw = saved.xref_stream_raw(xref)
                assert data.count(raw) == 1
                data = data.replace(raw, b"\xff" * len(raw))
        path = tmp_path / "x.pdf"
        path.write_bytes(data)
        return path

    return with_damage


def test_a_damaged_stream_is_said_though_mupdf_is_silent(with_damage):
    parsed = pdf.parse(with_damage(lines=9, broken=1), "x.pdf")
    assert 0 < len(parsed.pages[0].text.split("\n")) < 9
    assert "第 1 页有损坏" in parsed.warnings[0]


def test_a_document_that_lost_all_its_text_is_not_called_a_scan(with_damage):
    with pytest.raises(Refused, match="损坏"):
        pdf.parse(with_damage(lines=3, broken=99), "x.pdf")


def test_control_characters_are_glyphs_without_a_letter():
    assert page.visible("a\x03b\tc\x85") == "a\ufffdb c\ufffd"
    assert pdf._is_garbled("7KH\ufffdTXLFN\ufffdEURZQ\ufffdIR[")
    assert not pdf._is_garbled("正常的文字，偶有一个\ufffd也不要紧。")


def test_arabic_fragments_run_from_right_to_left():
    fragments = [Fragment("مرحبا", (200.0, 0, 240, 10)), Fragment("بكم", (160.0, 0, 195, 10))]
    assert join(fragments)[0].text == "مرحبا بكم"
