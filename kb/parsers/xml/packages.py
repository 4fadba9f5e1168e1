"""XML out of a zip package, read so that it cannot hurt: no entities, no network, no huge trees."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from types import TracebackType
from typing import Any, Final, TypeVar

from kb.messages import tr
from kb.parsers.refusals import damaged

_Self = TypeVar("_Self", bound="ZipPackage")

BROKEN_ZIP: Final = (
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError),
    *(ValueError, NotImplementedError, RuntimeError),
)
"""What zipfile raises on broken, unsupported or encrypted entries."""


def read_root(archive: zipfile.ZipFile, member: str, name: str) -> Any:
    """Root element of `member`; `name` is what the document is called.

    Raises Refused when the part is not valid XML or declares a document type: the office standards
    forbid one (ECMA-376-2, 10.1) or need none, and entities hide there.
    """
    from lxml import etree  # type: ignore[import-untyped]

    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True)
    try:
        with archive.open(member) as file:
            tree = etree.parse(file, parser)
    except etree.XMLSyntaxError as error:
        if error.code == etree.ErrorTypes.ERR_NO_MEMORY:
            raise MemoryError from error
        raise damaged(name, tr("parse.reason_xml")) from error
    except BROKEN_ZIP as error:
        raise damaged(name, tr("parse.reason_zip")) from error
    if tree.docinfo.doctype:
        raise damaged(name, tr("parse.reason_xml"))
    return tree.getroot()


class ZipPackage:
    """An open zip of parts, closed at the end of its `with`; `name` is what the document is called.

    Raises Refused when the file is no readable zip.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        try:
            self.zip = zipfile.ZipFile(path)
        except BROKEN_ZIP as error:
            raise damaged(name, tr("parse.reason_zip")) from error

    def __enter__(self: _Self) -> _Self:  # noqa: PYI019 - typing.Self needs Python 3.11
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.zip.close()
