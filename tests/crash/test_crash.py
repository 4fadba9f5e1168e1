"""The short run; `make crash` is the long one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from paths import ROOT

sys.path.insert(0, str(Path(__file__).parent))
from faults import faults  # noqa: E402

CAMPAIGN = Path(__file__).with_name("campaign.py")


POSIX = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


@POSIX
def test_no_kill_and_no_damage_contradicts_the_model(tmp_path):
    arguments = [
        "--short",
        "--kills=0",
        "--damages=6",
        "--faults=0",
        "--soak=4",
        f"--folder={tmp_path}",
    ]
    done = subprocess.run(
        [sys.executable, str(CAMPAIGN), *arguments],
        env={**os.environ, "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    figures = json.loads(done.stdout)
    assert figures["kills"] > 40
    # Of an index that is broken already: see below.
    assert figures["unvisited places"] == ["restore.emptied"]
    assert figures["violations"] == figures["damage"]["violations"] == 0
    assert figures["soak"]["searches"] > 0


@POSIX
def test_a_restore_over_a_broken_index_may_be_killed_when_that_is_put_aside(tmp_path):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("KB_", "XIN_"))}
    env |= {"KB_DATA_DIR": str(tmp_path / "data"), "KB_EMBEDDER": "hash", "PYTHONUTF8": "1"}

    def run(*arguments, **more):
        command = [sys.executable, "ingest.py", *arguments, "--quiet"]
        return subprocess.run(command, cwd=ROOT, env=env | more, capture_output=True, check=False)

    (tmp_path / "a.txt").write_bytes("甲".encode())
    assert run(str(tmp_path / "a.txt")).returncode == 0
    file = str(tmp_path / "b.sqlite3")
    assert run("--backup", file).returncode == 0
    (tmp_path / "data" / "default" / "fulltext.sqlite3").write_bytes(b"broken" * 999)
    killed = run("--restore", file, XIN_FAILPOINT="restore.emptied")
    assert killed.returncode == -9
    assert run("--list").returncode == 0
    again = run("--restore", file)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["vectors"]["chroma"] == 1
    kept = [p.name for p in (tmp_path / "data" / "default").glob("fulltext*")]
    assert sorted(name.split(".damaged")[0] for name in kept if "damaged" in name) == [
        "fulltext.sqlite3"
    ]


def test_a_place_that_is_not_armed_does_nothing():
    from kb import failpoints

    failpoints.reached("replace.begun")
    assert len(set(failpoints.NAMES)) == len(failpoints.NAMES)


def test_no_failing_write_leaves_anything_half_written():
    figures = faults(range(1, 201, 40))
    if figures is None:
        pytest.skip("needs Linux and a C compiler")
    assert figures["violations"] == 0
    assert figures["faults"] == 15
