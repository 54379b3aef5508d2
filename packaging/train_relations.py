"""Make resources/model/relations: train on the project's own pairs, calibrate, quantise, describe.

Run by hand when the pairs or the embedder change, in an environment with the
`model` extra of pyproject.toml:

    python packaging/train_relations.py [--folds 6] [--tested 1] [--epochs 4] [--seeds 3] [--again]

The result is committed, so nobody else ever needs torch. It reads the weights that
`build_model.py` reads and the pairs in `packaging/training/relations`. Must not do:
fetch anything, or read a labelled set that measures the model.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import relation_data as data  # noqa: E402
import relation_net as network  # noqa: E402
from build_model import find_source, quantise, sha256_of  # noqa: E402
from core.belief.relation_features import Features, encode, prepare  # noqa: E402
from relation_card import Scores, write_card  # noqa: E402

TARGET = ROOT / "resources" / "model" / "relations"
ENCODER = ROOT / "resources" / "model" / "minilm"
WORDS = "encoder.embeddings.word_embeddings.weight"
ACTED_ON = 0.8
PRECISE = {0: 0.95, 1: 0.95, 2: 0.95, 3: 0.90}
"""The least precision on held-back pairs of a label given with ACTED_ON or more."""

LEAST_SURE = 0.6, 0.99
"""The bounds of a share from which a label is acted on."""

Logits = NDArray[np.float64]


@dataclass(frozen=True)
class Calibration:
    """What `core.belief.relation_runtime.probabilities` is given."""

    temperature: float
    sure_at: dict[str, float]


@dataclass(frozen=True)
class Shared:
    """What the relation model takes from the embedder.

    Attributes:
        weights: the published float weights the layers start from.
        table: the word vectors as the shipped int8 file holds them, in float.
        place: where they lie in that file, for the manifest.
        tokenizer: the embedder's.
    """

    weights: dict[str, Any]
    table: NDArray[np.float32]
    place: dict[str, Any]
    tokenizer: Any


def find_shared() -> Shared:
    """Open the embedder that ships and the float weights it was made from.

    Returns:
        Both, and where the word vectors lie.

    Raises:
        SystemExit: the word vectors are not there exactly once.
    """
    onnx = importlib.import_module("onnx")
    weights = importlib.import_module("safetensors.torch").load_file(str(find_source().folder / "model.safetensors"))
    path = ENCODER / "model.onnx"
    parts = {p.name: p for p in onnx.load(str(path)).graph.initializer if p.name.startswith(WORDS)}
    values = {name: onnx.numpy_helper.to_array(part) for name, part in parts.items()}
    words = values[f"{WORDS}_quantized"]
    scale, zero = float(values[f"{WORDS}_scale"]), int(values[f"{WORDS}_zero_point"])
    whole, raw = path.read_bytes(), words.tobytes()
    offset = whole.find(raw)
    if offset < 0 or whole.find(raw, offset + 1) >= 0 or words.dtype != np.uint8:
        sys.exit("The word vectors are not in the embedder's file exactly once.")
    place = {
        "model.onnx": sha256_of(path),
        "tokenizer.json": sha256_of(ENCODER / "tokenizer.json"),
        "offset": offset,
        "words": words.shape[0],
        "width": words.shape[1],
        "scale": scale,
        "zero": zero,
    }
    tokenizer = importlib.import_module("tokenizers").Tokenizer.from_file(str(ENCODER / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    table = (words.astype(np.float32) - np.float32(zero)) * np.float32(scale)
    return Shared(weights, table, place, tokenizer)


def read(pair_old: str, pair_new: str, shared: Shared) -> Features:
    """A pair as the program will read it."""
    return encode(shared.tokenizer, prepare(pair_old), prepare(pair_new))


def fit(pairs: Sequence[data.Pair], shared: Shared, recipe: network.Recipe) -> Any:
    """Train one model.

    Args:
        pairs: the written pairs it may see.
        shared: the embedder.
        recipe: how.

    Returns:
        The trained model.
    """
    implied = data.implied(pairs)

    def rows(epoch: int) -> list[network.Sample]:
        rng = random.Random(recipe.seed * 1000 + epoch)  # noqa: S311 - repeatable, not secret
        return [
            network.Sample(read(*data.dressed(pair, rng), shared), pair.label, pair.weight)
            for pair in [*pairs, *rng.sample(implied, len(implied) // 2), *data.varied(pairs, rng)]
        ]

    net = network.build(shared.weights, recipe)
    network.train(net, rows, shared.table, recipe)
    return net


def write_onnx(net: Any, target: Path) -> None:
    """Export and quantise a model."""
    with tempfile.TemporaryDirectory() as folder:
        exact = Path(folder) / "float.onnx"
        network.export(net, exact)
        quantise(exact, target)


def onnx_logits(path: Path, rows: Sequence[Features], shared: Shared) -> Logits:
    """What an ONNX file says of each row, shape (len(rows), 4)."""
    session = importlib.import_module("onnxruntime").InferenceSession(str(path), providers=["CPUExecutionProvider"])
    out = []
    for row in rows:
        feed = {"words": shared.table[row.ids][None], "kinds": row.kinds[None], "figures": row.figures[None]}
        out.append(session.run(None, feed)[0][0])
    return np.asarray(out, np.float64)


def averaged(pairs: Sequence[data.Pair], shared: Shared, recipe: network.Recipe, seeds: int) -> Any:
    """The mean of several models that differ in the order of their rows alone.

    It is surer than any of them: on held-back pairs more SUPERSEDE can be acted on at the same precision.
    """
    return network.mean_of([fit(pairs, shared, network.seeded(recipe, seed + 1)) for seed in range(seeds)])


def held_back(
    pairs: Sequence[data.Pair], shared: Shared, recipe: network.Recipe, arguments: argparse.Namespace
) -> tuple[Logits, NDArray[np.int64], bytes]:
    """Logits of pairs by int8 models that never saw a pair of their group.

    Args:
        pairs: the written pairs.
        shared: the embedder.
        recipe: how each model is trained.
        arguments: how many folds there are, how many of them are held back in turn, how many seeds.

    Returns:
        Logits of shape (held back, 4), labels, and the last of the models.
    """
    places = data.folds(pairs, arguments.folds, seed=7)
    parts: list[Logits] = []
    labels: list[int] = []
    model = b""
    for fold in range(arguments.tested):
        net = averaged([p for p, at in zip(pairs, places, strict=True) if at != fold], shared, recipe, arguments.seeds)
        mine = [p for p, at in zip(pairs, places, strict=True) if at == fold]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.onnx"
            write_onnx(net, path)
            model = path.read_bytes()
            parts.append(onnx_logits(path, [read(p.old, p.new, shared) for p in mine], shared))
        labels.extend(p.label for p in mine)
        right = parts[-1].argmax(1) == np.array([p.label for p in mine])
        print(f"fold {fold + 1} of {arguments.folds}: {right.mean():.3f} of {len(mine)} right", flush=True)
    return np.concatenate(parts), np.array(labels), model


def softmax(logits: Logits, heat: float) -> Logits:
    """Probabilities at a temperature."""
    scaled = np.exp((logits - logits.max(1, keepdims=True)) / heat)
    return np.asarray(scaled / scaled.sum(1, keepdims=True), np.float64)


def calibrate(logits: Logits, labels: NDArray[np.int64]) -> Calibration:
    """What turns the shares of the softmax into probabilities one may act on.

    The likeliest temperature for all pairs; then, for each label, the least share from which it is right as often as
    PRECISE asks.

    Args:
        logits: held-back logits.
        labels: what is right.

    Returns:
        Both.
    """
    rows = np.arange(len(labels))
    heats = np.arange(0.5, 4.0, 0.02)
    losses = [-np.log(softmax(logits, heat)[rows, labels] + 1e-12).mean() for heat in heats]
    heat = round(float(heats[int(np.argmin(losses))]), 2)
    shares = softmax(logits, heat)
    sure_at = {}
    for label, name in enumerate(data.LABELS):
        won = shares.argmax(1) == label
        sure_at[name] = _sure_at(shares[won, label], labels[won] == label, PRECISE[label])
    return Calibration(heat, sure_at)


def _sure_at(shares: Logits, right: NDArray[np.bool_], precise: float) -> float:
    order = np.argsort(-shares)
    precision = right[order].cumsum() / np.arange(1, len(order) + 1)
    good = np.flatnonzero(precision >= precise)
    # Half way to the next lower share: the pair at the edge is in, the next is out.
    ends = np.append(shares[order], 0.5)
    edge = float(ends[good[-1]] + ends[good[-1] + 1]) / 2 if len(good) else LEAST_SURE[1]
    return round(min(LEAST_SURE[1], max(LEAST_SURE[0], edge)), 4)


def scored(logits: Logits, labels: NDArray[np.int64], calibration: Calibration) -> Scores:
    """The held-back figures for the manifest and the card."""
    shares = softmax(logits, calibration.temperature)
    winners = shares.argmax(1)
    confusion = np.zeros((4, 4), int)
    np.add.at(confusion, (labels, winners), 1)
    acted = {}
    for label, name in enumerate(data.LABELS):
        sure = (winners == label) & (shares[:, label] >= calibration.sure_at[name])
        acted[name] = {
            "precision": round(float((labels[sure] == label).mean()), 4) if sure.any() else None,
            "coverage": round(float((labels[sure] == label).sum() / max(1, (labels == label).sum())), 4),
        }
    return Scores(len(labels), round(float((winners == labels).mean()), 4), confusion.tolist(), acted)


def write_manifest(shared: Shared, trained: dict[str, Any], fitted: Calibration, scores: Scores) -> dict[str, Any]:
    """Describe the files with their checksums.

    Args:
        shared: the embedder.
        trained: hash, counts and recipe of the training.
        fitted: the calibration.
        scores: held-back figures.

    Returns:
        What was written.
    """
    manifest: dict[str, Any] = {
        "name": "loci-relations",
        "labels": list(data.LABELS),
        "files": {name: sha256_of(TARGET / name) for name in ("model.onnx", "words.json")},
        "shared": shared.place,
        "calibration": {"acted_on": ACTED_ON, **asdict(fitted)},
        "training": trained,
        "held_back": scores.as_dict(),
    }
    (TARGET / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")
    return manifest


def make(arguments: argparse.Namespace) -> None:
    """Train, calibrate and write everything."""
    importlib.import_module("torch").set_num_threads(arguments.threads)
    pairs, digest = data.load()
    print(f"{len(pairs)} pairs: {data.counted(pairs)}")
    shared = find_shared()
    recipe = network.Recipe(epochs=arguments.epochs, layers=tuple(arguments.layers))
    logits, labels, model = held_back(pairs, shared, recipe, arguments)
    fitted = calibrate(logits, labels)
    scores = scored(logits, labels, fitted)
    print(json.dumps({**asdict(fitted), "held_back": scores.as_dict()}), flush=True)
    if arguments.keep is not None:
        np.savez(arguments.keep, logits=logits, labels=labels)
    if arguments.again:
        write_onnx(averaged(pairs, shared, recipe, arguments.seeds), TARGET / "model.onnx")
    else:
        (TARGET / "model.onnx").write_bytes(model)
    trained = {
        "pairs": len(pairs),
        "sha256": digest,
        "labels": data.counted(pairs),
        "layers": list(recipe.layers),
        "epochs": recipe.epochs,
        "seeds": arguments.seeds,
        "folds": arguments.folds,
        "tested": arguments.tested,
        "learned_from_all": arguments.again,
    }
    (TARGET / "LICENSE").write_text(find_source().licence, "utf-8")
    manifest = write_manifest(shared, trained, fitted, scores)
    write_card(TARGET / "CARD.md", manifest, scores)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=6)
    parser.add_argument("--tested", type=int, default=1, help="how many of the folds are held back in turn")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=3, help="models whose weights are averaged")
    parser.add_argument("--layers", type=int, nargs="+", default=[0, 1, 2, 3, 4, 5])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="ship a model trained once more, on all pairs")
    parser.add_argument("--keep", type=Path, help="a file for the held-back logits")
    make(parser.parse_args())


if __name__ == "__main__":
    main()
