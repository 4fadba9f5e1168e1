"""Texts of parsing: what is wrong with a document, and what to do about it."""

TABLE: dict[str, tuple[str, str]] = {
    # Before any parser
    "parse.unknown_suffix": (
        "《{name}》的格式不受支持。",
        "The format of {name} is not supported.",
    ),
    "parse.valid_suffixes": (
        "可用的后缀：{suffixes}。",
        "Valid suffixes: {suffixes}.",
    ),
    "parse.save_as": (
        "请另存为 {suffix} 后再导入。可用的后缀：{suffixes}。",
        "Save it as {suffix} and ingest that. Valid suffixes: {suffixes}.",
    ),
    "parse.missing": ("找不到文件：{path}", "There is no file at {path}"),
    "parse.missing_hint": (
        "请检查路径；相对路径从当前目录算起。",
        "Check the path; a relative one starts at the working directory.",
    ),
    "parse.directory": ("{path} 是文件夹，不是文件。", "{path} is a folder, not a file."),
    "parse.directory_hint": (
        "请给出其中一个文件，或用 python ingest.py 文件夹 导入整个文件夹。",
        "Name one file in it, or ingest it whole with: python ingest.py FOLDER",
    ),
    "parse.special": ("{path} 不是普通文件。", "{path} is not a regular file."),
    "parse.special_hint": (
        "请先复制成普通文件再导入。",
        "Copy it to a regular file and ingest that.",
    ),
    "parse.unreadable": ("无法读取《{name}》：{reason}", "{name} cannot be read: {reason}"),
    "parse.unreadable_hint": (
        "请检查文件权限，以及它是否被别的程序占用。",
        "Check its permissions, and whether another program holds it.",
    ),
    "parse.empty_file": ("《{name}》是空文件（0 字节）。", "{name} is empty (0 bytes)."),
    "parse.empty_hint": (
        "请确认文件已完整下载或保存，再重新导入。",
        "Make sure it was downloaded or saved in full, then ingest it again.",
    ),
    "parse.too_large": (
        "《{name}》有 {size} MiB，超过上限 {limit} MiB。",
        "{name} is {size} MiB, the limit is {limit} MiB.",
    ),
    "parse.too_large_hint": (
        "请拆分文件，或调大 KB_MAX_FILE_MB。",
        "Split it, or raise KB_MAX_FILE_MB.",
    ),
    "parse.wrong_type": (
        "《{name}》的内容看起来是 {found}，不是 {expected}。",
        "{name} looks like {found}, not {expected}.",
    ),
    "parse.wrong_type_hint": (
        "如果它确实是 {found}，请把后缀改为 {suffix} 再导入。",
        "If it really is {found}, rename it to {suffix} and ingest that.",
    ),
    "parse.resave_hint": (
        "请用原来的程序打开它，重新保存或导出后再导入。",
        "Open it in the program that made it, save or export it again, and ingest that.",
    ),
    "parse.encrypted": (
        "《{name}》已加密，需要密码才能打开。",
        "{name} is encrypted: it needs a password to open.",
    ),
    "parse.encrypted_hint": (
        "请去掉密码另存一份，再导入那一份。",
        "Save a copy without the password and ingest that.",
    ),
    "parse.damaged": (
        "《{name}》已损坏或不完整：{reason}",
        "{name} is damaged or incomplete: {reason}",
    ),
    "parse.reason_zip": ("压缩包目录读不出来", "its zip directory cannot be read"),
    "parse.reason_xml": ("其中的 XML 无效", "its XML is not valid"),
    "parse.reason_part": ("缺少部件 {part}", "its part {part} is missing"),
    "parse.reason_open": ("PDF 结构读不出来", "its PDF structure cannot be read"),
    "parse.zip_entries": (
        "《{name}》的压缩包有 {count} 个条目，超过上限 {limit}。",
        "The zip of {name} has {count} entries, the limit is {limit}.",
    ),
    "parse.zip_expands": (
        "《{name}》解压后有 {size} MiB，超过上限 {limit} MiB，像是压缩炸弹。",
        "{name} expands to {size} MiB, the limit is {limit} MiB: it looks like a zip bomb.",
    ),
    "parse.zip_ratio": (
        "《{name}》解压后是原来的 {ratio} 倍（上限 {limit} 倍），像是压缩炸弹。",
        "{name} expands {ratio}-fold, the limit is {limit}-fold: it looks like a zip bomb.",
    ),
    # Inside parsers
    "parse.no_pages": ("《{name}》没有任何页。", "{name} has no pages."),
    "parse.no_text": (
        "《{name}》里没有可读的文字。",
        "There is no text to read in {name}.",
    ),
    "parse.no_text_scanned": (
        "《{name}》的 {pages} 页都没有文字，可能是扫描件；目前还不能识别图片中的文字。",
        (
            "None of the {pages} pages of {name} holds text: it may be a scan, and reading text "
            "from images (OCR) is not available yet."
        ),
    ),
    "parse.no_text_scanned_hint": (
        "请先用 OCR 软件生成带文字层的 PDF，再导入那一份。",
        "Make a PDF with a text layer with an OCR program and ingest that.",
    ),
    "parse.binary": (
        "《{name}》不是文本文件：其中多为二进制内容。",
        "{name} is not a text file: most of it is binary.",
    ),
    "parse.binary_hint": (
        "请确认后缀与内容相符。可用的后缀：{suffixes}。",
        "Make sure that the suffix fits the content. Valid suffixes: {suffixes}.",
    ),
    # Limits of the sandbox
    "parse.wall": (
        "解析《{name}》超过 {seconds} 秒，已中止。",
        "Parsing {name} took more than {seconds} s and was stopped.",
    ),
    "parse.wall_hint": (
        "请拆分文件，或调大 KB_PARSE_SECONDS。",
        "Split the file, or raise KB_PARSE_SECONDS.",
    ),
    "parse.memory": (
        "解析《{name}》需要超过 {limit} MiB 内存，已中止。",
        "Parsing {name} needs more than {limit} MiB of memory and was stopped.",
    ),
    "parse.memory_hint": (
        "请拆分文件，或调大 KB_PARSE_MEMORY_MB。",
        "Split the file, or raise KB_PARSE_MEMORY_MB.",
    ),
    "parse.output": (
        "《{name}》解析出的文字超过 {limit} MiB，已中止。",
        "{name} yields more than {limit} MiB of text and was stopped.",
    ),
    "parse.output_hint": ("请拆分文件。", "Split the file."),
    "parse.signal": (
        "解析《{name}》时解析器崩溃（{signal}）。",
        "The parser crashed on {name} ({signal}).",
    ),
    "parse.exit": (
        "解析《{name}》时解析器意外退出（退出码 {code}）。",
        "The parser ended unexpectedly on {name} (exit code {code}).",
    ),
    "parse.broke": (
        "解析《{name}》时出错（{error}）。",
        "The parser failed on {name} ({error}).",
    ),
    "parse.bad_answer": (
        "解析《{name}》的结果不合规范，未采用。",
        "The parser's result for {name} is not well formed and was not used.",
    ),
    "parse.broke_hint": (
        "文件可能已损坏；请重新保存或另存为 PDF 后再导入。",
        "The file may be damaged; save it again, or as PDF, and ingest that.",
    ),
    "parse.no_worker": (
        "无法启动解析进程：{reason}",
        "The parser process cannot be started: {reason}",
    ),
    "parse.no_worker_hint": (
        "请运行 python -m kb.doctor 检查环境。",
        "Run python -m kb.doctor to check the installation.",
    ),
    # Warnings
    "parse.warn_replaced": (
        "有 {count} 个字符无法解码或无效，已用 U+FFFD 代替。",
        "{count} characters could not be decoded or are not valid: shown as U+FFFD.",
    ),
    "parse.warn_guessed": (
        "文件没有声明编码，推断为 {encoding}；如有乱码，请转成 UTF-8 后重新导入。",
        (
            "The file does not declare its encoding, {encoding} is a guess; if the text is "
            "garbled, convert it to UTF-8 and ingest it again."
        ),
    ),
    "parse.warn_no_text": (
        "第 {pages} 页没有文字（可能是扫描页）。",
        "Pages {pages} hold no text (scanned?).",
    ),
    "parse.warn_garbled": (
        "第 {pages} 页的文字可能是乱码（字体没有 Unicode 对照表）。",
        "The text of pages {pages} may be garbled (a font has no Unicode map).",
    ),
    "parse.warn_page_failed": (
        "第 {pages} 页读取失败，内容缺失。",
        "Pages {pages} could not be read; their content is missing.",
    ),
    "parse.warn_page_damaged": (
        "第 {pages} 页有损坏，可能缺少部分文字。",
        "Pages {pages} are damaged; some of their text may be missing.",
    ),
    "parse.warn_repaired": (
        "文件有损坏，已修复后读出 {pages} 页；原文可能还有更多页。",
        "The file is damaged and was repaired to {pages} pages; the original may have had more.",
    ),
    "parse.warn_cut": (
        "文件末尾不完整（可能下载中断），读出 {pages} 页；原文可能还有更多页。",
        (
            "The end of the file is missing (an interrupted download?): {pages} pages were read, "
            "the original may have had more."
        ),
    ),
    "parse.warn_hidden": (
        "有 {count} 个隐藏文字字符未收录。",
        "{count} characters of hidden text were left out.",
    ),
    "parse.warn_comments": (
        "有 {count} 条批注未收录。",
        "{count} comments were left out.",
    ),
    "parse.warn_embedded": (
        "有 {count} 个嵌入的外部文档片段（altChunk）未收录。",
        "{count} embedded document parts (altChunk) were left out.",
    ),
    "parse.warn_drawings": (
        "有 {count} 个图表或 SmartArt 图形中的文字未收录。",
        "The text of {count} charts or SmartArt drawings was left out.",
    ),
    "parse.warn_part": (
        "部件 {part} 缺失或损坏，其内容未收录。",
        "The part {part} is missing or damaged; its content was left out.",
    ),
    "parse.and_more": ("{pages} 等 {count} 页", "{pages} and more, {count} in all"),
}
