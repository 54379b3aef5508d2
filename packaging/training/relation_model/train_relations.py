"""Make resources/model/relations: train on the project's own pairs, calibrate, quantise, describe.

Run by hand when the pairs or the embedder change, in an environment with the
`model` extra of pyproject.toml:

    python packaging/training/relation_model/train_relations.py [--epochs 4] [--seeds 1] [--keep FOLDER]

What ships goes on from the mean of the weights of three models or more: one that never saw the file `work`, one that
never saw `personal`, neither of which saw `paraphrase2`, and those that learned from every pair but the everyday ones
(EVERYDAY), which the last passes add (`settled`). The first two say how often the model is right about pairs of a file
it has not seen, and from which share on it may be acted on; a second settled model that did not see four files of
everyday pairs reads those.

`train_heads.py` goes on from what this writes, and has to: without it the program takes the model for broken.
The result is committed, so nobody else ever needs torch. It reads the weights that
`build_model.py` reads and the pairs in `packaging/training/relations`. Must not do:
fetch anything, or read a labelled set that measures the model.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "packaging"), str(ROOT / "packaging" / "training")]

import relation_data as data  # noqa: E402
import relation_net as network  # noqa: E402
from build_model import find_source, quantise, sha256_of  # noqa: E402
from core.belief.relate.features import Features, encode_pair, prepare_text  # noqa: E402
from encoder_net import Shared, find_shared, fuse_layers, mean_of  # noqa: E402
from relation_card import Scores, write_card  # noqa: E402

TARGET = ROOT / "resources" / "model" / "relations"
ACTED_ON = 0.8
TURNS = "work", "personal"
"""The files that are held back in turn, each from a model of its own."""

COMMON = "paraphrase2"
"""The file that no such model sees; the mean of them reads it."""

EVERYDAY = (*(f"remarks{n}" for n in ("", *range(2, 6))), *(f"stories{n}" for n in range(1, 21)))
"""Remarks and small stories beside facts: most of what meets in a vault. They are learned last."""

UNHEARD = "remarks2", "remarks3", "stories3", "stories9"
"""Those that a second settled model does not see, to measure what it makes of other people's remarks."""

LAST_SEEDS = 11, 12, 13
"""Of the passes over every pair whose mean ships."""

PRECISE = {0: 0.95, 1: 0.94, 2: 0.94, 3: 0.90}
"""What the precision of a label given with ACTED_ON or more is above, on held-back pairs, at nine in ten (`lower`).

A SUPERSEDE or MERGE that is acted on has to be right 19 times in 20 on notes of any writer, so they have a margin."""

NINE_IN_TEN = 1.2816
"""The standard normal quantile of a one-sided bound that holds nine times in ten."""

LEAST_SURE = 0.6, 0.99
"""The bounds of a share from which a label is acted on."""

Logits = NDArray[np.float64]


@dataclass(frozen=True)
class Calibration:
    """What `core.belief.relate.relation_model.probabilities` is given."""

    temperature: float
    sure_at: dict[str, float]


def read(pair_old: str, pair_new: str, shared: Shared) -> Features:
    """A pair as the program will read it."""
    return encode_pair(shared.tokenizer, prepare_text(pair_old), prepare_text(pair_new))


