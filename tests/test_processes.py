"""Several processes over one index: real servers, the real command line, real locks."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from server_support import ROOT, ServerProcess

from kb.errors import Busy
from kb.lock import owner

sys.path.insert(0, str(ROOT / "tests" / "crash"))
from faults import compiled  # noqa: E402

HOLD = (
    "import sys, time; from pathlib import Path; from kb.lock import hold\n"
    "with hold(Path(sys.argv[1]), '别人的工作', 5):\n"
    "    print('held', flush=True); time.sleep(60)"
)


class Machine:
    """One data folder, and whoever works on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("KB_", "XIN_"))}
        self.env |= {
            "KB_DATA_DIR": str(folder / "data"),
            "KB_EMBEDDER": "hash",
            "KB_LOCAL_ROOT": str(folder),
            "PYTHONUTF8": "1",
        }

    def start(self, *arguments: str, **env: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=self.env | env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *arguments: str, code: int = 0, **env: str):
        with self.start(*arguments, **env) as process:
            out, said = process.communicate(timeout=120)
        assert process.returncode == code, said.decode("utf-8", "replace")
        return json.loads(out) if out.startswith(b"{") else out.decode()

    def ingest(self, *arguments: str, code: int = 0, **env: str):
        return self.run("ingest.py", *arguments, "--quiet", code=code, **env)

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_bytes(text.encode())
        return str(path)

    @contextmanager
    def held(self, lock: str):
        """Another process holds one of the project's locks; yields that process."""
        path = self.folder / "data" / "default" / lock
        path.parent.mkdir(parents=True, exist_ok=True)
        with self.start("-c", HOLD, str(path)) as process:
            try:
                assert process.stdout.readline().strip() == b"held"
                deadline = time.monotonic() + 10
                while owner(path) is None and time.monotonic() < deadline:
                    time.sleep(0.01)  # the note is written by a thread of its own
                yield process
            finally:
                process.kill()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def ask(server: ServerProcess, tool: str, **arguments):
    """A call's structured answer."""
    server.call(tool, 7, **arguments)
    while (answer := server.receive()).get("id") != 7:
        pass
    assert not answer["result"].get("isError"), answer
    return answer["result"]["structuredContent"]


def sources(server: ServerProcess, query: str) -> list[str]:
    return [hit["source"] for hit in ask(server, "search", query=query, top_k=20)["hits"]]


@pytest.mark.parametrize("exact_limit", ["50000", "0"], ids=["scan", "chroma"])
def test_a_server_sees_the_command_lines_work_with_its_next_call(
    machine: Machine, exact_limit: str
) -> None:
    machine.ingest(machine.write("甲.txt", "资金 海州 甲"))
    env = machine.env | {"KB_EXACT_LIMIT": exact_limit}
    with ServerProcess(machine.folder, env=env) as server:
        server.open()
        assert sources(server, "资金 海州") == ["甲.txt"]
        machine.ingest(machine.write("乙.txt", "资金 海州 乙"))
        ended = time.monotonic()
        hits = ask(server, "search", query="资金 海州 乙", top_k=20)["hits"]
        assert time.monotonic() - ended < 2
        assert [hit["source"] for hit in hits][0] == "乙.txt"
        assert hits[0]["dense_rank"] == 1
        machine.ingest("--remove", "甲.txt")
        assert sources(server, "资金 海州 甲") == ["乙.txt"]
        machine.ingest(machine.write("乙.txt", "另外的内容 资金"))
        assert [h["text"] for h in ask(server, "search", query="海州 资金")["hits"]] == [
            "另外的内容 资金"
        ]


def test_a_server_goes_on_with_what_was_restored(machine: Machine) -> None:
    machine.ingest(machine.write("甲.txt", "资金 甲"))
    file = str(machine.folder / "b.sqlite3")
    with ServerProcess(machine.folder, env=machine.env) as server:
        server.open()
        assert sources(server, "资金") == ["甲.txt"]
        assert machine.ingest("--backup", file)["documents"] == 1
        machine.ingest(machine.write("乙.txt", "资金 乙"))
        assert sorted(sources(server, "资金")) == ["乙.txt", "甲.txt"]
        assert machine.ingest("--restore", file)["vectors"]["chroma"] == 1
        assert sources(server, "资金") == ["甲.txt"]


def test_two_writers_at_once_both_succeed(machine: Machine) -> None:
    paths = [machine.write(f"{n}.txt", f"资金 {n}") for n in range(2)]
    running = [machine.start("ingest.py", path, "--quiet") for path in paths]
    for process in running:
        _out, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
    assert machine.ingest("--list")["total"] == 2
    machine.run("-m", "kb.doctor", "--json")


