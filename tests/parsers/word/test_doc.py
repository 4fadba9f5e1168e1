"""Word 97 files through the programs that are installed here, and what is said without any."""

import os
import shutil
import sys

import pytest
from paths import SHARED

from kb.errors import Refused
from kb.parsers.flow import Break
from kb.parsers.word import doc, doc_programs
from kb.parsers.word.doc_output import docbook_lines, plain_lines
from kb.ports import ParseLimits
from kb.sandbox.sandbox import Sandbox

SAMPLE = SHARED / "corpus" / "doc" / "word97.doc"
TOOLS = {tool.name: tool for tool in doc._TOOLS}
FIB = b"\xec\xa5\xc1\0" + bytes(6) + b"\0\x01"

needs_sample = pytest.mark.skipif(not SAMPLE.is_file(), reason="the shared corpus is not here")


def only(monkeypatch, *names):
    monkeypatch.setattr(doc, "_TOOLS", tuple(TOOLS[name] for name in names))


@needs_sample
@pytest.mark.parametrize("name", TOOLS)
def test_each_program_reads_the_sample(monkeypatch, name):
    if not doc_programs.program(*TOOLS[name].programs):
        pytest.skip(f"{name} is not installed")
    only(monkeypatch, name)
    parsed = doc.parse(SAMPLE, "旧.doc")
    text = "\n".join(page.text for page in parsed.pages)
    for phrase in ("Sample Word Document Title", "This is a sample Microsoft Word Document."):
        assert phrase in text
    assert "HYPERLINK" not in text
    assert name in parsed.warnings[0]
    assert parsed.parser == doc.SPEC.id


@needs_sample
@pytest.mark.skipif(not shutil.which("antiword"), reason="antiword is not installed")
def test_antiword_keeps_headings_and_rows(monkeypatch):
    only(monkeypatch, "antiword")
    page = doc.parse(SAMPLE, "旧.doc").pages[0]
    assert "The table has things in it |" in page.text.split("\n")
    assert [e.level for e in page.elements if e.kind == "heading"] == [1, 2, 3]


@needs_sample
@pytest.mark.skipif(
    not any(doc_programs.program(*tool.programs) for tool in TOOLS.values()), reason="no program"
)
@pytest.mark.parametrize("name", ["旧.doc", "旧.wps"])
def test_the_sandbox_lets_a_program_work(name):
    box = Sandbox(ParseLimits())
    parsed = box.parse(SAMPLE, name)
    box.close()
    assert "Sample Word Document Title" in parsed.pages[0].text


@pytest.mark.skipif(not doc_programs.program("soffice"), reason="LibreOffice is not installed")
def test_rtf_is_read_by_libreoffice(write):
    path = write("a.rtf", rb"{\rtf1\ansi\ansicpg936 {\b\'ba\'a3\'d6\'dd}\par 3200}")
    assert doc.parse(path, "a.rtf").pages[0].text.split("\n") == ["海州", "3200"]


@pytest.mark.parametrize(
    ("platform", "advice"),
    [("linux", "apt install"), ("darwin", "brew install"), ("win32", "winget install")],
)
def test_without_a_program_it_says_what_to_install(monkeypatch, write, platform, advice):
    monkeypatch.setattr(doc_programs, "program", lambda *_names: "")
    monkeypatch.setattr(sys, "platform", platform)
    with pytest.raises(Refused, match=r"旧\.doc") as error:
        doc.parse(write("旧.doc", b"x"), "旧.doc")
    assert advice in error.value.hint
    assert ".docx" in error.value.hint


def test_rtf_needs_more_than_a_text_reader(monkeypatch, write):
    only(monkeypatch, "antiword", "catdoc")
    monkeypatch.setattr(doc_programs, "program", lambda *names: names[0])
    with pytest.raises(Refused) as error:
        doc.parse(write("a.rtf", b"{\\rtf1 x}"), "a.rtf")
    assert "LibreOffice" in error.value.hint


def test_an_encrypted_document_asks_for_its_password(write):
    with pytest.raises(Refused) as error:
        doc.parse(write("密.doc", bytes(512) + FIB.ljust(512, b"\0")), "密.doc")
    assert "密码" in error.value.hint


