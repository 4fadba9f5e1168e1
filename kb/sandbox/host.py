"""The process that parses for us: `python -m kb.sandbox.host [--once]`.

Not multiprocessing: its children import the caller's `__main__` again, which breaks `python -c`
and unguarded scripts. Requests come as lines of JSON on stdin, answers leave by a private copy of
stdout; fd 1 itself is the log from the first moment on, so nothing printed can reach the answers.

On POSIX this is a host: it imports a parser's libraries once and forks one child a document, in a
session of its own that is killed whole when time or output run out. `--once` (Windows, where there
is no fork) parses one document in this very process; its caller holds the watch.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import selectors
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import BinaryIO, Final, NoReturn

from kb.parsers.registry import Registry
from kb.sandbox import child
from kb.sandbox.limits import MIB, Deadline
from kb.sandbox.wire import (
    EXIT_MEMORY,
    EXIT_OUTPUT,
    AnswerReader,
    Outcome,
    Request,
    encode_progress,
)

_CHUNK: Final = 1 << 16
_LOG_TAIL: Final = 4096
_PIPE_FACTOR: Final = 4
"""An answer holds escapes and geometry beside its text: this many times the text limit."""


def main() -> None:
    """Serve requests until stdin ends."""
    requests, answers = _private_channel()
    if "--once" in sys.argv[1:]:
        _once(requests, answers)
        return
    Host(requests, answers).serve()


def answer_cap(request: Request) -> int:
    """Most bytes an answer may have."""
    return (request.limits.output_mb * _PIPE_FACTOR + 1) * MIB


class Host:
    """Forks a child for each request. `requests` and `answers` are file descriptors."""

    def __init__(self, requests: int, answers: int) -> None:
        self._requests = requests
        self._answers = answers
        self._buffer = b""
        self._registries: dict[tuple[str, ...], Registry] = {}

    def serve(self) -> None:
        """Answer one request after another until the caller is gone."""
        while (line := self._read_line()) is not None:
            request = Request.decode(line)
            registry = self._registry(request)
            _preload(request, registry)
            outcome = self._supervise(request, registry)
            self._send(outcome.head())
            self._send(outcome.payload)

    def _read_line(self) -> bytes | None:
        while b"\n" not in self._buffer:
            chunk = os.read(self._requests, _CHUNK)
            if not chunk:
                return None
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _registry(self, request: Request) -> Registry:
        if request.extra not in self._registries:
            self._registries[request.extra] = Registry(request.extra)
        return self._registries[request.extra]

    def _send(self, part: bytes) -> None:
        view = memoryview(part)
        while view:
            view = view[os.write(self._answers, view) :]

    def _supervise(self, request: Request, registry: Registry) -> Outcome:
        answer, answer_end = os.pipe()
        log, log_end = os.pipe()
        gc.freeze()
        pid = os.fork()
        if pid == 0:
            self._child(request, registry, answer_end, log_end)
        os.close(answer_end)
        os.close(log_end)
        try:
            return _Watch(pid, request, answer, log, self._requests, self._send).outcome()
        finally:
            os.close(answer)
            os.close(log)

    def _child(self, request: Request, registry: Registry, answer: int, log: int) -> NoReturn:
        code = 1
        try:
            os.setsid()
            os.close(self._answers)
            os.dup2(os.open(os.devnull, os.O_RDONLY), self._requests)
            os.dup2(log, 1)
            os.dup2(log, 2)
            child.run(request, registry, answer)
            code = 0
        finally:
            os._exit(code)


class _Watch:
    """Reads what one child sends, until it is done, too slow, too loud, or nobody waits."""

    def __init__(
        self,
        pid: int,
        request: Request,
        answer: int,
        log: int,
        caller: int,
        send: Callable[[bytes], None],
    ) -> None:
        self._pid = pid
        self._cap = answer_cap(request)
        self._deadline = Deadline(request.limits, request.ocr)
        self._answer, self._log, self._caller = answer, log, caller
        self._send = send
        self._reader = AnswerReader()
        self._tail = b""

    def outcome(self) -> Outcome:
        stopped = self._read_until_end()
        if stopped:
            self._kill()
        status = self._reap()
        self._kill()  # whatever the child left behind in its session
        log = self._tail.decode("utf-8", "replace")
        if stopped:
            return Outcome("wall" if stopped == "wall" else "output", log=log)
        return _by_status(status, self._reader.answer, log)

    def _read_until_end(self) -> str:
        """Empty when the answer has ended, else the limit that was met."""
        with selectors.DefaultSelector() as selector:
            for fd in (self._answer, self._log, self._caller):
                selector.register(fd, selectors.EVENT_READ)
            while True:
                events = selector.select(max(self._deadline.left, 0))
                if self._deadline.left <= 0:
                    return "wall"
                for key, _ in events:
                    ended = self._take(key.fd)
                    if ended and key.fd == self._answer:
                        return ""
                    if ended:
                        selector.unregister(key.fd)
                if self._reader.size > self._cap:
                    return "output"

    def _take(self, fd: int) -> bool:
        """Read what `fd` has; True at its end. The caller speaks only to say that it is gone."""
        chunk = os.read(fd, _CHUNK)
        if fd == self._caller:
            if not chunk:
                self._abandon()
        elif fd == self._log:
            self._tail = (self._tail + chunk)[-_LOG_TAIL:]
        else:
            self._hear(chunk)
        return not chunk

    def _hear(self, chunk: bytes) -> None:
        """Take a piece of the answer; what it says of progress goes to the caller at once."""
        for step in self._reader.feed(chunk):
            self._deadline.note(step)
            try:
                self._send(encode_progress(step))
            except OSError:
                self._abandon()

    def _abandon(self) -> NoReturn:
        """The caller is gone: nobody waits for this document or another."""
        self._kill()
        os._exit(0)

    def _reap(self) -> int:
        """The child's wait status; a child that will not end in time is killed."""
        while True:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                return status
            if self._deadline.left <= 0:
                self._kill()
            time.sleep(0.0005)

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)


