"""Texts of the command lines: ingest.py, the doctor, the demo."""

TABLE: dict[str, tuple[str, str]] = {
    "cli.ingest": (
        "把文档入库：文件、多个文件或整个文件夹。结果是标准输出上的一份 JSON。",
        "Ingest documents: a file, several, a folder. One JSON document on stdout.",
    ),
    "cli.exit_codes": (
        "退出码：0 成功，1 有失败，2 用法错误，3 文档或参数被拒绝（没有任何改动）。",
        "Exit codes: 0 done, 1 something failed, 2 wrong usage, 3 refused as it is (no change).",
    ),
    "cli.paths": (
        "文件或文件夹；恰好两个参数而第二个不是现有文件时，第二个是文档名（source）",
        "files or folders; of two, a second that is no existing file is the source's name",
    ),
    "cli.source": ("单个文件的文档名（source）", "the source's name, for a single file"),
    "cli.project": ("项目名（默认 KB_PROJECT）", "the project (default: KB_PROJECT)"),
    "cli.dry_run": ("只解析并报告，不写入", "parse and report, write nothing"),
    "cli.list": ("列出所有文档", "list all documents"),
    "cli.remove": ("删除一个文档的所有版本", "remove every version of a document"),
    "cli.resume": (
        "只补算缺少的向量并更新 Chroma",
        "only compute missing vectors and bring Chroma up to date",
    ),
    "cli.rebuild_vectors": (
        "改用当前模型，重新计算所有向量",
        "change to the present model and compute every vector again",
    ),
    "cli.json": ("一行 JSON（默认）", "JSON on one line (default)"),
    "cli.pretty": ("缩进的 JSON", "indented JSON"),
    "cli.quiet": ("不显示进度条", "show no progress bars"),
    "cli.nothing": ("没有给出要入库的文件。", "No file was given."),
    "cli.nothing.hint": (
        "例如 python ingest.py 规划.pdf，或 python ingest.py 文件夹；用法见 --help",
        "For example python ingest.py plan.pdf, or python ingest.py FOLDER; see --help",
    ),
    "cli.one_source": (
        "--source 只能用于单个文件。",
        "--source goes with a single file only.",
    ),
    "cli.one_source.hint": (
        "逐个入库，或去掉 --source：文件夹里的文件以相对路径为名。",
        "Ingest them one by one, or leave --source out: files of a folder are named by their path.",
    ),
    "cli.second_is_source": (
        "{source} 不是现有文件：作为 {file} 的文档名（source）。",
        "{source} is no existing file: taken as the source's name of {file}.",
    ),
    "cli.empty_folder": ("{name} 里没有文件。", "There is no file in {name}."),
    "cli.interrupted": (
        "已中断。已提交的内容不会丢失；再次运行即从中断处继续。",
        "Interrupted. What was committed is safe; run it again to go on from there.",
    ),
    "progress.parse": ("入库", "Ingesting"),
    "progress.embed": ("计算向量", "Embedding"),
    "progress.index": ("更新 Chroma", "Updating Chroma"),
}