def test_a_file_that_no_program_can_read_is_refused_by_name(monkeypatch, write):
    only(monkeypatch, "antiword")
    monkeypatch.setattr(doc_programs, "program", lambda *_names: sys.executable)
    with pytest.raises(Refused, match=r"坏\.doc.*antiword"):
        doc.parse(write("坏.doc", b"x"), "坏.doc")


def test_the_next_program_is_tried_where_one_fails(monkeypatch, write):
    only(monkeypatch, "antiword", "catdoc")
    monkeypatch.setattr(doc_programs, "program", lambda *names: names[0])
    answers = {"antiword": b"", "catdoc": "正文".encode()}
    monkeypatch.setattr(doc_programs, "output", lambda command, *_: answers[command[0]])
    parsed = doc.parse(write("a.doc", b"x"), "a.doc")
    assert parsed.pages[0].text == "正文"
    assert "catdoc" in parsed.warnings[0]


# Running programs


def python(code, folder, seconds=20.0):
    return doc_programs.output((sys.executable, "-c", code), folder, seconds)


def test_a_program_is_bounded_in_time_and_output(monkeypatch, tmp_path):
    assert python("print('ok')", tmp_path).strip() == b"ok"
    assert python("print('ok'); raise SystemExit(3)", tmp_path) == b""
    assert python("import time; print('ok', flush=True); time.sleep(60)", tmp_path, 0.5) == b""
    monkeypatch.setattr(doc_programs, "_MOST_OUTPUT", 100)
    assert python("while True: print('x' * 99, flush=True)", tmp_path) == b""


def test_a_program_sees_a_copy_that_goes_away(write):
    with doc_programs.copied(write("名字.doc", b"abc"), ".doc") as copy:
        assert copy.name == "in.doc"
        assert copy.read_bytes() == b"abc"
        folder = copy.parent
    assert not folder.exists()


def test_folders_of_killed_children_are_swept(monkeypatch, tmp_path, write):
    monkeypatch.setattr(doc_programs.tempfile, "tempdir", str(tmp_path))
    old, new = tmp_path / "kb-doc-old", tmp_path / "kb-doc-new"
    for folder in (old, new):
        folder.mkdir()
    os.utime(old, (0, 0))
    with doc_programs.copied(write("a.doc", b"x"), ".doc"):
        pass
    assert not old.exists()
    assert new.exists()


# What they print


def texts(flow):
    return [None if isinstance(item, Break) else item.text for item in flow]


def test_docbook_gives_headings_rows_and_items():
    printed = """<?xml version="1.0" encoding="utf-8"?>
        <!DOCTYPE book PUBLIC "-//OASIS//DTD DocBook XML V4.1.2//EN" "x.dtd">
        <book><title>属性</title><bookinfo><date>2020</date></bookinfo><chapter><title>第一章</title>
        <sect1><title><emphasis>第一节</emphasis></title><para>正 <emphasis>文</emphasis>[pic]
        <beginpage/>次页</para><orderedlist numeration='arabic'><listitem><para>条目</para></listitem>
        </orderedlist><para><informaltable><tgroup><tbody><row><entry>甲</entry><entry>乙
        续</entry></row><row><entry/><entry/></row></tbody></tgroup></informaltable></para></sect1>
        </chapter></book>"""
    flow = docbook_lines(printed.encode())
    assert texts(flow) == ["第一章", "第一节", "正 文", None, "次页", "条目", "甲 | 乙 续"]
    assert [item.level for item in flow[:2]] == [1, 2]
    assert flow[-1].kind == "table"


@pytest.mark.parametrize("printed", [b"", b"I can't open it", b"\xff\xfe<"])
def test_what_is_no_docbook_gives_nothing(printed):
    assert docbook_lines(printed) == []


def test_field_codes_of_catdoc_are_not_text():
    printed = 'HYPERLINK \\l "_Toc1" 总则\t1\r\n  TOC \\o "1-3" \\h 目录\n\n次\f页'
    assert texts(plain_lines(printed.encode())) == ["总则\t1", "目录", "次", None, "页"]
