from __future__ import annotations

import asyncio
import http.client
import json
import signal
import sys
import time

import pytest
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from server_support import INITIALIZE, ServerProcess

from kb.serving.options import is_loopback

TOKEN = "a-very-secret-token"


def serve(tmp_path, *options, env=None):
    return ServerProcess(tmp_path, "--http", "--port", "0", *options, env=env)


def port_of(server):
    return int(server.wait_for_error("/mcp").rsplit(":", 1)[1].split("/")[0])


def ask(port, path="/mcp", body=None, **headers):
    """Status and body of one request with exactly these headers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        headers = {"Accept": "application/json, text/event-stream"} | headers
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection.putrequest("GET" if body is None else "POST", path, skip_host="Host" in headers)
        data = b"" if body is None else json.dumps(body).encode()
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            connection.putheader(name, value)
        connection.endheaders(data)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_host_origin_and_health_on_loopback(tmp_path):
    with serve(tmp_path) as server:
        port = port_of(server)
        assert ask(port, body=INITIALIZE)[0] == 200
        for own in (f"127.0.0.1:{port}", f"localhost:{port}"):
            assert ask(port, body=INITIALIZE, Host=own)[0] == 200
        for foreign in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", ""):
            assert ask(port, body=INITIALIZE, Host=foreign)[0] == 421
            assert ask(port, "/health", Host=foreign)[0] == 421
        for origin in ("http://evil.example", "https://localhost.evil.example", "null"):
            assert ask(port, body=INITIALIZE, Origin=origin)[0] == 403
        assert ask(port, body=INITIALIZE, Origin=f"http://localhost:{port}")[0] == 200
        assert ask(port, "/health") == (200, '{"status":"ok"}')
        assert ask(port, "/nowhere")[0] == 404


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_lists_and_calls_tools(tmp_path, mode):
    async def conversation(port):
        transport = StreamableHttpTransport(f"http://127.0.0.1:{port}/mcp")
        async with Client(transport, mode=mode) as client:
            tools = await client.list_tools()
            refused = await client.call_tool("search", {"qery": 1}, raise_on_error=False)
            return len(tools), refused.content[0].text

    with serve(tmp_path) as server:
        count, text = asyncio.run(conversation(port_of(server)))
    assert count == 4
    assert "query" in text


def test_a_token_is_asked_for_everywhere_but_health(tmp_path):
    with serve(tmp_path, env={"KB_HTTP_TOKEN": TOKEN}) as server:
        port = port_of(server)
        assert ask(port, body=INITIALIZE, Authorization=f"Bearer {TOKEN}")[0] == 200
        for wrong in (f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN, "", "é"):
            status, text = ask(port, body=INITIALIZE, Authorization=wrong)
            assert status == 401
            assert TOKEN not in text
        assert ask(port, body=INITIALIZE)[0] == 401
        assert ask(port, "/nowhere")[0] == 401
        status, text = ask(port, "/health")
        assert status == 200
        assert TOKEN not in text
    assert TOKEN.encode() not in b"".join(server.errors)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_beyond_loopback_nothing_is_served_without_a_token(tmp_path, host):
    with serve(tmp_path, "--host", host) as server:
        tail, code = server.rest()
    assert (tail, code) == (b"", 2)
    assert b"KB_HTTP_TOKEN" in b"".join(server.errors)


def test_beyond_loopback_host_names_are_still_checked(tmp_path):
    env = {"KB_HTTP_TOKEN": TOKEN}
    options = ("--host", "0.0.0.0", "--allow-host", "kb.example")
    key = {"Authorization": f"Bearer {TOKEN}"}
    with serve(tmp_path, *options, env=env) as server:
        port = port_of(server)
        assert ask(port, body=INITIALIZE, Host=f"kb.example:{port}", **key)[0] == 200
        assert ask(port, body=INITIALIZE, Host="evil.example", **key)[0] == 421


def test_a_port_in_use_is_said(tmp_path):
    with serve(tmp_path) as first:
        port = port_of(first)
        with ServerProcess(tmp_path, "--http", "--port", str(port)) as second:
            assert second.rest()[1] == 1
        assert "--port" in b"".join(second.errors).decode()


@pytest.mark.parametrize("port", ["-1", "99999"])
def test_a_port_that_cannot_be_is_said(tmp_path, port):
    with ServerProcess(tmp_path, "--http", "--port", port) as server:
        assert server.rest()[1] == 1
    assert b"Traceback" not in b"".join(server.errors)


@pytest.mark.skipif(sys.platform == "win32", reason="a signal to another process just kills there")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_ends_it_at_once_with_a_connection_open(tmp_path, name):
    with serve(tmp_path) as server:
        port = port_of(server)
        idle = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        idle.request("GET", "/health")
        idle.getresponse().read()
        start = time.monotonic()
        server.process.send_signal(getattr(signal, name))
        code = server.process.wait(20)
        assert time.monotonic() - start < 1
        idle.close()
    assert code == 128 + getattr(signal, name)


def test_stdout_stays_empty(tmp_path):
    with serve(tmp_path) as server:
        ask(port_of(server), body=INITIALIZE)
        server.process.terminate()
        assert server.rest()[0] == b""


def test_what_is_loopback():
    assert all(map(is_loopback, ("127.0.0.1", "127.8.9.1", "::1", "[::1]", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "", "localhost.evil", "10.0.0.1")))
