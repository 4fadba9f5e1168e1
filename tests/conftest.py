from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from library_support import Library, settings_for
from paths import ROOT
from s3_support import S3Server, running_server

from kb.ports import OcrOptions, ParseLimits
from kb.sandbox.sandbox import Sandbox

LONG = 500


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Note files of more than `LONG` lines: no fault, but a place to look for a second idea."""
    for path in sorted((ROOT / "kb").rglob("*.py")):
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > LONG:
            terminalreporter.write_line(f"note: {path.relative_to(ROOT)} has {lines} lines")


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A real S3 server on loopback, for the whole session."""
    with running_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def bucket(s3: S3Server) -> Iterator[str]:
    """An empty bucket of `s3`."""
    name = s3.make_bucket()
    yield name
    s3.remove_bucket(name)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """An empty knowledge base over plain text files, with the hashing embedder."""
    return Library(tmp_path, settings_for(tmp_path))


@pytest.fixture
def write(tmp_path):
    """Write bytes or text under a name, return the path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return write


@pytest.fixture(scope="module")
def sandbox():
    """The parsers of the product, with generous limits and without OCR, which takes its time."""
    box = Sandbox(ParseLimits(wall_seconds=30, cpu_seconds=30), OcrOptions("off"))
    yield box
    box.close()
