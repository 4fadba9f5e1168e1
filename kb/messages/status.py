"""Texts of `ingest.py --status`, `--show` and of the summary at the end."""

TABLE: dict[str, tuple[str, str]] = {
    "cli.status": (
        "各项目的文档、页、块、占用、模型、上次同步和失败；终端上是表格，否则是 JSON",
        "documents, pages, blocks, bytes, model, last sync, failures; a table on a terminal",
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
