"""The retrieval benchmark: what it counts, and a run over a set of our own."""

import json
import xml.etree.ElementTree as ET

import pytest
from cross_encoder_support import put_cross_encoder

from bench import metrics, report, retrieval
from bench.questions import Span, first_right, gains, load_questions, question_fields
from bench.systems import MEANING, PRODUCT, RERANKED, SYSTEMS, bigrams
from kb.app import KnowledgeBase
from kb.config import ROOT, Settings

ANSWER = Span("a.txt", 1, 3, 4)


def test_a_hit_is_right_when_a_matched_line_lies_in_an_answer():
    miss = [Span("a.txt", 1, 1, 2)], [Span("a.txt", 2, 3, 4)], [Span("b.txt", 1, 3, 4)]
    assert first_right(miss, [ANSWER]) == 0
    assert first_right([*miss, [Span("a.txt", 1, 1, 1), Span("a.txt", 1, 4, 9)]], [ANSWER]) == 4


def test_an_answer_is_gained_once():
    again = [[ANSWER], [ANSWER], [Span("b.txt", 1, 1, 6)]]
    assert gains(again, [ANSWER, Span("b.txt", 1, 1, 1), Span("b.txt", 1, 5, 5)]) == [1, 0, 2]


def test_ndcg_is_one_when_all_answers_come_first():
    assert metrics.ndcg([1, 1, 0], 2) == pytest.approx(1)
    assert metrics.ndcg([0, 1], 1) == pytest.approx(0.6309, abs=1e-4)
    assert metrics.ndcg([0], 1) == 0


def test_auc_counts_ties_half():
    assert metrics.auc([2, 3], [0, 1]) == 1
    assert metrics.auc([1, 1], [1, 1]) == 0.5
    assert metrics.auc([0], [1]) == 0


def test_an_interval_holds_the_mean_and_is_the_same_every_time():
    values = [0.0, 100.0] * 50
    low, high = metrics.interval(values)
    assert 35 < low < 50 < high < 65
    assert metrics.interval(values) == (low, high)
    assert metrics.paired_interval(values, values) == (0, 0)


def test_the_accepted_share_is_taken_at_a_fixed_loss():
    right = [n / 100 for n in range(1, 101)]
    assert metrics.accepted_at_loss(right, [0.0, 0.02, 0.9, 0.95]) == 50


def test_bigrams_are_pairs_of_han_and_words():
    assert bigrams("营收 report 2035，雨") == ["营收", "report", "2035", "雨"]
    assert bigrams("數字檔案") == ["数字", "字档", "档案"]


