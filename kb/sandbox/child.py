"""What runs beside one hostile document: limits first, then the parser, then one answer."""

from __future__ import annotations

import logging
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

from kb.errors import KbError
from kb.messages import set_language
from kb.model import Drawing, Parsed, Progress
from kb.parsers import session
from kb.parsers.refusals import is_out_of_memory
from kb.parsers.registry import ParserSpec, Registry
from kb.parsers.session import Session
from kb.ports import ParseLimits
from kb.sandbox.limits import MIB, Limits
from kb.sandbox.wire import (
    EXIT_MEMORY,
    EXIT_OUTPUT,
    Request,
    encode_drawing,
    encode_error,
    encode_parsed,
    encode_progress,
)

_DEPTH: Final = 4000
"""Python frames: lxml stops at 256 nested elements, a walk may take several frames for each."""


def run(request: Request, registry: Registry, answer_fd: int) -> None:
    """Parse `request` under its limits and write the answer to `answer_fd`.

    Exits the process with EXIT_MEMORY or EXIT_OUTPUT when that limit is met: with no memory left
    there is none for an answer either.
    """
    set_language(request.language)
    sys.setrecursionlimit(_DEPTH)
    limits = Limits(request.limits, request.ocr)

    def tell(step: Progress) -> None:
        if step.stage == "ocr":
            limits.allow_page()
        _write_all(answer_fd, encode_progress(step))

    session.begin(Session(request.ocr, tell, only=request.page))
    try:
        payload = _answer(request, registry)
        _write_all(answer_fd, payload)
    except MemoryError:
        os._exit(EXIT_MEMORY)


def _answer(request: Request, registry: Registry) -> bytes:
    try:
        spec = _spec(request, registry)
        if request.draw:
            return encode_drawing(_drawn(spec, request))
        parsed = spec.parse(Path(request.path), request.name)
        _check_output(parsed, request.limits)
        mark = session.current().mark(can_ocr=spec.can_ocr)
        return encode_parsed(replace(parsed, parser=spec.id + mark))
    except MemoryError:
        raise
    except Exception as error:
        if not isinstance(error, KbError):
            logging.getLogger(__name__).debug("parser failed", exc_info=True)
            if is_out_of_memory(error):
                raise MemoryError from None
        return encode_error(error)


def _drawn(spec: ParserSpec, request: Request) -> Drawing | None:
    return spec.draw and spec.draw(Path(request.path), request.name, request.page)


def _spec(request: Request, registry: Registry) -> ParserSpec:
    """The parser that the caller chose by name, whatever the suffix says here."""
    return next(spec for spec in registry.specs if spec.id == request.parser)


def _check_output(parsed: Parsed, limits: ParseLimits) -> None:
    size = sum(len(page.text.encode("utf-8", "surrogatepass")) for page in parsed.pages)
    if size > limits.output_mb * MIB:
        os._exit(EXIT_OUTPUT)


def _write_all(fd: int, payload: bytes) -> None:
    view = memoryview(payload)
    while view:
        view = view[os.write(fd, view[:MIB]) :]
