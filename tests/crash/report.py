"""The figures of a long run, written between the markers of both READMEs."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MARKS = ("<!-- crash figures: written by `make crash` -->", "<!-- end of crash figures -->")


def write_readmes(figures):
    for page, lines in (("README.md", english(figures)), ("README.zh-CN.md", chinese(figures))):
        path = ROOT / page
        text = path.read_text(encoding="utf-8")
        start, end = map(re.escape, MARKS)
        changed, count = re.subn(f"{start}.*?{end}", _verbatim(lines), text, flags=re.DOTALL)
        if count != 1:
            raise SystemExit(f"{page}: no place for the figures")
        path.write_text(changed, encoding="utf-8", newline="\n")


def _verbatim(lines):
    return lambda _match: f"{MARKS[0]}\n{lines}\n{MARKS[1]}"


def english(f):
    d, s, w = f["damage"], f["soak"], f["faults"]
    return "\n".join(
        [
            (
                f"- {f['kills']} kills at {f['places']} named places and at random moments"
                f" ({f['kills of the real command line']} of them of the whole command line):"
                f" {f['violations']} contradictions of the reference model (lost, doubled, mixed or"
                f" invented blocks); slowest reopening {f['slowest reopening, s']} s."
            ),
            (
                f"- {d['damages']} damages of Chroma's files ({d['under an open reader']} under an open"
                f" reader, {d['vectors']} vectors): {d['violations']} answers that differed, crashed or"
                f" hung; slowest answer {d['slowest answer, s']} s."
            ),
            (
                f"- ENOSPC, EIO or EROFS at the Nth write of an ingest, {w['faults']} times (N up to"
                f" {f['last write']}): {w['violations']} crashes, lost states or runs that did not"
                " recover."
            ),
            (
                f"- 4 readers and 2 writers for {s['seconds']} s: {s['searches']} searches and"
                f" {s['reads']} reads during {s['changes']} changes, {s['stale']} stale,"
                f" {s['errors']} errors."
            ),
        ]
    )


def chinese(f):
    d, s, w = f["damage"], f["soak"], f["faults"]
    return "\n".join(
        [
            (
                f"- 在 {f['places']} 个命名位置和随机时刻共强杀 {f['kills']} 次"
                f"（其中 {f['kills of the real command line']} 次是完整的命令行）："
                f"与参照模型不符（丢失、重复、新旧混杂或凭空出现的块）{f['violations']} 次；"
                f"最慢的一次重新打开用时 {f['slowest reopening, s']} 秒。"
            ),
            (
                f"- 损坏 Chroma 文件 {d['damages']} 次（{d['under an open reader']} 次在读者已打开之后，"
                f"共 {d['vectors']} 个向量）：结果不同、崩溃或卡住 {d['violations']} 次；"
                f"最慢的一次回答用时 {d['slowest answer, s']} 秒。"
            ),
            (
                f"- 入库时第 N 次写失败（ENOSPC、EIO、EROFS，N 到 {f['last write']}）{w['faults']} 次："
                f"崩溃、丢失原有状态或不能恢复 {w['violations']} 次。"
            ),
            (
                f"- 4 个读者与 2 个写者同时工作 {s['seconds']} 秒：{s['changes']} 次改动期间检索"
                f" {s['searches']} 次、读取 {s['reads']} 次，过期结果 {s['stale']} 次，"
                f"错误 {s['errors']} 次。"
            ),
        ]
    )