def fit(pairs: Sequence[data.Pair], shared: Shared, recipe: network.Recipe, begun: Any = None) -> Any:
    """Train one model.

    Args:
        pairs: the written pairs it may see.
        begun: the model to go on from; None to begin with the embedder's layers.
    """
    implied = data.implied(pairs)

    def rows(epoch: int) -> list[network.Sample]:
        rng = random.Random(recipe.seed * 1000 + epoch)  # noqa: S311 - repeatable, not secret
        return [
            network.Sample(read(*data.dressed(pair, rng), shared), pair.label, pair.weight)
            for pair in [*pairs, *rng.sample(implied, len(implied) // 2), *data.varied(pairs, rng)]
        ]

    net = network.build(shared.weights, recipe) if begun is None else begun
    network.train(net, rows, shared.table, recipe)
    return net


def write_onnx(net: Any, target: Path) -> None:
    """Export and quantise a model."""
    with tempfile.TemporaryDirectory() as folder:
        exact = Path(folder) / "float.onnx"
        network.export(net, exact)
        quantise(exact, target)
    fuse_layers(target)


def onnx_outputs(path: Path, rows: Sequence[Features], shared: Shared, output: str = "logits") -> Logits:
    """What an ONNX file says of each row, shape (len(rows), 4), or (len(rows), 1) of "answers"."""
    session = importlib.import_module("onnxruntime").InferenceSession(str(path), providers=["CPUExecutionProvider"])
    out = []
    for row in rows:
        feed = {"words": shared.table[row.ids][None], "kinds": row.kinds[None], "figures": row.figures[None]}
        out.append(session.run([output], feed)[0][0])
    return np.asarray(out, np.float64)


def fitted(pairs: Sequence[data.Pair], shared: Shared, recipe: network.Recipe, keep: Path | None) -> Any:
    """Train one model, or take it up again where an earlier run of this script left it.

    Args:
        pairs: the written pairs it may see.
        keep: the folder of trained weights, named by what they depend on; None to keep nothing.
    """
    told = json.dumps([asdict(recipe), [[p.old, p.new, p.label] for p in pairs]])
    path = None if keep is None else keep / f"{hashlib.sha256(told.encode()).hexdigest()[:16]}.pt"
    if path is None or not path.exists():
        net = fit(pairs, shared, recipe)
        if path is not None:
            importlib.import_module("torch").save(net.state_dict(), path)
        return net
    net = network.build(shared.weights, recipe)
    net.load_state_dict(importlib.import_module("torch").load(path))
    return net


def settled(nets: Sequence[Any], pairs: Sequence[data.Pair], shared: Shared, recipe: network.Recipe) -> Any:
    """Passes after several models' weights were averaged: one over all but EVERYDAY, then two over every pair.

    The mean lies between the models: it is right more often than any of them, but unsure of plain pairs, and of the
    files that some of them had not seen. The passes over every pair are made for each of LAST_SEEDS and averaged again.
    """
    short = replace(recipe, epochs=1, rate=8e-5, head_rate=3e-4, seed=9)
    first = fit(data.without(pairs, EVERYDAY), shared, short, mean_of(nets))
    last = replace(short, epochs=2, rate=1e-4)
    return mean_of([fit(pairs, shared, replace(last, seed=seed), mean_of([first])) for seed in LAST_SEEDS])


@dataclass(frozen=True)
class Reading:
    """What a model said of the pairs of a file it had not seen.

    Attributes:
        file: the file.
        logits: shape (pairs, 4), those of a mean of models made as steep as those of one (`flatness`).
        labels: what is right, shape (pairs,).
    """

    file: str
    logits: Logits
    labels: NDArray[np.int64]

    @property
    def summary(self) -> dict[str, float]:
        """How many pairs were read, and the share that was right."""
        return {"pairs": len(self.labels), "accuracy": round(float((self.logits.argmax(1) == self.labels).mean()), 4)}


@dataclass(frozen=True)
class HeldBack:
    """Models that a file was held back from, and what they said of it.

    Attributes:
        nets: the models.
        readings: by file.
    """

    nets: list[Any]
    readings: list[Reading]

    @property
    def logits(self) -> Logits:
        """Of every pair, shape (pairs, 4)."""
        return np.concatenate([one.logits for one in self.readings])

    @property
    def labels(self) -> NDArray[np.int64]:
        """Of every pair, shape (pairs,)."""
        return np.concatenate([one.labels for one in self.readings])

    @property
    def files(self) -> dict[str, dict[str, float]]:
        """The summary of each file."""
        return {one.file: one.summary for one in self.readings}


def flatness(net: Any, peers: Sequence[Any], pairs: Sequence[data.Pair], shared: Shared) -> float:
    """How much smaller a model's logits are than those of its peers: it is less sure in figures, not in fact.

    Measured on the texts of the file COMMON, without their labels.

    Args:
        net: the model, made from several.
        peers: models that saw what it saw of that file.
        pairs: the written pairs.

    Returns:
        About 0.9 to 1; what the temperature is multiplied by.
    """
    rows = [read(pair.old, pair.new, shared) for pair in pairs if pair.source == COMMON]
    own = [float(network.outputs_of(peer, rows, shared.table)[0].std()) for peer in peers]
    return float(network.outputs_of(net, rows, shared.table)[0].std()) * len(own) / sum(own)


def held_back(pairs: Sequence[data.Pair], shared: Shared, recipe: network.Recipe, keep: Path | None) -> HeldBack:
    """Train the models that a file is held back from, and have each read its file.

    A file was written by itself, so one that was never seen tells more of other people's notes than a few pairs held
    back from every file.

    Args:
        recipe: how each model is trained.
        keep: the folder of trained weights, or None.

    Returns:
        The models and what they said, each as the int8 file it would be shipped as.
    """
    seen = [data.without(pairs, (file, COMMON, *EVERYDAY)) for file in TURNS]
    nets = [fitted(mine, shared, network.seeded(recipe, i + 1), keep) for i, mine in enumerate(seen)]
    common = mean_of(nets)
    read_by = [(file, net, mine, 1.0) for file, net, mine in zip(TURNS, nets, seen, strict=True)]
    flat = flatness(common, nets, pairs, shared)
    read_by.append((COMMON, common, [pair for mine in seen for pair in mine], flat))
    return HeldBack(nets, [reading(file, net, (pairs, learned), shared, flat) for file, net, learned, flat in read_by])


def reading(
    file: str, net: Any, known: tuple[Sequence[data.Pair], Sequence[data.Pair]], shared: Shared, flat: float = 1.0
) -> Reading:
    """Have a model read a file that it did not see, as the int8 file it would be shipped as.

    Args:
        known: every written pair, and those that it learned from.
        flat: what its logits are divided by (`flatness`).

    Returns:
        What it said.
    """
    mine = data.unseen(known[0], file, known[1])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        write_onnx(net, path)
        logits = onnx_outputs(path, [read(p.old, p.new, shared) for p in mine], shared) / flat
    return Reading(file, logits, np.array([p.label for p in mine]))


def softmax(logits: Logits, heat: float) -> Logits:
    """Probabilities at a temperature."""
    scaled = np.exp((logits - logits.max(1, keepdims=True)) / heat)
    return np.asarray(scaled / scaled.sum(1, keepdims=True), np.float64)


def calibrate(logits: Logits, labels: NDArray[np.int64]) -> Calibration:
    """What turns the shares of the softmax into probabilities one may act on.

    The likeliest temperature for all pairs; then, for each label, the least share from which it is right as often as
    PRECISE asks, even if the held-back pairs were lucky.

    Args:
        logits: held-back logits.
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


def lower(right: NDArray[np.int64], given: NDArray[np.int64]) -> Logits:
    """What a share that was found is above, nine times in ten: Wilson's bound, one-sided.

    Args:
        right: how many were right.
        given: of how many, each at least 1.

    Returns:
        Bounds from 0 to 1.
    """
    share, square = right / given, NINE_IN_TEN**2
    spread = NINE_IN_TEN * np.sqrt(share * (1 - share) / given + square / (4 * given**2))
    return np.asarray((share + square / (2 * given) - spread) / (1 + square / given), np.float64)


def _sure_at(shares: Logits, right: NDArray[np.bool_], precise: float) -> float:
    order = np.argsort(-shares)
    good = np.flatnonzero(lower(right[order].cumsum(), np.arange(1, len(order) + 1)) >= precise)
    # Half way to the next lower share: the pair at the edge is in, the next is out.
    ends = np.append(shares[order], 0.5)
    edge = float(ends[good[-1]] + ends[good[-1] + 1]) / 2 if len(good) else LEAST_SURE[1]
    return round(min(LEAST_SURE[1], max(LEAST_SURE[0], edge)), 4)


def scored(held: HeldBack, calibration: Calibration) -> Scores:
    """The held-back figures for the manifest and the card."""
    logits, labels = held.logits, held.labels
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
    return Scores(len(labels), round(float((winners == labels).mean()), 4), confusion.tolist(), acted, held.files)


def write_manifest(shared: Shared, trained: dict[str, Any], fitted: Calibration, scores: Scores) -> dict[str, Any]:
    """Describe the files with their checksums.

    Args:
        trained: hash, counts and recipe of the training.
        scores: held-back figures.

    Returns:
        What was written.
    """
    right_above = {name: PRECISE[label] for label, name in enumerate(data.LABELS)}
    manifest: dict[str, Any] = {
        "name": "loci-relations",
        "labels": list(data.LABELS),
        "files": {name: sha256_of(TARGET / name) for name in ("model.onnx", "words.json")},
        "shared": shared.place,
        "calibration": {"acted_on": ACTED_ON, **asdict(fitted), "right_above": right_above},
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
    held = held_back(pairs, shared, recipe, arguments.keep)
    seeds = [len(TURNS) + 1 + seed for seed in range(arguments.seeds)]
    plain = data.without(pairs, EVERYDAY)
    whole = [fitted(plain, shared, network.seeded(recipe, seed), arguments.keep) for seed in seeds]
    nets = [*held.nets, *whole]
    heard = data.without(pairs, UNHEARD)
    other = settled(nets, heard, shared, recipe)
    held = HeldBack(held.nets, [*held.readings, *(reading(file, other, (pairs, heard), shared) for file in UNHEARD)])
    net = settled(nets, pairs, shared, recipe)
    write_onnx(net, TARGET / "model.onnx")
    calibration = calibrate(held.logits, held.labels)
    scores = scored(held, calibration)
    print(json.dumps({**asdict(calibration), "held_back": scores.as_dict()}), flush=True)
    flat = round(flatness(net, [other], pairs, shared), 3)
    shipped = replace(calibration, temperature=round(calibration.temperature * flat, 3))
    trained = {
        "pairs": len(pairs),
        "sha256": digest,
        "labels": data.counted(pairs),
        "layers": list(recipe.layers),
        "epochs": recipe.epochs,
        "models": len(nets),
        "flatness": flat,
        "learned_from_all": len(whole),
    }
    (TARGET / "LICENSE").write_text(find_source().licence, "utf-8")
    manifest = write_manifest(shared, trained, shipped, scores)
    write_card(TARGET / "CARD.md", manifest, scores)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=1, help="models that learn from every pair")
    parser.add_argument("--layers", type=int, nargs="+", default=[0, 1, 2, 3, 4, 5])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="a folder for trained weights, to go on after a stop")
    make(parser.parse_args())


if __name__ == "__main__":
    main()
