"""Make resources/model/reader: train on the project's own talk, calibrate, quantise, measure, describe.

Run by hand when the talk or the embedder change, in an environment with the `model` extra of pyproject.toml:

    python packaging/training/train_reader.py --whole --layers 0 1 2 3 --epochs 4 --seeds 3 --target TEACHER
    python packaging/training/train_reader.py --teacher TEACHER --layers 0 1 3

The first makes a larger reader, every layer of which renews what was said before too. The second, of fewer layers that
renew the sentence alone, begins with its weights and learns from the labels and from what it says: it is the one that
ships. Half of the authors, told by a digest of their name, are held out from every fit; the figures of the card are
theirs. Of the other half one author in ten calibrates and the rest teach. The result is committed, so nobody else ever
needs torch. Must not do: fetch anything, or read a labelled set that measures the reader.
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
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "packaging"), str(ROOT / "packaging" / "training" / "relation_model")]

import reader_net as network  # noqa: E402
import relation_data  # noqa: E402
import talk_data as data  # noqa: E402
from build_model import find_source, quantise, sha256_of  # noqa: E402
from core.talk.reader_features import (  # noqa: E402
    ASSERTIONS,
    SPANS,
    TYPES,
    TextTokens,
    encode_sentence,
    token_span,
)
from core.types.talk import SentenceInContext  # noqa: E402
from encoder_net import Shared, find_shared, fuse_own_layers, mean_of, take_over  # noqa: E402
from reader_card import describe, measure  # noqa: E402

TARGET = ROOT / "resources" / "model" / "reader"
NOTES = 1_500
_TYPE = {kind.value: nr for nr, kind in enumerate(TYPES)}
_ASSERTION = {kind.value: nr for nr, kind in enumerate(ASSERTIONS)}


def is_calibrating(sentence: data.LabelledSentence) -> bool:
    """Whether its author is of the tenth that calibrates; asked only of authors that are not held out."""
    return hashlib.sha256(sentence.author.encode()).digest()[1] % 10 == 0


def sample_of(sentence: data.LabelledSentence, shared: Shared, *, text: str = "", bare: bool = False) -> network.Sample:
    """A sentence as the reader sees it, with its labels.

    Args:
        sentence: with its labels.
        shared: the tokenizer.
        text: the sentence in another dress of the same length; "" for its own.
        bare: without what was said before it.
    """
    before = () if bare else sentence.before
    features = encode_sentence(TextTokens(shared.tokenizer), SentenceInContext(text or sentence.text, before))
    is_typed = sentence.worth > 0 or sentence.type == "none"  # nobody read the type of a question again
    kind = _TYPE[sentence.type] if is_typed else network.UNKNOWN
    lasting = int(sentence.is_lasting) if sentence.worth else network.UNKNOWN
    labels = kind, _ASSERTION[sentence.asserted], lasting, sentence.worth
    pointers: list[int] = []
    for name in SPANS:
        span = sentence.spans.get(name)
        found = None if span is None else token_span(features.offsets, span.start, span.end)
        pointers += found or (0, 0)
    return network.Sample(features, labels, tuple(pointers))


def dressed(sentence: data.LabelledSentence, shared: Shared, rng: random.Random) -> network.Sample:
    """The sentence as it stands, or now and then in small letters, without its end mark, or without its context."""
    text = sentence.text
    if rng.random() < 0.15:
        small = text.lower()
        text = small if len(small) == len(text) else text
    if rng.random() < 0.15 and text.endswith(".") and not any(s.end == len(text) for s in sentence.spans.values()):
        text = text[:-1]
    return sample_of(sentence, shared, text=text, bare=rng.random() < 0.12)


def plain_notes() -> list[str]:
    """Notes of the relation pairs, which all state something: how people write to an assistant that remembers."""
    pairs, _ = relation_data.load()
    notes = sorted({pair.old for pair in pairs if 12 <= len(pair.old) <= 160 and pair.old[-1] != "?"})
    return random.Random(1).sample(notes, NOTES)  # noqa: S311 - repeatable, not secret


def note_sample(note: str, shared: Shared) -> network.Sample:
    """A note as a sentence whose type, duration and spans nobody labelled."""
    labels = network.UNKNOWN, network.UNKNOWN, network.UNKNOWN, 2
    pointers = (network.UNKNOWN,) * (2 * len(SPANS))
    return network.Sample(encode_sentence(TextTokens(shared.tokenizer), SentenceInContext(note)), labels, pointers)


class Runner:
    """A written model, which says of a sentence what it says in the program: one a run; it keeps what it said."""

    def __init__(self, path: Path, shared: Shared) -> None:
        """Open it."""
        runtime = importlib.import_module("onnxruntime")
        self._session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        self._shared = shared
        self._said: dict[bytes, tuple[NDArray[np.float32], NDArray[np.float32]]] = {}

    def say(self, row: network.Sample) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Its logits of the sentence, and of the first token and those of the sentence."""
        features = row.features
        key = features.ids.tobytes() + features.kinds.tobytes()
        if key not in self._said:
            words = self._shared.table[features.ids][None]
            sentence, tokens = self._session.run(None, {"words": words, "kinds": features.kinds[None]})
            self._said[key] = sentence[0], tokens[0, : len(features.offsets) + 1]
        return self._said[key]

    def say_all(self, rows: Sequence[network.Sample]) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """Likewise of each of several, in double precision."""
        return [(sentence.astype(np.float64), tokens.astype(np.float64)) for sentence, tokens in map(self.say, rows)]


