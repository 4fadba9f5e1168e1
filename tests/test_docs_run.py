"""What the documentation shows is true: it runs, it parses, it leads somewhere."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path, PurePosixPath

import pytest
import yaml
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

import server
from kb import errors
from kb.cli import clients
from kb.config import ROOT, Settings
from kb.ports import ParseLimits
from kb.sandbox.sandbox import Sandbox

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

READMES = ("README.md", "README.zh-CN.md")
PAGES = sorted(
    str(path.relative_to(ROOT).as_posix())
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"))
)
PLAN = "海州市数字档案建设规划.pdf"


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def fenced(page: str, kind: str) -> list[str]:
    """The blocks whose fence says exactly `kind`."""
    text = read(page)
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def prose(page: str) -> str:
    return re.sub(r"^```.*?^```$", "", read(page), flags=re.DOTALL | re.MULTILINE)


# -- shell blocks marked `sh run` ----------------------------------------------------------


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """The product's files in a folder of their own, with these packages as its `.venv`."""
    for name in ("kb", "bench", "samples"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    for path in (*ROOT.glob("*.py"), *ROOT.glob("requirements*.txt")):
        shutil.copy(path, tmp_path)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    return tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="blocks for a POSIX shell")
@pytest.mark.parametrize("page", [page for page in PAGES if fenced(page, "sh run")])
def test_a_block_that_is_marked_as_runnable_runs(page: str, fresh: Path) -> None:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("KB_", "MINIO_"))}
    for block in fenced(page, "sh run"):
        done = subprocess.run(
            ["sh", "-eu", "-c", block],
            cwd=fresh,
            env={**env, "KB_EMBEDDER": "hash", "PYTHONUTF8": "1"},
            capture_output=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
        assert done.stdout


def test_both_readmes_and_the_evaluation_page_run_something() -> None:
    assert all(fenced(page, "sh run") for page in (*READMES, "docs/evaluation.md"))


# -- pages and their links -----------------------------------------------------------------


def headings(page: str) -> list[str]:
    return re.findall(r"^(#+ .*)$", prose(page), re.MULTILINE)


def anchor(heading: str) -> str:
    """As GitHub makes it."""
    words = heading.lstrip("#").strip().lower()
    kept = (c for c in words if c in " -_" or unicodedata.category(c)[0] in "LN")
    return "".join(kept).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES)
def test_a_link_leads_to_a_page_and_to_a_heading_of_it(page: str) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, fragment = link.partition("#")
        path = (ROOT / page).parent / target if target else ROOT / page
        name = os.path.relpath(path, ROOT).replace(os.sep, "/")
        assert path.exists(), link
        if fragment:
            assert fragment in map(anchor, headings(name)), link


def test_both_readmes_have_the_same_parts() -> None:
    """The same levels in the same order, and as many tables, rows and blocks below each."""

    def parts(page: str) -> list[tuple[str, int, int]]:
        chunks = re.split(r"^(#+) .*$", read(page), flags=re.MULTILINE)
        return [
            (level, len(re.findall(r"^\|", text, re.MULTILINE)), text.count("\n```\n"))
            for level, text in zip(chunks[1::2], chunks[2::2], strict=True)
        ]

    english, chinese = map(parts, READMES)
    assert english == chinese


@pytest.mark.parametrize("page", PAGES)
def test_no_page_knows_a_machine(page: str) -> None:
    text = read(page).replace("/path/to/", "")
    assert re.findall(r"(?<![\w.])(?:/(?:home|Users|root|work|tmp|mnt)/|[A-Z]:\\Users)", text) == []


@pytest.mark.parametrize("page", READMES)
def test_every_page_is_reached_from_the_readme(page: str) -> None:
    linked = set(re.findall(r"\]\(([^)#\s]+)", prose(page)))
    assert {other for other in PAGES if other not in READMES} <= linked


# -- exit codes, arguments, clients --------------------------------------------------------


@pytest.mark.parametrize("page", READMES)
def test_every_exit_code_is_told(page: str) -> None:
    kinds = [cls for cls in vars(errors).values() if isinstance(cls, type)]
    used = {cls.exit_code for cls in kinds if issubclass(cls, errors.KbError)} | {0, 2, 130}
    told = {int(code) for code in re.findall(r"^\| `(\d+)` \|", read(page), re.MULTILINE)}
    assert told == used


