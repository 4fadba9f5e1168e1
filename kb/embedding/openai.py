"""An embedding server that speaks OpenAI's `POST /embeddings`: TEI, vLLM, Ollama, a cloud."""

from __future__ import annotations

import ipaddress
import logging
import time
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from pydantic import SecretStr

from kb.embedding.check import checked, clean
from kb.embedding.models import ModelSpec, lookup
from kb.embedding.running import by_length
from kb.errors import EmbeddingFailed
from kb.messages import tr
from kb.ports import MAX_CHARS

if TYPE_CHECKING:
    import httpx

    from kb.ports import Vectors

BATCH: Final = 10
"""Texts of one request: what the strictest service takes (DashScope 10, TEI 32, OpenAI 2048)."""

BATCH_CHARS: Final = MAX_CHARS
"""Characters of one request, each text counted as long as the longest: servers pad to it. So no
request costs more than the longest text alone, which must be answered within the timeout."""

RETRY_SECONDS: Final = (0.5, 2.0, 8.0, 30.0)
"""Pauses after HTTP 429 and 5xx; a Retry-After counts up to the longest. A question, which somebody
waits for, is asked again once. A server that is not there is not asked again."""

_MIN_CHARS: Final = 256
_AGAIN: Final = frozenset({408, 429, 500, 502, 503, 504})
_TOO_LONG: Final = frozenset({400, 413, 422})

_log = logging.getLogger(__name__)


