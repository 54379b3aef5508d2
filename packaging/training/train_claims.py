"""Make resources/model/claims: train on the project's own lines and talk, quantise, describe.

Run by hand when the lines or the embedder change, in an environment with the `model` extra of pyproject.toml:

    python packaging/training/train_claims.py [--epochs 3] [--seeds 1]

It goes on from the claim model that ships, which began with the layers of the reader. Sentences of the talk that assert
nothing teach what is no claim; only authors that are not held out of the reader's fit are used. `fit_claim_limits.py`
sets the limits afterwards. Must not do: fetch anything, or read a set that measures the model.
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

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "packaging")]

import claim_net as network  # noqa: E402
import talk_data  # noqa: E402
from build_model import find_source, quantise, sha256_of  # noqa: E402
from claim_data import ClaimLine, dress_line, load_lines  # noqa: E402
from core.belief.extract.frames import predicate_names  # noqa: E402
from encoder_net import find_shared, fuse_layers, mean_of, take_over  # noqa: E402

TARGET = ROOT / "resources" / "model" / "claims"
DRESSES, NOTHINGS = 2, 1200
"""Dresses of a line with claims, and sentences that assert nothing, an epoch."""
_LONGEST = 140
_UNDECIDED = {"added": 0.9, "replaces": 2.0, "backed": 0.0}


def nothing_lines() -> list[ClaimLine]:
    """Sentences of the talk that assert nothing: questions, hypotheses, jokes, quotations, small talk."""
    unreal = {"question", "hypothesis", "joke", "quoted"}
    return [
        ClaimLine(one.text)
        for one in talk_data.read_sentences()
        if not one.is_held_out
        and (one.asserted in unreal or (one.type == "none" and not one.worth))
        and len(one.text) < _LONGEST
    ]


def dressed_lines(lines: Sequence[ClaimLine], nothings: Sequence[ClaimLine], rng: random.Random) -> list[ClaimLine]:
    """The lines of an epoch."""
    found = [dress_line(line, rng, lines) for line in lines for _ in range(DRESSES if line.values else 1)]
    return found + rng.sample(list(nothings), NOTHINGS)


def make(arguments: argparse.Namespace) -> None:
    """Train and write everything but the limits."""
    importlib.import_module("torch").set_num_threads(arguments.threads)
    lines, nothings, shared = load_lines(), nothing_lines(), find_shared()
    recipe = network.Recipe(epochs=arguments.epochs, rate=arguments.rate)
    nets = []
    for seed in range(1, arguments.seeds + 1):

        def epoch_rows(epoch: int, seed: int = seed) -> list[network.MarkedLine]:
            rng = random.Random(100 * seed + epoch)  # noqa: S311 - repeatable, not secret
            return [network.mark_line(shared.tokenizer, each) for each in dressed_lines(lines, nothings, rng)]

        nets.append(network.build(shared.weights, recipe))
        take_over(nets[-1], arguments.start, recipe.layers)
        network.train(nets[-1], epoch_rows, shared.table, replace(recipe, seed=seed))
    facts = training_facts(lines, nothings, arguments.start, len(nets), recipe)
    write_model(mean_of(nets), arguments.target, facts, shared.place)


def training_facts(
    lines: Sequence[ClaimLine], nothings: Sequence[ClaimLine], start: Path, models: int, recipe: network.Recipe
) -> dict[str, Any]:
    """What the manifest says of the training."""
    said = "".join(f"{line.author}\t{line.text}\n" for line in lines)
    return {
        "lines": len(lines),
        "authors": len({line.author for line in lines}),
        "nothings": len(nothings),
        "sha256": hashlib.sha256(said.encode()).hexdigest(),
        "goes_on_from": sha256_of(start),
        "models": models,
        "recipe": asdict(recipe),
    }


def write_model(net: Any, target: Path, facts: dict[str, Any], place: dict[str, Any]) -> None:
    """Write model, manifest, licence and card.

    Args:
        net: a trained model.
        target: the folder.
        facts: what `training_facts` says.
        place: of the word vectors.
    """
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        network.export(net, Path(folder) / "float.onnx")
        quantise(Path(folder) / "float.onnx", target / "model.onnx")
    fuse_layers(target / "model.onnx")
    manifest = {
        "name": "loci-claims",
        "predicates": list(predicate_names()),
        "files": {"model.onnx": sha256_of(target / "model.onnx")},
        "shared": place,
        "limits": _UNDECIDED,
        "training": facts,
    }
    (target / "LICENSE").write_text(find_source().licence, "utf-8")
    (target / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")
    (target / "CARD.md").write_text(_card(facts), "utf-8")


def _card(facts: dict[str, Any]) -> str:
    recipe = facts["recipe"]
    return f"""# The claim model

Says of a sentence which of its words are a value of which predicate of the vocabulary, whose, and whether it is denied.
It runs on the processor, without a server or a network.

- **What it is**: {len(recipe["layers"])} layers of the bundled embedder (`../minilm`, Apache-2.0), begun with those of
  the reader (`../reader`) and trained on from the model before, with one head over the tokens. It shares the
  embedder's tokenizer and word vectors, so only the layers are here, as int8 ONNX. It reads 64 tokens of a sentence.
- **What it learned from**: {facts["lines"]} lines of {facts["authors"]} invented authors, and of {facts["nothings"]}
  sentences of the labelled talk that assert nothing some an epoch; all written for this project
  (`packaging/training/README.md`).
- **How it was made**: `packaging/training/train_claims.py`, {recipe["epochs"]} epochs, {facts["models"]} model(s);
  `packaging/training/fit_claim_limits.py` set the limits of the manifest on other authors.
- **Licence**: Apache-2.0 (LICENSE), as the embedder it was tuned from; changed here as told above.
- **Limits**: English; one sentence at a time; a line may have two claims of one word, of which it finds one.
"""


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=1, help="models whose weights are averaged")
    parser.add_argument("--rate", type=float, default=network.Recipe.rate, help="of the layers")
    parser.add_argument("--start", type=Path, default=TARGET / "model.onnx", help="the model that it goes on from")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--target", type=Path, default=TARGET)
    make(parser.parse_args())


if __name__ == "__main__":
    main()
