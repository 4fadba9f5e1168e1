"""FastMCP tools whose arguments and errors are ours."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any

import mcp_types
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool, ToolResult
from pydantic import Field, SkipValidation

from kb.answers.shapes import json_schema
from kb.errors import KbError
from kb.messages import tr
from kb.serving.arguments import Argument, checked, input_schema, near

Answer = tuple[str, Mapping[str, Any]]
Handler = Callable[[Mapping[str, Any]], Awaitable[Answer]]

_log = logging.getLogger("kb.serving")


class KbTool(Tool):
    """A tool that checks its arguments itself and answers every failure as text.

    FastMCP's own checks would let unknown arguments, `true` for 1 and texts of theirs through.
    """

    arguments: Annotated[tuple[Argument, ...], Field(exclude=True), SkipValidation]
    handler: Annotated[Handler, Field(exclude=True), SkipValidation]

    def get_meta(self) -> dict[str, Any]:
        """Nothing: FastMCP's own remarks would cost every client 150 characters."""
        return {}

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Answer one call; never raises but for cancellation."""
        try:
            values = checked(self.name, self.arguments, arguments)
            text, structured = await self.handler(values)
            return ToolResult(content=_content(text), structured_content=structured)
        except KbError as error:
            return refusal(error)
        except Exception:
            return _incident(self.name)


def kb_tool(
    name: str,
    handler: Handler,
    arguments: Sequence[Argument],
    answer: type,
    *,
    read_only: bool = True,
) -> KbTool:
    """A tool called `name`, its texts from the message table, its answers shaped like `answer`."""
    title = tr(f"tool.{name}.title")
    return KbTool(
        name=name,
        title=title,
        description=tr(f"tool.{name}.description"),
        parameters=input_schema(name, arguments),
        output_schema=json_schema(answer),
        annotations=mcp_types.ToolAnnotations(
            title=title,
            read_only_hint=read_only,
            destructive_hint=None if read_only else False,
            idempotent_hint=None if read_only else True,
            open_world_hint=False,
        ),
        arguments=tuple(arguments),
        handler=handler,
    )


class OwnTools(Middleware):
    """Lists and calls our tools itself, and answers a name that does not exist with those that do.

    FastMCP's own path asks its session store for hidden tools first: we hide none, and the store
    costs 0.25 s of imports at the first call.
    """

    def __init__(self, tools: Sequence[KbTool]) -> None:
        self._tools = {tool.name: tool for tool in tools}

    async def on_list_tools(
        self,
        context: MiddlewareContext[mcp_types.ListToolsRequest],  # noqa: ARG002
        call_next: CallNext[mcp_types.ListToolsRequest, Sequence[Tool]],  # noqa: ARG002
    ) -> Sequence[Tool]:
        """All of them, always in this order."""
        return list(self._tools.values())

    async def on_call_tool(
        self,
        context: MiddlewareContext[mcp_types.CallToolRequestParams],
        call_next: CallNext[mcp_types.CallToolRequestParams, ToolResult],  # noqa: ARG002
    ) -> ToolResult:
        """Run the tool, or name the ones there are."""
        name = context.message.name
        tool = self._tools.get(name)
        if tool is not None:
            return await tool.run(context.message.arguments or {})
        guess = near(name, tuple(self._tools), limit=1)
        key = "tool.unknown_near" if guess else "tool.unknown"
        names = ", ".join(self._tools)
        return refusal(KbError(tr(key, name=name[:60], guess="".join(guess), names=names)))


class AfterOpening(Middleware):
    """Calls `then` once, after the first answer that opens a connection."""

    def __init__(self, then: Callable[[], None]) -> None:
        self._then: Callable[[], None] | None = then

    async def on_request(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]
    ) -> Any:
        """Answer first."""
        try:
            return await call_next(context)
        finally:
            then, self._then = self._then, None
            if then is not None:
                then()


def refusal(error: KbError) -> ToolResult:
    """An error as the model reads it: what is wrong, then what to call."""
    return ToolResult(content=_content(str(error)), is_error=True)


def _content(text: str) -> list[mcp_types.ContentBlock]:
    return [mcp_types.TextContent(type="text", text=text)]


def _incident(tool: str) -> ToolResult:
    """Mask what happened: the traceback goes to stderr under an id, the caller gets the id."""
    incident = secrets.token_hex(4)
    _log.exception("incident %s in %s", incident, tool)
    return refusal(KbError(tr("tool.incident", id=incident), tr("tool.incident.hint")))
