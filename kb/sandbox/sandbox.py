"""Parsing where it cannot hurt: the `DocumentParser` that the product uses.

The checks of `kb.sandbox.checks` run here, everything else in another process (see
`kb.sandbox.host`). POSIX: a long-lived host that forks one child a document. Windows: one process
a document inside a Job object. Both end when we end, however we end. Bounds: wall time and output
everywhere; CPU seconds everywhere; memory on Linux and Windows, but not on macOS, whose kernel does
not enforce RLIMIT_AS. A page that is read by OCR has its own time and the process then more memory
(`OcrOptions`, `kb.sandbox.deadline`).
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Final

from kb.config import ROOT
from kb.errors import ParseFailed
from kb.messages import language, tr
from kb.model import Drawing, Parsed, Progress
from kb.parsers.registry import ParserSpec, Registry
from kb.parsers.session import MARKS, marks
from kb.ports import OcrOptions, OnProgress, ParseLimits
from kb.sandbox.checks import check
from kb.sandbox.host import answer_cap, ended_by_code, ended_by_signal
from kb.sandbox.limits import Deadline
from kb.sandbox.wire import (
    AnswerReader,
    Outcome,
    Request,
    decode_answer,
    decode_drawing,
    decode_progress,
)

_CHUNK: Final = 1 << 16
_START_SECONDS: Final = 60.0
"""A host that has not answered this long after its own deadline is itself stuck."""
_SECRET: Final = re.compile(
    r"^(KB|MINIO|AWS)_|SECRET|TOKEN|PASSW|CREDENTIAL|API_?KEY", re.IGNORECASE
)
_LOG: Final = logging.getLogger(__name__)

Process = subprocess.Popen[bytes]


class Sandbox:
    """Reads documents in other processes; safe to call from any thread, one document at a time.

    `extra` names further modules with a `SPEC`. `fork=False` takes the way of Windows anywhere.
    """

    def __init__(
        self,
        limits: ParseLimits,
        ocr: OcrOptions | None = None,
        *,
        extra: Sequence[str] = (),
        fork: bool | None = None,
    ) -> None:
        self._limits = limits
        self._ocr = ocr or OcrOptions()
        self._extra = tuple(extra)
        self._registry = Registry(extra)
        can_fork = hasattr(os, "fork") if fork is None else fork
        self._runner: _Host | _Once = _Host() if can_fork else _Once()
        self._lock = threading.Lock()

    def is_current(self, parser: str, name: str) -> bool:
        """Whether a document called `name`, once read by `parser`, would be read the same now.

        Raises Refused when nothing reads such a file.
        """
        spec = self._registry.spec(name)
        return parser in {spec.id + m for m in marks(self._ocr.mode, can_ocr=spec.can_ocr)}

    def parse(
        self, path: Path, name: str, on_progress: OnProgress | None = None, page: int = 0
    ) -> Parsed:
        """Pages of the file at `path`, taken as a document called `name`.

        `on_progress` is told of stages `parse` and `ocr`, in pages. With a `page` only that one is
        read by OCR. Raises Refused (the document is not acceptable) or ParseFailed (it broke the
        parser or ran past a limit).
        """
        spec = check(path, name, self._registry, self._limits)
        payload = self._ask(spec, path, name, on_progress, page=page)
        return decode_answer(payload, name, spec.id, MARKS)

    def draw(self, path: Path, name: str, page: int) -> Drawing | None:
        """Page `page` of the file as it is seen; None when it is empty, or nothing can draw it.

        Raises like `parse`.
        """
        spec = check(path, name, self._registry, self._limits)
        if spec.draw is None:
            return None
        return decode_drawing(self._ask(spec, path, name, page=page, draw=True), name)

    def _ask(
        self,
        spec: ParserSpec,
        path: Path,
        name: str,
        on_progress: OnProgress | None = None,
        **wanted: Any,
    ) -> bytes:
        """The answer of a child that was asked for `wanted` (`Request.page`, `Request.draw`)."""
        request = Request(
            path=str(path.absolute()),
            name=name,
            parser=spec.id,
            language=language(),
            limits=self._limits,
            extra=self._extra,
            ocr=self._ocr,
            **wanted,
        )
        watched = _Watched(request, on_progress)
        with self._lock:
            outcome = self._runner.run(request, watched)
        if outcome.log:
            _LOG.debug("parser of %s printed: %s", name, outcome.log)
        if outcome.ending != "done":
            raise self._failure(name, outcome, in_ocr=watched.deadline.in_ocr)
        return outcome.payload

    def close(self) -> None:
        """End the host process, if there is one. A later `parse` starts another."""
        with self._lock:
            self._runner.close()

    def _failure(self, name: str, outcome: Outcome, *, in_ocr: bool) -> ParseFailed:
        limits = self._limits
        if outcome.ending == "wall" and in_ocr:
            seconds = f"{self._ocr.page_seconds:g}"
            return ParseFailed(tr("ocr.wall", name=name, seconds=seconds), tr("ocr.wall_hint"))
        key = f"parse.{outcome.ending}"
        hint = (
            key + "_hint" if outcome.ending in {"wall", "memory", "output"} else "parse.broke_hint"
        )
        message = tr(
            key,
            name=name,
            seconds=f"{min(limits.wall_seconds, limits.cpu_seconds):g}",
            limit=limits.output_mb if outcome.ending == "output" else limits.memory_mb,
            signal=outcome.detail,
            code=outcome.detail,
        )
        return ParseFailed(message, tr(hint))


class _Watched:
    """One request under way: its deadline, and who is told of its steps."""

    def __init__(self, request: Request, on_progress: OnProgress | None) -> None:
        self.deadline = Deadline(request.limits, request.ocr)
        self._name = request.name
        self._on_progress = on_progress

    def note(self, step: Progress) -> None:
        self.deadline.note(step)
        if self._on_progress:
            self._on_progress(replace(step, name=self._name))


class _Host:
    """The long-lived process that forks. Started on first need and again after it was lost."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._stop: Callable[[], object] = _nothing

    def run(self, request: Request, watched: _Watched) -> Outcome:
        process = self._running()
        try:
            with _killed_at(process, watched.deadline, _START_SECONDS) as late:
                stdin, stdout = _pipes(process)
                stdin.write(request.encode())
                stdin.flush()
                return _read_outcome(stdout, watched)
        except (OSError, ValueError) as error:
            self.close()
            if late.is_set():
                return Outcome("wall")
            return _lost(process, error)
        except (
            BaseException
        ):  # Ctrl-C: an answer is still under way, the next request must not get it
            self.close()
            raise

    def close(self) -> None:
        self._stop()
        self._process, self._stop = None, _nothing

    def _running(self) -> Process:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = _start()
            self._stop = weakref.finalize(self, _end, self._process)
        return self._process


