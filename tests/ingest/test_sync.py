"""The index follows a store: here a folder, whose contract the buckets share."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from sync_support import Folder, Following, done, raising

from kb.errors import Busy, ObjectChanged, StoreFailed, StoreRefused
from kb.lock import hold
from kb.objects.folder import FolderStore


def test_everything_that_is_listed_is_taken_under_its_key(
    following: Following, folder: Folder
) -> None:
    folder.write("政策/2026/规划.txt", "甲")
    folder.write("b/规划.txt", "乙")
    folder.write("c.txt", "丙")
    folder.write(".hidden", "不是文档")
    report = following.sync()
    assert done(report) == {"listed": 4, "new": 3, "ignored": 1}
    assert following.texts() == {"政策/2026/规划.txt": "甲", "b/规划.txt": "乙", "c.txt": "丙"}


def test_a_sync_without_changes_lists_once_and_reads_nothing(
    following: Following, folder: Folder
) -> None:
    for n in range(30):
        folder.write(f"{n}.txt", f"甲 {n}")
    following.sync()
    report = following.sync()
    assert done(report) == {"listed": 30, "unchanged": 30}
    assert following.store.asked == {"stat": 0, "open": 0, "list": 1}
    assert following.parser.parsed == []


def test_what_changed_becomes_the_next_version(following: Following, folder: Folder) -> None:
    folder.write("a.txt", "旧的内容")
    following.sync()
    folder.write("a.txt", "新的内容")
    assert done(following.sync()) == {"listed": 1, "changed": 1}
    assert following.texts() == {"a.txt": "新的内容"}
    assert following.kb.list_sources().sources[0].version == 2


def test_the_same_bytes_written_again_are_read_once_and_not_parsed(
    following: Following, folder: Folder
) -> None:
    folder.write("a.txt", "甲")
    following.sync()
    folder.write("a.txt", "甲")
    assert done(following.sync()) == {"listed": 1, "unchanged": 1}
    assert (following.store.asked["open"], following.parser.parsed) == (1, [])
    following.sync()
    assert following.store.asked["open"] == 0


@pytest.mark.parametrize("target", ["b/规划.txt", "b/新名.txt"])
def test_what_moved_is_neither_parsed_nor_embedded(
    following: Following, folder: Folder, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder.write("a/规划.txt", "\n".join(f"第{n}行 经费" for n in range(40)))
    following.sync()
    before = following.kb.update()
    (folder.root / target).parent.mkdir()
    path.rename(folder.root / target)
    embedded: list[Any] = []
    monkeypatch.setattr(following.kb.embedder(), "embed_passages", embedded.append)
    report = following.sync()
    monkeypatch.undo()
    assert done(report) == {"listed": 1, "moved": 1}
    assert report.objects[0]["taken_from"] == "a/规划.txt"
    assert (following.parser.parsed, embedded) == ([], [])
    assert following.kb.update() == before
    assert following.found("经费") == {target}
    assert following.found(Path(target).stem) == {target}


def test_what_moved_onto_another_document_replaces_it(following: Following, folder: Folder) -> None:
    path = folder.write("a.txt", "甲")
    folder.write("b.txt", "乙")
    following.sync()
    path.replace(folder.root / "b.txt")
    assert done(following.sync()) == {"listed": 1, "moved": 1}
    assert following.texts() == {"b.txt": "甲"}
    assert following.parser.parsed == []


def test_a_copy_is_no_move(following: Following, folder: Folder) -> None:
    folder.write("a.txt", "甲")
    following.sync()
    folder.write("b.txt", "甲")
    assert done(following.sync()) == {"listed": 2, "unchanged": 1, "new": 1}
    assert following.texts() == {"a.txt": "甲", "b.txt": "甲"}


def test_what_is_gone_is_dropped(following: Following, folder: Folder) -> None:
    path = folder.write("a.txt", "甲")
    folder.write("b.txt", "乙")
    following.sync()
    path.unlink()
    assert done(following.sync()) == {"listed": 1, "unchanged": 1, "deleted": 1}
    assert following.found("甲") == set()


def test_what_is_gone_stays_where_deleting_is_not_wanted(
    following: Following, folder: Folder
) -> None:
    path = folder.write("a.txt", "甲")
    folder.write("b.txt", "乙")
    following.sync()
    path.unlink()
    assert done(following.sync(delete=False)) == {"listed": 1, "unchanged": 1, "kept": 1}
    assert following.found("甲") == {"a.txt"}


def test_an_empty_listing_deletes_nothing_unless_it_is_meant(
    following: Following, folder: Folder
) -> None:
    path = folder.write("a.txt", "甲")
    following.sync()
    path.unlink()
    report = following.sync()
    assert done(report) == {"kept": 1}
    assert "--delete" in report.notice
    assert following.found("甲") == {"a.txt"}
    assert done(following.sync(delete=True)) == {"deleted": 1}
    assert following.found("甲") == set()


def test_a_listing_that_fails_deletes_nothing(following: Following, folder: Folder) -> None:
    folder.write("a.txt", "甲").unlink()
    folder.write("b.txt", "乙")
    following.sync()
    following.store.before["list"] = raising(StoreFailed("broken off"))
    with pytest.raises(StoreFailed, match="broken off"):
        following.sync()
    assert following.found("乙") == {"b.txt"}


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreRefused, match="KB_LOCAL_ROOT"):
        Following(tmp_path, FolderStore(tmp_path / "nowhere")).sync()


def test_what_a_listing_leaves_out_is_not_deleted_while_it_is_there(
    following: Following, folder: Folder
) -> None:
    folder.write("a.txt", "甲")
    folder.write("b.txt", "乙")
    following.sync()
    listing = following.store.store.list
    following.store.store.list = lambda prefix="": (  # type: ignore[method-assign]
        ref for ref in listing(prefix) if ref.key != "a.txt"
    )
    assert done(following.sync()) == {"listed": 1, "unchanged": 1, "kept": 1}
    assert following.found("甲") == {"a.txt"}


def test_a_prefix_is_all_that_is_looked_at(following: Following, folder: Folder) -> None:
    path = folder.write("a/1.txt", "甲")
    folder.write("a/2.txt", "甲 二")
    other = folder.write("b/1.txt", "乙")
    following.sync()
    path.unlink()
    other.unlink()
    assert done(following.sync(prefix="a/")) == {"listed": 1, "unchanged": 1, "deleted": 1}
    assert set(following.texts()) == {"a/2.txt", "b/1.txt"}


def test_a_document_given_by_hand_is_left_alone(following: Following, folder: Folder) -> None:
    mine = folder.root.parent / "mine.txt"
    mine.write_bytes("我的".encode())
    following.kb.ingest(mine)
    folder.write("a.txt", "甲")
    following.sync()
    (folder.root / "a.txt").unlink()
    following.sync(delete=True)
    assert following.texts() == {"mine.txt": "我的"}


def test_a_document_given_by_hand_under_a_key_belongs_to_the_object_from_then_on(
    following: Following, folder: Folder
) -> None:
    mine = folder.root.parent / "a.txt"
    mine.write_bytes("甲".encode())
    following.kb.ingest(mine)
    folder.write("a.txt", "甲")
    folder.write("b.txt", "乙")
    following.sync()
    assert following.parser.parsed == ["b.txt"]
    (folder.root / "a.txt").unlink()
    following.sync()
    assert set(following.texts()) == {"b.txt"}


def test_a_dry_run_tells_the_plan_and_does_nothing(following: Following, folder: Folder) -> None:
    gone = folder.write("gone.txt", "甲")
    moved = folder.write("moved.txt", "乙 二")
    folder.write("changed.txt", "丙")
    following.sync()
    gone.unlink()
    moved.rename(folder.root / "moved-to.txt")
    folder.write("changed.txt", "丙丙")
    folder.write("new.txt", "丁 三 四")
    report = following.sync(dry_run=True)
    assert done(report) == {"listed": 3, "new": 1, "changed": 1, "moved": 1, "deleted": 1}
    assert following.store.asked == {"stat": 0, "open": 0, "list": 1}
    assert set(following.texts()) == {"gone.txt", "moved.txt", "changed.txt"}


@pytest.mark.skipif(sys.platform != "linux", reason="names are text elsewhere")
def test_a_name_that_is_no_text_is_told_and_stops_nothing(
    following: Following, folder: Folder
) -> None:
    folder.write("a.txt", "甲")
    (folder.root / os.fsdecode(b"\xb2\xe2.txt")).write_bytes(b"x")
    report = following.sync()
    assert done(report) == {"listed": 2, "new": 1, "unsupported": 1}
    assert json.dumps(report.as_dict(), ensure_ascii=False).encode()


# -- changes while it runs -----------------------------------------------------------------


def test_an_object_that_changes_while_it_is_read_is_read_again(
    following: Following, folder: Folder
) -> None:
    folder.write("a.txt", "旧")
    times = iter(["新", "更新"])

    def change(key: str) -> None:
        text = next(times, None)
        if text:
            folder.write(key, text)

    following.store.before["open"] = change
    following.sync()
    assert following.texts() == {"a.txt": "更新"}


def test_an_object_that_never_rests_is_a_failure_and_the_old_version_stays(
    following: Following, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kb.objects.fetch._FIRST_PAUSE", 0.0)
    folder.write("a.txt", "旧")
    following.sync()
    folder.write("a.txt", "旧二")
    following.store.before["open"] = raising(ObjectChanged("restless"))
    assert done(following.sync()) == {"listed": 1, "failed": 1}
    assert following.texts() == {"a.txt": "旧"}


def test_an_object_that_goes_while_it_is_read_is_dropped(
    following: Following, folder: Folder
) -> None:
    folder.write("b.txt", "乙")
    path = folder.write("a.txt", "旧")
    following.sync()
    folder.write("a.txt", "新的")
    following.store.before["open"] = lambda _key: path.unlink()
    assert done(following.sync()) == {"listed": 2, "unchanged": 1, "deleted": 1}
    assert set(following.texts()) == {"b.txt"}


def test_a_file_that_is_too_young_to_have_rested_is_looked_at_again(
    following: Following, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kb.objects.folder._UNSETTLED_NS", 10**12)
    folder.write("a.txt", "甲")
    following.sync()
    following.sync()
    assert (following.store.asked["open"], following.parser.parsed) == (1, [])


# -- ending, waiting -----------------------------------------------------------------------


def test_a_sync_ends_between_objects_and_the_next_one_goes_on(
    following: Following, folder: Folder
) -> None:
    gone = folder.write("gone.txt", "旧")
    following.sync()
    gone.unlink()
    for n in range(50):
        folder.write(f"{n:02}.txt", f"甲 {n}")
    stop = threading.Event()
    following.store.before["open"] = lambda key: stop.set() if key == "10.txt" else None
    report = following.sync(stop=stop, workers=1)
    assert report.stopped
    assert 10 <= report.counts()["new"] <= 14
    assert report.counts()["deleted"] == 0
    report = following.sync()
    assert len(following.texts()) == 50
    assert report.counts()["deleted"] == 1


def test_one_sync_at_a_time(following: Following, folder: Folder, tmp_path: Path) -> None:
    folder.write("a.txt", "甲")
    waiting = Following(tmp_path, FolderStore(folder.root), lock_wait=0.1)
    with hold(tmp_path / "data" / "default" / "sync.lock", "同步别的", 1), pytest.raises(Busy):
        waiting.sync()
