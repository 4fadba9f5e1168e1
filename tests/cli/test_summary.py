from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ingest
from kb.app import KnowledgeBase
from kb.cli.console import _Shown
from kb.cli.summary import Summary, mode_for
from kb.config import ROOT, Settings
from kb.model import Progress


def filled(mode) -> Summary:
    summary = Summary(mode)
    summary.add("好.txt", "ingested", pages=2, blocks=3)
    summary.add(
        "扫描.pdf", "ingested", ("第 1 页由 OCR 识别", "第 2 页没有文字"), pages=2, blocks=1
    )
    summary.fail("坏.pdf", "不是 PDF\n改后缀")
    summary.note("向量还差 3 块")
    return summary


def test_a_table_ends_a_run_on_a_terminal(capsys) -> None:
    summary = filled("table")
    assert capsys.readouterr().err == ""
    summary.tell()
    told = capsys.readouterr().err
    assert "好.txt" not in told
    for word in ("扫描.pdf", "第 2 页没有文字", "坏.pdf", "改后缀", "3 个文档", "4 页", "2 条警告"):
        assert word in told
    assert told.rstrip().endswith("向量还差 3 块")


def test_a_log_has_lines_as_they_happen(capsys) -> None:
    summary = filled("lines")
    told = capsys.readouterr().err
    assert told.split("\n")[0] == "扫描.pdf: 第 1 页由 OCR 识别"
    assert "坏.pdf: 不是 PDF" in told
    assert "向量还差 3 块" in told
    summary.tell()
    assert capsys.readouterr().err == ""


def test_silence_is_broken_by_failures_only(capsys) -> None:
    filled("silent").tell()
    assert capsys.readouterr().err == "坏.pdf: 不是 PDF\n改后缀\n"


def test_a_table_ends_somewhere(capsys) -> None:
    summary = Summary("table")
    for number in range(250):
        summary.add(f"{number}.pdf", "kept")
        summary.add(f"{number}.xyz", "unsupported")
    summary.tell()
    told = capsys.readouterr().err
    assert "199.pdf" in told
    assert "200.pdf" not in told
    assert "50" in told.split("┘")[1]
    assert "unsupported 250" in told


def test_a_sync_tells_a_person_what_it_did(tmp_path, capsys, monkeypatch) -> None:
    root = tmp_path / "docs"
    root.mkdir()
    (root / "a.txt").write_text("甲\n" * 9, encoding="utf-8")
    (root / "坏.pdf").write_text("不是 PDF", encoding="utf-8")
    settings = Settings(
        _env_file=None, data_dir=tmp_path / "data", local_root=root, embedder="none"
    )
    kb = KnowledgeBase(settings)
    monkeypatch.setattr(ingest, "open_kb", lambda: kb)
    monkeypatch.setattr(ingest, "mode_for", lambda **_asked: "table")
    ingest.main(["--sync"])
    told = capsys.readouterr().err
    assert "坏.pdf" in told
    assert "new 1, failed 1" in told or "failed 1, new 1" in told
    for _again in range(2):  # the first try again is at once, the next one waits
        ingest.main(["--sync"])
    assert "waiting 1" in capsys.readouterr().err


def test_nothing_done_is_nothing_said(capsys) -> None:
    Summary("table").tell()
    assert capsys.readouterr().err == ""


def test_who_asks_decides_the_mode(monkeypatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert mode_for(silent=False, ongoing=False) == "table"
    assert mode_for(silent=False, ongoing=True) == "lines"
    assert mode_for(silent=True, ongoing=False) == "silent"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    assert mode_for(silent=False, ongoing=False) == "lines"


def test_a_bar_begins_anew_with_the_next_document() -> None:
    from rich.console import Console
    from rich.progress import Progress as Bars

    bars = Bars(console=Console(file=io.StringIO(), width=80))
    show = _Shown(bars)
    for done, name in ((0, "甲"), (25, "甲"), (50, "甲"), (0, "乙" * 100)):
        show(Progress("ocr", done, 50, name))
    (task,) = bars.tasks
    assert task.completed == 0
    assert not task.finished
    assert len(task.description) < 30


def run(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    env = {"KB_DATA_DIR": str(tmp_path / "data"), "KB_EMBEDDER": "none", "PYTHONUTF8": "1"}
    command = [sys.executable, str(ROOT / "ingest.py"), *arguments]
    return subprocess.run(command, env={**os.environ, **env}, capture_output=True, check=False)


@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_scripts_are_told_nothing_but_the_json(tmp_path, option) -> None:
    path = tmp_path / "旧.txt"
    path.write_bytes("第一条 总则，本办法自发布之日起施行。".encode("gb18030"))
    loud = run(tmp_path, str(path))
    assert loud.stderr
    silent = run(tmp_path, str(path), "--source", "另.txt", option)
    assert silent.stderr == b""
    assert json.loads(silent.stdout)["warnings"]
    failed = run(tmp_path, str(tmp_path / "none.txt"), option)
    assert failed.returncode == 3
    assert b"none.txt" in failed.stderr
