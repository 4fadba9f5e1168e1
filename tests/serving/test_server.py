from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from pathlib import Path

import pytest
from fastmcp import Client
from server_support import (
    SECRET,
    a_listing,
    a_passage,
    a_report,
    a_search,
    fake_modules,
)

import server
from kb.config import Settings
from kb.errors import NotFound, Refused
from kb.messages import set_language
from kb.serving.jobs import Jobs

SNAPSHOTS = Path(__file__).parent / "snapshots"
ERAS = ["auto", "legacy"]


@pytest.fixture(autouse=True)
def chinese():
    yield
    set_language("zh")


@pytest.fixture
def fakes(monkeypatch):
    """Puts fakes in the place of the flat modules; call it with functions to change them."""

    def put(**functions):
        for name, module in fake_modules(**functions).items():
            monkeypatch.setitem(sys.modules, name, module)

    monkeypatch.setattr(server, "_warm_up", lambda *_: None)
    monkeypatch.setattr(server, "_resolve", lambda path, name: (f"/docs/{path}", name or path))
    put()
    return put


def talk(conversation, *, mode="auto", lang="zh", jobs=None):
    """Run `conversation(client)` against a fresh server."""

    async def run():
        settings = Settings(lang=lang, _env_file=None)
        async with Client(server.build_server(settings, jobs), mode=mode) as client:
            return await conversation(client)

    return asyncio.run(run())


def call(tool, arguments, **options):
    async def one(client):
        return await client.call_tool(tool, arguments, raise_on_error=False)

    return talk(one, **options)


def refused(tool, arguments, **options):
    """The text of an answer that must be a refusal."""
    result = call(tool, arguments, **options)
    assert result.is_error
    assert result.structured_content is None
    return result.content[0].text


class FakeJobs:
    """Answers like `Jobs`, at once."""

    def __init__(self, report=None, progress=()):
        self.report, self.progress, self.calls = report or a_report(), progress, []

    async def ingest(self, path, source, project, on_progress=None):
        self.calls.append((path, source, project))
        for step in self.progress:
            await on_progress(*step)
        return dict(self.report)


@pytest.mark.parametrize("mode", ERAS)
def test_search_answers_in_text_and_json(fakes, mode):
    result = call("search", {"query": "规划"}, mode=mode)
    assert result.structured_content == a_search()
    assert "【片段1】出处：规划.pdf 第16页 第3-8行" in result.content[0].text
    assert len(result.content) == 1


@pytest.mark.parametrize("mode", ERAS)
def test_read_range_answers_in_text_and_json(fakes, mode):
    result = call("read_range", {"source": "规划.pdf", "page": 16}, mode=mode)
    assert result.structured_content == a_passage()
    assert "2| line 2" in result.content[0].text


@pytest.mark.parametrize("mode", ERAS)
def test_list_sources_answers_in_text_and_json(fakes, mode):
    result = call("list_sources", {}, mode=mode)
    assert result.structured_content == a_listing()
    assert "政策/1.pdf" in result.content[0].text


@pytest.mark.parametrize("mode", ERAS)
def test_ingest_file_answers_in_text_and_json(fakes, mode):
    jobs = FakeJobs()
    result = call("ingest_file", {"path": "规划.pdf"}, mode=mode, jobs=jobs)
    assert result.structured_content == a_report()
    assert "20 页" in result.content[0].text
    assert jobs.calls == [("/docs/规划.pdf", "规划.pdf", "default")]


def test_a_running_ingest_says_to_call_again_in_text_and_in_json(fakes):
    jobs = FakeJobs(a_report(state="running", notice="3/9"))
    result = call("ingest_file", {"path": "a.pdf"}, jobs=jobs)
    for answer in (result.content[0].text, result.structured_content["notice"]):
        assert 'ingest_file(path="a.pdf")' in answer
        assert "3/9" in answer


def test_a_fence_has_a_new_marker_in_every_answer(fakes):
    texts = [call("search", {"query": "x"}).content[0].text for _ in range(2)]
    assert texts[0] != texts[1]


def test_every_argument_reaches_the_flat_module(fakes):
    got = {}
    fakes(
        search=lambda query, top_k, **more: (
            got.update(query=query, top_k=top_k, **more) or a_search()
        ),
        read_range=lambda **arguments: got.update(read=arguments) or a_passage(),
    )
    call("search", {"query": "x", "top_k": 9, "source": "a.md"})
    call("read_range", {"source": "a", "page": 2, "line_start": 3, "line_end": 4, "context": 5})
    assert got["read"] == {
        "source": "a",
        "page": 2,
        "line_start": 3,
        "line_end": 4,
        "context": 5,
        "project": "default",
    }
    del got["read"]
    assert got == {"query": "x", "top_k": 9, "source": "a.md", "project": "default"}


# --- what clients are told -----------------------------------------------------------------


