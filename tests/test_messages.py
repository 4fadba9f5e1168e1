"""The table of messages is complete, in both languages, and nothing in it is dead."""

import ast
import re
import string
from importlib import import_module
from pkgutil import iter_modules

import pytest
from paths import ROOT

from kb import messages

PARTS = [import_module(f"kb.messages.{module.name}") for module in iter_modules(messages.__path__)]
CODE = [
    *(path for path in sorted(ROOT.glob("*.py"))),
    *(path for path in sorted((ROOT / "kb").rglob("*.py")) if path.parent.name != "messages"),
]


def fields(template):
    """The fields of a `str.format` template, conversions and format specs left out."""
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


def tr_calls():
    for path in CODE:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "tr" and node.args:
                key = node.args[0]
                if isinstance(key, ast.Constant):
                    given = {word.arg for word in node.keywords}
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", key.value, given


def keys_used():
    """A pattern for every string of the code; what an f-string fills in may be any word."""
    for path in CODE:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield re.escape(node.value)
            elif isinstance(node, ast.JoinedStr):
                yield "".join(
                    re.escape(part.value) if isinstance(part, ast.Constant) else r"\w+"
                    for part in node.values
                )


def pattern(keys):
    """One pattern for all of `keys`, those left out that begin with anything."""
    return re.compile("|".join(sorted({key for key in keys if not key.startswith(r"\w")})))


@pytest.mark.parametrize("key", sorted(messages.TABLE))
def test_a_message_is_two_texts_over_the_same_fields(key):
    chinese, english = messages.TABLE[key]
    assert chinese.strip()
    assert english.strip()
    assert fields(chinese) == fields(english)
    assert all(name.isidentifier() for name in fields(chinese)), "fields have names"


def test_no_key_stands_in_two_tables():
    assert sum(len(part.TABLE) for part in PARTS) == len(messages.TABLE)


def test_every_message_that_is_asked_for_exists_with_its_fields():
    for where, key, given in tr_calls():
        assert key in messages.TABLE, f"{where}: no message {key}"
        if None not in given:  # tr(key, **fields)
            missing = fields(messages.TABLE[key][0]) - given
            assert not missing, f"{where}: {key} wants {missing}"


def test_every_message_is_used():
    used = pattern(keys_used())
    assert [key for key in sorted(messages.TABLE) if not used.fullmatch(key)] == []


def test_no_code_speaks_past_the_table():
    """Chinese in a string of the code would not be there in English."""
    for path in CODE:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        raised = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
        ]
        for node in raised:
            texts = [a.value for a in node.exc.args if isinstance(a, ast.Constant)]
            assert not any(isinstance(t, str) and not t.isascii() for t in texts), (
                f"{path.relative_to(ROOT)}:{node.lineno}"
            )


def test_the_language_is_chosen_once_for_all(monkeypatch):
    monkeypatch.setattr(messages, "_language", "zh")
    chinese = messages.tr("cli.clients.client_help")
    messages.set_language("en")
    assert messages.language() == "en"
    assert messages.tr("cli.clients.client_help") != chinese
