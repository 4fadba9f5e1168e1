from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from objects_support import Shelf
from s3_support import own_server

from kb.objects.folder import FolderStore
from kb.objects.minio import MinioStore


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files written a moment ago have an etag, as they have two seconds later."""
    monkeypatch.setattr("kb.objects.folder._UNSETTLED_NS", -1)


@pytest.fixture(params=["folder", "s3", *(["own"] if own_server() else [])])
def shelf(request: pytest.FixtureRequest, tmp_path: Path, settled: None) -> Iterator[Shelf]:
    """An empty place in each kind of store; `own` is the server that KB_TEST_S3_* names."""
    if request.param == "folder":
        yield Shelf(FolderStore(tmp_path))
    elif request.param == "s3":
        server = request.getfixturevalue("s3")
        yield Shelf(MinioStore(server.options(), request.getfixturevalue("bucket")))
    else:
        server, bucket = own_server()
        shelf = Shelf(MinioStore(server.options(), bucket), f"kb-test-{secrets.token_hex(6)}/")
        try:
            yield shelf
        finally:
            client = server.client()
            for item in client.list_objects(
                bucket, prefix=shelf.prefix, recursive=True, include_version=True
            ):
                client.remove_object(bucket, item.object_name, version_id=item.version_id)
