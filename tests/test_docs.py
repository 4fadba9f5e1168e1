"""The documentation keeps up with the code."""

import ast
import json
import re
import sys
from pathlib import Path

import pytest
import yaml
from pydantic import SecretStr

from kb.config import ROOT, Settings, variable

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

READMES = ("README.md", "README.zh-CN.md")
PAGES = (*READMES, "CHANGELOG.md", "docs/minio.md")
PROGRAMS = ("ingest.py", "server.py", "kb/doctor.py", "kb/clients.py")
VARIABLES = [variable(name) for name in Settings.model_fields]
TEST_VARIABLES = {
    "KB_SLOW",
    "KB_SHARED",
    *(f"KB_TEST_S3_{name}" for name in ("ENDPOINT", "ACCESS_KEY", "SECRET_KEY", "BUCKET")),
}
TOOLS = ("search", "read_range", "ingest_file", "list_sources")
PARSERS = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}
# A drive, or a folder that only exists on somebody's machine.
MACHINE_PATH = re.compile(r"(?<![\w.])(?:/(?:home|Users|root|work|tmp|mnt|opt)/|[A-Z]:\\)")


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


def prose(page):
    """The page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", read(page), flags=re.DOTALL | re.MULTILINE)


def fenced(page):
    return re.findall(r"^```(\w+)\n(.*?)^```$", read(page), flags=re.DOTALL | re.MULTILINE)


def flags():
    """Every option of every program, as `program --option`."""
    for program in PROGRAMS:
        path = ROOT / program
        if not path.exists():
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
                for argument in node.args:
                    if isinstance(argument, ast.Constant) and str(argument.value).startswith("--"):
                        yield argument.value


def example():
    """Variables of `.env.example` with the default they show."""
    return dict(re.findall(r"^# ((?:KB|MINIO)_\w+)=(.*)$", read(".env.example"), re.MULTILINE))


@pytest.mark.parametrize("page", READMES)
def test_a_readme_opens_with_the_two_commands(page):
    first = fenced(page)[0][1]
    assert re.findall(r"^make \w+", first, re.MULTILINE) == ["make demo", "make test"]


@pytest.mark.parametrize("page", READMES)
@pytest.mark.parametrize("variable", VARIABLES)
def test_every_setting_is_in_the_readme(page, variable):
    assert f"`{variable}`" in read(page)


@pytest.mark.parametrize("page", READMES)
def test_a_readme_names_no_setting_that_is_gone(page):
    assert set(re.findall(r"\b(?:KB|MINIO)_[A-Z_]+[A-Z]\b", read(page))) <= {
        *VARIABLES,
        *TEST_VARIABLES,
    }


def test_the_example_lists_every_setting_once_with_its_default():
    assert list(example()) == VARIABLES
    for name, field in Settings.model_fields.items():
        shown, default = example()[variable(name)], field.default
        if isinstance(default, Path):
            assert ROOT / shown == default
        elif isinstance(default, SecretStr):
            assert shown == default.get_secret_value()
        elif isinstance(default, bool):
            assert shown == str(default).lower()
        else:
            assert type(default)(shown) == default


def test_the_example_can_be_used_as_it_is(tmp_path):
    switched_on = re.sub(r"^# ((?:KB|MINIO)_\w+=)", r"\1", read(".env.example"), flags=re.MULTILINE)
    file = tmp_path / ".env"
    file.write_text(switched_on, encoding="utf-8")
    assert Settings(_env_file=file) == Settings(_env_file=None)


@pytest.mark.parametrize("page", READMES)
def test_every_flag_is_in_the_readme(page):
    text = read(page)
    assert [flag for flag in flags() if not re.search(rf"{flag}(?![\w-])", text)] == []


@pytest.mark.parametrize("page", READMES)
@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_is_in_the_readme(page, tool):
    assert re.search(rf"^\| `{tool}` \|", read(page), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_a_relative_link_leads_somewhere(page):
    links = re.findall(r"\]\(([^)\s]+)\)", prose(page))
    local = [link.split("#")[0] for link in links if not re.match(r"[a-z]+:|#", link)]
    assert [link for link in local if not ((ROOT / page).parent / link).exists()] == []


@pytest.mark.parametrize("page", READMES)
def test_a_configuration_block_parses(page):
    blocks = [(kind, text) for kind, text in fenced(page) if kind in PARSERS]
    assert {kind for kind, _ in blocks} == set(PARSERS)
    for kind, text in blocks:
        assert PARSERS[kind](text)


@pytest.mark.parametrize("page", [*PAGES, ".env.example", "Makefile", "pyproject.toml"])
def test_no_page_knows_a_machine(page):
    assert MACHINE_PATH.findall(read(page).replace("/path/to/", "")) == []


@pytest.mark.parametrize("page", READMES)
def test_a_make_target_that_is_named_exists(page):
    named = set(re.findall(r"(?:^|`)make (\w+)", read(page), re.MULTILINE))
    assert named <= set(re.findall(r"^(\w+):", read("Makefile"), re.MULTILINE))
