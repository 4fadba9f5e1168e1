"""The tools on the real knowledge base: real parsing, real catalogue, real worker processes."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from server_support import ROOT, SECRET, ServerProcess

import server
from kb.config import Settings

PLAN = "\n".join(
    [
        "# 数字档案馆规划",
        "",
        *(f"第{n}条 建设内容{n}，资金 {n} 万元。" for n in range(3, 60)),
        SECRET,
    ]
)


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Documents of our own in the object folder, an empty knowledge base beside it."""
    documents = tmp_path / "documents"
    (documents / "政策").mkdir(parents=True)
    (documents / "政策" / "规划.md").write_text(PLAN, encoding="utf-8")
    (documents / "notes.txt").write_text("meeting notes\nbudget 2035\n", encoding="utf-8")
    (documents / "empty.txt").write_bytes(b"")
    (documents / "fake.pdf").write_text("not a pdf", encoding="utf-8")
    (tmp_path / "outside.txt").write_text("outside", encoding="utf-8")
    env = {
        "KB_DATA_DIR": str(tmp_path / "data"),
        "KB_LOCAL_ROOT": str(documents),
        "KB_EMBEDDER": "hash",
        "KB_LANG": "zh",
    }
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    return env


def write(world, name, text):
    Path(world["KB_LOCAL_ROOT"], name).write_text(text, encoding="utf-8")


def talk(conversation, mode="auto"):
    async def run():
        async with Client(server.build_server(Settings(_env_file=None)), mode=mode) as client:
            return await conversation(client)

    return asyncio.run(run())


async def ingested(client, path, **more):
    result = await client.call_tool("ingest_file", {"path": path, **more})
    assert result.structured_content["state"] in ("ingested", "unchanged")
    return result


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_ingest_search_and_read_agree_on_every_line(world, mode):
    async def conversation(client):
        report = await ingested(client, "政策/规划.md")
        found = await client.call_tool("search", {"query": "建设内容 42 资金", "top_k": 3})
        hit = found.structured_content["hits"][0]
        place = {k: hit[k] for k in ("source", "page", "line_start", "line_end")}
        read = await client.call_tool("read_range", place)
        listed = await client.call_tool("list_sources", {})
        return report, found, read, listed

    report, found, read, listed = talk(conversation, mode)
    assert report.structured_content["source"] == "政策/规划.md"
    hit, passage = found.structured_content["hits"][0], read.structured_content
    assert hit["text"] == "\n".join(line["text"] for line in passage["lines"])
    assert "第42条" in hit["text"]
    for line in passage["lines"]:
        assert f"{line['line']}| {line['text']}" in read.content[0].text
    assert "非印刷页码" in read.content[0].text
    assert [s["source"] for s in listed.structured_content["sources"]] == ["政策/规划.md"]


def test_the_same_document_again_is_unchanged_and_a_new_text_replaces_it(world):
    async def conversation(client):
        states = []
        for text in (None, None, "完全不同 的 内容 甲乙丙"):
            if text:
                write(world, "notes.txt", text)
            states.append((await ingested(client, "notes.txt")).structured_content["state"])
        old = await client.call_tool("search", {"query": "meeting notes budget"})
        new = await client.call_tool("search", {"query": "甲乙丙"})
        return states, old.structured_content["hits"], new.structured_content["hits"]

    states, old, new = talk(conversation)
    assert states == ["ingested", "unchanged", "ingested"]
    assert all("meeting" not in hit["text"] for hit in old)
    assert "甲乙丙" in new[0]["text"]


BAD = [
    ("ingest_file", {"path": "政策"}),
    ("ingest_file", {"path": "empty.txt"}),
    ("ingest_file", {"path": "fake.pdf"}),
    ("ingest_file", {"path": "missing.pdf"}),
    ("ingest_file", {"path": "../outside.txt"}),
    ("ingest_file", {"path": "/etc/passwd"}),
    ("ingest_file", {"path": "\0"}),
    ("search", {"query": "，。！"}),
    ("search", {"query": "字" * 100_000}),
    ("search", {"query": "资金", "source": "政策/规化.md"}),
    ("read_range", {"source": "政策/规化.md", "page": 1}),
    ("read_range", {"source": "政策/规划.md", "page": 99}),
    ("read_range", {"source": "政策/规划.md", "page": 10**12}),
    ("read_range", {"source": "政策/规划.md", "page": 1, "line_start": 10**6}),
    ("read_range", {"source": "政策/规划.md", "page": 1, "line_start": 9, "line_end": 3}),
    ("read_range", {"source": "%", "page": 1}),
]