@pytest.fixture
def questions(tmp_path):
    """A set of twelve documents in the format of the shared ones."""
    folder = tmp_path / "small"
    (folder / "docs").mkdir(parents=True)
    rows = []
    for n, thing in enumerate(("桥梁", "水库", "图书馆", "医院", "学校", "公园") * 2):
        text = f"{thing}管理办法\n本办法共{n}条。\n{thing}由第{n}科室负责日常维护。"
        (folder / "docs" / f"{n}.txt").write_text(text, encoding="utf-8")
        answer = {"source": f"{n}.txt", "page": 1, "line_start": 3, "line_end": 3}
        query = f"{thing}由第{n}科室负责什么"
        rows.append({"qid": str(n), "query": query, "answers": [answer], "kind": "span"})
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (folder / "qrels.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_questions_that_lack_the_field_are_left_out(questions):
    assert len(load_questions(questions)) == 12
    assert load_questions(questions, "text_zh") == []


def test_a_set_is_asked_in_every_language_it_has(questions, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("KB_EMBEDDER", "hash")
    assert question_fields(questions) == ["query"]
    rows = (questions / "qrels.jsonl").read_text(encoding="utf-8").split("\n")
    row = json.loads(rows[0]) | {"text_en": "who maintains the bridge 1"}
    text = "\n".join([json.dumps(row, ensure_ascii=False), *rows[1:]])
    (questions / "qrels.jsonl").write_text(text, encoding="utf-8")
    assert question_fields(questions) == ["query", "text_en"]
    arguments = [str(questions), "--data", str(tmp_path / "data"), "--systems", "product"]
    assert retrieval.main(arguments) == 0
    shown = capsys.readouterr().out
    assert "| small | product |" in shown
    assert "| small text_en | product |" in shown
    assert retrieval.main([*arguments, "--field", "text_en"]) == 0
    assert "| small | product |" not in capsys.readouterr().out


def test_a_run_measures_every_system_and_saves_its_commit(questions, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("KB_EMBEDDER", "hash")
    out = tmp_path / "out" / "r.json"
    data = tmp_path / "data"
    arguments = [str(questions), "--data", str(data), "--json", str(out), "--plots", str(tmp_path)]
    assert retrieval.main(arguments) == 0
    saved = json.loads(out.read_text(encoding="utf-8"))
    assert set(saved["results"]["small"]) == set(SYSTEMS) == {*MEANING} - {RERANKED}
    assert "commit" in saved
    product = saved["results"]["small"]["product"]
    assert product["hit@5"] == product["span@5"] == product["pool"] == 100
    assert 1 <= product["lines"] <= 3
    assert 0 <= product["auc"] <= 1
    assert product["hit@1 interval"][0] <= product["hit@1"] <= product["hit@1 interval"][1]
    assert (data / "small" / "questions.npz").is_file()
    assert "| small | product |" in capsys.readouterr().out
    assert ET.parse(tmp_path / "hit_at_1.svg").getroot().tag.endswith("svg")


def test_a_reranker_is_one_system_more_with_its_time(questions, tmp_path, monkeypatch, capsys):
    put_cross_encoder(tmp_path / "models" / "small")
    monkeypatch.setenv("KB_EMBEDDER", "hash")
    monkeypatch.setenv("KB_MODEL_DIR", str(tmp_path / "models"))
    monkeypatch.setenv("KB_RERANKER", "small")
    out = tmp_path / "r.json"
    assert retrieval.main([str(questions), "--json", str(out), "--systems", PRODUCT, RERANKED]) == 0
    small = json.loads(out.read_text(encoding="utf-8"))["results"]["small"]
    # The model knows no word of these texts, so that the shortest come first: not 图书馆.
    assert small[RERANKED]["hit@1"] == pytest.approx(100 * 10 / 12)
    assert small[PRODUCT]["hit@1"] == 100
    assert small[RERANKED]["pool"] == small[PRODUCT]["pool"] == 100
    assert small[RERANKED]["p50 ms"] > 0
    assert f"| small | {RERANKED} |" in capsys.readouterr().out
    monkeypatch.delenv("KB_RERANKER")
    with pytest.raises(SystemExit):
        retrieval.main([str(questions), "--systems", RERANKED])


def test_sets_may_be_asked_in_one_index(questions, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("KB_EMBEDDER", "hash")
    other = tmp_path / "other"
    (other / "docs").mkdir(parents=True)
    (other / "docs" / "elsewhere.txt").write_text("The lake is deep.", encoding="utf-8")
    answer = {"source": "elsewhere.txt", "page": 1, "line_start": 1, "line_end": 1}
    row = {"qid": "1", "query": "how deep is the lake", "answers": [answer]}
    (other / "qrels.jsonl").write_text(json.dumps(row), encoding="utf-8")
    out, data = tmp_path / "r.json", tmp_path / "data"
    arguments = [str(questions), str(other), "--together", "--data", str(data), "--json", str(out)]
    assert retrieval.main([*arguments, "--systems", "product"]) == 0
    results = json.loads(out.read_text(encoding="utf-8"))["results"]
    assert set(results) == {"small together", "other together"}
    assert {r["product"]["hit@5"] for r in results.values()} == {100}
    with (
        KnowledgeBase(Settings(data_dir=data, project="together")).project().catalog.reading() as r
    ):
        assert len(r.sources()) == 13


def test_the_readmes_hold_markers_that_the_table_goes_between(tmp_path):
    for name in ("README.md", "README.zh-CN.md"):
        assert "<!-- retrieval -->" in (ROOT / name).read_text(encoding="utf-8")
        text = "before\n<!-- retrieval -->\nold\n<!-- /retrieval -->\nafter\n"
        (tmp_path / name).write_text(text, encoding="utf-8")
    report.write_readmes({}, tmp_path)
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "old" not in text
    assert text.startswith("before\n<!-- retrieval -->\n| |")
    assert text.endswith("<!-- /retrieval -->\nafter\n")
