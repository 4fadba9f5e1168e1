"""A network that breaks: what is handed out is whole, or an error is."""

import contextlib
import hashlib
import io
import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from fault_proxy import BEFORE, GARBAGE, INSIDE, FaultProxy, seeded
from objects_support import read

from kb.errors import NotFound, StoreFailed, StoreRefused
from kb.objects.fetch import fetched
from kb.objects.minio import MinioStore

OBJECTS = 40
REQUESTS = 1_000
THREADS = 12
READ_SECONDS = 0.3


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    """The product's patience, a hundred times shorter."""
    monkeypatch.setattr("kb.objects.fetch._PATIENCE", 0.6)
    monkeypatch.setattr("kb.objects.fetch._SLOWEST", 1 << 30)
    monkeypatch.setattr("kb.objects.fetch._FIRST_PAUSE", 0.002)
    monkeypatch.setattr("kb.objects.minio._BACKOFF", 0.002)


@pytest.fixture(scope="module")
def bodies():
    """Key → bytes: of no length twice."""
    source = random.Random(7)
    return {f"档案/{n}.bin": source.randbytes(2_000 + 997 * n) for n in range(OBJECTS)}


@pytest.fixture(scope="module")
def filled(s3, bodies):
    bucket = s3.make_bucket()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda item: s3.put(bucket, *item), bodies.items()))
    yield bucket
    s3.remove_bucket(bucket)


@pytest.fixture(scope="module")
def two_pages(s3):
    """A bucket, and its keys in order: a few more than one answer names."""
    bucket, client = s3.make_bucket(), s3.client()
    keys = [f"{n:04}" for n in range(1_010)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda key: client.put_object(bucket, key, io.BytesIO(b"x"), 1), keys))
    yield bucket, keys
    s3.remove_bucket(bucket)


@pytest.fixture
def proxy(s3):
    with FaultProxy(s3.endpoint) as proxy:
        yield proxy


@pytest.fixture
def store(s3, proxy, filled):
    options = s3.options(endpoint=proxy.endpoint, region="us-east-1", read_seconds=READ_SECONDS)
    return MinioStore(options, filled)


class Once:
    """One fault, for the first `times` requests with this method."""

    def __init__(self, fault, method, times=1):
        self.fault, self.method, self.left = fault, method, times

    def __call__(self, method, path):
        if method != self.method or not self.left:
            return ""
        self.left -= 1
        return self.fault


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def get(store, key):
    """The hash of what is at the copy's path, which must be the hash that it names."""
    with fetched(store, key, 10) as copy:
        data = copy.path.read_bytes()
        assert (sha256(data), len(data)) == (copy.sha256, copy.size)
        return copy.sha256


def test_without_a_fault_everything_passes(store, proxy, bodies):
    assert {k: get(store, k) for k in bodies} == {k: sha256(b) for k, b in bodies.items()}
    assert proxy.done == {"": 2 * OBJECTS}


@pytest.mark.parametrize("fault", [*BEFORE, *INSIDE])
def test_a_fault_that_passes_is_not_noticed(store, proxy, bodies, fault):
    key = next(reversed(bodies))
    proxy.choose = Once(fault, "GET")
    assert get(store, key) == sha256(bodies[key])
    assert proxy.done[fault] == 1


@pytest.mark.parametrize("fault", [*BEFORE, *INSIDE, *GARBAGE])
def test_a_fault_that_stays_is_an_error_and_no_document(store, proxy, bodies, fault):
    key = next(reversed(bodies))
    proxy.choose = lambda method, path: fault if method == "GET" else ""
    began = time.monotonic()
    with pytest.raises(StoreFailed) as caught:
        get(store, key)
    assert not isinstance(caught.value, StoreRefused)
    assert time.monotonic() - began < 10
    assert 1 < proxy.done[fault] <= 20


@pytest.mark.parametrize("fault", [*BEFORE, *INSIDE, *GARBAGE])
def test_a_listing_is_complete_or_fails(store, proxy, bodies, fault):
    proxy.choose = lambda method, path: fault
    if fault == "drip":  # slow is not wrong, as long as it arrives
        assert sorted(ref.key for ref in store.list()) == sorted(bodies)
    else:
        with pytest.raises(StoreFailed):
            list(store.list())


