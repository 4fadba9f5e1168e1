"""Mail as it is saved to a file: its headers, its text, its attachments by name.

The plain text is preferred to the HTML that says the same. Attached files are named at the end,
never opened: what they hold is no part of this document.
"""

from __future__ import annotations

import email
import email.policy
import re
from collections.abc import Iterable, Iterator
from email.errors import MessageError
from email.message import EmailMessage
from pathlib import Path
from typing import Final, cast

from kb.errors import Refused
from kb.messages import tr
from kb.model import Parsed
from kb.parsers.plain.decode import Decoded, decode
from kb.parsers.registry import ParserSpec
from kb.parsers.web import html
from kb.parsers.web.body import FlowLine
from kb.text.lines import normalize_newlines, split_lines

_HEADERS: Final = ("From", "To", "Cc", "Date", "Subject")
_KIB: Final = 1 << 10
_LONGEST_HEADER: Final = 2_000
"""Characters of a header that are shown."""
_GB: Final = re.compile(r"=\?(?:gb2312|gbk|x-gbk|cp936)\?", re.IGNORECASE)


def parse(path: Path, name: str) -> Parsed:
    """Virtual pages of at most 60 lines. Raises Refused when it is no mail or says nothing."""
    message = _message(path)
    headers = list(_headers(message))
    if not headers:
        raise Refused(tr("web.not_mail", name=name), tr("web.not_mail_hint"))
    body, encoding, warnings = _body(message, name)
    files = [FlowLine(line) for line in _attachments(message)]
    if files:
        warnings = (*warnings, tr("web.warn_attachments", count=len(files)))
    lines = [*(FlowLine(header) for header in headers), FlowLine(""), *body, *files]
    return Parsed(
        pages=tuple(html.pages(lines)),
        parser=SPEC.id,
        media_type=SPEC.media_type,
        encoding=encoding,
        warnings=warnings,
    )


def _message(path: Path) -> EmailMessage:
    policy = email.policy.default.clone(raise_on_defect=False)
    with path.open("rb") as file:
        return email.message_from_binary_file(file, policy=policy)


def _headers(message: EmailMessage) -> Iterator[str]:
    for field in _HEADERS:
        value = _header(message, field)
        if value:
            yield f"{field}: {value}"


def _header(message: EmailMessage, field: str) -> str:
    """The header's text on one line; bytes outside ASCII are decoded like any text."""
    raw = next((str(v) for k, v in message.raw_items() if k.lower() == field.lower()), "")
    if any("\udc80" <= char <= "\udcff" for char in raw):
        decoded = decode(raw.encode("utf-8", "surrogateescape"))
        raw = decoded.text if decoded else raw
    try:
        text = str(email.policy.default.header_factory(field, _GB.sub("=?gb18030?", raw)))
    except (MessageError, ValueError, LookupError, TypeError, AttributeError):
        text = raw
    return " ".join(text.split())[:_LONGEST_HEADER]


def _body(message: EmailMessage, name: str) -> tuple[list[FlowLine], str, tuple[str, ...]]:
    """The lines of the mail's own text, its encoding, and what must be said of it."""
    lines: list[FlowLine] = []
    encodings: dict[str, None] = {}
    warnings: dict[str, None] = {}
    for part in _texts(message):
        decoded = _text(part)
        if decoded is None or not decoded.text.strip():
            continue
        encodings[decoded.encoding] = None
        warnings.update(dict.fromkeys(decoded.warnings))
        lines += _lines(part, decoded, name, warnings)
    said = tuple(warnings) if lines else (tr("web.warn_no_body"),)
    return lines, "+".join(encodings), said


def _lines(
    part: EmailMessage, decoded: Decoded, name: str, warnings: dict[str, None]
) -> Iterable[FlowLine]:
    if part.get_content_subtype() == "html":
        page = html.read(decoded.text, name, whole=True)
        warnings.update(dict.fromkeys(page.warnings))
        return page.lines
    text = normalize_newlines(decoded.text).replace("\f", "\n").strip("\n")
    return [FlowLine(line) for line in split_lines(text)]


def _texts(message: EmailMessage) -> list[EmailMessage]:
    """The text parts that show in the mail itself: of alternatives the plainest that says a thing.

    Attached files and mails are not entered.
    """
    if _is_attached(message):
        return []
    if not message.is_multipart():
        return [message] if message.get_content_maintype() == "text" else []
    found = [_texts(part) for part in cast("list[EmailMessage]", message.get_payload())]
    if message.get_content_subtype() != "alternative":
        return [part for parts in found for part in parts]
    said = [parts for parts in found if any(_has_text(part) for part in parts)]
    plain = [parts for parts in said if all(p.get_content_subtype() != "html" for p in parts)]
    return next(iter([*plain, *said]), [])


def _has_text(part: EmailMessage) -> bool:
    decoded = _text(part)
    return bool(decoded and decoded.text.strip())


def _text(part: EmailMessage) -> Decoded | None:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    return decode(data, part.get_content_charset() or html.declared_encoding(data))


def _attachments(message: EmailMessage) -> Iterator[str]:
    """A line for each attached file or mail: its name, and its size where it has one."""
    if message.get_content_type() == "message/rfc822":
        inner = message.get_payload()
        first = cast("EmailMessage", inner[0]) if isinstance(inner, list) and inner else message
        yield f"Attachment (附件): {_header(first, 'Subject') or 'message'}.eml"
    elif message.is_multipart():
        for part in cast("list[EmailMessage]", message.get_payload()):
            yield from _attachments(part)
    elif _is_attached(message) or message.get_content_maintype() != "text":
        payload = message.get_payload(decode=True)
        size = len(payload) if isinstance(payload, bytes) else 0
        yield f"Attachment (附件): {_file_name(message)} ({-(-size // _KIB)} KB)"


def _is_attached(part: EmailMessage) -> bool:
    if part.get_content_type() == "message/rfc822":
        return True
    return part.get_content_disposition() == "attachment" or bool(
        part.get_content_maintype() == "text" and part.get_filename()
    )


def _file_name(part: EmailMessage) -> str:
    """The file's own name, without any folder, or its type."""
    name = " ".join((part.get_filename() or "").split())
    return name.replace("\\", "/").rpartition("/")[2] or part.get_content_type()


SPEC: Final = ParserSpec(
    name="eml",
    revision=1,
    suffixes=(".eml",),
    media_type="message/rfc822",
    magic="text",
    parse=parse,
    preload=("lxml.etree", "email.policy", "charset_normalizer"),
)
