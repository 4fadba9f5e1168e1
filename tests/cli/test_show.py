from __future__ import annotations

import json
import shutil
from pathlib import Path

import pymupdf
import pytest
from PIL import Image

import ingest
from kb.app import KnowledgeBase
from kb.cli.show import show
from kb.config import ROOT, Settings
from kb.errors import InvalidInput, NotFound, ParseFailed, Refused
from kb.model import Drawing
from kb.sandbox.wire import decode_drawing, encode_drawing

PLAN = "海州市数字档案建设规划.pdf"


@pytest.fixture
def kb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnowledgeBase:
    made = KnowledgeBase(
        Settings(_env_file=None, data_dir=tmp_path / "data", embedder="none", ocr="off")
    )
    monkeypatch.setattr(ingest, "open_kb", lambda: made)
    return made


@pytest.fixture
def plan(kb: KnowledgeBase, tmp_path: Path) -> Path:
    path = tmp_path / PLAN
    shutil.copy(ROOT / "samples" / PLAN, path)
    kb.ingest(path, PLAN)
    return path


def test_the_cited_lines_are_boxed_where_they_stand(kb, plan) -> None:
    shown = show(kb, PLAN, 5, (3, 8))
    assert (shown.kind, shown.notice) == ("image", "")
    assert shown.citation == f"《{PLAN}》第5页 第3-8行"
    image = Image.open(shown.path)
    with pymupdf.open(plan) as doc:
        page = doc[4]
        (place,) = page.search_for("分批完成馆藏扫描")
        (other,) = page.search_for("建立全文数据库")
        scale = image.width / page.rect.width

    def corner(rect):
        """Paper just left of the words, at half height."""
        return image.getpixel((int(rect.x0 * scale) - 2, int((rect.y0 + rect.y1) / 2 * scale)))

    assert corner(place)[2] < 220 < corner(place)[0]
    assert corner(other) == (255, 255, 255)


def test_the_whole_page_is_the_default(kb, plan) -> None:
    shown = show(kb, PLAN, 5)
    assert shown.line_start == 1
    assert shown.line_end > 30


def test_a_format_without_places_is_written_as_text(kb, tmp_path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("甲\n乙\n丙", encoding="utf-8")
    kb.ingest(path, "a.txt")
    shown = show(kb, "a.txt", 1, (2, 2))
    assert shown.kind == "text"
    assert shown.notice
    lines = Path(shown.path).read_text(encoding="utf-8").split("\n")
    assert lines[0] == "《a.txt》第1页 第2行"
    assert [line.startswith("▶") for line in lines[2:5]] == [False, True, False]


def test_an_original_that_changed_is_refused(kb, plan) -> None:
    plan.write_bytes(plan.read_bytes() + b"\n")
    with pytest.raises(Refused) as refused:
        show(kb, PLAN, 5, (3, 8))
    assert str(plan) in refused.value.hint


def test_an_original_that_is_gone_is_named(kb, plan) -> None:
    plan.unlink()
    with pytest.raises(NotFound, match=PLAN):
        show(kb, PLAN, 5, (3, 8))


def test_a_page_that_would_be_read_differently_is_refused(kb, plan) -> None:
    from dataclasses import replace

    parse = kb.parser.parse

    class Other:
        draw = kb.parser.draw

        def parse(self, *given, **more):
            parsed = parse(*given, **more)
            return replace(parsed, pages=tuple(replace(p, text="别的") for p in parsed.pages))

    kb.__dict__["parser"] = Other()
    with pytest.raises(Refused, match="第 5 页"):
        show(kb, PLAN, 5, (3, 8))


def test_places_that_are_not_there_are_refused_as_read_range_does(kb, plan) -> None:
    with pytest.raises(NotFound):
        show(kb, PLAN, 99)
    with pytest.raises(NotFound):
        show(kb, "没有.pdf", 1)
    with pytest.raises(InvalidInput):
        show(kb, PLAN, 5, (8, 3))
    with pytest.raises(InvalidInput):
        show(kb, PLAN, 5, (500, 501))


def test_a_name_leads_nowhere_else(kb, tmp_path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("甲", encoding="utf-8")
    kb.ingest(path, "政策/..a b:c*?.txt")
    shown = Path(show(kb, "政策/..a b:c*?.txt", 1).path)
    assert shown.parent == kb.project().folder / "shown"
    assert not set(':*? "') & set(shown.name)


def test_a_blank_page_beside_others_is_written_as_text(kb, tmp_path) -> None:
    with pymupdf.open() as doc:
        doc.new_page()
        doc.new_page().insert_text((72, 72), "words")
        doc.save(tmp_path / "b.pdf")
    kb.ingest(tmp_path / "b.pdf", "b.pdf")
    assert show(kb, "b.pdf", 1).kind == "text"
    assert show(kb, "b.pdf", 2).kind == "image"


def test_the_command_prints_json_or_refuses(kb, plan, capsys) -> None:
    assert ingest.main(["--show", PLAN, "--page", "5", "--lines", "3-8"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert Path(told["path"]).exists()
    assert (told["line_start"], told["line_end"]) == (3, 8)
    assert ingest.main(["--show", PLAN]) == 3
    assert ingest.main(["--page", "1", str(plan)]) == 3
    assert ingest.main(["--lines", "1-2", str(plan)]) == 3
    with pytest.raises(SystemExit):
        ingest.main(["--show", PLAN, "--page", "5", "--lines", "x"])


# -- what a child draws is only pixels -----------------------------------------------------


def test_a_drawing_survives_the_wire() -> None:
    drawing = Drawing(bytes(range(6)), 2, 1, 1.5)
    assert decode_drawing(encode_drawing(drawing), "a.pdf") == drawing
    assert decode_drawing(encode_drawing(None), "a.pdf") is None


@pytest.mark.parametrize(
    "drawing",
    [
        Drawing(b"abc", 2, 1, 1.0),
        Drawing(b"", 0, 0, 1.0),
        Drawing(b"abc", 1, 1, 0.0),
        Drawing(b"", 1 << 20, 1 << 20, 1.0),
    ],
)
def test_a_drawing_that_lies_about_its_size_is_refused(drawing) -> None:
    with pytest.raises(ParseFailed):
        decode_drawing(encode_drawing(drawing), "a.pdf")


@pytest.mark.parametrize("payload", [b"", b"{}", b'{"drawing": 1}', b'{"drawing": [1, 1, 1, "?"]}'])
def test_an_answer_that_is_no_drawing_is_refused(payload) -> None:
    with pytest.raises(ParseFailed):
        decode_drawing(payload, "a.pdf")
