"""Mail: headers, text, attachments by name."""

from email.message import EmailMessage

import pytest

from kb.errors import Refused
from kb.parsers.web import eml


@pytest.fixture
def read(write):
    def read(content):
        data = content.as_bytes() if isinstance(content, EmailMessage) else content
        return eml.parse(write("信.eml", data), "信.eml")

    return read


@pytest.fixture
def mail():
    message = EmailMessage()
    message["Subject"] = "关于召开会议的通知"
    message["From"] = "张三 <zhang@example.com>"
    message["To"] = "li@example.com"
    message["Date"] = "Tue, 01 Oct 2024 12:34:56 +0800"
    message.set_content("各部门：\n\n请按时参加。\n")
    return message


def lines(parsed):
    return [line for page in parsed.pages for line in page.text.split("\n")]


def test_headers_come_first_in_a_fixed_order(read, mail):
    assert lines(read(mail)) == [
        "From: 张三 <zhang@example.com>",
        "To: li@example.com",
        "Date: Tue, 01 Oct 2024 12:34:56 +0800",
        "Subject: 关于召开会议的通知",
        "",
        "各部门：",
        "",
        "请按时参加。",
    ]


def test_plain_text_is_preferred_and_html_read_without_it(read, mail):
    mail.add_alternative("<p>网页<p>版", subtype="html")
    assert "网页" not in lines(read(mail))
    only = EmailMessage()
    only["From"] = "a@example.com"
    only.set_content("<table><tr><td>甲<td>1</table>", subtype="html")
    parsed = read(only)
    assert lines(parsed)[-1] == "甲 | 1"
    assert parsed.pages[0].elements[0].kind == "table"


def test_attachments_are_named_with_their_size_and_a_warning(read, mail):
    mail.add_attachment(b"x" * 2000, "application", "pdf", filename="附件 一.pdf")
    mail.add_attachment("内容", subtype="csv", filename="表.csv")
    parsed = read(mail)
    assert lines(parsed)[-2:] == [
        "Attachment (附件): 附件 一.pdf (2 KB)",
        "Attachment (附件): 表.csv (1 KB)",
    ]
    assert any("2" in warning for warning in parsed.warnings)


def test_every_text_part_that_is_no_alternative_is_shown(read):
    raw = (
        "From: a@b.cn\nContent-Type: multipart/mixed; boundary=x\n\n"
        "--x\nContent-Type: text/plain; charset=utf-8\n\n上文\n"
        "--x\nContent-Type: text/html; charset=utf-8\n\n<p>下文\n--x--\n"
    )
    assert lines(read(raw.encode("utf-8")))[-2:] == ["上文", "下文"]


def test_an_attached_mail_is_named_not_opened(read, mail):
    outer = EmailMessage()
    outer["From"] = "a@example.com"
    outer.set_content("见附件")
    outer.add_attachment(mail)
    assert lines(read(outer))[-1] == "Attachment (附件): 关于召开会议的通知.eml"
    assert "请按时参加。" not in lines(read(outer))


def test_gb_headers_and_text_are_read_as_gb18030(read):
    import base64

    word = base64.b64encode("朱镕基讲话".encode("gb18030")).decode("ascii")
    head = f"From: a@example.com\r\nSubject: =?gb2312?B?{word}?=\r\n".encode("ascii")
    body = b'Content-Type: text/plain; charset="gb2312"\r\n\r\n' + "镕喆二字".encode("gb18030")
    assert lines(read(head + body)) == [
        "From: a@example.com",
        "Subject: 朱镕基讲话",
        "",
        "镕喆二字",
    ]


def test_raw_bytes_in_a_header_are_read(read):
    raw = "From: a@example.com\nSubject: 关于通知\n\n正文".encode("gb18030")
    assert "Subject: 关于通知" in lines(read(raw))


def test_an_unknown_charset_is_guessed(read):
    raw = b'From: a@b.cn\nContent-Type: text/plain; charset="x-none"\n\n' + "正文内容".encode()
    assert lines(read(raw))[-1] == "正文内容"


def test_a_mail_without_text_says_so(read):
    parsed = read(b"From: a@example.com\nSubject: x\nContent-Type: image/png\n\nabc")
    assert parsed.warnings
    assert lines(parsed)[-1].startswith("Attachment (附件): image/png")


@pytest.mark.parametrize("content", [b"no headers at all\n", "只是文字".encode(), b"\n\n\n"])
def test_what_is_no_mail_is_refused(read, content):
    with pytest.raises(Refused, match=r"信\.eml"):
        read(content)
