"""A bucket of MinIO, or of any other server that speaks S3, as an object store."""

from __future__ import annotations

import re
import ssl
import threading
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeVar
from urllib.parse import urlsplit

from kb.errors import InvalidInput, StoreFailed, StoreRefused
from kb.messages import tr
from kb.model import ObjectRef
from kb.objects.folder import changed, missing
from kb.objects.s3_errors import bucket_refused, not_s3, told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import urllib3
    from minio import Minio
    from minio.datatypes import Object

    from kb.ports import Readable, S3Options

_T = TypeVar("_T")

_OK: Final = 200
_TRIES: Final = 3
_BACKOFF: Final = 0.2
_OVERLOADED: Final = (500, 502, 503, 504)
_LOOPBACK: Final = ("localhost", "::1")
_HOST: Final = re.compile(r"[^\s/@?#\\]+")


class MinioStore:
    """One bucket. The server is first spoken to when an object is asked for."""

    def __init__(self, options: S3Options, bucket: str) -> None:
        if not bucket:
            raise InvalidInput(tr("store.no_bucket"), tr("store.no_bucket.hint"))
        self._options = options
        self._lock = threading.Lock()
        self.bucket = bucket
        self.name = f"s3://{bucket}"

    def place(self, key: str) -> str:
        """`s3://bucket/key`."""
        return f"{self.name}/{key}"

    def check(self) -> None:
        """Ask for the first page of the listing. Raises StoreFailed."""
        first = self.client.list_objects(self.bucket, recursive=True)
        self._tried("", lambda: next(iter(first), None))

    def stat(self, key: str) -> ObjectRef:
        """The object as it is now. Raises NotFound, StoreFailed."""
        return self._tried(key, lambda: self._stat(key))

    @contextmanager
    def open(self, ref: ObjectRef) -> Iterator[Readable]:
        """The object's bytes, of `ref`'s version where it names one, else only if it is as listed.

        Raises NotFound, ObjectChanged, StoreFailed.
        """
        version = ref.version or None
        unchanged: dict[str, Any] = {"If-Match": f'"{ref.etag}"'} if ref.etag else {}
        with told(self._options, self.bucket, ref.key):
            response = self.client.get_object(
                self.bucket, ref.key, version_id=version, request_headers=unchanged
            )
            try:
                if not response.headers.get("etag"):
                    raise not_s3(self._options, self.bucket)
                yield _Reading(ref, response)
            finally:
                # Closed, not given back: what is left of a broken body would be the next answer.
                response.close()
                response.release_conn()

    def list(self, prefix: str = "") -> Iterator[ObjectRef]:
        """Every object below `prefix`. The listing is complete before the first is given.

        Raises StoreFailed, and StoreRefused when the bucket does not exist.
        """
        yield from self._tried("", lambda: self._listed(prefix))

    def put(self, key: str, data: BinaryIO, size: int) -> ObjectRef:
        """Upload `size` bytes of `data`. Raises StoreFailed."""
        with told(self._options, self.bucket, key):
            self.client.put_object(self.bucket, key, data, size)
        return self.stat(key)

    def versions(self, key: str) -> Sequence[ObjectRef]:
        """The object's versions that can be read, newest first. Raises NotFound, StoreFailed."""
        found = self._tried(key, lambda: self._versions(key))
        if not found:
            raise missing(key)
        return found

    def _stat(self, key: str) -> ObjectRef:
        from minio.error import S3Error

        try:
            ref = _ref(self.client.stat_object(self.bucket, key))
        except S3Error:
            # To HEAD the server cannot say why: the bucket may be missing, or a key be wrong.
            self.client.get_object(self.bucket, key).close()
            raise
        if not ref.etag:  # somebody else's page, a login for instance: S3 always tells one
            raise not_s3(self._options, self.bucket)
        return ref

    def _listed(self, prefix: str) -> Sequence[ObjectRef]:
        found = self.client.list_objects(self.bucket, prefix=prefix, recursive=True)
        return [_ref(item) for item in found]

    def _versions(self, key: str) -> Sequence[ObjectRef]:
        found = self.client.list_objects(
            self.bucket, prefix=key, recursive=True, include_version=True
        )
        same = [o for o in found if o.object_name == key and not o.is_delete_marker]
        return [_ref(o) for o in sorted(same, key=lambda o: str(o.last_modified), reverse=True)]

    def _tried(self, key: str, call: Callable[[], _T]) -> _T:
        """The answer to a small request, asked again where that may help."""
        for attempt in range(1, _TRIES + 1):
            try:
                with told(self._options, self.bucket, key):
                    return call()
            except StoreRefused:  # noqa: PERF203 - three rounds
                raise
            except StoreFailed:
                if attempt == _TRIES:
                    raise
        raise AssertionError

    def is_minio(self) -> bool:
        """Whether the server is MinIO itself. Raises urllib3's errors."""
        host, secure = _endpoint(self._options)
        url = f"{'https' if secure else 'http'}://{host}/minio/health/live"
        answer = _pool(self._options, host, secure=secure).request("GET", url)
        return answer.status == _OK and answer.headers.get("server", "").startswith("MinIO")

    @property
    def client(self) -> Minio:
        """The SDK's client, made when it is first used."""
        with self._lock:  # cached_property alone could make two
            return self._made_client

    @cached_property
    def _made_client(self) -> Minio:
        from minio.helpers import check_bucket_name

        try:
            check_bucket_name(self.bucket)
        except ValueError as error:
            raise bucket_refused(self._options, self.bucket) from error
        return open_client(self._options)


