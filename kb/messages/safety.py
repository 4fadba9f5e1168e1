"""Texts of backup, restore, migration and earlier versions' data."""

TABLE: dict[str, tuple[str, str]] = {
    "lock.restore": ("恢复 {file}", "restoring {file}"),
    "lock.waiting": (
        "项目 {project} 正由{owner}写入，等待中……",
        "Project {project} is being written by {owner}: waiting …",
    ),
    "lock.migrate": ("升级索引", "bringing the index up to date"),
    "cli.backup": (
        "把本项目的索引备份到 FILE（服务运行时也一致）",
        "back up the project's index to FILE, consistent while it is served",
    ),
    "cli.restore": (
        "用备份 FILE 替换本项目的索引（先检查），并重建 Chroma",
        "replace the project's index with the backup FILE, checked first; Chroma is rebuilt",
    ),
    "backup.nothing": (
        "项目 {project} 里还没有文档，没有可备份的内容。",
        "Project {project} holds no documents: there is nothing to back up.",
    ),
    "backup.target": (
        "{file} 不能作为备份文件：它是文件夹，或在索引自己的文件夹里。",
        "{file} cannot be the backup: it is a folder, or lies in the index's own folder.",
    ),
    "backup.target.hint": (
        "请给出数据文件夹以外的文件名。",
        "Name a file outside the data folder.",
    ),
    "backup.failed": ("备份到 {file} 失败：{reason}", "The backup to {file} failed: {reason}"),
    "backup.unsound": (
        "{file} 的内容不完整：{reason}",
        "The content of {file} is not sound: {reason}",
    ),
    "restore.missing": ("没有备份文件 {file}。", "There is no backup {file}."),
    "restore.missing.hint": (
        "备份由 python ingest.py --backup FILE 生成。",
        "A backup is made by python ingest.py --backup FILE.",
    ),
    "restore.refused": ("不能从 {file} 恢复：{reason}", "{file} cannot be restored: {reason}"),
    "restore.foreign": ("它不是本程序的备份。", "it is no backup of this program."),
    "restore.kept": ("现有索引没有改动。", "The present index was left as it is."),
    "catalog.busy": (
        "{name} 正被另一个程序锁住。",
        "{name} is locked by another program.",
    ),
    "catalog.older": (
        "索引由较早版本写成（结构 {found}，现在是 {known}），需要升级，但不能写入：{reason}",
        (
            "The index was written by an earlier version (schema {found}, now {known}) and must be"
            " brought up to date, but it cannot be written: {reason}"
        ),
    ),
    "catalog.older.hint": (
        "让数据文件夹可写后运行 python ingest.py --list。",
        "Make the data folder writable, then run python ingest.py --list.",
    ),
    "legacy.found": (
        (
            "{folder} 是插件 v1/v2 留下的 Chroma 数据，没有原文，不能直接使用；"
            "请重新入库（旧数据不会被删除）：{sources}"
        ),
        (
            "{folder} is Chroma data of the plugin's v1/v2: it cannot be used as it is. Ingest"
            " again (the old data is not deleted): {sources}"
        ),
    ),
    "legacy.unnamed": ("（读不出文档名）", "(the documents' names cannot be read)"),
    "doctor.legacy": ("旧版数据", "Data of v1/v2"),
    "doctor.legacy.none": ("没有", "none"),
}
