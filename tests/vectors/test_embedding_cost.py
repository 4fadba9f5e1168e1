"""What is embedded, and what is never embedded again, counted at the embedder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from library_support import Library, numbered, settings_for

from kb.app import KnowledgeBase
from kb.embedding.hashing import HashingEmbedder
from kb.model import Progress
from kb.text.blocks import BLOCK_LINES, OVERLAP


class Counting(HashingEmbedder):
    """Remembers every batch; `kill_at` is after how many batches the process is killed."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.kill_at = -1

    def embed_passages(self, texts: Sequence[str]) -> Any:
        if len(self.batches) == self.kill_at:
            raise KeyboardInterrupt
        self.batches.append(list(texts))
        return super().embed_passages(texts)

    @property
    def texts(self) -> list[str]:
        return [text for batch in self.batches for text in batch]


class Counted(Library):
    """A library that tells what each change had embedded."""

    def __init__(self, folder: Path) -> None:
        self.engine = Counting()
        super().__init__(folder, settings_for(folder), self.engine)

    def embedded(self, source: str, text: str) -> list[str]:
        self.put(source, text, update=False)
        return self.updated()

    def updated(self) -> list[str]:
        before = len(self.engine.batches)
        state = self.kb.update()
        assert (state.pending, state.notice) == (0, "")
        return [text for batch in self.engine.batches[before:] for text in batch]

    def indexed(self) -> set[str]:
        """The embedded text of every block there is."""
        with self.kb.project().catalog.reading() as reader:
            return {
                text
                for document in reader.documents().values()
                if not document.valid_until
                for _id, text in reader.indexed_texts(document)
            }


@pytest.fixture
def counted(tmp_path: Path) -> Counted:
    return Counted(tmp_path)


PAGES = [numbered(f"第{page}页 经费", 31) for page in range(1, 4)]


def test_every_text_is_embedded_once_and_only_once(counted: Counted) -> None:
    first = counted.embedded("a.txt", "\f".join(PAGES))
    assert Counter(first) == Counter(counted.indexed())
    assert len(first) == 18


def test_the_same_bytes_again_embed_nothing(counted: Counted) -> None:
    counted.embedded("a.txt", "\f".join(PAGES))
    assert counted.embedded("a.txt", "\f".join(PAGES)) == []
    assert counted.updated() == []


@pytest.mark.parametrize(("line", "blocks"), [(3, 1), (6, 2), (31, 1)])
def test_a_changed_line_embeds_the_blocks_that_hold_it(
    counted: Counted, line: int, blocks: int
) -> None:
    counted.embedded("a.txt", "\f".join(PAGES))
    before = counted.indexed()
    lines = PAGES[1].split("\n")
    lines[line - 1] = "改过的一行"
    again = counted.embedded("a.txt", "\f".join([PAGES[0], "\n".join(lines), PAGES[2]]))
    assert len(again) == blocks
    assert Counter(again) == Counter(counted.indexed() - before)


def test_lines_added_at_the_end_embed_only_the_end(counted: Counted) -> None:
    counted.embedded("a.txt", "\f".join(PAGES))
    again = counted.embedded("a.txt", "\f".join([*PAGES, "新的一页"]))
    assert again == ["a\n新的一页"]


@pytest.mark.parametrize(
    ("inserted", "blocks"),
    [
        (1, 7),  # Every window of that page holds other lines now.
        (BLOCK_LINES - OVERLAP, 1),  # The windows fall on the same lines again.
    ],
)
def test_lines_inserted_at_the_top_of_a_page_shift_that_page_alone(
    counted: Counted, inserted: int, blocks: int
) -> None:
    counted.embedded("a.txt", "\f".join(PAGES))
    longer = "\n".join([*(f"插入{n}" for n in range(inserted)), PAGES[1]])
    again = counted.embedded("a.txt", "\f".join([PAGES[0], longer, PAGES[2]]))
    assert len(again) == blocks
    assert not any("第1页" in text or "第3页" in text for text in again)


def test_a_page_that_moved_embeds_nothing(counted: Counted) -> None:
    counted.embedded("a.txt", "\f".join(PAGES))
    assert counted.embedded("a.txt", "\f".join(["扉页", *PAGES[::-1]])) == ["a\n扉页"]


