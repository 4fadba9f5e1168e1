"""Streamable HTTP for clients on this machine, or beyond it with a token."""

from __future__ import annotations

import contextlib
import hmac
import socket
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Final

import uvicorn
from fastmcp import FastMCP
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from kb.messages import tr

PATH: Final = "/mcp"
HEALTH: Final = "/health"


class TokenGuard:
    """Lets through only requests that carry the bearer token; `/health` is open to all."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = b"Bearer " + token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401 or pass the request on."""
        if scope["type"] != "http" or scope["path"] == HEALTH or self._admits(scope):
            await self._app(scope, receive, send)
            return
        refusal = PlainTextResponse(
            tr("tool.http.unauthorized"), 401, {"WWW-Authenticate": "Bearer"}
        )
        await refusal(scope, receive, send)

    def _admits(self, scope: Scope) -> bool:
        given = Headers(scope=scope).get("authorization", "").encode("latin-1")
        # In constant time: an early exit would tell how much of a guess was right.
        return hmac.compare_digest(given, self._expected)


def http_app(
    server: FastMCP[Any], host: str, token: str, allowed_hosts: Sequence[str] = ()
) -> ASGIApp:
    """The ASGI application: `/mcp` and `/health`, foreign Host (421) and Origin (403) refused."""

    async def health(_request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    server.custom_route(HEALTH, methods=["GET"])(health)
    return server.http_app(
        path=PATH,
        middleware=[Middleware(TokenGuard, token=token)] if token else [],
        stateless_http=True,
        host_origin_protection=True,
        allowed_hosts=[host, *allowed_hosts],
    )


def serve_http(
    server: FastMCP[Any], host: str, port: int, token: str, allowed_hosts: Sequence[str] = ()
) -> int:
    """Serve until a signal ends the process. Returns an exit code when it cannot start.

    1: the address cannot be bound. A `token` is a must where others can reach `host`:
    see `options.needs_token`.
    """
    try:
        listening = _listen(host, port)
    except (OSError, OverflowError) as error:
        _say(tr("tool.http.cannot_bind", host=host, port=port, error=error))
        return 1
    shown = f"[{host}]" if ":" in host else host
    port = listening.getsockname()[1]
    _say(tr("tool.http.listening", url=f"http://{shown}:{port}{PATH}"))
    app = http_app(server, host, token, allowed_hosts)
    # `log_config` None: uvicorn's own would write its access log to stdout.
    config = uvicorn.Config(app, lifespan="on", ws="none", log_config=None, access_log=False)
    _Server(config).run(sockets=[listening])
    return 0


class _Server(uvicorn.Server):
    """Uvicorn that leaves signals alone: ours end the process at once, its own wait for calls."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture nothing."""
        yield


def _listen(host: str, port: int) -> socket.socket:
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family)


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
