"""Read exact lines and list documents: plain dicts out, ready for `json.dumps`.

python -c "from fulltext import read_range; print(read_range('规划.pdf', 16, 1, 20))"
"""

from __future__ import annotations

from typing import Any

from chroma_store import list_sources
from kb.app import open_kb

__all__ = ["list_sources", "read_range"]


def read_range(
    source: str,
    page: int,
    line_start: int = 1,
    line_end: int = -1,
    context: int = 0,
    *,
    project: str | None = None,
) -> dict[str, Any]:
    """Lines `line_start` to `line_end` of a page, 1-based and inclusive; -1 is the last line.

    `context` (0-50) adds lines on both sides. When `truncated`, `next` holds the arguments of the
    call that continues. Raises KbError: message and hint.
    """
    passage = open_kb().read_range(source, page, line_start, line_end, context, project)
    return {
        "source": passage.source,
        "version": passage.version,
        "page": passage.page,
        "pages": passage.pages,
        "page_lines": passage.page_lines,
        "page_kind": passage.page_kind,
        "page_label": passage.page_label,
        "ocr": passage.ocr,
        "line_start": passage.line_start,
        "line_end": passage.line_end,
        "lines": [{"line": line.line, "text": line.text} for line in passage.lines],
        "truncated": passage.truncated,
        "next": passage.next,
        **({"notice": passage.notice} if passage.notice else {}),
    }
