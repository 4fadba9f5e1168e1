"""Syncs of a bucket of a real S3 server."""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
import sys
import threading
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from s3_support import S3Server
from sync_support import Following, done

from kb.config import ROOT
from kb.objects.minio import MinioStore

ROUNDS = 200
LONG_KEY = "/".join(["长" * 68] * 5)[:-1] + ".md"
"""1,024 bytes."""


@pytest.fixture
def following(tmp_path: Path, s3: S3Server, bucket: str) -> Following:
    return Following(tmp_path, MinioStore(s3.options(), bucket))


def test_keys_as_people_have_them_are_sources_of_their_own(following: Following) -> None:
    twin = unicodedata.normalize("NFD", "é.txt")
    texts = {
        "政策/2026/规划 一.txt": "政策/2026/规划 一.txt",
        "a b+c%#&?=.txt": "a b+c%#&?=.txt",
        "😀.txt": "😀.txt",
        "é.txt": "é.txt",
        twin: "e%CC%81.txt",
        "x/同名.txt": "x/同名.txt",
        "y/同名.txt": "y/同名.txt",
        LONG_KEY: LONG_KEY,
    }
    for key in texts:
        following.put(key, f"内容 {ascii(key)}")
    assert len(LONG_KEY.encode()) == 1_024
    following.put("folder/", "")
    report = following.sync()
    assert report.counts()["new"] == len(texts)
    assert following.texts() == {source: f"内容 {ascii(key)}" for key, source in texts.items()}
    origins = {info.source: info.origin for info in following.kb.list_sources().sources}
    assert origins == {s: f"{following.store.name}/{k}" for k, s in texts.items()}
    assert done(following.sync())["unchanged"] == len(texts)


def test_an_entry_names_the_etag_of_its_bytes(
    following: Following, s3: S3Server, bucket: str
) -> None:
    etag = s3.put(bucket, "a.txt", "甲".encode())
    following.sync()
    assert following.kb.list_sources().sources[0].etag == etag.strip('"')


def test_changes_moves_and_deletions_over_more_than_one_page_of_a_listing(
    following: Following, s3: S3Server, bucket: str
) -> None:
    client = s3.client()
    for n in range(1_050):
        following.put(f"{n % 10}/{n:04}.txt", f"内容 {n}")
    assert following.sync(workers=4).counts()["new"] == 1_050
    report = following.sync()
    assert done(report) == {"listed": 1_050, "unchanged": 1_050}
    assert following.store.asked == {"stat": 0, "open": 0, "list": 1}
    for n in range(10):
        following.put(f"{n % 10}/{n:04}.txt", f"改过 {n}")
    for n in range(10, 15):
        client.remove_object(bucket, f"{n % 10}/{n:04}.txt")
    for n in range(15, 17):
        client.remove_object(bucket, f"{n % 10}/{n:04}.txt")
        following.put(f"moved/{n:04}.txt", f"内容 {n}")
    report = following.sync()
    assert done(report) == {
        "listed": 1_045,
        "unchanged": 1_033,
        "changed": 10,
        "moved": 2,
        "deleted": 5,
    }
    assert len(following.parser.parsed) == 10
    assert following.store.asked["open"] == 12


def test_whatever_happens_meanwhile_the_last_sync_shows_exactly_what_the_bucket_holds(
    following: Following, s3: S3Server, bucket: str
) -> None:
    """Objects are replaced and deleted while syncs run, in as many rounds as ROUNDS."""
    rng = random.Random(20261130)
    client = s3.client()
    keys = [f"{n % 3}/{n}.txt" for n in range(12)]
    for key in keys:
        following.put(key, f"{key} 第0版")
    following.sync()

    def disturb(number: int) -> None:
        for key in rng.sample(keys, 3):
            if rng.random() < 0.3:
                client.remove_object(bucket, key)
            else:
                data = f"{key} 第{number}版 {'行' * rng.randrange(200)}".encode()
                client.put_object(bucket, key, io.BytesIO(data), len(data))

    for number in range(1, ROUNDS + 1):
        thread = threading.Thread(target=disturb, args=(number,))
        thread.start()
        following.kb.sync(_options())
        thread.join()
    following.sync(delete=True)
    held = {o.object_name: _read(client, bucket, o.object_name) for o in _list(client, bucket)}
    assert following.texts() == held
    for key in keys:
        assert (key in following.found(key.rpartition("/")[2])) == (key in held)


