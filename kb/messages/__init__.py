"""Every text a person or a model reads, in Chinese and English, from one table.

A table entry is `key: (Chinese, English)`, both `str.format` templates over the same fields.
"""

from __future__ import annotations

from typing import Final, Literal

from kb.messages import (
    cli,
    commands,
    core,
    formats,
    health,
    models,
    objects,
    ocr,
    ofd,
    parsing,
    reranking,
    safety,
    status,
    tools,
    web,
)

Language = Literal["zh", "en"]

TABLE: Final[dict[str, tuple[str, str]]] = {
    **core.TABLE,
    **parsing.TABLE,
    **ocr.TABLE,
    **ofd.TABLE,
    **formats.TABLE,
    **web.TABLE,
    **models.TABLE,
    **reranking.TABLE,
    **objects.TABLE,
    **tools.TABLE,
    **cli.TABLE,
    **commands.TABLE,
    **health.TABLE,
    **status.TABLE,
    **safety.TABLE,
}

_COLUMN: Final[dict[Language, int]] = {"zh": 0, "en": 1}
_language: Language = "zh"


def set_language(language: Language) -> None:
    """Choose the language of every later `tr` in this process."""
    global _language  # noqa: PLW0603 - one process speaks one language
    _language = language


def language() -> Language:
    """The language that `tr` answers in now."""
    return _language


def tr(key: str, /, **fields: object) -> str:
    """The text of `key` with `fields` filled in. Raises KeyError for an unknown key or field."""
    return TABLE[key][_COLUMN[_language]].format(**fields)
