"""A document may crash, hang, hoard or shout; the caller gets one clear error and goes on."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from paths import ROOT

from kb import messages
from kb.errors import NotFound, ParseFailed, Refused
from kb.ports import OcrOptions, ParseLimits
from kb.sandbox.sandbox import Sandbox

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX processes")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="RLIMIT_AS, /proc")


@pytest.fixture
def trap(trapped, write):
    """Parse a file that holds one trap."""

    def trap(order):
        return trapped.parse(write("x.trap", order), "政策/x.trap")

    return trap


@pytest.fixture
def quick(hurried, write):
    """The same in a sandbox with little patience."""

    def quick(order, on_progress=None):
        return hurried.parse(write("x.trap", order), "政策/x.trap", on_progress)

    return quick


def alive(pid):
    """Whether a process runs (a zombie does not)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def gone(pid, seconds=5.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not alive(pid):
            return True
        time.sleep(0.02)
    return False


def test_a_quiet_parser_is_heard(trap):
    assert trap("flood 3").pages[0].text == "字字字"


def test_prints_of_a_parser_never_reach_the_answer(trap):
    parsed = trap("chatter")
    assert parsed.pages[0].text == "quiet"
    assert parsed.parser == "trap/3"


def test_a_hang_ends_at_the_wall_limit(quick):
    with pytest.raises(ParseFailed, match=r"1\.25") as error:
        quick("hang")
    assert "政策/x.trap" in error.value.message
    assert "KB_PARSE_SECONDS" in error.value.hint


def test_pages_under_ocr_have_their_own_time_and_are_told_as_they_come(quick):
    told = []
    parsed = quick("pages 3 0.6", told.append)
    assert [(p.stage, p.done, p.total, p.name) for p in told] == [
        ("ocr", done, 3, "政策/x.trap") for done in range(4)
    ]
    assert parsed.parser == "trap/3+ocr1"


def test_a_page_that_takes_too_long_names_its_own_limit(quick):
    with pytest.raises(ParseFailed, match="OCR") as error:
        quick("pages 3 5")
    assert "KB_OCR_SECONDS" in error.value.hint


def test_busy_cpu_ends_as_well(quick):
    with pytest.raises(ParseFailed, match=r"1\.25"):
        quick("spin")


@linux
def test_too_much_memory_is_said_in_these_words(trap):
    with pytest.raises(ParseFailed, match="700 MiB") as error:
        trap("hoard")
    assert "KB_PARSE_MEMORY_MB" in error.value.hint


@posix
def test_a_crash_names_its_signal(trap):
    with pytest.raises(ParseFailed, match="SIGSEGV"):
        trap("crash")


def test_an_exit_names_its_code(trap):
    with pytest.raises(ParseFailed, match="7"):
        trap("leave")


def test_too_much_text_is_stopped(trap):
    assert trap("flood 300000").pages
    with pytest.raises(ParseFailed, match="1 MiB"):
        trap("flood 400000")
    with pytest.raises(ParseFailed, match="1 MiB"):
        trap("flood 9000000")


def test_refusals_come_through_whole(trap):
    with pytest.raises(Refused) as error:
        trap("refuse 谢谢")
    assert (error.value.message, error.value.hint) == ("no, 谢谢", "try yes")
    with pytest.raises(NotFound, match="nowhere"):
        trap("miss")


def test_any_other_error_says_its_kind_and_no_content(trap):
    with pytest.raises(ParseFailed, match="RuntimeError") as error:
        trap("fail")
    assert "secret" not in str(error.value)


def test_surrogates_and_zeros_are_replaced_and_said(trap):
    parsed = trap("dirty")
    assert parsed.pages[0].text == "a\ufffdb\ufffdc"
    assert any("2" in warning for warning in parsed.warnings)


def test_a_malformed_answer_is_not_used(trap):
    with pytest.raises(ParseFailed):
        trap("wrong")


def test_the_next_document_is_not_harmed(trap):
    for order in ("leave", "fail", "wrong"):
        with pytest.raises(ParseFailed):
            trap(order)
        assert trap("flood 1").pages[0].text == "字"


def test_secrets_stay_outside(trap):
    names = trap("environment").pages[0].text
    assert "PATH" in names
    assert "KB_EMBED_API_KEY" not in names


def test_the_child_speaks_the_callers_language(trap, monkeypatch):
    for language in ("en", "zh"):
        monkeypatch.setattr(messages, "_language", language)
        assert trap("language").pages[0].text == messages.tr("parse.output_hint")


@linux
def test_a_document_costs_a_fork_not_an_import(trap, trapped, request):
    if "once" in request.node.name:
        pytest.skip("one process a document by design")
    hosts = {trap("pid").pages[0].text.split()[0] for _ in range(3)}
    assert len(hosts) == 1
    host = int(hosts.pop())
    trapped.close()
    assert gone(host)
    assert trap("flood 1").pages, "a closed sandbox starts again"


@linux
def test_what_a_child_leaves_behind_dies_with_it(quick, tmp_path, request):
    if "once" in request.node.name:
        pytest.skip("a Job object does this on Windows")
    note = tmp_path / "grandchild.pid"
    with pytest.raises(ParseFailed):
        quick(f"orphan {note}")
    assert gone(int(note.read_text(encoding="utf-8")))


@linux
def test_a_killed_host_is_one_failure_and_then_replaced(trap, trapped, request):
    if "once" in request.node.name:
        pytest.skip("there is no host")
    os.kill(int(trap("pid").pages[0].text.split()[0]), signal.SIGKILL)
    with suppress(ParseFailed):  # the loss may be seen before or while the request is sent
        trap("flood 1")
    assert trap("flood 1").pages[0].text == "字"


def test_many_threads_share_one_sandbox(trapped, tmp_path):
    results = []

    def work(number):
        path = tmp_path / f"{number}.trap"
        path.write_text(f"flood {number}", encoding="utf-8")
        results.append(len(trapped.parse(path, path.name).pages[0].text) == number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 8


WAYS = ["fork", "once"] if hasattr(os, "fork") else ["once"]
SCRIPT = """
import sys
from pathlib import Path
from kb.sandbox.sandbox import Sandbox
from kb.ports import ParseLimits
print("started", flush=True)
box = Sandbox(ParseLimits(wall_seconds=60), extra=("trap_parser",), fork=sys.argv[2] == "fork")
print(box.parse(Path(sys.argv[1]), "x.trap").pages[0].text, flush=True)
"""

QUIET_SCRIPT = """
import sys
from pathlib import Path
from kb.sandbox.sandbox import Sandbox
from kb.ports import ParseLimits
box = Sandbox(ParseLimits(wall_seconds=60), extra=("trap_parser",), fork=sys.argv[2] == "fork")
text = box.parse(Path(sys.argv[1]), "x.trap").pages[0].text
Path(sys.argv[3]).write_text(text, encoding="utf-8")
"""


def start_script(*arguments, cwd):
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "tests" / "support"))),
    }
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *arguments], cwd=cwd, env=env, stdout=subprocess.PIPE
    )


