from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest

import ingest
from kb.app import KnowledgeBase
from kb.cli.console import print_table
from kb.cli.status import ProjectStatus, rows, status
from kb.config import Settings


@pytest.fixture
def kb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnowledgeBase:
    made = KnowledgeBase(
        Settings(
            _env_file=None,
            data_dir=tmp_path / "data",
            local_root=tmp_path / "docs",
            embedder="hash",
        )
    )
    monkeypatch.setattr(ingest, "open_kb", lambda: made)
    return made


def fill(kb: KnowledgeBase) -> None:
    root = kb.settings.local_root
    root.mkdir()
    (root / "a.txt").write_text("甲\n" * 70, encoding="utf-8")
    (root / "坏.pdf").write_text("不是 PDF", encoding="utf-8")
    assert ingest.main(["--sync", "--quiet"]) != 0


def test_everything_is_counted(kb, capsys) -> None:
    fill(kb)
    capsys.readouterr()
    assert ingest.main(["--status"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["data_dir"] == str(kb.settings.data_dir)
    (one,) = told["projects"]
    assert (one["project"], one["documents"], one["pages"]) == ("default", 1, 2)
    assert one["blocks"] == one["vectors"] > 10
    assert one["model"] == "hash"
    assert one["bytes"]["sqlite"] >= (kb.project().folder / "fulltext.sqlite3").stat().st_size
    assert one["bytes"]["chroma"] > 0
    assert one["last_sync"]["new"] == 1
    assert [failure["source"] for failure in one["failures"]] == ["坏.pdf"]


def test_a_table_names_the_same_and_the_failures(kb) -> None:
    fill(kb)
    (one,) = status(kb)
    told = dict(rows(one))
    assert told["文档"] == "1"
    assert told["未能入库的对象"] == "1"
    assert told["  坏.pdf"]
    out = io.StringIO()
    print_table("标题", ("", ""), rows(one), out)
    assert "坏.pdf" in out.getvalue()


def test_all_projects_are_listed_or_only_one(kb, tmp_path) -> None:
    (tmp_path / "b.txt").write_text("乙", encoding="utf-8")
    kb.ingest(tmp_path / "b.txt", "b.txt", "另一个")
    assert [p.project for p in status(kb)] == ["default", "另一个"]
    assert [p.documents for p in status(kb, "另一个")] == [1]
    assert [p.documents for p in status(kb, "没有的")] == [0]


def test_a_project_that_cannot_be_read_hides_no_other(kb, tmp_path) -> None:
    (tmp_path / "b.txt").write_text("乙", encoding="utf-8")
    kb.ingest(tmp_path / "b.txt", "b.txt", "另一个")
    broken = kb.settings.data_dir / "坏的"
    broken.mkdir()
    (broken / "fulltext.sqlite3").write_bytes(b"no database" * 1000)
    found = {p.project: p for p in status(kb)}
    assert found["另一个"].documents == 1
    assert found["坏的"].error
    assert rows(found["坏的"])[0][1] == found["坏的"].error
    assert ingest.main(["--status"]) == 1


def test_markup_in_a_name_is_shown_as_it_is(kb) -> None:
    out = io.StringIO()
    told = ProjectStatus("default", failures=({"source": "[red]a", "message": "[bold]x"},))
    print_table("[link]t", ("", ""), rows(told), out)
    assert "[red]a" in out.getvalue()
    assert "[bold]x" in out.getvalue()


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo terminal")
def test_a_terminal_gets_a_table_and_json_where_it_asks(kb, monkeypatch) -> None:
    import pty

    fill(kb)
    for options, has_json in (([], False), (["--json"], True), (["--pretty"], True)):
        master, slave = pty.openpty()
        with os.fdopen(slave, "w", encoding="utf-8") as out, monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            ingest.main(["--status", *options])
            out.flush()
            said = os.read(master, 1 << 16).decode("utf-8", "replace")
        os.close(master)
        assert ("{" in said) is has_json
        assert ("│" in said) is not has_json