class OpenAIEmbedder:
    """Embeds through the server at `base_url` with its model `model`.

    Prefixes follow the model's name (see `models`). A batch that the server refuses is halved, and
    a single text too long for it is shortened, with a warning on the log. The key goes into one
    header and nowhere else. Raises EmbeddingFailed for an address or model name of no use.
    """

    def __init__(self, base_url: str, model: str, key: SecretStr) -> None:
        parts = _checked_url(base_url)
        if not model:
            raise EmbeddingFailed(tr("embed.no_model_name"), tr("embed.no_model_name_hint"))
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._host = parts
        self._model = model
        self._key = key
        self._spec = lookup(model) or ModelSpec(model, "", 0, "mean", 0)
        self._lock = Lock()
        self._dimension = 0

    @property
    def name(self) -> str:
        """`openai:` and the model's name; the address is not part of it."""
        return f"openai:{self._model}"

    @property
    def dimension(self) -> int:
        """Length of every vector, asked of the server once. Raises EmbeddingFailed."""
        with self._lock:
            if not self._dimension:
                self._dimension = len(self._embed(["a"], RETRY_SECONDS[:1])[0])
            return self._dimension

    @property
    def fingerprint(self) -> str:
        """Model, dimension and prefixes; two servers of one model agree. May ask the server."""
        rules = (self._model, self.dimension, self._spec.query_prefix, self._spec.passage_prefix)
        return f"openai-{sha256(repr(rules).encode()).hexdigest()[:24]}"

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of `texts`, shape (len(texts), dimension), unit length."""
        return self._checked([self._spec.passage_prefix + clean(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        """Vector of a question, shape (dimension,), unit length. Raises EmbeddingFailed."""
        row: Vectors = self._checked([self._spec.query_prefix + clean(text)], RETRY_SECONDS[:1])[0]
        return row

    def _checked(self, inputs: list[str], pauses: Sequence[float] = RETRY_SECONDS) -> Vectors:
        # Of six-line blocks as they come, ten a request, a server that pads computes 13 to 30 %
        # more tokens than there are; of 256 sorted by length 2 %.
        rows: list[list[float]] = [[] for _ in inputs]
        for places in by_length([len(text) for text in inputs], BATCH_CHARS, BATCH):
            batch = self._embed([inputs[place] for place in places], pauses)
            for place, row in zip(places, batch, strict=True):
                rows[place] = row
        return checked(rows, len(inputs), self.dimension, self.name)

    def _embed(self, inputs: list[str], pauses: Sequence[float]) -> list[list[float]]:
        """One vector an input, in order. Halves what the server finds too much, down to a floor."""
        # A blank input is an error to most servers; a full stop says as little.
        response = self._post([text if text.strip() else "." for text in inputs], pauses)
        if response.status_code in _TOO_LONG:
            if len(inputs) > 1:
                middle = len(inputs) // 2
                return self._embed(inputs[:middle], pauses) + self._embed(inputs[middle:], pauses)
            if len(inputs[0]) > _MIN_CHARS:
                return self._embed_beginning(inputs[0], pauses)
        if response.status_code != 200:  # noqa: PLR2004 - HTTP's own word for success
            raise self._refused(response.status_code)
        return self._vectors(response, len(inputs))

    def _embed_beginning(self, text: str, pauses: Sequence[float]) -> list[list[float]]:
        kept = len(text) // 2
        rows = self._embed([text[:kept]], pauses)
        _log.warning("%s", tr("embed.shortened", kept=kept, total=len(text)))
        return rows

    def _post(self, inputs: list[str], pauses: Sequence[float]) -> httpx.Response:
        """The server's last answer, asked again after each of `pauses` while it is only busy."""
        body = {"model": self._model, "input": inputs, "encoding_format": "float"}
        response = self._attempt(body)
        for pause in pauses:
            if response.status_code not in _AGAIN:
                break
            time.sleep(_wait(response, pause))
            response = self._attempt(body)
        return response

    def _attempt(self, body: dict[str, Any]) -> httpx.Response:
        import httpx

        try:
            return self._client.post(self._url, json=body)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._unreachable(error) from None

    @cached_property
    def _client(self) -> httpx.Client:
        """One connection pool. It follows no redirect: the key is for this host only."""
        import httpx

        key = self._key.get_secret_value()
        return httpx.Client(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=httpx.Timeout(60.0, connect=5.0),
            trust_env=not _is_loopback(self._host),
        )

    def _vectors(self, response: httpx.Response, count: int) -> list[list[float]]:
        """The answer's vectors by their `index`, which must be 0 … count - 1, each once."""
        try:
            rows = {int(item["index"]): item["embedding"] for item in response.json()["data"]}
            vectors = [rows[index] for index in range(count)]
            widths = {len(vector) for vector in vectors}
        except (KeyError, TypeError, ValueError):
            raise self._bad_answer(count) from None
        if len(rows) != count or len(widths) != 1 or 0 in widths:
            raise self._bad_answer(count)
        return vectors

    def _bad_answer(self, count: int) -> EmbeddingFailed:
        return EmbeddingFailed(
            tr("embed.bad_answer", host=self._host, count=count), tr("embed.unusable_hint")
        )

    def _refused(self, status: int) -> EmbeddingFailed:
        """The status alone: an answer's body may repeat the text or the key."""
        return EmbeddingFailed(
            tr("embed.http", host=self._host, model=self._model, status=status),
            tr("embed.http_hint"),
        )

    def _unreachable(self, error: Exception) -> EmbeddingFailed:
        return EmbeddingFailed(
            tr("embed.unreachable", host=self._host, error=type(error).__name__),
            tr("embed.unreachable_hint"),
        )


def _checked_url(base_url: str) -> str:
    """The host (and port) of an http(s) address without credentials. Raises EmbeddingFailed."""
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in {"http", "https"} and parts.hostname and "@" not in parts.netloc
        _ = parts.port
    except ValueError:
        usable = False
    if not usable:
        raise EmbeddingFailed(tr("embed.bad_url"), tr("embed.bad_url_hint"))
    return parts.netloc


def _is_loopback(host: str) -> bool:
    name = urlsplit(f"//{host}").hostname or ""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def _wait(response: httpx.Response, pause: float) -> float:
    """Seconds until the next attempt: `pause`, or what the server asks within bounds."""
    asked = response.headers.get("Retry-After", "")
    return max(pause, min(float(asked), RETRY_SECONDS[-1])) if asked.isdecimal() else pause
