"""Every key is a source of its own."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.objects.naming import name_objects
from kb.text.names import clean_source

KEYS = st.text(
    st.sampled_from("aé中가/.\\ %+#&?~'\n\t\u0301\u200d\u2028😀") | st.characters(), min_size=1
)


def named(*keys: str, held: dict[str, str] | None = None, prefix: str = "") -> list[str]:
    names = name_objects(keys, held or {}, prefix, clean_source)
    return [names[key] for key in keys]


@pytest.mark.parametrize(
    "key", ["政策/2026/规划 一.pdf", "a b+c%#&.txt", "😀.md", "é.txt", "a%2Fb.txt", "x~1.txt"]
)
def test_a_plain_key_is_its_own_source(key: str) -> None:
    assert named(key) == [key]


def test_a_decomposed_key_is_called_by_its_composed_form() -> None:
    assert named(unicodedata.normalize("NFD", "résumé.txt")) == ["résumé.txt"]


@pytest.mark.parametrize(
    ("first", "second", "escaped"),
    [
        ("é.txt", unicodedata.normalize("NFD", "é.txt"), "e%CC%81.txt"),
        ("a/b.txt", "a//b.txt", "a%2F%2Fb.txt"),
        ("a/b.txt", "a\\b.txt", "a%5Cb.txt"),
        ("a.txt", " a.txt", "%20a.txt"),
        ("가.txt", unicodedata.normalize("NFD", "가.txt"), "%E1%84%80%E1%85%A1.txt"),
    ],
)
def test_of_two_keys_with_one_clean_form_the_other_is_escaped(
    first: str, second: str, escaped: str
) -> None:
    assert named(second, first) == [escaped, first]


def test_a_key_with_nothing_to_show_is_escaped() -> None:
    assert named("a\nb.txt") == ["a%0Ab.txt"]


def test_a_key_keeps_the_source_it_has() -> None:
    twin = unicodedata.normalize("NFD", "é.txt")
    assert named("é.txt", twin, held={twin: "é.txt"}) == ["%C3%A9.txt", "é.txt"]


def test_another_bucket_stands_before_the_key() -> None:
    assert named("a.txt", prefix="s3://其他/") == ["s3://其他/a.txt"]


@given(st.sets(KEYS, max_size=12), st.sampled_from(["", "s3://b/"]))
def test_no_two_keys_share_a_source_and_every_source_can_be_cited(
    keys: set[str], prefix: str
) -> None:
    names = name_objects(keys, {}, prefix, clean_source)
    assert set(names) == keys
    assert len(set(names.values())) == len(keys)
    assert all(clean_source(name) == name for name in names.values())