@pytest.mark.parametrize("fault", [*BEFORE, *INSIDE, *GARBAGE])
def test_a_listing_that_broke_once_is_complete(store, proxy, bodies, fault):
    proxy.choose = Once(fault, "GET")
    assert sorted(ref.key for ref in store.list()) == sorted(bodies)


@pytest.mark.parametrize("fault", [*BEFORE, *INSIDE, *GARBAGE])
def test_a_second_page_that_breaks_does_not_make_a_listing_short(s3, proxy, two_pages, fault):
    """Fewer keys without an error would be deletions."""
    bucket, keys = two_pages
    options = s3.options(endpoint=proxy.endpoint, region="us-east-1", read_seconds=0.8)
    store, pages = MinioStore(options, bucket), []

    def choose(method, path):
        pages.append(path)
        return fault if len(pages) == 2 else ""

    proxy.choose = choose
    assert [ref.key for ref in store.list()] == keys
    assert len(pages) > 2 or fault == "drip"
    proxy.choose = lambda method, path: fault if "start-after" in path or "token" in path else ""
    with contextlib.suppress(StoreFailed):
        assert [ref.key for ref in store.list()] == keys


@pytest.mark.parametrize("fault", GARBAGE)
def test_a_page_that_answers_for_every_object_is_no_document(store, proxy, bodies, fault):
    """A login page in the way has a size and says 200, to every question alike."""
    proxy.choose = lambda method, path: fault
    for key in ("login.txt", next(iter(bodies))):
        with pytest.raises(StoreFailed, match="MINIO_ENDPOINT"):
            get(store, key)


@pytest.mark.parametrize("fault", BEFORE)
def test_a_stat_that_fails_is_no_missing_object(store, proxy, bodies, fault):
    key = next(iter(bodies))
    proxy.choose = lambda method, path: fault
    with pytest.raises(StoreFailed):
        store.stat(key)
    proxy.choose = Once(fault, "HEAD")
    assert store.stat(key).size == len(bodies[key])


def test_a_body_that_broke_leaves_nothing_for_the_next_answer(store, proxy, bodies):
    """The rest of one object is not the beginning of another."""
    keys = list(bodies)[-6:]
    for fault in ("spill", "short", "truncated"):
        for key in keys:
            proxy.choose = Once(fault, "GET")
            assert get(store, key) == sha256(bodies[key])


def test_an_object_that_is_left_unread_disturbs_no_other(store, bodies):
    first, second, *_ = bodies
    with store.open(store.stat(first)) as source:
        source.read(10)
    assert read(store, store.stat(second)) == bodies[second]


def test_a_thousand_requests_over_a_network_that_breaks(store, proxy, bodies):
    """Never a part of a document, never another one; in the end all of them."""
    proxy.choose = seeded(20_261_130, 0.3, (*BEFORE, *INSIDE, *INSIDE, "garbage"))
    expected = {key: sha256(body) for key, body in bodies.items()}
    source, delivered, failed = random.Random(3), set(), 0
    began = time.monotonic()

    def attempt(key):
        try:
            return key, get(store, key)
        except StoreFailed:
            return key, None
        except NotFound:
            return key, "lost"

    with ThreadPoolExecutor(THREADS) as pool:
        while proxy.requests < REQUESTS:
            for key, digest in pool.map(attempt, source.choices(list(bodies), k=60)):
                assert digest in {None, expected[key]}
                failed += digest is None
                delivered |= {key} if digest else set()
    assert delivered == set(bodies)
    assert len(proxy.done) == len({*BEFORE, *INSIDE, "garbage", ""})
    assert time.monotonic() - began < 60


def test_listings_over_a_network_that_breaks(store, proxy, bodies):
    proxy.choose = seeded(11, 0.5, (*BEFORE[1:], *INSIDE[:-1], *GARBAGE))
    complete = 0
    for _ in range(60):
        with contextlib.suppress(StoreFailed):
            assert sorted(ref.key for ref in store.list()) == sorted(bodies)
            complete += 1
    assert complete > 10
