"""Delimited text: encodings, delimiters, quotations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.errors import Refused
from kb.parsers.sheets import csv as parser
from kb.parsers.sheets.grid import PAGE_ROWS


@pytest.fixture
def read(write):
    return lambda content, name="x.csv": parser.parse(write(name, content), name)


def lines(parsed):
    return [line for page in parsed.pages for line in page.text.split("\n")]


def test_a_quoted_newline_stays_in_its_row(read):
    text = '编号,内容\r\n1,"第一行\r\n第二行，含""引号"""\r\n2,数据管理办法\r\n'
    parsed = read(text.encode("gb18030"))
    assert parsed.encoding == "gb18030"
    assert lines(parsed) == ["编号 | 内容", '1 | 第一行 第二行，含"引号"', "2 | 数据管理办法"]
    assert parsed.pages[0].elements[0].level == 1


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(read, delimiter):
    rows = [["名称", "说明"], ["甲", "一；二，三"], ["乙", "3,5"]]
    text = "\n".join(delimiter.join(f'"{cell}"' for cell in row) for row in rows)
    assert lines(read(text)) == [" | ".join(row) for row in rows]


def test_a_tsv_is_cut_at_tabs_alone(read):
    assert lines(read("a,b\tc\n1,2\t3\n", "x.tsv")) == ["a,b | c", "1,2 | 3"]


def test_japanese(read):
    text = "名前,年齢,住所\n佐藤太郎,30,東京\n三木英子,25,大阪\n髙橋淳,35,名古屋\n"
    parsed = read(text.encode("cp932"))
    assert parsed.encoding == "cp932"
    assert lines(parsed)[3] == "髙橋淳 | 35 | 名古屋"


def test_one_column_is_one_column(read):
    assert lines(read("甲\n乙\n\n丙\n")) == ["甲", "乙", "", "丙"]


def test_a_quotation_without_an_end_is_text_from_there_on(read):
    parsed = read('a,b\n1,"两\n行"\n2,"坏\n3,好\n4,好\n')
    assert lines(parsed) == ["a | b", "1 | 两 行", '2 | "坏', "3 | 好", "4 | 好"]
    assert "第 4 行" in parsed.warnings[0]


def test_a_quotation_mark_inside_a_cell_is_a_character(read):
    assert lines(read('规格,数量\n5" 屏,3\n')) == ["规格 | 数量", '5" 屏 | 3']


def test_long_files_are_split(read):
    parsed = read("号,名\n" + "".join(f"{i},甲\n" for i in range(2 * PAGE_ROWS + 50)))
    assert [len(page.text.split("\n")) for page in parsed.pages] == [PAGE_ROWS, PAGE_ROWS, 51]


def test_nothing_to_read_is_refused(read):
    with pytest.raises(Refused):
        read(",,\n,,\n")


@given(st.text(st.sampled_from('甲a,;|"\t\n\r 1'), max_size=120))
def test_no_character_is_lost(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("csv") / "x.csv"
    path.write_bytes(text.encode("utf-8"))
    try:
        parsed = parser.parse(path, "x.csv")
    except Refused:
        return
    shown = "".join(lines(parsed))
    assert [shown.count(char) for char in "甲a1"] == [text.count(char) for char in "甲a1"]