def _by_status(status: int, payload: bytes, log: str) -> Outcome:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return ended_by_signal(number, log)
    return ended_by_code(os.WEXITSTATUS(status), payload, log)


def ended_by_signal(number: int, log: str = "") -> Outcome:
    """The outcome of a child that a signal ended; too much CPU counts as too much time."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = str(number)
    return Outcome("wall" if name in {"SIGXCPU", "SIGALRM"} else "signal", name, log=log)


def ended_by_code(code: int, payload: bytes, log: str = "") -> Outcome:
    """The outcome of a child that exited by itself."""
    if code == 0:
        return Outcome("done", payload=payload, log=log)
    if code == EXIT_MEMORY:
        return Outcome("memory", log=log)
    if code == EXIT_OUTPUT:
        return Outcome("output", log=log)
    return Outcome("exit", str(code), log=log)


def _preload(request: Request, registry: Registry) -> None:
    for spec in registry.specs:
        if spec.id == request.parser:
            for module in spec.preload:
                importlib.import_module(module)


def _private_channel() -> tuple[int, int]:
    """Copies of fds 0 and 1 that only we know; fd 0 becomes empty and fd 1 the log."""
    requests, answers = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # the caller has no stderr
        os.dup2(null, 1)
        os.dup2(null, 2)
    return requests, answers


def _once(requests: int, answers: int) -> None:
    """One document in this process, then gone, without the interpreter's teardown."""
    lines = os.fdopen(requests, "rb")
    request = Request.decode(lines.readline())
    threading.Thread(target=_leave_with_caller, args=(lines,), daemon=True).start()
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    child.run(request, Registry(request.extra), answers)
    os._exit(0)


def _leave_with_caller(lines: BinaryIO) -> None:
    """The caller sends nothing more: when its pipe ends before we do, it is gone."""
    lines.read()
    os._exit(1)


if __name__ == "__main__":
    main()
