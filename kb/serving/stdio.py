"""Protocol on fd 0 and 1, and nothing else, from the first import to the last breath."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from types import FrameType
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Final, NoReturn, cast

from kb.messages import tr

if TYPE_CHECKING:
    from fastmcp import FastMCP

_GRACE: Final = 0.5
"""Seconds that calls still running have to answer after the client closed its side."""
_LONGEST: Final = 8 << 20
"""Bytes of one message: no call needs a thousandth of it, and one of 200 MB took 649 MB."""
_HEAD: Final = 1_000
_ID: Final = re.compile(rb'"id"\s*:\s*(\d{1,18}|"[\w.:-]{1,100}")')


class Wire:
    """The client's pipes, moved away from fd 0 and 1 so that nobody else can reach them.

    Made before anything heavy is imported. From then on fd 1 is stderr and fd 0 is empty, for
    Python, C and child processes alike, until the process ends: there is no way back.
    """

    def __init__(self) -> None:
        self._fd_in = os.dup(0)
        self.fd_out = os.dup(1)
        _point(0, os.open(os.devnull, os.O_RDONLY))
        _point(1, _stderr())
        for stream in (sys.stdout, sys.stderr):
            # A console in GBK cannot show every character: print an escape, do not fail the call.
            # By lines: what a library prints is told when it is printed, not when we end.
            if stream is not None:
                cast("Any", stream).reconfigure(errors="backslashreplace", line_buffering=True)

    def open(self) -> tuple[BinaryIO, BinaryIO]:
        """The pipes as byte streams: what the client sends, what it reads."""
        return (
            os.fdopen(self._fd_in, "rb", closefd=False),
            os.fdopen(self.fd_out, "wb", closefd=False),
        )

    def text(self) -> IO[str]:
        """The pipe that the client reads, for a person: the help of the command line."""
        encoding = getattr(sys.__stdout__, "encoding", None)
        return os.fdopen(
            self.fd_out, "w", encoding=encoding, errors="backslashreplace", closefd=False
        )


class Lines:
    """The two text streams that mcp's stdio transport drives.

    Counts open requests, so that the answers in the making still go out after end of input.
    """

    def __init__(self, received: BinaryIO, sent: BinaryIO) -> None:
        import anyio

        self._received, self._sent = received, sent
        # Limiters of their own: these threads must never wait for the tools' threads.
        self._reading = anyio.CapacityLimiter(1)
        self._writing = anyio.CapacityLimiter(1)
        self._open = 0
        self._idle = anyio.Event()
        self._ended = False

    async def __aiter__(self) -> AsyncIterator[str]:
        """Lines from the client. Ends when it has closed its side and the answers are out."""
        import anyio
        from anyio.to_thread import run_sync

        while line := await run_sync(self._next, abandon_on_cancel=True, limiter=self._reading):
            text = line.decode("utf-8", "replace")
            refusal = _refusal(line, text)
            if refusal:
                await run_sync(self._write, refusal, limiter=self._writing)
                continue
            self._open += _is_request(line)
            yield text
        self._ended = True
        if self._open > 0:
            with anyio.move_on_after(_GRACE):
                await self._idle.wait()

    def _next(self) -> bytes:
        """The next line; of one that is too long the beginning, the rest being skipped."""
        line = self._received.readline(_LONGEST + 1)
        rest = line
        while len(rest) > _LONGEST and not rest.endswith(b"\n"):
            rest = self._received.readline(_LONGEST + 1)
        return line

    async def write(self, text: str) -> None:
        """Send one line. Ends the process when the client no longer reads."""
        from anyio.to_thread import run_sync

        await run_sync(self._write, text.encode("utf-8", "replace"), limiter=self._writing)
        self._open -= text.startswith('{"jsonrpc":"2.0","id":')
        if self._ended and self._open <= 0:
            self._idle.set()

    async def flush(self) -> None:
        """Nothing: every line is flushed as it is written."""

    def _write(self, data: bytes) -> None:
        try:
            self._sent.write(data)
            self._sent.flush()
        except OSError:
            leave(0)


def _refusal(line: bytes, text: str) -> bytes:
    """The answer to a message that is not taken, empty where there is none to be given.

    mcp drops what it cannot read without a word, and the client would wait for ever.
    """
    import mcp_types

    found = _ID.search(line[:_HEAD])
    id_ = json.loads(found[1]) if found else None
    if len(line) > _LONGEST:
        return _error(id_, tr("server.too_long", mib=_LONGEST >> 20))
    try:
        mcp_types.jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:
        return _error(id_, tr("server.unreadable")) if found else b""
    return b""


def _error(id_: object, message: str) -> bytes:
    error = {"code": -32600, "message": message}
    answer = {"jsonrpc": "2.0", "id": id_, "error": error}
    return json.dumps(answer, ensure_ascii=False).encode("utf-8") + b"\n"


def _is_request(line: bytes) -> bool:
    with contextlib.suppress(ValueError, RecursionError):
        message = json.loads(line)
        return isinstance(message, dict) and "id" in message and "method" in message
    return False


async def serve_stdio(server: FastMCP[Any], wire: Wire) -> NoReturn:
    """Serve one client on `wire`, then end the process, even while a thread is still at work."""
    import mcp.server.stdio
    from fastmcp.server.mixins import transport

    lines = cast("Any", Lines(*wire.open()))

    def on_wire() -> Any:
        return mcp.server.stdio.stdio_server(stdin=lines, stdout=lines)

    # FastMCP has no argument for the streams; the name it calls is the one seam there is.
    vars(transport)["stdio_server"] = on_wire
    await server.run_async(transport="stdio", show_banner=False)
    leave(0)


def end_on_signals() -> None:
    """Make SIGINT, SIGTERM and the like end the process at once, whatever its threads do.

    Nothing needs a goodbye: the writer is another process, which ends when our pipe to it does.
    """
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"):
        number = getattr(signal, name, None)
        if number is None or (name == "SIGHUP" and signal.getsignal(number) == signal.SIG_IGN):
            continue
        signal.signal(number, _leave_for)


def leave(code: int) -> NoReturn:
    """End now. Not `sys.exit`: that waits for threads, and one may hash or embed for minutes."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(code)


def _leave_for(number: int, _frame: FrameType | None) -> None:
    leave(128 + number)


def _point(fd: int, target: int) -> None:
    """Make `fd` another name of `target` and close the original name."""
    os.dup2(target, fd)
    os.close(target)
    if sys.platform == "win32":
        # The C runtime knows; Win32, which children inherit from, must be told.
        import ctypes
        import msvcrt

        handle = ctypes.c_void_p(msvcrt.get_osfhandle(fd))
        ctypes.windll.kernel32.SetStdHandle(ctypes.c_ulong(-10 - fd), handle)


def _stderr() -> int:
    try:
        return os.dup(2)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)
