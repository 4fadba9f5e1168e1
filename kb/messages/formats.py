"""Texts of the parsers: office."""

TABLE: dict[str, tuple[str, str]] = {
    "office.warn_blank_rows": (
        "工作表“{sheet}”第 {first}–{last} 行为空白，已略去，其后的行号与原表不同。",
        (
            "Rows {first}–{last} of sheet “{sheet}” are blank and were left out; the line numbers "
            "after them differ from the sheet's row numbers."
        ),
    ),
    "office.too_many_cells": (
        "工作表“{sheet}”的单元格超过 {limit} 个，未收录。",
        "Sheet “{sheet}” has more than {limit} cells and was not read.",
    ),
    "office.warn_hidden_sheets": (
        "已收录隐藏的工作表：{names}。",
        "Hidden sheets were read too: {names}.",
    ),
    "office.warn_hidden_slides": (
        "已收录隐藏的幻灯片：第 {slides} 张。",
        "Hidden slides were read too: {slides}.",
    ),
    "office.warn_empty_slides": (
        "第 {slides} 张幻灯片没有可读的文字。",
        "Slides {slides} hold no text to read.",
    ),
    "office.warn_slides_failed": (
        "第 {slides} 张幻灯片读取失败，内容缺失。",
        "Slides {slides} could not be read; their content is missing.",
    ),
    "office.warn_formulas": (
        "有 {count} 个公式没有保存计算结果，显示的是公式本身；用表格软件打开并保存后可重新导入。",
        (
            "{count} formulas have no saved result and are shown as formulas; open and save the "
            "file in a spreadsheet program and ingest it again."
        ),
    ),
    "office.warn_images": (
        "有 {count} 张图片未收录。",
        "{count} images were left out.",
    ),
    "office.warn_shapes": (
        "有 {count} 个图形中的文字未收录。",
        "The text of {count} shapes was left out.",
    ),
    "office.warn_charts": (
        "有 {count} 个图表未收录。",
        "{count} charts were left out.",
    ),
    "office.warn_embedded": (
        "有 {count} 个嵌入对象未收录。",
        "{count} embedded objects were left out.",
    ),
    "office.warn_sheet_failed": (
        "工作表“{names}”读取失败，内容缺失。",
        "Sheets {names} could not be read; their content is missing.",
    ),
    "office.warn_tracked": (
        "有 {count} 处修订删除的文字未收录。",
        "{count} deletions under change tracking were left out.",
    ),
    "office.warn_csv_cut": (
        "第 {line} 行起的引号没有结束，其后按普通文本读取。",
        "A quotation that starts in line {line} never ends; what follows was read as plain text.",
    ),
    "office.reason_book": ("工作簿结构读不出来", "its workbook structure cannot be read"),
    "office.reason_rows": ("行或列的编号无效", "a row or column number is not valid"),
}
