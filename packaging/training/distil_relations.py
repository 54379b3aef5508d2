"""Make resources/model/relations smaller: a student with fewer layers, taught by the model that ships.

Run by hand after `train_relations.py` made a model, in an environment with the `model` extra of pyproject.toml:

    python packaging/training/distil_relations.py [--teacher FOLDER] [--layers 0 2 4] [--epochs 3]

The student begins with some of the teacher's layers. It learns from the written pairs, with their labels and with what
the teacher says of them, and from pairs that nobody labelled: each text that was written for any model of the project
beside those that are nearest to it in meaning, which is what meets in a vault. One such pair in twenty teaches
nothing: on these the student's temperature and its limits are fitted to what the teacher says, so a share that may be
acted on means what it meant. Must not do: fetch anything, or read a labelled set that measures the model.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "packaging")]

import relation_data as data  # noqa: E402
import relation_net as network  # noqa: E402
import talk_data  # noqa: E402
from build_model import sha256_of  # noqa: E402
from claim_data import load_lines  # noqa: E402
from core.belief.relate.features import Features  # noqa: E402
from core.embed.embedder import lazy_embedder  # noqa: E402
from encoder_net import Shared, find_shared, take_over  # noqa: E402
from relation_card import Scores, write_card  # noqa: E402
from train_relations import TARGET, Logits, onnx_logits, read, softmax, write_onnx  # noqa: E402

NEAR, APART = 3, 0.999
"""Among how many neighbours of a text one is drawn, and the likeness from which two texts are one."""
_SHORTEST, _LONGEST = 12, 240
_HEATS = np.arange(0.5, 3.0, 0.02)
_LIMITS = np.arange(0.6, 0.99, 0.002)


@dataclass(frozen=True)
class TaughtPair:
    """A pair with what the teacher says of it.

    Attributes:
        old: the existing note.
        new: the later one.
        said: the teacher's logits, shape (4,).
        label: an index into LABELS; `network.UNLABELLED` where nobody labelled it.
    """

    old: str
    new: str
    said: NDArray[np.float32]
    label: int = network.UNLABELLED


def read_texts() -> list[str]:
    """Every text that was written for a model of the project, each once, in a fixed order."""
    pairs, _ = data.load()
    found = {text for pair in pairs for text in (pair.old, pair.new)}
    found |= {line.text for line in load_lines() if line.values}
    found |= {one.text for one in talk_data.read_sentences() if one.worth and not one.is_held_out}
    return sorted(text for text in found if _SHORTEST <= len(text) <= _LONGEST)


def neighbour_pairs(texts: Sequence[str], rng: random.Random) -> list[tuple[str, str]]:
    """Each text beside one of the nearest of a random half of the others."""
    vectors = np.asarray(lazy_embedder().embed(texts), np.float32)
    found = []
    halves = np.array([rng.random() < 0.5 for _ in texts])
    for start in range(0, len(texts), 1024):
        likeness = vectors[start : start + 1024] @ vectors.T
        likeness[:, ~halves] = -1
        likeness[likeness > APART] = -1
        for nr, near in enumerate(np.argpartition(-likeness, NEAR, 1)[:, :NEAR]):
            found.append((texts[int(rng.choice(near))], texts[start + nr]))
    return found


def is_for_limits(old: str, new: str) -> bool:
    """Whether an unlabelled pair teaches nothing and fits the limits: one in twenty, told by its texts."""
    return hashlib.sha256(f"{old}\t{new}".encode()).digest()[0] % 20 == 0


def ask_teacher(
    pairs: Sequence[tuple[str, str]], teacher: Path, shared: Shared, keep: Path | None
) -> NDArray[np.float32]:
    """What the teacher says of each pair, shape (pairs, 4); it is asked once where a folder keeps its answers."""
    told = hashlib.sha256(json.dumps([sha256_of(teacher), pairs]).encode()).hexdigest()[:16]
    path = None if keep is None else keep / f"{told}.npy"
    if path is not None and path.exists():
        return np.asarray(np.load(path), np.float32)
    said = onnx_logits(teacher, [read(*pair, shared) for pair in pairs], shared).astype(np.float32)
    if path is not None:
        np.save(path, said)
    return said


def fit_limits(
    said: Logits, taught: Logits, heat: float, sure_at: Mapping[str, float]
) -> tuple[float, dict[str, float]]:
    """A temperature and limits by which the student acts as surely as its teacher.

    Args:
        said: the student's logits of pairs that taught nothing.
        taught: the teacher's of the same.
        heat: the teacher's temperature.
        sure_at: its limits.

    Returns:
        The temperature with the least cross entropy to the teacher's shares, and for each label the least share, not
        below the teacher's, from which the pairs acted on are at least as likely right, by the teacher's shares, as
        those that the teacher acts on.
    """
    wanted = softmax(taught, heat)
    own = float(min(_HEATS, key=lambda each: float(-(wanted * np.log(softmax(said, each) + 1e-9)).sum(1).mean())))
    shares, limits = softmax(said, own), {}
    for label, name in enumerate(data.LABELS):
        acted = (wanted.argmax(1) == label) & (wanted[:, label] >= sure_at[name])
        asked = float(wanted[acted, label].mean())
        won = shares.argmax(1) == label
        fits = [
            limit
            for limit in np.maximum(_LIMITS, sure_at[name])
            if (sure := won & (shares[:, label] >= limit)).any() and wanted[sure, label].mean() >= asked
        ]
        limits[name] = round(float(min(fits, default=_LIMITS[-1])), 4)
    return round(own, 3), limits


def taught_pairs(pairs: Sequence[data.Pair], teacher: Path, shared: Shared, keep: Path | None) -> list[TaughtPair]:
    """The written pairs with their labels, what they imply, and unlabelled ones, each with what the teacher says."""
    implied = data.implied(pairs)
    near = neighbour_pairs(read_texts(), random.Random(1))  # noqa: S311 - repeatable, not secret
    whole = [(pair.old, pair.new) for pair in (*pairs, *implied)] + near
    labels = [*(pair.label for pair in pairs), *([network.UNLABELLED] * (len(implied) + len(near)))]
    said = ask_teacher(whole, teacher, shared, keep)
    return [TaughtPair(*pair, row, label) for pair, row, label in zip(whole, said, labels, strict=True)]


def rows_of(pairs: Sequence[TaughtPair], shared: Shared) -> Iterator[network.Sample]:
    """The pairs as the network learns from them."""
    for pair in pairs:
        yield network.Sample(read(pair.old, pair.new, shared), pair.label, 1.0, pair.said)


def describe_agreement(said: Logits, taught: Logits) -> dict[str, float]:
    """How often the student says what its teacher says, of all pairs and by label of the teacher."""
    own, wanted = said.argmax(1), taught.argmax(1)
    found = {"pairs": len(own), "all": float((own == wanted).mean())}
    found |= {name: float((own == wanted)[wanted == nr].mean()) for nr, name in enumerate(data.LABELS)}
    return {name: round(value, 4) for name, value in found.items()}


def make(arguments: argparse.Namespace) -> None:
    """Teach, fit the limits, and write model and manifest."""
    importlib.import_module("torch").set_num_threads(arguments.threads)
    shared, teacher = find_shared(), arguments.teacher / "model.onnx"
    manifest = json.loads((arguments.teacher / "manifest.json").read_text("utf-8"))
    pairs, _ = data.load()
    known = taught_pairs(pairs, teacher, shared, arguments.keep)
    limiting = [pair for pair in known if pair.label == network.UNLABELLED and is_for_limits(pair.old, pair.new)]
    teaching = [pair for pair in known if pair.label != network.UNLABELLED or not is_for_limits(pair.old, pair.new)]
    print(f"{len(teaching)} pairs teach, {len(limiting)} fit the limits", flush=True)
    recipe = network.Recipe(layers=tuple(arguments.layers), epochs=arguments.epochs, rate=arguments.rate)
    net = network.build(shared.weights, recipe)
    take_over(net, teacher, recipe.layers)
    rows = list(rows_of(teaching, shared))
    network.train(net, lambda _: rows, shared.table, recipe)
    arguments.target.mkdir(parents=True, exist_ok=True)
    write_onnx(net, arguments.target / "model.onnx")
    features: list[Features] = [read(pair.old, pair.new, shared) for pair in limiting]
    said = onnx_logits(arguments.target / "model.onnx", features, shared)
    taught = np.stack([pair.said for pair in limiting]).astype(np.float64)
    calibration = manifest["calibration"]
    heat, limits = fit_limits(said, taught, calibration["temperature"], calibration["sure_at"])
    student = {
        "layers": list(recipe.layers),
        "epochs": recipe.epochs,
        "teacher": sha256_of(teacher),
        "taught_by": len(teaching),
        "agreement": describe_agreement(said, taught),
    }
    manifest["files"]["model.onnx"] = sha256_of(arguments.target / "model.onnx")
    manifest["calibration"] = calibration | {"temperature": heat, "sure_at": limits}
    manifest["student"] = student
    print(json.dumps({"temperature": heat, "sure_at": limits, **student}), flush=True)
    (arguments.target / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")
    write_card(arguments.target / "CARD.md", manifest, Scores(**manifest["held_back"]))


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--teacher", type=Path, default=TARGET, help="the folder of the model that teaches")
    parser.add_argument(
        "--layers", type=int, nargs="+", default=[0, 2, 4], help="of the teacher, that the student keeps"
    )
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rate", type=float, default=network.Recipe.rate)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a folder for the teacher's answers, to go on after a stop")
    parser.add_argument("--target", type=Path, default=TARGET)
    make(parser.parse_args())


if __name__ == "__main__":
    main()
