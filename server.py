"""MCP server of the knowledge base: four tools, over stdio or HTTP.

`python server.py` speaks MCP on stdin and stdout; `python server.py --http` serves
http://127.0.0.1:8000/mcp. Nothing but protocol ever reaches stdout.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    # Before every other import: whatever prints from here on cannot reach the client.
    from kb.serving import stdio

    WIRE = stdio.Wire()
    stdio.end_on_signals()

import asyncio
import gc
import os
import secrets
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from kb import __version__
from kb.answers import render, shapes
from kb.answers.render import call_text
from kb.config import Settings, variable
from kb.messages import set_language, tr
from kb.serving.arguments import Argument
from kb.serving.jobs import Jobs, stage_name
from kb.serving.options import needs_token, parse

if TYPE_CHECKING:
    from fastmcp import FastMCP

    from kb.serving.tools import Answer

MAX_TOP_K: Final = 50
MAX_CONTEXT: Final = 50

_searches: Final = ThreadPoolExecutor(4, "search")
"""Threads of the read tools. Waiting for an ingest takes none of them."""


def build_server(settings: Settings | None = None, jobs: Jobs | None = None) -> FastMCP[Any]:
    """The FastMCP server with its four tools, in the language of `settings`."""
    from fastmcp import FastMCP

    from kb.serving.tools import AfterOpening, OwnTools, kb_tool

    settings = settings or Settings()
    set_language(settings.lang)
    jobs = jobs or Jobs()
    tools = Tools(settings, jobs)
    made = [
        kb_tool("search", tools.search, _search_arguments(), shapes.SearchDict),
        kb_tool("read_range", tools.read_range, _read_arguments(), shapes.PassageDict),
        kb_tool(
            "ingest_file",
            tools.ingest_file,
            _ingest_arguments(),
            shapes.ReportDict,
            read_only=False,
        ),
        kb_tool("list_sources", tools.list_sources, _list_arguments(), shapes.SourcesDict),
    ]
    return FastMCP(
        "xinPlugin_Chroma_fastMCP",
        instructions=tr("tool.instructions"),
        version=__version__,
        tools=made,
        middleware=[AfterOpening(partial(_warm_up_soon, settings.project, jobs)), OwnTools(made)],
        mask_error_details=True,
        dereference_schemas=False,
    )


class Tools:
    """The four tools: each takes checked arguments and gives its answer as text and as JSON."""

    def __init__(self, settings: Settings, jobs: Jobs) -> None:
        self._budget = settings.max_chars
        self._project = settings.project
        self._jobs = jobs

    async def search(self, given: Mapping[str, Any]) -> Answer:
        """Locate: hits, each a range of numbered lines."""
        answer = await _in_thread(_search, given, self._project, self._budget)
        return render.search_text(answer, _marker()), answer

    async def read_range(self, given: Mapping[str, Any]) -> Answer:
        """Read exactly: numbered lines of one page."""
        answer = await _in_thread(_read_range, given, self._project, self._budget)
        return render.passage_text(answer, _marker()), answer

    async def list_sources(self, given: Mapping[str, Any]) -> Answer:
        """The documents there are."""
        answer = await _in_thread(_list_sources, given, self._project, self._budget)
        return render.sources_text(answer, _marker()), answer

    async def ingest_file(self, given: Mapping[str, Any]) -> Answer:
        """Ingest a document, or wait for it. Cancelling the call leaves the job at work."""
        path, source = await _in_thread(_resolve, given["path"], given["source_name"])
        report = await self._jobs.ingest(path, source, self._project, _tell_progress)
        again = call_text("ingest_file", {k: v for k, v in given.items() if v})
        text = render.report_text(report, again, self._budget)
        if report["state"] == "running":
            # The JSON alone must tell, too, what to do.
            hint = tr("tool.ingest.again", call=again)
            report["notice"] = f"{report['notice']}\n{hint}"
        return text, report


def _search(given: Mapping[str, Any], project: str, budget: int) -> dict[str, Any]:
    import chroma_store

    answer = chroma_store.search(
        given["query"], given["top_k"], source=given["source"], project=project
    )
    return render.fit_hits(answer, budget)


def _read_range(given: Mapping[str, Any], project: str, budget: int) -> dict[str, Any]:
    import fulltext

    return render.fit_passage(fulltext.read_range(**given, project=project), budget)


def _list_sources(given: Mapping[str, Any], project: str, budget: int) -> dict[str, Any]:
    import chroma_store

    return render.fit_sources(chroma_store.list_sources(given["query"], project=project), budget)


def _resolve(path: str, source_name: str) -> tuple[str, str]:
    import kb.app

    resolved, source = kb.app.resolve_ingest_path(path, source_name)
    return str(resolved), source


async def _in_thread(work: Any, *args: Any) -> Any:
    return await asyncio.get_running_loop().run_in_executor(_searches, partial(work, *args))


async def _tell_progress(stage: str, done: int, total: int) -> None:
    """Send a progress notification if the client asked for them."""
    from fastmcp.server.dependencies import get_context

    await get_context().report_progress(done, total or None, stage_name(stage))


def _marker() -> str:
    return secrets.token_hex(6)


def _search_arguments() -> list[Argument]:
    example = tr("tool.arg.example_query")
    return [
        Argument("query", "text", example=example),
        Argument("top_k", "integer", 6, low=1, high=MAX_TOP_K),
        Argument("source", "text", None, nullable=True),
    ]


def _read_arguments() -> list[Argument]:
    return [
        Argument("source", "text", example=tr("tool.arg.example_source")),
        Argument("page", "integer", low=1, example=1),
        Argument("line_start", "integer", 1, low=1),
        Argument("line_end", "integer", -1, low=1, special=-1),
        Argument("context", "integer", 0, low=0, high=MAX_CONTEXT),
    ]


def _ingest_arguments() -> list[Argument]:
    return [
        Argument("path", "text", example=tr("tool.arg.example_path")),
        Argument("source_name", "text", ""),
    ]


def _list_arguments() -> list[Argument]:
    return [Argument("query", "text", "")]


def _warm_up_soon(project: str, jobs: Jobs) -> None:
    """Load what searches need once the client has its first answer, without holding it up."""
    thread = threading.Thread(target=_warm_up, args=(project, jobs), daemon=True)
    asyncio.get_running_loop().call_later(0.05, thread.start)


def _warm_up(project: str, jobs: Jobs) -> None:
    """Warm the read path, then go on with vectors that a killed ingest left behind."""
    try:
        import kb.app

        kb.app.warm_up()
        if kb.app.vectors_wait(project):
            jobs.resume(project)
    except Exception as error:
        # The first call meets the same problem and answers it properly.
        sys.stderr.write(f"warm-up: {type(error).__name__}: {error}\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the server until its client or a signal ends it. Returns the exit code."""
    from pydantic import ValidationError

    try:
        settings = Settings()
    except ValidationError as error:
        names = ", ".join(variable(str(e["loc"][0])) for e in error.errors())
        sys.stderr.write(f"{tr('config.bad', names=names)}\n{tr('config.bad.hint')}\n")
        return 2
    set_language(settings.lang)
    options = parse(argv, WIRE.text())
    token = settings.http_token.get_secret_value()
    if needs_token(options) and not token:
        sys.stderr.write(tr("tool.http.need_token", host=options.host) + "\n")
        return 2
    _disarm_fastmcp()
    # Importing FastMCP makes a million objects that stay: collecting meanwhile costs 15 % more.
    gc.disable()
    server = build_server(settings)
    gc.freeze()
    gc.enable()
    if options.http:
        from kb.serving.web import serve_http

        return serve_http(server, options.host, options.port, token, options.allow_host)
    asyncio.run(stdio.serve_stdio(server, WIRE))
    return 0


def _disarm_fastmcp() -> None:
    """Keep FastMCP from its environment, its `.env`, its banner and its look for updates.

    A stray FASTMCP_TRANSPORT would make this an HTTP server, a wrong FASTMCP_PORT would stop it.
    """
    for name in [name for name in os.environ if name.upper().startswith("FASTMCP_")]:
        del os.environ[name]
    os.environ["FASTMCP_ENV_FILE"] = ""
    os.environ["FASTMCP_SHOW_SERVER_BANNER"] = "false"
    os.environ["FASTMCP_CHECK_FOR_UPDATES"] = "off"
    os.environ["FASTMCP_LOG_LEVEL"] = "WARNING"
    os.environ["FASTMCP_ENABLE_RICH_LOGGING"] = "false"


if __name__ == "__main__":
    stdio.leave(main())
