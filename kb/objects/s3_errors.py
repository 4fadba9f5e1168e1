"""What an S3 client's errors mean, and which setting mends them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from kb.errors import KbError, StoreFailed, StoreRefused
from kb.messages import tr
from kb.objects.folder import changed, missing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from minio.error import S3Error

    from kb.ports import S3Options

_GONE: Final = frozenset({"NoSuchKey", "NoSuchVersion", "NoSuchObject"})
_REFUSED: Final = {
    "NoSuchBucket": "bucket",
    "InvalidBucketName": "bucket",
    "InvalidAccessKeyId": "access_key",
    "SignatureDoesNotMatch": "secret_key",
    "AccessDenied": "denied",
    "AllAccessDisabled": "denied",
    "RequestTimeTooSkewed": "clock",
    "AuthorizationHeaderMalformed": "region",
    "PermanentRedirect": "region",
}
"""Error codes of S3, and the message that explains each."""


@contextmanager
def told(options: S3Options, bucket: str, key: str) -> Iterator[None]:
    """Errors of the client as ours: NotFound, ObjectChanged, StoreRefused, StoreFailed."""
    try:
        yield
    except KbError:
        raise
    except Exception as error:
        raise translated(error, options, bucket, key) from error


def translated(error: Exception, options: S3Options, bucket: str, key: str) -> KbError:
    """`error` as ours; never holds a key, a signature or what the server wrote about them."""
    import minio.error as s3
    import urllib3.exceptions as http

    where = _where(options, bucket)
    if isinstance(error, s3.S3Error):
        return _answered(error, where, key)
    if isinstance(error, s3.InvalidResponseError):
        return _refused("not_s3", **where)
    if isinstance(error, s3.ServerError):
        return _failed(f"HTTP {error.status_code}", **where)
    cause = error.reason if isinstance(error, http.MaxRetryError) and error.reason else error
    if isinstance(cause, http.SSLError):
        return _refused("tls", reason=_reason(cause), **where)
    if isinstance(cause, http.ConnectTimeoutError | http.NewConnectionError):
        return _unreachable(cause, where)
    if isinstance(cause, http.HTTPError | OSError | SyntaxError | ValueError):
        return _failed(_reason(cause), **where)
    raise error


def bucket_refused(options: S3Options, bucket: str) -> StoreRefused:
    """There is no such bucket, or cannot be one."""
    return _refused("bucket", **_where(options, bucket))


def not_s3(options: S3Options, bucket: str) -> StoreFailed:
    """Somebody else answered."""
    where = _where(options, bucket)
    return StoreFailed(tr("store.not_s3", **where), tr("store.not_s3.hint"))


def _where(options: S3Options, bucket: str) -> dict[str, str]:
    return {"endpoint": options.endpoint.rpartition("@")[2][:100], "bucket": bucket}


def _answered(error: S3Error, where: dict[str, str], key: str) -> KbError:
    code = error.code or ""
    if code in _GONE or (code == "MethodNotAllowed" and key):  # a delete marker
        return missing(key)
    if code == "PreconditionFailed":
        return changed(key)
    if code in _REFUSED:
        return _refused(_REFUSED[code], **where)
    return _failed(code, **where)


def _unreachable(error: Exception, where: dict[str, str]) -> StoreFailed:
    return StoreFailed(
        tr("store.unreachable", reason=_reason(error), **where), tr("store.unreachable.hint")
    )


def _failed(reason: str, **where: str) -> StoreFailed:
    return StoreFailed(tr("store.failed", reason=reason, **where), tr("store.failed.hint"))


def _refused(kind: str, **where: str) -> StoreRefused:
    return StoreRefused(tr(f"store.{kind}", **where), tr(f"store.{kind}.hint"))


def _reason(error: BaseException) -> str:
    """The innermost cause in a few words, without addresses of objects or requests."""
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__ or error
    text = getattr(error, "strerror", None) or getattr(error, "verify_message", None) or ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
