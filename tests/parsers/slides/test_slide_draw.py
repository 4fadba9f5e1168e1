from __future__ import annotations

import math

import pytest

from kb.model import Page
from kb.parsers.flow import TextLine
from kb.parsers.slides.deck import Shape, Size, Slide, pages
from kb.parsers.slides.sketch import draw_slide

SIZE = Size(960.0, 540.0, 1.0)


def page(*shapes: Shape, notes: tuple[str, ...] = ()) -> Page:
    ((only,), _warnings) = pages([Slide(shapes, notes)], SIZE, "a.pptx")
    return only


def lines(*texts: str) -> tuple[TextLine, ...]:
    return tuple(map(TextLine, texts))


def ink(drawing, box) -> bool:
    """Whether letters stand in a box, in points."""
    x0, y0, x1, y1 = (int(side * drawing.scale) for side in box)
    rows = (
        drawing.rgb[(y * drawing.width + x0) * 3 : (y * drawing.width + x1) * 3]
        for y in range(y0, y1)
    )
    return any(min(row) < 100 for row in rows)


def test_the_lines_of_a_shape_share_its_place() -> None:
    made = page(Shape("text", 100, 50, 200, lines("甲", "乙"), width=300))
    assert made.boxes == ((100, 50, 400, 150), (100, 150, 400, 250))
    assert (made.width, made.height) == (960, 540)


def test_a_group_is_a_place_and_notes_stand_below_the_slide() -> None:
    parts = (Shape("text", 1, 1, 1, lines("甲")), Shape("text", 1, 9, 1, lines("乙")))
    made = page(Shape("text", 0, 0, 100, parts=parts, width=100), notes=("丙",))
    assert made.text == "甲\n乙\n丙"
    assert made.boxes == ((0, 0, 100, 50), (0, 50, 100, 100), (0, 540, 960, 558))
    assert made.height == 558


@pytest.mark.parametrize("odd", [1e300, -1e300, 0.0])
def test_a_place_that_is_none_stops_nothing(odd: float) -> None:
    made = page(Shape("text", odd, odd, odd, lines("甲", "乙"), width=odd))
    assert len(made.boxes) == 2
    assert all(math.isfinite(side) for box in made.boxes for side in box)
    assert draw_slide(made).width > 0


def test_a_sketch_shows_every_line_in_its_box() -> None:
    long = "All human beings are born free and equal in dignity and rights. " * 5
    made = page(
        Shape("title", 40, 20, 60, lines("标题")),
        Shape("text", 40, 120, 300, lines(long, "甲" * 200), width=500),
        notes=("备注",),
    )
    drawing = draw_slide(made)
    assert len(drawing.rgb) == 3 * drawing.width * drawing.height
    assert [ink(drawing, box) for box in made.boxes] == [True] * 4
    assert not ink(drawing, (600, 200, 900, 400))


def test_an_empty_slide_is_an_empty_sketch() -> None:
    made = Page(1, "", "slide", width=0, height=0)
    assert draw_slide(made).width > 0
