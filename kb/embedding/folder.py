"""A model's folder: which ONNX file, which tokenizer, which rules, and what tells it from others.

Nothing here imports a numeric library, so it may run at every start.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, cast

from kb.config import ROOT
from kb.embedding.models import ModelSpec, Pooling, lookup, lookup_reranker, short_name
from kb.errors import EmbeddingFailed
from kb.messages import tr

KB_MODEL: Final = "kb_model.json"
"""Our own optional note in a model's folder: file, kind, prefixes, pooling, max_tokens, source."""

RERANKER: Final = "reranker"
"""The `kind` of a cross-encoder in that note."""

GRAPHS: Final = tuple(
    f"{folder}{name}.onnx"
    for name in ("model", "model_quantized", "model_int8", "model_uint8", "model_fp16")
    for folder in ("", "onnx/")
)
"""Where a hub repository keeps its ONNX file, in the order we prefer them."""

_HASHES: Final = "kb_hash.json"
_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A complete model on disk. `graph` is the ONNX file."""

    path: Path
    graph: Path
    tokenizer: Path
    spec: ModelSpec


def list_models(model_dir: Path) -> list[Path]:
    """The subfolders of `model_dir` that hold an ONNX file, by name; hidden ones are unfinished."""
    try:
        entries = sorted(model_dir.iterdir())
    except OSError:
        return []
    return [p for p in entries if not p.name.startswith(".") and p.is_dir() and _graph(p)]


def is_reranker(path: Path) -> bool:
    """Whether the model in `path` scores pairs, by its note, its config.json or its name.

    Such a model gives no vectors: it is no candidate for the embedder.
    """
    try:
        note, config = _read_json(path / KB_MODEL), _read_json(path / "config.json")
    except EmbeddingFailed:  # whoever opens it will say so
        return False
    if "kind" in note:
        return bool(note["kind"] == RERANKER)
    architectures = config.get("architectures")
    named = [str(name) for name in architectures] if isinstance(architectures, list) else []
    by_class = any(name.endswith("ForSequenceClassification") for name in named)
    return by_class or lookup_reranker(path.name) is not None


def find_model(name: str, model_dir: Path) -> Path:
    """The folder that `name` means: a path, a subfolder of `model_dir`, or a hub id put there.

    Raises EmbeddingFailed naming what is there and the command that fetches it.
    """
    for path in _places(name, model_dir):
        if path.is_dir() and _graph(path):
            return path
    present = ", ".join(p.name for p in list_models(model_dir)) or "-"
    raise EmbeddingFailed(
        tr("embed.no_such_model", name=name, folder=model_dir, present=present),
        tr("embed.download_hint", command=f"python -m kb.doctor --download-model {name}"),
    )


def _places(name: str, model_dir: Path) -> Iterator[Path]:
    """Where the model called `name` may lie; an absolute path stands alone under each `/`."""
    given = Path(name).expanduser()
    yield model_dir / given
    yield model_dir / short_name(name)
    yield model_dir / name.replace("/", "--")
    yield ROOT / given


def open_folder(path: Path) -> ModelFolder:
    """The model in `path`. Raises EmbeddingFailed naming the file that is missing or broken."""
    note = _read_json(path / KB_MODEL)
    graph = path / str(note["onnx"]) if "onnx" in note else _graph(path)
    if graph is None or not graph.is_file():
        raise _incomplete(path, "model.onnx")
    tokenizer = next((p for p in _tokenizers(path, graph) if p.is_file()), None)
    if tokenizer is None:
        raise _incomplete(path, "tokenizer.json")
    try:
        spec = _spec(path, note)
    except (TypeError, ValueError) as error:
        raise EmbeddingFailed(tr("embed.bad_json", file=path / KB_MODEL, error=error)) from error
    return ModelFolder(path, graph, tokenizer, spec)


def _tokenizers(path: Path, graph: Path) -> tuple[Path, Path]:
    return path / "tokenizer.json", graph.parent / "tokenizer.json"


def _graph(path: Path) -> Path | None:
    """The preferred ONNX file of a folder, else the only one."""
    for name in GRAPHS:
        if (path / name).is_file():
            return path / name
    found = [*path.glob("*.onnx"), *path.glob("onnx/*.onnx")]
    return found[0] if len(found) == 1 else None


def _incomplete(path: Path, missing: str) -> EmbeddingFailed:
    return EmbeddingFailed(
        tr("embed.incomplete", folder=path, missing=missing), tr("embed.incomplete_hint")
    )


def _spec(path: Path, note: dict[str, Any]) -> ModelSpec:
    """The rules of the model in `path`: our note, else the table, else the model's own files."""
    config = _read_json(path / "config.json")
    known = lookup(path.name) or lookup(str(config.get("_name_or_path", "")))
    base = known or _declared(path)
    return replace(
        base,
        name=path.name,
        dimension=int(note.get("dimension") or config.get("hidden_size") or base.dimension),
        pooling=_pooling(str(note.get("pooling", base.pooling))),
        max_tokens=int(note.get("max_tokens", base.max_tokens)),
        query_prefix=str(note.get("query_prefix", base.query_prefix)),
        passage_prefix=str(note.get("passage_prefix", base.passage_prefix)),
    )


