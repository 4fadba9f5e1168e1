"""The short run; `make crash` is the long one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from faults import faults  # noqa: E402

CAMPAIGN = Path(__file__).with_name("campaign.py")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks, so that a kill costs a second")
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
    assert figures["violations"] == figures["damage"]["violations"] == 0
    assert figures["soak"]["searches"] > 0


def test_no_failing_write_leaves_anything_half_written():
    figures = faults(range(1, 201, 40))
    if figures is None:
        pytest.skip("needs Linux and a C compiler")
    assert figures["violations"] == 0
    assert figures["faults"] == 15
