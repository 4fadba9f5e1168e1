"""Old workbooks: a BIFF8 stream written here record by record ([MS-XLS])."""

import struct

import pytest

from kb.errors import Refused
from kb.parsers.sheets import xls as parser

GLOBALS, SHEET = 0x0005, 0x0010
FORMATS = {164: "0.00", 165: 'yyyy"年"m"月"d"日"'}


def record(kind, data=b""):
    return struct.pack("<HH", kind, len(data)) + data


def string(text, length="<H"):
    return struct.pack(length + "B", len(text), 1) + text.encode("utf-16-le")


def start(kind):
    return record(0x0809, struct.pack("<HHHHII", 0x0600, kind, 0x0DBB, 1996, 0, 6))


def style(number_format):
    return record(0x00E0, struct.pack("<HHH", 0, number_format, 1) + bytes(14))


def cell(kind, row, column, style, data):
    return record(kind, struct.pack("<HHH", row, column, style) + data)


def text(row, column, value, style=0):
    return cell(0x0204, row, column, style, string(value))


def number(row, column, value, style=0):
    return cell(0x0203, row, column, style, struct.pack("<d", value))


def workbook(sheets, extra=b""):
    """`sheets`: (name, visibility, records)."""
    fixed = start(GLOBALS) + record(0x0042, struct.pack("<H", 1200)) + extra
    fixed += record(
        0x0031, struct.pack("<HHHHHBBBB", 200, 0, 0, 400, 0, 0, 0, 0, 0) + string("宋体", "<B")
    )
    fixed += b"".join(
        record(0x041E, struct.pack("<H", key) + string(code)) for key, code in FORMATS.items()
    )
    fixed += b"".join(style(key) for key in (0, *FORMATS, 14))
    bodies = [start(SHEET) + records + record(0x000A) for _, _, records in sheets]
    directory = sum(len(record(0x0085, bytes(6) + string(name, "<B"))) for name, _, _ in sheets)
    at = len(fixed) + directory + len(record(0x000A))
    listed = b""
    for (name, visibility, _), body in zip(sheets, bodies, strict=True):
        listed += record(0x0085, struct.pack("<IBB", at, visibility, 0) + string(name, "<B"))
        at += len(body)
    return fixed + listed + record(0x000A) + b"".join(bodies)


@pytest.fixture
def read(write):
    return lambda *args: parser.parse(write("x.xls", workbook(*args)), "x.xls")


def test_cells_are_shown_as_displayed(read):
    records = (
        text(0, 0, "名称") + text(0, 1, "金额") + text(0, 2, "日期")
        + text(1, 0, "水\n费") + number(1, 1, 3.14159, 1) + number(1, 2, 45365, 2)
        + text(2, 0, "电") + number(2, 1, 1234567890123450.0) + number(2, 2, 45365, 3)
        + cell(0x0205, 3, 0, 0, b"\x2a\x01") + cell(0x0205, 3, 1, 0, b"\x01\x00")
    )  # fmt: skip
    (page,) = read([("表一", 0, records)]).pages
    assert page.text.split("\n") == [
        "名称 | 金额 | 日期",
        "水 费 | 3.14 | 2024年3月14日",
        "电 | 1234567890123450 | 2024/3/14",
        "#N/A | TRUE | ",
    ]
    assert (page.label, page.elements[0].level) == ("表一", 1)


def test_hidden_sheets_and_merged_cells(read):
    merged = record(0x00E5, struct.pack("<HHHHH", 1, 0, 1, 0, 0))
    records = text(0, 0, "甲") + text(0, 1, "一") + text(1, 0, "藏") + text(1, 1, "二") + merged
    parsed = read([("明", 0, records), ("暗", 1, text(0, 0, "乙"))])
    assert [page.text for page in parsed.pages] == ["甲 | 一\n | 二", "乙"]
    assert "暗" in parsed.warnings[0]


def test_a_password_is_said(read):
    protected = record(0x002F, struct.pack("<HHH", 0, 1, 2))
    with pytest.raises(Refused) as error:
        read([("表", 0, text(0, 0, "甲"))], protected)
    assert "密码" in error.value.hint


@pytest.mark.parametrize("content", [b"\x09\x08", b"not a workbook at all", bytes(600)])
def test_what_is_no_workbook_is_refused(write, content):
    with pytest.raises(Refused, match=r"x\.xls"):
        parser.parse(write("x.xls", content), "x.xls")
