"""Texts of the parsers: ofd."""

TABLE: dict[str, tuple[str, str]] = {
    "ofd.no_text": (
        "《{name}》的 {pages} 页都没有文字：内容是图片，或文字已转成图形。",
        "None of the {pages} pages of {name} holds text: they are pictures, or text as drawings.",
    ),
    "ofd.no_text_hint": (
        "请用 OFD 阅读器导出为 PDF，用 OCR 软件加上文字层后再导入。",
        "Export it as PDF from an OFD reader, add a text layer with an OCR program, ingest that.",
    ),
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
    "ofd.and_more": ("{names} 等 {count} 个", "{names} and more, {count} in all"),
}
