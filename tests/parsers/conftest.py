import os
import zipfile
from dataclasses import replace
from pathlib import Path

import docx
import pytest

from kb.parsers.word import docx as docx_parser
from kb.ports import OcrOptions, ParseLimits
from kb.sandbox.sandbox import Sandbox

HERE = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("KB_SHARED", HERE.parents[2] / "shared"))
TRAP_LIMITS = ParseLimits(wall_seconds=30, cpu_seconds=30, memory_mb=700, output_mb=1, file_mb=1)
HURRIED = replace(TRAP_LIMITS, wall_seconds=1.25)
SHORT_PAGES = OcrOptions(page_seconds=1.0)


@pytest.fixture(scope="module")
def sandbox():
    """The parsers of the product, with generous limits and without OCR, which takes its time."""
    box = Sandbox(ParseLimits(wall_seconds=30, cpu_seconds=30), OcrOptions("off"))
    yield box
    box.close()


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
        patch.setenv("PYTHONPATH", str(HERE))
        patch.setenv("KB_EMBED_API_KEY", "secret")
        box = Sandbox(limits, SHORT_PAGES, extra=("trap_parser",), fork=way == "fork")
        yield box
        box.close()


@pytest.fixture
def write(tmp_path):
    """Write bytes or text under a name, return the path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return write


@pytest.fixture
def edit_docx(tmp_path):
    """A copy of a docx with its parts changed: `edit(path, {part: function of bytes})`."""

    def edit(path, changes):
        target = tmp_path / f"edited-{path.name}"
        with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
            for info in old.infolist():
                change = changes.get(info.filename, lambda data: data)
                new.writestr(info.filename, change(old.read(info)))
            for part, make in changes.items():
                if part not in old.namelist():
                    new.writestr(part, make(b""))
        return target

    return edit


@pytest.fixture
def document():
    """An empty Word document."""
    return docx.Document()


@pytest.fixture
def read_docx(tmp_path):
    """What the parser makes of a Word document, in this process."""

    def read(document):
        path = tmp_path / "x.docx"
        document.save(path)
        return docx_parser.parse(path, "x.docx")

    return read
