from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kb.config import ROOT
from kb.lock import hold


class Shell:
    """Runs the project's commands as a person does, over a data folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {
            **{k: v for k, v in os.environ.items() if not k.startswith("KB_")},
            "KB_DATA_DIR": str(folder / "data"),
            "KB_EMBEDDER": "hash",
            "PYTHONUTF8": "1",
        }

    def run(self, *arguments: str, code: int = 0, **env: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=self.env | env, capture_output=True, timeout=120, check=False
        )
        assert done.returncode == code, done.stderr.decode("utf-8", "replace")
        return done

    def ingest(self, *arguments: str, code: int = 0, **env: str) -> Any:
        return json.loads(self.run("ingest.py", *arguments, code=code, **env).stdout)

    def worker(self, *arguments: str) -> subprocess.Popen[bytes]:
        """`python -m kb.serving.worker` with its pipes in our hands."""
        command = [sys.executable, "-m", "kb.serving.worker", *arguments, "--project=default"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        return subprocess.Popen(command, cwd=ROOT, env=self.env, **pipes)

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
        return str(path)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_one_file_gives_its_report_and_the_one_liners_find_it(shell: Shell) -> None:
    path = shell.write("办法.txt", "第一条 总则。\n第二条 经费由财政局承担。")
    report = shell.ingest(path)
    assert (report["source"], report["state"], report["pages"]) == ("办法.txt", "ingested", 1)
    assert report["vectors"] == {"blocks": 1, "pending": 0, "chroma": 1, "notice": ""}
    assert shell.ingest(path)["state"] == "unchanged"
    found = json.loads(
        shell.run(
            "-c",
            "from chroma_store import search; import json;"
            "print(json.dumps(search('财政局 经费', 6), ensure_ascii=False))",
        ).stdout
    )
    hit = found["hits"][0]
    assert hit["text"] == "第一条 总则。\n第二条 经费由财政局承担。"
    assert hit["citation"] == "《办法.txt》第1页 第1-2行"
    assert hit["dense_rank"] == hit["sparse_rank"] == 1
    read = json.loads(
        shell.run(
            "-c",
            "from fulltext import read_range; import json;"
            "print(json.dumps(read_range('办法.txt', 1, 2, 2, context=1), ensure_ascii=False))",
        ).stdout
    )
    assert "\n".join(line["text"] for line in read["lines"]) == hit["text"]


def test_a_first_search_imports_nothing_heavy(shell: Shell) -> None:
    shell.ingest(shell.write("a.txt", "甲"))
    heavy = ["chromadb", "fastmcp", "pymupdf", "minio", "jieba", "onnxruntime", "lxml"]
    code = (
        "from chroma_store import search; from fulltext import read_range; import sys;"
        f"assert search('甲')['hits'][0]['dense_rank'] == 1; read_range('a.txt', 1);"
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    assert shell.run("-c", code).stdout.strip() == b"[]"


def test_the_document_is_one_line_unless_it_should_be_pretty(shell: Shell) -> None:
    path = shell.write("a.txt", "甲")
    plain = [shell.run("ingest.py", path, *more).stdout for more in ([], ["--json"])]
    assert [out.count(b"\n") for out in plain] == [1, 1]
    assert shell.run("ingest.py", path, "--pretty").stdout.count(b"\n") > 5


def test_a_second_argument_names_the_source(shell: Shell) -> None:
    path = shell.write("a.txt", "甲")
    assert shell.ingest(path, "政策/2026/规划.txt")["source"] == "政策/2026/规划.txt"
    assert shell.ingest(path, "--source", "别名.txt")["source"] == "别名.txt"
    listed = shell.ingest("--list")
    assert [info["source"] for info in listed["sources"]] == ["别名.txt", "政策/2026/规划.txt"]


def test_a_folder_is_taken_whole_and_one_bad_file_never_stops_the_rest(shell: Shell) -> None:
    shell.write("库/a.txt", "甲")
    shell.write("库/政策/b.md", "# 乙\n正文")
    shell.write("库/坏.pdf", "不是 PDF")
    shell.write("库/~$a.docx", "锁文件")
    report = shell.ingest(str(shell.folder / "库"), code=3)
    assert (report["ingested"], report["failed"]) == (2, 1)
    states = {r["source"]: r["state"] for r in report["reports"]}
    assert states == {"a.txt": "ingested", "坏.pdf": "failed", "政策/b.md": "ingested"}
    failed = next(r for r in report["reports"] if r["state"] == "failed")
    assert failed["error"]
    assert failed["hint"]
    assert report["vectors"]["pending"] == 0


def test_a_changed_file_becomes_the_next_version(shell: Shell) -> None:
    path = shell.write("a.txt", "旧")
    shell.ingest(path)
    shell.write("a.txt", "新")
    assert shell.ingest(path)["version"] == 2


def test_removing_leaves_nothing_to_find(shell: Shell) -> None:
    shell.ingest(shell.write("a.txt", "甲"))
    assert shell.ingest("--remove", "a.txt")["vectors"]["chroma"] == 0
    assert shell.ingest("--list")["sources"] == []
    assert shell.ingest("--remove", "a.txt", code=3)["kind"] == "NotFound"


def test_a_dry_run_writes_nothing(shell: Shell) -> None:
    report = shell.ingest(shell.write("a.txt", "甲"), "--dry-run")
    assert (report["state"], report["dry_run"]) == ("ingested", True)
    assert not (shell.folder / "data").exists()


def test_a_project_keeps_to_itself(shell: Shell) -> None:
    shell.ingest(shell.write("a.txt", "甲"), "--project", "另一个")
    assert shell.ingest("--list")["total"] == 0
    assert shell.ingest("--list", "--project", "另一个")["total"] == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["nowhere.txt"], 3),
        (["{folder}/empty.txt"], 3),
        (["{folder}/picture.xyz"], 3),
        (["{folder}"], 3),
        ([], 3),
        (["--no-such-option"], 2),
        (["--list", "--resume"], 2),
        (["{folder}/empty.txt", "--project", "a/b"], 3),
    ],
)
def test_exit_codes_tell_refusal_from_wrong_usage(
    shell: Shell, arguments: list[str], code: int
) -> None:
    shell.write("empty.txt", "")
    shell.write("picture.xyz", "x")
    done = shell.run("ingest.py", *(a.format(folder=shell.folder) for a in arguments), code=code)
    assert done.stderr
    if code == 3:
        assert json.loads(done.stdout)


def test_a_parser_that_is_broken_is_a_failure_not_a_refusal(shell: Shell) -> None:
    path = shell.write("长.txt", "很长的一行文字\n" * 200_000)
    assert shell.ingest(path, code=1, KB_PARSE_SECONDS="0.01")["kind"] == "ParseFailed"


def test_the_json_is_readable_on_a_gbk_console(shell: Shell) -> None:
    path = shell.write("星.txt", "★ 甲 \u00a0 𠮷")
    done = shell.run("ingest.py", path, PYTHONUTF8="0", PYTHONIOENCODING="gbk")
    assert json.loads(done.stdout.decode("ascii"))["source"] == "星.txt"


def test_a_bad_setting_is_named(shell: Shell) -> None:
    done = shell.run("ingest.py", "--list", code=3, KB_MAX_CHARS="many")
    assert b"KB_MAX_CHARS" in done.stderr


def test_vectors_that_were_left_behind_are_resumed(shell: Shell) -> None:
    path = shell.write("a.txt", "甲")
    shell.ingest(path, KB_EMBEDDER="none")
    assert shell.ingest("--resume")["vectors"]["chroma"] == 1


# -- the worker ----------------------------------------------------------------------------


def test_the_worker_reports_and_then_brings_the_vectors(shell: Shell) -> None:
    with shell.worker("ingest", shell.write("a.txt", "甲"), "--source=-a.txt") as worker:
        assert worker.stdout
        events = [json.loads(line) for line in worker.stdout]
    assert worker.returncode == 0
    kinds = [event["event"] for event in events if event["event"] != "progress"]
    assert kinds == ["report", "vectors"]
    assert next(e for e in events if e["event"] == "report")["source"] == "-a.txt"
    assert events[-1]["pending"] == 0


def test_the_worker_names_the_error(shell: Shell) -> None:
    with shell.worker("ingest", "nowhere.txt", "--source=a.txt") as worker:
        assert worker.stdout
        event = json.loads(worker.stdout.readline())
    assert (event["event"], event["kind"]) == ("error", "NotFound")


@pytest.fixture
def waiting(shell: Shell) -> Iterator[subprocess.Popen[bytes]]:
    """A worker that waits for the vectors' lock, for as long as it takes."""
    shell.ingest(shell.write("a.txt", "甲"))
    lock = shell.folder / "data" / "default" / "vectors.lock"
    with hold(lock, "test", 5), shell.worker("update") as worker:
        assert worker.stdout
        assert json.loads(worker.stdout.readline())["event"] == "progress"
        yield worker


def test_the_worker_ends_with_its_parent(waiting: subprocess.Popen[bytes]) -> None:
    assert waiting.stdin
    waiting.stdin.close()
    assert waiting.wait(10) == 1


def test_the_worker_gives_way_when_it_is_asked_to(waiting: subprocess.Popen[bytes]) -> None:
    assert waiting.stdin
    waiting.stdin.write(b"stop\n")
    waiting.stdin.flush()
    assert waiting.wait(10) == 0
