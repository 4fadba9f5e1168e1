"""Ingest documents: `python ingest.py FILE [SOURCE]`, files, or a folder.

One JSON document on stdout, progress and messages on stderr. Exit codes: 0 done, 1 something
failed, 2 wrong usage, 3 refused as it is (nothing was changed).
"""

from __future__ import annotations

import argparse
import logging
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb.app import open_kb
from kb.console import prepare_streams, print_json, progress_bars, say
from kb.errors import InvalidInput, KbError
from kb.messages import tr
from kb.objects.folder import walk
from kb.types import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kb.app import KnowledgeBase
    from kb.ports import OnProgress

__all__ = ["ingest_file", "main"]


def ingest_file(
    path: str | Path, source_name: str = "", *, project: str | None = None
) -> dict[str, Any]:
    """Make a file the current version of its source (`source_name`, or its file name).

    Returns the report once keywords and vectors are ready; `state` is ingested or unchanged.
    Raises KbError when the document is refused or fails: the version before it then stands.
    """
    kb = open_kb()
    report = kb.ingest(Path(path), source_name or Path(path).name, project)
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
    actions.add_argument("--remove", metavar="SOURCE", help=tr("cli.remove"))
    actions.add_argument("--resume", action="store_true", help=tr("cli.resume"))
    actions.add_argument("--rebuild-vectors", action="store_true", help=tr("cli.rebuild_vectors"))
    actions.add_argument("--backup", metavar="FILE", type=Path, help=tr("cli.backup"))
    actions.add_argument("--restore", metavar="FILE", type=Path, help=tr("cli.restore"))
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--json",
        action="store_const",
        const=False,
        default=False,
        dest="pretty",
        help=tr("cli.json"),
    )
    form.add_argument("--pretty", action="store_true", help=tr("cli.pretty"))
    parser.add_argument("--quiet", action="store_true", help=tr("cli.quiet"))
    return parser


def _run(kb: KnowledgeBase, options: argparse.Namespace) -> tuple[dict[str, Any], int]:
    """Do what the options ask for: the JSON document, and the exit code."""
    with progress_bars(quiet=options.quiet) as show:
        if options.list:
            return _list(kb, options.project), 0
        if options.remove is not None:
            removed = kb.remove(options.remove, options.project)
            return {"removed": removed, "vectors": _update(kb, options, show)}, 0
        if options.backup is not None:
            content = kb.back_up(options.backup, options.project)
            return {"backup": str(options.backup), **asdict(content)}, 0
        if options.restore is not None:
            content = kb.restore(options.restore, options.project)
            told = {"restored": str(options.restore), **asdict(content)}
            return {**told, "vectors": _update(kb, options, show)}, 0
        if options.resume or options.rebuild_vectors:
            return {"vectors": _update(kb, options, show)}, 0
        return _ingest(kb, options, show)


def _list(kb: KnowledgeBase, project: str | None) -> dict[str, Any]:
    listing = kb.list_sources("", project)
    return {**asdict(listing), "sources": [_plain(asdict(info)) for info in listing.sources]}


def _ingest(
    kb: KnowledgeBase, options: argparse.Namespace, show: OnProgress
) -> tuple[dict[str, Any], int]:
    items, is_folder = _items(options.paths, options.source)
    reports, codes = [], []
    for done, (path, source) in enumerate(items):
        show(Progress("parse", done, len(items), source))
        report, code = _one(kb, path, source, options, show)
        reports.append(report)
        codes.append(code)
    show(Progress("parse", len(items), len(items)))
    vectors = {} if options.dry_run else {"vectors": _update(kb, options, show)}
    extra = {"dry_run": options.dry_run, **vectors}
    if len(items) == 1 and not is_folder:
        return {**reports[0], **extra}, codes[0]
    return {"project": kb.project(options.project).name, **_counts(reports), **extra}, _worst(codes)


def _items(paths: Sequence[str], source: str | None) -> tuple[list[tuple[Path, str]], bool]:
    """What to ingest as (path, source), and whether it came from a folder or several files."""
    if not paths:
        raise InvalidInput(tr("cli.nothing"), tr("cli.nothing.hint"))
    given = [Path(path) for path in paths]
    if len(given) == 2 and source is None and given[0].is_file() and not given[1].exists():  # noqa: PLR2004 - FILE SOURCE
        say(tr("cli.second_is_source", file=paths[0], source=paths[1]))
        return [(given[0], paths[1])], False
    if source is not None and (len(given) > 1 or given[0].is_dir()):
        raise InvalidInput(tr("cli.one_source"), tr("cli.one_source.hint"))
    items: list[tuple[Path, str]] = []
    for path in given:
        items += walk(path) if path.is_dir() else [(path, source or path.name)]
    if not items:
        raise InvalidInput(tr("cli.empty_folder", name=paths[0]), tr("cli.nothing.hint"))
    return items, len(given) > 1 or given[0].is_dir()


def _one(
    kb: KnowledgeBase, path: Path, source: str, options: argparse.Namespace, show: OnProgress
) -> tuple[dict[str, Any], int]:
    def show_ocr(progress: Progress) -> None:
        if progress.stage == "ocr":  # the bar of the parse counts documents here
            show(progress)

    try:
        report = kb.ingest(
            path, source, options.project, dry_run=options.dry_run, on_progress=show_ocr
        )
    except KbError as error:
        say(f"{source}: {error}")
        return {"source": source, **_error(error)}, error.exit_code
    except Exception as error:
        # A fault of ours: told in full, and the next file proceeds.
        logging.getLogger("ingest").exception(source)
        fault = KbError(tr("cli.fault", reason=repr(error)), tr("cli.fault.hint"))
        return {"source": source, **_error(fault)}, fault.exit_code
    for warning in report.warnings:
        say(f"{source}: {warning}")
    return _plain(asdict(report)), 0


def _update(kb: KnowledgeBase, options: argparse.Namespace, show: OnProgress) -> dict[str, Any]:
    rebuild = options.rebuild_vectors
    state = kb.update(options.project, show, change_model=rebuild, check_chroma=rebuild)
    if state.notice:
        say(state.notice)
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
