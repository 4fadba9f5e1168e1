from __future__ import annotations

import pytest
from core_support import Library

from kb.errors import InvalidInput
from kb.scope import MAX_SOURCE_BYTES, clean_source


@pytest.mark.parametrize(
    ("given", "source"),
    [
        ("政策\\2026\\规划.pdf", "政策/2026/规划.pdf"),
        ("./a//b.txt", "a/b.txt"),
        ("/a.txt", "a.txt"),
        ("Cafe\u0301.txt", "Café.txt"),
        ("全角\u3000空格.txt", "全角\u3000空格.txt"),
        ("家\U0001f468\u200d\U0001f469.txt", "家\U0001f468\u200d\U0001f469.txt"),
        ("100% + #1 & a.txt", "100% + #1 & a.txt"),
    ],
)
def test_a_source_has_one_spelling(given: str, source: str) -> None:
    assert clean_source(given) == source
    assert clean_source(source) == source


@pytest.mark.parametrize(
    "name",
    ["", "  ", "/", "../a", "a/../b", "a\nb", "a\0", "\ud800", "a\u2028b", "长" * MAX_SOURCE_BYTES],
)
def test_what_is_no_name_is_refused_with_a_hint(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        clean_source(name)
    assert caught.value.hint


def test_the_same_file_name_under_two_prefixes_is_two_documents(library: Library) -> None:
    library.put("甲/规划.txt", "甲的内容")
    library.put("乙/规划.txt", "乙的内容")
    assert library.texts("内容", source="乙/规划.txt") == ["乙的内容"]
    assert library.kb.read_range("甲/规划.txt", 1).lines[0].text == "甲的内容"
