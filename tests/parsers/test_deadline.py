"""A page under OCR has time of its own, and a child cannot ask for more without end."""

import pytest

from kb.ports import OcrOptions, ParseLimits
from kb.sandbox import deadline
from kb.sandbox.deadline import MAX_OCR_PAGES, Deadline
from kb.sandbox.wire import AnswerReader, Step


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""

    class Clock:
        now = 1000.0

        def monotonic(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(deadline, "time", clock)
    return clock


def test_a_page_has_its_time_from_its_beginning(clock):
    one = Deadline(ParseLimits(wall_seconds=100), OcrOptions(page_seconds=60))
    one.note(Step("ocr", 0, 3))
    assert one.left == 100
    clock.now += 80
    one.note(Step("ocr", 1, 3))
    assert (one.left, one.in_ocr) == (60, True)
    clock.now += 50
    one.note(Step("parse", 9, 9))
    assert one.left == 10
    one.note(Step("ocr", 3, 3))
    assert (one.left, one.in_ocr) == (60, False)


def test_time_is_not_given_without_end(clock):
    one = Deadline(ParseLimits(wall_seconds=1), OcrOptions(page_seconds=60))
    for _ in range(MAX_OCR_PAGES + 50):
        clock.now += 1
        one.note(Step("ocr", 1, 3))
    assert one.left == 60 - 49


def test_without_ocr_no_step_moves_it(clock):
    one = Deadline(ParseLimits(wall_seconds=5), OcrOptions(mode="off"))
    one.note(Step("ocr", 0, 3))
    assert (one.left, one.in_ocr) == (5, False)


def test_steps_and_the_answer_come_apart_however_they_are_cut():
    sent = Step("parse", 0, 2).encode() + b"noise\n" + Step("ocr", 1, 2).encode() + b'{"parsed":1}'
    for size in (1, 7, len(sent)):
        reader = AnswerReader()
        steps = [s for i in range(0, len(sent), size) for s in reader.feed(sent[i : i + size])]
        assert steps == [Step("parse", 0, 2), Step("ocr", 1, 2)]
        assert reader.answer == b'{"parsed":1}'
        assert reader.size == len(sent)


@pytest.mark.parametrize(
    "line",
    [b"", b"{}", b"[]", b"5", b'{"step":1}', b'{"step":["joke",1,2]}', b'{"step":["ocr",-1,2]}'],
)
def test_what_is_no_step_is_passed_over(line):
    assert Step.decode(line) is None
