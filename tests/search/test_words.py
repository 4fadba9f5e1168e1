"""What people type finds the line that says it, first among two hundred documents."""

from __future__ import annotations

from pathlib import Path

import pytest
from library_support import Library, settings_for

SAID = {
    "雨": "明天有雨。",
    "悬空": "第三根梁仍然悬空。",
    "修复 ok": "登录页面修复，ok。",
    "端到端测试结果": "端到端测试已经全部通过。",
    "２０３５": "到 2035 年建成。",
    "ＥＴＬ": "etl 任务每天凌晨运行。",
    "营收": "本季度營收下降。",
    "1.0.21": "升级到 1.0.21 之后恢复。",
    "第十二条": "第12条 逾期不予受理。",
    "文一方": "⽂⼀⽅ 担任组长。",
    "万东": "联系人：万 东。",
    "欧阳明远": "由欧阳明远签发。",
    "KB-2024-x7": "工单编号 kb-2024-X7 已关闭。",
}
ALSO = {"2035": "２０３５", "etl": "ＥＴＬ", "營收": "营收", "第12条": "第十二条", "万 东": "万东"}
"""Other ways to type the same."""
FILLER = (
    "项目按计划推进，本周完成了接口联调和文档整理。",
    "会议讨论了预算安排、人员分工和下一步的工作。",
    "设备已经到货，安装调试预计需要十个工作日。",
    "version 2.4.10 fixes the import of large tables.",
    "编号 KB-2023-a1 的工单转交运维处理。",
    "二〇二四年度收入与支出基本持平，第十条另有规定。",
)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Two hundred documents; each line of SAID stands in one of them."""
    folder: Path = tmp_path_factory.mktemp("many")
    library = Library(folder, settings_for(folder, embedder="none"))
    said = list(SAID.values())
    for n in range(200):
        lines = [f"{FILLER[(n + i) % len(FILLER)]}（{n}-{i}）" for i in range(9)]
        if n % 15 == 7 and n // 15 < len(said):
            lines[4] = said[n // 15]
        library.put(f"{n}.txt", "\n".join(lines), update=False)
    return library


@pytest.mark.parametrize("query", [*SAID, *ALSO])
def test_what_is_typed_finds_its_line_first_as_it_is_written(many: Library, query: str) -> None:
    line = SAID[ALSO.get(query, query)]
    first = many.kb.search(query, 6).hits[0]
    assert line in [shown.text for shown in first.lines if shown.match]
