"""KB_RERANKER from outside: a server on stdio, and a process that asks one question and ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest
from cross_encoder_support import put_cross_encoder
from server_support import ROOT, ServerProcess

# Keywords prefer what is short or says it often, the model what holds both words.
DOCUMENTS = {
    "often.txt": "甲 甲 甲 甲 甲 甲",
    "short.txt": "乙",
    "both.txt": "数字 " * 60 + "甲 数字 乙",
    "other.txt": "数字",
}
QUESTION = "甲 乙"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """An ingested project and a model folder with a reranker and one that is none."""
    folder = tmp_path_factory.mktemp("world")
    for name, text in DOCUMENTS.items():
        (folder / "documents").mkdir(exist_ok=True)
        (folder / "documents" / name).write_text(text, encoding="utf-8")
    put_cross_encoder(folder / "models" / "small")
    put_cross_encoder(folder / "models" / "vectors", ending="states")
    values = {
        "KB_DATA_DIR": str(folder / "data"),
        "KB_MODEL_DIR": str(folder / "models"),
        "KB_LOCAL_ROOT": str(folder / "documents"),
        "KB_EMBEDDER": "hash",
        "KB_LANG": "en",
    }
    run(values, str(ROOT / "ingest.py"), str(folder / "documents"))
    return values


def run(values, *arguments):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("KB_")}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**clean, "PYTHONUTF8": "1", **values},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def ask(server, number):
    server.call("search", number, query=QUESTION, top_k=4)
    answer = server.receive()
    assert answer["id"] == number
    found = answer["result"]["structuredContent"]
    assert found["notice"] in answer["result"]["content"][0]["text"]
    return [hit["source"] for hit in found["hits"]], found["notice"]


def test_a_server_loads_it_by_itself_and_then_answers_in_its_order(world, tmp_path):
    with ServerProcess(tmp_path, env={**world, "KB_RERANKER": "small"}) as server:
        server.open()
        sources, notice = ask(server, 1)
        number = 1
        while "loading" in notice:
            assert sources[0] != "both.txt"
            time.sleep(0.05)  # its log says nothing of it; the watchdog ends this
            number += 1
            sources, notice = ask(server, number)
        assert (sources[0], notice) == ("both.txt", "")
        server.process.stdin.close()
        assert server.rest()[1] == 0


def test_a_server_whose_reranker_is_none_answers_and_says_why(world, tmp_path):
    with ServerProcess(tmp_path, env={**world, "KB_RERANKER": "vectors"}) as server:
        server.open()
        number, notice = 0, "loading"
        while "loading" in notice:
            number += 1
            sources, notice = ask(server, number)
            assert len(sources) == 4
            assert sources[0] != "both.txt"
        assert "no reranker" in notice
        assert "KB_EMBEDDER=onnx:" in notice


ONE_LINE = "from chroma_store import search; import json; print(json.dumps(search('甲 乙', 4)))"


def test_a_process_that_asks_once_is_answered_at_once_and_ends_well(world):
    for _ in range(3):
        found = json.loads(run({**world, "KB_RERANKER": "small"}, "-c", ONE_LINE))
        assert len(found["hits"]) == 4
        assert "loading" in found["notice"] or found["hits"][0]["source"] == "both.txt"


def test_a_process_that_goes_on_asking_has_it_later(world):
    code = (
        "import json, time; from chroma_store import search\n"
        "while 'loading' in (found := search('甲 乙', 4))['notice']: time.sleep(0.05)\n"
        "print(json.dumps(found))"
    )
    found = json.loads(run({**world, "KB_RERANKER": "small"}, "-c", code))
    assert (found["hits"][0]["source"], found["notice"]) == ("both.txt", "")


def test_without_the_setting_nothing_is_said(world):
    found = json.loads(run(world, "-c", ONE_LINE))
    assert found["notice"] == ""
    assert found["hits"][0]["source"] != "both.txt"
