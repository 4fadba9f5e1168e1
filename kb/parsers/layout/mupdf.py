"""MuPDF, imported where it is used."""

from __future__ import annotations

import re
from typing import Any, Final

UNMAPPED: Final = re.compile("[\ufffd\ue000-\uf8ff]")
"""Characters that say no letter: U+FFFD and the private use area."""


def mupdf() -> Any:
    """The library, imported in the sandbox's child only. Its own types are incomplete."""
    import pymupdf

    return pymupdf
