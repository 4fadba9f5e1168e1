"""Each trap of presentations, in a small package made here."""

import zipfile

import pytest

from kb.errors import Refused
from kb.parsers.slides import pptx as parser

NAMES = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
)
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def relations(*targets):
    items = "".join(
        f'<Relationship Id="r{i}" Type="{OFFICE}/{role}" Target="{target}"/>'
        for i, (role, target) in enumerate(targets)
    )
    return f'<Relationships xmlns="x">{items}</Relationships>'


def paragraphs(*texts):
    return "".join(f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>" for text in texts)


def transform(x, y, height=100, tag="a"):
    return f'<{tag}:xfrm><a:off x="{x}" y="{y}"/><a:ext cx="10" cy="{height}"/></{tag}:xfrm>'


def shape(*texts, at=None, kind="", index=""):
    mark = f'<p:ph type="{kind}" idx="{index}"/>' if kind or index else ""
    place = transform(*at) if at else ""
    return (
        f"<p:sp><p:nvSpPr><p:nvPr>{mark}</p:nvPr></p:nvSpPr><p:spPr>{place}</p:spPr>"
        f"<p:txBody>{paragraphs(*texts)}</p:txBody></p:sp>"
    )


def group(*shapes, at):
    return f"<p:grpSp><p:grpSpPr>{transform(*at)}</p:grpSpPr>{''.join(shapes)}</p:grpSp>"


def frame(content, at=(0, 500)):
    return f"<p:graphicFrame>{transform(*at, tag='p')}<a:graphic><a:graphicData>{content}</a:graphicData></a:graphic></p:graphicFrame>"


@pytest.fixture
def deck(tmp_path):
    """Parse a deck of slides given as (shapes, attributes, further parts and relations)."""

    def deck(*slides, parts=None, links=()):
        path = tmp_path / "x.pptx"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("_rels/.rels", relations(("officeDocument", "ppt/presentation.xml")))
            ids = "".join(f'<p:sldId id="{i}" r:id="r{i}"/>' for i in reversed(range(len(slides))))
            archive.writestr(
                "ppt/presentation.xml",
                f'<p:presentation {NAMES}><p:sldIdLst>{ids}</p:sldIdLst><p:sldSz cx="2400"/></p:presentation>',
            )
            targets = [("slide", f"slides/slide{i}.xml") for i in range(len(slides))]
            archive.writestr("ppt/_rels/presentation.xml.rels", relations(*targets))
            for i, slide in enumerate(reversed(slides)):
                shapes, attributes = slide if isinstance(slide, tuple) else (slide, "")
                archive.writestr(
                    f"ppt/slides/slide{len(slides) - 1 - i}.xml",
                    f"<p:sld {NAMES} {attributes}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>",
                )
            archive.writestr("ppt/slides/_rels/slide0.xml.rels", relations(*links))
            for part, content in (parts or {}).items():
                archive.writestr(part, content)
        return parser.parse(path, "x.pptx")

    return deck


def lines(parsed, page=0):
    return parsed.pages[page].text.split("\n")


def kinds(page):
    return [(e.kind, e.line_start, e.line_end, e.level) for e in page.elements]


def test_slides_come_in_the_order_of_the_presentation(deck):
    parsed = deck(shape("甲"), shape("乙"), (shape("丙"), 'show="0"'))
    # The list of ids runs against the parts' names here.
    assert [page.text for page in parsed.pages] == ["丙", "乙", "甲"]
    assert {page.kind for page in parsed.pages} == {"slide"}
    assert "1" in parsed.warnings[0]


def test_the_title_is_first_then_rows_from_the_left(deck):
    shapes = [
        shape("右下", at=(1500, 800)),
        shape("左下", at=(100, 810)),
        shape("右上", at=(1500, 300, 400)),
        shape("左上一", "左上二", at=(100, 320, 400)),
        shape("标题", at=(100, 900), kind="ctrTitle"),
        shape("12", at=(0, 0), kind="sldNum"),
    ]
    (page,) = deck("".join(shapes)).pages
    assert page.text.split("\n") == ["标题", "左上一", "左上二", "右上", "左下", "右下", "12"]
    assert kinds(page) == [("heading", 1, 1, 1), ("footer", 7, 7, 0)]
    assert page.noise == (7,)


def test_groups_are_read_together_however_deep(deck):
    inner = group(shape("丙", at=(5, 90)), shape("乙", at=(5, 10)), at=(50, 60))
    shapes = group(inner, shape("甲", at=(0, 0)), at=(0, 100)) + shape("丁", at=(0, 400))
    assert lines(deck(shapes)) == ["甲", "乙", "丙", "丁"]


def test_a_placeholder_stands_where_its_layout_says(deck):
    parts = {
        "ppt/layout.xml": f"<p:sldLayout {NAMES}>{shape(at=(0, 50), kind='body', index='7')}</p:sldLayout>"
    }
    shapes = shape("后", at=(0, 300)) + shape("前", kind="body", index="7")
    assert lines(deck(shapes, parts=parts, links=[("slideLayout", "../layout.xml")])) == [
        "前",
        "后",
    ]


def test_tables_are_rows(deck):
    def row(*cells):
        return (
            "<a:tr>"
            + "".join(
                f"<a:tc{more}><a:txBody>{paragraphs(*texts)}</a:txBody></a:tc>"
                for more, *texts in cells
            )
            + "</a:tr>"
        )

    table = (
        "<a:tbl>" + row(("", "项目"), ("", "金额")) + row(("", "水", "费"), ("", "1"))
        + row((' gridSpan="2"', "宽"), (' hMerge="1"', "藏")) + "</a:tbl>"
    )  # fmt: skip
    (page,) = deck(frame(table)).pages
    assert page.text.split("\n") == ["项目 | 金额", "水 费 | 1", "宽 | "]
    assert kinds(page) == [("table", 1, 3, 1)]


def test_notes_follow_the_slide(deck):
    notes = f"<p:notes {NAMES}>{shape('缩略', kind='sldImg')}{shape('备注一', '备注二', kind='body')}{shape('3', kind='sldNum')}</p:notes>"
    (page,) = deck(
        shape("正文"), parts={"ppt/n.xml": notes}, links=[("notesSlide", "../n.xml")]
    ).pages
    assert page.text.split("\n") == ["正文", "备注一", "备注二"]
    assert kinds(page) == [("note", 2, 3, 0)]


def test_charts_and_diagrams_give_their_text(deck):
    def points(*values):
        return "".join(
            f'<c:pt idx="{i}"><c:v>{value}</c:v></c:pt>' for i, value in enumerate(values)
        )

    chart = (
        f"<c:chartSpace {NAMES}><c:chart><c:title><c:tx><c:rich>{paragraphs('收入')}</c:rich></c:tx></c:title>"
        f"<c:ser><c:tx>{points('2023')}</c:tx><c:cat>{points('东', '西')}</c:cat><c:val>{points('1', '2')}</c:val></c:ser>"
        f"<c:ser><c:tx>{points('2024')}</c:tx><c:val>{points('3', '4')}</c:val></c:ser></c:chart></c:chartSpace>"
    )
    diagram = (
        f"<dgm:dataModel {NAMES}><dgm:ptLst><dgm:pt><dgm:t>{paragraphs('步骤')}</dgm:t></dgm:pt>"
        f"<dgm:pt type='pres'><dgm:t>{paragraphs('无')}</dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>"
    )
    shapes = (
        frame('<c:chart r:id="r0"/>')
        + frame('<dgm:relIds r:dm="r1"/>', (0, 900))
        + frame('<c:chart r:id="r9"/>', (0, 990))
    )
    parsed = deck(
        shapes + "<p:pic/>",
        parts={"ppt/c.xml": chart, "ppt/d.xml": diagram},
        links=[("chart", "../c.xml"), ("diagramData", "../d.xml")],
    )
    assert lines(parsed) == ["收入", " | 2023 | 2024", "东 | 1 | 3", "西 | 2 | 4", "步骤"]
    assert len(parsed.warnings) == 2


def test_line_breaks_and_alternate_content(deck):
    text = "<p:sp><p:txBody><a:p><a:r><a:t>甲</a:t></a:r><a:br/><a:fld><a:t>乙</a:t></a:fld></a:p><a:p/></p:txBody></p:sp>"
    both = f'<mc:AlternateContent xmlns:mc="m"><mc:Choice>{text}</mc:Choice><mc:Fallback>{text}</mc:Fallback></mc:AlternateContent>'
    assert lines(deck(both)) == ["甲", "乙"]


def test_a_broken_slide_is_named_and_the_others_are_read(deck):
    parsed = deck(shape("甲"), "<broken>")
    assert [page.text for page in parsed.pages] == ["", "甲"]
    assert any("1" in warning for warning in parsed.warnings)


def test_a_deck_without_text_is_refused(deck):
    with pytest.raises(Refused):
        deck("<p:pic/>")


@pytest.mark.parametrize("odd", ["nan", "inf", "-inf", "1e999", "x"])
def test_a_place_that_is_no_number_is_none(deck, odd):
    parsed = deck(shape("甲", at=(odd, odd, odd)) + shape("乙", at=(0, 900)))
    assert sorted(parsed.pages[0].text.split("\n")) == ["乙", "甲"]
    assert len(parsed.pages[0].boxes) == 2
