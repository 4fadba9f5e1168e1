"""One ingest worker at a time, started as a process; callers of the same document join its job."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import kb.errors
from kb.config import ROOT
from kb.errors import Busy, KbError
from kb.messages import tr

Key = tuple[str, str, str]
Command = Callable[[str, str, str], Sequence[str]]
OnJobProgress = Callable[[str, int, int], Awaitable[None]]

WAIT_SECONDS: Final = 45.0
"""Longest a call waits: clients give up after 60 s."""
_QUEUE_LIMIT: Final = 100
_UNTOLD_SECONDS: Final = 600.0
"""How long an outcome waits for a caller that was told `running` and has not come back."""

_log = logging.getLogger("kb.serving.jobs")


class Job:
    """One document on its way in. Its fields are written under the lock of its `Jobs`."""

    def __init__(self, path: str, source: str, project: str) -> None:
        self.key: Key = (project, source, path)
        self.path, self.source, self.project = path, source, project
        self.since = time.monotonic()
        self.progress: tuple[str, int, int] | None = None
        self.report: dict[str, Any] | None = None
        self.error: KbError | None = None
        self.ended = 0.0
        self.told = False
        """Whether a caller has had the outcome: the next one asks for a new ingest."""
        self.watchers: set[Callable[[], None]] = set()

    @property
    def settled(self) -> bool:
        """Whether there is a report or an error."""
        return self.report is not None or self.error is not None

    def outcome(self) -> dict[str, Any]:
        """The report. Raises the error that the worker ended with."""
        self.told = True
        if self.error is not None:
            raise self.error
        return dict(self.report or {})


class Jobs:
    """The queue, and the thread that drives one worker process after another.

    Waiting is asynchronous: any number of callers wait without occupying a thread. `command`
    makes the worker's argument list out of path, source and project.
    """

    def __init__(self, command: Command | None = None, wait: float = WAIT_SECONDS) -> None:
        self._command = command or worker_command
        self._wait = wait
        self._lock = threading.Condition()
        self._queue: deque[Job] = deque()
        self._untold: dict[Key, Job] = {}
        self._current: Job | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None

    async def ingest(
        self, path: str, source: str, project: str, on_progress: OnJobProgress | None = None
    ) -> dict[str, Any]:
        """The ingest report as a dict, `state` being `running` when it takes too long to wait.

        Calling again joins the same job. Cancelling the call ends the wait only: the job goes on.
        Raises the KbError that the worker met, or KbError when the worker itself broke.
        """
        job = self._join(path, source, project)
        await self._settled(job, on_progress)
        with self._lock:
            if job.settled:
                return job.outcome()
            return self._running(job)

    def resume(self, project: str) -> None:
        """Go on with a project's missing vectors, in a worker that gives way to any ingest."""
        job = Job("", tr("lock.vectors"), project)
        job.report, job.told = {}, True
        with self._lock:
            self._enqueue(job)

    def close(self) -> None:
        """Let the worker end: it does when its input does. Queued jobs are dropped."""
        with self._lock:
            self._queue.clear()
            process = self._process
        if process is not None and process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()

    def _join(self, path: str, source: str, project: str) -> Job:
        wanted = Job(path, source, project)
        with self._lock:
            for job in (self._current, *self._queue):
                if job is not None and job.key == wanted.key and not job.told:
                    return job
            ended = self._untold.pop(wanted.key, None)
            if ended is not None and wanted.since - ended.ended < _UNTOLD_SECONDS:
                return ended
            if len(self._queue) >= _QUEUE_LIMIT:
                raise Busy(tr("tool.job.full", count=_QUEUE_LIMIT), tr("tool.job.full.hint"))
            self._enqueue(wanted)
        return wanted

    def _enqueue(self, job: Job) -> None:
        """Under the lock: let the one thread work on `job` when its turn comes."""
        self._queue.append(job)
        self._hurry()
        if self._thread is None:
            self._thread = threading.Thread(target=self._drive, name="ingest", daemon=True)
            self._thread.start()
        self._lock.notify_all()

    def _hurry(self) -> None:
        """Ask a worker that only embeds by now to stop after its batch: keywords come first.

        The next worker of the project resumes its vectors. One that does not listen is waited for.
        """
        settled = self._current is not None and self._current.settled
        if settled and self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                self._process.stdin.write(b"stop\n")
                self._process.stdin.flush()

    async def _settled(self, job: Job, on_progress: OnJobProgress | None) -> None:
        """Wait until the job is settled, or time is up; tell the caller of progress meanwhile."""
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with contextlib.suppress(RuntimeError):  # the caller's loop has ended
                loop.call_soon_threadsafe(changed.set)

        with self._lock:
            job.watchers.add(wake)
        try:
            # Not the built-in TimeoutError: on Python 3.10 it is another class.
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._follow(job, changed, on_progress), self._wait)
        finally:
            with self._lock:
                job.watchers.discard(wake)

    async def _follow(
        self, job: Job, changed: asyncio.Event, on_progress: OnJobProgress | None
    ) -> None:
        told = None
        while not job.settled:
            progress = job.progress
            if on_progress is not None and progress is not None and progress != told:
                told = progress
                await on_progress(*progress)
            else:
                await changed.wait()
            changed.clear()

    def _running(self, job: Job) -> dict[str, Any]:
        """What is known of an unsettled job, in the form of a report."""
        return {
            "source": job.source,
            "state": "running",
            "version": 0,
            "pages": 0,
            "blocks": 0,
            "parser": "",
            "encoding": "",
            "seconds": round(time.monotonic() - job.since, 1),
            "warnings": [],
            "notice": self._whereabouts(job),
        }

    def _whereabouts(self, job: Job) -> str:
        current = self._current
        if current is not None and current is not job:
            return tr("tool.job.queued", source=current.source)
        if job.progress is None:
            return tr("tool.job.started")
        stage, done, total = job.progress
        return tr("tool.job.progress", stage=stage_name(stage), done=done, total=total or "?")

    def _drive(self) -> None:
        """Work through the queue for ever; runs in the one thread."""
        while True:
            with self._lock:
                while not self._queue:
                    self._lock.wait()
                job = self._current = self._queue.popleft()
            try:
                self._work(job)
            except Exception:
                _log.exception("ingest worker of %s", job.source)
            self._finish(job)

    def _work(self, job: Job) -> None:
        """Run one worker process to its end."""
        command = self._command(job.path, job.source, job.project)
        with _start(command) as process:
            with self._lock:
                self._process = process
                if self._queue:  # they came while this one was starting
                    self._hurry()
            for line in process.stdout or ():
                self._take(job, line)
            code = process.wait()
        if not job.settled or (code != 0 and job.error is None):
            _log.error("ingest worker of %s ended with code %s", job.source, code)

    def _take(self, job: Job, line: bytes) -> None:
        """Note one event of the worker. Anything else that it prints goes to our stderr."""
        try:
            event = json.loads(line.decode("utf-8", "replace"))
            kind = event["event"]
        except (ValueError, TypeError, KeyError):
            _log.warning("worker: %r", line[:500])
            return
        with self._lock:
            if kind == "progress":
                job.progress = (str(event["stage"]), int(event["done"]), int(event["total"]))
            elif kind == "report" and not job.settled:
                job.report = {k: v for k, v in event.items() if k != "event"}
                if self._queue:
                    self._hurry()
            elif kind == "error" and not job.settled:
                job.error = _as_error(event)
            watchers = tuple(job.watchers)
        for wake in watchers:
            wake()

    def _finish(self, job: Job) -> None:
        with self._lock:
            self._process = self._current = None
            if not job.settled:
                job.error = KbError(
                    tr("tool.job.crashed", source=job.source), tr("tool.job.crashed.hint")
                )
            job.ended = time.monotonic()
            if not job.told and not job.watchers:
                self._untold[job.key] = job
            watchers = tuple(job.watchers)
        for wake in watchers:
            wake()


def worker_command(path: str, source: str, project: str) -> Sequence[str]:
    """How a worker is started for one document, or without a path for the missing vectors."""
    if not path:
        return [sys.executable, "-m", "kb.serving.worker", "update", f"--project={project}"]
    # With "=": a name that starts with "-" would be taken for an option.
    options = [f"--source={source}", f"--project={project}"]
    return [sys.executable, "-m", "kb.serving.worker", "ingest", path, *options]


def stage_name(stage: str) -> str:
    """A stage of the work in the language of the caller."""
    key = f"tool.stage.{stage}"
    with contextlib.suppress(KeyError):
        return tr(key)
    return stage


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a worker that lives no longer than we do: it ends when its input does.

    A group of its own, so that Ctrl+C in a terminal reaches the server alone; no console window
    where there is no console.
    """
    return subprocess.Popen(
        list(command),
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


def _as_error(event: Mapping[str, Any]) -> KbError:
    """The error a worker reported, as the class it names."""
    kind = getattr(kb.errors, str(event.get("kind")), KbError)
    if not (isinstance(kind, type) and issubclass(kind, KbError)):
        kind = KbError
    return kind(str(event.get("message", "")), str(event.get("hint", "")))