def tool_list(mode, lang):
    async def listing(client):
        tools = await client.list_tools()
        return [t.model_dump(mode="json", by_alias=True, exclude_none=True) for t in tools]

    return talk(listing, mode=mode, lang=lang)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_tool_list_is_as_it_was_and_small(lang):
    tools = tool_list("auto", lang)
    assert tools == tool_list("legacy", lang)
    assert len(json.dumps({"tools": tools}, ensure_ascii=False, separators=(",", ":"))) < 6_000
    text = json.dumps(tools, ensure_ascii=False, indent=1) + "\n"
    snapshot = SNAPSHOTS / f"tools_{lang}.json"
    if "KB_UPDATE_SNAPSHOTS" in os.environ:
        snapshot.write_text(text, encoding="utf-8", newline="\n")
    assert text == snapshot.read_text(encoding="utf-8")


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_annotations_tell_reading_from_writing(lang):
    for tool in tool_list("auto", lang):
        hints = tool["annotations"]
        assert hints["title"] == tool["title"]
        assert hints["openWorldHint"] is False
        if tool["name"] == "ingest_file":
            assert hints["readOnlyHint"] is False
            assert hints["destructiveHint"] is False
            assert hints["idempotentHint"] is True
        else:
            assert hints["readOnlyHint"] is True


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_description_tells_the_two_steps(lang):
    for tool in tool_list("auto", lang):
        assert "search" in tool["description"]
        assert "read_range" in tool["description"]
        assert {"zh": "文件、页、行", "en": "file, page and lines"}[lang] in tool["description"]


@pytest.mark.parametrize("mode", ERAS)
def test_instructions_tell_the_two_steps(mode):
    async def instructions(client):
        return client.instructions if hasattr(client, "instructions") else None

    text = talk(instructions, mode=mode)
    assert text is None or ("search" in text and "read_range" in text)


# --- refusals ------------------------------------------------------------------------------

BAD = [
    ("search", {}, "query", 'search(query="'),
    ("search", {"query": ""}, "query", 'search(query="'),
    ("search", {"query": " \n"}, "query", 'search(query="'),
    ("search", {"query": None}, "null", 'search(query="'),
    ("search", {"query": 7}, "7", 'search(query="'),
    ("search", {"query": ["x"]}, "query", 'search(query="'),
    ("search", {"query": "x", "top_k": 0}, "1 到 50", 'search(query="x")'),
    ("search", {"query": "x", "top_k": -1}, "1 到 50", 'search(query="x")'),
    ("search", {"query": "x", "top_k": 10**9}, "1 到 50", 'search(query="x")'),
    ("search", {"query": "x", "top_k": 10**400}, "1 到 50", 'search(query="x")'),
    ("search", {"query": "x", "top_k": 1e300}, "1 到 50", 'search(query="x")'),
    ("search", {"query": "x", "top_k": 5.5}, "5.5", 'search(query="x")'),
    ("search", {"query": "x", "top_k": "abc"}, "abc", 'search(query="x")'),
    ("search", {"query": "x", "top_k": "9" * 5000}, "top_k", 'search(query="x")'),
    ("search", {"query": "x", "top_k": None}, "null", 'search(query="x")'),
    ("search", {"query": "x", "top_k": True}, "true", 'search(query="x")'),
    ("search", {"query": "x", "top_k": [5]}, "top_k", 'search(query="x")'),
    ("search", {"query": "x", "top_k": {}}, "top_k", 'search(query="x")'),
    ("search", {"query": "x", "source": 1}, "source", 'search(query="x")'),
    ("search", {"qery": "x"}, "是否指 query", "search("),
    ("search", {"query": "x", "topk": 3}, "是否指 top_k", 'search(query="x")'),
    ("search", {"query": "x", "zzz": 3}, "query, top_k, source", 'search(query="x")'),
    ("read_range", {"source": "a"}, "page", 'read_range(source="a", page=1)'),
    ("read_range", {"source": "a", "page": 0}, "page", 'read_range(source="a", page=1)'),
    ("read_range", {"source": "a", "page": -1}, "page", 'read_range(source="a", page=1)'),
    ("read_range", {"source": "", "page": 1}, "source", "page=1)"),
    ("read_range", {"source": "a", "page": 1, "line_start": 0}, "line_start", "page=1)"),
    ("read_range", {"source": "a", "page": 1, "line_end": 0}, "-1", "page=1)"),
    ("read_range", {"source": "a", "page": 1, "line_end": -2}, "-1", "page=1)"),
    ("read_range", {"source": "a", "page": 1, "context": -1}, "context", "page=1)"),
    ("read_range", {"source": "a", "page": 1, "start_line": 1}, "是否指 line_start", "page=1)"),
    ("ingest_file", {"path": ""}, "path", "ingest_file(path="),
    ("ingest_file", {"path": "a", "source_name": None}, "source_name", 'ingest_file(path="a")'),
    ("list_sources", {"query": None}, "query", "list_sources()"),
]


