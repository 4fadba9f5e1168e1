"""Client blocks say the same thing in every format, whatever the paths look like."""

import json
import shlex
import sys
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
import yaml
from pydantic import SecretStr

from kb.cli import clients
from kb.config import ROOT, Settings

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ENV = {"PYTHONUTF8": "1", "KB_PROJECT": '政务 "内部" 资料', "KB_DATA_DIR": "D:\\知识库\\new\\table"}
PLACES = [
    (PurePosixPath("/opt/kb/.venv/bin/python"), PurePosixPath("/opt/kb/server.py")),
    (
        PurePosixPath("/home/li/知 识库/bin/python"),
        PurePosixPath('/home/li/知 识库/o\'n "x"/server.py'),
    ),
    (
        PureWindowsPath("C:\\Users\\李 雷\\kb\\.venv\\Scripts\\python.exe"),
        PureWindowsPath("C:\\Users\\李 雷\\kb\\new\\x41\\u0041\\server.py"),
    ),
    (
        PurePosixPath("/tmp/odd\x7f\u2028\u0085/python"),
        PurePosixPath("/tmp/odd\x7f\u2028\u0085/server.py"),
    ),
]


@pytest.fixture(params=PLACES, ids=["plain", "spaces", "windows", "odd"])
def place(request):
    return request.param


def entry(name, text):
    """What the client `name` reads out of its block."""
    if name == "dsh":
        [patch] = yaml.safe_load(text)
        [plugin] = patch["insert"]
        assert plugin["id"] == "mcp-chroma"
        assert plugin["name"] == "@deepseek-ai/dsh-mcp-client"
        return plugin["config"]
    if name == "codex":
        return tomllib.loads(text)["mcp_servers"]["chroma"]
    return json.loads(text)["servers" if name == "vscode" else "mcpServers"]["chroma"]


@pytest.mark.parametrize("name", clients.CLIENTS)
def test_a_block_reads_back_the_paths_and_the_environment(name, place):
    python, server = place
    read = entry(name, clients.blocks(python, server, ENV)[name])
    assert read["command"] == str(python)
    assert read["args"] == [str(server)]
    assert read["env"] == ENV


def test_every_client_has_a_block_and_a_place_for_it(place):
    assert tuple(clients.blocks(*place, ENV)) == clients.CLIENTS
    assert tuple(clients.http_blocks("http://127.0.0.1:8000/mcp")) == clients.CLIENTS
    assert len({clients.where(name) for name in clients.CLIENTS}) == len(clients.CLIENTS)


@pytest.mark.parametrize("name", [c for c in clients.CLIENTS if c != "claude-desktop"])
def test_an_http_block_names_the_address(name):
    url = "http://127.0.0.1:8000/mcp"
    assert entry(name, clients.http_blocks(url)[name])["url"] == url


def test_dsh_waits_for_a_long_call_and_starts_in_the_folder(place):
    config = entry("dsh", clients.blocks(*place, ENV)["dsh"])
    assert config["toolCallTimeoutMs"] == 120_000
    assert config["failOnStartupError"] is True
    assert config["cwd"] == str(place[1].parent)


def test_the_claude_command_survives_a_posix_shell():
    python, server = PLACES[1]
    words = shlex.split(clients.claude_command(python, server, ENV))
    assert words[:4] == ["claude", "mcp", "add", "chroma"]
    assert words[-3:] == ["--", str(python), str(server)]
    assert f"KB_DATA_DIR={ENV['KB_DATA_DIR']}" in words


def test_the_claude_command_quotes_for_windows():
    python, server = PLACES[2]
    command = clients.claude_command(python, server, {})
    assert command.endswith(f'-- "{python}" "{server}"')


def test_the_environment_has_what_is_set_and_no_secret(monkeypatch):
    settings = Settings(
        _env_file=None,
        project="政务",
        http_token=SecretStr("hunter2"),
        embed_api_key=SecretStr("k"),
    )
    assert clients.environment(settings) == {"PYTHONUTF8": "1", "KB_PROJECT": "政务"}
    assert "hunter2" not in clients.render(settings)


def test_main_prints_one_block(capsys, monkeypatch):
    monkeypatch.setenv("KB_LANG", "en")
    assert clients.main(["--client", "codex"]) == 0
    heading, block = capsys.readouterr().out.split("\n", 1)
    assert heading == "## Codex: in ~/.codex/config.toml"
    assert entry("codex", block)["args"] == [str(ROOT / "server.py")]


def test_main_prints_all_blocks_in_order(capsys):
    assert clients.main(["--http", "http://127.0.0.1:8000/mcp"]) == 0
    out = capsys.readouterr().out
    assert out.count("\n## ") + out.startswith("## ") == len(clients.CLIENTS)
    assert "claude mcp add --transport http chroma http://127.0.0.1:8000/mcp" in out


def test_an_unknown_client_is_a_usage_error(capsys):
    with pytest.raises(SystemExit) as stopped:
        clients.main(["--client", "emacs"])
    assert stopped.value.code == 2
    assert "claude-desktop" in capsys.readouterr().err


def test_a_secret_of_this_shell_is_asked_for_and_never_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MINIO_SECRET_KEY", "hush")
    monkeypatch.setenv("MINIO_BUCKET", "docs")
    given = clients.environment(Settings(_env_file=None))
    assert given["MINIO_BUCKET"] == "docs"
    assert "MINIO_SECRET_KEY" in given["MINIO_SECRET_KEY"]
    assert "hush" not in str(given)


def test_a_secret_of_the_env_file_needs_no_filling_in(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("MINIO_SECRET_KEY=hush", encoding="utf-8")
    assert "MINIO_SECRET_KEY" not in clients.environment(Settings(_env_file=file))
