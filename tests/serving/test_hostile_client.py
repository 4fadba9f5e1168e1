"""What a client may send that no client should: over the pipes of a real server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from server_support import ROOT, ServerProcess

MIB = 1 << 20


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment of a server over three small documents, and a folder for more."""
    folder = tmp_path_factory.mktemp("hostile")
    documents = folder / "documents"
    documents.mkdir()
    for n in range(3):
        (documents / f"{n}.txt").write_bytes(f"资金 文件{n}\n第二行".encode())
    env = {
        "KB_DATA_DIR": str(folder / "data"),
        "KB_LOCAL_ROOT": str(documents),
        "KB_EMBEDDER": "hash",
    }
    done = subprocess.run(
        [sys.executable, "ingest.py", str(documents), "--quiet"],
        cwd=ROOT,
        env=os.environ | env,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return env


def answers(server: ServerProcess, count: int) -> dict[object, dict]:
    """The next `count` answers by their ids; notifications are passed over."""
    found: dict[object, dict] = {}
    while len(found) < count:
        message = server.receive()
        if "id" in message:
            found[message["id"]] = message
    return found


def peak_mib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) >> 10


def test_a_line_of_200_mb_is_refused_and_not_kept_in_memory(tmp_path, data):
    with ServerProcess(tmp_path, env=data) as server:
        server.open()
        server.call("search", 1, query="资金")
        assert answers(server, 1)[1]["result"]["structuredContent"]["hits"]
        before = peak_mib(server.process.pid) if sys.platform == "linux" else 0
        head = b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"'
        server.process.stdin.write(head)
        for _ in range(200):
            server.process.stdin.write(b"x" * MIB)
        server.process.stdin.write(b'"}}}\n')
        server.call("search", 3, query="资金")
        found = answers(server, 2)
        after = peak_mib(server.process.pid) if sys.platform == "linux" else 0
    assert found[2]["error"]["code"] == -32600
    assert "8 MiB" in found[2]["error"]["message"]
    assert found[3]["result"]["structuredContent"]["hits"]
    assert after - before < 100


def test_a_long_line_without_an_id_is_answered_to_nobody(tmp_path, data):
    with ServerProcess(tmp_path, env=data) as server:
        server.open()
        server.process.stdin.write(b"x" * (9 * MIB) + b"\n")
        server.call("search", 3, query="资金")
        found = answers(server, 2)
    assert found[None]["error"]["code"] == -32600
    assert found[3]["result"]["structuredContent"]["hits"]


def test_bytes_that_are_no_utf8_harm_nobody(tmp_path, data):
    with ServerProcess(tmp_path, env=data) as server:
        server.open()
        call = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"search","arguments":{"query":"%b"}}}\n'
        server.process.stdin.write(call % (1, b"\xff\xfe \xc3( \xed\xa0\x80 \xe8\xb5"))
        server.process.stdin.write(call % (2, b"\\ud800 \\u0000"))
        server.call("search", 3, query="资金")
        found = answers(server, 3)
    assert "result" in found[1]
    assert found[2]["error"]["code"] == -32600, "a lone surrogate was never answered"
    assert found[3]["result"]["structuredContent"]["hits"]


def test_unknown_methods_and_broken_messages_are_answered_as_errors(tmp_path, data):
    broken = [
        {"jsonrpc": "2.0", "id": 1, "method": "no/such/method"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "no_such_tool"}},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": []},
        {"jsonrpc": "2.0", "id": 4, "method": "resources/read", "params": {"uri": "x:y"}},
    ]
    silent = [
        {"jsonrpc": "2.0", "method": "notifications/no_such"},
        {"jsonrpc": "1.0", "id": 5, "method": "ping"},
        {"id": 6},
        [],
        None,
        7,
    ]
    with ServerProcess(tmp_path, env=data) as server:
        server.open()
        for message in [*broken, *silent]:
            server.send(message)
        server.call("search", 9, query="资金")
        found: dict = {}
        while 9 not in found:
            found |= answers(server, 1)
        server.process.stdin.close()
        tail, code = server.rest()
    for line in tail.split(b"\n"):
        if line and "id" in (message := json.loads(line)):
            found[message["id"]] = message
    assert found[9]["result"]["structuredContent"]["hits"]
    for number in (1, 3, 4):
        assert "error" in found[number], found[number]
    assert found[2].get("error") or found[2]["result"]["isError"]
    assert code == 0


def test_fifty_calls_at_once_are_all_answered(tmp_path, data):
    with ServerProcess(tmp_path, env=data) as server:
        server.open()
        for number in range(50):
            if number % 2:
                server.call("read_range", number, source=f"{number % 3}.txt", page=1)
            else:
                server.call("search", number, query=f"资金 文件{number % 3}")
        found = answers(server, 50)
    assert sorted(found) == list(range(50))
    assert not any(answer["result"].get("isError") for answer in found.values())


def test_a_call_that_is_cancelled_in_mid_ingest_lets_the_document_arrive(tmp_path, data):
    """The stated rule: cancelling ends the wait, the job goes on."""
    path = Path(data["KB_LOCAL_ROOT"]) / "later.txt"
    path.write_bytes(("很长的文件 内容\n" * 20_000).encode())
    with ServerProcess(tmp_path, env=data) as server:
        server.open()
        server.call("ingest_file", 1, path="later.txt")
        server.call("search", 0, query="资金")
        assert 0 in answers(server, 1), "the ingest has begun and is not done"
        server.send(
            {
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": {"requestId": 1, "reason": "test"},
            }
        )
        deadline = time.monotonic() + 25
        names: list[str] = []
        number = 2
        while "later.txt" not in names and time.monotonic() < deadline:
            server.call("list_sources", number, query="")
            listing = answers(server, 1)
            if number in listing:
                content = listing[number]["result"]["structuredContent"]
                names = [info["source"] for info in content["sources"]]
            number += 1
            time.sleep(0.1)
    assert "later.txt" in names
    path.unlink()


def test_closing_both_pipes_at_once_ends_it(tmp_path, data):
    with ServerProcess(tmp_path, env=data) as server:
        server.open()
        server.call("search", 1, query="资金")
        server.process.stdout.close()
        server.process.stdin.close()
        started = time.monotonic()
        assert server.process.wait(10) == 0
        assert time.monotonic() - started < 3
