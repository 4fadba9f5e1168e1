"""The main path on the sample documents: `python -m kb.demo` (or `make demo`).

Ingests `samples/` into the project `demo`, asks the real server over stdio as an agent would, and
prints what the agent reads, then the blocks to paste into a client.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any, Final

from kb.app import KnowledgeBase
from kb.cli import clients
from kb.cli.console import prepare_streams, progress_bars, say
from kb.config import ROOT, Settings
from kb.errors import KbError
from kb.messages import tr
from kb.objects.folder import walk

PROJECT: Final = "demo"
QUESTION: Final = "数字档案馆建设的资金由谁承担，总投资多少？"


def main() -> int:
    """Run the demonstration; returns the exit code."""
    prepare_streams()
    try:
        _ingest(KnowledgeBase(Settings(project=PROJECT)))
        asyncio.run(_ask())
    except KbError as error:
        say(str(error))
        return error.exit_code
    print(tr("demo.clients", project=PROJECT))
    return clients.main([])


def _ingest(kb: KnowledgeBase) -> None:
    for path, source in walk(ROOT / "samples"):
        report = kb.ingest(path, source)
        counts = {"pages": report.pages, "blocks": report.blocks}
        print(tr("demo.ingested", source=source, state=report.state, **counts))
    with progress_bars(quiet=False) as show:
        state = kb.update(on_progress=show)
    if state.notice:
        say(state.notice)


async def _ask() -> None:
    """One search and the read_range that its first hit names, by a real client."""
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    env = {**os.environ, "KB_PROJECT": PROJECT, "PYTHONUTF8": "1"}
    server = StdioTransport(sys.executable, [str(ROOT / "server.py")], env=env, cwd=str(ROOT))
    async with Client(server) as client:
        found = await _call(client, "search", {"query": QUESTION, "top_k": 3})
        if found["hits"]:
            hit = found["hits"][0]
            place = {name: hit[name] for name in ("source", "page", "line_start", "line_end")}
            await _call(client, "read_range", place)


async def _call(client: Any, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Call a tool, print the text as the model gets it, return the structured answer."""
    from kb.answers.render import call_text

    print(f"\n>>> {call_text(tool, arguments)}\n")
    result = await client.call_tool(tool, arguments)
    print("\n".join(block.text for block in result.content))
    answer: dict[str, Any] = result.structured_content
    return answer


if __name__ == "__main__":
    sys.exit(main())
