"""Whatever part of a block's text is quoted, the block is found."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from library_support import Library, settings_for

from kb.catalog import Reader
from kb.search.phrases import holding
from kb.text.blocks import indexed_lines
from kb.text.lines import split_lines
from kb.text.literal import literal
from kb.text.tokens import tokens

HAN = "档案馆建设资金由市财政承担数字化办法第条款项章节编目一二三十百千營收增長體發〇々"
PIECES = (
    "Retrieval", "BM25", "1.0.21", "KB-2024-x7", "x@y.org", "https://a.example.com/pa_th/q?x=1",
    "test results", "state-of-the-art", "co\u00adoperate", "ＥＴＬ", "２０３５", "第十二条", "第 103 章",
    "第二款第三项", "naïve", "かな", "カタカナ", "한국", "ﬁ", "㎡", "ⅷ", "½", "İ", "ß",
    *"。，；：（）、《》“”’'…é—", *" \t\u3000-_./#+", "  ", "--", "...",
)  # fmt: skip


def piece(draw: random.Random) -> str:
    kind = draw.random()
    if kind < 0.4:
        return "".join(draw.choices(HAN, k=draw.randint(1, 6)))
    if kind < 0.55:
        return "".join(draw.choices("abcx019.-_@ ", k=draw.randint(1, 8)))
    if kind < 0.57:
        return "".join(draw.choices("abc019", k=draw.randint(60, 140)))
    return draw.choice(PIECES)


def page(draw: random.Random) -> str:
    lines = ("".join(piece(draw) for _ in range(draw.randint(1, 7))) for _ in range(20))
    return "\n".join(lines)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    folder: Path = tmp_path_factory.mktemp("parts")
    library, draw = Library(folder, settings_for(folder)), random.Random(20261130)
    for n in range(40):
        library.put(f"{n}.txt", page(draw), update=False)
    with library.kb.project("default").catalog.reading() as view:
        yield view


def text_of(reader: Reader, document: int, first: int, last: int) -> str:
    whole = reader.page(document, 1)
    assert whole
    lines = split_lines(whole.text)
    return literal("\n".join(lines[n - 1] for n in indexed_lines(whole) if first <= n <= last))


def cut(data: st.DataObject, text: str, longest: int) -> str:
    start = data.draw(st.integers(0, len(text) - 1))
    return text[start : start + data.draw(st.integers(1, longest))]


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_every_part_of_a_block_finds_it(reader: Reader, data: st.DataObject) -> None:
    document = data.draw(st.sampled_from(sorted(reader.documents())))
    block = data.draw(st.sampled_from(reader.page_blocks(document, 1)))
    part = cut(data, text_of(reader, document, block.line_start, block.line_end), 60)
    if tokens(part):
        assert literal(part) == part.strip()
        found = holding(reader, [part], None)
        assert block.id in {hit.id for hit in found.ranked}


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_every_long_part_of_a_page_finds_the_block_it_begins_in(
    reader: Reader, data: st.DataObject
) -> None:
    document = data.draw(st.sampled_from(sorted(reader.documents())))
    first = data.draw(st.integers(1, 16))
    text = text_of(reader, document, first, first + data.draw(st.integers(3, 12)))
    part = text[
        data.draw(st.integers(0, max(0, len(text_of(reader, document, first, first)) - 1))) :
    ]
    if len(tokens(part)) > 3 and literal(part) == part.strip():
        found = {hit.id for hit in holding(reader, [part], None).ranked}
        begins = [
            block.id
            for block in reader.page_blocks(document, 1)
            if block.line_start <= first + 1 and first <= block.line_end
        ]
        assert found & set(begins)
