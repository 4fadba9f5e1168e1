"""Texts of the catalogue, the lock, ingest, search and read_range."""

TABLE: dict[str, tuple[str, str]] = {
    "list.separator": ("、", ", "),
    # -- citations
    "citation": (
        "《{source}》第{page}页 第{line_start}-{line_end}行",
        '"{source}", page {page}, lines {line_start}-{line_end}',
    ),
    "citation.one": (
        "《{source}》第{page}页 第{line_start}行",
        '"{source}", page {page}, line {line_start}',
    ),
    # -- the catalogue and its lock
    "catalog.foreign": (
        "fulltext.sqlite3 不是本程序的索引。",
        "fulltext.sqlite3 is not an index of this program.",
    ),
    "catalog.foreign.hint": (
        "请把 KB_DATA_DIR 指向别的文件夹，或移走该文件后重新入库。",
        "Point KB_DATA_DIR to another folder, or move that file away and ingest again.",
    ),
    "catalog.newer": (
        "索引由更新的版本写成（结构版本 {found}，本程序只认识到 {known}）。",
        "The index was written by a newer version (schema {found}; this program knows {known}).",
    ),
    "catalog.newer.hint": (
        "请升级本程序，或把 KB_DATA_DIR 指向别的文件夹。",
        "Upgrade this program, or point KB_DATA_DIR to another folder.",
    ),
    "catalog.unusable": (
        "索引 {name} 无法读写：{reason}",
        "The index {name} cannot be read or written: {reason}",
    ),
    "catalog.unusable.hint": (
        "运行 python -m kb.doctor 查看原因。",
        "Run python -m kb.doctor to see why.",
    ),
    "catalog.counts": (
        "块数不一致：登记 {declared}，SQLite {blocks}，关键词索引 {indexed}",
        "block counts differ: declared {declared}, SQLite {blocks}, keyword index {indexed}",
    ),
    "lock.owner": ("进程 {pid}（{host}，{purpose}）", "process {pid} ({host}, {purpose})"),
    "lock.unknown": ("另一个进程", "another process"),
    "lock.busy": (
        "项目 {project} 正由{owner}写入，等待超时。",
        "Project {project} is being written by {owner}; waiting timed out.",
    ),
    "lock.busy.hint": (
        "稍后再试；要等得更久，请设置 KB_LOCK_WAIT（秒）。",
        "Try again later; to wait longer, set KB_LOCK_WAIT (seconds).",
    ),
    "lock.ingest": ("入库 {source}", "ingesting {source}"),
    "lock.remove": ("删除 {source}", "removing {source}"),
    "lock.chroma": ("打开 Chroma", "opening Chroma"),
    "lock.vectors": ("计算向量", "computing vectors"),
    "lock.rebuild": ("重建关键词索引", "rebuilding the keyword index"),
    # -- configuration and projects
    "config.bad": ("设置无效：{names}", "Settings are not valid: {names}"),
    "config.bad.hint": (
        "对照 .env.example 改正环境变量或 .env。",
        "Compare the environment and .env with .env.example.",
    ),
    "project.bad": ("不能用作项目名：{name}", "This cannot be the name of a project: {name}"),
    "project.bad.hint": (
        '项目名是一个文件夹名：最多 64 字，不含 / \\ : * ? " < > |，不以点开头。',
        'A project is one folder name: up to 64 characters, no / \\ : * ? " < > |, no dot first.',
    ),
    # -- sources
    "source.empty": ("文档名（source）为空。", "The source is empty."),
    "source.empty.hint": (
        "先调用 list_sources 查看有哪些文档。",
        "Call list_sources to see which documents there are.",
    ),
    "source.bad": (
        "不能用作文档名：{source}",
        "This cannot be the name of a source: {source}",
    ),
    "source.bad.hint": (
        "文档名不能含有 .. 或控制字符，例如：政策/2026/规划.pdf",
        "A source holds no .. and no control characters, for example: policy/2026/plan.pdf",
    ),
    "source.long": (
        "文档名超过 {limit} 字节。",
        "The source is longer than {limit} bytes.",
    ),
    "source.none": (
        "知识库里还没有文档，找不到“{source}”。",
        'There is no document yet, so no "{source}".',
    ),
    "source.none.hint": (
        "先入库：python ingest.py 文件（或调用 ingest_file）。",
        "Ingest one first: python ingest.py FILE (or call ingest_file).",
    ),
    "source.unknown": ("没有名为“{source}”的文档。", 'There is no document "{source}".'),
    "source.unknown.hint": (
        "调用 list_sources 查看有哪些文档。",
        "Call list_sources to see which documents there are.",
    ),
    "source.several": (
        "有多个文档的文件名是“{source}”，请写完整名称。",
        'Several documents have the file name "{source}"; give the full source.',
    ),
    "source.near": (
        "相近的文档：{names}。请用其中一个完整名称再调用一次。",
        "Near names: {names}. Call again with one of them in full.",
    ),
    "list.behind": (
        "另有 {count} 个文本块还没有向量，目前只按关键词检索。",
        "{count} blocks have no vector yet and are found by keyword only.",
    ),
    "list.failures": (
        "有 {count} 个对象上次同步未能入库，列在最后。",
        "{count} objects could not be taken by the last sync; they are listed last.",
    ),
    "list.near": (
        "没有名称含“{query}”的文档，下面是相近的。",
        'No source holds "{query}"; these are near.',
    ),
    "list.nothing": (
        '没有名称含“{query}”的文档。用 list_sources(query="") 查看全部。',
        'No source holds "{query}". List them all with list_sources(query="").',
    ),
    # -- files
    "file.no_path": ("路径为空或无效。", "The path is empty or not valid."),
    "file.no_path.hint": (
        '给出对象键或文件路径，例如 ingest_file(path="政策/规划.pdf")。',
        'Give an object key or a file path, for example ingest_file(path="policy/plan.pdf").',
    ),
    "file.missing": ("文件不存在：{name}", "There is no such file: {name}"),
    "file.missing.hint": ("请检查路径。", "Check the path."),
    "file.key.hint": (
        "对象键从 {root} 算起（KB_LOCAL_ROOT）；请检查名称。",
        "Keys start at {root} (KB_LOCAL_ROOT); check the name.",
    ),
    "file.outside": (
        "不允许读取这个位置：{path}",
        "Reading this place is not allowed: {path}",
    ),
    "file.outside.hint": (
        (
            "只能读取这些文件夹：{roots}。要加别的文件夹，请设置 KB_INGEST_ROOTS，"
            "或在命令行运行 python ingest.py 文件。"
        ),
        (
            "Only these folders may be read: {roots}. To add one, set KB_INGEST_ROOTS, "
            "or run python ingest.py FILE in a shell."
        ),
    ),
    "file.folder": ("{name} 是文件夹，不是文档。", "{name} is a folder, not a document."),
    "file.folder.hint": (
        "逐个给出文件；整个文件夹请用命令行：python ingest.py 文件夹。",
        "Give its files one by one; a whole folder goes by the shell: python ingest.py FOLDER.",
    ),
    "file.special": ("{name} 不是普通文件。", "{name} is not a regular file."),
    "file.empty": ("{name} 是空文件（0 字节）。", "{name} is empty (0 bytes)."),
    "file.empty.hint": (
        "请换成有内容的文件再入库。",
        "Replace it by a file with content and ingest again.",
    ),
    "file.large": (
        "{name} 太大：{size} MiB，上限 {limit} MiB。",
        "{name} is too large: {size} MiB, the limit is {limit} MiB.",
    ),
    "file.large.hint": (
        "拆分文档，或调高 KB_MAX_FILE_MB。",
        "Split the document, or raise KB_MAX_FILE_MB.",
    ),
    "file.unreadable": ("读不了 {name}：{reason}", "{name} cannot be read: {reason}"),
    "file.unreadable.hint": (
        "检查文件权限，或关闭正在占用它的程序。",
        "Check its permissions, or close the program that holds it.",
    ),
    # -- ingest
    "ingest.no_text": (
        "{source} 里没有可读的文字。",
        "{source} holds no readable text.",
    ),
    "ingest.no_text.hint": (
        "若是扫描件，请先用 OCR 软件加上文字层再入库。",
        "If it is a scan, add a text layer with OCR software and ingest it again.",
    ),
    "ingest.kept": (
        "（{source} 的第 {version} 版仍然有效，没有改动。）",
        " (Version {version} of {source} still stands, unchanged.)",
    ),
    "ingest.overtaken": (
        "{source} 在此期间被另一个进程替换或删除。",
        "{source} was replaced or removed by another process meanwhile.",
    ),
    "ingest.overtaken.hint": ("再次入库即可", "Ingest it again"),
    "lock.sync": ("同步 {store}", "syncing {store}"),
    "embed.on_purpose": (
        "KB_EMBEDDER=none，不使用向量。",
        "KB_EMBEDDER=none, no vectors are used.",
    ),
    "embed.other_model": (
        (
            "索引里的向量来自 {index}，现在的模型是 {now}，新内容没有计算向量。"
            "要换模型请运行 python ingest.py --rebuild-vectors。"
        ),
        (
            "The index holds vectors of {index}, the model is now {now}: new text got no vectors. "
            "To change the model, run python ingest.py --rebuild-vectors."
        ),
    ),
    "chroma.damaged": ("Chroma 索引不可用：{reason}", "The Chroma index is unusable: {reason}"),
    "chroma.unsealed": (
        "Chroma 的文件与上次写完时不同（未写完、被改动或损坏）",
        "The files of Chroma are not as the last run left them (unfinished, changed or damaged)",
    ),
    "chroma.damaged.hint": (
        "运行 python -m kb.doctor --fix，由 SQLite 重建（不重新计算向量）。",
        "Run python -m kb.doctor --fix: it is rebuilt from SQLite, nothing is embedded again.",
    ),
    # -- search
    "search.empty": (
        "查询里没有可检索的文字。",
        "The query holds nothing that can be searched.",
    ),
    "search.empty.hint": (
        '给出问题或关键词，例如 search(query="数字档案馆 建设资金")。',
        'Give a question or keywords, for example search(query="digital archive budget").',
    ),
    "search.long": (
        "查询太长：{length} 字，上限 {limit} 字。",
        "The query is too long: {length} characters, the limit is {limit}.",
    ),
    "search.long.hint": (
        "用一句话或几个关键词再查一次。",
        "Search again with one sentence or a few keywords.",
    ),
    "search.top_k": (
        "top_k={top_k} 超出范围，应为 1 到 {limit}。",
        "top_k={top_k} is out of range; it is 1 to {limit}.",
    ),
    "search.top_k.hint": (
        '例如 search(query="…", top_k=6)。',
        'For example search(query="…", top_k=6).',
    ),
    "search.relevance": (
        "min_relevance={value} 超出范围，应为 0 到 1。",
        "min_relevance={value} is out of range; it is 0 to 1.",
    ),
    "search.behind": (
        "向量进度 {done}/{total}：还没有向量的内容目前只按关键词检索。",
        "Vectors are at {done}/{total}: the rest is found by keyword only for now.",
    ),
    "search.chroma": (
        "{reason}。本次直接比对 SQLite 中的全部向量：结果相同，只是更慢。",
        "{reason}. SQLite's own vectors were compared instead: the same results, only slower.",
    ),
    "search.keyword_only": (
        "本次只按关键词检索：{reason}",
        "This search is by keyword only: {reason}",
    ),
    "search.keyword_only.pending": (
        "向量还没有算好，本次只按关键词检索（python ingest.py --resume 可继续计算）。",
        (
            "No vectors are ready yet: this search is by keyword only "
            "(python ingest.py --resume goes on computing them)."
        ),
    ),
    "search.keyword_only.model": (
        (
            "索引里的向量来自 {index}，现在的模型是 {now}，本次只按关键词检索。"
            "请运行 python ingest.py --rebuild-vectors。"
        ),
        (
            "The index holds vectors of {index}, the model is now {now}: this search is by keyword "
            "only. Run python ingest.py --rebuild-vectors."
        ),
    ),
    "search.cut": (
        "为控制长度，另有 {count} 个片段没有列出；可减小 top_k 或用 source 缩小范围。",
        "{count} more hits were left out for length; lower top_k or narrow by source.",
    ),
    "search.no_documents": (
        "知识库里还没有文档。先入库：python ingest.py 文件（或调用 ingest_file）。",
        "There is no document yet. Ingest one: python ingest.py FILE (or call ingest_file).",
    ),
    "search.nothing": (
        "没有找到相关内容。换个说法或更短的关键词再试，或用 list_sources 查看有哪些文档。",
        "Nothing was found. Try other or fewer words, or list_sources to see the documents.",
    ),
    "search.no_match": (
        "没有与问题相符的内容（最接近的文档：{names}）。换个说法再试，或用 source 指定文档。",
        "Nothing matches (the nearest documents: {names}). Rephrase, or name a document as source.",
    ),
    "search.nearest": (
        '《{title}》（"{source}"）',
        '{title} ("{source}")',
    ),
    "search.phrase_nowhere": (
        "引号内的原文在检索范围内一处也没有：{phrases}。去掉引号可按意思检索。",
        (
            "These quoted words stand nowhere in what was searched: {phrases}. Without quotes the "
            "search is by meaning."
        ),
    ),
    "search.phrases_apart": (
        "引号内的各段原文都有，但不在同一处。请分别检索。",
        "Each quoted phrase is there, but not in one place. Search for them one by one.",
    ),
    "search.phrase_unchecked": (
        (
            "含有引号内词语的内容太多：只逐字核对了其中最相关的至多 {limit} 处，其余没有核对。"
            "把引号内写得更长，或用 source 缩小范围。"
        ),
        (
            "Too much holds the quoted words: at most {limit} places, the most relevant, were "
            "compared letter by letter, the others were not. Quote more, or narrow by source."
        ),
    ),
    "search.phrase_not_found": (
        "核对过的内容里没有引号内的原文。",
        "The quoted words were not found in what was compared. ",
    ),
    "search.nothing_relevant": (
        "没有相关度达到 {value} 的内容。",
        "Nothing reaches a relevance of {value}.",
    ),
    # -- read_range
    "read.page": (
        "《{source}》没有第 {page} 页，共 {pages} 页。",
        '"{source}" has no page {page}; it has {pages}.',
    ),
    "read.page.hint": (
        'page 应为 1 到 {pages}，例如 read_range(source="{source}", page=1)。',
        'page is 1 to {pages}, for example read_range(source="{source}", page=1).',
    ),
    "read.line_start": (
        "line_start={start} 超出范围：第 {page} 页共 {count} 行。",
        "line_start={start} is out of range: page {page} has {count} lines.",
    ),
    "read.line_end": (
        "line_end={end} 小于 line_start={start}。",
        "line_end={end} is before line_start={start}.",
    ),
    "read.context": (
        "context={context} 超出范围，应为 0 到 {limit}。",
        "context={context} is out of range; it is 0 to {limit}.",
    ),
    "read.lines.hint": (
        (
            "行号为 1 到 {count}，line_end=-1 表示到页末，例如 "
            'read_range(source="{source}", page={page}, line_start=1, line_end=-1)。'
        ),
        (
            "Lines are 1 to {count}, line_end=-1 is the last, for example "
            'read_range(source="{source}", page={page}, line_start=1, line_end=-1).'
        ),
    ),
    "read.no_text": ("本页没有文字。", "This page holds no text."),
    "read.clipped": (
        "本页只有 {count} 行，line_end={end} 已取到第 {count} 行。",
        "This page has {count} lines; line_end={end} was taken as {count}.",
    ),
}
