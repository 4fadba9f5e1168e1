"""Stand-ins for what the server calls, and a client that sees the raw bytes of a server process."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import types

from paths import ROOT

SECRET = "绝密内容-do-not-leak"

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": "init",
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def a_hit(**changes):
    lines = [{"line": n, "text": f"第{n}行 text {n}", "match": n in (4, 5)} for n in range(3, 9)]
    hit = {
        "source": "规划.pdf",
        "version": 1,
        "page": 16,
        "page_kind": "physical",
        "page_label": "",
        "ocr": False,
        "line_start": 3,
        "line_end": 8,
        "lines": lines,
        "heading_path": ["第三章"],
        "citation": "《规划.pdf》第16页 第3-8行",
        "digest": "d1",
        "score": 0.03,
        "relevance": 0.9,
        "dense_rank": 1,
        "sparse_rank": None,
        "dense_score": None,
        "sparse_score": None,
    } | changes
    return hit | {"text": "\n".join(line["text"] for line in hit["lines"])}


def a_search(hits=None, **changes):
    hits = [a_hit(), a_hit(source="b.md", page=2)] if hits is None else hits
    return {"query": "规划", "project": "default", "hits": hits, "notice": ""} | changes


def a_passage(lines=None, **changes):
    lines = [f"line {n}" for n in range(1, 6)] if lines is None else lines
    return {
        "source": "规划.pdf",
        "version": 1,
        "page": 16,
        "pages": 20,
        "page_lines": len(lines),
        "page_kind": "physical",
        "page_label": "",
        "ocr": False,
        "line_start": 1,
        "line_end": len(lines),
        "lines": [{"line": n, "text": text} for n, text in enumerate(lines, 1)],
        "truncated": False,
        "next": {},
    } | changes


def a_listing(count=2, **changes):
    sources = [
        {
            "source": f"政策/{n}.pdf",
            "version": 1,
            "title": f"Title {n}",
            "pages": 10,
            "blocks": 30,
            "vectors": 30,
            "media_type": "application/pdf",
            "parser": "pdf/1",
            "encoding": "",
            "sha256": "ab" * 32,
            "etag": "cd" * 16,
            "origin": "folder",
            "ingested_at": "2026-11-30T00:00:00Z",
            "warnings": [],
        }
        for n in range(count)
    ]
    return {
        "project": "default",
        "sources": sources,
        "total": count,
        "failures": [],
        "notice": "",
    } | changes


def a_report(**changes):
    return {
        "source": "规划.pdf",
        "state": "ingested",
        "version": 1,
        "pages": 20,
        "blocks": 60,
        "parser": "pdf/1",
        "encoding": "",
        "seconds": 1.25,
        "warnings": [],
    } | changes


def fake_modules(search=None, read_range=None, list_sources=None):
    """`chroma_store` and `fulltext` that answer at once, or as told."""
    store, text = types.ModuleType("chroma_store"), types.ModuleType("fulltext")
    store.search = search or (
        lambda query, top_k=6, *, source=None, project=None: a_search(query=query)
    )
    store.list_sources = list_sources or (lambda query="", project=None: a_listing())
    text.read_range = read_range or (
        lambda source, page, line_start=1, line_end=-1, context=0, *, project=None: a_passage(
            source=source, page=page
        )
    )
    return {"chroma_store": store, "fulltext": text}


def _heed_signals():
    """Whoever runs the tests may ignore signals (nohup, a shell's background job): a child must not."""
    for name in ("SIGINT", "SIGHUP", "SIGTERM"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)


class ServerProcess:
    """`python server.py` with its pipes in our hands; killed if a test takes longer than 30 s."""

    def __init__(self, cwd, *args, env=None):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("KB_", "FASTMCP_"))}
        clean |= {"KB_DATA_DIR": str(cwd / "data"), "KB_EMBEDDER": "hash"} | (env or {})
        self.process = subprocess.Popen(
            [sys.executable, str(ROOT / "server.py"), *args],
            cwd=cwd,
            env=clean,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=_heed_signals if os.name == "posix" else None,  # noqa: PLW1509
        )
        self.lines: list[bytes] = []
        self.errors: list[bytes] = []
        self._said = threading.Condition()
        # Always drained: a full pipe must not be what stops the server.
        self._drain = threading.Thread(target=self._collect, daemon=True)
        self._drain.start()
        self._watchdog = threading.Timer(30, self.process.kill)
        self._watchdog.start()

    def _collect(self):
        for line in self.process.stderr:
            with self._said:
                self.errors.append(line)
                self._said.notify_all()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._watchdog.cancel()
        self.process.kill()
        self.process.wait()
        self._drain.join()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self):
        """The next message of the server; fails on anything that is not one."""
        line = self.process.stdout.readline()
        self.lines.append(line)
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def wait_for_error(self, text):
        """The line of stderr that contains `text`, waited for."""
        with self._said:
            found = lambda: next((e for e in self.errors if text.encode() in e), None)  # noqa: E731
            assert self._said.wait_for(lambda: found() is not None, 20), self.errors
            return found().decode()

    def drained(self, seconds):
        """Whoever held our stderr is gone within so many seconds."""
        self._drain.join(seconds)
        assert not self._drain.is_alive()

    def open(self):
        self.send(INITIALIZE)
        answer = self.receive()
        self.send(INITIALIZED)
        return answer

    def call(self, tool, number=1, /, **arguments):
        self.send(
            {
                "jsonrpc": "2.0",
                "id": number,
                "method": "tools/call",
                "params": {"name": tool, "arguments": arguments},
            }
        )

    def rest(self):
        """What the server still writes until it has ended, and its exit code."""
        tail = self.process.stdout.read()
        return tail, self.process.wait(20)
