"""Texts of the parsers: OFD, and Word 97 through other programs."""

TABLE: dict[str, tuple[str, str]] = {
    "ofd.span": ("第 {first}–{last} 页是《{title}》", "pages {first}–{last} are {title}"),
    "ofd.warn_documents": (
        "文件里有 {count} 个文档，页码连续编排：{spans}。",
        "The file holds {count} documents, their pages counted on: {spans}.",
    ),
    "ofd.warn_glyphs": (
        "第 {pages} 页有 {count} 个字形在文件里没有对应的文字，这部分内容缺失。",
        "On pages {pages} the file gives no characters for {count} glyphs: they are missing here.",
    ),
    "ofd.warn_attachments": (
        "附件未收录：{names}。",
        "Attachments were left out: {names}.",
    ),
    "ofd.warn_signatures": (
        "有 {count} 个电子签章：未验证，印章图形中的文字未收录。",
        "{count} electronic seals: not verified, and text in their pictures was left out.",
    ),
    "doc.no_tool": (
        "读取《{name}》（旧版 Word 或 RTF）需要借助其他程序，本机没有找到。",
        "Reading {name} (old Word, or RTF) takes another program, and none was found here.",
    ),
    "doc.install_doc_linux": (
        "请安装其一：apt install antiword（或 catdoc、libreoffice-writer），或另存为 .docx。",
        "Install one: apt install antiword (or catdoc, libreoffice-writer); or save it as .docx.",
    ),
    "doc.install_doc_macos": (
        "请安装其一：brew install --cask libreoffice，或 brew install antiword，或另存为 .docx。",
        "Install one: brew install --cask libreoffice, brew install antiword; or save it as .docx.",
    ),
    "doc.install_doc_windows": (
        "请安装 LibreOffice（winget install TheDocumentFoundation.LibreOffice），或另存为 .docx。",
        (
            "Install LibreOffice (winget install TheDocumentFoundation.LibreOffice); or save it as "
            ".docx."
        ),
    ),
    "doc.install_rtf_linux": (
        "请安装 LibreOffice（apt install libreoffice-writer），或另存为 .docx。",
        "Install LibreOffice (apt install libreoffice-writer); or save it as .docx.",
    ),
    "doc.install_rtf_macos": (
        "请安装 LibreOffice（brew install --cask libreoffice），或另存为 .docx。",
        "Install LibreOffice (brew install --cask libreoffice); or save it as .docx.",
    ),
    "doc.install_rtf_windows": (
        "请安装 LibreOffice（winget install TheDocumentFoundation.LibreOffice），或另存为 .docx。",
        (
            "Install LibreOffice (winget install TheDocumentFoundation.LibreOffice); or save it as "
            ".docx."
        ),
    ),
    "doc.unreadable": (
        "《{name}》无法读出（试过 {tools}）：可能已损坏，或没有文字。",
        "{name} could not be read (tried {tools}): it may be damaged, or hold no text.",
    ),
    "doc.warn_full": (
        "正文由 {tool} 转换读出，分页可能与 Word 中不同。",
        "The text was read by {tool}; its pages may differ from Word's.",
    ),
    "doc.warn_plain": (
        "正文由 {tool} 读出，不含自动编号、页眉页脚等；安装 LibreOffice 后重新导入可以读全。",
        (
            "The text was read by {tool}, without automatic numbers, headers and the like; with "
            "LibreOffice installed it is read in full."
        ),
    ),
    "ofd.and_more": ("{names} 等 {count} 个", "{names} and more, {count} in all"),
}
