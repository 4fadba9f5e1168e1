"""What runs beside one hostile document: limits first, then the parser, then one answer."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from kb.errors import KbError
from kb.messages import set_language
from kb.parsers.registry import Registry
from kb.parsers.winjob import confine_self
from kb.parsers.wire import EXIT_MEMORY, EXIT_OUTPUT, Request, encode_error, encode_parsed
from kb.ports import ParseLimits
from kb.types import Parsed

MIB: Final = 1 << 20
_GRACE_SECONDS: Final = 10
_DEPTH: Final = 4000
"""Python frames: lxml stops at 256 nested elements, a walk may take several frames for each."""
_OUT_OF_MEMORY: Final = re.compile(r"malloc|calloc|out of memory|cannot allocate", re.IGNORECASE)


def run(request: Request, registry: Registry, answer_fd: int) -> None:
    """Parse `request` under its limits and write the answer to `answer_fd`.

    Exits the process with EXIT_MEMORY or EXIT_OUTPUT when that limit is met: with no memory left
    there is none for an answer either.
    """
    set_language(request.language)
    sys.setrecursionlimit(_DEPTH)
    limit_process(request.limits)
    try:
        payload = _answer(request, registry)
        _write_all(answer_fd, payload)
    except MemoryError:
        os._exit(EXIT_MEMORY)


def limit_process(limits: ParseLimits) -> None:
    """Bound this process by CPU seconds and address space; no core dump.

    macOS takes the call but does not enforce the address space. On POSIX an alarm ends the process
    even when its host is gone.
    """
    if sys.platform == "win32":
        confine_self(limits)
        return
    import resource
    import signal

    cpu = math.ceil(limits.cpu_seconds)
    space = limits.memory_mb * MIB
    wanted = {
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_CPU: (cpu, cpu + _GRACE_SECONDS),
        resource.RLIMIT_AS: (space, space),
    }
    for which, value in wanted.items():
        with contextlib.suppress(ValueError, OSError):  # a lower limit of the user's own stands
            resource.setrlimit(which, value)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, limits.wall_seconds + _GRACE_SECONDS)


def _answer(request: Request, registry: Registry) -> bytes:
    try:
        parsed = _parser(request, registry)(Path(request.path), request.name)
        _check_output(parsed, request.limits)
        return encode_parsed(parsed)
    except MemoryError:
        raise
    except Exception as error:
        if not isinstance(error, KbError):
            logging.getLogger(__name__).debug("parser failed", exc_info=True)
            if _OUT_OF_MEMORY.search(str(error)):
                raise MemoryError from None
        return encode_error(error)


def _parser(request: Request, registry: Registry) -> Callable[[Path, str], Parsed]:
    """The parser that the caller chose by name, whatever the suffix says here."""
    return next(spec.parse for spec in registry.specs if spec.id == request.parser)


def _check_output(parsed: Parsed, limits: ParseLimits) -> None:
    size = sum(len(page.text.encode("utf-8", "surrogatepass")) for page in parsed.pages)
    if size > limits.output_mb * MIB:
        os._exit(EXIT_OUTPUT)


def _write_all(fd: int, payload: bytes) -> None:
    view = memoryview(payload)
    while view:
        view = view[os.write(fd, view[:MIB]) :]
