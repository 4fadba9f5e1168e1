from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading

import pytest
from server_support import a_report

from kb.errors import Busy, KbError, ParseFailed, Refused
from kb.serving.jobs import Jobs, worker_command

WORKER = """
import json, os, socket, sys
sys.stdout.reconfigure(encoding="utf-8")
link = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
orders = link.makefile("r", encoding="utf-8")
link.sendall((json.dumps(sys.argv[2:]) + "\\n").encode())
for order in orders:
    what, _, rest = order.rstrip("\\n").partition(" ")
    if what == "say":
        print(rest, flush=True)
    elif what == "exit":
        os._exit(int(rest))
    elif what == "listen":
        link.sendall((json.dumps(sys.stdin.readline()) + "\\n").encode())
"""


class Theatre:
    """Workers that do what the test tells them, line by line."""

    def __init__(self, tmp_path, wait=20.0):
        self._script = tmp_path / "worker.py"
        self._script.write_text(WORKER, encoding="utf-8")
        self._door = socket.create_server(("127.0.0.1", 0))
        self._door.settimeout(20)
        self.jobs = Jobs(self._command, wait)

    def _command(self, path, source, project):
        port = str(self._door.getsockname()[1])
        return [sys.executable, "-I", str(self._script), port, path, source, project]

    async def worker(self):
        """The next worker that starts."""
        link, _ = await asyncio.to_thread(self._door.accept)
        return await asyncio.to_thread(Worker, link)

    def close(self):
        self.jobs.close()
        self._door.close()


class Worker:
    def __init__(self, link):
        self._link = link
        self._file = link.makefile("r", encoding="utf-8")
        self.arguments = self.heard()

    def heard(self):
        return json.loads(self._file.readline())

    def say(self, event):
        self.tell("say " + json.dumps(event, ensure_ascii=False))

    def tell(self, order):
        self._link.sendall((order + "\n").encode())

    async def stdin_line(self):
        self.tell("listen")
        return await asyncio.to_thread(self.heard)

    def end(self, code=0):
        self.tell(f"exit {code}")
        self._file.close()
        self._link.close()


@pytest.fixture
def theatre(tmp_path):
    made = []

    def open_one(**options):
        made.append(Theatre(tmp_path, **options))
        return made[-1]

    yield open_one
    for one in made:
        one.close()


def start(theatre, path="a.pdf", source=None, on_progress=None):
    return asyncio.ensure_future(
        theatre.jobs.ingest(f"/docs/{path}", source or path, "default", on_progress)
    )


async def until_settled(theatre):
    while (answer := await start(theatre))["state"] == "running":
        pass
    return answer


def test_the_report_comes_as_soon_as_keywords_are_ready(theatre):
    async def scene():
        stage = theatre()
        call = start(stage, "规划.pdf")
        worker = await stage.worker()
        assert worker.arguments == ["/docs/规划.pdf", "规划.pdf", "default"]
        worker.say({"event": "report", **a_report()})
        assert await call == a_report()
        worker.end()

    asyncio.run(scene())


def test_callers_of_one_document_join_one_job(theatre):
    async def scene():
        stage = theatre()
        calls = [start(stage) for _ in range(5)]
        worker = await stage.worker()
        worker.say({"event": "report", **a_report()})
        assert await asyncio.gather(*calls) == [a_report()] * 5
        worker.end()

    asyncio.run(scene())


def test_a_long_job_answers_running_and_is_joined_by_the_next_call(theatre):
    async def scene():
        stage = theatre(wait=0.2)
        first = await start(stage)
        worker = await stage.worker()
        assert first["state"] == "running"
        assert first["notice"]
        worker.say({"event": "progress", "stage": "parse", "done": 3, "total": 9})
        worker.say({"event": "report", **a_report()})
        assert await until_settled(stage) == a_report()
        worker.end()

    asyncio.run(scene())


def test_running_says_how_far_the_work_is(theatre):
    async def scene():
        stage, seen = theatre(wait=1.0), asyncio.Event()

        async def on_progress(*_step):
            seen.set()

        call = start(stage, on_progress=on_progress)
        worker = await stage.worker()
        worker.say({"event": "progress", "stage": "parse", "done": 3, "total": 9})
        await seen.wait()
        assert "解析 3/9" in (await call)["notice"]
        worker.end()

    asyncio.run(scene())


def test_an_outcome_waits_for_the_caller_who_was_told_running(theatre):
    async def scene():
        stage = theatre(wait=0.2)
        assert (await start(stage))["state"] == "running"
        worker = await stage.worker()
        worker.say({"event": "error", "kind": "Refused", "message": "encrypted", "hint": "h"})
        worker.end()
        with pytest.raises(Refused, match="encrypted"):
            await until_settled(stage)

    asyncio.run(scene())


def test_progress_reaches_the_caller_in_order(theatre):
    async def scene():
        stage, told = theatre(), []

        async def on_progress(*step):
            told.append(step)
            if step[1] < 3:
                worker.say({"event": "progress", "stage": "parse", "done": step[1] + 1, "total": 3})
            else:
                worker.say({"event": "report", **a_report()})

        call = start(stage, on_progress=on_progress)
        worker = await stage.worker()
        worker.say({"event": "progress", "stage": "parse", "done": 1, "total": 3})
        await call
        assert told == [("parse", 1, 3), ("parse", 2, 3), ("parse", 3, 3)]
        worker.end()

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("Refused", Refused), ("ParseFailed", ParseFailed), ("Nonsense", KbError), ("Final", KbError)],
)
def test_an_error_comes_back_as_its_class_with_message_and_hint(theatre, kind, expected):
    async def scene():
        stage = theatre()
        call = start(stage)
        worker = await stage.worker()
        worker.say({"event": "error", "kind": kind, "message": "加密", "hint": "next"})
        with pytest.raises(KbError) as caught:
            await call
        worker.end()
        assert type(caught.value) is expected
        assert (caught.value.message, caught.value.hint) == ("加密", "next")

    asyncio.run(scene())


