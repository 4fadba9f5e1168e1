"""Readers and writers at work together: nothing stale, nothing mixed, no error."""

from __future__ import annotations

import mmap
import os
import random
import signal
import struct
import sys
import time
import traceback

import model
import world as worlds

READERS, WRITERS, EACH = 4, 2, 3
_FIELDS = ("searches", "reads", "stale", "errors", "changes")


class Board:
    """Numbers that processes share: what is surely there, what may be, and the counts."""

    def __init__(self):
        self._memory = mmap.mmap(-1, 4096)

    def __getitem__(self, place):
        return struct.unpack_from("<q", self._memory, place * 8)[0]

    def __setitem__(self, place, value):
        struct.pack_into("<q", self._memory, place * 8, value)


def soak(folder, seconds):
    """Four readers and two writers for so long; returns the figures."""
    world = worlds.World(folder, exact_limit=10)
    world.data.mkdir(parents=True)
    world.documents.mkdir()
    board, stop = Board(), time.monotonic() + seconds
    pids = [_start(_write, world, board, n, stop) for n in range(WRITERS)]
    pids += [_start(_read, world, board, WRITERS + n, stop) for n in range(READERS)]
    broken = 0
    for pid in pids:
        _pid, status = _wait(pid, stop + 120)
        broken += status != 0
    rows = [_counts(board, n) for n in range(READERS + WRITERS)]
    total = {name: sum(row[i] for row in rows) for i, name in enumerate(_FIELDS)}
    total["errors"] += broken
    world.allowed = {_source(n): {_version(board[_sure(n)])} for n in range(WRITERS * EACH)}
    ended = world.fork(lambda: world.open().update() and 0)
    model.require(ended.code == 0, ended)
    world.check(converged=True)
    return {"seconds": round(seconds), **total}


def _wait(pid, deadline):
    while time.monotonic() < deadline:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return found, status
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)


def _source(number):
    return f"源{number}.txt"


def _sure(number):
    return number * 2


def _maybe(number):
    return number * 2 + 1


def _count_place(process, name):
    return 100 + process * len(_FIELDS) + _FIELDS.index(name)


def _counts(board, process):
    return [board[_count_place(process, name)] for name in _FIELDS]


def _version(step):
    """Every fifth step of a document is its removal."""
    return model.ABSENT if step % 5 == 0 else step


def _start(work, world, board, process, stop):
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        pick = random.Random(process)

        def count(name, more=1):
            board[_count_place(process, name)] += more

        work(world, board, process, stop, pick, count)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _write(world, board, process, stop, pick, count):
    kb = world.open()
    path = world.documents / f"writer{process}.txt"
    while time.monotonic() < stop:
        number = process * EACH + pick.randrange(EACH)
        step = board[_sure(number)] + 1
        board[_maybe(number)] = step
        try:
            if _version(step):
                path.write_bytes(model.text(_source(number), step).encode())
                kb.ingest(path, _source(number))
            else:
                kb.remove(_source(number))
            board[_sure(number)] = step
            # Each sync is to be another process's, as it is for a server.
            if pick.random() < 0.5:
                ended = world.fork_quietly(lambda: kb.update() and 0)
                model.require(ended == 0, ended)
            count("changes")
        except Exception:
            traceback.print_exc()
            count("errors")
            board[_sure(number)] = step
        time.sleep(pick.uniform(0, 0.3))


def _read(world, board, process, stop, pick, count):
    kb = world.open()
    while time.monotonic() < stop:
        number = pick.randrange(WRITERS * EACH)
        try:
            _search(kb, board, number, count)
            _passage(kb, board, number, count)
        except Exception:
            traceback.print_exc()
            count("errors")
        time.sleep(pick.uniform(0, 0.05))


def _search(kb, board, number, count):
    low = board[_sure(number)]
    found = kb.search(f"{_source(number)[:-4]}v{_version(low)}p1n1 资金 行", 20)
    high = board[_maybe(number)]
    count("searches")
    shown = {}
    for hit in found.hits:
        versions = {line.split(" ")[2].split("v")[1].split("p")[0] for line in hit.text.split("\n")}
        sources = {line.split(" ")[2].split("v")[0] + ".txt" for line in hit.text.split("\n")}
        if len(versions) != 1 or sources != {hit.citation.source}:
            count("stale")
        shown.setdefault(hit.citation.source, set()).update(map(int, versions))
    mine = shown.get(_source(number), {model.ABSENT})
    allowed = {_version(step) for step in range(low, high + 1)}
    if len(mine) != 1 or not mine <= allowed:
        sys.stderr.write(f"stale search: {mine} of {allowed} {found.notice}\n")
        count("stale")


def _passage(kb, board, number, count):
    from kb.errors import NotFound

    low = board[_sure(number)]
    try:
        passage = kb.read_range(_source(number), 1)
        seen = [line.text for line in passage.lines]
    except NotFound:
        seen = None
    high = board[_maybe(number)]
    count("reads")
    allowed = {_version(step) for step in range(low, high + 1)}
    texts = [model.pages(_source(number), v)[0] if v else None for v in allowed]
    if seen not in texts:
        sys.stderr.write(f"stale read: {seen} of {allowed}\n")
        count("stale")
