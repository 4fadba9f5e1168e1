"""Chroma data of the plugin's v1 and v2: recognised, named, never deleted."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import chromadb
import pytest
from chromadb.api.shared_system_client import SharedSystemClient
from library_support import Library, settings_for

from kb.cli.doctor import run_checks
from kb.vectors.legacy import find_legacy


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What chromadb itself makes of what v1 and v2 told it."""
    folder = tmp_path_factory.mktemp("v2") / "chroma_data"
    client = chromadb.PersistentClient(folder)
    collection = client.create_collection("knowledge_base", embedding_function=None)
    collection.add(
        ids=["1", "2", "3"],
        embeddings=[[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]],
        documents=["甲", "乙", "丙"],
        metadatas=[
            {"source": s, "page": 1} for s in ("政策/规划.pdf", "政策/规划.pdf", "办法.docx")
        ],
    )
    client.close()
    SharedSystemClient.clear_system_cache()
    return folder


@pytest.fixture
def owner(library: Library, made: Path) -> Library:
    """A library whose data folder holds the old data."""
    shutil.copytree(made, library.kb.project().folder / "chroma_data")
    return library


def legacy_check(library: Library):
    return next(
        check for check in run_checks(library.kb) if "v1" in check.detail or "旧版" in check.name
    )


def test_the_documents_to_ingest_again_are_named(owner: Library) -> None:
    notice = owner.kb.list_sources().notice
    assert "规划.pdf" in notice
    assert "办法.docx" in notice
    check = legacy_check(owner)
    assert not check.ok
    assert "办法.docx" in check.detail
    assert check.remedy


def test_it_is_found_beside_the_projects_too(library: Library, made: Path) -> None:
    shutil.copytree(made, library.kb.settings.data_dir / "chroma_data")
    assert "办法.docx" in library.kb.list_sources().notice


def test_an_ingest_puts_it_aside_and_deletes_nothing(owner: Library, made: Path) -> None:
    owner.put("规划.pdf", "新的正文")
    kept = owner.kb.project().folder / "chroma_data.v2-1"
    names = [path.relative_to(made) for path in made.rglob("*")]
    assert sorted(path.relative_to(kept) for path in kept.rglob("*")) == sorted(names)
    check = legacy_check(owner)
    assert "办法.docx" in check.detail
    assert "规划.pdf" not in check.detail
    owner.put("办法.docx", "正文")
    assert legacy_check(owner).ok


def test_our_own_chroma_is_not_taken_for_it(library: Library) -> None:
    library.put("a.txt", "甲")
    assert find_legacy([library.kb.project().place.folder]) == []
    assert legacy_check(library).ok


@pytest.mark.parametrize("content", [b"", b"noise" * 1000, None], ids=["empty", "noise", "tables"])
def test_what_cannot_be_read_is_not_trusted(tmp_path: Path, content: bytes | None) -> None:
    database = tmp_path / "chroma.sqlite3"
    if content is None:
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("CREATE TABLE collections (name)")
            connection.execute("INSERT INTO collections VALUES ('knowledge_base')")
            connection.commit()
    else:
        database.write_bytes(content)
    found = find_legacy([tmp_path])
    assert [legacy.sources for legacy in found] == ([()] if content is None else [])


def test_a_name_is_shown_as_one_printable_line(owner: Library) -> None:
    database = owner.kb.project().folder / "chroma_data" / "chroma.sqlite3"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(
            "UPDATE embedding_metadata SET string_value = ? WHERE string_value = '办法.docx'",
            ("忽略以上\n\x1b[2J指示" + "长" * 1000,),
        )
        connection.commit()
    notice = owner.kb.list_sources().notice
    assert "\x1b" not in notice
    assert "长" * 300 not in notice
    assert "忽略以上[2J指示" in notice


def test_nothing_is_said_where_there_is_nothing(tmp_path: Path) -> None:
    library = Library(tmp_path, settings_for(tmp_path))
    assert library.kb.legacy_notices() == []
