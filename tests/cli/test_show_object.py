"""A look at a citation of an object: the original is read from its bucket."""

from __future__ import annotations

from pathlib import Path

import pytest
from s3_support import S3Server

from kb.app import KnowledgeBase
from kb.cli.show import show
from kb.config import ROOT, Settings
from kb.errors import NotFound, Refused

PLAN = "海州市数字档案建设规划.pdf"
KEY = f"政策/2026 年/{PLAN}"


def test_an_object_is_drawn_and_one_that_changed_or_went_is_refused(
    tmp_path: Path, s3: S3Server, bucket: str
) -> None:
    options = s3.options()
    kb = KnowledgeBase(
        Settings(
            _env_file=None,
            data_dir=tmp_path / "data",
            embedder="none",
            ocr="off",
            objects="minio",
            minio_endpoint=options.endpoint,
            minio_access_key=options.access_key,
            minio_secret_key=options.secret_key,
            minio_bucket=bucket,
            minio_region=options.region,
        )
    )
    content = (ROOT / "samples" / PLAN).read_bytes()
    s3.put(bucket, KEY, content)
    kb.ingest(KEY)
    shown = show(kb, KEY, 5, (3, 8))
    assert (shown.kind, shown.origin) == ("image", f"s3://{bucket}/{KEY}")
    assert Path(shown.path).stat().st_size > 10_000
    s3.put(bucket, KEY, content + b"\n")
    with pytest.raises(Refused):
        show(kb, KEY, 5, (3, 8))
    kb.places.store().client.remove_object(bucket, KEY)
    with pytest.raises(NotFound):
        show(kb, KEY, 5, (3, 8))
