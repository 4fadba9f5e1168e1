"""Fetches one ONNX model from the Hugging Face hub or a mirror, by explicit command only."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kb.embedding.cross_encoder import CrossEncoder
from kb.embedding.folder import GRAPHS, KB_MODEL, RERANKER, is_reranker, open_folder
from kb.embedding.models import (
    DEFAULT_MODEL,
    KNOWN,
    RERANKERS,
    lookup,
    lookup_reranker,
    short_name,
)
from kb.embedding.onnx import OnnxEmbedder
from kb.errors import EmbeddingFailed, KbError
from kb.messages import tr

if TYPE_CHECKING:
    from huggingface_hub.hf_api import ModelInfo, RepoSibling

OnBytes = Callable[[int, int], None]
"""Called with the bytes that are here and the bytes in all."""

_SMALL: Final = (
    "config.json",
    "tokenizer_config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "1_Pooling/config.json",
)
_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class _Plan:
    """What to fetch: `graph` is the ONNX file's place in the repository."""

    repo: str
    revision: str
    graph: str
    files: tuple[RepoSibling, ...]


def download_model(name: str, model_dir: Path, on_progress: OnBytes | None = None) -> Path:
    """The folder of model `name` ("": the default) below `model_dir`, fetched unless it is there.

    `name` is one of the known models or any hub repository with an ONNX file. The files arrive in a
    hidden folder, are checked by embedding a text (a reranker by scoring a pair), and only then get
    their name. A broken
    connection is taken up where it broke; after a failure, files that are complete are not fetched
    again. `HF_ENDPOINT` names a mirror. Raises EmbeddingFailed, RerankingFailed.
    """
    name = name or DEFAULT_MODEL
    target = model_dir / short_name(name)
    if target.exists():
        open_folder(target)
        return target
    part = model_dir / f".{target.name}.part"
    try:
        plan = _plan(name, model_dir)
        _fetch(plan, part, on_progress or (lambda _here, _all: None))
    except KbError:
        raise
    except Exception as error:
        raise _failed(name, model_dir, error) from error
    _verify(plan, name, part)
    part.replace(target)
    if not is_reranker(target):
        # Read once now, so that the first start does not have to.
        _ = OnnxEmbedder(open_folder(target), 0).fingerprint
    return target


def _plan(name: str, model_dir: Path) -> _Plan:
    """The first repository for `name` that holds an ONNX file and a tokenizer."""
    known, reranker = lookup(name), lookup_reranker(name)
    hub = reranker.hub if reranker else known.hub if known else ""
    repos = dict.fromkeys([name if "/" in name else "", hub])
    candidates = [repo for repo in repos if repo]
    if not candidates:
        there = [*(spec.name for spec in KNOWN if spec.hub), *(spec.name for spec in RERANKERS)]
        names = ", ".join(there)
        raise EmbeddingFailed(
            tr("embed.not_on_hub", name=name, known=names),
            tr("embed.not_on_hub_hint", folder=model_dir),
        )
    for repo in candidates:
        places = (reranker.graph, *GRAPHS) if reranker else GRAPHS
        plan = _choose(repo, _repository(repo), places)
        if plan:
            return plan
    raise EmbeddingFailed(
        tr("embed.no_onnx_in_repo", repo=" / ".join(candidates)),
        tr("embed.not_on_hub_hint", folder=model_dir),
    )


def _repository(repo: str) -> ModelInfo:
    """The repository's files with their sizes. No token: a mirror has no business with it."""
    from huggingface_hub import HfApi

    return HfApi(token=False).model_info(repo, files_metadata=True, timeout=20)


