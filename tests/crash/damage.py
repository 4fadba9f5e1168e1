"""Damage Chroma's files in every way, at rest and under an open reader."""

from __future__ import annotations

import os
import random
import shutil
import sys
import time
from collections import Counter

import model
import numpy as np
import world as worlds

from kb.vectors.chroma import open_index
from kb.vectors.exact import decode

DOCUMENTS = 60
QUERIES = ["资金 文件7v1p1n3", "财政预算执行", "文件33v1p1n1", "城市更新与住房保障", "不存在 行"]
WORDS = "财政 预算 执行 城市 更新 住房 保障 水利 工程 档案 移交 安全 检查 教育 医疗 乡村 道路 气象 环境 监测"
WAYS = ("cut", "zeroed", "deleted", "flipped", "noise", "ones", "zeroed in part", "grown")


def damages(folder, count, seed):
    """`count` damages; returns the figures."""
    whole = _build(folder / "whole")
    pick, figures, slowest = random.Random(seed), Counter(), 0.0
    for number in range(count):
        world = worlds.World(folder / "now", exact_limit=0)
        shutil.rmtree(world.folder, ignore_errors=True)
        shutil.copytree(whole.folder, world.folder)
        chroma = world.project / "chroma_data"
        files = sorted(path for path in chroma.rglob("*") if path.is_file())
        what = (*_any(files, pick), pick.randrange(1 << 30))
        try:
            under = number % 2 == 1
            seconds = _round(world, what, under=under)
            slowest = max(slowest, seconds)
        except (model.Violation, AssertionError) as error:
            figures["violations"] += 1
            sys.stderr.write(f"damage {what}: {error!r}"[-1500:] + "\n")
        figures["damages"] += 1
        figures["under an open reader"] += number % 2
    told = {"violations": 0, **figures, "slowest answer, s": round(slowest, 2)}
    return {**told, "vectors": whole.vectors}


def _any(files, pick):
    if pick.random() < 0.1:
        return files[0].parents[0 if files[0].name == "chroma.sqlite3" else 1], "folder gone"
    # The graph's own files, of which some bytes matter more than the rest, as often as the database.
    return pick.choice(files), pick.choice(WAYS)


def _build(folder):
    world = worlds.World(folder, exact_limit=0)
    world.data.mkdir(parents=True)

    def fill():
        kb = world.open()
        world.documents.mkdir()
        for n in range(DOCUMENTS):
            path = world.documents / f"文件{n}.txt"
            # Blocks that differ as real ones do: between equidistant vectors a graph finds no way.
            pick, words = random.Random(n), WORDS.split()
            lines = [
                " ".join((model.token(path.name, 1, 1, i), *pick.sample(words, 6)))
                for i in range(1, 106)
            ]
            path.write_bytes("\n".join(lines).encode())
            kb.ingest(path, path.name)
        kb.update()
        scanned = _answers(world.open(exact_limit=50_000))
        answers = _answers(kb)
        model.require(answers == scanned, "the graph is no exact scan here", answers, scanned)
        return {"answers": answers, "vectors": kb.update().chroma}

    ended = world.fork(fill)
    model.require(ended.code == 0, ended)
    world.answers, world.vectors = ended.value["answers"], ended.value["vectors"]
    # Chroma writes its graph out only once it holds 1,000.
    model.require(world.vectors > 1_000, world.vectors)
    _EXPECTED["answers"] = world.answers
    return world


_EXPECTED: dict = {}


def _answers(kb):
    """The ten best of each query, as what they cite."""
    return [[(h.citation.label, h.text) for h in kb.search(q, 10).hits] for q in QUERIES]


def _round(world, what, *, under):
    def read():
        kb = world.open()
        if under:
            kb.search(QUERIES[0], 10)
        spoil(*what)
        started = time.monotonic()
        answers = _answers(kb)
        seconds = (time.monotonic() - started) / len(QUERIES)
        return {"answers": answers, "seconds": seconds, "problem": kb.project().dense.problem}

    def mend():
        kb = world.open()
        engine = type(kb.embedder())
        embed, engine.embed_passages = engine.embed_passages, None
        state = kb.update(check_chroma=True)
        engine.embed_passages = embed
        model.require((state.pending, state.notice) == (0, ""), state)
        _require_same_vectors(kb.project())
        return {"answers": _answers(kb), "held": state.chroma, "after": kb.project().dense.problem}

    ended = world.fork(read)
    model.require(ended.code == 0, "a reader ended with", ended.code, ended.said)
    model.require(ended.value["answers"] == _EXPECTED["answers"], "other answers", ended.value)
    if under or _is_unheeded(what):
        pass  # its graph was in memory
    else:
        model.require(ended.value["problem"], "nothing was said")
    seconds = ended.value["seconds"]
    ended = world.fork(mend)
    model.require(ended.code == 0, "a rebuild ended with", ended.code, ended.said)
    model.require(ended.value["answers"] == _EXPECTED["answers"], "others after", ended.value)
    model.require(not ended.value["after"], ended.value["after"])
    model.require(seconds < 10, "slow", seconds)
    return seconds


def _require_same_vectors(project):
    """Chroma holds SQLite's vectors: each block's own, and no other."""
    with project.catalog.reading() as reader:
        rows, model_used = list(reader.vectors()), reader.model
    index = open_index(project.place)
    try:
        held = index._collection.get(include=["embeddings"])
    finally:
        index.close()
    order = np.argsort(np.array(held["ids"], int))
    ids = [int(held["ids"][i]) for i in order]
    model.require(ids == sorted(row[0] for row in rows), "other blocks", len(ids), len(rows))
    wanted = decode([row[2] for row in sorted(rows)], model_used.dimension)
    model.require(np.allclose(np.array(held["embeddings"])[order], wanted, atol=1e-3), "others")


def _is_unheeded(what):
    """A change that made no difference: cut at its end, a bit of a page that nobody uses."""
    path, way, _seed = what
    return path.name == "chroma.sqlite3" and way in {"grown", "flipped", "cut", "zeroed in part"}


def spoil(path, way, seed):
    """Damage one file, the way a disk, a virus scanner or a person does."""
    if way == "folder gone":
        shutil.rmtree(path)
        return
    if way == "deleted":
        path.unlink()
        return
    pick = random.Random(seed)
    data = bytearray(path.read_bytes())
    size = len(data)
    if way == "cut":
        del data[pick.randrange(size + 1) :]
    elif way == "zeroed":
        data = bytearray(size)
    elif way == "ones":
        data = bytearray(b"\xff" * size)
    elif way == "noise":
        data = bytearray(pick.randbytes(size))
    elif way == "grown":
        data += pick.randbytes(999)
    elif way == "flipped":
        for _ in range(20 if size else 0):
            data[pick.randrange(min(size, 4096))] ^= 1 << pick.randrange(8)
    elif size:
        start = pick.randrange(size)
        data[start : start + 4096] = bytes(len(data[start : start + 4096]))
    # In place, as damage is: whoever has the file open sees it.
    with path.open("r+b") as file:
        file.write(data)
        file.truncate(len(data))
        os.fsync(file.fileno())