def _pooling(word: str) -> Pooling:
    if word not in {"mean", "cls", "last"}:
        raise ValueError(word)
    return cast("Pooling", word)


def _declared(path: Path) -> ModelSpec:
    """What sentence-transformers' files say of a model that is not in the table."""
    prompts = _read_json(path / "config_sentence_transformers.json").get("prompts") or {}
    pooling = _read_json(path / "1_Pooling" / "config.json")
    return ModelSpec(
        name=path.name,
        hub="",
        dimension=0,
        pooling="cls"
        if pooling.get("pooling_mode_cls_token")
        else "last"
        if pooling.get("pooling_mode_lasttoken")
        else "mean",
        max_tokens=_max_tokens(path),
        query_prefix=str(prompts.get("query") or ""),
        passage_prefix=str(prompts.get("passage") or prompts.get("document") or ""),
    )


def _max_tokens(path: Path) -> int:
    """The declared input length. Tokenizers that know none say 1e30; 512 is what BERT allows."""
    lengths = (
        _read_json(path / "sentence_bert_config.json").get("max_seq_length"),
        _read_json(path / "tokenizer_config.json").get("model_max_length"),
    )
    return min((int(n) for n in lengths if n), default=512) if any(lengths) else 512


def _read_json(path: Path) -> dict[str, Any]:
    """The object in `path`; empty when there is no such file."""
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise EmbeddingFailed(tr("embed.bad_json", file=path, error=error)) from error
    return value if isinstance(value, dict) else {}


def fingerprint(folder: ModelFolder, caches: Sequence[Path]) -> str:
    """Names the vector space: weights, tokenizer, prefixes, pooling and window, not the folder.

    `caches` are folders where the digests may be remembered, in order of preference.
    """
    spec = folder.spec
    files = [*_weights(folder.graph), folder.tokenizer]
    rules = [spec.query_prefix, spec.passage_prefix, spec.pooling, spec.max_tokens]
    known = [_digest(file, (folder.path, *caches)) for file in files]
    code = hashlib.sha256(json.dumps([known, rules]).encode()).hexdigest()
    return f"onnx-{code[:24]}"


def _weights(graph: Path) -> list[Path]:
    """The ONNX file, then its external data (`model.onnx_data`, `model.onnx.data`)."""
    data = (p for p in graph.parent.iterdir() if p.name.startswith(graph.name) and p != graph)
    return [graph, *sorted(data)]


def _digest(file: Path, caches: Sequence[Path]) -> str:
    """SHA-256 of `file`, remembered by path, size and time of change."""
    stat = file.stat()
    key = f"{file.as_posix()}|{stat.st_size}|{stat.st_mtime_ns}"
    for cache in caches:
        found = _remembered(cache / _HASHES).get(key)
        if found:
            return found
    digest = _sha256(file)
    for cache in caches:
        if _remember(cache / _HASHES, key, digest):
            break
    return digest


def _remembered(cache: Path) -> dict[str, str]:
    """Digests in `cache`; a file that cannot be read is only a lost saving."""
    try:
        value = json.loads(cache.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _sha256(file: Path) -> str:
    code = hashlib.sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            code.update(chunk)
    return code.hexdigest()


def _remember(cache: Path, key: str, digest: str) -> bool:
    """Whether `digest` could be written; a read-only folder is no error."""
    path = key.split("|", 1)[0]
    old = {k: v for k, v in _remembered(cache).items() if not k.startswith(f"{path}|")}
    part = cache.with_name(f"{cache.name}.{os.getpid()}.part")
    try:
        part.write_text(json.dumps({**old, key: digest}, indent=1), encoding="utf-8")
        part.replace(cache)
    except OSError:
        return False
    return True
