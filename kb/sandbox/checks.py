"""What can be known of a file before any parser touches it.

Runs in the caller's process, so it never reads a file whole, never inflates anything, and looks at
a zip's directory only after its size is known.
"""

from __future__ import annotations

import re
import struct
import zipfile
from pathlib import Path
from typing import BinaryIO, Final

from kb.errors import Refused
from kb.messages import tr
from kb.parsers.refusals import MAX_EXPANDED_MIB, MIB, damaged
from kb.parsers.registry import ParserSpec, Registry
from kb.ports import ParseLimits

MAX_ENTRIES: Final = 10_000
MAX_DIRECTORY_BYTES: Final = 4 * MIB
MAX_RATIO: Final = 150
"""Most a zip may grow; real office files stay below 60. Small ones (< 32 MiB) are let through."""

_FREE_EXPANDED: Final = 32 * MIB
_HEAD: Final = 1024
_BMP_HEADER: Final = 14
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SIGNATURES: Final = (
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (_OLE, "ole"),
    (b"{\\rtf", "rtf"),
    (b"\x89PNG", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF8", "gif"),
    (b"II*\x00", "tiff"),
    (b"MM\x00*", "tiff"),
    (b"II+\x00", "tiff"),
    (b"MM\x00+", "tiff"),
    (b"Rar!", "rar"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"\x1f\x8b", "gzip"),
    (b"SQLite format 3", "sqlite"),
    (b"MZ\x90", "exe"),
    (b"\x7fELF", "exe"),
)
_IMAGES: Final = frozenset({"png", "jpeg", "tiff", "bmp", "webp"})
"""Any of them under any of their suffixes: they are told apart by content."""
_ACCEPTED: Final = {
    "text": frozenset({"text", "html", "binary"}),
    "image": _IMAGES,
    "doc": frozenset({"doc", "rtf"}),
}
_ZIP_FOLDERS: Final = (
    ("word/", "docx"),
    ("xl/", "xlsx"),
    ("ppt/", "pptx"),
    ("OFD.xml", "ofd"),
    ("META-INF/container.xml", "epub"),
)
_OLE_STREAMS: Final = (
    ("EncryptedPackage", "encrypted"),
    ("WordDocument", "doc"),
    ("Workbook", "xls"),
    ("PowerPoint Document", "ppt"),
    ("Book\0", "xls"),  # Excel 5
)
_ODF: Final = re.compile(rb"mimetypeapplication/vnd\.oasis\.opendocument\.([a-z]+)")
_ODF_KINDS: Final = {"text": "odt", "spreadsheet": "ods", "presentation": "odp"}
_CONTROLS: Final = frozenset(range(0x20)) - frozenset(b"\t\n\x0b\x0c\r\x1b")
_LABELS: Final = {"text": "text", "ole": "Office 97", "binary": "binary data"}


def check(path: Path, name: str, registry: Registry, limits: ParseLimits) -> ParserSpec:
    """The parser for the file at `path`, taken as `name`.

    Raises Refused when there is none, when the content is something else, or costs too much.
    """
    try:
        _check_size(path, name, limits)
        spec = registry.spec(name)
        with path.open("rb") as file:
            found = sniff(file)
            if found == "zip":  # first, so that a .doc which is a .docx hears what it is
                _check_zip(file, name, spec)
            _check_magic(name, spec, found)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise Refused(
            tr("parse.unreadable", name=name, reason=reason), tr("parse.unreadable_hint")
        ) from error
    return spec


def sniff(file: BinaryIO) -> str:
    """What the content looks like: pdf, zip, encrypted, doc, html, png … text or binary."""
    file.seek(0)
    head = file.read(_HEAD)
    if b"%PDF-" in head:
        return "pdf"
    kind = next((kind for magic, kind in _SIGNATURES if head.startswith(magic)), "")
    if kind == "ole":
        return _ole_kind(file)
    return kind or _image_kind(head) or _loose_kind(head)


def _check_size(path: Path, name: str, limits: ParseLimits) -> None:
    if path.is_dir():
        raise Refused(tr("parse.directory", path=path), tr("parse.directory_hint"))
    if not path.exists():
        raise Refused(tr("parse.missing", path=path), tr("parse.missing_hint"))
    if not path.is_file():
        raise Refused(tr("parse.special", path=path), tr("parse.special_hint"))
    size = path.stat().st_size
    if size == 0:
        raise Refused(tr("parse.empty_file", name=name), tr("parse.empty_hint"))
    if size > limits.file_mb * MIB:
        raise Refused(
            tr("parse.too_large", name=name, size=_mib(size), limit=limits.file_mb),
            tr("parse.too_large_hint"),
        )


def _check_magic(name: str, spec: ParserSpec, found: str) -> None:
    if found == "encrypted":
        raise Refused(tr("parse.encrypted", name=name), tr("parse.encrypted_hint"))
    if found not in _ACCEPTED.get(spec.magic, {spec.magic}):
        raise _wrong_type(name, spec, found)


def _wrong_type(name: str, spec: ParserSpec, found: str) -> Refused:
    """A refusal that says what the file really is, and its own suffix where it has one."""
    label = _LABELS.get(found, found.upper())
    expected = (spec.zip_kind or spec.name).upper() if spec.magic != "text" else spec.suffixes[0]
    message = tr("parse.wrong_type", name=name, found=label, expected=expected)
    if found in {"binary", "ole", "exe", "zip"}:
        return Refused(message, tr("parse.resave_hint"))
    suffix = ".txt" if found == "text" else f".{found}"
    return Refused(message, tr("parse.wrong_type_hint", found=label, suffix=suffix))


def _image_kind(head: bytes) -> str:
    """The images that their first bytes alone do not tell: a text may begin with BM or RIFF."""
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "webp"
    is_bmp = head.startswith(b"BM") and head[6:10] == bytes(4) and len(head) > _BMP_HEADER
    return "bmp" if is_bmp else ""


def _loose_kind(head: bytes) -> str:
    """Text or binary by the first bytes; UTF-16 counts as text by its BOM alone."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "html"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "text"
    odd = sum(byte in _CONTROLS for byte in head)
    return "binary" if odd * 20 > len(head) else "text"


def _ole_kind(file: BinaryIO) -> str:
    """Which stream an OLE container holds, by the UTF-16 names in its directory."""
    names = [(name.encode("utf-16-le"), kind) for name, kind in _OLE_STREAMS]
    found = set[str]()
    tail = b""
    file.seek(0)
    while chunk := file.read(MIB):
        window = tail + chunk
        found.update(kind for name, kind in names if name in window)
        tail = window[-64:]
    return next((kind for _, kind in names if kind in found), "ole")


def _check_zip(file: BinaryIO, name: str, spec: ParserSpec) -> None:
    _check_directory(file, name)
    try:
        with zipfile.ZipFile(file) as archive:
            infos = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
        raise damaged(name, tr("parse.reason_zip")) from error
    _check_entries(name, len(infos))
    _check_expansion(name, sum(i.file_size for i in infos), sum(i.compress_size for i in infos))
    if any(info.flag_bits & 1 for info in infos):
        raise Refused(tr("parse.encrypted", name=name), tr("parse.encrypted_hint"))
    found = _odf_kind(file) or _zip_kind([info.filename for info in infos])
    if found not in {spec.zip_kind, ""}:
        raise _wrong_type(name, spec, found)


def _check_directory(file: BinaryIO, name: str) -> None:
    """Refuse a directory too large to be listed safely, from the end record alone.

    Layout: PKWARE APPNOTE 4.3.16; a zip64 archive says 0xFFFFFFFF here and is refused with it,
    since no office document of a legal size needs one.
    """
    size = file.seek(0, 2)
    file.seek(max(0, size - 22 - 0xFFFF))
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < 22:  # noqa: PLR2004 - the end record's fixed length
        raise damaged(name, tr("parse.reason_zip"))
    entries, directory = struct.unpack_from("<HI", tail, at + 10)
    _check_entries(name, max(entries, MAX_ENTRIES + 1 if directory > MAX_DIRECTORY_BYTES else 0))


def _check_entries(name: str, count: int) -> None:
    if count > MAX_ENTRIES:
        raise Refused(
            tr("parse.zip_entries", name=name, count=count, limit=MAX_ENTRIES),
            tr("parse.resave_hint"),
        )


def _check_expansion(name: str, expanded: int, packed: int) -> None:
    if expanded > MAX_EXPANDED_MIB * MIB:
        message = tr("parse.zip_expands", name=name, size=_mib(expanded), limit=MAX_EXPANDED_MIB)
        raise Refused(message, tr("parse.resave_hint"))
    ratio = expanded // max(packed, 1)
    if expanded > _FREE_EXPANDED and ratio > MAX_RATIO:
        message = tr("parse.zip_ratio", name=name, ratio=ratio, limit=MAX_RATIO)
        raise Refused(message, tr("parse.resave_hint"))


def _zip_kind(names: list[str]) -> str:
    for start, kind in _ZIP_FOLDERS:
        if any(name.startswith(start) for name in names):
            return kind
    return ""


def _odf_kind(file: BinaryIO) -> str:
    """What an OpenDocument says it is: its first entry, never compressed (ODF 1.2 part 3, 3.3)."""
    file.seek(0)
    match = _ODF.search(file.read(_HEAD))
    return _ODF_KINDS.get(match.group(1).decode("ascii"), "odf") if match else ""


def _mib(size: int) -> int:
    """MiB, rounded up."""
    return -(-size // MIB)