def test_a_second_writer_gives_up_in_time_and_names_the_first(machine: Machine) -> None:
    machine.ingest(machine.write("甲.txt", "甲"))
    path = machine.write("乙.txt", "乙")
    with machine.held("writer.lock") as holder:
        report = machine.ingest(path, code=1, KB_LOCK_WAIT="0.5")
        assert report["kind"] == Busy.__name__
        assert str(holder.pid) in report["error"]
        assert "别人的工作" in report["error"]
        assert "KB_LOCK_WAIT" in report["hint"]
        assert machine.ingest("--list")["total"] == 1, "reading goes on"
        holder.kill()
        holder.wait()
        assert machine.ingest(path)["state"] == "ingested", "the lock of the dead is free"


def test_a_second_writer_that_waits_says_for_whom(machine: Machine) -> None:
    machine.ingest(machine.write("甲.txt", "甲"))
    path = machine.write("乙.txt", "乙")
    with machine.held("writer.lock") as holder:
        with machine.start("ingest.py", path, "--quiet") as waiting:
            said = waiting.stderr.readline().decode()
            assert "别人的工作" in said
            assert str(holder.pid) in said
            holder.kill()
            out, _said = waiting.communicate(timeout=60)
        assert json.loads(out)["state"] == "ingested"


def test_a_server_rebuilds_a_damaged_chroma_by_itself(machine: Machine) -> None:
    for n in range(3):
        machine.ingest(machine.write(f"{n}.txt", f"资金 {n}"))
    chroma = machine.folder / "data" / "default" / "chroma_data" / "chroma.sqlite3"
    chroma.write_bytes(bytes(chroma.stat().st_size))
    env = machine.env | {"KB_EXACT_LIMIT": "0"}
    with ServerProcess(machine.folder, env=env) as server:
        server.open()
        found = ask(server, "search", query="资金 1")
        assert found["hits"][0]["source"] == "1.txt"
        assert found["hits"][0]["dense_rank"] == 1
        deadline = time.monotonic() + 25
        while found["notice"] and time.monotonic() < deadline:
            time.sleep(0.2)
            found = ask(server, "search", query="资金 1")
    assert found["notice"] == "", "the worker it started has rebuilt the index"
    assert found["hits"][0]["source"] == "1.txt"
    assert chroma.read_bytes().startswith(b"SQLite format 3")


def test_the_old_state_serves_from_a_disk_that_is_read_only(machine: Machine) -> None:
    shim = compiled(machine.folder)
    if shim is None:
        pytest.skip("needs Linux and a C compiler")
    machine.ingest(machine.write("甲.txt", "资金 甲"))
    code = (
        "import ctypes, errno, sys; import kb.app, numpy\n"
        "shim = ctypes.CDLL(None); data = sys.argv[1].encode()\n"
        "shim.fault_arm(data, ctypes.c_long(1), errno.EROFS, 1)\n"
        "from chroma_store import search; from fulltext import read_range\n"
        "from ingest import ingest_file; from kb.errors import KbError\n"
        "found = search('资金', 3); assert found['hits'][0]['dense_rank'] == 1, found\n"
        "assert read_range('甲.txt', 1)['lines'][0]['text'] == '资金 甲'\n"
        "try: ingest_file(sys.argv[2])\n"
        "except KbError as error: assert 'Read-only' in str(error), error\n"
        "else: raise AssertionError\n"
        "assert search('资金', 3)['hits'], 'still there'"
    )
    arguments = ("-c", code, str(machine.folder / "data"), machine.write("乙.txt", "乙"))
    for limit in ("50000", "0"):
        machine.run(*arguments, LD_PRELOAD=str(shim), KB_EXACT_LIMIT=limit)


def test_a_lock_of_sqlites_own_is_busy_not_damage(machine: Machine) -> None:
    """Some other program has the database open for writing."""
    path = machine.write("甲.txt", "甲")
    machine.ingest(path)
    machine.write("甲.txt", "乙")
    database = machine.folder / "data" / "default" / "fulltext.sqlite3"
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    code = (
        "import kb.catalog.connection as c, json; c.BUSY_MS = 200\n"
        "from ingest import ingest_file; from kb.errors import Busy; import sys\n"
        "try: ingest_file(sys.argv[1])\n"
        "except Busy as error: print(json.dumps({'error': str(error)}))"
    )
    try:
        assert "fulltext.sqlite3" in machine.run("-c", code, path)["error"]
        assert machine.ingest("--list")["total"] == 1
    finally:
        other.close()
    assert machine.ingest(path)["version"] == 2
