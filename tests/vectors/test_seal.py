from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from library_support import Library, numbered, settings_for

from kb.config import ROOT
from kb.errors import Busy, IndexDamaged
from kb.vectors.chroma import open_index
from kb.vectors.seal import alone, open_proven, seal


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """So many vectors that Chroma writes its graph to disk: it does at 1,000."""
    folder = tmp_path_factory.mktemp("large")
    library = Library(folder, settings_for(folder, exact_limit=0))
    for n in range(11):
        library.put(f"{n}.txt", numbered(f"第{n}号 资金", 500), update=False)
    assert library.kb.update().chroma > 1_000
    return library


def test_opening_and_asking_leaves_the_seal(large: Library) -> None:
    place = large.kb.project().place
    before = seal(place)
    assert before
    index = open_index(place)
    assert index.count() > 1_000
    index.close()
    assert seal(place) == before


@pytest.mark.parametrize("name", ["link_lists.bin", "data_level0.bin", "header.bin", "length.bin"])
def test_one_byte_of_the_graph_breaks_the_seal(large: Library, name: str) -> None:
    place = large.kb.project().place
    (path,) = place.folder.glob(f"*/{name}")
    content = path.read_bytes()
    try:
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with large.kb.project().catalog.reading() as reader, pytest.raises(IndexDamaged):
            open_proven(place, reader)
    finally:
        path.write_bytes(content)


def test_a_graph_that_would_end_the_process_is_not_opened(large: Library, tmp_path: Path) -> None:
    """chromadb 1.5.9 dies of SIGSEGV when it reads or queries this."""
    place = large.kb.project().place
    (path,) = place.folder.glob("*/link_lists.bin")
    content = path.read_bytes()
    code = (
        "from chroma_store import search; found = search('第7号 编号3', 3);"
        "assert found['hits'], found; assert 'SQLite' in found['notice'], found"
    )
    try:
        path.write_bytes(b"\xff" * len(content))
        env = {k: v for k, v in os.environ.items() if not k.startswith("KB_")}
        env |= {"KB_DATA_DIR": str(large.folder / "data"), "KB_EMBEDDER": "hash"}
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env=env | {"KB_EXACT_LIMIT": "0"},
            capture_output=True,
            timeout=60,
            check=False,
        )
    finally:
        path.write_bytes(content)
    assert done.returncode == 0, done.stderr


def test_a_reader_does_not_open_what_another_process_is_writing(large: Library) -> None:
    """A file that is written meanwhile can end the process: the answer comes from SQLite."""
    fresh = Library(large.folder, settings_for(large.folder, exact_limit=0))
    place = fresh.kb.project().place
    with alone(place, 1):
        with pytest.raises(Busy), alone(place, 0):
            pass
        assert fresh.texts("第7号 编号3", 3) == large.texts("第7号 编号3", 3)
        assert fresh.kb.project().dense._snapshot is not None
        assert fresh.kb.project().dense._snapshot.index is None
    fresh.texts("第7号", 1)
    assert fresh.kb.project().dense._snapshot.index is not None
