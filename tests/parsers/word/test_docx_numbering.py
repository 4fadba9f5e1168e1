"""Automatic numbers of Word: how every format writes them, and what they count."""

import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from hypothesis import given
from hypothesis import strategies as st

from kb.parsers.word.numbering import _WRITERS, Numbering, number_text
from kb.parsers.word.styles import Styles

W = nsdecls("w")


@pytest.mark.parametrize(
    ("form", "counts", "written"),
    [
        ("decimal", (0, 1, 12), "0 1 12"),
        ("decimalZero", (1, 12, 100), "01 12 100"),
        ("chineseCounting", (1, 10, 11, 20, 99, 101), "一 十 十一 二十 九十九 一〇一"),
        (
            "chineseCountingThousand",
            (1, 10, 12, 20, 100, 101, 110, 1003, 10010),
            "一 十 十二 二十 一百 一百零一 一百一十 一千零三 一万零一十",
        ),
        ("ideographTraditional", (1, 10, 11), "甲 癸 11"),
        ("ideographZodiac", (1, 12, 13), "子 亥 13"),
        ("ideographZodiacTraditional", (1, 60), "甲子 癸亥"),
        ("ideographDigital", (10, 25), "一〇 二五"),
        ("japaneseCounting", (1, 10, 21, 101, 1111), "一 十 二十一 百一 千百十一"),
        ("chineseLegalSimplified", (1, 10, 205), "壹 壹拾 贰佰零伍"),
        ("upperRoman", (1, 4, 1999, 5000), "I IV MCMXCIX 5000"),
        ("lowerRoman", (9, 40), "ix xl"),
        ("upperLetter", (1, 26, 27, 53, 781), "A Z AA AAA 781"),
        ("lowerLetter", (2, 28), "b bb"),
        ("decimalEnclosedCircle", (1, 20, 21, 50, 51), "① ⑳ ㉑ ㊿ 51"),
        ("decimalEnclosedParen", (1, 20), "⑴ ⒇"),
        ("decimalFullWidth", (1, 10), "１ １０"),
        ("ordinal", (1, 2, 3, 4, 11, 21, 112), "1st 2nd 3rd 4th 11th 21st 112th"),
        ("numberInDash", (3,), "- 3 -"),
        ("none", (1,), ""),
        ("no such format", (7,), "7"),
    ],
)
def test_each_format_writes_its_numbers(form, counts, written):
    assert " ".join(number_text(count, form) for count in counts) == written


@given(st.sampled_from(sorted(_WRITERS)), st.integers(0, 40_000))
def test_any_count_is_written_short(form, count):
    assert len(number_text(count, form)) <= 64


@given(st.integers(1, 3999))
def test_roman_numerals_can_be_read_back(count):
    value = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
    digits = [value[char] for char in number_text(count, "upperRoman")]
    signed = (-a if a < b else a for a, b in zip(digits, [*digits[1:], 0], strict=True))
    assert sum(signed) == count


def level(at, text, form="decimal", start=1, more=""):
    return (
        f"<w:lvl w:ilvl='{at}'><w:start w:val='{start}'/><w:numFmt w:val='{form}'/>"
        f"<w:lvlText w:val='{text}'/>{more}</w:lvl>"
    )


def numbering(levels, nums="<w:num w:numId='1'><w:abstractNumId w:val='7'/></w:num>", styles=""):
    abstract = f"<w:abstractNum w:abstractNumId='7'>{levels}</w:abstractNum>"
    root = parse_xml(f"<w:numbering {W}>{abstract}{nums}</w:numbering>")
    return Numbering(root, Styles(parse_xml(f"<w:styles {W}>{styles}</w:styles>")))


def labels(levels, steps, **more):
    """The labels of paragraphs at `steps`: levels of list 1, or (list, level)."""
    counters = numbering(levels, **more).counters()
    places = [("1", step) if isinstance(step, int) else step for step in steps]
    return [counters.label(place) for place in places]


OUTLINE = level(0, "%1") + level(1, "%1.%2") + level(2, "(%3)", "lowerLetter")


def test_deeper_levels_start_again():
    found = labels(OUTLINE, [0, 1, 1, 2, 2, 1, 2, 0, 1])
    assert found == ["1 ", "1.1 ", "1.2 ", "(a) ", "(b) ", "1.3 ", "(a) ", "2 ", "2.1 "]


def test_a_level_passed_over_counts_as_begun():
    assert labels(OUTLINE, [1, 1, 0]) == ["1.1 ", "1.2 ", "2 "]


def test_lvl_restart_names_the_level_or_none():
    never = level(0, "%1") + level(1, "%2", more="<w:lvlRestart w:val='0'/>")
    assert labels(never, [0, 1, 1, 0, 1]) == ["1 ", "1 ", "2 ", "2 ", "3 "]
    first = level(0, "%1") + level(1, "%2") + level(2, "%3", more="<w:lvlRestart w:val='1'/>")
    assert labels(first, [0, 1, 2, 1, 2, 0, 2]) == ["1 ", "1 ", "1 ", "2 ", "2 ", "2 ", "1 "]