def fit_temperature(logits: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """The temperature of a softmax, 0.5 to 3, with the least cross entropy."""

    def entropy(temperature: float) -> float:
        scaled = logits / temperature
        shifted = scaled - scaled.max(1, keepdims=True)
        shares = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
        return float(-shares[np.arange(len(labels)), labels].mean())

    return float(min(np.arange(0.5, 3.01, 0.02), key=entropy))


def fit_all(said: list[tuple[NDArray[Any], NDArray[Any]]], rows: Sequence[network.Sample]) -> dict[str, float]:
    """A temperature for each part of what the reader says of a sentence."""
    pooled = np.stack([sentence for sentence, _ in said])
    labels = np.array([row.labels for row in rows])
    first, second = len(TYPES), len(TYPES) + len(ASSERTIONS)
    parts = {
        "type": pooled[:, :first],
        "assertion": pooled[:, first:second],
        "lasting": np.stack([np.zeros(len(pooled)), pooled[:, second]], 1),
        "worth": pooled[:, second + 1 :],
    }
    known = {name: labels[:, nr] != network.UNKNOWN for nr, name in enumerate(parts)}
    return {
        name: round(fit_temperature(part[known[name]], labels[known[name], nr]), 2)
        for nr, (name, part) in enumerate(parts.items())
    }


def train_models(
    recipe: network.Recipe,
    seeds: int,
    teaching: Sequence[data.LabelledSentence],
    notes: Sequence[str],
    shared: Shared,
    teacher: Path | None,
) -> Any:
    """The mean of models that began alike.

    Args:
        recipe: how each is trained.
        seeds: how many.
        teaching: sentences with labels.
        notes: plain notes.
        shared: what they take from the embedder.
        teacher: a model whose weights they begin with, and that says what they are to say; None for none.
    """
    teaches = None if teacher is None else Runner(teacher, shared)
    nets = []
    for seed in range(1, seeds + 1):

        def epoch_rows(epoch: int, seed: int = seed) -> list[network.Sample]:
            rng = random.Random(100 * seed + epoch)  # noqa: S311 - repeatable, not secret
            rows = [*(dressed(each, shared, rng) for each in teaching), *(note_sample(note, shared) for note in notes)]
            return rows if teaches is None else [replace(row, taught=teaches.say(row)) for row in rows]

        nets.append(network.build(shared.weights, recipe))
        if teacher is not None:
            take_over(nets[-1], teacher, recipe.layers)
        network.train(nets[-1], epoch_rows, shared.table, replace(recipe, seed=seed))
        print(f"model {seed} of {seeds}", flush=True)
    return mean_of(nets)


def make(arguments: argparse.Namespace) -> None:
    """Train, calibrate and write everything."""
    importlib.import_module("torch").set_num_threads(arguments.threads)
    sentences = list(data.read_sentences())
    held = [each for each in sentences if each.is_held_out]
    known = [each for each in sentences if not each.is_held_out]
    tuning = [each for each in known if is_calibrating(each)]
    teaching = [each for each in known if not is_calibrating(each)]
    print(f"{len(teaching)} teach, {len(tuning)} calibrate, {len(held)} are held out", flush=True)
    shared = find_shared()
    notes = plain_notes()
    recipe = network.Recipe(
        epochs=arguments.epochs, layers=tuple(arguments.layers), rate=arguments.rate, renews_all=arguments.whole
    )
    teacher = None if arguments.teacher is None else arguments.teacher / "model.onnx"
    net = train_models(recipe, arguments.seeds, teaching, notes, shared, teacher)
    target = arguments.target
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        network.export(net, Path(folder) / "float.onnx")
        quantise(Path(folder) / "float.onnx", target / "model.onnx")
    if not recipe.renews_all:  # what teaches is read again by its steps
        fuse_own_layers(target / "model.onnx")
    written = Runner(target / "model.onnx", shared)
    rows = [sample_of(each, shared) for each in tuning]
    temperatures = fit_all(written.say_all(rows), rows)
    rows = [sample_of(each, shared) for each in held]
    figures = measure(written.say_all(rows), rows, temperatures)
    print(json.dumps({"temperatures": temperatures, **figures}, indent=1), flush=True)
    digest = hashlib.sha256("".join(f"{e.author}\t{e.text}\n" for e in sentences).encode()).hexdigest()
    manifest = {
        "name": "loci-reader",
        "types": [kind.value for kind in TYPES],
        "assertions": [kind.value for kind in ASSERTIONS],
        "files": {"model.onnx": sha256_of(target / "model.onnx")},
        "shared": shared.place,
        "temperatures": temperatures,
        "training": {
            "sentences": len(teaching),
            "notes": len(notes),
            "sha256": digest,
            "models": arguments.seeds,
            "teacher": None if teacher is None else sha256_of(teacher),
            "recipe": asdict(recipe),
        },
        "held_out": figures,
    }
    (target / "LICENSE").write_text(find_source().licence, "utf-8")
    (target / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")
    describe(target / "CARD.md", manifest, sentences)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=1, help="models whose weights are averaged")
    parser.add_argument("--layers", type=int, nargs="+", default=[0, 1, 3], help="of the encoder, or of the teacher")
    parser.add_argument("--teacher", type=Path, help="the folder of a larger reader that this script made")
    parser.add_argument("--whole", action="store_true", help="every layer renews what was said before too")
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--target", type=Path, default=TARGET)
    make(parser.parse_args())


if __name__ == "__main__":
    main()
