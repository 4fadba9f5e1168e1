from __future__ import annotations

import pytest
from library_support import Library

from kb.errors import InvalidInput, NotFound
from kb.text.names import MAX_SOURCE_BYTES, clean_source


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


@pytest.fixture
def folders(library: Library) -> Library:
    library.put("政策/2026/规划Plan.txt", "甲的内容")
    library.put("政策/2025/总结.txt", "乙的内容")
    library.put("政策汇编/目录.txt", "丙的内容")
    library.put("A／B.txt", "丁的内容")
    return library


@pytest.mark.parametrize(
    "source",
    [
        "政策/2026/规划Plan.txt", "政策\\2026\\规划Plan.txt", "  政策/2026/规划Plan.txt\t",
        "./政策/2026/规划Plan.txt", "/政策//2026/规划Plan.txt", "政策／2026／规划Plan.txt",
        "規劃ＰＬＡＮ.txt", "政策/2026/", "政策\\2026\\", " 政策/2026/ ", "政策／2026／", "./政策/2026/",
        "政策//2026//", "政策/２０２６/",
    ],
)  # fmt: skip
def test_a_scope_may_be_spelled_as_people_spell_it(folders: Library, source: str) -> None:
    assert folders.sources("内容", source=source) == ["政策/2026/规划Plan.txt"]


def test_a_prefix_ends_at_its_slash(folders: Library) -> None:
    both = {"政策/2026/规划Plan.txt", "政策/2025/总结.txt"}
    assert set(folders.sources("内容", source="政策/")) == both
    assert len(folders.sources("内容", source="/")) == 4
    for source in ("政/", "政策/2026/规/", "策/"):
        with pytest.raises(NotFound):
            folders.kb.search("内容", source=source)


def test_a_full_width_slash_in_a_file_name_is_part_of_it(folders: Library) -> None:
    assert folders.sources("内容", source="A／B.txt") == ["A／B.txt"]
    folders.put("A/B.txt", "戊的内容")
    assert folders.texts("内容", source="A／B.txt") == ["丁的内容"]
    assert folders.texts("内容", source="A/B.txt") == ["戊的内容"]


def test_read_range_takes_the_same_spellings(folders: Library) -> None:
    for source in ("政策\\2026\\规划Plan.txt", "./政策/2026/规划Plan.txt "):
        assert folders.kb.read_range(source, 1).source == "政策/2026/规划Plan.txt"
    with pytest.raises(NotFound):
        folders.kb.read_range("../政策/2026/规划Plan.txt/../x", 1)
