"""Against a real HTTP server on loopback that answers as the test wants."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from pydantic import SecretStr

from kb.embedding import openai
from kb.embedding.openai import OpenAIEmbedder
from kb.errors import EmbeddingFailed

SECRET = "sk-very-secret-0123456789"


def vector(text):
    """A vector that tells texts apart."""
    return [1.0, float(len(text)), float(sum(map(ord, text)) % 97)]


def usual(inputs):
    return [{"index": i, "embedding": vector(text)} for i, text in enumerate(inputs)]


class Server:
    """Keeps what it was asked; `answer` makes (status, headers, body) of the inputs."""

    def __init__(self):
        self.requests = []
        self.answer = lambda inputs: (200, {}, {"data": usual(inputs)})
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append((self.path, dict(self.headers), body))
                status, headers, answer = outer.answer(body["input"])
                content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                for key, value in {**headers, "Content-Length": str(len(content))}.items():
                    self.send_header(key, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        self.thread = threading.Thread(
            target=self.http.serve_forever, kwargs={"poll_interval": 0.01}
        )
        self.thread.start()

    def inputs(self):
        return [body["input"] for _, _, body in self.requests]

    def close(self):
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


@pytest.fixture
def server():
    one = Server()
    yield one
    one.close()


@pytest.fixture
def embedder(server, request):
    opened = []

    def build(model="some-model", key="", url=None):
        opened.append(OpenAIEmbedder(url or server.url, model, SecretStr(key)))
        return opened[-1]

    yield build
    for one in opened:
        if "_client" in vars(one):
            one._client.close()


@pytest.fixture
def pauses(monkeypatch):
    taken = []
    monkeypatch.setattr(openai.time, "sleep", taken.append)
    return taken


def test_vectors_are_of_unit_length_in_the_order_of_the_texts(server, embedder):
    server.answer = lambda inputs: (200, {}, {"data": usual(inputs)[::-1]})
    texts = ["a" * n for n in range(1, 25)]
    rows = embedder().embed_passages(texts)
    wanted = np.array([vector(t) for t in texts])
    assert np.allclose(rows, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-6)
    assert rows.dtype == np.float32
    assert max(map(len, server.inputs())) == openai.BATCH


def test_texts_of_like_length_share_a_request(server, embedder):
    texts = ["a" * (1 + n * 7 % 25) for n in range(25)]
    rows = embedder().embed_passages(texts)
    assert [list(map(len, inputs)) for inputs in server.inputs()[:-1]] == [
        list(range(25, 15, -1)),
        list(range(15, 5, -1)),
        list(range(5, 0, -1)),
    ]
    wanted = np.array([vector(t) for t in texts])
    assert np.allclose(rows, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-6)


def test_a_request_is_bounded_in_characters_padding_included(server, embedder):
    texts = ["c", *["b" * 5_000] * 4, "a" * 16_000, *["c"] * 11]
    assert embedder().embed_passages(texts).shape == (17, 3)
    assert [list(map(len, inputs)) for inputs in server.inputs()[:-1]] == [
        [16_000],
        [5_000] * 3,
        [5_000, 1, 1],
        [1] * 10,
    ]


def test_the_request_is_what_openai_documents(server, embedder):
    embedder(key=SECRET).embed_query("规划")
    path, headers, body = server.requests[0]
    assert path == "/v1/embeddings"
    assert headers["Authorization"] == f"Bearer {SECRET}"
    assert body == {"model": "some-model", "input": ["规划"], "encoding_format": "float"}


def test_without_a_key_none_is_sent(server, embedder):
    embedder().embed_query("规划")
    assert "Authorization" not in server.requests[0][1]


def test_prefixes_follow_the_model_s_name(server, embedder):
    e5 = embedder("intfloat/multilingual-e5-small")
    e5.embed_query("规划")
    e5.embed_passages(["规划"])
    assert ["query: 规划"] in server.inputs()
    assert ["passage: 规划"] in server.inputs()


def test_the_dimension_is_asked_once(server, embedder):
    one = embedder()
    assert (one.dimension, one.dimension) == (3, 3)
    assert one.fingerprint == one.fingerprint
    assert server.inputs() == [["a"]]


def test_a_fingerprint_is_of_the_model_not_of_the_address(server, embedder):
    first = embedder("m").fingerprint
    assert embedder("m", url=server.url.replace("127.0.0.1", "localhost")).fingerprint == first
    assert embedder("n").fingerprint != first
    server.answer = lambda inputs: (
        200,
        {},
        {"data": [{"index": i, "embedding": [1, 2]} for i in range(len(inputs))]},
    )
    assert embedder("m").fingerprint != first


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again(server, embedder, pauses, status):
    answers = iter([(status, {"Retry-After": "3"}, {}), (status, {}, {})])
    server.answer = lambda inputs: next(answers, (200, {}, {"data": usual(inputs)}))
    one = embedder()
    one._dimension = 3
    assert one.embed_passages(["a"]).shape == (1, 3)
    assert pauses == [3.0, openai.RETRY_SECONDS[1]]


def test_patience_has_an_end_and_a_question_less_of_it(server, embedder, pauses):
    server.answer = lambda _: (503, {"Retry-After": "86400"}, {})
    one = embedder()
    one._dimension = 3
    with pytest.raises(EmbeddingFailed, match="503"):
        one.embed_passages(["a"])
    assert len(server.requests) == 1 + len(openai.RETRY_SECONDS)
    assert max(pauses) == openai.RETRY_SECONDS[-1]
    with pytest.raises(EmbeddingFailed, match="503"):
        one.embed_query("a")
    assert len(server.requests) == 3 + len(openai.RETRY_SECONDS)


@pytest.mark.parametrize("status", [301, 401, 403, 404])
def test_a_refusal_is_said_once_without_key_text_or_body(server, embedder, pauses, status):
    server.answer = lambda _: (status, {"Location": "http://127.0.0.1:1/"}, {"error": SECRET})
    with pytest.raises(EmbeddingFailed, match=str(status)) as caught:
        embedder(key=SECRET).embed_query("机密文本")
    assert SECRET not in str(caught.value)
    assert SECRET not in repr(caught.value.__cause__)
    assert "机密文本" not in str(caught.value)
    assert len(server.requests) == 1


def test_a_batch_that_is_too_much_is_halved(server, embedder):
    server.answer = lambda inputs: (
        (413, {}, {}) if len(inputs) > 3 else (200, {}, {"data": usual(inputs)})
    )
    texts = ["a" * n for n in range(1, 11)]
    rows = embedder().embed_passages(texts)
    wanted = np.array([vector(t) for t in texts])
    assert np.allclose(rows, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-6)


def test_a_text_that_is_too_long_is_shortened_and_said(server, embedder, caplog):
    server.answer = lambda inputs: (
        (400, {}, {}) if max(map(len, inputs)) > 512 else (200, {}, {"data": usual(inputs)})
    )
    rows = embedder().embed_passages(["b", "a" * 3000, "c"])
    assert rows.shape == (3, 3)
    assert max(len(text) for text in server.inputs()[-1]) <= 512
    assert "3000" in caplog.text


def test_a_bad_request_ends(server, embedder):
    server.answer = lambda _: (400, {}, {})
    with pytest.raises(EmbeddingFailed, match="400"):
        embedder().embed_passages(["a" * 16_000] * 10)
    assert len(server.requests) < 20


def test_blank_and_broken_texts_are_sent_as_something_a_server_takes(server, embedder):
    assert embedder().embed_passages(["", " \n", "\0", "\ud800"]).shape == (4, 3)
    assert all(text.strip() for inputs in server.inputs() for text in inputs)


@pytest.mark.parametrize(
    "data",
    [
        [],
        [{"index": 0, "embedding": [1, 2, 3]}],
        [{"index": 0, "embedding": [1, 2, 3]}, {"index": 0, "embedding": [1, 2, 3]}],
        [{"index": 1, "embedding": [1, 2, 3]}, {"index": 2, "embedding": [1, 2, 3]}],
        [{"index": 0, "embedding": [1, 2, 3]}, {"index": 1, "embedding": [1, 2]}],
        [{"index": i, "embedding": [1, 2, 3]} for i in range(3)],
        [{"embedding": [1, 2, 3]}] * 2,
        [{"index": i, "embedding": None} for i in range(2)],
        [{"index": i, "embedding": []} for i in range(2)],
        [{"index": i, "embedding": "AACAPw=="} for i in range(2)],
        [{"index": i, "embedding": [0, 0, 0]} for i in range(2)],
        [{"index": i, "embedding": [1, 2, 3, 4]} for i in range(2)],
        [{"index": i, "embedding": [float("nan")] * 3} for i in range(2)],
        "no list",
        None,
    ],
)
def test_an_answer_of_no_use_is_refused(server, embedder, data):
    one = embedder()
    assert one.dimension == 3
    server.answer = lambda _: (200, {}, {"data": data})
    with pytest.raises(EmbeddingFailed):
        one.embed_passages(["a", "b"])


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"null", b"\xff\xfe"])
def test_an_answer_that_is_no_json_object_is_refused(server, embedder, body):
    server.answer = lambda _: (200, {}, body)
    with pytest.raises(EmbeddingFailed):
        embedder().embed_query("a")


def test_a_server_that_is_not_there_is_said_at_once(embedder, pauses):
    with pytest.raises(EmbeddingFailed, match=r"127\.0\.0\.1:1") as caught:
        embedder(url="http://127.0.0.1:1/v1", key=SECRET).embed_query("a")
    assert SECRET not in str(caught.value)
    assert pauses == []


def test_no_proxy_stands_before_loopback(server, embedder, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert embedder().embed_query("a").shape == (3,)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1:80", True),
        ("127.8.8.8", True),
        ("[::1]:80", True),
        ("localhost:11434", True),
        ("a.localhost", True),
        ("10.0.0.1", False),
        ("localhost.example.com", False),
        ("api.x.cn", False),
    ],
)
def test_loopback_is_told_from_other_hosts(host, loopback):
    assert openai._is_loopback(host) is loopback


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:80",
        "ftp://h/v1",
        "http://",
        f"http://u:{SECRET}@h/v1",
        "http://h:x/v1",
        "http://[/",
    ],
)
def test_an_address_of_no_use_is_refused_without_repeating_it(url):
    with pytest.raises(EmbeddingFailed, match="KB_EMBED_API_KEY") as caught:
        OpenAIEmbedder(url, "m", SecretStr(""))
    assert SECRET not in str(caught.value)


def test_a_model_name_is_needed():
    with pytest.raises(EmbeddingFailed, match="KB_EMBED_MODEL"):
        OpenAIEmbedder("http://127.0.0.1/v1", "", SecretStr(""))


def test_time_is_bounded(embedder):
    timeout = embedder()._client.timeout
    assert (timeout.connect, timeout.read) == (5.0, 60.0)
