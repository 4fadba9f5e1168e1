"""Texts of the parsers: web."""

TABLE: dict[str, tuple[str, str]] = {
    "web.reason_depth": (
        "标签嵌套过深",
        "its elements are nested too deep",
    ),
    "web.warn_aside": (
        "正文以外的 {count} 个字符（导航、侧栏等）未收录。",
        "{count} characters beside the main text (navigation, sidebars) were left out.",
    ),
    "web.warn_declared": (
        "文件声明的编码是 {declared}，实际按 {encoding} 读取。",
        "The file declares {declared} but was read as {encoding}.",
    ),
    "web.warn_long_line": (
        "最长的一行有 {count} 个字符；按行引用时会很长。",
        "The longest line has {count} characters: a citation by lines is as long.",
    ),
    "web.epub_drm": (
        "《{name}》受数字版权保护（DRM），正文已加密。",
        "{name} is protected by DRM: its text is encrypted.",
    ),
    "web.epub_drm_hint": (
        "请改用没有 DRM 的版本。",
        "Use an edition without DRM.",
    ),
    "web.not_mail": (
        "《{name}》没有邮件头（From、To、Date、Subject），不像一封邮件。",
        "{name} has no mail headers (From, To, Date, Subject): it does not look like mail.",
    ),
    "web.not_mail_hint": (
        "如果它是普通文本，请把后缀改为 .txt 再导入。",
        "If it is plain text, rename it to .txt and ingest that.",
    ),
    "web.warn_attachments": (
        "有 {count} 个附件只列出名称，内容未收录；需要时请单独导入。",
        "{count} attachments are only named; ingest them by themselves if needed.",
    ),
    "web.warn_no_body": ("邮件没有可读的正文。", "The mail has no text of its own."),
    "web.zim_hint": (
        (
            "ZIM 是整个网站的离线包：请用 zimdump dump --dir=文件夹 导出成网页，再导入那个文件夹。"
            "可用的后缀：{suffixes}。"
        ),
        (
            "A ZIM is a whole site: unpack it with zimdump dump --dir=FOLDER and ingest that "
            "folder. Valid suffixes: {suffixes}."
        ),
    ),
}