class _Reading:
    """The body of an answer, and what its header says it is."""

    def __init__(self, listed: ObjectRef, response: urllib3.BaseHTTPResponse) -> None:
        header = response.headers
        etag = header.get("etag", "").strip('"')
        if listed.etag and etag and etag != listed.etag:
            raise changed(listed.key)
        version = header.get("x-amz-version-id", "")
        self.ref = ObjectRef(
            listed.key,
            listed.size,
            etag or listed.etag,
            "" if version == "null" else version,
            listed.last_modified,
        )
        self._response = response

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes, as soon as there are some: who reads looks at the clock between."""
        return bytes(self._response.read1(size))


def _ref(item: Object) -> ObjectRef:
    version = item.version_id or ""
    return ObjectRef(
        key=str(item.object_name),
        size=item.size or 0,
        etag=(item.etag or "").strip('"'),
        version="" if version == "null" else version,
        last_modified=item.last_modified.isoformat() if item.last_modified else "",
    )


def open_client(options: S3Options) -> Minio:
    """A client with bounded times and retries. Raises InvalidInput for an impossible endpoint."""
    from minio import Minio

    host, secure = _endpoint(options)
    try:
        return Minio(
            endpoint=host,
            access_key=options.access_key or None,
            secret_key=options.secret_key or None,
            secure=secure,
            region=options.region or None,
            http_client=_pool(options, host, secure=secure),
        )
    except ValueError as error:
        raise _bad_endpoint(options.endpoint) from error


def _endpoint(options: S3Options) -> tuple[str, bool]:
    """host[:port], and whether it speaks TLS."""
    given = options.endpoint.strip()
    if "://" not in given:
        given = f"{'https' if options.secure else 'http'}://{given}"
    scheme, host = given.rstrip("/").split(":", 1)
    host = host.removeprefix("//")
    if scheme not in {"http", "https"} or not _HOST.fullmatch(host):
        raise _bad_endpoint(options.endpoint)
    return host, scheme == "https"


def _bad_endpoint(endpoint: str) -> InvalidInput:
    # Nothing that may hold a password is repeated.
    shown = endpoint.rpartition("@")[2][:100]
    return InvalidInput(tr("store.endpoint", endpoint=shown), tr("store.endpoint.hint"))


def _pool(options: S3Options, host: str, *, secure: bool) -> urllib3.PoolManager:
    import urllib3

    settings: dict[str, Any] = {
        "timeout": urllib3.Timeout(connect=options.connect_seconds, read=options.read_seconds),
        "maxsize": 16,
        # An answer that does not come is not waited for twice here: callers count those.
        "retries": urllib3.Retry(
            total=3,
            connect=2,
            read=1,
            backoff_factor=_BACKOFF,
            status_forcelist=_OVERLOADED,
            allowed_methods=None,
        ),
        "ssl_context": _trust() if secure else None,
    }
    proxy = _proxy(host, "https" if secure else "http")
    return urllib3.ProxyManager(proxy, **settings) if proxy else urllib3.PoolManager(**settings)


def _trust() -> ssl.SSLContext:
    """The system's authorities (SSL_CERT_FILE adds to them), and those of certifi."""
    import certifi

    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def _proxy(host: str, scheme: str) -> str:
    """The system's proxy for `host`: none for this machine, whatever the environment says."""
    from urllib.request import getproxies, proxy_bypass

    name = urlsplit(f"//{host}").hostname or ""
    if name in _LOOPBACK or name.startswith("127.") or proxy_bypass(name):
        return ""
    return getproxies().get(scheme, "")
