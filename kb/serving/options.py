"""The command line of the server."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from ipaddress import ip_address
from typing import IO, Any

from kb.messages import tr


def parse(argv: Sequence[str] | None, help_to: IO[str]) -> Namespace:
    """`http`, `host`, `port`, `allow_host`. Exits 2 with a text when they make no sense."""
    parser = _Parser("server.py", description=tr("tool.server.about"))
    parser.help_to = help_to
    parser.add_argument("--http", action="store_true", help=tr("tool.server.http"))
    parser.add_argument("--host", default="127.0.0.1", help=tr("tool.server.host"))
    parser.add_argument("--port", type=int, default=8000, help=tr("tool.server.port"))
    parser.add_argument(
        "--allow-host", action="append", default=[], help=tr("tool.server.allow_host")
    )
    return parser.parse_args(argv)


def needs_token(options: Namespace) -> bool:
    """Whether others than this machine could reach what is served."""
    return bool(options.http) and not is_loopback(options.host)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


class _Parser(ArgumentParser):
    """Help goes where people expect it, though `sys.stdout` leads to stderr by now."""

    help_to: IO[str]

    def print_help(self, file: Any = None) -> None:
        """Print to `help_to` unless told otherwise."""
        super().print_help(file or self.help_to)
        self.help_to.flush()