def test_legal_style_writes_digits():
    legal = level(0, "第%1章", "chineseCounting") + level(1, "%1.%2", more="<w:isLgl/>")
    assert labels(legal, [0, 1]) == ["第一章 ", "1.1 "]


@pytest.mark.parametrize(("suffix", "label"), [("tab", "1. "), ("space", "1. "), ("nothing", "1.")])
def test_the_suffix_parts_number_and_text(suffix, label):
    assert labels(level(0, "%1.", more=f"<w:suff w:val='{suffix}'/>"), [0]) == [label]


def test_articles_go_on_over_lists_that_share_their_count():
    nums = "".join(
        f"<w:num w:numId='{n}'><w:abstractNumId w:val='7'/>{more}</w:num>"
        for n, more in (
            (1, ""),
            (2, ""),
            (3, "<w:lvlOverride w:ilvl='0'><w:startOverride w:val='5'/></w:lvlOverride>"),
        )
    )
    found = labels(
        level(0, "第%1条", "chineseCountingThousand"),
        [("1", 0), ("2", 0), ("1", 0), ("3", 0), ("3", 0)],
        nums=nums,
    )
    assert found == ["第一条 ", "第二条 ", "第三条 ", "第五条 ", "第六条 "]


def test_a_level_may_be_replaced_for_one_list():
    own = f"<w:lvlOverride w:ilvl='0'>{level(0, '（%1）', 'chineseCounting', 3)}</w:lvlOverride>"
    nums = f"<w:num w:numId='1'><w:abstractNumId w:val='7'/>{own}</w:num>"
    assert labels(level(0, "%1"), [0, 0], nums=nums) == ["（三） ", "（四） "]


@pytest.mark.parametrize(
    ("text", "shown"), [("\uf0b7", "•"), ("o", "•"), ("§", "•"), ("–", "–"), ("●", "●")]
)
def test_bullets_of_symbol_fonts_become_bullets(text, shown):
    assert labels(level(0, text, "bullet"), [0]) == [f"{shown} "]


def test_padded_numbers_hide_in_alternate_content():
    custom = (
        "<w:lvl w:ilvl='0'><w:start w:val='9'/><mc:AlternateContent "
        "xmlns:mc='http://schemas.openxmlformats.org/markup-compatibility/2006'><mc:Choice>"
        "<w:numFmt w:val='custom' w:format='001, 002, 003, ...'/></mc:Choice><mc:Fallback>"
        "<w:numFmt w:val='decimal'/></mc:Fallback></mc:AlternateContent><w:lvlText w:val='%1'/></w:lvl>"
    )
    assert labels(custom, [0, 0]) == ["009 ", "010 "]


def place(found, properties):
    return found.place(parse_xml(f"<w:pPr {W}>{properties}</w:pPr>"))


STYLES = (
    "<w:style w:type='paragraph' w:styleId='A'><w:pPr><w:numPr><w:numId w:val='1'/></w:numPr></w:pPr>"
    "</w:style><w:style w:type='paragraph' w:styleId='B'><w:basedOn w:val='A'/></w:style>"
    "<w:style w:type='numbering' w:styleId='N'><w:pPr><w:numPr><w:numId w:val='1'/></w:numPr></w:pPr>"
    "</w:style>"
)


def test_styles_number_their_paragraphs():
    found = numbering(
        level(0, "%1") + level(1, "%1.%2", more="<w:pStyle w:val='A'/>"), styles=STYLES
    )
    assert place(found, "<w:pStyle w:val='A'/>") == ("1", 1)
    assert place(found, "<w:pStyle w:val='B'/>") == ("1", 1)
    own = "<w:pStyle w:val='A'/><w:numPr><w:ilvl w:val='2'/></w:numPr>"
    assert place(found, own) == ("1", 2)
    assert place(found, "<w:pStyle w:val='A'/><w:numPr><w:numId w:val='0'/></w:numPr>") is None
    assert place(found, "") is None
    assert place(found, "<w:numPr><w:numId w:val='404'/></w:numPr>") is None


def test_a_list_may_only_name_a_numbering_style():
    root = parse_xml(
        f"<w:numbering {W}><w:abstractNum w:abstractNumId='7'>{level(0, '条%1')}</w:abstractNum>"
        "<w:abstractNum w:abstractNumId='8'><w:numStyleLink w:val='N'/></w:abstractNum>"
        "<w:num w:numId='1'><w:abstractNumId w:val='7'/></w:num>"
        "<w:num w:numId='2'><w:abstractNumId w:val='8'/></w:num></w:numbering>"
    )
    found = Numbering(root, Styles(parse_xml(f"<w:styles {W}>{STYLES}</w:styles>")))
    assert found.counters().label(("2", 0)) == "条1 "


def test_without_a_numbering_part_nothing_is_numbered():
    found = Numbering(None, Styles(None))
    assert place(found, "<w:numPr><w:numId w:val='1'/></w:numPr>") is None


@given(st.lists(st.integers(0, 8), max_size=30))
def test_any_walk_over_the_levels_is_numbered(steps):
    whole = "".join(level(at, f"%{at + 1}.") for at in range(9))
    found = labels(whole, steps)
    assert all(label and label[0].isdigit() for label in found)
