"""What MinIO tells of a bucket while it happens. Polling stays the truth; this makes it sooner."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kb.objects.minio import MinioStore

_EVENTS: Final = ("s3:ObjectCreated:*", "s3:ObjectRemoved:*")
_AGAIN_SECONDS: Final = 30.0
_LOG: Final = logging.getLogger(__name__)


def listen(store: MinioStore, prefix: str, changed: threading.Event, stop: threading.Event) -> None:
    """Set `changed` whenever something below `prefix` was written or removed, until `stop`.

    Returns at once where the server is no MinIO: no other one has such a request, and some answer
    it with something else. To be called in a daemon thread; a broken connection is made again.
    """
    while not stop.is_set():
        try:
            if not store.is_minio():
                return
            with store.client.listen_bucket_notification(
                store.bucket, prefix=prefix, events=_EVENTS
            ) as events:
                for _event in events:
                    changed.set()
                    if stop.is_set():
                        return
        except Exception as error:
            _LOG.info("notifications of %s: %s", store.name, type(error).__name__)
        # What happened while nobody listened: the next poll finds it, at once.
        changed.set()
        stop.wait(_AGAIN_SECONDS)
