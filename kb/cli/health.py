"""Whether a server answers as an MCP server does: an open port is not a healthy server."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit, urlunsplit

from kb import __version__
from kb.errors import InvalidInput, KbError
from kb.messages import tr

if TYPE_CHECKING:
    import httpx

PROTOCOL: Final = "2025-06-18"
TOOLS: Final = ("search", "read_range", "ingest_file", "list_sources")
_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Health:
    """What a healthy server says of itself. `seconds`: both questions together."""

    url: str
    name: str
    version: str
    tools: tuple[str, ...]
    seconds: float


class Unhealthy(KbError):
    """Raised when a server cannot be reached, or does not answer as ours does."""


def ask_server(url: str, token: str = "") -> Health:
    """Initialize a session with the server at `url` and list its tools.

    `url` may leave out the path (`/mcp`). Raises InvalidInput for what is no http address,
    Unhealthy with the reason for anything that is not our server in good health.
    """
    import httpx

    address = endpoint(url)
    headers = {"Accept": "application/json, text/event-stream"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    started = time.perf_counter()
    try:
        # A proxy of the environment has no business between two programs of one machine.
        with httpx.Client(
            headers=headers, timeout=_SECONDS, trust_env=not _is_here(address)
        ) as client:
            server, tools = _converse(client, address)
    except httpx.HTTPError as error:
        reason = str(error) or type(error).__name__
        raise Unhealthy(tr("health.no_answer", url=address, reason=reason)) from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Unhealthy(tr("health.no_mcp", url=address)) from error
    missing = [name for name in TOOLS if name not in tools]
    if missing:
        raise Unhealthy(tr("health.other", url=address, names=", ".join(missing)))
    seconds = time.perf_counter() - started
    return Health(address, str(server["name"]), str(server["version"]), tools, seconds)


def endpoint(url: str) -> str:
    """The address of the protocol for what a person typed. Raises InvalidInput."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidInput(tr("health.bad_url", url=url[:200]), tr("health.bad_url.hint"))
    path = parts.path if parts.path.strip("/") else "/mcp"
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def _is_here(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _converse(client: httpx.Client, address: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What the server calls itself, and the names of its tools."""
    said = _call(
        client,
        address,
        "initialize",
        {
            "protocolVersion": PROTOCOL,
            "capabilities": {},
            "clientInfo": {"name": "kb.doctor", "version": __version__},
        },
    )
    client.headers["MCP-Protocol-Version"] = said["protocolVersion"]
    _post(client, address, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    listed = _call(client, address, "tools/list", {})
    return said["serverInfo"], tuple(tool["name"] for tool in listed["tools"])


def _call(
    client: httpx.Client, address: str, method: str, params: dict[str, Any]
) -> dict[str, Any]:
    """The result of one request. Raises ValueError or KeyError for what is no answer to it."""
    request = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
    answer = _post(client, address, request)
    text = answer.text
    if answer.headers.get("content-type", "").startswith("text/event-stream"):
        data = (line for line in text.split("\n") if line.startswith("data:"))
        text = next(data, "").removeprefix("data:")
    message = json.loads(text)
    result: dict[str, Any] = message["result"]
    return result


def _post(client: httpx.Client, address: str, message: dict[str, Any]) -> httpx.Response:
    answer = client.post(address, json=message)
    if answer.status_code == 401:  # noqa: PLR2004 - unauthorized
        raise Unhealthy(tr("health.token", url=address))
    answer.raise_for_status()
    session = answer.headers.get("mcp-session-id")
    if session:
        client.headers["Mcp-Session-Id"] = session
    return answer
