"""Texts of `ingest.py --status`, `--show` and of the summary at the end."""

TABLE: dict[str, tuple[str, str]] = {
    "cli.status": (
        "各项目的文档、页、块、占用、模型、上次同步和失败；终端上是表格，否则是 JSON",
        "documents, pages, blocks, bytes, model, last sync, failures; a table on a terminal",
    ),
    "summary.title": ("需要留意的文档", "Documents to look at"),
    "summary.source": ("文档", "Document"),
    "summary.state": ("结果", "Outcome"),
    "summary.warnings": ("说明", "What to know"),
    "summary.total": (
        (
            "{documents:,} 个文档（{states}），{pages:,} 页，{blocks:,} 块，"
            "{warnings:,} 条警告，{seconds:.1f} 秒"
        ),
        (
            "{documents:,} documents ({states}), {pages:,} pages, {blocks:,} blocks,"
            " {warnings:,} warnings, {seconds:.1f} s"
        ),
    ),
    "summary.synced": (
        "{documents:,} 个文档（{states}），{blocks:,} 块，{warnings:,} 条警告，{seconds:.1f} 秒",
        (
            "{documents:,} documents ({states}), {blocks:,} blocks, {warnings:,} warnings,"
            " {seconds:.1f} s"
        ),
    ),
    "summary.more": (
        "还有 {count:,} 个，见 JSON 或 --list",
        "{count:,} more: see the JSON, or --list",
    ),
    "progress.pages": ("读取页面", "Reading pages"),
    "cli.show": (
        "把一页画成图片并框出所引的行（PDF、OFD、幻灯片、图片），其他格式写成文本；打印文件路径",
        "draw a page with the cited lines boxed (PDF, OFD, slides, images), else write it as text",
    ),
    "cli.page": ("页号，从 1 起", "the page, from 1"),
    "cli.lines": ("行号，例如 3-8 或 5（默认整页）", "the lines, 3-8 or 5 (default: all)"),
    "cli.show_page": (
        "--show 需要 --page，--page 和 --lines 只与 --show 连用。",
        "--show needs --page; --page and --lines go with --show only.",
    ),
    "cli.show_page.hint": (
        "例如 python ingest.py --show 规划.pdf --page 5 --lines 3-8",
        "For example python ingest.py --show plan.pdf --page 5 --lines 3-8",
    ),
    "show.no_geometry": (
        "这种格式没有版面位置（或这一页是空白的），因此写成文本。",
        "This format has no places on a page (or the page is empty): written as text.",
    ),
    "show.no_boxes": (
        "这一页没有行的位置，没有画框。",
        "The lines of this page have no places: nothing is boxed.",
    ),
    "show.sketch": (
        "幻灯片画成示意图：文字在其所在图形的位置，不是放映的样子。",
        "A slide is drawn as a sketch: text where its shape stands, not as it is presented.",
    ),
    "show.changed": (
        "{origin} 已不是《{source}》入库时的内容（SHA-256 不同），不能用来核对。",
        'The bytes of {origin} are no longer those of "{source}" (another SHA-256).',
    ),
    "show.differs": (
        "《{source}》第 {page} 页现在读出的文字与入库时不同（解析器或 OCR 设置变了）。",
        'Page {page} of "{source}" would be read differently now (other parser or OCR settings).',
    ),
    "show.again.hint": (
        '重新入库后再看：python ingest.py "{origin}" --source "{source}"',
        'Ingest it again first: python ingest.py "{origin}" --source "{source}"',
    ),
    "show.gone": (
        "《{source}》的原件 {origin} 不在了，无法画出。",
        'The original of "{source}", {origin}, is gone: it cannot be drawn.',
    ),
    "show.gone.hint": (
        "把原件放回 {origin}；入库的文字仍可用 read_range 读取",
        "Put it back to {origin}; read_range still reads the stored text",
    ),
    "status.title": ("项目 {project}（{folder}）", "Project {project} ({folder})"),
    "status.error": ("读不出", "Cannot be read"),
    "status.documents": ("文档", "Documents"),
    "status.pages": ("页", "Pages"),
    "status.blocks": ("块", "Blocks"),
    "status.vectors": ("向量", "Vectors"),
    "status.vectors.of": ("{done:,}，还差 {pending:,}", "{done:,}, {pending:,} to come"),
    "status.size": ("占用", "Size"),
    "status.model": ("向量模型", "Embedding model"),
    "status.last_ingest": ("上次入库", "Last ingest"),
    "status.last_sync": ("上次同步", "Last sync"),
    "status.warned": ("有警告的文档", "Documents with warnings"),
    "status.failures": ("未能入库的对象", "Objects not taken"),
}