@pytest.mark.parametrize("code", [0, 1, 137])
def test_a_worker_that_dies_without_a_word_is_an_error(theatre, code):
    async def scene():
        stage = theatre()
        call = start(stage)
        (await stage.worker()).end(code)
        with pytest.raises(KbError, match=r"a\.pdf") as caught:
            await call
        assert "kb.doctor" in caught.value.hint

    asyncio.run(scene())


def test_a_worker_that_cannot_start_is_an_error(tmp_path):
    jobs = Jobs(lambda *_: [str(tmp_path / "no-such-program")])
    with pytest.raises(KbError, match=r"a\.pdf"):
        asyncio.run(jobs.ingest("/docs/a.pdf", "a.pdf", "default"))


def test_stray_prints_of_a_worker_are_not_events(theatre):
    async def scene():
        stage = theatre()
        call = start(stage)
        worker = await stage.worker()
        for line in ("hello", "[]", "3", '{"no": "event"}', "{", '{"event": "later"}'):
            worker.tell("say " + line)
        worker.say({"event": "report", **a_report()})
        assert await call == a_report()
        worker.end()

    asyncio.run(scene())


def test_one_worker_at_a_time_and_the_next_says_what_it_waits_for(theatre):
    async def scene():
        stage = theatre(wait=0.3)
        first = start(stage, "a.pdf")
        worker = await stage.worker()
        second = await start(stage, "b.pdf")
        assert "a.pdf" in second["notice"]
        worker.say({"event": "report", **a_report()})
        await first
        worker.end()
        other = await stage.worker()
        assert other.arguments[1] == "b.pdf"
        other.end()

    asyncio.run(scene())


def test_a_worker_that_only_embeds_is_asked_to_stop_for_the_next_document(theatre):
    async def scene():
        stage = theatre()
        first = start(stage, "a.pdf")
        worker = await stage.worker()
        worker.say({"event": "report", **a_report()})
        await first
        second = start(stage, "b.pdf")
        assert await worker.stdin_line() == "stop\n"
        worker.end()
        other = await stage.worker()
        other.say({"event": "report", **a_report(source="b.pdf")})
        assert (await second)["source"] == "b.pdf"
        other.end()

    asyncio.run(scene())


def test_the_same_document_again_while_its_vectors_are_made_is_a_new_job(theatre):
    async def scene():
        stage = theatre()
        first = start(stage)
        worker = await stage.worker()
        worker.say({"event": "report", **a_report()})
        await first
        again = start(stage)
        assert await worker.stdin_line() == "stop\n"
        worker.end()
        other = await stage.worker()
        other.say({"event": "report", **a_report(state="unchanged")})
        assert (await again)["state"] == "unchanged"
        other.end()

    asyncio.run(scene())


def test_cancelling_a_call_leaves_the_job_at_work(theatre):
    async def scene():
        stage = theatre()
        call = start(stage)
        worker = await stage.worker()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        again = start(stage)
        worker.say({"event": "report", **a_report()})
        assert await again == a_report()
        worker.end()

    asyncio.run(scene())


def test_a_job_outlives_the_event_loop_of_its_caller(theatre):
    stage = theatre(wait=0.2)

    async def first():
        assert (await start(stage))["state"] == "running"
        return await stage.worker()

    async def second(worker):
        worker.say({"event": "report", **a_report()})
        answer = await until_settled(stage)
        worker.end()
        return answer

    worker = asyncio.run(first())
    assert asyncio.run(second(worker)) == a_report()


def test_the_worker_sees_the_end_of_its_input_when_we_go(theatre):
    async def scene():
        stage = theatre()
        call = start(stage)
        worker = await stage.worker()
        stage.jobs.close()
        assert await worker.stdin_line() == ""
        worker.end()
        with pytest.raises(KbError):
            await call

    asyncio.run(scene())


def test_a_full_queue_is_said(theatre):
    async def scene():
        stage = theatre(wait=0.0)
        start(stage, "a.pdf")
        worker = await stage.worker()
        for n in range(100):
            await start(stage, f"{n}.pdf")
        with pytest.raises(Busy, match="100"):
            await start(stage, "one more")
        stage.jobs.close()
        worker.end()

    asyncio.run(scene())


def test_the_worker_is_this_python():
    given = ["/a/b.pdf", "--source=-b.pdf", "--project=p"]
    command = worker_command("/a/b.pdf", "-b.pdf", "p")
    assert command == [sys.executable, "-m", "kb.serving.worker", "ingest", *given]


def test_no_thread_is_left_when_nothing_was_ingested():
    before = threading.active_count()
    Jobs()
    assert threading.active_count() == before


def test_missing_vectors_are_resumed_and_give_way_to_an_ingest():
    """A server that starts over an unfinished index goes on; a document that comes is served first."""
    endless = (
        "import sys, json\n"
        "print(json.dumps({'event': 'progress', 'stage': 'embed', 'done': 1, 'total': 9}), flush=True)\n"
        "sys.exit(0 if sys.stdin.readline() == 'stop\\n' else 1)"
    )
    report = json.dumps({"event": "report", "source": "a.txt", "state": "ingested"})

    def command(path, source, project):
        code = f"print({report!r})" if path else endless
        return [sys.executable, "-c", code]

    jobs = Jobs(command)
    jobs.resume("default")
    answer = asyncio.run(jobs.ingest("a.txt", "a.txt", "default"))
    assert answer["state"] == "ingested"
