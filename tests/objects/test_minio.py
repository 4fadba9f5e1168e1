"""What a bucket has that a folder has not. Against a real server."""

import io

import pytest
from minio.commonconfig import ENABLED
from minio.versioningconfig import VersioningConfig
from objects_support import read

from kb.errors import InvalidInput, NotFound, ObjectChanged
from kb.objects.fetch import fetched
from kb.objects.minio import MinioStore


@pytest.fixture
def store(s3, bucket):
    return MinioStore(s3.options(), bucket)


@pytest.fixture
def versioned(s3, bucket, store):
    s3.client().set_bucket_versioning(bucket, VersioningConfig(ENABLED))
    return store


def put(store, key, data):
    return store.put(key, io.BytesIO(data), len(data))


def test_the_same_key_in_two_buckets_is_two_objects(s3, bucket, store):
    other = s3.make_bucket()
    try:
        second = MinioStore(s3.options(), other)
        put(store, "x/report.txt", b"one")
        put(second, "x/report.txt", b"two")
        assert read(store, store.stat("x/report.txt")) == b"one"
        assert read(second, second.stat("x/report.txt")) == b"two"
        assert store.place("x/report.txt") == f"s3://{bucket}/x/report.txt"
        assert second.place("x/report.txt") == f"s3://{other}/x/report.txt"
        assert (store.name, second.name) == (f"s3://{bucket}", f"s3://{other}")
    finally:
        s3.remove_bucket(other)


def test_a_listed_version_is_read_though_a_newer_one_exists(versioned):
    old = put(versioned, "a.txt", b"first")
    new = put(versioned, "a.txt", b"second")
    assert old.version
    assert old.version != new.version
    assert [r.version for r in versioned.versions("a.txt")] == [new.version, old.version]
    assert read(versioned, old) == b"first"
    assert read(versioned, new) == b"second"


def test_a_listing_shows_the_newest_version_alone(versioned):
    put(versioned, "a.txt", b"first")
    new = put(versioned, "a.txt", b"second")
    assert [(ref.key, ref.etag) for ref in versioned.list()] == [("a.txt", new.etag)]


def test_a_deleted_object_is_gone_though_its_versions_are_kept(s3, bucket, versioned):
    old = put(versioned, "a.txt", b"first")
    s3.client().remove_object(bucket, "a.txt")
    assert list(versioned.list()) == []
    with pytest.raises(NotFound):
        versioned.stat("a.txt")
    assert [ref.version for ref in versioned.versions("a.txt")] == [old.version]
    assert read(versioned, old) == b"first"


def test_a_version_that_does_not_exist_is_not_read_as_another(s3, bucket, versioned):
    old = put(versioned, "a.txt", b"first")
    put(versioned, "a.txt", b"second")
    s3.client().remove_object(bucket, "a.txt", version_id=old.version)
    with pytest.raises((NotFound, ObjectChanged)):
        read(versioned, old)


def test_what_was_read_names_the_version_that_a_listing_does_not(versioned):
    new = put(versioned, "a.txt", b"content")
    (listed,) = versioned.list()
    with fetched(versioned, "a.txt", 1, listed) as copy:
        assert copy.origin.ref.version == new.version


def test_an_object_in_parts_is_read_whole(s3, bucket, store):
    data = bytes(range(256)) * (6 << 12)
    s3.client().put_object(bucket, "big.bin", io.BytesIO(data), len(data), part_size=5 << 20)
    ref = store.stat("big.bin")
    assert "-" in ref.etag
    with fetched(store, "big.bin", 10, ref) as copy:
        assert copy.path.read_bytes() == data


def test_a_stores_words_need_no_server(s3):
    store = MinioStore(s3.options(endpoint="127.0.0.1:1"), "bucket")
    assert (store.name, store.place("键")) == ("s3://bucket", "s3://bucket/键")


def test_a_bucket_is_named():
    from kb.ports import S3Options

    with pytest.raises(InvalidInput, match="MINIO_BUCKET"):
        MinioStore(S3Options("127.0.0.1:9000", "a", "b"), "")


@pytest.mark.parametrize("endpoint", ["http://{}", "{}", " {} ", "http://{}/"])
def test_an_endpoint_may_be_written_in_several_ways(s3, bucket, store, endpoint):
    put(store, "a.txt", b"content")
    options = s3.options(endpoint=endpoint.format(s3.endpoint))
    assert [ref.key for ref in MinioStore(options, bucket).list()] == ["a.txt"]


def test_a_scheme_overrules_secure(s3, bucket):
    options = s3.options(endpoint=f"http://{s3.endpoint}", secure=True)
    assert list(MinioStore(options, bucket).list()) == []


@pytest.mark.parametrize(
    "endpoint", ["", "http://", "ftp://host", "host/path", "user:pa55word@host:9000", "a b", "h:x"]
)
def test_an_endpoint_that_is_no_address_is_refused(endpoint):
    from kb.ports import S3Options

    with pytest.raises(InvalidInput, match="MINIO_ENDPOINT") as caught:
        list(MinioStore(S3Options(endpoint, "a", "b"), "bucket").list())
    assert "pa55word" not in str(caught.value)
