import numpy as np

from kb.embedding.hashing import HashingEmbedder


def test_texts_that_share_words_are_nearer():
    embedder = HashingEmbedder()
    near, far = embedder.embed_passages(["水库移民安置规划", "税务申报期限延长"])
    question = embedder.embed_query("移民安置")
    assert question @ near > question @ far


def test_the_same_text_has_the_same_vector_everywhere():
    row = HashingEmbedder().embed_query("规划 2035")
    again = HashingEmbedder().embed_passages(["规划 2035"])[0]
    assert np.array_equal(row, again)
    assert np.flatnonzero(row).tolist() == [0, 54, 143, 181, 201]


def test_a_text_without_words_has_a_vector_too():
    rows = HashingEmbedder().embed_passages(["", "。！？", "\0"])
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)


def test_no_texts_give_no_rows():
    assert HashingEmbedder().embed_passages([]).shape == (0, 256)
