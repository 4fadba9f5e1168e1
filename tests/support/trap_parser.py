"""A parser that misbehaves on request: `.trap` files name their trap. For tests only."""

import ctypes
import os
import sys
import time
from pathlib import Path

from kb.errors import NotFound, Refused
from kb.model import Page, Parsed
from kb.parsers import session
from kb.parsers.registry import ParserSpec


def parse(path, name):
    trap, _, argument = path.read_text(encoding="utf-8").partition(" ")
    return parsed(TRAPS[trap](argument))


def parsed(text, **more):
    return Parsed((Page(1, text, "virtual", **more),), SPEC.id, SPEC.media_type)


def hang(argument):
    Path(argument).write_text(str(os.getpid()), encoding="utf-8") if argument else None
    time.sleep(600)


def spin(argument):
    while True:
        pass


def hoard(argument):
    return str(len([bytes(1 << 26) for _ in range(10_000)]))


def crash(argument):
    ctypes.string_at(0)


def leave(argument):
    os._exit(7)


def flood(argument):
    return "字" * int(argument)


def chatter(argument):
    print("printed")  # noqa: T201 - the trap
    os.write(1, b'{"ending":"done","size":0}\n')
    os.write(2, b"to stderr\n" * 20_000)
    sys.stdout.flush()
    return "quiet"


def refuse(argument):
    raise Refused("no, " + argument, "try yes")


def miss(argument):
    raise NotFound("nowhere")


def fail(argument):
    raise RuntimeError("secret content of the document")


def dirty(argument):
    return "a\ud800b\x00c"


def wrong(argument):
    return "one\r\ntwo"


def environment(argument):
    return "\n".join(sorted(os.environ))


def language(argument):
    from kb.messages import tr

    return tr("parse.output_hint")


def orphan(argument):
    grandchild = os.fork()
    if grandchild:
        Path(argument).write_text(str(grandchild), encoding="utf-8")
    time.sleep(600)


def pages(argument):
    """Say that so many pages are read by OCR, each in so many seconds."""
    total, seconds = argument.split()
    for done in range(int(total) + 1):
        session.tell("ocr", done, int(total))
        session.current().read += 1
        time.sleep(float(seconds))
    return "read"


def wait(argument):
    """Leave pages unread, as OCR is off."""
    session.current().unread += 1
    return "unread"


def pid(argument):
    return f"{os.getppid()} {os.getpid()}"


TRAPS = {
    function.__name__: function
    for function in (
        hang,
        spin,
        hoard,
        crash,
        leave,
        flood,
        chatter,
        refuse,
        miss,
        fail,
        dirty,
        wrong,
        environment,
        language,
        orphan,
        pid,
        pages,
        wait,
    )
}
SPEC = ParserSpec("trap", 3, (".trap",), "text/x-trap", "text", parse)
