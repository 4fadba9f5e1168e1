"""What a folder of files has that a bucket has not."""

import io
import os
import sys
import time
from pathlib import Path

import pytest
from objects_support import read

from kb.errors import KbError, NotFound, ObjectChanged, Refused, StoreFailed, StoreRefused
from kb.objects.fetch import copied, fetched
from kb.objects.folder import FolderStore

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX links and files")


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "documents"
    folder.mkdir()
    return folder


@pytest.fixture
def store(root):
    return FolderStore(root)


def keys(store, prefix=""):
    return [ref.key for ref in store.list(prefix)]


def replace_in_place(path, data):
    """Other bytes in the same file, at the time that it had."""
    before = path.stat()
    time.sleep(0.02)  # the clock of a file system ticks more slowly than ours
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns


@posix
def test_a_link_out_of_the_folder_is_not_followed(store, root, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret", encoding="utf-8")
    (root / "file.txt").symlink_to(outside / "secret.txt")
    (root / "folder").symlink_to(outside, target_is_directory=True)
    (root / "own.txt").write_text("own", encoding="utf-8")
    assert keys(store) == ["own.txt"]
    for key in ("file.txt", "folder/secret.txt", "../outside/secret.txt"):
        with pytest.raises(NotFound):
            store.stat(key)
        with pytest.raises(NotFound), fetched(store, key, 1):
            pass


def test_no_key_leads_out_of_the_folder(store, tmp_path):
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    for key in ("../secret.txt", "a/../../secret.txt", str(tmp_path / "secret.txt")):
        with pytest.raises(NotFound):
            store.stat(key)
        with pytest.raises(NotFound):
            store.put(key, io.BytesIO(b"x"), 1)
    assert (tmp_path / "secret.txt").read_text(encoding="utf-8") == "secret"


@posix
def test_a_link_inside_the_folder_is_an_object(store, root):
    (root / "a.txt").write_text("content", encoding="utf-8")
    (root / "b.txt").symlink_to("a.txt")
    assert keys(store) == ["a.txt", "b.txt"]
    assert read(store, store.stat("b.txt")) == b"content"


@posix
@pytest.mark.parametrize("target", ["nowhere", "link"], ids=["to nowhere", "to itself"])
def test_a_link_that_leads_to_nothing_is_no_object(store, root, target):
    (root / "link").symlink_to(target)
    (root / "a.txt").write_text("content", encoding="utf-8")
    assert keys(store) == ["a.txt"]
    with pytest.raises(NotFound):
        store.stat("link")


@posix
def test_a_pipe_is_no_object_and_is_not_waited_for(store, root):
    os.mkfifo(root / "pipe")
    assert keys(store) == []
    with pytest.raises(Refused):
        store.stat("pipe")


def test_a_folder_is_no_object(store, root):
    (root / "a").mkdir()
    assert keys(store) == []
    with pytest.raises(Refused):
        store.stat("a")


def test_hidden_files_are_listed_for_the_caller_to_judge(store, root):
    for name in (".hidden", "~$open.docx", "a.txt"):
        (root / name).write_text("content", encoding="utf-8")
    assert sorted(keys(store)) == sorted([".hidden", "a.txt", "~$open.docx"])


def test_a_folder_that_is_not_there_is_no_empty_one(tmp_path):
    with pytest.raises(StoreRefused, match="KB_LOCAL_ROOT"):
        keys(FolderStore(tmp_path / "unmounted"))


def test_a_file_in_the_place_of_the_folder_is_no_empty_one(tmp_path):
    (tmp_path / "file").write_text("content", encoding="utf-8")
    with pytest.raises(StoreRefused):
        keys(FolderStore(tmp_path / "file"))


@posix
def test_a_folder_that_cannot_be_read_makes_the_listing_fail(store, root):
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    (root / "a.txt").write_text("content", encoding="utf-8")
    (root / "closed").mkdir()
    (root / "closed" / "b.txt").write_text("content", encoding="utf-8")
    (root / "closed").chmod(0)
    try:
        with pytest.raises(StoreRefused):
            keys(store)
    finally:
        (root / "closed").chmod(0o700)


@pytest.mark.parametrize("broken", ["scandir", "stat"])
def test_an_error_of_the_disk_makes_the_listing_fail(store, root, monkeypatch, broken):
    """The same for whoever runs the tests: a listing is never short without an error."""
    for name in ("a/1.txt", "b/2.txt", "c/3.txt"):
        (root / name).parent.mkdir()
        (root / name).write_text("content", encoding="utf-8")
    place, name = (os, "scandir") if broken == "scandir" else (Path, "stat")
    real = getattr(place, name)

    def fail(path, *args, **options):
        # Both are asked about folders first: only what lies below is broken.
        if Path(path).name in {"b", "2.txt"} and (broken == "scandir" or Path(path).suffix):
            raise OSError(5, "Input/output error")
        return real(path, *args, **options)

    monkeypatch.setattr(place, name, fail)
    with pytest.raises(KbError, match="Input/output error"):
        keys(store)


def test_a_young_file_is_read_without_an_etag(store, root):
    """It may change once more within the same tick: no later listing is equal to it."""
    (root / "a.txt").write_text("content", encoding="utf-8")
    with store.open(store.stat("a.txt")) as source:
        assert source.ref.etag == ""
        assert source.read(100) == b"content"


def test_an_old_file_has_an_etag_that_stays(store, root, settled):
    (root / "a.txt").write_text("content", encoding="utf-8")
    etag = store.stat("a.txt").etag
    with store.open(store.stat("a.txt")) as source:
        assert source.ref.etag == etag != ""
    assert store.stat("a.txt").etag == etag


@posix
def test_a_change_in_place_that_keeps_the_time_is_noticed(store, root, settled):
    (root / "a.txt").write_bytes(b"first")
    listed = store.stat("a.txt")
    replace_in_place(root / "a.txt", b"later")
    now = store.stat("a.txt")
    assert (now.size, now.last_modified) == (listed.size, listed.last_modified)
    assert now.etag != listed.etag
    with pytest.raises(ObjectChanged), store.open(listed):
        pass
    with fetched(store, "a.txt", 1, listed) as copy:
        assert copy.path.read_bytes() == b"later"
        assert copy.origin.ref == now


@posix
def test_a_replacement_with_the_same_time_and_size_is_noticed(store, root, settled):
    (root / "a.txt").write_bytes(b"first")
    listed, before = store.stat("a.txt"), (root / "a.txt").stat()
    (root / "new").write_bytes(b"later")
    os.utime(root / "new", ns=(before.st_atime_ns, before.st_mtime_ns))
    (root / "new").replace(root / "a.txt")
    with pytest.raises(ObjectChanged), store.open(listed):
        pass


@posix
@pytest.mark.parametrize("later", [b"grows: much longer", b"short", b"other content"])
def test_a_file_that_is_written_while_it_is_read_is_not_taken(store, root, settled, later):
    (root / "a.txt").write_bytes(b"first content")
    listed = store.stat("a.txt")
    with pytest.raises(ObjectChanged), store.open(listed) as source:  # noqa: PT012 - at the end
        source.read(3)
        replace_in_place(root / "a.txt", later)


def test_a_renamed_file_keeps_all_but_the_end_of_its_etag(store, root, settled):
    (root / "a.txt").write_text("content", encoding="utf-8")
    before = store.stat("a.txt").etag
    (root / "a.txt").rename(root / "b.txt")
    assert store.stat("b.txt").etag.rpartition("-")[0] == before.rpartition("-")[0]


def test_the_name_of_the_store_does_not_depend_on_where_it_lies(tmp_path):
    assert FolderStore(tmp_path / "a").name == FolderStore(tmp_path / "b").name == "file:"


def test_a_place_is_an_absolute_path(store, root):
    assert store.place("政策/a.txt") == str(root / "政策" / "a.txt")


def test_put_leaves_nothing_beside_the_file(store, root):
    store.put("a/b.txt", io.BytesIO(b"content"), 7)
    with pytest.raises(StoreFailed):
        store.put("a/c.txt", io.BytesIO(b"too long"), 3)
    assert sorted(p.name for p in (root / "a").iterdir()) == ["b.txt"]


def test_a_file_given_by_hand_is_copied_whole(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"content")
    with copied(tmp_path / "a.txt", 1) as copy:
        assert copy.path.read_bytes() == b"content"
        assert (copy.origin.place, copy.origin.store) == (str(tmp_path / "a.txt"), "")


@pytest.mark.skipif(sys.platform != "linux", reason="file names of other systems are text")
def test_a_name_that_is_no_text_is_listed_and_read(store, root):
    name = os.fsdecode(b"gbk-\xb9\xe6\xbb\xae.txt")
    (root / name).write_bytes(b"content")
    assert keys(store) == [name]
    assert read(store, store.stat(name)) == b"content"
