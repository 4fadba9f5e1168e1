"""What cannot be taken: told, tried again with pauses, and in nobody's way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sync_support import Folder, Following, done, raising, raising_parse

from kb.errors import ParseFailed, Refused, StoreFailed, StoreRefused


def test_one_bad_object_stops_no_other_and_is_tried_again_with_pauses(
    following: Following, folder: Folder
) -> None:
    for name in ("a.txt", "bad.txt", "c.txt"):
        folder.write(name, name)
    parse = following.parser.parse

    def fail(path: Path, name: str, on_progress: Any = None) -> Any:
        if name == "bad.txt":
            raise ParseFailed("broken", "mend it")
        return parse(path, name, on_progress)

    following.parser.parse = fail  # type: ignore[method-assign]
    assert done(following.sync()) == {"listed": 3, "new": 2, "failed": 1}
    assert set(following.texts()) == {"a.txt", "c.txt"}
    listing = following.kb.list_sources()
    assert [(f.source, f.message, f.attempts) for f in listing.failures] == [
        ("bad.txt", "broken", 1)
    ]
    assert done(following.sync()) == {"listed": 3, "unchanged": 2, "failed": 1}
    assert done(following.sync()) == {"listed": 3, "unchanged": 2, "waiting": 1}
    folder.write("bad.txt", "mended")  # what changed is tried at once
    following.parser.parse = parse  # type: ignore[method-assign]
    assert done(following.sync()) == {"listed": 3, "unchanged": 2, "new": 1}
    assert following.kb.list_sources().failures == ()


def test_a_failed_replacement_keeps_the_version_before_it(
    following: Following, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write("a.txt", "旧")
    following.sync()
    folder.write("a.txt", "新的")
    monkeypatch.setattr(following.parser, "parse", raising_parse(Refused("encrypted")))
    assert done(following.sync()) == {"listed": 1, "failed": 1}
    assert following.texts() == {"a.txt": "旧"}


def test_a_failure_is_forgotten_with_its_object(
    following: Following, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder.write("a.txt", "甲")
    folder.write("b.txt", "乙")
    monkeypatch.setattr(following.parser, "parse", raising_parse(Refused("encrypted")))
    following.sync()
    assert len(following.kb.list_sources().failures) == 2
    path.unlink()
    following.sync()
    assert [f.source for f in following.kb.list_sources().failures] == ["b.txt"]


def test_a_fault_of_ours_is_a_failure_of_one_object(
    following: Following, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write("a.txt", "甲")
    monkeypatch.setattr(following.parser, "parse", raising_parse(ZeroDivisionError("x")))
    report = following.sync()
    assert done(report) == {"listed": 1, "failed": 1}
    assert "ZeroDivisionError" in report.objects[0]["error"]


def test_a_store_that_is_lost_on_the_way_ends_the_sync(
    following: Following, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kb.objects.fetch._FIRST_PAUSE", 0.0)
    for n in range(100):
        folder.write(f"{n:03}.txt", f"{n}")
    following.store.before["open"] = raising(StoreFailed("no answer"))
    with pytest.raises(StoreFailed, match="no answer"):
        following.sync()
    assert len(following.kb.list_sources().failures) == 20
    del following.store.before["open"]
    assert done(following.sync()) == {"listed": 100, "new": 100}


def test_objects_that_are_refused_one_by_one_do_not_end_the_sync(
    following: Following, folder: Folder
) -> None:
    for n in range(40):
        folder.write(f"{n:02}.txt", f"甲 {n}")

    def deny(key: str) -> None:
        if key < "30":
            raise StoreRefused("denied")

    following.store.before["open"] = deny
    assert done(following.sync()) == {"listed": 40, "new": 10, "failed": 30}


def test_a_link_that_leads_elsewhere_can_be_given_by_hand(
    following: Following, tmp_path: Path
) -> None:
    target = tmp_path / "elsewhere" / "原件.txt"
    target.parent.mkdir()
    target.write_bytes("甲".encode())
    link = tmp_path / "别名.txt"
    try:
        link.symlink_to(target)
    except OSError:
        pytest.skip("links are not permitted here")
    following.kb.ingest(link)
    assert following.texts() == {"别名.txt": "甲"}