@pytest.mark.parametrize("page", READMES)
def test_every_argument_of_a_tool_is_told_with_its_default(page: str) -> None:
    async def tools() -> list[object]:
        async with Client(server.build_server(Settings(_env_file=None))) as client:
            return list(await client.list_tools())

    for tool in asyncio.run(tools()):
        row = re.search(rf"^\| `{tool.name}` \|(.*?)\|", read(page), re.MULTILINE)
        assert row, tool.name
        for name, schema in tool.input_schema["properties"].items():
            default = schema.get("default", ...)
            shown = {None: "None", "": '""'}.get(default, str(default))
            assert f"`{name}{'' if default is ... else '=' + shown}`" in row.group(1)


@pytest.mark.parametrize("page", READMES)
def test_the_client_blocks_are_those_of_the_program(page: str) -> None:
    folder = "<folder>" if page == "README.md" else "<文件夹>"
    python, program = (PurePosixPath(f"{folder}/{x}") for x in (".venv/bin/python", "server.py"))
    made = clients.blocks(python, program, {"PYTHONUTF8": "1"})
    shown = [json.loads(block) for block in fenced(page, "json")]
    assert json.loads(made["claude-desktop"]) in shown
    assert json.loads(made["vscode"]) in shown
    assert made["cursor"] == made["claude-desktop"]
    assert yaml.safe_load(made["dsh"]) in [yaml.safe_load(x) for x in fenced(page, "yaml")]
    assert tomllib.loads(made["codex"]) in [tomllib.loads(x) for x in fenced(page, "toml")]
    assert f"claude mcp add chroma --env PYTHONUTF8=1 -- {python} {program}" in read(page)


# -- the examples are real -----------------------------------------------------------------


@pytest.mark.parametrize("page", READMES)
def test_the_answers_that_are_shown_are_the_tools_own(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("KB_EMBEDDER", "none")
    import ingest

    ingest.ingest_file(ROOT / "samples" / PLAN)
    (example,) = fenced(page, "text")
    shown = re.split(r"^>>> (.*)\n", example, flags=re.MULTILINE)[1:]
    calls, answers = shown[::2], shown[1::2]
    assert len(calls) == 2

    async def ask() -> list[str]:
        async with Client(server.build_server(Settings(_env_file=None))) as client:
            told = []
            for call in calls:
                name, arguments = call.removesuffix(")").split("(", 1)
                given = dict(re.findall(r'(\w+)=("[^"]*"|\d+)', arguments))
                given = {key: json.loads(value) for key, value in given.items()}
                result = await client.call_tool(name, given, raise_on_error=False)
                told.append(result.content[0].text)
            return told

    def same(text: str) -> str:
        """Without the marker of the fence, which is new for every call."""
        return re.sub(r"\b[0-9a-f]{12}\b", "MARKER", text).strip()

    assert [same(text) for text in asyncio.run(ask())] == [same(text) for text in answers]


def test_the_parser_of_the_page_reads_a_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (code,) = fenced("docs/parsers.md", "python parser")
    (tmp_path / "srt_of_the_docs.py").write_text(code, encoding="utf-8")
    film = tmp_path / "a.srt"
    film.write_text(
        "1\n00:00:01,000 --> 00:00:02,000\n你好\n世界\n\n2\n00:00:03,000 --> 00:00:04,000\n再见\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    sandbox = Sandbox(ParseLimits(wall_seconds=30), extra=("srt_of_the_docs",))
    try:
        parsed = sandbox.parse(film, "a.srt")
    finally:
        sandbox.close()
    assert parsed.parser == "srt/1"
    assert parsed.pages[0].text == "00:00:01 你好 世界\n00:00:03 再见"


def test_fastmcp_runs_and_inspects_the_server(tmp_path: Path) -> None:
    """`fastmcp run fastmcp.json`, as its own users start it."""
    program = shutil.which("fastmcp", path=str(Path(sys.executable).parent))
    assert program
    env = {
        **os.environ,
        "KB_DATA_DIR": str(tmp_path / "data"),
        "KB_EMBEDDER": "none",
        "PYTHONUTF8": "1",
        "FASTMCP_CHECK_FOR_UPDATES": "off",
    }
    inspected = subprocess.run(
        [program, "inspect", "fastmcp.json", "--format", "mcp"],
        cwd=ROOT,
        env=env,
        capture_output=True,
        timeout=120,
        check=True,
    )
    assert {tool["name"] for tool in json.loads(inspected.stdout)["tools"]} == {
        "search",
        "read_range",
        "ingest_file",
        "list_sources",
    }

    async def talk() -> str:
        transport = StdioTransport(program, ["run", "fastmcp.json"], env=env, cwd=str(ROOT))
        async with Client(transport) as client:
            assert len(await client.list_tools()) == 4
            return (await client.call_tool("list_sources", {})).content[0].text

    assert "default" in asyncio.run(talk())
