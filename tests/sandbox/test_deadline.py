"""A page under OCR has time of its own, and a child cannot ask for more without end."""

import pytest

from kb.model import Progress
from kb.parsers.session import MAX_OCR_PAGES
from kb.ports import OcrOptions, ParseLimits
from kb.sandbox import limits
from kb.sandbox.limits import Deadline
from kb.sandbox.wire import AnswerReader, decode_progress, encode_progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""

    class Clock:
        now = 1000.0

        def monotonic(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(limits, "time", clock)
    return clock


def test_a_page_has_its_time_from_its_beginning(clock):
    one = Deadline(ParseLimits(wall_seconds=100), OcrOptions(page_seconds=60))
    one.note(Progress("ocr", 0, 3))
    assert one.left == 100
    clock.now += 80
    one.note(Progress("ocr", 1, 3))
    assert (one.left, one.in_ocr) == (60, True)
    clock.now += 50
    one.note(Progress("parse", 9, 9))
    assert one.left == 10
    one.note(Progress("ocr", 3, 3))
    assert (one.left, one.in_ocr) == (60, False)


def test_time_is_not_given_without_end(clock):
    one = Deadline(ParseLimits(wall_seconds=1), OcrOptions(page_seconds=60))
    for _ in range(MAX_OCR_PAGES + 50):
        clock.now += 1
        one.note(Progress("ocr", 1, 3))
    assert one.left == 60 - 49


def test_without_ocr_no_step_moves_it(clock):
    one = Deadline(ParseLimits(wall_seconds=5), OcrOptions(mode="off"))
    one.note(Progress("ocr", 0, 3))
    assert (one.left, one.in_ocr) == (5, False)


def test_steps_and_the_answer_come_apart_however_they_are_cut():
    sent = (
        encode_progress(Progress("parse", 0, 2))
        + b"noise\n"
        + encode_progress(Progress("ocr", 1, 2))
        + b'{"parsed":1}'
    )
    for size in (1, 7, len(sent)):
        reader = AnswerReader()
        steps = [s for i in range(0, len(sent), size) for s in reader.feed(sent[i : i + size])]
        assert steps == [Progress("parse", 0, 2), Progress("ocr", 1, 2)]
        assert reader.answer == b'{"parsed":1}'
        assert reader.size == len(sent)


@pytest.mark.parametrize(
    "line",
    [b"", b"{}", b"[]", b"5", b'{"step":1}', b'{"step":["joke",1,2]}', b'{"step":["ocr",-1,2]}'],
)
def test_what_is_no_step_is_passed_over(line):
    assert decode_progress(line) is None
