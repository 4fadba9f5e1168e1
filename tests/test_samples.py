"""The sample documents say what questions about them ask, and are what the scripts make."""

import re
import sys
import zipfile

import docx
import pymupdf
import pytest
from paths import ROOT

SAMPLES = ROOT / "samples"
PLAN = SAMPLES / "海州市数字档案建设规划.pdf"
RULES = SAMPLES / "电子档案移交接收实施细则（征求意见稿）.docx"
STATUTE = SAMPLES / "海州市档案利用管理办法.txt"
MINUTES = SAMPLES / "数字档案建设联席会议纪要.md"
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


@pytest.fixture(scope="module")
def plan():
    with pymupdf.open(PLAN) as document:
        yield [page.get_text() for page in document]


def squeezed(text):
    return re.sub(r"\s", "", text)


@pytest.mark.parametrize(
    ("page", "fact"),
    [
        (1, "海政办发〔2025〕46号"),
        (2, "第五节推动档案工作融入城市治理"),
        (3, "馆藏档案共计312.6万卷（件），其中市档案馆148.2万卷（件）"),
        (4, "到2030年底，全市基本建成“一网归集、一库管理、一键查阅、一体防护”的数字档案体系"),
        (5, "自2027年1月1日起，市直机关形成的行政审批、公文处理、财务会计三类电子文件实行单套归档"),
        (6, "总投资18,600万元"),
        (7, "联席会议每季度召开一次，办公室设在市档案馆"),
        (8, "四性检测。对电子档案的真实性、完整性、可用性和安全性进行的检测"),
    ],
)
def test_a_fact_of_the_plan_stands_on_its_page(plan, page, fact):
    assert fact in squeezed(plan[page - 1])


def test_every_page_of_the_plan_has_the_running_header_and_all_but_the_cover_a_number(plan):
    assert all("海州市数字档案建设规划（2026—2030年）" in page for page in plan)
    numbers = [re.findall(r"^第 (\d+) 页$", page, re.MULTILINE) for page in plan]
    assert numbers == [[], *([str(n)] for n in range(2, len(plan) + 1))]


def test_the_projects_table_crosses_a_page_and_repeats_its_header_row(plan):
    header = "序号\n工程名称\n主要内容\n牵头单位\n完成时限\n投资（万元）"
    assert [n for n, page in enumerate(plan, 1) if header in page] == [6, 7]
    assert "馆藏档案数字化扫描" in plan[5]
    assert "规划评估与审计" in plan[6]


def test_the_projects_add_up_to_the_total(plan):
    table = (ROOT / "tools/samples/plan.txt").read_text(encoding="utf-8").split("^ 表2")[1]
    amounts = [
        int(row.rsplit("|", 1)[1].replace(",", ""))
        for row in table.split("\n")
        if re.match(r"\| \d+ \|", row)
    ]
    assert len(amounts) == 18
    assert sum(amounts) == 18_600


def test_the_plan_needs_no_font_of_the_reader(plan):
    with pymupdf.open(PLAN) as document:
        fonts = {font[1:3] for page in document for font in page.get_fonts()}
    assert fonts
    assert all(extension != "n/a" for extension, _ in fonts)


def test_the_draft_rules_hold_headings_a_table_changes_and_a_text_box():
    document = docx.Document(str(RULES))
    body = document.element.body
    headings = [p.text for p in document.paragraphs if p.style.name == "Heading 1"]
    assert headings[0] == "一、适用范围"
    assert [c.text for c in document.tables[0].rows[2].cells][1:3] == [
        "市财政局、市审计局",
        "财务会计",
    ]
    inserted = ["".join(t.text for t in i.iter(f"{W}t")) for i in body.iter(f"{W}ins")]
    deleted = ["".join(t.text for t in d.iter(f"{W}delText")) for d in body.iter(f"{W}del")]
    assert {"15", "200"} <= set(inserted)
    assert {"10", "100"} <= set(deleted)
    boxes = ["".join(t.text for t in b.iter(f"{W}t")) for b in body.iter(f"{W}txbxContent")]
    assert len(boxes) == 2, "Word writes a text box twice: DrawingML, and VML as a fallback"
    assert boxes[0] == boxes[1]
    assert "请于2026年3月15日前反馈至市档案馆业务科。" in boxes[0]


def test_the_statute_has_its_articles_in_order():
    text = STATUTE.read_text(encoding="utf-8")
    articles = re.findall(r"^第([一二三四五六七八九十]+)条　", text, re.MULTILINE)
    assert len(articles) == 25
    assert articles[0] == "一"
    assert articles[-1] == "二十五"
    assert "单次复制不超过二百页" in text


def test_the_minutes_have_headings_and_a_table():
    text = MINUTES.read_text(encoding="utf-8")
    assert "\n## 三、任务分工\n" in text
    assert "| 提出首批改造系统名单 | 市政务服务办 | 周敏 | 2026年3月20日 |" in text


def test_the_samples_stay_small():
    assert sum(path.stat().st_size for path in SAMPLES.iterdir()) < 1_000_000


@pytest.fixture(scope="module")
def make():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from make_samples import main
    finally:
        sys.path.pop(0)
    return main


def test_the_scripts_make_what_is_shipped_and_the_same_bytes_each_time(make, tmp_path):
    make(tmp_path / "a")
    with pymupdf.open(PLAN) as shipped, pymupdf.open(tmp_path / "a" / PLAN.name) as made:
        assert [page.get_text() for page in made] == [page.get_text() for page in shipped]
    with zipfile.ZipFile(RULES) as shipped, zipfile.ZipFile(tmp_path / "a" / RULES.name) as made:
        assert made.read("word/document.xml") == shipped.read("word/document.xml")
    make(tmp_path / "b")
    for name in (PLAN.name, RULES.name):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
