"""A proxy between an S3 client and its server that breaks answers the way networks do."""

import contextlib
import http.client
import random
import socket
import struct
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BEFORE = ("hang", "reset", "500", "503")
"""Nothing of the answer arrives."""
INSIDE = ("reset_inside", "truncated", "short", "spill", "drip")
"""The body breaks: reset, cut short, declared shorter, longer than declared, trickling."""
GARBAGE = ("garbage", "foreign")
"""A well-formed answer that is somebody else's: no XML, XML of another kind."""

_HEADERS_OF_A_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "date"}


class FaultProxy:
    """Forwards to `upstream` (host:port) whatever no fault befalls.

    `choose(method, path)` names the fault of a request, or nothing. It is called in one thread at
    a time.
    """

    def __init__(self, upstream, choose=lambda method, path: ""):
        self.upstream = upstream
        self.choose = choose
        self.done = Counter()
        self._lock = threading.Lock()
        self._closing = threading.Event()

    def __enter__(self):
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.proxy = self
        self.endpoint = "{}:{}".format(*self._server.server_address)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def next_fault(self, method, path):
        with self._lock:
            fault = self.choose(method, path) or ""
            self.done[fault] += 1
            return fault

    def wait(self, seconds):
        """Sleep; True when the proxy ends meanwhile."""
        return self._closing.wait(seconds)

    @property
    def requests(self):
        return sum(self.done.values())


def seeded(seed, share, faults):
    """A fault for this share of the requests, the same ones for the same seed."""
    source = random.Random(seed)
    return lambda method, path: source.choice(faults) if source.random() < share else ""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """A client that went away is what this is about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def log_message(self, *args):
        pass

    def _answer(self):
        proxy = self.server.proxy
        # A client that gave up leaves its half of the connection to us.
        with contextlib.suppress(OSError, http.client.HTTPException):
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            fault = proxy.next_fault(self.command, self.path)
            if fault in BEFORE:
                self._instead(fault)
            elif fault in GARBAGE:
                self._garbage(fault)
            else:
                self._forward(body, fault)
            return
        self.close_connection = True

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _answer  # noqa: N815 - http.server's names

    def _instead(self, fault):
        if fault == "hang":
            self.server.proxy.wait(20)
            self.close_connection = True
        elif fault == "reset":
            self._reset()
        else:
            code = {"500": "InternalError", "503": "SlowDown"}[fault]
            self._send(int(fault), f"<Error><Code>{code}</Code></Error>".encode())

    def _garbage(self, fault):
        known = {
            "garbage": b"\x1f\x8b not XML, not even text \xff",
            "foreign": b"<?xml version='1.0'?><html><body>Welcome</body></html>",
        }
        self._send(200, known[fault])

    def _send(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _forward(self, body, fault):
        upstream = http.client.HTTPConnection(self.server.proxy.upstream, timeout=20)
        try:
            upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                upstream.putheader(name, value)  # Host as well: it is part of the signature
            upstream.endheaders(body)
            answer = upstream.getresponse()
            self._relay(answer, answer.read(), fault)
        finally:
            upstream.close()

    def _relay(self, answer, body, fault):
        whole = self.command == "HEAD" or not body
        part = body if whole else body[: len(body) // 2]
        declared = {"short": len(part), "spill": len(part)}.get(fault, len(body))
        if self.command == "HEAD":
            declared = answer.headers.get("content-length", 0)
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.headers.items():
            if name.lower() not in _HEADERS_OF_A_HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", str(declared))
        self.end_headers()
        if whole:
            self.wfile.write(body if self.command != "HEAD" else b"")
        elif fault == "drip":
            self._drip(body)
        elif fault in {"reset_inside", "truncated", "short"}:
            self.wfile.write(part)
            self.close_connection = fault != "short"
            if fault == "reset_inside":
                self._reset()
        else:
            self.wfile.write(body)

    def _drip(self, body):
        for start in range(0, len(body), 100):
            self.wfile.write(body[start : start + 100])
            if self.server.proxy.wait(0.01):
                break

    def _reset(self):
        """RST in place of FIN."""
        linger = struct.pack("ii", 1, 0)
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        # shutdown() would send a FIN first, and that is what the server does next.
        self.connection.close()
        self.close_connection = True
