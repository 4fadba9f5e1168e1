"""Data files: shown raw, encodings by declaration."""

import pytest

from kb.errors import Refused
from kb.parsers.plain import structured


@pytest.fixture
def read(write):
    def read(name, content):
        return structured.parse(write(name, content), name)

    return read


def test_lines_are_those_of_the_file(read):
    text = '{\n  "指标": [1,\n    2]\n}'
    assert read("a.json", text + "\n").pages[0].text == text


def test_a_single_line_is_kept_and_its_length_said(read):
    text = '{"a": "' + "长" * 3000 + '"}'
    parsed = read("a.json", text)
    assert parsed.pages[0].text == text
    assert any("3009" in warning for warning in parsed.warnings)


def test_xml_is_read_in_the_encoding_it_declares(read):
    text = '<?xml version="1.0" encoding="gb2312"?>\n<标题>镕</标题>'
    parsed = read("a.xml", text.encode("gb18030"))
    assert parsed.pages[0].text == text
    assert (parsed.encoding, parsed.warnings, parsed.media_type) == (
        "gb18030",
        (),
        "application/xml",
    )


@pytest.mark.parametrize("name", ["a.jsonl", "a.yaml", "a.yml", "a.toml", "a.ini"])
def test_settings_are_text(read, name):
    assert read(name, "名: 值\n").pages[0].text == "名: 值"


def test_binary_and_empty_files_are_refused(read):
    for content in (bytes(range(256)) * 9, b" \n"):
        with pytest.raises(Refused):
            read("a.json", content)
