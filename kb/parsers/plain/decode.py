"""Bytes to text, saying how sure it is.

BOM first, then strict UTF-8, then what the document declares, then what the bytes themselves tell
(UTF-16 by what it reads as, GB by its code zones), then charset-normalizer. GB2312 and GBK always
decode as their superset GB18030.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Final

from kb.messages import tr

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose BOM starts it
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SUPERSETS: Final = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "cp936": "gb18030",
    "hz": "gb18030",
    "big5": "big5hkscs",
    "cp950": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "iso8859_1": "cp1252",  # as the HTML standard reads them
    "ascii": "cp1252",
}
_WESTERN: Final = frozenset({"cp1252", "iso8859-1", "latin-1"})
"""What pages in any other encoding are labelled by mistake."""
_MOST_WRONG: Final = 0.001
"""Share of characters that may be broken in a text that says its encoding."""
_MISTAKEN: Final = frozenset({"big5hkscs", "johab"})
"""What a few characters of GB text are taken for."""
_ORDINARY: Final = re.compile(
    "[\t\n\r -~\u00a0-\u024f\u2010-\u2030\u3000-\u30ff\u4e00-\u9fff\uff01-\uff5e]"
)
_MOSTLY: Final = 0.9
_SAMPLE: Final = 1 << 20
_ODD: Final = re.compile("[\x00-\x07\x0e-\x1a\x7f-\x84\x86-\x9f\ufffd]")
"""Not in real text files; white space, separators and terminal colours (in logs) are."""
_MOST_ODD: Final = 0.02

_ASCII: Final = range(0x80)
_GB_SAMPLE: Final = 1 << 16
_GB_DIGITS: Final = range(0x30, 0x3A)
_GB_FIRST: Final = 0xA1
_GB_SIGNS: Final = range(0xA1, 0xA4)
_GB_COMMON: Final = range(0xB0, 0xD8)
_GB_UPPER: Final = range(0xC9, 0xD8)
_GB_FIT: Final = 0.9
_GB_UPPER_SHARE: Final = 0.15


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text without its BOM, the codec that made it, and what the reader must know."""

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def decode(data: bytes, declared: str = "") -> Decoded | None:
    """The text of `data`, or None when it is not text.

    `declared` is the encoding that the document gives for itself. The bytes overrule it where they
    are UTF-8, do not decode as it, or are plainly GB under a Western label; that is then said.
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _checked(data[len(bom) :], encoding, guessed=False)
    if 0 not in data:
        exact = _strict(data, "utf-8")
        if exact is not None:
            return _told(_checked(data, "utf-8", guessed=False), declared, exact)
    codec = _codec(declared)
    if codec and _fits(data, codec):
        return _checked(data, codec, guessed=False)
    encoding = _guess(data)
    return _told(_checked(data, encoding, guessed=True), declared) if encoding else None


def is_binary(text: str) -> bool:
    """Whether too much of `text` is control characters (or what could not be decoded)."""
    sample = text[:_SAMPLE]
    return len(_ODD.findall(sample)) > _MOST_ODD * len(sample)


def _checked(data: bytes, encoding: str, *, guessed: bool) -> Decoded | None:
    text = data.decode(encoding, "replace")
    if is_binary(text):
        return None
    replaced = text.count("\ufffd") - data.count("\ufffd".encode(encoding, "ignore") or data)
    warnings = [tr("parse.warn_guessed", encoding=encoding)] if guessed else []
    if replaced > 0:
        warnings.append(tr("parse.warn_replaced", count=replaced))
    return Decoded(text, encoding, tuple(warnings))


def _codec(declared: str) -> str:
    """Python's codec for a declared encoding; empty for an unknown one, UTF-8 and UTF-16.

    The HTML standard takes a declared UTF-16 for a mistake, since the declaration was readable.
    """
    try:
        name = codecs.lookup(declared).name
    except (LookupError, ValueError):
        return ""
    if name.startswith("utf") or not getattr(codecs.lookup(name), "_is_text_encoding", True):
        return ""
    return _SUPERSETS.get(name.replace("-", "_"), name)


def _fits(data: bytes, codec: str) -> bool:
    """Whether `data` may be what it declares: hardly anything fails, and it is not plainly GB."""
    text = data.decode(codec, "replace")
    if text.count("\ufffd") > _MOST_WRONG * len(text):
        return False
    return codec not in _WESTERN or not _fits_gb(data, clearly=True)


def _told(found: Decoded | None, declared: str, text: str = "\x80") -> Decoded | None:
    """`found`, saying that it is not what was declared. Pure ASCII is right under any label."""
    if not found or not declared or text.isascii() or _same(declared, found.encoding):
        return found
    warning = tr("web.warn_declared", declared=declared, encoding=found.encoding)
    return Decoded(found.text, found.encoding, (warning, *found.warnings))


def _same(declared: str, encoding: str) -> bool:
    try:
        return codecs.lookup(declared).name == codecs.lookup(encoding).name
    except LookupError:
        return False


def _guess(data: bytes) -> str:
    """A codec for bytes that declare none and are not UTF-8; empty when they look binary."""
    if 0 in data:
        return _utf16(data)
    if _is_damaged_utf8(data):
        return "utf-8"
    if _fits_gb(data, clearly=True):
        return "gb18030"
    best = _normalizer(data)
    if best in _MISTAKEN and _fits_gb(data, clearly=False):
        return "gb18030"
    return best


def _utf16(data: bytes) -> str:
    """UTF-16 without a BOM: in the right byte order nearly all of it is ordinary characters."""
    shares = {
        encoding: len(_ORDINARY.findall(text)) / max(len(text), 1)
        for encoding in ("utf-16-le", "utf-16-be")
        if (text := _strict(data, encoding)) is not None
    }
    best = max(shares, key=lambda encoding: shares[encoding], default="")
    return best if best and shares[best] > _MOSTLY else ""


def _is_damaged_utf8(data: bytes) -> bool:
    """UTF-8 with a few bad bytes (a file that was cut or patched), not another codec."""
    text = data[:_SAMPLE].decode("utf-8", "replace")
    bad = text.count("\ufffd")
    good = sum(char > "\x7f" for char in text) - bad
    return good > 20 * bad


def _fits_gb(data: bytes, *, clearly: bool) -> bool:
    """Whether the double bytes lie in the zones of GB2312 text.

    Punctuation leads with A1-A3, the common characters with B0-D7, both bytes from A1 up. Big5 has
    half of its second bytes below; Japanese leads with A4-A5; Korean stays below C9: `clearly`
    wants what neither can be.
    """
    leads = _gb_leads(data[:_GB_SAMPLE])
    if not leads or _strict(data, "gb18030") is None:
        return False
    common = sum(lead in _GB_COMMON or lead in _GB_SIGNS for lead in leads)
    upper = sum(lead in _GB_UPPER for lead in leads)
    fits = common >= _GB_FIT * len(leads)
    return fits and (upper >= _GB_UPPER_SHARE * len(leads) or not clearly)


def _gb_leads(data: bytes) -> list[int]:
    """Lead bytes of the pairs in `data`; a pair whose second byte is below A1 counts as 0."""
    leads = []
    at = 0
    while at < len(data) - 1:
        lead, trail = data[at], data[at + 1]
        if lead in _ASCII:
            at += 1
            continue
        if trail in _GB_DIGITS:  # the four-byte form of GB18030
            at += 4
            continue
        leads.append(lead if trail >= _GB_FIRST else 0)
        at += 2
    return leads


def _normalizer(data: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_SAMPLE]).best()
    if best is None:
        return ""
    return _SUPERSETS.get(best.encoding, best.encoding.replace("_", "-"))


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None
