"""What every object store keeps to: a folder, a real S3 server, and the user's own one."""

import contextlib
import hashlib
import io
import random
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import pytest
from objects_support import NFC, NFD, PEOPLES_KEYS, read
from s3_support import own_server

from kb.errors import KbError, NotFound, ObjectChanged, Refused, StoreFailed
from kb.model import ObjectRef
from kb.objects.fetch import fetched
from kb.objects.folder import FolderStore
from kb.objects.minio import MinioStore

MANY = 1_100
LONGEST_KEY = 1_024
LONGEST_PATH = 767
LONGEST_NAME = 255


def test_an_object_is_read_back_byte_for_byte(shelf):
    data = random.Random(4).randbytes(300_001)
    put = shelf.put("a/b.bin", data)
    assert shelf.read("a/b.bin") == data
    assert (put.key, put.size) == (shelf.prefix + "a/b.bin", len(data))


def test_line_ends_and_byte_order_marks_stay(shelf):
    data = b"\xef\xbb\xbfa\r\nb\rc\n\x1a\x00\xff"
    shelf.put("a.txt", data)
    assert shelf.read("a.txt") == data


def test_stat_and_listing_tell_the_same(shelf):
    shelf.put("a.txt", b"content")
    stat, (listed,) = shelf.stat("a.txt"), shelf.list()
    assert (stat.key, stat.size, stat.etag) == (listed.key, 7, listed.etag)
    assert stat.etag
    # Servers tell the time in their listing more finely than in their answers.
    assert stat.last_modified[:19] == listed.last_modified[:19]


def test_times_are_utc_and_now(shelf):
    told = datetime.fromisoformat(shelf.put("a.txt", b"content").last_modified)
    assert told.utcoffset() == timedelta(0)
    assert abs(datetime.now(timezone.utc) - told) < timedelta(minutes=5)


def test_an_empty_object_is_an_object(shelf):
    assert shelf.put("empty.txt", b"").size == 0
    assert shelf.read("empty.txt") == b""
    assert [ref.size for ref in shelf.list()] == [0]


def test_an_empty_object_is_no_document(shelf):
    shelf.put("empty.txt", b"")
    with (
        pytest.raises(Refused, match=re.escape("empty.txt")),
        fetched(shelf.store, shelf.prefix + "empty.txt", 1),
    ):
        pass


def test_a_large_object_is_refused_before_it_is_read(shelf, monkeypatch):
    shelf.put("large.txt", bytes((1 << 20) + 1))
    monkeypatch.setattr(type(shelf.store), "open", None)
    with pytest.raises(Refused), fetched(shelf.store, shelf.prefix + "large.txt", 1):
        pass


@pytest.mark.parametrize("key", ["none.txt", "no/such/folder.txt", "a.txt/below", "没有.txt"])
def test_a_key_that_does_not_exist_is_not_found(shelf, key):
    shelf.put("a.txt", b"content")
    with pytest.raises(NotFound) as caught:
        shelf.stat(key)
    assert key in caught.value.message
    with pytest.raises(NotFound):
        shelf.store.versions(shelf.prefix + key)


def test_an_object_that_is_gone_is_not_found_when_it_is_opened(shelf, request):
    ref = shelf.put("a.txt", b"content")
    shelf.put("a.txt.other", b"content")
    _remove(shelf, request, "a.txt")
    with pytest.raises(NotFound):
        read(shelf.store, ref)
    assert shelf.keys() == ["a.txt.other"]


def test_the_beginning_of_a_key_is_no_object(shelf):
    shelf.put("folder/a.txt", b"content")
    with pytest.raises((NotFound, Refused)):
        shelf.stat("folder")
    with pytest.raises(NotFound):
        shelf.stat("folder/a.tx")


def test_put_replaces(shelf):
    old = shelf.put("a.txt", b"old content")
    new = shelf.put("a.txt", b"new")
    assert shelf.read("a.txt") == b"new"
    assert old.etag != new.etag
    assert [ref.size for ref in shelf.list()] == [3]


