"""One ingest in a process of its own.

`python -m kb.serving.worker ingest NAME --source S --project P`.

Answers in JSON lines on stdout: `progress`, then `report` (keywords ready) or `error`, then
`vectors` when those are ready too. It ends at once when its stdin is closed, so that it never
outlives whoever started it, however that one died. The line `stop` on stdin asks it to leave the
rest of the vectors to the next run, after the batch it is at. What was committed stays.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from kb.app import open_kb
from kb.errors import KbError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kb.model import Progress


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Do one ingest, or only bring the vectors up to date, and end the process."""
    options = _options(arguments)
    channel = _take_stdout()
    code = _work(options, channel)
    # At once: the parent takes the end of the channel for the end of the work.
    os._exit(code)


def _work(options: argparse.Namespace, channel: TextIO) -> int:
    stop = threading.Event()
    threading.Thread(target=_obey_parent, args=(stop,), daemon=True).start()

    def tell(progress: Progress) -> None:
        _send(channel, "progress", asdict(progress))

    def tell_or_stop(progress: Progress) -> None:
        tell(progress)
        if stop.is_set():
            raise _Stopped  # told of only after a batch was committed

    try:
        kb = open_kb()
        if options.command == "ingest":
            report = kb.ingest(options.path, options.source, options.project, on_progress=tell)
            _send(channel, "report", asdict(report))
        check = options.command == "update"
        state = kb.update(options.project, tell_or_stop, check_chroma=check)
        _send(channel, "vectors", asdict(state))
    except _Stopped:
        return 0
    except KbError as error:
        kind = type(error).__name__
        _send(channel, "error", {"kind": kind, "message": error.message, "hint": error.hint})
        return error.exit_code
    return 0


class _Stopped(Exception):
    """The parent wants the write lock for something more urgent than vectors."""


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m kb.serving.worker", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    ingest = commands.add_parser("ingest")
    ingest.add_argument("path")
    ingest.add_argument("--source", required=True)
    ingest.add_argument("--project")
    commands.add_parser("update").add_argument("--project")
    return parser.parse_args(arguments)


def _take_stdout() -> TextIO:
    """Stdout for the events alone: whatever libraries print goes to stderr."""
    sys.stdout.flush()
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return channel


def _send(channel: TextIO, event: str, fields: dict[str, Any]) -> None:
    channel.write(json.dumps({"event": event, **fields}) + "\n")
    channel.flush()


def _obey_parent(stop: threading.Event) -> None:
    # os.read, not sys.stdin: its lock would hold up the interpreter's exit.
    while received := os.read(0, 4096):
        if b"stop" in received:
            stop.set()
    os._exit(1)


if __name__ == "__main__":
    main()