class _Once:
    """A process for every document: no fork needed."""

    def run(self, request: Request, watched: _Watched) -> Outcome:
        process = _start("--once")
        reader = AnswerReader()
        try:
            with _killed_at(process, watched.deadline) as late:
                self._exchange(process, request, reader, watched)
                code = process.wait()
        except OSError:  # it ended before it had read the request: its exit code says why
            code = process.wait()
        finally:
            _end(process)
        return _once_outcome(code, reader, request, late=late.is_set())

    def close(self) -> None:
        """Nothing is kept between documents."""

    @staticmethod
    def _exchange(
        process: Process, request: Request, reader: AnswerReader, watched: _Watched
    ) -> None:
        stdin, stdout = _pipes(process)
        stdin.write(request.encode())
        stdin.flush()
        while chunk := os.read(stdout.fileno(), _CHUNK):
            for step in reader.feed(chunk):
                watched.note(step)
            if reader.size > answer_cap(request):
                process.kill()
                return


def _once_outcome(code: int, reader: AnswerReader, request: Request, *, late: bool) -> Outcome:
    if late:
        return Outcome("wall")
    if reader.size > answer_cap(request):
        return Outcome("output")
    if code < 0:
        return ended_by_signal(-code)
    return ended_by_code(code, reader.answer)


def _start(*options: str) -> Process:
    """A worker that imports this very package, away from the terminal's Ctrl-C."""
    flags: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        flags = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "kb.sandbox.host", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env=_environment(),
            close_fds=True,
            **flags,
        )
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ParseFailed(
            tr("parse.no_worker", reason=reason), tr("parse.no_worker_hint")
        ) from error


def _environment() -> dict[str, str]:
    """Ours without secrets: what reads hostile files has no business with them."""
    inherited = {key: value for key, value in os.environ.items() if not _SECRET.search(key)}
    paths = [str(ROOT), inherited.get("PYTHONPATH", "")]
    return {**inherited, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def _pipes(process: Process) -> tuple[IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None:
        raise OSError
    return process.stdin, process.stdout


def _read_outcome(stdout: IO[bytes], watched: _Watched) -> Outcome:
    line = stdout.readline()
    while step := decode_progress(line):
        watched.note(step)
        line = stdout.readline()
    head = json.loads(line or b"{}")
    if "size" not in head:
        raise OSError
    payload = stdout.read(head.pop("size"))
    return Outcome(**head, payload=payload)


def _lost(process: Process, error: Exception) -> Outcome:
    """The host itself died: somebody killed it, or it could not start."""
    _LOG.debug("parser host lost", exc_info=error)
    code = process.returncode or 0
    return ended_by_signal(-code) if code < 0 else Outcome("exit", str(code))


@contextlib.contextmanager
def _killed_at(
    process: Process, deadline: Deadline, grace: float = 0.0
) -> Iterator[threading.Event]:
    """Kill `process` when the block outlasts `deadline` and `grace`; the event says that it did."""
    late, over = threading.Event(), threading.Event()

    def watch() -> None:
        while (left := deadline.left + grace) > 0:  # it moves
            if over.wait(left):
                return
        late.set()
        process.kill()

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield late
    finally:
        over.set()


def _end(process: Process) -> None:
    """Let a worker see the end of its stdin, and insist when it does not."""
    for pipe in filter(None, (process.stdin, process.stdout)):
        with contextlib.suppress(OSError):
            pipe.close()
    try:
        process.wait(timeout=2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _nothing() -> None:
    """Stop a host that was never started."""
