"""An OFD package: its parts by the locations that parts name each other by.

GB/T 33190 locations are absolute (`/Doc_0/x.xml`) or relative to the part that names them. Files in
circulation also use `./`, back slashes, other case, paths relative to the document or to the
package, and zip names in GBK: each is tried before a part counts as missing.
"""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, final

from kb.parsers.refusals import MIB
from kb.parsers.xml.packages import BROKEN_ZIP, ZipPackage, read_root

_UTF8_FLAG: Final = 0x800
_MOST_IMAGE: Final = 64 * MIB


@final
class Package(ZipPackage):
    """An open .ofd."""

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(path, name)
        self._members = {_normal(_decoded(info)): info for info in self.zip.infolist()}

    def find(self, location: str, base: str = "") -> str:
        """The part at `location`, as the part `base` names it; empty when there is none."""
        return next((part for part in _candidates(location, base) if part in self._members), "")

    def root(self, part: str) -> Any:
        """Root element of a part that `find` returned. Raises Refused when it is not valid XML."""
        return read_root(self.zip, self._members[part].filename, self.name)

    def data(self, part: str) -> bytes:
        """Bytes of a part that `find` returned; empty when it is broken or larger than 64 MiB."""
        info = self._members[part]
        if info.file_size > _MOST_IMAGE:
            return b""
        try:
            return self.zip.read(info)
        except BROKEN_ZIP:
            return b""


def _candidates(location: str, base: str) -> Iterator[str]:
    plain = location.strip().replace("\\", "/")
    folder = posixpath.dirname(base)
    if not plain:
        return
    if not plain.startswith("/"):
        yield _normal(posixpath.join(folder, plain))
        yield _normal(posixpath.join(folder.split("/", 1)[0], plain))
    yield _normal(plain)
    if plain.startswith("/"):
        yield _normal(posixpath.join(folder, plain.lstrip("/")))


def _normal(path: str) -> str:
    """One spelling for a part's name: lower case, no `./`, no leading slash."""
    return posixpath.normpath("/" + path.replace("\\", "/")).lstrip("/").lower()


def _decoded(info: zipfile.ZipInfo) -> str:
    """The name of an entry; without the UTF-8 flag it is in the encoding of the writer's system."""
    if info.flag_bits & _UTF8_FLAG or info.filename.isascii():
        return info.filename
    try:
        raw = info.filename.encode("cp437")
    except UnicodeEncodeError:
        return info.filename
    return _as(raw, "utf-8") or _as(raw, "gb18030") or info.filename


def _as(raw: bytes, encoding: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError:
        return ""