@pytest.mark.parametrize("way", WAYS)
def test_an_unguarded_one_liner_may_parse(write, tmp_path, way):
    """multiprocessing would run the caller's script again in every child."""
    with start_script(str(write("x.trap", "flood 2")), way, cwd=tmp_path) as process:
        out, _ = process.communicate(timeout=30)
    assert out.decode("utf-8").split() == ["started", "字字"]
    assert process.returncode == 0


@posix
@pytest.mark.parametrize("way", WAYS)
def test_a_caller_without_standard_streams_may_parse(write, tmp_path, way):
    note = tmp_path / "note"
    command = [sys.executable, "-c", QUIET_SCRIPT, str(write("x.trap", "flood 2")), way, str(note)]
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "tests" / "support"))),
    }
    shell = ["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"]
    subprocess.run([*shell, *command], cwd=tmp_path, env=env, timeout=60, check=True)
    assert note.read_text(encoding="utf-8") == "字字"


@linux
@pytest.mark.parametrize("way", WAYS)
def test_a_killed_caller_leaves_no_process(write, tmp_path, way):
    note = tmp_path / "child.pid"
    with start_script(str(write("x.trap", f"hang {note}")), way, cwd=tmp_path) as process:
        deadline = time.monotonic() + 30
        while not (note.exists() and note.read_text(encoding="utf-8")):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        child = int(note.read_text(encoding="utf-8"))
        fields = Path(f"/proc/{child}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        host = int(fields[1])
        assert (host == process.pid) == (way == "once")
        process.kill()
        process.wait(timeout=10)
        assert gone(child)
        assert gone(host)


def test_whether_a_document_is_read_again_is_known_without_a_process(trapped):
    assert trapped.is_current("trap/3", "a/b.TRAP")
    assert not trapped.is_current("trap/2", "a/b.TRAP")
    with pytest.raises(Refused):
        Sandbox(ParseLimits()).is_current("trap/3", "x.trap")


def test_a_change_of_ocr_reads_again_what_it_changes_and_nothing_else():
    def current(mode, name="x.pdf"):
        box = Sandbox(ParseLimits(), OcrOptions(mode))
        id_ = box._registry.spec(name).id
        marks = ("", "+ocr1", "+ocr1!", "-ocr")
        return [mark for mark in marks if box.is_current(id_ + mark, name)]

    assert current("auto") == ["", "+ocr1"]
    assert current("off") == ["", "-ocr"]
    assert current("force") == ["+ocr1!"]
    assert current("force", "x.txt") == ["", "+ocr1"]


def test_pages_that_wait_for_ocr_are_marked(trap):
    assert trap("wait").parser == "trap/3-ocr"
    assert trap("flood 1").parser == "trap/3"
