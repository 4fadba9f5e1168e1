import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kb.embedding.check import checked, clean
from kb.errors import EmbeddingFailed
from kb.ports import MAX_CHARS


@pytest.mark.parametrize(
    "vectors",
    [
        [[0.0, 0.0], [1.0, 0.0]],
        [[1.0, 0.0], [float("nan"), 0.0]],
        [[1.0, 0.0], [float("inf"), 0.0]],
        [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]],
        [[1.0, 0.0]],
        [[1.0, 0.0], [1.0]],
        [["a", "b"], ["c", "d"]],
        [None, None],
        [],
        [[1e300, 1e300], [1.0, 0.0]],
    ],
    ids=["zero", "nan", "inf", "wide", "few", "ragged", "words", "none", "empty", "overflow"],
)
def test_a_vector_of_no_use_is_refused(vectors):
    with pytest.raises(EmbeddingFailed) as caught:
        checked(vectors, 2, 2, "some-model")
    assert "some-model" in caught.value.message
    assert caught.value.hint


def test_no_text_gives_no_rows_of_the_right_width():
    assert checked([], 0, 7).shape == (0, 7)


@given(
    hnp.arrays(
        np.float64, (3, 4), elements=st.floats(-1e6, 1e6).map(lambda x: x if abs(x) > 1e-3 else 1.0)
    )
)
def test_what_passes_is_float32_of_unit_length_and_keeps_its_direction(vectors):
    unit = checked(vectors, 3, 4)
    assert unit.dtype == np.float32
    assert np.allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-5)
    assert np.allclose(unit * np.linalg.norm(vectors, axis=1, keepdims=True), vectors, rtol=1e-4)


@given(st.text(st.characters(exclude_categories=())))
def test_a_cleaned_text_can_be_a_c_string_and_utf8(text):
    cleaned = clean(text)
    assert "\0" not in cleaned
    cleaned.encode("utf-8")
    assert len(cleaned) == len(text[:MAX_CHARS])


def test_ordinary_text_is_left_as_it_is():
    assert clean("第1行\n第2行\u2028\x85🙂") == "第1行\n第2行\u2028\x85🙂"
