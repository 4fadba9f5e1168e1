"""`python ingest.py --sync` and objects by their key, as a person types them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kb.config import ROOT


class Shell:
    def __init__(self, folder: Path) -> None:
        self.documents = folder / "docs"
        self.documents.mkdir()
        self.env = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("KB_", "MINIO_"))},
            "KB_DATA_DIR": str(folder / "data"),
            "KB_LOCAL_ROOT": str(self.documents),
            "KB_EMBEDDER": "hash",
            "PYTHONUTF8": "1",
        }

    def write(self, key: str, text: str) -> Path:
        path = self.documents / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
        return path

    def run(self, *arguments: str, code: int = 0) -> Any:
        command = [sys.executable, "ingest.py", *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=self.env, capture_output=True, timeout=120, check=False
        )
        assert done.returncode == code, done.stderr.decode("utf-8", "replace")
        return json.loads(done.stdout) if done.stdout else done.stderr.decode("utf-8")

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "ingest.py", *arguments]
        return subprocess.Popen(command, cwd=ROOT, env=self.env, stdout=subprocess.PIPE)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_the_index_follows_the_folder(shell: Shell) -> None:
    shell.write("政策/规划.txt", "甲")
    shell.write("b.txt", "乙")
    time.sleep(2.1)  # a younger file might change within the tick of its clock
    report = shell.run("--sync")
    assert (report["listed"], report["new"], report["vectors"]["pending"]) == (2, 2, 0)
    shell.write("b.txt", "乙乙")
    (shell.documents / "政策/规划.txt").rename(shell.documents / "规划.txt")
    plan = shell.run("--sync", "--dry-run")
    assert (plan["changed"], plan["moved"], plan["dry_run"]) == (1, 1, True)
    report = shell.run("--sync", "--workers", "1")
    assert (report["changed"], report["moved"], report["deleted"]) == (1, 1, 0)
    listed = shell.run("--list")
    assert {s["source"] for s in listed["sources"]} == {"b.txt", "规划.txt"}
    assert all(len(s["sha256"]) == 64 for s in listed["sources"])


def test_an_object_is_taken_by_its_key_and_a_sync_knows_it(shell: Shell) -> None:
    path = shell.write("政策/规划.txt", "甲")
    two_days_ago = time.time() - 172_800
    os.utime(path, (two_days_ago, two_days_ago))
    assert shell.run("政策/规划.txt")["source"] == "政策/规划.txt"
    assert shell.run(str(path))["state"] == "unchanged"
    assert shell.run(str(shell.documents))["reports"][0]["source"] == "政策/规划.txt"
    report = shell.run("--sync")
    assert (report["new"], report["unchanged"]) == (0, 1)


def test_what_failed_is_listed_with_its_reason(shell: Shell) -> None:
    shell.write("坏.pdf", "不是 PDF")
    shell.write("好.txt", "甲")
    report = shell.run("--sync", code=3)
    assert (report["new"], report["failed"]) == (1, 1)
    (failure,) = shell.run("--list")["failures"]
    assert (failure["source"], failure["attempts"]) == ("坏.pdf", 1)
    assert failure["error"]
    assert failure["hint"]


def test_an_empty_folder_is_not_believed(shell: Shell) -> None:
    path = shell.write("a.txt", "甲")
    shell.run("--sync")
    path.unlink()
    report = shell.run("--sync", code=3)
    assert (report["kept"], report["deleted"]) == (1, 0)
    assert "--delete" in report["notice"]
    assert shell.run("--sync", "--delete")["deleted"] == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--prefix", "a/"], 3),
        (["--watch", "5"], 3),
        (["--sync", "a.txt"], 3),
        (["--sync", "--list"], 2),
        (["--sync", "--workers", "0"], 2),
        (["--sync", "--watch", "0"], 2),
        (["s3://bucket"], 3),
        (["s3://bucket/"], 3),
        (["nowhere.txt"], 3),
    ],
)
def test_what_makes_no_sense_is_refused(shell: Shell, arguments: list[str], code: int) -> None:
    assert shell.run(*arguments, code=code)


def test_a_missing_object_names_those_that_are_like_it(shell: Shell) -> None:
    shell.write("政策/规划.txt", "甲")
    shell.run("--sync")
    refused = shell.run("政策/规画.txt", code=3)
    assert refused["kind"] == "NotFound"


def lines(process: subprocess.Popen[bytes]) -> Iterator[Any]:
    assert process.stdout
    for line in process.stdout:
        yield json.loads(line)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGTERM kills there")
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_watching_finds_changes_and_ends_cleanly_on_a_signal(
    shell: Shell, ending: signal.Signals
) -> None:
    shell.write("a.txt", "甲")
    process = shell.start("--sync", "--watch", "1")
    try:
        found = lines(process)
        assert next(found)["new"] == 1
        shell.write("b.txt", "乙")
        assert any(report["new"] == 1 for report in found)
        process.send_signal(ending)
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()
        assert process.stdout
        process.stdout.close()
    assert shell.run("--list")["total"] == 2


def test_watching_outlives_a_store_that_is_away(shell: Shell) -> None:
    shell.documents.rmdir()
    process = shell.start("--sync", "--watch", "1")
    try:
        found = lines(process)
        assert next(found)["kind"] == "StoreRefused"
        shell.documents.mkdir()
        shell.write("a.txt", "甲")
        assert any(report.get("new") == 1 for report in found)
    finally:
        process.kill()
        process.wait()
        assert process.stdout
        process.stdout.close()
