from __future__ import annotations

import http.server
import io
import re
import sys
import threading
from collections.abc import Iterator

import pytest
from server_support import ServerProcess

from kb.app import KnowledgeBase
from kb.cli import doctor
from kb.cli.health import Unhealthy, ask_server, endpoint
from kb.config import Settings
from kb.errors import InvalidInput


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers whatever it was told to, to everybody."""

    said: tuple[int, bytes] = (200, b"hello")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        status, body = self.said
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        pass


@pytest.fixture
def other() -> Iterator[str]:
    """A web server that is none of ours."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def url_of(server: ServerProcess) -> str:
    return "http://127.0.0.1:" + server.wait_for_error("/mcp").rsplit(":", 1)[1].split("/")[0]


def test_our_server_is_healthy_and_a_stopped_one_is_not(tmp_path, capsys) -> None:
    with ServerProcess(tmp_path, "--http", "--port", "0") as server:
        url = url_of(server)
        health = ask_server(url)
        assert doctor.main(["--url", url]) == 0
        assert url in capsys.readouterr().out
    assert health.url == url + "/mcp"
    assert health.tools == ("search", "read_range", "ingest_file", "list_sources")
    with pytest.raises(Unhealthy):
        ask_server(url)
    assert doctor.main(["--url", url]) == 1
    assert f"python server.py --http --host 127.0.0.1 --port {url[17:]}" in capsys.readouterr().out


def test_the_token_is_sent_and_its_lack_is_named(tmp_path) -> None:
    env = {"KB_HTTP_TOKEN": "a-very-secret-token"}
    with ServerProcess(tmp_path, "--http", "--port", "0", env=env) as server:
        url = url_of(server)
        assert ask_server(url, "a-very-secret-token").name
        with pytest.raises(Unhealthy, match="KB_HTTP_TOKEN"):
            ask_server(url)


@pytest.mark.parametrize(
    "said",
    [
        (200, b"hello"),
        (200, b"{}"),
        (200, b"[]"),
        (200, b'{"result": null}'),
        (200, b'{"result": {"protocolVersion": "x", "serverInfo": {}, "tools": []}}'),
        (404, b"nothing"),
        (500, b""),
    ],
)
def test_an_open_port_is_not_a_healthy_server(other, monkeypatch, said) -> None:
    monkeypatch.setattr(Answers, "said", said)
    with pytest.raises(Unhealthy):
        ask_server(other)


def test_a_proxy_of_the_environment_is_not_used_for_this_machine(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with ServerProcess(tmp_path, "--http", "--port", "0") as server:
        assert ask_server(url_of(server)).tools


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("127.0.0.1:8000", "http://127.0.0.1:8000/mcp"),
        ("http://localhost:8000/", "http://localhost:8000/mcp"),
        ("http://[::1]:8000", "http://[::1]:8000/mcp"),
        ("https://kb.example/team/mcp", "https://kb.example/team/mcp"),
    ],
)
def test_the_path_may_be_left_out(typed, address) -> None:
    assert endpoint(typed) == address


@pytest.mark.parametrize("typed", ["ftp://127.0.0.1", "http://", "", "://"])
def test_what_is_no_address_is_refused(typed) -> None:
    with pytest.raises(InvalidInput):
        endpoint(typed)


def test_a_missing_package_is_named_with_what_installs_it(monkeypatch) -> None:
    monkeypatch.setattr(doctor, "_required", lambda _text: {"httpx", "no-such-package"})
    check = doctor._packages()
    assert not check.ok
    assert "no-such-package" in check.detail
    assert check.remedy.startswith("python -m pip install")


COMMAND = re.compile(r"(?:python -m \S+|python ingest\.py|sh install\.sh|export|set) ?[\w=.-]*")


def test_every_remedy_ends_with_a_command(monkeypatch, tmp_path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("x", encoding="utf-8")
    settings = Settings(_env_file=None, data_dir=blocked, embedder="onnx:none", objects="minio")
    kb = KnowledgeBase(settings)
    monkeypatch.setattr(doctor, "free_bytes", lambda _path: 0)
    monkeypatch.setattr(doctor, "_required", lambda _text: {"no-such-package"})
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "gbk"))
    with monkeypatch.context() as patch:
        patch.setattr(sys, "version_info", (3, 8, 0))
        checks = [doctor._python()]
    monkeypatch.setattr(doctor, "_OLDEST_SQLITE", (99, 0, 0))
    checks += [check for check in doctor.run_checks(kb) if not check.ok]
    assert len(checks) >= 6
    for check in checks:
        last = check.remedy.split("\n")[-1]
        assert COMMAND.search(last), check
