"""The bundled model: close to float32, independent of batches, safe with odd texts, refused when changed."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.embed.embedder import Embedder, MiniLmEmbedder, bundled_model
from core.errors import Code, EnvironmentFaultError

REFERENCE = Path(__file__).parents[2] / "fixtures" / "embed_reference.json"


@pytest.fixture(scope="module")
def embedder() -> MiniLmEmbedder:
    return MiniLmEmbedder()


@pytest.fixture(scope="module")
def reference() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(REFERENCE.read_text("utf-8"))
    return rows


@pytest.fixture
def model_copy(tmp_path: Path) -> Path:
    for name in ("manifest.json", "model.onnx", "tokenizer.json"):
        (tmp_path / name).write_bytes(bundled_model().joinpath(name).read_bytes())
    return tmp_path


def test_close_to_the_float_model(embedder: MiniLmEmbedder, reference: list[dict[str, Any]]) -> None:
    assert len(reference) == 20
    expected = np.array([row["vector"] for row in reference])
    got = embedder.embed([row["text"] for row in reference]).astype(np.float64)
    cosines = (expected * got).sum(axis=1) / np.linalg.norm(expected, axis=1)
    assert cosines.mean() >= 0.985
    assert cosines.min() >= 0.96


def test_keeps_the_float_models_neighbours(embedder: MiniLmEmbedder, reference: list[dict[str, Any]]) -> None:
    expected = np.array([row["vector"] for row in reference])
    got = embedder.embed([row["text"] for row in reference])
    apart = np.abs(expected @ expected.T - got @ got.T)
    assert apart.max() < 0.12
    assert apart.mean() < 0.02


def test_a_vector_never_depends_on_its_batch(embedder: MiniLmEmbedder, reference: list[dict[str, Any]]) -> None:
    texts = [row["text"] for row in reference]
    alone = np.stack([embedder.embed_one(text) for text in texts])
    assert np.array_equal(embedder.embed(texts), alone)
    assert np.array_equal(embedder.embed(texts[::-1])[::-1], alone)


@pytest.mark.slow
def test_threads_give_the_same_vectors(embedder: MiniLmEmbedder, reference: list[dict[str, Any]]) -> None:
    texts = [row["text"] for row in reference] * 3
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(embedder.embed_one, texts))
    assert np.array_equal(np.stack(rows), embedder.embed(texts))


def test_a_second_instance_with_more_threads_agrees(embedder: MiniLmEmbedder, reference: list[dict[str, Any]]) -> None:
    texts = [row["text"] for row in reference]
    other = MiniLmEmbedder(threads=2)
    assert np.allclose(other.embed(texts), embedder.embed(texts), atol=1e-6)
    assert other.version == embedder.version


def test_unit_rows_of_the_right_type(embedder: MiniLmEmbedder) -> None:
    rows = embedder.embed(["one", "two words", ""])
    assert rows.shape == (3, 384)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)
    assert embedder.embed([]).shape == (0, 384)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "\0",
        "a\0b",
        "\ud800",
        "x\udfffy",
        "\U0001f9d1\u200d\U0001f680",
        "\u202eevil",
        "\ufeff",
        "字" * 5000,
    ],
)
def test_odd_texts_have_finite_unit_vectors(embedder: MiniLmEmbedder, text: str) -> None:
    vector = embedder.embed_one(text)
    assert np.isfinite(vector).all()
    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5


def test_a_long_text_is_read_by_its_first_tokens(embedder: MiniLmEmbedder) -> None:
    start = "the kiln reached its temperature before noon " * 60
    assert np.array_equal(embedder.embed_one(start + "apples"), embedder.embed_one(start + "submarines"))
    assert not np.array_equal(embedder.embed_one("apples " + start), embedder.embed_one("submarines " + start))


def test_a_huge_text_costs_no_more_than_its_start(embedder: MiniLmEmbedder) -> None:
    assert np.array_equal(embedder.embed_one("word " * 2_000_000), embedder.embed_one("word " * 400))


def test_meaning_is_near(embedder: MiniLmEmbedder) -> None:
    query, near, far = embedder.embed(["Where does my sister live?", "Ines moved to Porto.", "The kiln is too hot."])
    assert query @ near > query @ far


def test_satisfies_the_protocol(embedder: MiniLmEmbedder) -> None:
    as_protocol: Embedder = embedder
    assert (as_protocol.name, as_protocol.dims) == ("all-MiniLM-L6-v2", 384)
    assert len(as_protocol.version) == 16


def test_manifest_names_every_shipped_file() -> None:
    folder = bundled_model()
    manifest = json.loads(folder.joinpath("manifest.json").read_bytes())
    assert set(manifest["files"]) == {"model.onnx", "tokenizer.json", "LICENSE"}
    for name, digest in manifest["files"].items():
        assert hashlib.sha256(folder.joinpath(name).read_bytes()).hexdigest() == digest
    assert "Apache License" in folder.joinpath("LICENSE").read_text("utf-8")


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_changed_file_is_refused(model_copy: Path, name: str) -> None:
    data = bytearray((model_copy / name).read_bytes())
    data[len(data) // 2] ^= 1
    (model_copy / name).write_bytes(data)
    with pytest.raises(EnvironmentFaultError) as caught:
        MiniLmEmbedder(model_copy)
    assert caught.value.code is Code.EMBEDDER_UNAVAILABLE
    assert str(model_copy) not in str(caught.value)


@pytest.mark.parametrize("name", ["manifest.json", "model.onnx", "tokenizer.json"])
def test_a_missing_file_is_refused(model_copy: Path, name: str) -> None:
    (model_copy / name).unlink()
    with pytest.raises(EnvironmentFaultError) as caught:
        MiniLmEmbedder(model_copy)
    assert caught.value.code is Code.EMBEDDER_UNAVAILABLE


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"files": {}}', '{"name": "m", "dims": 4, "max_tokens": 9, "files": {}}']
)
def test_a_broken_manifest_is_refused(model_copy: Path, text: str) -> None:
    (model_copy / "manifest.json").write_text(text, "utf-8")
    with pytest.raises(EnvironmentFaultError):
        MiniLmEmbedder(model_copy)


def test_a_model_the_runtime_refuses_is_told(model_copy: Path) -> None:
    (model_copy / "model.onnx").write_bytes(b"not a model")
    manifest = json.loads((model_copy / "manifest.json").read_bytes())
    manifest["files"]["model.onnx"] = hashlib.sha256(b"not a model").hexdigest()
    (model_copy / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(EnvironmentFaultError) as caught:
        MiniLmEmbedder(model_copy)
    assert caught.value.code is Code.EMBEDDER_UNAVAILABLE


def test_another_token_limit_is_another_version(model_copy: Path, embedder: MiniLmEmbedder) -> None:
    manifest = json.loads((model_copy / "manifest.json").read_bytes())
    manifest["max_tokens"] = 128
    (model_copy / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    other = MiniLmEmbedder(model_copy)
    assert other.version != embedder.version
    text = "the kiln reached its temperature before noon " * 60
    assert not np.array_equal(other.embed_one(text), embedder.embed_one(text))


@pytest.mark.starts_process
def test_importing_loads_no_runtime() -> None:
    code = "import sys, core.embed.embedder; sys.exit('onnxruntime' in sys.modules or 'tokenizers' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=False, cwd=Path(__file__).parents[3])
    assert done.returncode == 0
