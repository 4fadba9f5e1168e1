"""Texts of the parsers: OCR."""

TABLE: dict[str, tuple[str, str]] = {
    "ocr.page": ("{page}（文字由 OCR 识别，可能有误）", "{page} (text by OCR, may contain errors)"),
    # Refusals
    "ocr.nothing": (
        "《{name}》的 {pages} 页都没有文字，OCR 也没有识别出文字。",
        "None of the {pages} pages of {name} holds text, and OCR found none either.",
    ),
    "ocr.nothing_hint": (
        "请确认页面不是空白或照片；扫描件请用更清晰的版本（300 dpi）再导入。",
        "Make sure that its pages are not blank or photographs; scan it again at 300 dpi.",
    ),
    "ocr.off": (
        "《{name}》的 {pages} 页都没有文字，像是扫描件，而 OCR 已关闭（KB_OCR=off）。",
        "None of the {pages} pages of {name} holds text: it looks like a scan, and KB_OCR is off.",
    ),
    "ocr.off_hint": (
        "请设置 KB_OCR=auto 后再导入。",
        "Set KB_OCR=auto and ingest it again.",
    ),
    "ocr.blank": ("《{name}》的 {pages} 页都是空白页。", "All {pages} pages of {name} are blank."),
    "ocr.blank_hint": (
        "请确认导出的是正确的文件。",
        "Make sure that the right file was exported.",
    ),
    "ocr.missing": (
        "《{name}》的 {pages} 页都没有文字，像是扫描件，而这里没有安装 OCR（rapidocr）。",
        (
            "None of the {pages} pages of {name} holds text: it looks like a scan, and OCR "
            "(rapidocr) is not installed here."
        ),
    ),
    "ocr.missing_hint": (
        "请运行 pip install -r requirements.txt 后再导入。",
        "Run pip install -r requirements.txt and ingest it again.",
    ),
    "ocr.image_damaged": ("图像读不出来", "its image cannot be read"),
    "ocr.image_pixels": (
        "《{name}》的图像有 {width}×{height} 像素，超过上限 {limit} 百万像素。",
        "The image in {name} has {width}×{height} pixels, the limit is {limit} megapixels.",
    ),
    "ocr.image_pages": (
        "《{name}》的图像超过 {limit} 页。",
        "{name} holds more than {limit} images.",
    ),
    "ocr.image_pixels_hint": (
        "请缩小图像（A4 页面 300 dpi 约 9 百万像素）后再导入。",
        "Scale it down (an A4 page at 300 dpi has 9 megapixels) and ingest that.",
    ),
    # Limits
    "ocr.wall": (
        "OCR 识别《{name}》的一页超过 {seconds} 秒，已中止。",
        "OCR of one page of {name} took more than {seconds} s and was stopped.",
    ),
    "ocr.wall_hint": (
        "请调大 KB_OCR_SECONDS，或设置 KB_OCR=off 只读有文字层的页。",
        "Raise KB_OCR_SECONDS, or set KB_OCR=off to read only pages that hold text.",
    ),
    # Warnings
    "ocr.warn_read": (
        "第 {pages} 页的文字由 OCR 识别，可能有误。",
        "The text of pages {pages} was read by OCR and may contain errors.",
    ),
    "ocr.warn_empty": (
        "第 {pages} 页没有文字，OCR 也没有识别出文字。",
        "Pages {pages} hold no text, and OCR found none either.",
    ),
    "ocr.warn_failed": (
        "第 {pages} 页 OCR 识别失败，内容缺失。",
        "OCR of pages {pages} failed; their content is missing.",
    ),
    "ocr.warn_off": (
        "第 {pages} 页是图像或乱码，因 OCR 已关闭（KB_OCR=off）未识别。",
        "Pages {pages} are images or garbled and were not read, since KB_OCR is off.",
    ),
    "ocr.warn_missing": (
        "第 {pages} 页是图像或乱码，因没有安装 OCR（rapidocr）未识别。",
        "Pages {pages} are images or garbled and were not read: OCR (rapidocr) is not installed.",
    ),
    "ocr.warn_blank": ("第 {pages} 页是空白页。", "Pages {pages} are blank."),
    "ocr.warn_most": (
        "一个文档最多识别 {limit} 页；第 {pages} 页未识别。",
        "OCR reads at most {limit} pages of a document; pages {pages} were not read.",
    ),
}