def test_put_of_too_few_bytes_leaves_the_old_object(shelf):
    shelf.put("a.txt", b"old")
    with pytest.raises(StoreFailed):
        shelf.store.put(shelf.prefix + "a.txt", io.BytesIO(b"sho"), 10)
    assert shelf.read("a.txt") == b"old"
    assert shelf.keys() == ["a.txt"]


def test_the_present_object_is_the_newest_version(shelf):
    shelf.put("a.txt", b"old")
    now = shelf.put("a.txt", b"new")
    shelf.put("a.txt.bak", b"another")
    versions = shelf.store.versions(shelf.prefix + "a.txt")
    assert (versions[0].key, versions[0].etag) == (now.key, now.etag)
    assert {ref.key for ref in versions} == {now.key}
    assert read(shelf.store, versions[0]) == b"new"


def test_an_empty_store_lists_nothing(shelf):
    assert shelf.keys() == []
    assert shelf.keys("no/such/prefix") == []


def test_a_listing_is_of_one_prefix(shelf):
    for key in ("a/1", "a/2", "ab/3", "b/a/4", "A/5"):
        shelf.put(key, b"content")
    assert sorted(shelf.keys("a/")) == ["a/1", "a/2"]
    assert sorted(shelf.keys("a")) == ["a/1", "a/2", "ab/3"]
    assert shelf.keys("a/1") == ["a/1"]
    assert len(shelf.keys()) == 5


def test_a_listing_has_the_same_order_every_time(shelf):
    for key in random.Random(1).sample(PEOPLES_KEYS, 12):
        shelf.put(key, b"content")
    assert shelf.keys() == shelf.keys()


def test_a_listing_of_more_than_a_page_is_complete(shelf):
    expected = [f"{n % 7}/{n:04}.txt" for n in range(MANY)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda key: shelf.put(key, key.encode()), expected))
    found = shelf.keys()
    assert len(found) == len(set(found)) == MANY
    assert set(found) == set(expected)
    assert found == sorted(found)
    assert sorted(shelf.keys("3/")) == sorted(k for k in expected if k.startswith("3/"))


def test_every_key_is_an_object_of_its_own(shelf):
    for key in PEOPLES_KEYS:
        shelf.put(key, key.encode())
    assert sorted(shelf.keys()) == sorted(PEOPLES_KEYS)
    for key in PEOPLES_KEYS:
        assert shelf.read(key) == key.encode()


def test_a_key_lists_itself_and_is_fetched_as_itself(shelf):
    for key in PEOPLES_KEYS:
        shelf.put(key, key.encode())
    for key in PEOPLES_KEYS:
        assert sorted(shelf.keys(key)) == sorted(k for k in PEOPLES_KEYS if k.startswith(key))
        with fetched(shelf.store, shelf.prefix + key, 1) as copy:
            assert copy.path.read_bytes() == key.encode()
            assert copy.origin.place == shelf.store.place(shelf.prefix + key)


def test_two_spellings_are_two_objects(shelf):
    assert NFC != NFD
    shelf.put(NFC, b"composed")
    with pytest.raises(NotFound):
        shelf.stat(NFD)
    shelf.put(NFD, b"decomposed")
    assert (shelf.read(NFC), shelf.read(NFD)) == (b"composed", b"decomposed")


def test_a_key_may_be_as_long_as_the_store_allows(shelf):
    keys = [_long_key(shelf, last) for last in "甲乙"]
    assert len((shelf.prefix + keys[0]).encode()) in {LONGEST_KEY, LONGEST_PATH}
    for key in keys:
        shelf.put(key, key[-1].encode())
    assert sorted(shelf.keys()) == sorted(keys)
    assert [shelf.read(key).decode() for key in keys] == ["甲", "乙"]


def test_an_object_that_was_replaced_is_not_read_for_the_one_that_was_listed(shelf):
    shelf.put("a.txt", b"first")
    (listed,) = shelf.list()
    shelf.put("a.txt", b"later")  # as long as the other
    with pytest.raises(ObjectChanged), shelf.store.open(listed):
        pass


