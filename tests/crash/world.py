"""One index, the files that go into it, and processes that work on it and may be killed.

A process is a fork of this one, which has imported everything and opened nothing: what a kill does
to it is what a kill does to any process, and a round costs a second instead of four.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import model
from library_support import PlainParser

import ingest
from kb import app, failpoints
from kb.cli import doctor
from kb.config import ROOT, Settings
from kb.embedding.hashing import HashingEmbedder

LIMIT = 60.0


@dataclass
class Ended:
    """How a process ended: its exit code (negative: the signal), what it returned, what it said."""

    code: int
    value: object = None
    said: str = ""


@dataclass
class World:
    """The index in `folder`, and the model of it: {source: the versions it may be at}."""

    folder: Path
    exact_limit: int = 50_000
    allowed: dict[str, set[int]] = field(default_factory=dict)
    embedder: int = 0
    keywords: bool = True
    saved: dict[str, int] = field(default_factory=dict)
    saved_embedder: int = 0

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def project(self) -> Path:
        return self.data / "default"

    @property
    def documents(self) -> Path:
        return self.folder / "documents"

    def write(self, versions: dict[str, int]) -> None:
        """The folder of documents as it is to be ingested."""
        shutil.rmtree(self.documents, ignore_errors=True)
        self.documents.mkdir(parents=True)
        for source, version in versions.items():
            if version:
                path = self.documents / source
                path.write_bytes(model.text(source, version).encode())

    def settings(self, **changes):
        values = {
            "data_dir": self.data,
            "embedder": "hash",
            "lock_wait": 30.0,
            "exact_limit": self.exact_limit,
        }
        return Settings(_env_file=None, **(values | changes))

    def open(self, **changes):
        """The knowledge base, in a process of its own; the first opening counts for all."""
        if self.embedder:
            HashingEmbedder.fingerprint = f"hash-test-{self.embedder}"
        kb = app.KnowledgeBase(self.settings(**changes))
        kb.__dict__["parser"] = PlainParser()
        for module in (app, ingest, doctor):
            module.open_kb = lambda: kb
        return kb

    # -- processes -----------------------------------------------------------------------

    def fork(self, work, *, place="", after=None, trace=False) -> Ended:
        """Run `work()` in a process of its own, killed at failpoint `place` or `after` seconds."""
        out, into = os.pipe()
        log = self.folder / "child.log"
        pid = os.fork()
        if not pid:
            os.close(out)
            _child(work, into, log, place, trace)
        os.close(into)
        return Ended(*_attend(pid, out, after), log.read_text("utf-8", "replace")[-2000:])

    def fork_quietly(self, work) -> int:
        """Run `work()` in a process of its own; returns its exit code."""
        pid = os.fork()
        if not pid:
            code = 70
            try:
                code = int(work())
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def command(self, *arguments: str, place="", after=None) -> Ended:
        """Run the real command line, with the real parsers; killed like `fork`."""
        env = {k: v for k, v in os.environ.items() if not k.startswith(("KB_", "XIN_"))}
        env |= {"KB_DATA_DIR": str(self.data), "KB_EMBEDDER": "hash", "PYTHONUTF8": "1"}
        env |= {"XIN_FAILPOINT": place} if place else {}
        with subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            try:
                said = process.communicate(timeout=after or LIMIT)[1]
            except subprocess.TimeoutExpired:
                process.kill()
                said = process.communicate()[1]
                if after is None:
                    raise
            return Ended(process.returncode, None, said.decode("utf-8", "replace")[-2000:])

    # -- what is compared ----------------------------------------------------------------

    def check(self, *, converged=False) -> float:
        """Compare with the model, in a process of its own; the model then knows the state.

        Returns the seconds until the first answer.
        """

        def compare():
            if converged:
                model.tidy(self.project)
            kb = self.open()
            return model.check(kb, self.allowed, keywords=self.keywords, converged=converged)

        ended = self.fork(compare)
        model.require(ended.code == 0, ended.code, ended.said)
        self.allowed = {source: {version} for source, version in ended.value["state"].items()}
        return ended.value["seconds"]

    @property
    def state(self) -> dict[str, int]:
        """The one version of each source, once `check` has told."""
        return {source: next(iter(versions)) for source, versions in self.allowed.items()}


def _child(work, into, log, place, trace):
    code = 70
    try:
        fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(fd, 1)
        os.dup2(fd, 2)
        seen = []
        if trace:
            failpoints.arm(seen.append)
        elif place:
            failpoints.arm(failpoints.killer(place))
        value = work()
        answer = pickle.dumps((value, seen) if trace else value)
        with os.fdopen(into, "wb") as pipe:
            pipe.write(answer)
        code = value if isinstance(value, int) and not isinstance(value, bool) else 0
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stderr.flush()
        os._exit(code)


def _attend(pid, out, after):
    """Wait for a child, kill it when its time has come: (code, value)."""
    import selectors

    deadline = time.monotonic() + (LIMIT if after is None else after)
    received = b""
    with selectors.DefaultSelector() as waiting, os.fdopen(out, "rb", buffering=0) as pipe:
        waiting.register(pipe, selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not waiting.select(left):
                os.kill(pid, signal.SIGKILL)
                if after is None:
                    os.waitpid(pid, 0)
                    raise model.Violation("a process hangs")
                break
            chunk = pipe.read(1 << 16)
            if not chunk:
                break
            received += chunk
    _pid, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    return code, pickle.loads(received) if code == 0 and received else None


# -- operations ------------------------------------------------------------------------------


@dataclass
class Operation:
    """Something that is done to an index, and what it may leave behind when it is broken off."""

    name: str
    run: object
    """Called in the process of its own."""
    after: dict[str, int]
    """The state once it has run to its end."""
    command: tuple[str, ...] = ()
    """The same as arguments of the interpreter; empty where there is no such thing."""
    mends: bool = False
    between: bool = True
    """Whether documents may be some at the old and some at the new version."""


def main_of(module, world, *arguments):
    def run():
        world.open()
        return module.main([*arguments])

    return run


def put(world: World, versions: dict[str, int]) -> Operation:
    """Ingest the folder in which the documents are at `versions`."""
    world.write(versions)
    after = {**world.state, **{s: v for s, v in versions.items() if v}}
    arguments = (str(world.documents), "--quiet")
    run = main_of(ingest, world, *arguments)
    return Operation("ingest", run, after, ("ingest.py", *arguments))


def remove(world: World, source: str) -> Operation:
    run = main_of(ingest, world, "--remove", source, "--quiet")

    def again():
        # The second run of a removal that was killed after its commit finds nothing to remove.
        kb = world.open()
        names = [info.source for info in kb.list_sources().sources]
        return run() if source in names else ingest.main(["--resume", "--quiet"])

    return Operation("remove", again, {**world.state, source: model.ABSENT})


def rebuild_vectors(world: World) -> Operation:
    world.embedder += 1
    run = main_of(ingest, world, "--rebuild-vectors", "--quiet")
    return Operation("rebuild-vectors", run, world.state)


def fix(world: World) -> Operation:
    """Repair a keyword index that has lost everything, and a Chroma that is gone."""

    def damage():
        kb = world.open()
        with kb.project().catalog.writing("test") as writer:
            writer._db.execute("INSERT INTO blocks_fts (blocks_fts) VALUES ('delete-all')")

    model.require(world.fork(damage).code == 0)
    world.keywords = False
    shutil.rmtree(world.project / "chroma_data", ignore_errors=True)
    return Operation("doctor --fix", main_of(doctor, world, "--fix"), world.state, mends=True)


def backup(world: World) -> Operation:
    file = world.folder / "backup.sqlite3"
    run = main_of(ingest, world, "--backup", str(file), "--quiet")
    return Operation("backup", run, world.state, ("ingest.py", "--backup", str(file), "--quiet"))


def restore(world: World) -> Operation:
    """Back to the last backup, of whatever model it was."""
    world.embedder = world.saved_embedder
    file = world.folder / "backup.sqlite3"
    run = main_of(ingest, world, "--restore", str(file), "--quiet")
    after = {**dict.fromkeys(world.state, model.ABSENT), **world.saved}
    command = ("ingest.py", "--restore", str(file), "--quiet")
    return Operation("restore", run, after, command, between=False)


def dump(value) -> str:
    return json.dumps(value, ensure_ascii=False)
