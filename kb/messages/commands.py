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
    "cli.sync": (
        "让索引与存储的列表一致：新增、改动、移动、删除",
        "make the index equal to the store's listing: new, changed, moved, deleted",
    ),
    "cli.prefix": ("只同步键以此开头的对象", "only objects whose key starts with this"),
    "cli.bucket": ("存储桶（默认 MINIO_BUCKET）", "the bucket (default: MINIO_BUCKET)"),
    "cli.delete": (
        "列表里没有的就删除（默认，但列表为空时不删）；--delete 为空时也删，--no-delete 从不删",
        (
            "drop what is not listed (default, but not on an empty listing); --delete then too,"
            " --no-delete never"
        ),
    ),
    "cli.watch": (
        "持续运行，每隔这么多秒同步一次，每次输出一行 JSON",
        "go on, sync every so many seconds, one JSON line each",
    ),
    "cli.workers": ("同时读取和解析的对象数", "objects that are read and parsed at once"),
    "cli.only_sync": (
        "--prefix、--bucket、--delete、--watch 只与 --sync 连用。",
        "--prefix, --bucket, --delete and --watch go with --sync only.",
    ),
    "cli.only_sync.hint": (
        "例如 python ingest.py --sync --prefix 政策/",
        "For example python ingest.py --sync --prefix policies/",
    ),
    "cli.sync_paths": ("--sync 不接受文件。", "--sync takes no files."),
    "cli.sync_paths.hint": (
        "要同步一部分，用 --prefix；要入库单个对象，去掉 --sync",
        "To sync a part, use --prefix; to take one object, leave --sync out",
    ),
    "cli.resume": (
        "只补算缺少的向量并更新 Chroma",
        "only compute missing vectors and bring Chroma up to date",
    ),
    "cli.rebuild_vectors": (
        "改用当前模型，重新计算所有向量",
        "change to the present model and compute every vector again",
    ),
    "cli.json": ("一行 JSON（默认），并且同 --quiet", "JSON on one line (default), and --quiet"),
    "cli.pretty": ("缩进的 JSON", "indented JSON"),
    "cli.quiet": ("不显示进度和警告，只说失败", "no progress and no warnings, only failures"),
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
    "cli.fault": ("程序出错：{reason}", "A fault of this program: {reason}"),
    "cli.fault.hint": (
        "原有内容没有改动。请附上标准错误里的详细信息报告这个问题。",
        "What was there before is unchanged. Please report this with the details on stderr.",
    ),
    "cli.empty_folder": ("{name} 里没有文件。", "There is no file in {name}."),
    "cli.interrupted": (
        "已中断。已提交的内容不会丢失；再次运行即从中断处继续。",
        "Interrupted. What was committed is safe; run it again to go on from there.",
    ),
    "progress.parse": ("入库", "Ingesting"),
    "progress.ocr": ("识别扫描页", "Reading scanned pages"),
    "progress.embed": ("计算向量", "Embedding"),
    "progress.index": ("更新 Chroma", "Updating Chroma"),
    "progress.download": ("下载模型", "Downloading the model"),
    "doctor.about": (
        "检查运行环境和索引，每项一行；有问题的一项给出修复命令。",
        "Check the environment and the index, a line each; a failed one names what mends it.",
    ),
    "doctor.fix_help": ("重建能重建的一切", "rebuild whatever can be rebuilt"),
    "doctor.download_help": (
        "下载向量模型或重排模型（默认 {default}；镜像用环境变量 HF_ENDPOINT）",
        "download an embedding model or a reranker (default {default}; HF_ENDPOINT names a mirror)",
    ),
    "doctor.json_help": ("以 JSON 输出", "answer in JSON"),
    "doctor.rebuilding": (
        "正在由页面文本重建关键词索引……",
        "Rebuilding the keyword index from the pages…",
    ),
    "doctor.downloaded": (
        "模型 {name} 已放入 {folder}。换用它：python ingest.py --rebuild-vectors",
        "Model {name} is in {folder}. To change to it: python ingest.py --rebuild-vectors",
    ),
    "doctor.python": ("Python", "Python"),
    "doctor.python.remedy": (
        "安装 Python 3.10–3.13，然后 {command}",
        "Install Python 3.10 to 3.13, then {command}",
    ),
    "doctor.sqlite": ("SQLite", "SQLite"),
    "doctor.no_fts5": (
        "SQLite {version} 没有 FTS5",
        "SQLite {version} has no FTS5",
    ),
    "doctor.chroma": ("Chroma", "Chroma"),
    "doctor.not_installed": ("未安装", "not installed"),
    "doctor.model": ("向量模型", "Embedding model"),
    "doctor.model.ok": (
        "{name}，{dimension} 维，首次加载并算一句用时 {seconds:.2f} 秒",
        "{name}, {dimension} dimensions, loaded and embedded a question in {seconds:.2f} s",
    ),
    "doctor.model.other": (
        "现在是 {now}，索引里的向量来自 {index}",
        "now {now}, the index holds vectors of {index}",
    ),
    "doctor.ocr": ("扫描页识别（OCR）", "Reading scans (OCR)"),
    "doctor.objects": ("文档所在", "Object store"),
    "doctor.objects.unused": (
        "文件夹 {folder} 不存在（只用文件路径入库则不需要）",
        "the folder {folder} does not exist (not needed for files given by path)",
    ),
    "doctor.data": ("数据文件夹", "Data folder"),
    "doctor.data.remedy": (
        "改正文件夹权限，或指向可写的位置：{command}",
        "Make the folder writable, or use one that is: {command}",
    ),
    "doctor.disk": ("磁盘", "Disk"),
    "doctor.disk.free": ("可用 {gib:.1f} GiB", "{gib:.1f} GiB free"),
    "doctor.disk.remedy": (
        "清理磁盘，或指向别的磁盘：{command}",
        "Free some space, or use another disk: {command}",
    ),
    "doctor.catalog": ("文档与关键词索引", "Documents and keyword index"),
    "doctor.catalog.ok": (
        "{documents} 个文档，{blocks} 块",
        "{documents} documents, {blocks} blocks",
    ),
    "doctor.stores": ("两个库的块数", "Blocks in both stores"),
    "doctor.stores.detail": (
        "共 {blocks} 块，有向量 {vectors}，Chroma 中 {chroma}",
        "{blocks} blocks, {vectors} with a vector, {chroma} in Chroma",
    ),
    "doctor.stores.stale": (
        "Chroma 与 SQLite 不是同一个索引",
        "Chroma is not the index that SQLite wrote",
    ),
    "doctor.lock": ("写锁", "Write lock"),
    "doctor.lock.free": ("空闲", "free"),
    "doctor.console": ("控制台编码", "Console encoding"),
    "demo.ingested": (
        "已入库 {source}：{state}，{pages} 页，{blocks} 块",
        "{source}: {state}, {pages} pages, {blocks} blocks",
    ),
    "demo.clients": (
        "\n把下面的一段粘贴到你的客户端（要检索示例文档，请在 env 里加 KB_PROJECT={project}）：\n",
        "\nPaste one of these into your client (for the samples, add KB_PROJECT={project}):\n",
    ),
}
