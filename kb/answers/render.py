"""Answers as text for a model: bounded, cited, document text inside a fence.

Pure: the dicts of `kb.answers.shapes` in, text out. `marker` is a fresh random word that opens and
closes the fence, so that no document can close it. `fit_…` cuts an answer to what its text can
show within the budget, so that text and JSON always hold the same lines.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from kb.messages import tr

Answer = Mapping[str, Any]

CONTEXT: Final = 5
"""Lines around a hit that the suggested `read_range` call asks for."""
_SHOWN_FAILURES: Final = 20
_MARKER: Final = "0" * 12
"""As long as the marker will be, to measure with."""
_MIN_LINE: Final = 200
_CLIP_NOTICE: Final = 500
"""Room for saying that a line was cut, its document's name included."""
_NAME: Final = 300


def call_text(tool: str, values: Mapping[str, Any]) -> str:
    """A call as one writes it: `search(query="x", top_k=6)`."""
    return f"{tool}({', '.join(f'{k}={_literal(v)}' for k, v in values.items())})"


def _literal(value: Any) -> str:
    """JSON on one line: what would break or hide it (U+2028, controls) is escaped too."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


# --- search ---------------------------------------------------------------------------------


def fit_hits(answer: Answer, budget: int) -> dict[str, Any]:
    """The answer with as many hits as its text shows within `budget` characters, at least one."""
    fitted = clip_giant_lines(answer, max(_MIN_LINE, budget // 2))
    hits: list[Any] = list(fitted["hits"])
    while len(hits) > 1 and len(search_text({**fitted, "hits": hits}, _MARKER)) > budget:
        hits.pop()
    left_out = len(fitted["hits"]) - len(hits)
    if left_out:
        hint = tr("tool.search.left_out", count=left_out, shown=len(hits))
        fitted["notice"] = _joined(fitted["notice"], hint)
        fitted["hits"] = hits
    return fitted


def search_text(answer: Answer, marker: str) -> str:
    """Hits with their numbered lines, and the `read_range` call to make next."""
    hits = answer["hits"]
    if not hits:
        query = _plain(answer["query"], 80)
        return _joined(tr("tool.search.none", query=query), answer["notice"])
    head = tr("tool.search.head", count=len(hits), query=_plain(answer["query"], 80))
    parts = [head, answer["notice"], tr("tool.fence", marker=marker)]
    parts += [_hit(i, hit, marker) for i, hit in enumerate(hits, 1)]
    parts.append(tr("tool.search.next", call=next_read(hits[0])))
    return _joined(*parts)


def next_read(hit: Answer) -> str:
    """The call that reads a hit with what stands around it."""
    keys = ("source", "page", "line_start", "line_end")
    return call_text("read_range", {**{k: hit[k] for k in keys}, "context": CONTEXT})


def _hit(index: int, hit: Answer, marker: str) -> str:
    place = tr(
        "tool.search.hit",
        index=index,
        source=_plain(hit["source"]),
        page=_page(hit),
        lines=_span(hit["line_start"], hit["line_end"]),
    )
    path = " > ".join(hit["heading_path"])
    inside = [tr("tool.search.heading", path=_plain(path))] if path else []
    lines = [*_label(hit), *inside, *_numbered(hit["lines"], marks=True)]
    return _joined(place, _fence(lines, marker))


def _label(place: Answer) -> list[str]:
    """A sheet's or slide's name, or the number that the page itself prints: the document's words.

    Nothing when it is the page's number.
    """
    label = _plain(place["page_label"])
    return [tr("tool.page.label", label=label)] if label and label != str(place["page"]) else []


# --- read_range -----------------------------------------------------------------------------


def fit_passage(answer: Answer, budget: int) -> dict[str, Any]:
    """The passage with the whole lines its text shows within `budget` characters, at least one.

    `truncated` and `next` follow: the next call starts at the first line left out.
    """
    room = budget - _frame(answer)
    count = _fitting(_numbered(answer["lines"]), room)
    fitted = dict(answer) if count == len(answer["lines"]) else _cut_after(count, answer)
    if count == 1:
        return clip_giant_lines(fitted, max(_MIN_LINE, room - _CLIP_NOTICE))
    return fitted


def passage_text(answer: Answer, marker: str) -> str:
    """Exact numbered lines under a header, and the continuing call when there is more."""
    head = tr(
        "tool.read.head",
        source=_plain(answer["source"]),
        version=answer["version"],
        page=_page(answer),
        pages=answer["pages"],
        lines=_span(answer["line_start"], answer["line_end"]),
        page_lines=answer["page_lines"],
    )
    lines = [*_label(answer), *_numbered(answer["lines"])]
    parts = [head, tr("tool.fence", marker=marker), _fence(lines, marker)]
    parts.append(answer.get("notice", ""))
    if answer["truncated"]:
        parts.append(tr("tool.read.next", call=call_text("read_range", answer["next"])))
    return _joined(*parts)


def _cut_after(count: int, answer: Answer) -> dict[str, Any]:
    """The passage up to its first `count` lines, and the call that continues it."""
    lines = answer["lines"][:count]
    last = lines[-1]["line"]
    place = {"source": answer["source"], "page": answer["page"], "line_start": last + 1}
    end = answer["next"].get("line_end", answer["line_end"])
    following = {**place, "line_end": end}
    return {**answer, "lines": lines, "line_end": last, "truncated": True, "next": following}


def _frame(answer: Answer) -> int:
    """Characters of everything around the lines, the continuing call included."""
    following = answer["next"] or {"source": answer["source"], "page": 1, "line_start": 1}
    next_call = {**following, "line_start": 10**9, "line_end": 10**9}
    empty = {**answer, "lines": [], "truncated": True, "next": next_call}
    return len(passage_text(empty, _MARKER))


# --- list_sources ---------------------------------------------------------------------------


def fit_sources(answer: Answer, budget: int) -> dict[str, Any]:
    """The listing with the rows its text shows within `budget` characters, at least one."""
    answer = {**answer, "failures": answer["failures"][:_SHOWN_FAILURES]}
    rows = [_source(source) for source in answer["sources"]]
    hint = tr("tool.list.left_out", count=len(rows))
    frame = len(_sources_text({**answer, "notice": _joined(answer["notice"], hint)}, [""], _MARKER))
    count = _fitting(rows, budget - frame)
    if count == len(rows):
        return answer
    notice = _joined(answer["notice"], tr("tool.list.left_out", count=len(rows) - count))
    return {**answer, "sources": answer["sources"][:count], "notice": notice}


def sources_text(answer: Answer, marker: str) -> str:
    """One line a document; says how many were left out and how to see them."""
    return _sources_text(answer, [_source(source) for source in answer["sources"]], marker)


def _sources_text(answer: Answer, rows: Sequence[str], marker: str) -> str:
    fields = {"total": answer["total"], "project": answer["project"], "shown": len(rows)}
    head = tr("tool.list.head", **fields)
    if not rows and not answer["failures"]:
        return _joined(head, answer["notice"], tr("tool.list.none"))
    parts = [head, answer["notice"], tr("tool.list.columns"), tr("tool.fence", marker=marker)]
    failed = [_failed(failure) for failure in answer["failures"]]
    return _joined(*parts, _fence([*rows, *failed], marker), tr("tool.list.next"))


def _failed(failure: Answer) -> str:
    cells = [
        _plain(failure["source"], 1024),
        tr("tool.list.failed", error=_plain(failure["error"], 300)),
        tr("tool.list.retry", time=failure["retry_at"]),
    ]
    return " | ".join(cells)


def _source(source: Answer) -> str:
    cells = [
        _plain(source["source"], 1024),
        f"v{source['version']}",
        tr("tool.list.pages", pages=source["pages"]),
        tr("tool.list.vectors", vectors=source["vectors"], blocks=source["blocks"]),
        source["ingested_at"],
        _plain(source["title"], 80),
    ]
    return " | ".join(cells)


# --- ingest_file ----------------------------------------------------------------------------


def report_text(report: Answer, again: str, budget: int) -> str:
    """What became of a document and what to call next; `again` is the call that waits for it."""
    source = _plain(report["source"])
    state = report["state"]
    if state == "running":
        running = tr("tool.ingest.running", source=source, seconds=report["seconds"])
        return _joined(running, report.get("notice", ""), tr("tool.ingest.again", call=again))
    parts = [tr(f"tool.ingest.{state}", source=source, version=report["version"]), _facts(report)]
    parts += _warnings(report["warnings"], budget // 2)
    parts.append(report.get("notice", ""))
    if state in ("ingested", "unchanged"):
        call = call_text("read_range", {"source": report["source"], "page": 1})
        parts.append(tr("tool.ingest.next", call=call))
    return _joined(*parts)


def _facts(report: Answer) -> str:
    facts = tr(
        "tool.ingest.facts",
        pages=report["pages"],
        blocks=report["blocks"],
        parser=report["parser"] or "-",
        seconds=round(report["seconds"], 1),
    )
    encoding = report["encoding"]
    return facts + (tr("tool.ingest.encoding", encoding=encoding) if encoding else "")


def _warnings(warnings: Sequence[str], room: int) -> list[str]:
    shown: list[str] = []
    for warning in warnings:
        text = tr("tool.ingest.warning", text=_plain(warning))
        room -= len(text)
        if room < 0:
            shown.append(tr("tool.ingest.more_warnings", count=len(warnings) - len(shown)))
            break
        shown.append(text)
    return shown


# --- lines ----------------------------------------------------------------------------------


def clip_giant_lines(answer: Answer, limit: int) -> dict[str, Any]:
    """A copy of a search answer or passage in which no line is longer than `limit` characters.

    Every cut is named in `notice`. Lines within the limit stay as they are, byte for byte.
    """
    clipped = dict(answer)
    cuts: list[str] = []
    if "hits" in answer:
        clipped["hits"] = [_clip_hit(hit, limit, cuts) for hit in answer["hits"]]
    else:
        clipped["lines"] = [_clip_line(line, limit, cuts, answer) for line in answer["lines"]]
    if cuts:
        clipped["notice"] = _joined(clipped.get("notice", ""), *cuts[:10])
    return clipped


def _clip_hit(hit: Answer, limit: int, cuts: list[str]) -> dict[str, Any]:
    lines = [_clip_line(line, limit, cuts, hit) for line in hit["lines"]]
    return {**hit, "lines": lines, "text": "\n".join(line["text"] for line in lines)}


def _clip_line(line: Answer, limit: int, cuts: list[str], place: Answer) -> Answer:
    length = len(line["text"])
    if length <= limit:
        return line
    where = {"source": _plain(place["source"]), "page": place["page"], "line": line["line"]}
    cuts.append(tr("tool.clipped", **where, length=length, shown=limit))
    return {**line, "text": line["text"][:limit]}


def _numbered(lines: Sequence[Answer], *, marks: bool = False) -> list[str]:
    width = len(str(lines[-1]["line"])) if lines else 0
    return [
        f"{'>' if marks and line['match'] else ' ' if marks else ''}"
        f"{line['line']:>{width}}| {line['text']}"
        for line in lines
    ]


def _fitting(rows: Sequence[str], room: int) -> int:
    """How many of `rows`, each with its line end, fit into `room` characters; at least one."""
    for count, row in enumerate(rows):
        room -= len(row) + 1
        if room < 0:
            return max(count, 1)
    return len(rows)


def _fence(lines: Sequence[str], marker: str) -> str:
    return "\n".join([f"<<<{marker}", *lines, f"{marker}>>>"])


def _page(place: Answer) -> str:
    """A page as one cites it; what is no printed page, or was read by OCR, says so."""
    kind = place["page_kind"]
    key = kind if kind in ("rendered", "virtual", "sheet", "slide") else "physical"
    page = tr(f"tool.page.{key}", page=place["page"])
    return tr("ocr.page", page=page) if place["ocr"] else page


def _span(start: int, end: int) -> str:
    return str(start) if start == end else f"{start}-{end}"


def _plain(text: str, limit: int = _NAME) -> str:
    """A name on one line, outside or inside the fence: it cannot start a line of its own."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat if len(flat) <= limit else flat[:limit] + "…"


def _joined(*parts: str) -> str:
    return "\n".join(part for part in parts if part)
