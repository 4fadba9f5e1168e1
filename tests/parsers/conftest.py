import zipfile
from pathlib import Path

import docx
import pytest

from kb.parsers.word import docx as docx_parser

HERE = Path(__file__).resolve().parent


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
