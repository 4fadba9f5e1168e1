"""What MinIO tells makes a sync sooner; any other server is only polled."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from kb.objects.minio import MinioStore
from kb.objects.notify import listen
from kb.ports import S3Options


class Fake(ThreadingHTTPServer):
    """As much of MinIO as answers a health check and streams the events of a bucket."""

    daemon_threads = True

    def __init__(self, kind: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.kind = kind
        self.listened: list[str] = []
        self.event = threading.Event()


class Handler(BaseHTTPRequestHandler):
    server: Fake

    def version_string(self) -> str:
        return self.server.kind

    def log_message(self, *_arguments: Any) -> None:
        pass

    def do_GET(self) -> None:
        if "events=" not in self.path:
            self._answer(b'<LocationConstraint xmlns="x">us-east-1</LocationConstraint>')
            return
        self.server.listened.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.server.event.wait(10)
        self.wfile.write(json.dumps({"Records": [{"eventName": "x"}]}).encode() + b"\n")
        self.wfile.flush()
        time.sleep(5)

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serving(kind: str) -> Iterator[Fake]:
    server = Fake(kind)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def store_of(server: Fake) -> MinioStore:
    address = f"127.0.0.1:{server.server_address[1]}"
    return MinioStore(S3Options(address, "key", "secret", read_seconds=20), "docs")


def test_an_event_of_minio_wakes_the_watcher() -> None:
    changed, stop = threading.Event(), threading.Event()
    with serving("MinIO") as server:
        arguments = (store_of(server), "政策/", changed, stop)
        thread = threading.Thread(target=listen, args=arguments, daemon=True)
        thread.start()
        assert not changed.wait(0.5)
        stop.set()
        server.event.set()
        assert changed.wait(10)
        thread.join(10)
        assert not thread.is_alive()
    assert "prefix=%E6%94%BF%E7%AD%96%2F" in server.listened[0]


def test_a_server_that_is_no_minio_is_not_asked() -> None:
    with serving("SeaweedFS") as server:
        listen(store_of(server), "", threading.Event(), threading.Event())
        assert server.listened == []


def test_a_server_that_is_away_is_asked_again_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kb.objects.notify._AGAIN_SECONDS", 0.05)
    options = S3Options("127.0.0.1:9", "key", "secret", connect_seconds=0.2)
    changed, stop = threading.Event(), threading.Event()
    arguments = (MinioStore(options, "docs"), "", changed, stop)
    thread = threading.Thread(target=listen, args=arguments, daemon=True)
    thread.start()
    assert changed.wait(10)
    stop.set()
    thread.join(10)
    assert not thread.is_alive()