def _choose(repo: str, info: ModelInfo, places: Sequence[str]) -> _Plan | None:
    """The first ONNX file of `places`, its external data, the tokenizer and what describes them."""
    files = {file.rfilename: file for file in info.siblings or ()}
    graph = next((place for place in places if place in files), None)
    if graph is None:
        return None
    tokenizers = ("tokenizer.json", f"{graph.rpartition('/')[0]}/tokenizer.json")
    tokenizer = next((place for place in tokenizers if place in files), None)
    if tokenizer is None:
        return None
    weights = sorted(place for place in files if place.startswith(graph))
    wanted = [*_SMALL, tokenizer, *weights]
    chosen = tuple(files[place] for place in wanted if place in files)
    return _Plan(repo, info.sha or "main", graph, chosen)


def _fetch(plan: _Plan, part: Path, on_progress: OnBytes) -> None:
    """Every file of `plan` into `part`; a file that is there already is not fetched again."""
    from huggingface_hub import constants, hf_hub_download

    # Xet answers with addresses of its own hosts, which no mirror serves (hf-mirror-site #50).
    constants.HF_HUB_DISABLE_XET = True
    total = sum(file.size or 0 for file in plan.files)
    here = 0
    for file in plan.files:
        path = hf_hub_download(
            plan.repo,
            file.rfilename,
            revision=plan.revision,
            local_dir=part,
            token=False,
            tqdm_class=_counting(partial(_report, on_progress, here, total)),
        )
        _check_digest(Path(path), file)
        here += file.size or 0
        on_progress(here, total)


def _report(on_progress: OnBytes, before: int, total: int, count: int) -> None:
    on_progress(before + count, total)


def _counting(report: Callable[[int], None]) -> Any:
    """A progress bar class that shows nothing and reports how many bytes of a file are here."""
    from huggingface_hub.utils.tqdm import tqdm

    class Counting(tqdm):
        """Counts what the hub's library tells its bar."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **{**kwargs, "disable": True})  # type: ignore[no-untyped-call]
            self.count = int(kwargs.get("initial") or 0)

        def update(self, n: float | None = 1) -> bool | None:
            """Count `n` more bytes."""
            self.count += int(n or 0)
            report(self.count)
            return None

    return Counting


def _check_digest(path: Path, file: RepoSibling) -> None:
    """Compare with the digest that the hub keeps of large files; a mirror may be damaged."""
    wanted = file.lfs.sha256 if file.lfs else ""
    if not wanted:
        return
    code = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            code.update(chunk)
    if code.hexdigest() != wanted:
        path.unlink()
        raise ValueError(f"SHA-256: {file.rfilename}")


def _verify(plan: _Plan, name: str, part: Path) -> None:
    """Write our note and use the model. What fails is thrown away: more of it would not help."""
    from huggingface_hub import constants

    note: dict[str, Any] = {
        "source": f"{constants.ENDPOINT}/{plan.repo}",
        "revision": plan.revision,
        "onnx": plan.graph,
    }
    known = lookup(name) or lookup(plan.repo)
    reranker = is_reranker(part) or lookup_reranker(name) is not None
    if reranker:
        note["kind"] = RERANKER
    elif known:
        note.update(_without(asdict(known), ("name", "hub")))
    (part / KB_MODEL).write_text(json.dumps(note, ensure_ascii=False, indent=2), encoding="utf-8")
    shutil.rmtree(part / ".cache", ignore_errors=True)
    try:
        _use(part, reranker=reranker)
    except KbError:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _use(part: Path, *, reranker: bool) -> None:
    """Let the model work once. Raises what it raises."""
    if reranker:
        CrossEncoder(open_folder(part), 0)
    else:
        OnnxEmbedder(open_folder(part), 0).embed_passages(["政府工作报告"])


def _without(values: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in names}


def _failed(name: str, model_dir: Path, error: Exception) -> EmbeddingFailed:
    from huggingface_hub import constants

    return EmbeddingFailed(
        tr(
            "embed.download_failed",
            repo=name,
            endpoint=constants.ENDPOINT,
            error=f"{type(error).__name__}: {str(error).partition(chr(10))[0]}",
        ),
        tr("embed.download_failed_hint", folder=model_dir),
    )
