"""The results as one Markdown table, as SVG plots, and between the markers of the readmes."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

Results = "Mapping[str, Mapping[str, Mapping[str, Any]]]"

COLUMNS: Final = {
    "hit@1": "hit@1",
    "hit@5": "hit@5",
    "hit@10": "hit@10",
    "lines": "lines",
    "mrr@10": "MRR@10",
    "ndcg@10": "nDCG@10",
    "block@1": "block@1",
    "block@5": "block@5",
    "pool": "pool",
    "span@5": "span@5",
    "auc": "AUC",
    "accepted": "accepted",
    "p50 ms": "p50 ms",
    "p95 ms": "p95 ms",
}
_MARKERS: Final = re.compile(r"(<!-- retrieval -->\n).*?(<!-- /retrieval -->)", re.DOTALL)
_README: Final = ("hit@1", "hit@5", "lines", "block@1", "block@5", "ndcg@10", "auc", "p50 ms")
_COLOURS: Final = ("#bbb", "#999", "#777", "#8ab", "#59a", "#e9a", "#c75", "#274")


def table(results: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """Every figure of every system on every set; - where it was not measured."""
    lines = [f"| set | system | {' | '.join(COLUMNS.values())} |"]
    lines.append("|---" * (len(COLUMNS) + 2) + "|")
    for name, systems in results.items():
        for system, figures in systems.items():
            values = " | ".join(_value(figures.get(column), column) for column in COLUMNS)
            lines.append(f"| {name} | {system} | {values} |")
    return "\n".join(lines)


def readme_table(results: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """The figures that the readmes show, hit@1 with its 95 % interval."""
    lines = [f"| | {' | '.join(COLUMNS[c] for c in _README)} |", "|---" * (len(_README) + 1) + "|"]
    for name, systems in results.items():
        for system, figures in systems.items():
            cells = [_value(figures.get(column), column) for column in _README]
            low, high = figures["hit@1 interval"]
            cells[0] += f" ({low:.0f}–{high:.0f})"
            label = f"**{system}**" if system == "product" else system
            lines.append(f"| {name}: {label} | {' | '.join(cells)} |")
    return "\n".join(lines)


def write_readmes(results: Mapping[str, Mapping[str, Mapping[str, Any]]], root: Path) -> None:
    """Put the table between `<!-- retrieval -->` and `<!-- /retrieval -->`."""
    for name in ("README.md", "README.zh-CN.md"):
        path = root / name
        text = path.read_text(encoding="utf-8")
        filled = _MARKERS.sub(lambda m: f"{m[1]}{readme_table(results)}\n{m[2]}", text)
        path.write_text(filled, encoding="utf-8", newline="\n")


def _value(value: float | None, column: str) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if column == "auc" else f"{value:.1f}"


def plot(results: Mapping[str, Mapping[str, Mapping[str, Any]]], metric: str) -> str:
    """An SVG bar chart of one metric (per cent): a group a set, a bar a system, with intervals."""
    systems = list(dict.fromkeys(name for group in results.values() for name in group))
    bar, gap, height, left = 14, 24, 240, 40
    group_width = bar * len(systems) + gap
    width = left + group_width * len(results) + 150
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + 50}"'
            ' font-family="sans-serif" font-size="11">'
        ),
        f'<text x="{left}" y="14">{escape(metric)}</text>',
    ]
    for tick in range(0, 101, 20):
        y = 20 + height - height * tick / 100
        parts.append(f'<line x1="{left}" x2="{width - 150}" y1="{y}" y2="{y}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 6}" y="{y + 4}" text-anchor="end">{tick}</text>')
    for i, (name, group) in enumerate(results.items()):
        x = left + gap / 2 + i * group_width
        parts.append(f'<text x="{x}" y="{height + 36}">{escape(name)}</text>')
        parts += [
            _bar(x + j * bar, bar - 2, height, group[system], metric, _COLOURS[j % len(_COLOURS)])
            for j, system in enumerate(systems)
            if system in group
        ]
    parts += _legend(systems, width - 140)
    return "\n".join([*parts, "</svg>\n"])


def _bar(
    x: float, width: float, height: int, figures: Mapping[str, Any], metric: str, colour: str
) -> str:
    top = height * figures[metric] / 100
    y = 20 + height - top
    shape = f'<rect x="{x}" y="{y:.1f}" width="{width}" height="{top:.1f}" fill="{colour}"/>'
    if f"{metric} interval" not in figures:
        return shape
    low, high = (20 + height - height * v / 100 for v in figures[f"{metric} interval"])
    middle = x + width / 2
    return shape + f'<path d="M{middle} {low:.1f}V{high:.1f}" stroke="#000"/>'


def _legend(systems: Sequence[str], x: int) -> list[str]:
    return [
        f'<rect x="{x}" y="{24 + 16 * i}" width="10" height="10" fill="{_COLOURS[i % 8]}"/>'
        f'<text x="{x + 14}" y="{33 + 16 * i}">{escape(system)}</text>'
        for i, system in enumerate(systems)
    ]
