"""Is everything in order? `python -m kb.doctor [--fix] [--download-model [NAME]] [--url URL]`.

One line per check; a failed one ends with the command that mends it. Exit code 0 when nothing
failed, 1 otherwise. With `--url` only the server there is asked.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import re
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from kb.app import KnowledgeBase, Project, open_kb
from kb.cli.console import prepare_streams, print_json, progress_bars, say
from kb.cli.health import Unhealthy, ask_server, endpoint
from kb.config import ROOT
from kb.embedding.models import DEFAULT_MODEL
from kb.errors import EmbeddingFailed, KbError
from kb.lock import owner
from kb.messages import tr
from kb.objects.folder import free_bytes
from kb.search.reranking import BUDGET_SECONDS, CANDIDATES, PASSAGE_CHARS

if TYPE_CHECKING:
    from collections.abc import Sequence

_LOW_DISK: Final = 1 << 30
_OLDEST_SQLITE: Final = (3, 37, 0)
_FIX: Final = "python -m kb.doctor --fix"
_INSTALL: Final = "python -m pip install -r requirements.txt"
_DOWNLOAD_RERANKER: Final = "python -m kb.doctor --download-model bge-reranker-base"
_PAIRS: Final = 4
"""Pairs that are scored to tell their time."""
_WINDOWS: Final = sys.platform == "win32"


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one check. `remedy` is the command that mends it, empty when it is `ok`."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    prepare_streams()
    try:
        kb = open_kb()
        options = _parser().parse_args(arguments)
        if options.download_model is not None:
            _download(kb, options.download_model)
        if options.fix:
            _fix(kb, options.project)
        checks = (
            [_server(kb, options.url)] if options.url else list(run_checks(kb, options.project))
        )
    except KbError as error:
        say(str(error))
        return 1
    if options.json:
        print_json([asdict(check) for check in checks], pretty=True)
    else:
        _show(checks)
    return 0 if all(check.ok for check in checks) else 1


def run_checks(kb: KnowledgeBase, project: str | None = None) -> Iterator[Check]:
    """Every check, one after the other; one that breaks is a failed check, not an end."""
    shard = kb.project(project)
    general: tuple[tuple[str, Callable[[], Check]], ...] = (
        ("python", _python),
        ("packages", _packages),
        ("sqlite", _sqlite),
        ("chroma", lambda: _package(tr("doctor.chroma"), "chromadb")),
        ("model", lambda: _model(kb, shard)),
        ("reranker", lambda: _reranker(kb)),
        ("ocr", lambda: _ocr(kb)),
        ("objects", lambda: _objects(kb)),
        ("data", lambda: _data_folder(shard)),
        ("disk", lambda: _disk(shard)),
        ("catalog", lambda: _catalog(shard)),
        ("stores", lambda: _stores(shard)),
        ("legacy", lambda: _legacy(kb, shard)),
        ("lock", lambda: _lock(shard)),
        ("console", _console),
    )
    for name, check in general:
        try:
            yield check()
        except Exception as error:  # noqa: PERF203 - each check answers for itself
            reason = error.message if isinstance(error, KbError) else repr(error)
            yield Check(tr(f"doctor.{name}"), False, reason, _FIX)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m kb.doctor", description=tr("doctor.about"))
    parser.add_argument("--fix", action="store_true", help=tr("doctor.fix_help"))
    parser.add_argument(
        "--download-model",
        nargs="?",
        const=DEFAULT_MODEL,
        metavar="NAME",
        help=tr("doctor.download_help", default=DEFAULT_MODEL),
    )
    parser.add_argument("--project", help=tr("cli.project"))
    parser.add_argument("--url", help=tr("doctor.url_help"))
    parser.add_argument("--json", action="store_true", help=tr("doctor.json_help"))
    return parser


def _show(checks: Sequence[Check]) -> None:
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    marks = ("✗", "✓") if utf8 else ("[x]", "[v]")
    for check in checks:
        print(f"{marks[check.ok]} {check.name}: {check.detail}")
        if check.remedy:
            print(f"  → {check.remedy}" if utf8 else f"  > {check.remedy}")


# -- mending -------------------------------------------------------------------------------


def _fix(kb: KnowledgeBase, project: str | None) -> None:
    """Rebuild what is derived: blocks and keywords from the pages, Chroma from the vectors."""
    shard = kb.project(project)
    if shard.catalog.path.exists():
        with shard.catalog.writing(tr("lock.rebuild")) as writer:
            if writer.keyword_problem():
                say(tr("doctor.rebuilding"))
                writer.rebuild_blocks()
        with progress_bars(quiet=False) as show:
            state = kb.update(project, show, check_chroma=True)
        if state.notice:
            say(state.notice)


def _download(kb: KnowledgeBase, name: str) -> None:
    from kb.embedding.download import download_model
    from kb.embedding.folder import is_reranker
    from kb.model import Progress

    with progress_bars(quiet=False) as show:
        folder = download_model(
            name,
            kb.settings.model_dir,
            lambda done, total: show(Progress("download", done >> 20, total >> 20, "MiB")),
        )
    if is_reranker(folder):
        say(tr("doctor.downloaded.reranker", name=folder.name, folder=folder))
    else:
        say(tr("doctor.downloaded", name=name, folder=folder))


# -- checks --------------------------------------------------------------------------------


def _python() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    ok = sys.version_info >= (3, 10)
    return Check(tr("doctor.python"), ok, version, "" if ok else _python_remedy())


def _sqlite() -> Check:
    ok = sqlite3.sqlite_version_info >= _OLDEST_SQLITE
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5 (x)")
        detail = f"SQLite {sqlite3.sqlite_version}, FTS5"
    except sqlite3.OperationalError:
        ok, detail = False, tr("doctor.no_fts5", version=sqlite3.sqlite_version)
    finally:
        connection.close()
    return Check(tr("doctor.sqlite"), ok, detail, "" if ok else _python_remedy())


def _python_remedy() -> str:
    install = ".\\install.ps1 -Python PATH" if _WINDOWS else "sh install.sh --python PATH"
    return tr("doctor.python.remedy", command=install)


def _set(assignment: str) -> str:
    """The command that sets a variable of this console."""
    return f"{'set' if _WINDOWS else 'export'} {assignment}"


def _packages() -> Check:
    """Whether everything in requirements.txt that this Python asks for is installed."""
    wanted = _required((ROOT / "requirements.txt").read_text(encoding="utf-8"))
    installed = {_normal(str(d.name)) for d in importlib.metadata.distributions()}
    missing = sorted(wanted - installed)
    if missing:
        detail = tr("doctor.packages.missing", names=", ".join(missing))
        return Check(tr("doctor.packages"), False, detail, _INSTALL)
    return Check(tr("doctor.packages"), True, tr("doctor.packages.ok", count=len(wanted)))


def _required(text: str) -> set[str]:
    """Names in a requirements file; ours has one marker, on the version of a package."""
    lines = (line.strip() for line in text.split("\n"))
    return {_normal(re.split(r"[<>=!~; ]", x)[0]) for x in lines if x and not x.startswith("#")}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _package(name: str, package: str, *more: str) -> Check:
    """Whether `package` is installed, and which version; it is not imported."""
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return Check(name, False, tr("doctor.not_installed"), _INSTALL)
    return Check(name, True, ", ".join([f"{package} {version}", *more]))


def _model(kb: KnowledgeBase, shard: Project) -> Check:
    name = tr("doctor.model")
    if kb.settings.embedder == "none":
        return Check(name, True, tr("embed.on_purpose"))
    try:
        engine = kb.embedder()
        fingerprint = engine.fingerprint
        started = time.perf_counter()
        engine.embed_query("知识库")
        seconds = time.perf_counter() - started
    except EmbeddingFailed as error:
        remedy = error.hint or "python -m kb.doctor --download-model"
        return Check(name, False, error.message, remedy)
    with shard.catalog.reading() as reader:
        index = reader.model
    if index and index.fingerprint != fingerprint:
        detail = tr("doctor.model.other", now=engine.name, index=index.name)
        return Check(name, False, detail, "python ingest.py --rebuild-vectors")
    detail = tr("doctor.model.ok", name=engine.name, dimension=engine.dimension, seconds=seconds)
    return Check(name, True, f"{detail} [{fingerprint}]")


def _reranker(kb: KnowledgeBase) -> Check:
    """Whether the reranker loads, how long a pair takes, and so how many a question can have."""
    name = tr("doctor.reranker")
    if kb.reranking is None:
        return Check(name, True, tr("doctor.reranker.off"))
    passages = [("知识库" * PASSAGE_CHARS)[:PASSAGE_CHARS]] * _PAIRS
    try:
        started = time.perf_counter()
        engine = kb.reranking.wait()
        loaded = time.perf_counter()
        engine.score("知识库", passages, float("inf"))
    except KbError as error:
        return Check(name, False, error.message, error.hint or _DOWNLOAD_RERANKER)
    pair = (time.perf_counter() - loaded) / _PAIRS
    within = min(CANDIDATES, int(BUDGET_SECONDS / pair))
    detail = tr(
        "doctor.reranker.ok",
        name=engine.name,
        seconds=loaded - started,
        ms=1000 * pair,
        budget=BUDGET_SECONDS,
        pairs=within,
    )
    return Check(name, True, detail)


def _ocr(kb: KnowledgeBase) -> Check:
    """Whether scanned pages can be read; nothing is loaded to tell."""
    mode = kb.settings.ocr
    if mode == "off":
        return Check(tr("doctor.ocr"), True, "KB_OCR=off")
    return _package(tr("doctor.ocr"), "rapidocr", f"KB_OCR={mode}")


def _objects(kb: KnowledgeBase) -> Check:
    """Whether the object store lets itself be listed."""
    name = tr("doctor.objects")
    folder = kb.settings.local_root
    if kb.settings.objects == "folder" and not folder.exists():
        return Check(name, True, tr("doctor.objects.unused", folder=folder))
    try:
        store = kb.places.store()
        store.check()
    except KbError as error:
        return Check(name, False, error.message, tr("doctor.then", hint=error.hint))
    return Check(name, True, str(folder) if kb.settings.objects == "folder" else store.name)


def _data_folder(shard: Project) -> Check:
    try:
        shard.folder.mkdir(parents=True, exist_ok=True)
        probe = shard.folder / ".probe"
        probe.write_bytes(b"x")
        probe.unlink()
    except OSError as error:
        detail = f"{shard.folder}: {error.strerror}"
        remedy = tr("doctor.data.remedy", command=_set("KB_DATA_DIR=PATH"))
        return Check(tr("doctor.data"), False, detail, remedy)
    return Check(tr("doctor.data"), True, str(shard.folder))


def _disk(shard: Project) -> Check:
    free = free_bytes(shard.folder)
    ok = free >= _LOW_DISK
    detail = tr("doctor.disk.free", gib=free / (1 << 30))
    remedy = "" if ok else tr("doctor.disk.remedy", command=_set("KB_DATA_DIR=PATH"))
    return Check(tr("doctor.disk"), ok, detail, remedy)


def _catalog(shard: Project) -> Check:
    with shard.catalog.reading() as reader:
        problem = reader.keyword_problem()
        documents, blocks = len(reader.sources()), reader.block_count()
    if problem:
        return Check(tr("doctor.catalog"), False, problem, _FIX)
    detail = tr("doctor.catalog.ok", documents=documents, blocks=blocks)
    return Check(tr("doctor.catalog"), True, detail)


def _stores(shard: Project) -> Check:
    """Blocks with a vector in SQLite, and in Chroma: the same number, findable."""
    name = tr("doctor.stores")
    with shard.catalog.reading() as reader:
        blocks, vectors = reader.block_count(), reader.vector_count()
        made = bool(reader.meta("chroma_epoch"))
    held = _count_chroma(shard) if made else 0
    detail = tr("doctor.stores.detail", blocks=blocks, vectors=vectors, chroma=held)
    if held != vectors:
        return Check(name, False, detail, _FIX)
    return Check(name, True, detail)


def _count_chroma(shard: Project) -> int:
    from kb.vectors.seal import alone, open_proven

    with alone(shard.place, shard.catalog.lock_wait), shard.catalog.reading() as reader:
        index = open_proven(shard.place, reader)
        try:
            return index.count()
        finally:
            index.close()


def _legacy(kb: KnowledgeBase, shard: Project) -> Check:
    found = kb.legacy_notices(shard.name)
    detail = " ".join(found) or tr("doctor.legacy.none")
    return Check(tr("doctor.legacy"), not found, detail, "python ingest.py FILE" if found else "")


def _lock(shard: Project) -> Check:
    holders = (owner(shard.folder / "writer.lock"), owner(shard.vectors_lock))
    texts = [
        tr("lock.owner", pid=h.pid, host=h.host, purpose=h.purpose)
        for h in holders
        if h is not None
    ]
    return Check(tr("doctor.lock"), True, "; ".join(texts) or tr("doctor.lock.free"))


def _console() -> Check:
    encoding = sys.stdout.encoding or "?"
    ok = encoding.lower().replace("-", "") == "utf8"
    return Check(tr("doctor.console"), ok, encoding, "" if ok else _set("PYTHONUTF8=1"))


def _server(kb: KnowledgeBase, url: str) -> Check:
    name, token = tr("doctor.server"), kb.settings.http_token.get_secret_value()
    try:
        health = ask_server(url, token)
    except Unhealthy as error:
        parts = urlsplit(endpoint(url))
        host, port = parts.hostname or "", parts.port or 80
        return Check(
            name, False, error.message, f"python server.py --http --host {host} --port {port}"
        )
    said = {**asdict(health), "tools": len(health.tools)}
    return Check(name, True, tr("health.ok", **said))


if __name__ == "__main__":
    sys.exit(main())
