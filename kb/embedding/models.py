"""What we know of models: prefixes, pooling, lengths, files, and where each rule comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Pooling = Literal["mean", "cls", "last"]

DEFAULT_MODEL: Final = "multilingual-e5-small"


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """How one model wants its text and how its output becomes a vector.

    `hub` is the repository that holds an ONNX export and a tokenizer.json ("" where we know none:
    the entry then serves openai: servers). `dimension` is 0 while unknown.
    """

    name: str
    hub: str
    dimension: int
    pooling: Pooling
    max_tokens: int
    query_prefix: str = ""
    passage_prefix: str = ""


# The E5 family: model cards of intfloat/multilingual-e5-*, "Each input text should start with
# "query: " or "passage: "", average_pool(), 512 tokens; arXiv 2402.05672.
_E5: Final = {"query_prefix": "query: ", "passage_prefix": "passage: "}
# BGE v1.5: model card of BAAI/bge-*-zh-v1.5, the query instruction for short-query-to-passage
# retrieval, none for passages, "we select the hidden state of the first token [CLS]".
_BGE_ZH: Final = {"query_prefix": "为这个句子生成表示以用于检索相关文章："}
# Model card of Qwen/Qwen3-Embedding-*, config_sentence_transformers.json, prompt "query"; no space
# after the colon there. Card of intfloat/multilingual-e5-large-instruct: with a space.
_INSTRUCT: Final = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)
_QWEN3: Final = {"query_prefix": _INSTRUCT}

KNOWN: Final[tuple[ModelSpec, ...]] = (
    ModelSpec(DEFAULT_MODEL, "intfloat/multilingual-e5-small", 384, "mean", 512, **_E5),
    ModelSpec("multilingual-e5-base", "intfloat/multilingual-e5-base", 768, "mean", 512, **_E5),
    ModelSpec("multilingual-e5-large", "intfloat/multilingual-e5-large", 1024, "mean", 512, **_E5),
    ModelSpec(
        "multilingual-e5-large-instruct", "", 1024, "mean", 512, query_prefix=f"{_INSTRUCT} "
    ),
    # Model card of BAAI/bge-m3: "no need to add instructions", dense vector from [CLS], 8192.
    ModelSpec("bge-m3", "BAAI/bge-m3", 1024, "cls", 8192),
    # BAAI publishes no ONNX of these; Xenova's exports are the ones fastembed-rs lists too.
    ModelSpec("bge-small-zh-v1.5", "Xenova/bge-small-zh-v1.5", 512, "cls", 512, **_BGE_ZH),
    ModelSpec("bge-base-zh-v1.5", "Xenova/bge-base-zh-v1.5", 768, "cls", 512, **_BGE_ZH),
    ModelSpec("bge-large-zh-v1.5", "Xenova/bge-large-zh-v1.5", 1024, "cls", 512, **_BGE_ZH),
    # Model card of Alibaba-NLP/gte-multilingual-base: last_hidden_state[:, 0], no prefix, 8192.
    ModelSpec("gte-multilingual-base", "onnx-community/gte-multilingual-base", 768, "cls", 8192),
    # sentence_bert_config.json (256) and 1_Pooling/config.json of the model.
    ModelSpec("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2", 384, "mean", 256),
    ModelSpec("Qwen3-Embedding-0.6B", "", 1024, "last", 32768, **_QWEN3),
    ModelSpec("Qwen3-Embedding-4B", "", 2560, "last", 32768, **_QWEN3),
    ModelSpec("Qwen3-Embedding-8B", "", 4096, "last", 32768, **_QWEN3),
)

_BY_NAME: Final = {spec.name.lower(): spec for spec in KNOWN}


@dataclass(frozen=True, slots=True)
class RerankerSpec:
    """A cross-encoder with an ONNX export: the repository that holds it, and the file to take."""

    name: str
    hub: str
    graph: str


RERANKERS: Final[tuple[RerankerSpec, ...]] = (
    # MIT, Chinese and English; fp32 (1.1 GB) is the only file there.
    RerankerSpec("bge-reranker-base", "BAAI/bge-reranker-base", "onnx/model.onnx"),
    # BAAI publishes no ONNX of this one. Of both communities' exports the 8-bit file: 0.57 and
    # 0.34 GB instead of 2.3 and 1.3, for a question has two seconds.
    RerankerSpec(
        "bge-reranker-v2-m3", "onnx-community/bge-reranker-v2-m3-ONNX", "onnx/model_quantized.onnx"
    ),
    RerankerSpec(
        "gte-multilingual-reranker-base",
        "onnx-community/gte-multilingual-reranker-base",
        "onnx/model_quantized.onnx",
    ),
)

_RERANKER_BY_NAME: Final = {
    name.lower(): spec for spec in RERANKERS for name in (spec.name, spec.hub.rpartition("/")[2])
}


def short_name(name: str) -> str:
    """The last part of a hub id, path or server name, without a `:tag`."""
    return name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1].split(":", 1)[0]


def lookup(name: str) -> ModelSpec | None:
    """The known model that `name` means, or None.

    Takes `multilingual-e5-small`, `intfloat/multilingual-e5-small`, `bge-m3:latest` (Ollama) and
    `text-embedding-multilingual-e5-small` (LM Studio).
    """
    short = short_name(name).lower()
    return _BY_NAME.get(short) or _BY_NAME.get(short.removeprefix("text-embedding-"))


def lookup_reranker(name: str) -> RerankerSpec | None:
    """The known reranker that `name` means (its own name, or a hub id), or None."""
    return _RERANKER_BY_NAME.get(short_name(name).lower())