def _options() -> Any:
    from kb.ingest.sync import SyncOptions

    return SyncOptions(delete=True)


def _list(client: Any, bucket: str) -> Any:
    return client.list_objects(bucket, recursive=True)


def _read(client: Any, bucket: str, key: str) -> str:
    response = client.get_object(bucket, key)
    try:
        return str(response.read().decode())
    finally:
        response.close()
        response.release_conn()


# -- the commands, and the tool's way ------------------------------------------------------


class Shell:
    def __init__(self, folder: Path, s3: S3Server, bucket: str) -> None:
        self.env = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("KB_", "MINIO_"))},
            **s3.environment(bucket),
            "KB_DATA_DIR": str(folder / "data"),
            "KB_EMBEDDER": "hash",
            "PYTHONUTF8": "1",
        }

    def run(self, *arguments: str, code: int = 0, **env: str) -> Any:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=self.env | env,
            capture_output=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == code, done.stderr.decode()
        secret = self.env["MINIO_SECRET_KEY"].encode()
        assert secret not in done.stdout + done.stderr
        return json.loads(done.stdout)

    def ingest(self, *arguments: str, code: int = 0, **env: str) -> Any:
        return self.run("ingest.py", *arguments, code=code, **env)


@pytest.fixture
def shell(tmp_path: Path, s3: S3Server, bucket: str) -> Shell:
    return Shell(tmp_path, s3, bucket)


def test_one_object_by_its_key_by_its_address_and_from_another_bucket(
    shell: Shell, s3: S3Server, bucket: str
) -> None:
    other = s3.make_bucket()
    try:
        s3.put(bucket, "政策/规划.txt", "甲".encode())
        s3.put(other, "政策/规划.txt", "乙".encode())
        assert shell.ingest("政策/规划.txt")["source"] == "政策/规划.txt"
        assert shell.ingest(f"s3://{bucket}/政策/规划.txt")["state"] == "unchanged"
        assert shell.ingest("--sync")["unchanged"] == 1
        address = f"s3://{other}/政策/规划.txt"
        assert shell.ingest(address)["source"] == address
        assert shell.ingest("--sync", "--bucket", other)["unchanged"] == 1
        code = (
            "from fulltext import read_range; import json;"
            f"print(json.dumps(read_range({address!r}, 1)))"
        )
        assert shell.run("-c", code)["lines"][0]["text"] == "乙"
        code = "from ingest import ingest_file; import json; print(json.dumps(ingest_file({!r})))"
        assert shell.run("-c", code.format("政策/规划.txt"))["state"] == "unchanged"
    finally:
        s3.remove_bucket(other)


def test_a_missing_object_names_those_like_it(shell: Shell, s3: S3Server, bucket: str) -> None:
    s3.put(bucket, "政策/规划.txt", "甲".encode())
    refused = shell.ingest("政策/规画.txt", code=3)
    assert refused["kind"] == "NotFound"
    assert "政策/规划.txt" in refused["hint"]


def test_a_wrong_key_deletes_nothing_and_says_which_setting(
    shell: Shell, s3: S3Server, bucket: str
) -> None:
    s3.put(bucket, "a.txt", "甲".encode())
    shell.ingest("--sync")
    refused = shell.ingest("--sync", "--delete", code=1, MINIO_SECRET_KEY="wrong")
    assert "MINIO_SECRET_KEY" in refused["hint"]
    assert shell.ingest("--list")["total"] == 1


def test_the_tool_takes_an_object_by_its_key(shell: Shell, s3: S3Server, bucket: str) -> None:
    s3.put(bucket, "政策/规划.txt", "第一条 经费".encode())
    code = """
import asyncio, json, sys
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
import os

async def main():
    transport = StdioTransport(sys.executable, ["server.py"], env=dict(os.environ))
    async with Client(transport) as client:
        report = await client.call_tool("ingest_file", {"path": "政策/规划.txt"})
        found = await client.call_tool("search", {"query": "经费"})
        print(json.dumps([report.structured_content["state"],
                          found.structured_content["hits"][0]["source"]]))

asyncio.run(main())
"""
    assert shell.run("-c", code) == ["ingested", "政策/规划.txt"]
