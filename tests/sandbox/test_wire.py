"""What a child says is believed only as far as it is well formed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.errors import KbError, ParseFailed, Refused
from kb.model import Element, Page, Parsed
from kb.ports import OcrOptions, ParseLimits
from kb.sandbox.wire import Outcome, Request, decode_answer, encode_error, encode_parsed

PAGE = Page(
    1,
    "第一行\n第二行",
    "physical",
    label="i",
    width=595.0,
    height=842.0,
    elements=(Element("heading", 1, 1, 2), Element("table", 2, 2)),
    boxes=((1.0, 2.0, 3.0, 4.5), (1.0, 12.0, 3.0, 14.5)),
    noise=(2,),
)
PARSED = Parsed((PAGE,), "pdf/1", "application/pdf", encoding="gb18030", warnings=("注意",))


def answer(change):
    raw = json.loads(encode_parsed(PARSED))
    change(raw["parsed"])
    return json.dumps(raw).encode()


def test_an_answer_arrives_as_it_was_sent():
    assert decode_answer(encode_parsed(PARSED), "x.pdf", "pdf/1") == PARSED


def test_the_parser_is_the_one_that_was_asked():
    assert decode_answer(encode_parsed(PARSED), "x.pdf", "pdf/9").parser == "pdf/9"


def first(key, value):
    return lambda parsed: parsed["pages"][0].__setitem__(key, value)


@pytest.mark.parametrize(
    "change",
    [
        first("number", 2),
        first("number", True),
        first("text", 5),
        first("text", "a\rb"),
        first("kind", "poster"),
        first("label", None),
        first("width", "595"),
        first("width", float("inf")),
        first("height", True),
        first("boxes", [[1, 2, 3, 4]]),
        first("boxes", [[1, 2, 3], [1, 2, 3]]),
        first("noise", [0]),
        first("noise", [3]),
        first("noise", ["1"]),
        first("elements", [{"kind": "joke", "line_start": 1, "line_end": 1, "level": 0}]),
        first("elements", [{"kind": "table", "line_start": 2, "line_end": 1, "level": 0}]),
        first("elements", [{"kind": "table", "line_start": 1, "line_end": 3, "level": 0}]),
        first("elements", [{"kind": "table", "line_start": 1, "line_end": 1, "level": -1}]),
        first("elements", [5]),
        lambda parsed: parsed.update(pages=[]),
        lambda parsed: parsed.update(pages=None),
        lambda parsed: parsed.update(warnings=[1]),
        lambda parsed: parsed.pop("media_type"),
    ],
)
def test_a_malformed_answer_is_refused_in_one_way(change):
    with pytest.raises(ParseFailed, match=r"x\.pdf"):
        decode_answer(answer(change), "x.pdf", "pdf/1")


@pytest.mark.parametrize(
    "payload", [b"", b"{", b"[]", b"5", b"null", b"\xff", b"{}", b"[" * 100_000]
)
def test_what_is_no_answer_is_refused_in_the_same_way(payload):
    with pytest.raises(ParseFailed, match=r"x\.pdf"):
        decode_answer(payload, "x.pdf", "pdf/1")


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda x: (
            st.lists(x) | st.dictionaries(st.sampled_from(["parsed", "pages", "error", "broke"]), x)
        ),
    )
)
def test_nothing_a_child_says_breaks_the_caller(raw):
    with pytest.raises(KbError):
        decode_answer(json.dumps(raw).encode(), "x.pdf", "pdf/1")


def test_errors_keep_their_class_message_and_hint():
    with pytest.raises(Refused) as error:
        decode_answer(encode_error(Refused("不行", "这样")), "x", "pdf/1")
    assert (error.value.message, error.value.hint) == ("不行", "这样")
    with pytest.raises(ParseFailed, match="KeyError") as error:
        decode_answer(encode_error(KeyError("秘密")), "x", "pdf/1")
    assert "秘密" not in str(error.value)


def test_a_child_cannot_choose_any_other_error():
    with pytest.raises(ParseFailed, match="boom"):
        decode_answer(json.dumps({"error": ["SystemExit", "boom", ""]}).encode(), "x", "pdf/1")


def test_invalid_characters_are_replaced_and_counted():
    dirty = Parsed((Page(1, "a\ud800\x00b", "virtual"),), "text/1", "text/plain")
    parsed = decode_answer(encode_parsed(dirty), "x", "text/1")
    assert parsed.pages[0].text == "a\ufffd\ufffdb"
    assert "2" in parsed.warnings[0]


def test_a_request_is_one_line_and_comes_back():
    request = Request(
        "/t\udcff/a\nb",
        "政策/规划.pdf",
        "pdf/1",
        "en",
        ParseLimits(wall_seconds=3),
        OcrOptions("force"),
        ("m",),
    )
    line = request.encode()
    assert line.count(b"\n") == 1
    assert Request.decode(line) == request


def test_an_outcome_announces_its_payload():
    head = json.loads(Outcome("signal", "SIGSEGV", b"12345", "tail").head())
    assert head == {"ending": "signal", "detail": "SIGSEGV", "log": "tail", "size": 5}
