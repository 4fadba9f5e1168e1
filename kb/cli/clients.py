"""`python -m kb.clients`: configuration blocks for MCP clients, ready to paste.

`blocks` is pure. Every block carries absolute paths and is escaped the way its format asks, so
that a Windows path, a space or a Chinese folder name arrives as it is.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path, PurePath, PureWindowsPath
from typing import Final

from pydantic import SecretStr

from kb.config import ROOT, Settings, variable
from kb.messages import set_language, tr

CLIENTS: Final = ("dsh", "claude-desktop", "claude-code", "cursor", "vscode", "codex")
NAME: Final = "chroma"
TIMEOUT_MS: Final = 120_000
"""How long a client should wait for one call: ingest_file answers within 45 s."""

_UNSAFE: Final = re.compile("[\\x7f-\\x9f\\u2028\\u2029\\ufeff]")


def blocks(python: PurePath, server: PurePath, env: Mapping[str, str]) -> dict[str, str]:
    """Stdio configuration by client: `python server` started by the client with `env`."""
    entry = {"command": str(python), "args": [str(server)], "env": dict(env)}
    return {
        "dsh": _dsh({"transport": "stdio", **entry, "cwd": str(server.parent)}),
        "claude-desktop": _json({"mcpServers": {NAME: entry}}),
        "claude-code": _json({"mcpServers": {NAME: {"type": "stdio", **entry}}}),
        "cursor": _json({"mcpServers": {NAME: entry}}),
        "vscode": _json({"servers": {NAME: {"type": "stdio", **entry}}}),
        "codex": _codex({"command": entry["command"], "args": entry["args"]}, env),
    }


def http_blocks(url: str) -> dict[str, str]:
    """Streamable HTTP configuration by client, for a server that runs with `--http`."""
    return {
        "dsh": _dsh({"transport": "streamable-http", "url": url}),
        "claude-desktop": _json(
            {"mcpServers": {NAME: {"command": "npx", "args": ["-y", "mcp-remote", url]}}}
        ),
        "claude-code": _json({"mcpServers": {NAME: {"type": "http", "url": url}}}),
        "cursor": _json({"mcpServers": {NAME: {"url": url}}}),
        "vscode": _json({"servers": {NAME: {"type": "http", "url": url}}}),
        "codex": _codex({"url": url}, {}),
    }


def claude_command(python: PurePath, server: PurePath, env: Mapping[str, str]) -> str:
    """The `claude mcp add` command line, quoted for a shell of the platform of `server`."""
    settings = [part for key, value in env.items() for part in ("--env", f"{key}={value}")]
    words = ["claude", "mcp", "add", NAME, *settings, "--", str(python), str(server)]
    windows = isinstance(server, PureWindowsPath)
    return subprocess.list2cmdline(words) if windows else shlex.join(words)


def claude_http_command(url: str) -> str:
    """The `claude mcp add` command line for a server that runs with `--http`."""
    return shlex.join(["claude", "mcp", "add", "--transport", "http", NAME, url])


def environment(settings: Settings) -> dict[str, str]:
    """What the server needs: UTF-8, and every setting that was given.

    Of a secret only that it must be filled in, and only if no `.env` has it: a client may start the
    server without the variables of this shell (DSH strips what looks like a secret).
    """
    given = {"PYTHONUTF8": "1"}
    exported = Settings(_env_file=None).model_fields_set
    for name in Settings.model_fields:
        value = getattr(settings, name)
        if name in settings.model_fields_set:
            if not isinstance(value, SecretStr):
                given[variable(name)] = str(value)
            elif name in exported:
                given[variable(name)] = tr("cli.clients.secret", name=variable(name))
    return given


def where(client: str) -> str:
    """Where the block of `client` goes, in the language of the messages."""
    return {
        "dsh": tr("cli.clients.dsh"),
        "claude-desktop": tr("cli.clients.claude_desktop"),
        "claude-code": tr("cli.clients.claude_code"),
        "cursor": tr("cli.clients.cursor"),
        "vscode": tr("cli.clients.vscode"),
        "codex": tr("cli.clients.codex"),
    }[client]


def render(settings: Settings, *, url: str = "", client: str = "") -> str:
    """All blocks, or the one of `client`, each under a line that says where it goes."""
    # The interpreter as it is called, not what it links to: a venv's python is a link.
    python, server = Path(sys.executable).absolute(), ROOT / "server.py"
    env = environment(settings)
    chosen = http_blocks(url) if url else blocks(python, server, env)
    command = claude_http_command(url) if url else claude_command(python, server, env)
    chosen["claude-code"] = "\n".join(
        (command, "", tr("cli.clients.claude_code_file"), chosen["claude-code"])
    )
    names = (client,) if client else CLIENTS
    return "\n\n".join(f"## {where(name)}\n{chosen[name]}" for name in names)


def main(argv: list[str] | None = None) -> int:
    """Print the blocks; 0, or 2 from argparse for a wrong command line."""
    settings = Settings()
    set_language(settings.lang)
    parser = argparse.ArgumentParser(
        prog="python -m kb.clients", description=tr("cli.clients.about"), allow_abbrev=False
    )
    parser.add_argument("--http", metavar="URL", default="", help=tr("cli.clients.http_help"))
    parser.add_argument("--client", choices=CLIENTS, default="", help=tr("cli.clients.client_help"))
    asked = parser.parse_args(argv)
    # A path this console cannot show must not stop the rest.
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.stdout.write(render(settings, url=asked.http, client=asked.client) + "\n")
    return 0


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _dsh(config: Mapping[str, object]) -> str:
    """An entry of `cordis.patch.yml`. Strings are JSON strings, which YAML reads unchanged."""
    whole = {
        "serverName": NAME,
        **config,
        "toolCallTimeoutMs": TIMEOUT_MS,
        "failOnStartupError": True,
    }
    lines = ["- insert:", "    - id: mcp-chroma", '      name: "@deepseek-ai/dsh-mcp-client"']
    lines.append("      config:")
    for key, value in whole.items():
        if isinstance(value, dict):
            lines.append(f"        {key}:")
            lines += [f"          {k}: {_quoted(v)}" for k, v in value.items()]
        else:
            lines.append(f"        {key}: {_quoted(value)}")
    return "\n".join(lines)


def _codex(server: Mapping[str, object], env: Mapping[str, str]) -> str:
    """A table of Codex's `config.toml`. TOML's basic strings take JSON's escapes."""
    lines = [f"[mcp_servers.{NAME}]"]
    lines += [f"{key} = {_quoted(value)}" for key, value in server.items()]
    lines.append(f"tool_timeout_sec = {TIMEOUT_MS // 1000}")
    if env:
        lines += ["", f"[mcp_servers.{NAME}.env]"]
        lines += [f"{key} = {_quoted(value)}" for key, value in env.items()]
    return "\n".join(lines)


def _quoted(value: object) -> str:
    """`value` as JSON that YAML and TOML read alike: they refuse or fold some raw characters."""
    text = json.dumps(value, ensure_ascii=False)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


if __name__ == "__main__":
    sys.exit(main())
