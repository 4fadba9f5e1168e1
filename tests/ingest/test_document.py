from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from library_support import Failing, Library, numbered, settings_for

from kb.config import ROOT
from kb.errors import Busy, EmbeddingFailed, NotFound, ParseFailed, Refused
from kb.lock import hold, owner
from kb.model import Progress


def test_the_same_bytes_are_unchanged_and_not_parsed(library: Library) -> None:
    first = library.put("a.txt", "甲")
    again = library.put("a.txt", "甲")
    assert (first.state, again.state) == ("ingested", "unchanged")
    assert (again.version, again.blocks) == (1, first.blocks)
    assert library.parser.parsed == ["a.txt"]


def test_the_same_bytes_from_two_writers_at_once_are_one_version(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = library.parser.parse

    def meanwhile(path: Path, name: str, _on_progress: Any) -> Any:
        monkeypatch.setattr(library.parser, "parse", parse)
        Library(library.folder, settings_for(library.folder)).put("a.txt", "甲")
        return parse(path, name)

    monkeypatch.setattr(library.parser, "parse", meanwhile)
    report = library.put("a.txt", "甲")
    assert (report.state, report.version) == ("unchanged", 1)


def test_a_new_revision_of_the_parser_reads_the_same_bytes_again(library: Library) -> None:
    library.put("a.txt", "甲")
    library.parser.revision = 2
    assert library.put("a.txt", "甲").state == "ingested"


def test_a_failed_replacement_keeps_the_old_version_and_says_so(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.put("a.txt", "旧的内容")

    def fail(*_arguments: object) -> Any:
        raise ParseFailed("broken", "mend it")

    monkeypatch.setattr(library.parser, "parse", fail)
    with pytest.raises(ParseFailed, match="broken.*a.txt.*1") as caught:
        library.put("a.txt", "新的内容")
    assert caught.value.hint == "mend it"
    assert library.texts("内容") == ["旧的内容"]


def test_a_failure_inside_the_transaction_leaves_nothing_half_written(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.put("a.txt", "旧的内容")

    def fail(*_arguments: object) -> Any:
        raise MemoryError

    monkeypatch.setattr("kb.catalog.writer.dump_path", fail)
    with pytest.raises(MemoryError):
        library.put("a.txt", "新的内容")
    monkeypatch.undo()
    assert library.texts("内容") == ["旧的内容"]
    with library.kb.project().catalog.reading() as reader:
        assert reader.keyword_problem() == ""
        assert len(reader.sources()) == 1


@pytest.mark.parametrize("name", ["nowhere.txt", "folder", "empty.txt"])
def test_what_is_no_document_is_refused_before_parsing(library: Library, name: str) -> None:
    (library.folder / "folder").mkdir()
    (library.folder / "empty.txt").touch()
    with pytest.raises((NotFound, Refused)) as caught:
        library.kb.ingest(library.folder / name, name)
    assert caught.value.hint
    assert library.parser.parsed == []


def test_a_document_over_the_size_limit_is_refused(tmp_path: Path) -> None:
    library = Library(tmp_path, settings_for(tmp_path, max_file_mb=1))
    with pytest.raises(Refused, match="1 MiB"):
        library.put("大.txt", "x" * (1 << 20) + "x")


def test_a_document_without_text_is_refused(library: Library) -> None:
    with pytest.raises(Refused):
        library.put("空白.txt", " \n\f\u3000")


def test_a_dry_run_reports_and_writes_nothing(library: Library) -> None:
    path = library.folder / "a.txt"
    path.write_text(numbered("甲", 20), encoding="utf-8")
    report = library.kb.ingest(path, "a.txt", dry_run=True)
    assert (report.state, report.version, report.blocks) == ("ingested", 1, 4)
    assert not library.kb.project().folder.exists()


# -- vectors that lag ----------------------------------------------------------------------


def test_embedding_goes_on_where_it_was_broken_off(tmp_path: Path) -> None:
    engine = Library(tmp_path, settings_for(tmp_path)).kb.embedder()
    killed = Library(tmp_path, settings_for(tmp_path), Failing(engine, 30, KeyboardInterrupt()))
    killed.put("a.txt", numbered("甲" * 30, 300), update=False)
    with pytest.raises(KeyboardInterrupt):
        killed.kb.update()
    seen: list[Progress] = []
    state = Library(tmp_path, settings_for(tmp_path)).kb.update(on_progress=seen.append)
    assert (state.blocks, state.pending, state.chroma) == (60, 0, 60)
    embedded = max(p.done for p in seen if p.stage == "embed")
    assert 0 < embedded < 60


def test_an_embedder_that_fails_leaves_keywords_working_and_says_why(tmp_path: Path) -> None:
    engine = Library(tmp_path, settings_for(tmp_path)).kb.embedder()
    library = Library(
        tmp_path,
        settings_for(tmp_path),
        Failing(engine, 0, EmbeddingFailed("no server", "start it")),
    )
    library.put("a.txt", "财政局 经费", update=False)
    assert "no server" in library.kb.update().notice
    assert library.texts("财政局") == ["财政局 经费"]


class _Other(Failing):
    def __init__(self, engine: Any) -> None:
        super().__init__(engine, 10**9, Exception())
        self.name = self.fingerprint = "other"


def test_another_model_leaves_the_index_alone_until_it_is_asked_to_change(tmp_path: Path) -> None:
    first = Library(tmp_path, settings_for(tmp_path))
    first.put("a.txt", numbered("甲", 30))
    second = Library(tmp_path, settings_for(tmp_path), _Other(first.kb.embedder()))
    second.put("b.txt", "乙", update=False)
    assert "--rebuild-vectors" in second.kb.update().notice
    result = second.kb.search("甲", 1)
    assert "--rebuild-vectors" in result.notice
    assert result.hits[0].dense_rank is None
    state = second.kb.update(change_model=True)
    assert (state.pending, state.chroma, state.notice) == (0, 7, "")
    assert second.kb.search("甲", 1).hits[0].dense_rank is not None
    assert "--rebuild-vectors" in first.kb.search("甲", 1).notice


def test_without_an_embedder_on_purpose_keywords_answer_and_say_so(tmp_path: Path) -> None:
    library = Library(tmp_path, settings_for(tmp_path, embedder="none"))
    library.put("a.txt", "财政局")
    result = library.kb.search("财政局")
    assert [hit.text for hit in result.hits] == ["财政局"]
    assert "KB_EMBEDDER=none" in result.notice


def test_projects_are_isolated(library: Library) -> None:
    library.put("a.txt", "共同的内容")
    assert library.kb.search("共同", project="另一个").hits == ()
    path = library.folder / "in" / "a.txt"
    library.kb.ingest(path, "a.txt", "另一个")
    library.kb.update("另一个")
    library.kb.remove("a.txt")
    assert len(library.kb.search("共同", project="另一个").hits) == 1


@pytest.mark.parametrize("name", ["", "..", "a/b", "a\\b", ".x", "x" * 65, "a\0"])
def test_a_project_is_one_folder_name(library: Library, name: str) -> None:
    from kb.errors import InvalidInput

    with pytest.raises(InvalidInput):
        library.kb.search("x", project=name)


# -- the lock ------------------------------------------------------------------------------


def test_a_disk_that_fails_under_the_vectors_is_told_in_the_notice(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock that could not be made on a read-only disk ended the command line with a traceback."""
    library.put("a.txt", "甲", update=False)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    with monkeypatch.context() as patch:
        patch.setattr("filelock.FileLock.acquire", refuse)
        state = library.kb.update()
    assert (state.pending, state.chroma) == (1, 0)
    assert "Read-only file system" in state.notice
    assert library.texts("甲") == ["甲"]
    assert library.kb.update().chroma == 1


def test_a_second_writer_gives_up_naming_the_first(tmp_path: Path) -> None:
    library = Library(tmp_path, settings_for(tmp_path, lock_wait=0.2))
    library.put("a.txt", "甲")
    held, done = threading.Event(), threading.Event()

    def keep() -> None:
        with hold(library.kb.project().folder / "writer.lock", "算命", 5):
            held.set()
            done.wait(10)

    thread = threading.Thread(target=keep)
    thread.start()
    held.wait(10)
    try:
        with pytest.raises(Busy, match="算命") as caught:
            library.put("b.txt", "乙")
        assert "KB_LOCK_WAIT" in caught.value.hint
        assert library.texts("甲") == ["甲"]
    finally:
        done.set()
        thread.join()
    assert library.put("b.txt", "乙").state == "ingested"


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    path = tmp_path / "writer.lock"
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom kb.lock import hold\n"
        "with hold(Path(sys.argv[1]), 'killed', 5):\n    print('held', flush=True)\n    time.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], cwd=ROOT, stdout=subprocess.PIPE
    )
    assert process.stdout
    try:
        assert process.stdout.readline().strip() == b"held"
        holder = owner(path)
        assert holder is None or holder.pid == process.pid
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    with hold(path, "next", 5):
        pass
    assert owner(path) is None