def test_an_object_that_was_replaced_is_fetched_as_it_is(shelf):
    shelf.put("a.txt", b"first")
    (listed,) = shelf.list()
    now = shelf.put("a.txt", b"later")
    with fetched(shelf.store, listed.key, 1, listed) as copy:
        assert copy.path.read_bytes() == b"later"
        assert copy.sha256 == hashlib.sha256(b"later").hexdigest()
        assert copy.origin.ref.etag == now.etag


def test_what_was_fetched_names_what_was_listed(shelf):
    shelf.put("a.txt", b"content")
    (listed,) = shelf.list()
    with fetched(shelf.store, listed.key, 1, listed) as copy:
        assert copy.origin.store == shelf.store.name
        assert (copy.origin.ref.etag, copy.origin.ref.size) == (listed.etag, 7)
    assert not copy.path.exists()


def test_an_object_is_one_version_while_it_is_replaced_all_the_time(shelf):
    """Writers and readers at once: a copy is some version, whole, and names it."""
    bodies = [bytes([n]) * (20_000 + n) for n in range(8)]
    known = {hashlib.sha256(body).hexdigest(): body for body in bodies}
    etags = {shelf.put("a.bin", body).etag: body for body in bodies}
    delivered = 0
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(lambda: [shelf.put("a.bin", b) for b in bodies * 8])
        while not writing.done():
            with (
                contextlib.suppress(StoreFailed),
                fetched(shelf.store, shelf.prefix + "a.bin", 1) as copy,
            ):
                body = copy.path.read_bytes()
                assert known[copy.sha256] == body
                if isinstance(shelf.store, MinioStore):
                    assert etags[copy.origin.ref.etag] == body
                delivered += 1
        writing.result()
    assert delivered


def test_a_store_is_used_by_several_threads(shelf):
    keys = [f"{n}.txt" for n in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda key: shelf.put(key, key.encode()), keys))
        assert list(pool.map(shelf.read, keys)) == [key.encode() for key in keys]


def test_a_marker_of_a_folder_hides_nothing(shelf, request):
    shelf.put("folder/a.txt", b"content")
    if isinstance(shelf.store, FolderStore):
        (shelf.store.root / "empty").mkdir()
    else:
        _server(shelf, request).put(shelf.store.bucket, shelf.prefix + "folder/", b"")
    assert set(shelf.keys()) - {"folder/"} == {"folder/a.txt"}
    assert shelf.read("folder/a.txt") == b"content"


@pytest.mark.parametrize("key", ["", "\0", "a\0b", "/", "..", "a/../../b"])
def test_a_key_that_cannot_be_is_an_error_of_ours(shelf, key):
    with pytest.raises(KbError):
        shelf.stat(key)
    with pytest.raises(KbError):
        read(shelf.store, ObjectRef(shelf.prefix + key, 1, "", "", ""))


def _long_key(shelf, last):
    """As many bytes as a key may have, `last` its end, no name longer than a disk allows."""
    folder = isinstance(shelf.store, FolderStore)
    room = LONGEST_PATH if folder else LONGEST_KEY - len(shelf.prefix)
    names = []
    while room > LONGEST_NAME:
        size = min(LONGEST_NAME, room - 4)
        names.append("长" * (size // 3) + "x" * (size % 3))
        room -= size + 1
    return "/".join([*names, "长" * (room // 3 - 1) + "x" * (room % 3) + last])


def _remove(shelf, request, key):
    if isinstance(shelf.store, FolderStore):
        (shelf.store.root / key).unlink()
    else:
        client = _server(shelf, request).client()
        client.remove_object(shelf.store.bucket, shelf.prefix + key)


def _server(shelf, request):
    """What a bucket lies on, to be spoken to without the store."""
    return own_server()[0] if shelf.prefix else request.getfixturevalue("s3")