def test_bad_input_is_refused_with_a_next_step_and_changes_nothing(world):
    async def conversation(client):
        await ingested(client, "政策/规划.md")
        before = (await client.call_tool("list_sources", {})).structured_content
        answers = [
            await client.call_tool(tool, arguments, raise_on_error=False) for tool, arguments in BAD
        ]
        after = (await client.call_tool("list_sources", {})).structured_content
        return before, answers, after

    before, answers, after = talk(conversation)
    for source in (*before["sources"], *after["sources"]):
        source.pop("vectors")  # they may still be on their way
    assert before["sources"] == after["sources"]
    for (tool, arguments), answer in zip(BAD, answers, strict=True):
        text = answer.content[0].text
        assert answer.is_error, (tool, arguments)
        assert "\n" in text, f"no hint: {text}"
        assert "编号" not in text, f"an incident: {arguments}"
        assert SECRET not in text
        assert len(text) < 2_000
    near = answers[BAD.index(("read_range", {"source": "政策/规化.md", "page": 1}))]
    assert "政策/规划.md" in near.content[0].text


def test_the_continuing_calls_give_the_page_back(world, monkeypatch):
    lines = [f"{n} " + "内容" * (n % 40) for n in range(1, 55)]
    monkeypatch.setenv("KB_MAX_CHARS", "1000")
    write(world, "long.txt", "\n".join(lines))

    async def conversation(client):
        await ingested(client, "long.txt")
        got, calls, arguments = [], 0, {"source": "long.txt", "page": 1}
        while arguments:
            result = await client.call_tool("read_range", arguments)
            assert len(result.content[0].text) <= 1000
            got += [line["text"] for line in result.structured_content["lines"]]
            arguments, calls = result.structured_content["next"], calls + 1
        return got, calls, result.structured_content["page_lines"]

    got, calls, page_lines = talk(conversation)
    assert calls > 2
    assert got == lines[:page_lines]


def test_searches_run_while_documents_come_in(world):
    for n in range(3):
        write(world, f"{n}.md", f"文件{n}\n{PLAN}")

    async def conversation(client):
        ingests = [ingested(client, f"{n}.md") for n in range(3)]
        searches = [
            client.call_tool("search", {"query": f"建设内容{n}"}, raise_on_error=False)
            for n in range(50)
        ]
        done = await asyncio.gather(*ingests, *searches)
        return done[3:]

    assert not any(answer.is_error for answer in talk(conversation))


def test_a_client_over_stdio_does_the_whole_loop(world):
    async def conversation():
        transport = StdioTransport(
            sys.executable, [str(ROOT / "server.py")], env=world, cwd=str(ROOT.parent)
        )
        async with Client(transport) as client:
            await ingested(client, "notes.txt")
            result = await client.call_tool("search", {"query": "budget 2035"})
            return result.structured_content["hits"][0]["source"]

    assert asyncio.run(conversation()) == "notes.txt"


IMMORTAL = """
import sys, threading
if "kb.serving.worker" in sys.orig_argv:
    sys.stderr.write("worker is up\\n")
    threading.Thread(target=threading.Event().wait).start()
"""


@pytest.mark.parametrize("how", ["eof", "kill"])
def test_the_worker_ends_with_the_server(world, tmp_path, how):
    (tmp_path / "sitecustomize.py").write_text(IMMORTAL, encoding="utf-8")
    with ServerProcess(tmp_path, env={**world, "PYTHONPATH": str(tmp_path)}) as process:
        process.open()
        process.call("ingest_file", 1, path="notes.txt")
        process.wait_for_error("worker is up")
        if how == "eof":
            process.process.stdin.close()
        else:
            process.process.kill()
        process.rest()
        # The worker inherits stderr: its pipe ends only when the worker has ended, too.
        process.drained(10)
