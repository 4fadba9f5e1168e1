from __future__ import annotations

from collections.abc import Iterator

import pytest
from s3_support import S3Server, running_server


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A real S3 server on loopback, for the whole session."""
    with running_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def bucket(s3: S3Server) -> Iterator[str]:
    """An empty bucket of `s3`."""
    name = s3.make_bucket()
    yield name
    s3.remove_bucket(name)
