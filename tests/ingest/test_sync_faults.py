"""Syncs over a network that breaks: no partial document, no lost delete."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from fault_proxy import BEFORE, GARBAGE, INSIDE, FaultProxy, seeded
from s3_support import S3Server
from sync_support import Following

from kb.errors import StoreFailed
from kb.objects.minio import MinioStore

OBJECTS = 40
ROUNDS = 6


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The product's patience, a hundred times shorter."""
    monkeypatch.setattr("kb.objects.fetch._PATIENCE", 0.6)
    monkeypatch.setattr("kb.objects.fetch._SLOWEST", 1 << 30)
    monkeypatch.setattr("kb.objects.fetch._FIRST_PAUSE", 0.002)
    monkeypatch.setattr("kb.objects.minio._BACKOFF", 0.002)


def test_the_index_is_equal_to_the_bucket_in_the_end_and_never_holds_half_a_document(
    tmp_path: Path, s3: S3Server, bucket: str
) -> None:
    rng = random.Random(4)
    held: dict[str, str] = {}
    ever: dict[str, set[str]] = {}
    with FaultProxy(s3.endpoint) as proxy:
        options = s3.options(endpoint=proxy.endpoint, region="us-east-1", read_seconds=0.3)
        following = Following(tmp_path, MinioStore(options, bucket))
        for number in range(ROUNDS):
            _change(s3, bucket, held, ever, rng, number)
            proxy.choose = seeded(number, 0.2, [*BEFORE, *INSIDE, *GARBAGE])
            for _ in range(4):
                try:
                    following.sync(workers=4)
                except StoreFailed:
                    continue
                for source, text in following.texts().items():
                    assert text in ever[source]
            proxy.choose = lambda _method, _path: ""
            # What failed is due at once the first time, then after a minute: let it be due.
            with following.kb.project().catalog.writing("test") as writer:
                keys = [f.ref.key for f in writer.failures()]
                writer.forget_failures(following.store.name, keys)
            following.sync()
            assert following.texts() == held


def _change(
    s3: S3Server,
    bucket: str,
    held: dict[str, str],
    ever: dict[str, set[str]],
    rng: random.Random,
    number: int,
) -> None:
    """Put or replace half of the objects, remove some, always leaving one."""
    for n in rng.sample(range(OBJECTS), OBJECTS // 2):
        key = f"档案/{n}.txt"
        held[key] = "\n".join(
            f"{key} 第{number}版 第{line}行" for line in range(rng.randrange(1, 200))
        )
        ever.setdefault(key, set()).add(held[key])
        s3.put(bucket, key, held[key].encode())
    for key in rng.sample(sorted(held), 5):
        del held[key]
        s3.client().remove_object(bucket, key)
