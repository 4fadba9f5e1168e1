import os
from dataclasses import replace
from pathlib import Path

import pytest
import trap_parser

from kb.ports import OcrOptions, ParseLimits
from kb.sandbox.sandbox import Sandbox

TRAP_LIMITS = ParseLimits(wall_seconds=30, cpu_seconds=30, memory_mb=700, output_mb=1, file_mb=1)
HURRIED = replace(TRAP_LIMITS, wall_seconds=1.25)
SHORT_PAGES = OcrOptions(page_seconds=1.0)


@pytest.fixture(scope="module", params=["fork", "once"])
def trapped(request):
    """A sandbox that knows the trap parser too, in both ways of running a child."""
    yield from _trapped(request.param, TRAP_LIMITS)


@pytest.fixture(scope="module", params=["fork", "once"])
def hurried(request):
    """The same with little patience."""
    yield from _trapped(request.param, HURRIED)


def _trapped(way, limits):
    if way == "fork" and not hasattr(os, "fork"):
        pytest.skip("no fork here")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(trap_parser.__file__).parent))
        patch.setenv("KB_EMBED_API_KEY", "secret")
        box = Sandbox(limits, SHORT_PAGES, extra=("trap_parser",), fork=way == "fork")
        yield box
        box.close()
