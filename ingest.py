"""Ingest documents: `python ingest.py FILE [SOURCE]`, files, or a folder; look at what is there.

One JSON document on stdout, progress and messages on stderr. Exit codes: 0 done, 1 something
failed, 2 wrong usage, 3 refused as it is (nothing was changed).
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import kb.errors
from chroma_store import list_sources
from kb.app import open_kb
from kb.cli.console import prepare_streams, print_json, print_table, progress_bars, say
from kb.cli.show import show
from kb.cli.status import as_dict, rows, status
from kb.cli.summary import Summary, mode_for
from kb.cli.watch import Ended, Ending, ending_on_signals, watch
from kb.errors import InvalidInput, KbError
from kb.ingest.sync import SyncOptions
from kb.messages import tr
from kb.model import Progress
from kb.objects.folder import lies_at, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kb.app import KnowledgeBase
    from kb.ingest.report import SyncReport
    from kb.ports import OnProgress

__all__ = ["ingest_file", "main"]

_LONGEST_WATCH: Final = 86_400.0
_MOST_WORKERS: Final = 32


def ingest_file(
    path: str | Path, source_name: str = "", *, project: str | None = None
) -> dict[str, Any]:
    """Make a file, or an object, the current version of its source.

    `path` is a path, an object's key, or `s3://bucket/key`. The source is `source_name`, else the
    object's key, else the file's name. Returns the report once keywords and vectors are ready;
    `state` is ingested or unchanged. Raises KbError when the document is refused or fails: the
    version before it then stands.
    """
    kb = open_kb()
    report = kb.ingest(path, source_name, project)
    kb.update(project)
    return _plain(asdict(report))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    prepare_streams()
    pretty = False
    try:
        kb = open_kb()
        options = _parser().parse_args(arguments)
        pretty = options.pretty
        document, code = _run(kb, options)
    except KbError as error:
        say(str(error))
        document, code = _error(error), error.exit_code
    except KeyboardInterrupt:
        say(tr("cli.interrupted"))
        return 130
    if document is not None:
        print_json(document, pretty=pretty)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ingest.py",
        description=tr("cli.ingest"),
        epilog=tr("cli.exit_codes"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", nargs="*", metavar="FILE", help=tr("cli.paths"))
    parser.add_argument("--source", help=tr("cli.source"))
    parser.add_argument("--project", help=tr("cli.project"))
    parser.add_argument("--dry-run", action="store_true", help=tr("cli.dry_run"))
    actions = parser.add_mutually_exclusive_group()
    actions.add_argument("--list", action="store_true", help=tr("cli.list"))
    actions.add_argument("--status", action="store_true", help=tr("cli.status"))
    actions.add_argument("--show", metavar="SOURCE", help=tr("cli.show"))
    actions.add_argument("--sync", action="store_true", help=tr("cli.sync"))
    actions.add_argument("--remove", metavar="SOURCE", help=tr("cli.remove"))
    actions.add_argument("--resume", action="store_true", help=tr("cli.resume"))
    actions.add_argument("--rebuild-vectors", action="store_true", help=tr("cli.rebuild_vectors"))
    actions.add_argument("--backup", metavar="FILE", type=Path, help=tr("cli.backup"))
    actions.add_argument("--restore", metavar="FILE", type=Path, help=tr("cli.restore"))
    show_group = parser.add_argument_group("--show")
    show_group.add_argument("--page", type=int, metavar="N", help=tr("cli.page"))
    show_group.add_argument("--lines", type=_line_range, metavar="A-B", help=tr("cli.lines"))
    _add_sync_options(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help=tr("cli.json"))
    form.add_argument("--pretty", action="store_true", help=tr("cli.pretty"))
    parser.add_argument("--quiet", action="store_true", help=tr("cli.quiet"))
    return parser


def _add_sync_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("--sync")
    group.add_argument("--prefix", default="", help=tr("cli.prefix"))
    group.add_argument("--bucket", default="", help=tr("cli.bucket"))
    group.add_argument("--delete", action=argparse.BooleanOptionalAction, help=tr("cli.delete"))
    group.add_argument("--watch", type=_seconds, metavar="SECONDS", help=tr("cli.watch"))
    workers = min(4, os.cpu_count() or 1)
    group.add_argument("--workers", type=_workers, default=workers, help=tr("cli.workers"))


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 1 <= seconds <= _LONGEST_WATCH:
        raise ValueError(text)
    return seconds


def _line_range(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    return int(first), int(last or first)


def _workers(text: str) -> int:
    count = int(text)
    if not 1 <= count <= _MOST_WORKERS:
        raise ValueError(text)
    return count


def _run(kb: KnowledgeBase, options: argparse.Namespace) -> tuple[dict[str, Any] | None, int]:
    """Do what the options ask for: the JSON document, if it is not printed yet; the exit code."""
    _check_options(options)
    if options.status or options.show is not None:
        return (_status if options.status else _show)(kb, options)
    silent = options.quiet or options.json
    options.summary = Summary(mode_for(silent=silent, ongoing=bool(options.watch)))
    with ExitStack() as stack:
        stack.callback(options.summary.tell)
        show = stack.enter_context(progress_bars(quiet=silent))
        if options.sync:
            return _sync(kb, options, show)
        if options.list:
            return _list(options), 0
        kept = _keep(kb, options, show)
        return (kept, 0) if kept is not None else _ingest(kb, options, show)


def _list(options: argparse.Namespace) -> dict[str, Any]:
    listing = list_sources("", options.project)
    for failure in listing["failures"]:
        say(f"{failure['source']}: {failure['error']}")
    return listing


def _keep(
    kb: KnowledgeBase, options: argparse.Namespace, show: OnProgress
) -> dict[str, Any] | None:
    """What is done to an index as a whole, or to what it holds; None for none of that."""
    if options.remove is not None:
        removed = kb.remove(options.remove, options.project)
        return {"removed": removed, "vectors": _update(kb, options, show)}
    if options.backup is not None:
        content = kb.back_up(options.backup, options.project)
        return {"backup": str(options.backup), **asdict(content)}
    if options.restore is not None:
        content = kb.restore(options.restore, options.project)
        told = {"restored": str(options.restore), **asdict(content)}
        return {**told, "vectors": _update(kb, options, show)}
    if options.resume or options.rebuild_vectors:
        return {"vectors": _update(kb, options, show)}
    return None


def _status(kb: KnowledgeBase, options: argparse.Namespace) -> tuple[dict[str, Any] | None, int]:
    """A table for a person, JSON for anybody else; 1 when a project cannot be read."""
    found = status(kb, options.project)
    code = int(any(project.error for project in found))
    if options.json or options.pretty or not sys.stdout.isatty():
        return as_dict(found, kb.settings.data_dir), code
    for project in found:
        folder = kb.settings.data_dir / project.project
        title = tr("status.title", project=project.project, folder=folder)
        print_table(title, ("", ""), rows(project), sys.stdout)
    return None, code


def _show(kb: KnowledgeBase, options: argparse.Namespace) -> tuple[dict[str, Any] | None, int]:
    """The path alone for a person, JSON for anybody else."""
    shown = show(kb, options.show, options.page, options.lines or (1, -1), options.project)
    if shown.notice:
        say(shown.notice)
    if options.json or options.pretty or not sys.stdout.isatty():
        return asdict(shown), 0
    print(shown.path)
    return None, 0


def _check_options(options: argparse.Namespace) -> None:
    if (options.show is not None) != (options.page is not None) or (
        options.lines and options.show is None
    ):
        raise InvalidInput(tr("cli.show_page"), tr("cli.show_page.hint"))
    given = options.prefix or options.bucket or options.watch or options.delete is not None
    if given and not options.sync:
        raise InvalidInput(tr("cli.only_sync"), tr("cli.only_sync.hint"))
    if options.sync and options.paths:
        raise InvalidInput(tr("cli.sync_paths"), tr("cli.sync_paths.hint"))


def _sync(
    kb: KnowledgeBase, options: argparse.Namespace, show: OnProgress
) -> tuple[dict[str, Any] | None, int]:
    with ending_on_signals() as ending:
        if options.watch is None:
            return _sync_once(kb, options, show, ending)

        def once() -> None:
            try:
                document, _code = _sync_once(kb, options, show, ending)
            except KbError as error:  # the store may be back for the next one
                say(str(error))
                document = _error(error)
            print_json(document, pretty=options.pretty)

        kb.listen(options.bucket, options.prefix, ending.wake, ending.stop)
        watch(once, options.watch, ending)
    return None, 0


def _sync_once(
    kb: KnowledgeBase, options: argparse.Namespace, show: OnProgress, ending: Ending
) -> tuple[dict[str, Any], int]:
    wanted = SyncOptions(
        options.prefix, delete=options.delete, dry_run=options.dry_run, workers=options.workers
    )
    report = kb.sync(wanted, options.project, options.bucket, stop=ending.stop, on_progress=show)
    for line in report.objects:
        if line["action"] == "failed":
            options.summary.fail(line["source"], line["error"])
        else:
            told = [*filter(None, [line.get("error")]), *line.get("warnings", ())]
            blocks = line.get("blocks", 0)
            options.summary.add(line["source"], line["action"], told, blocks=blocks)
    if report.notice:
        options.summary.note(report.notice)
    document = {"project": kb.project(options.project).name, **report.as_dict()}
    if not options.dry_run:
        document["vectors"] = _update_until(kb, options, show, ending)
    return document, _sync_code(report)


def _update_until(
    kb: KnowledgeBase, options: argparse.Namespace, show: OnProgress, ending: Ending
) -> dict[str, Any]:
    def show_or_end(progress: Progress) -> None:
        show(progress)
        ending.check(progress)

    try:
        return _update(kb, options, show_or_end)
    except Ended:
        return asdict(kb.vectors(options.project))


def _sync_code(report: SyncReport) -> int:
    """As of several files; an empty listing that was not believed is a refusal."""
    failed = {line["kind"] for line in report.objects if line["action"] == "failed"}
    codes = [getattr(kb.errors, kind, KbError).exit_code for kind in failed]
    return _worst([*codes, InvalidInput.exit_code if report.notice else 0])


def _ingest(
    kb: KnowledgeBase, options: argparse.Namespace, show: OnProgress
) -> tuple[dict[str, Any], int]:
    items, is_folder = _items(kb, options.paths, options.source)
    reports, codes = [], []
    for done, (path, source) in enumerate(items):
        if len(items) > 1:
            show(Progress("parse", done, len(items), source or path))
        report, code = _one(kb, path, source, options, show)
        reports.append(report)
        codes.append(code)
    if len(items) > 1:
        show(Progress("parse", len(items), len(items)))
    vectors = {} if options.dry_run else {"vectors": _update(kb, options, show)}
    extra = {"dry_run": options.dry_run, **vectors}
    if len(items) == 1 and not is_folder:
        return {**reports[0], **extra}, codes[0]
    return {"project": kb.project(options.project).name, **_counts(reports), **extra}, _worst(codes)


def _items(
    kb: KnowledgeBase, paths: Sequence[str], source: str | None
) -> tuple[list[tuple[str, str]], bool]:
    """What to ingest as (name, source), and whether it came from a folder or several names.

    An empty source: as the file or the object is called.
    """
    if not paths:
        raise InvalidInput(tr("cli.nothing"), tr("cli.nothing.hint"))
    if len(paths) == 2 and source is None and _names_source(*paths):  # noqa: PLR2004 - FILE SOURCE
        say(tr("cli.second_is_source", file=paths[0], source=paths[1]))
        return [(paths[0], paths[1])], False
    several = len(paths) > 1 or lies_at(paths[0]) == "folder"
    if source is not None and several:
        raise InvalidInput(tr("cli.one_source"), tr("cli.one_source.hint"))
    items: list[tuple[str, str]] = []
    for path in paths:
        items += _folder(kb, Path(path)) if lies_at(path) == "folder" else [(path, source or "")]
    if not items:
        raise InvalidInput(tr("cli.empty_folder", name=paths[0]), tr("cli.nothing.hint"))
    return items, several


def _names_source(first: str, second: str) -> bool:
    """Whether of two arguments the second names the source of the first."""
    if second.startswith("s3://") or lies_at(second):
        return False
    return lies_at(first) == "file" or first.startswith("s3://")


def _folder(kb: KnowledgeBase, folder: Path) -> list[tuple[str, str]]:
    """Files of a folder; below the folder of documents they are its objects."""
    return [
        (str(path), "" if kb.places.find(path).store else source) for path, source in walk(folder)
    ]


def _one(
    kb: KnowledgeBase, path: str, source: str, options: argparse.Namespace, show: OnProgress
) -> tuple[dict[str, Any], int]:
    name = source or path

    def show_pages(progress: Progress) -> None:  # the bar of the parse counts documents here
        show(replace(progress, stage="pages") if progress.stage == "parse" else progress)

    try:
        report = kb.ingest(
            path, source, options.project, dry_run=options.dry_run, on_progress=show_pages
        )
    except KbError as error:
        options.summary.fail(name, str(error))
        return {"source": name, **_error(error)}, error.exit_code
    except Exception as error:
        # A fault of ours: told in full, and the next file proceeds.
        logging.getLogger("ingest").exception(name)
        fault = KbError(tr("cli.fault", reason=repr(error)), tr("cli.fault.hint"))
        options.summary.fail(name, str(fault))
        return {"source": name, **_error(fault)}, fault.exit_code
    show(Progress("pages", report.pages, report.pages, report.source))
    options.summary.add(
        report.source, report.state, report.warnings, pages=report.pages, blocks=report.blocks
    )
    return _plain(asdict(report)), 0


def _update(kb: KnowledgeBase, options: argparse.Namespace, show: OnProgress) -> dict[str, Any]:
    rebuild = options.rebuild_vectors
    state = kb.update(options.project, show, change_model=rebuild, check_chroma=rebuild)
    if state.notice:
        options.summary.note(state.notice)
    return asdict(state)


def _counts(reports: Sequence[dict[str, Any]]) -> dict[str, Any]:
    states = [report["state"] for report in reports]
    return {**{s: states.count(s) for s in ("ingested", "unchanged", "failed")}, "reports": reports}


def _worst(codes: Sequence[int]) -> int:
    """1 when anything failed, else 3 when anything was refused, else 0."""
    return min((code for code in codes if code), default=0)


def _error(error: KbError) -> dict[str, Any]:
    kind = type(error).__name__
    return {"state": "failed", "kind": kind, "error": error.message, "hint": error.hint}


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    """Tuples as the lists that JSON knows."""
    return {key: list(v) if isinstance(v, tuple) else v for key, v in fields.items()}


if __name__ == "__main__":
    sys.exit(main())