def test_the_same_text_twice_is_embedded_once(counted: Counted) -> None:
    assert len(counted.embedded("a.txt", "\f".join([PAGES[0]] * 3))) == 6
    assert counted.embedded("另处/a.txt", "\f".join([PAGES[0], PAGES[0]])) == []
    assert len(counted.kb.search("经费", 50).hits) > 1


def test_the_same_bytes_under_another_name_embed_nothing(counted: Counted) -> None:
    counted.embedded("a.txt", PAGES[0])
    assert counted.embedded("归档/改名.txt", PAGES[0]) == []
    counted.kb.remove("a.txt")
    assert counted.updated() == []
    hit = counted.kb.search("编号7", 1).hits[0]
    assert (hit.citation.source, hit.dense_rank is None) == ("归档/改名.txt", False)


def test_a_new_reading_with_the_same_text_embeds_nothing(counted: Counted) -> None:
    counted.embedded("a.txt", PAGES[0])
    counted.parser.revision += 1
    assert counted.put("a.txt", PAGES[0], update=False).state == "ingested"
    assert counted.updated() == []


def test_a_removed_document_does_not_take_shared_vectors_along(counted: Counted) -> None:
    counted.embedded("a.txt", PAGES[0])
    counted.embedded("b/a.txt", "\f".join(PAGES[:2]))
    counted.kb.remove("a.txt")
    assert counted.updated() == []
    assert counted.embedded("c/a.txt", PAGES[0]) == []


def test_vectors_nobody_uses_are_not_kept(counted: Counted) -> None:
    counted.embedded("a.txt", PAGES[0])
    counted.kb.remove("a.txt")
    counted.updated()
    assert len(counted.embedded("a.txt", PAGES[0])) == 6


# -- batches -------------------------------------------------------------------------------


def of_many_lengths(blocks: int) -> str:
    """A document in which every block is of another length, long and short ones in turn."""
    lines = [f"{n} " + "财政" * (1 + n * 37 % 90) for n in range(blocks * 5 + 1)]
    return "\n".join(lines)


def test_texts_come_longest_first_across_batches(counted: Counted) -> None:
    lengths = [len(text) for text in counted.embedded("a.txt", of_many_lengths(100))]
    assert len(lengths) == 100
    assert lengths == sorted(lengths, reverse=True)
    assert len(counted.engine.batches) > 2


def test_a_kill_loses_one_batch_and_what_is_finished_is_not_embedded_again(tmp_path: Path) -> None:
    killed = Counted(tmp_path)
    killed.engine.kill_at = 3
    killed.put("a.txt", of_many_lengths(400), update=False)
    with pytest.raises(KeyboardInterrupt):
        killed.kb.update()
    after = Counted(tmp_path)
    rest = after.updated()
    assert len(killed.engine.texts) > 3
    assert Counter(killed.engine.texts + rest) == Counter(after.indexed())


def test_progress_counts_blocks_of_the_same_text_too(counted: Counted) -> None:
    counted.put("a.txt", "\f".join([PAGES[0]] * 3), update=False)
    seen: list[Progress] = []
    counted.kb.update(on_progress=seen.append)
    embedding = [progress for progress in seen if progress.stage == "embed"]
    assert embedding[-1] == Progress("embed", 18, 18)


class Slow(Counting):
    """Takes so many seconds a character, on a clock of its own."""

    def __init__(self, seconds: Callable[[], float]) -> None:
        super().__init__()
        self.seconds, self.now = seconds, 0.0

    def embed_passages(self, texts: Sequence[str]) -> Any:
        self.now += self.seconds() * sum(map(len, texts))
        return super().embed_passages(texts)


def test_a_batch_takes_about_four_seconds_however_long_its_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Slow(lambda: 0.001)
    library = Library(tmp_path, settings_for(tmp_path), engine)
    library.put("a.txt", of_many_lengths(250), update=False)
    monkeypatch.setattr("kb.vectors.update.time.monotonic", lambda: engine.now)
    KnowledgeBase.update(library.kb)
    taken = [0.001 * sum(map(len, batch)) for batch in engine.batches]
    assert max(taken) <= 4.0
    assert min(taken[2:-1]) > 3.0
