"""What the tests of syncs share: a knowledge base over a folder, and a store that counts."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO

from library_support import PlainParser, settings_for

from kb.app import KnowledgeBase
from kb.errors import KbError
from kb.ingest.report import SyncReport
from kb.ingest.sync import SyncOptions
from kb.model import ObjectRef
from kb.ports import ObjectStore, Readable


class Folder:
    """The files of a folder store, all old enough to have an etag."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.root.mkdir()

    def write(self, key: str, text: str) -> Path:
        path = self.root / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
        return path


class Watched:
    """A store that counts what it is asked, and does something first when told to."""

    def __init__(self, store: ObjectStore) -> None:
        self.store = store
        self.name = store.name
        self.asked: dict[str, int] = {"stat": 0, "open": 0, "list": 0}
        self.before: dict[str, Callable[[str], None]] = {}

    def _note(self, what: str, key: str) -> None:
        self.asked[what] += 1
        act = self.before.get(what)
        if act:
            act(key)

    def place(self, key: str) -> str:
        return self.store.place(key)

    def check(self) -> None:
        self.store.check()

    def stat(self, key: str) -> ObjectRef:
        self._note("stat", key)
        return self.store.stat(key)

    def open(self, ref: ObjectRef) -> AbstractContextManager[Readable]:
        self._note("open", ref.key)
        return self.store.open(ref)

    def list(self, prefix: str = "") -> Iterator[ObjectRef]:
        self._note("list", prefix)
        return self.store.list(prefix)

    def put(self, key: str, data: BinaryIO, size: int) -> ObjectRef:
        return self.store.put(key, data, size)

    def versions(self, key: str) -> Any:
        return self.store.versions(key)


class Following:
    """A knowledge base that follows a store, parsing in this process."""

    def __init__(self, folder: Path, store: ObjectStore, **changes: Any) -> None:
        self.kb = KnowledgeBase(settings_for(folder, **changes))
        self.parser = PlainParser()
        self.kb.__dict__["_new_parser"] = lambda: self.parser
        self.kb.__dict__["parser"] = self.parser
        self.store = Watched(store)
        self.kb.places.store = lambda _bucket="": self.store  # type: ignore[method-assign]

    def sync(self, *, stop: threading.Event | None = None, **options: Any) -> SyncReport:
        self.parser.parsed.clear()
        self.store.asked = dict.fromkeys(self.store.asked, 0)
        report = self.kb.sync(SyncOptions(**options), stop=stop)
        if not report.dry_run:
            self.kb.update()
        return report

    def put(self, key: str, text: str) -> None:
        data = text.encode("utf-8")
        self.store.store.put(key, io.BytesIO(data), len(data))

    def texts(self) -> dict[str, str]:
        """The text of every document, as `read_range` gives it."""
        sources = [info.source for info in self.kb.list_sources().sources]
        return {s: "\n".join(x.text for x in self.kb.read_range(s, 1).lines) for s in sources}

    def found(self, query: str) -> set[str]:
        """The documents that hold words of `query`."""
        hits = self.kb.search(query, 50).hits
        return {hit.citation.source for hit in hits if hit.sparse_rank}


def done(report: SyncReport) -> dict[str, int]:
    """The counts that are not zero."""
    return {name: count for name, count in report.counts().items() if count}


def raising(error: KbError) -> Callable[[str], None]:
    def fail(_key: str) -> None:
        raise error

    return fail


def raising_parse(error: Exception) -> Any:
    def fail(*_arguments: object) -> Any:
        raise error

    return fail
