"""What the code may not do, wherever it is tempted to."""

import ast
import subprocess
import sys
from collections import Counter

import pytest
from paths import ROOT

KB = sorted((ROOT / "kb").rglob("*.py"))
FLAT = sorted(ROOT.glob("*.py"))
PRINTERS = {"kb/cli/doctor.py", "kb/cli/demo.py", "kb/cli/clients.py"}
MOST_MODULES = 16
"""Modules of one folder that a newcomer still takes in at a glance."""
HEAVY = {"chromadb", "fastmcp", "pymupdf", "docx", "onnxruntime", "jieba", "minio"}


def name(path):
    return path.relative_to(ROOT).as_posix()


def nodes(path, kind):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, kind)]


def calls(path, called):
    """Lines on which `path` calls a function or method of that name."""
    return [
        call.lineno
        for call in nodes(path, ast.Call)
        if called in (getattr(call.func, "attr", None), getattr(call.func, "id", None))
    ]


def imported(path):
    """Top-level packages that `path` imports anywhere."""
    names = [alias.name for node in nodes(path, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes(path, ast.ImportFrom) if not node.level]
    return {each.split(".")[0] for each in names}


def test_a_folder_fits_in_a_head():
    counts = Counter(path.parent for path in KB if path.name != "__init__.py")
    assert {name(folder): n for folder, n in counts.items() if n > MOST_MODULES} == {}


def test_every_package_says_what_it_is_for():
    packages = [path for path in KB if path.name == "__init__.py"]
    assert packages
    assert [
        name(p) for p in packages if not ast.get_docstring(ast.parse(p.read_text("utf-8")))
    ] == []


@pytest.mark.parametrize("path", [*KB, *FLAT], ids=name)
def test_lines_are_split_on_lf_alone(path):
    """`splitlines` also splits on U+2028, \\x0b, \\x85 and more: the line numbers would drift."""
    assert calls(path, "splitlines") == []


@pytest.mark.parametrize("path", [p for p in KB if name(p) not in PRINTERS], ids=name)
def test_the_core_does_not_print(path):
    """stdout belongs to the protocol."""
    assert calls(path, "print") == []


@pytest.mark.parametrize("path", KB, ids=name)
def test_the_core_does_not_know_its_public_face(path):
    assert not imported(path) & {"server", "ingest", "chroma_store", "fulltext"}


@pytest.mark.parametrize("path", [*KB, *FLAT], ids=name)
def test_only_settings_read_the_environment(path):
    if name(path) == "kb/config.py":
        return
    reads = [
        node.lineno
        for node in nodes(path, ast.Call)
        if ast.unparse(node.func) in {"os.getenv", "os.environ.get"} and "KB_" in ast.unparse(node)
    ]
    assert reads == []


def test_the_search_path_starts_without_heavy_libraries():
    code = "import sys, chroma_store, fulltext; print(*{m.split('.')[0] for m in sys.modules})"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True, encoding="utf-8"
    )
    assert not set(run.stdout.split()) & HEAVY
