"""Make the index equal to the listing of an object store."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Final

from kb.errors import KbError, NotFound, ObjectChanged, Refused, StoreFailed, StoreRefused
from kb.ingest.document import commit, prepare
from kb.ingest.plan import make_plan, same_object
from kb.ingest.report import SyncReport
from kb.lock import hold
from kb.messages import tr
from kb.model import Failure, Progress
from kb.objects.fetch import fetched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from kb.catalog import Catalog
    from kb.ingest.document import Prepared
    from kb.ingest.plan import Plan, Wanted
    from kb.ingest.report import Action
    from kb.model import Document
    from kb.ports import DocumentParser, ObjectStore, OnProgress

_LOG: Final = logging.getLogger(__name__)

_FIRST_RETRY: Final = timedelta(minutes=1)
_LAST_RETRY: Final = timedelta(hours=24)
_LOST_AFTER: Final = 20
"""So many objects in a row that the store did not give: it is the store, not the objects."""
_ANSWERS: Final = (StoreRefused, ObjectChanged)
"""What a store says of one object."""


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """`delete` None: as listed, but nothing on an empty listing; True: then too; False: never.

    `lock_wait` is how many seconds another sync of the project is waited for.
    """

    prefix: str = ""
    source_prefix: str = ""
    delete: bool | None = None
    dry_run: bool = False
    workers: int = 2
    max_mb: int = 200
    lock_wait: float = 60.0


def sync(
    catalog: Catalog,
    store: ObjectStore,
    open_parser: Callable[[], DocumentParser],
    lock: Path,
    options: SyncOptions,
    *,
    stop: threading.Event,
    on_progress: OnProgress,
) -> SyncReport:
    """Take what is new or changed, take over what only moved, drop what is gone.

    Each object is one transaction, so that a sync that is broken off goes on where it was. An
    object that cannot be taken is noted with the time of its next try and stops no other. `stop`
    ends it after the objects under way. `open_parser` is called once a worker. Raises StoreFailed
    when the store cannot be listed or is lost on the way, Busy while another sync runs.
    """
    run = _Sync(catalog, store, open_parser, options, stop, on_progress)
    if options.dry_run:
        return run.rehearse()
    with hold(lock, tr("lock.sync", store=store.name), options.lock_wait):
        return run.run()


class _Sync:
    """One sync, in the thread that calls; workers only read and parse."""

    def __init__(
        self,
        catalog: Catalog,
        store: ObjectStore,
        open_parser: Callable[[], DocumentParser],
        options: SyncOptions,
        stop: threading.Event,
        on_progress: OnProgress,
    ) -> None:
        self._catalog, self._store, self._options = catalog, store, options
        self._open_parser = open_parser
        self._stop, self._on_progress = stop, on_progress
        self._report = SyncReport(store.name, options.prefix, options.dry_run)
        self._local = threading.local()
        self._failures: dict[str, Failure] = {}
        self._removed: set[str] = set()
        self._lost = 0

    def rehearse(self) -> SyncReport:
        """What would be done, by the listing alone: nothing is read or written."""
        plan = self._plan()
        moves = plan.likely_moves()
        for wanted in plan.wanted:
            old = moves.get(wanted.source)
            if old:
                self._report.add("moved", wanted.source, moved_from=old.source)
            else:
                self._report.add("changed" if wanted.known else "new", wanted.source)
        moved = {document.source for document in moves.values()}
        deletes = self._may_delete(plan)
        for document in plan.gone:
            if document.source not in moved or not deletes:
                self._report.add("deleted" if deletes else "kept", document.source)
        return self._report

    def run(self) -> SyncReport:
        """Do it."""
        started = time.monotonic()
        plan = self._plan()
        with ThreadPoolExecutor(self._options.workers, "sync") as pool:
            gone = [*plan.gone, *self._take(pool, plan)]
            if not self._may_delete(plan):
                for document in gone:
                    self._report.add("kept", document.source)
            elif not self._stop.is_set():
                self._drop(pool, gone)
        self._mark_moves()
        self._forget_failures(plan)
        self._report.stopped = self._stop.is_set()
        self._report.seconds = round(time.monotonic() - started, 3)
        self._note()
        return self._report

    # -- looking ---------------------------------------------------------------------------

    def _plan(self) -> Plan:
        listed = list(self._store.list(self._options.prefix))
        with self._catalog.reading() as reader:
            documents = reader.documents_of(self._store.name)
            self._failures = {f.ref.key: f for f in reader.failures(self._store.name)}
        plan = make_plan(
            listed,
            documents,
            self._failures,
            prefix=self._options.prefix,
            source_prefix=self._options.source_prefix,
            is_current=self._is_current,
            now=_iso(datetime.now(timezone.utc)),
        )
        report = self._report
        report.listed, report.unchanged = plan.listed, plan.unchanged
        report.ignored = plan.ignored
        for failure in plan.waiting:
            report.add_failure("waiting", failure)
        for key in plan.unreadable:
            report.add("unsupported", key)
        return plan

    def _is_current(self, parser: str, name: str) -> bool | None:
        try:
            return self._parser.is_current(parser, name)
        except Refused:
            return None

    @property
    def _parser(self) -> DocumentParser:
        """A parser of this thread's own: one parses a document at a time."""
        if not hasattr(self._local, "parser"):
            self._local.parser = self._open_parser()
        found: DocumentParser = self._local.parser
        return found

    # -- taking ----------------------------------------------------------------------------

    def _take(self, pool: ThreadPoolExecutor, plan: Plan) -> list[Document]:
        """Take every wanted object; returns the documents of those that went meanwhile."""
        gone: list[Document] = []
        total = len(plan.wanted)
        for done, (wanted, future) in enumerate(self._readings(pool, plan.wanted)):
            self._on_progress(Progress("parse", done, total, wanted.source))
            try:
                self._commit(wanted, future.result())
            except NotFound:
                gone += [wanted.known] if wanted.known else []
            except KbError as error:
                self._fail(wanted, error)
            except Exception as error:
                # A fault of ours: told in full, and the next object proceeds.
                _LOG.exception("sync of %s", wanted.source)
                fault = tr("cli.fault", reason=repr(error))
                self._fail(wanted, KbError(fault, tr("cli.fault.hint")))
        self._on_progress(Progress("parse", total, total))
        return gone

    def _readings(
        self, pool: ThreadPoolExecutor, wanted: Iterable[Wanted]
    ) -> Iterator[tuple[Wanted, Future[Prepared]]]:
        """Each object with its reading, in order, the workers a little ahead of the writing."""
        ahead: deque[tuple[Wanted, Future[Prepared]]] = deque()
        for one in wanted:
            if self._stop.is_set():
                break
            ahead.append((one, pool.submit(self._read, one)))
            if len(ahead) > 2 * self._options.workers:
                yield ahead.popleft()
        while ahead:
            one, future = ahead.popleft()
            if not (self._stop.is_set() and future.cancel()):
                yield one, future

    def _read(self, wanted: Wanted) -> Prepared:
        copying = fetched(self._store, wanted.ref.key, self._options.max_mb, wanted.ref)
        return prepare(self._catalog, self._parser, copying, wanted.source)

    def _commit(self, wanted: Wanted, prepared: Prepared) -> None:
        with self._catalog.writing(tr("lock.ingest", source=wanted.source)) as writer:
            done = commit(writer, prepared, time.monotonic())
            if wanted.ref.key in self._failures:
                writer.forget_failures(self._store.name, [wanted.ref.key])
        self._lost = 0
        if done.state == "unchanged":
            self._report.unchanged += 1
            return
        details = {"taken_from": prepared.taken_from} if prepared.taken_from else {}
        action: Action = "changed" if wanted.known else "new"
        self._report.add(action, wanted.source, version=done.version, blocks=done.blocks, **details)
        if done.warnings:
            self._report.objects[-1]["warnings"] = list(done.warnings)

    def _fail(self, wanted: Wanted, error: KbError) -> None:
        """Note the failure; a store that answers nothing any more ends the sync."""
        failure = self._failure(wanted, error)
        with self._catalog.writing(tr("lock.sync", store=self._store.name)) as writer:
            writer.note_failure(failure)
        self._report.add_failure("failed", failure)
        silent = isinstance(error, StoreFailed) and not isinstance(error, _ANSWERS)
        self._lost = self._lost + 1 if silent else 0
        if self._lost >= _LOST_AFTER:
            raise StoreFailed(tr("sync.lost", reason=error.message), error.hint) from error

    def _failure(self, wanted: Wanted, error: KbError) -> Failure:
        before = self._failures.get(wanted.ref.key)
        again = before is not None and same_object(before.ref, wanted.ref)
        attempts = before.attempts + 1 if before and again else 1
        now = datetime.now(timezone.utc)
        return Failure(
            store=self._store.name,
            ref=wanted.ref,
            source=wanted.source,
            kind=type(error).__name__,
            message=error.message,
            hint=error.hint,
            attempts=attempts,
            failed_at=_iso(now),
            retry_at=_iso(now + _pause(attempts)),
        )

    # -- dropping --------------------------------------------------------------------------

    def _may_delete(self, plan: Plan) -> bool:
        """Whether what is gone may be dropped. An empty listing is a lost mount, more likely."""
        if not plan.gone or self._options.delete is True:
            return True
        if not plan.listed:
            self._report.notice = tr("sync.empty", store=self._store.name, count=len(plan.gone))
        return bool(plan.listed) and self._options.delete is None

    def _drop(self, pool: ThreadPoolExecutor, gone: Sequence[Document]) -> None:
        """Remove the documents whose object the store says, once more, it does not have."""
        for document, lost in zip(gone, pool.map(self._is_lost, gone), strict=True):
            if self._stop.is_set():
                return
            if not lost:
                self._report.add("kept", document.source, error=tr("sync.still_there"))
                continue
            with self._catalog.writing(tr("lock.remove", source=document.source)) as writer:
                now = writer.document(document.source)
                if now and (now.store, now.object_key) == (document.store, document.object_key):
                    writer.remove(document.source)
            self._removed.add(document.source)
            self._report.add("deleted", document.source)

    def _is_lost(self, document: Document) -> bool:
        try:
            self._store.stat(document.object_key)
        except NotFound:
            return True
        except KbError as error:
            _LOG.warning("%s: %s", document.source, error.message)
        return False

    def _mark_moves(self) -> None:
        """New documents whose bytes were those of a removed one are moves, not two changes."""
        moved: set[str] = set()
        for line in self._report.objects:
            old = line.get("taken_from")
            if line["action"] in {"new", "changed"} and old in self._removed and old not in moved:
                line["action"] = "moved"
                moved.add(old)
        lines = self._report.objects
        lines[:] = [x for x in lines if x["action"] != "deleted" or x["source"] not in moved]

    # -- noting ----------------------------------------------------------------------------

    def _forget_failures(self, plan: Plan) -> None:
        """What failed and is listed no more is no failure any more."""
        if self._stop.is_set():
            return
        known = {w.ref.key for w in plan.wanted} | {f.ref.key for f in plan.waiting}
        old = [k for k in self._failures if k.startswith(self._options.prefix) and k not in known]
        if old:
            with self._catalog.writing(tr("lock.sync", store=self._store.name)) as writer:
                writer.forget_failures(self._store.name, old)

    def _note(self) -> None:
        summary = {
            "store": self._store.name,
            "prefix": self._options.prefix,
            "finished_at": _iso(datetime.now(timezone.utc)),
            **self._report.counts(),
        }
        with self._catalog.writing(tr("lock.sync", store=self._store.name)) as writer:
            writer.note_sync(json.dumps(summary, ensure_ascii=False))


def _pause(attempts: int) -> timedelta:
    """None after the first failure, then a minute, doubled each time, a day at most."""
    if attempts == 1:
        return timedelta(0)
    doubled: int = 2 ** min(attempts - 2, 20)
    return min(_FIRST_RETRY * doubled, _LAST_RETRY)


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