@pytest.mark.parametrize(("tool", "arguments", "names", "then"), BAD)
def test_a_bad_argument_is_refused_with_the_call_to_make(fakes, tool, arguments, names, then):
    text = refused(tool, arguments)
    assert names in text
    assert then in text
    assert len(text) < 500


@pytest.mark.parametrize("given", [5, 5.0, "5", " 5 ", "5.0", "+5", "５"])
def test_five_is_five_however_it_is_written(fakes, given):
    got = []
    fakes(search=lambda query, top_k, **_: got.append(top_k) or a_search())
    assert not call("search", {"query": "x", "top_k": given}).is_error
    assert got == [5]
    assert type(got[0]) is int


@pytest.mark.parametrize("blank", [None, ""])
def test_no_source_may_be_said_as_null_or_empty(fakes, blank):
    got = []
    fakes(search=lambda query, top_k, source, project: got.append(source) or a_search())
    call("search", {"query": "x", "source": blank})
    assert got == [None]


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    ("name", "near"), [("serch", "是否指 search"), ("zzz", "search, read_range")]
)
def test_an_unknown_tool_is_answered_with_the_names(fakes, mode, name, near):
    assert near in refused(name, {}, mode=mode)


def test_a_refusal_of_the_core_keeps_its_message_and_hint(fakes):
    def search(*_args, **_more):
        raise NotFound("no such document: 规画.pdf", 'search(source="规划.pdf")')

    fakes(search=search)
    assert refused("search", {"query": "x"}) == (
        'no such document: 规画.pdf\nsearch(source="规划.pdf")'
    )


def test_a_path_out_of_bounds_starts_no_job(fakes, monkeypatch):
    def resolve(path, name):
        raise Refused("outside", "KB_INGEST_ROOTS")

    monkeypatch.setattr(server, "_resolve", resolve)
    jobs = FakeJobs()
    assert "outside" in refused("ingest_file", {"path": "/etc/passwd"}, jobs=jobs)
    assert jobs.calls == []


def test_any_other_failure_is_masked_logged_and_survived(fakes, caplog):
    def broken(*_args, **_more):
        raise RuntimeError(SECRET)

    async def conversation(client):
        first = await client.call_tool("search", {"query": "x"}, raise_on_error=False)
        second = await client.call_tool("list_sources", {})
        return first, second

    fakes(search=broken)
    first, second = talk(conversation)
    text = first.content[0].text
    assert first.is_error
    assert SECRET not in text
    incident = caplog.records[-1]
    assert incident.args[0] in text
    assert SECRET in str(incident.exc_info[1])
    assert not second.is_error


def test_errors_come_in_english_too(fakes):
    text = refused("search", {"query": "x", "topk": 3}, lang="en")
    assert "did you mean top_k" in text


# --- many at once --------------------------------------------------------------------------


def test_fifty_calls_at_once_are_all_answered(fakes):
    fakes(search=lambda query, top_k, **_: a_search(query=query))

    async def conversation(client):
        calls = [client.call_tool("search", {"query": f"q{n}"}) for n in range(50)]
        return await asyncio.gather(*calls)

    answers = [result.structured_content["query"] for result in talk(conversation)]
    assert answers == [f"q{n}" for n in range(50)]


def test_waiting_for_ingests_takes_no_thread_from_searches(fakes):
    class Waiting(FakeJobs):
        async def ingest(self, *args, **more):
            self.calls.append(args)
            await self.gate.wait()
            return a_report()

    async def conversation(client):
        jobs.gate = asyncio.Event()
        ingests = [
            asyncio.ensure_future(client.call_tool("ingest_file", {"path": f"{n}"}))
            for n in range(50)
        ]
        answer = await client.call_tool("search", {"query": "x"})
        jobs.gate.set()
        await asyncio.gather(*ingests)
        return answer

    jobs = Waiting()
    assert not talk(conversation, jobs=jobs).is_error


def test_a_slow_search_holds_up_no_listing(fakes):
    gate = threading.Event()
    fakes(search=lambda *_args, **_more: gate.wait(20) and a_search())

    async def conversation(client):
        slow = asyncio.ensure_future(client.call_tool("search", {"query": "x"}))
        await client.call_tool("list_sources", {})
        done = slow.done()
        gate.set()
        await slow
        return done

    assert talk(conversation) is False


def test_progress_is_told_to_whoever_asks(fakes):
    told = []

    async def on_progress(done, total, message):
        told.append((done, total, message))

    async def conversation(client):
        await client.call_tool("ingest_file", {"path": "a"}, progress_handler=on_progress)
        await client.call_tool("ingest_file", {"path": "a"})

    talk(conversation, jobs=FakeJobs(progress=[("parse", 1, 9), ("embed", 2, 0)]))
    assert told[:2] == [(1, 9, "解析"), (2, None, "计算向量")]


def test_jobs_is_what_an_unconfigured_server_uses(monkeypatch):
    made = []
    monkeypatch.setattr(server, "Jobs", lambda: made.append(Jobs()) or made[-1])
    server.build_server(Settings(_env_file=None))
    assert len(made) == 1
