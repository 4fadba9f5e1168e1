"""Number formats: what a cell holds, and what a person sees in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.parsers.sheets.number_format import BUILTIN, general, is_date, shown_number, shown_text


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (1234567890123450.0, "General", "1234567890123450"),
        (110105199001011234.0, "General", "110105199001011232"),
        (3.0, "General", "3"),
        (0.1 + 0.2, "General", "0.3"),
        (1 / 3, "General", "0.3333333333"),
        (1.5e-9, "General", "1.5E-09"),
        (-2.5, "General", "-2.5"),
        (5, 'General"元"', "5元"),
        (3.14159, "0.00", "3.14"),
        (2.675, "0.00", "2.68"),
        (1.005, "0.00", "1.01"),
        (-0.5, "0", "-1"),
        (1234567.891, "#,##0", "1,234,568"),
        (1234567.891, "#,##0.00", "1,234,567.89"),
        (12, "#,##0", "12"),
        (0, "#,##0", "0"),
        (0, "#", ""),
        (5, "000", "005"),
        (1234, "0,000,000", "0,001,234"),
        (0.256, "0%", "26%"),
        (0.1234, "0.00%", "12.34%"),
        (12345678, "#,##0,", "12,346"),
        (12345678, '0.0,,"百万"', "12.3百万"),
        (1.5, "0.0#", "1.5"),
        (1.25, "0.0#", "1.25"),
        (1, "0.##", "1."),
        (-1234.5, "#,##0.00;[Red]-#,##0.00", "-1,234.50"),
        (-1234.5, "#,##0.00_);(#,##0.00)", "(1,234.50)"),
        (0, '#,##0;-#,##0;"-"', "-"),
        (1234.5, '_ * #,##0.00_ ;_ * -#,##0.00_ ;_ * "-"??_ ;_ @_ ', "1,234.50"),
        (0, '_ * #,##0.00_ ;_ * -#,##0.00_ ;_ * "-"??_ ;_ @_ ', "-"),
        (88, "[$¥-804]#,##0.00", "¥88.00"),
        (88, '"¥"#,##0.00', "¥88.00"),
        (13800001111, "000-0000-0000", "138-0000-1111"),
        (150, '[>=100]0"高";[<50]0"低";0', "150高"),
        (10, '[>=100]0"高";[<50]0"低";0', "10低"),
        (70, '[>=100]0"高";[<50]0"低";0', "70"),
        (12345, "0.00E+00", "1.23E+04"),
        (0.00012, "0.0E+0", "1.2E-4"),
        (9.999, "0.0E+0", "1.0E+1"),
        (12345, "##0.0E+0", "12.3E+3"),
        (0, "0.00E+00", "0.00E+00"),
        (1.25, "# ?/?", "1 1/4"),
        (0.5, "?/?", "1/2"),
        (0.375, "# ?/8", "3/8"),
        (2, "# ?/?", "2"),
        (7, "@", "7"),
        (7, '"合计"', "合计"),
        (7, ";;;", ""),
        (1203, "[DBNum1][$-804]General", "一千二百〇三"),
        (10, "[DBNum1]General", "十"),
        (100010, "[DBNum2][$-804]General", "壹拾万零壹拾"),
        (2024, "[DBNum1]0", "二〇二四"),
        (float("inf"), "0", "inf"),
        (5, "", ""),
    ],
)
def test_numbers(value, code, shown):
    assert shown_number(value, code) == shown


# 2024-03-14 is 45365.
@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (45365, BUILTIN[14], "2024/3/14"),
        (45365.5, BUILTIN[22], "2024/3/14 12:00"),
        (45365, "yyyy-mm-dd", "2024-03-14"),
        (45365, 'yyyy"年"m"月"d"日"', "2024年3月14日"),
        (45365, "yyyy年m月d日;@", "2024年3月14日"),
        (45365, BUILTIN[31], "2024年3月14日"),
        (45365, BUILTIN[57], "2024年3月"),
        (45365, "[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy", "2024年3月14日"),
        (45365, '[DBNum1][$-804]yyyy"年"m"月"d"日";@', "二〇二四年三月十四日"),
        (45365, "d-mmm-yy", "14-Mar-24"),
        (45365, "[$-804]aaaa", "星期四"),
        (45365, "[$-804]ddd", "周四"),
        (45365, "[$-409]dddd, mmmm d", "Thursday, March 14"),
        (45365, "[$-804]mmmm", "三月"),
        (45365.75, "h:mm AM/PM", "6:00 PM"),
        (45365.25, '上午/下午h"时"mm"分"', "上午6时00分"),
        (45365.0, "h:mm AM/PM", "12:00 AM"),
        (0.5, "h:mm:ss", "12:00:00"),
        (1.5, "[h]:mm:ss", "36:00:00"),
        (0.0625, "[mm]:ss", "90:00"),
        (45365.123456, "yyyy-mm-dd hh:mm:ss", "2024-03-14 02:57:47"),
        (0.0000115741, "mm:ss.0", "00:01.0"),
        (0.999999999, "h:mm", "0:00"),
        (1, "yyyy-mm-dd", "1900-01-01"),
        (59, "yyyy-mm-dd", "1900-02-28"),
        (61, "yyyy-mm-dd", "1900-03-01"),
        (-5, "yyyy-mm-dd", "-5"),
        (9e9, "yyyy-mm-dd", "9000000000"),
        (45365, "e年m月", "2024年3月"),
        (45365, "yy.m.d", "24.3.14"),
    ],
)
def test_dates(value, code, shown):
    assert shown_number(value, code) == shown


def test_the_other_epoch():
    assert shown_number(0, "yyyy-mm-dd", from_1904=True) == "1904-01-01"


def test_dates_are_known_by_what_stands_outside_quotes():
    assert is_date("yyyy-mm")
    assert is_date("[h]:mm")
    assert not is_date('0"days"')
    assert not is_date("General")
    assert not is_date("[Red]0.00")


def test_text_goes_through_its_section():
    assert shown_text("甲", '0;-0;0;"〔"@"〕"') == "〔甲〕"
    assert shown_text("甲", "0.00") == "甲"
    assert shown_text("甲", "General") == "甲"


def test_general_has_no_empty_tail():
    assert general(1e20) == "100000000000000000000"
    assert general(1e22) == "1E+22"


@given(
    st.floats(),
    st.text(st.sampled_from('0#?.,%E+-/ymdhs;[]"\\_*@aeGx$>=1年 '), max_size=30),
    st.booleans(),
)
def test_no_code_breaks_the_renderer(value, code, from_1904):
    assert isinstance(shown_number(value, code, from_1904=from_1904), str)
    assert isinstance(shown_text("甲", code), str)
