"""Make resources/model/reader/first_look.npz: what spares the reader sentences that are surely not told.

Run by hand after `packaging/training/train_reader.py`, in an environment with the `model` extra of pyproject.toml:

    python packaging/training/first_look/train_first_look.py [--epochs 10] [--limits-only] [--figures-only]

It learns what the reader says of the project's own talk, and of `chats/`: everyday talk without labels, for most of
what people say to each other is of no worth, and most of the labelled talk is of some. The authors of the latter are
parted as for the reader: half are held out, of the others one in ten sets the limits, together with one chat in ten.
Must not do: fetch anything, or read a labelled set that measures the reader.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "packaging"), str(ROOT / "packaging" / "training")]

import talk_data as data  # noqa: E402
from build_model import sha256_of  # noqa: E402
from core.talk.first_look import FILE, MOST_TOKENS, FirstLook, look_at  # noqa: E402
from core.talk.reader_features import TextTokens, encode_sentence  # noqa: E402
from core.talk.reader_model import ReaderModel, reader_folder  # noqa: E402
from core.talk.statements import MARKED, READ, WORTH, distill_conversation  # noqa: E402
from core.types.talk import Assertion, Reading, SentenceInContext, StatementType, Turn  # noqa: E402
from train_reader import is_calibrating  # noqa: E402

TARGET = Path(str(reader_folder()))
CHATS = Path(__file__).resolve().parent / "chats"
CALIBRATING_OF = 10
"""One chat in so many teaches nothing: it sets the limits."""
TOLD_RECALL = 0.995
"""Share of what the reader would let be told that it must still be asked about, on authors that calibrate."""
WORTHY_FROM = 0.5
"""From this likelihood a sentence that the reader is not asked about makes its turn worth keeping: where the reader
would be at its own bar."""
_ASSERTED = (Assertion.YES, Assertion.NEGATED)
_WIDTHS = 48, 96, 32
Seen = tuple[NDArray[np.float32], NDArray[np.float32]]


@dataclass(frozen=True)
class Row:
    """A sentence with what the reader says of it.

    Attributes:
        worth: as its author labelled it; None where nobody did.
    """

    said: SentenceInContext
    reading: Reading
    worth: int | None = None


def is_told(reading: Reading) -> bool:
    """Whether the reader lets a sentence be told."""
    is_statement = reading.type is not StatementType.NONE and reading.assertion in _ASSERTED
    return is_statement and reading.statement >= READ and reading.worth >= WORTH


def how_told(reading: Reading) -> float:
    """Likewise, so that near its bars a reading counts in part."""
    if reading.type is StatementType.NONE or reading.assertion not in _ASSERTED:
        return 0.0
    sure, worth = (reading.statement - READ) / 0.04, (reading.worth - WORTH) / 0.08
    return float(1 / (1 + np.exp(-sure)) / (1 + np.exp(-worth)))


def how_marked(reading: Reading) -> float:
    """How far a sentence makes its turn worth keeping, near the bar in part."""
    return float(1 / (1 + np.exp(-(reading.statement - MARKED) / 0.06)))


def see(sentences: Sequence[SentenceInContext]) -> list[Seen]:
    """What the net sees of sentences."""
    reader = ReaderModel()
    encoder, _ = reader.load()
    found = []
    for said in sentences:
        features = encode_sentence(TextTokens(encoder.tokenizer), said)
        found.append(look_at(said, features, encoder.vectors(features.ids)))
    return found


def train(seen: Sequence[Seen], wanted: NDArray[np.float32], epochs: int) -> dict[str, NDArray[np.float32]]:
    """Train the net.

    Args:
        seen: of the sentences that teach.
        wanted: what the reader says of each: how far it is told, and how far it makes its turn worth keeping.

    Returns:
        Its weights by name.
    """
    torch = importlib.import_module("torch")
    nn = torch.nn
    torch.manual_seed(1)
    width, (narrow, joined, hidden) = seen[0][0].shape[1], _WIDTHS
    parts = nn.ModuleDict(
        {
            "project": nn.Linear(width, narrow),
            "join": nn.Linear(3 * narrow, joined),
            "head": nn.Linear(2 * joined + len(seen[0][1]), hidden),
            "out": nn.Linear(hidden, 2),
        }
    )
    drop = nn.Dropout(0.25)

    def forward(tokens: Any, mask: Any, signs: Any) -> Any:
        rows = torch.relu(parts["project"](drop(tokens))) * mask
        around = nn.functional.pad(rows, (0, 0, 1, 1))
        wide = torch.cat([around[:, :-2], around[:, 1:-1], around[:, 2:]], 2)
        wide = torch.relu(parts["join"](wide)) * mask
        pooled = torch.cat([wide.amax(1), wide.sum(1) / 10, signs], 1)
        return parts["out"](drop(torch.relu(parts["head"](drop(pooled)))))

    def batch(places: Sequence[int]) -> tuple[Any, ...]:
        longest = max(len(seen[nr][0]) for nr in places)
        tokens = np.zeros((len(places), min(longest, MOST_TOKENS), width), np.float32)
        mask = np.zeros((*tokens.shape[:2], 1), np.float32)
        for row, nr in enumerate(places):
            tokens[row, : len(seen[nr][0])], mask[row, : len(seen[nr][0])] = seen[nr][0], 1
        arrays = tokens, mask, np.stack([seen[nr][1] for nr in places]), wanted[list(places)]
        return tuple(map(torch.from_numpy, arrays))

    optimizer = torch.optim.AdamW(parts.parameters(), 2e-3, weight_decay=0.02)
    steps = epochs * (len(seen) // 128 + 1)
    pace = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps)
    for _ in range(epochs):
        order = torch.randperm(len(seen)).tolist()
        for first in range(0, len(order), 128):
            *given, asked = batch(order[first : first + 128])
            loss = nn.functional.binary_cross_entropy_with_logits(forward(*given), asked)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            pace.step()
    found = {}
    for name, part in parts.items():
        found[name] = part.weight.detach().numpy().T.copy()
        found[f"{name}_bias"] = part.bias.detach().numpy().copy()
    return found


def find_limits(weighed: NDArray[np.float64], rows: Sequence[Row]) -> dict[str, float]:
    """The highest limit that keeps `TOLD_RECALL`, and the one of worth."""
    told = np.array([is_told(one.reading) for one in rows])
    told_from = float(np.quantile(weighed[told, 0], 1 - TOLD_RECALL))
    return {"told_from": round(told_from, 4), "worthy_from": WORTHY_FROM}


def measure(weighed: NDArray[np.float64], rows: Sequence[Row], limits: Mapping[str, float]) -> dict[str, float]:
    """What it spares and what it costs."""
    told = np.array([is_told(one.reading) for one in rows])
    states = np.array([one.reading.statement >= MARKED for one in rows])
    worth = np.array([bool(one.worth) for one in rows])
    is_read = weighed[:, 0] >= limits["told_from"]
    is_worthy = np.where(is_read, states, weighed[:, 1] >= limits["worthy_from"])
    return {
        "sentences": len(rows),
        "spared": round(float(1 - is_read.mean()), 4),
        "told_recall": round(float(is_read[told].mean()), 4),
        "worth_recall": round(float(is_worthy[worth].mean()), 4),
        "worth_recall_of_reader": round(float(states[worth].mean()), 4),
        "nothing_called_nothing": round(float(1 - is_worthy[~worth].mean()), 4),
        "nothing_called_nothing_by_reader": round(float(1 - states[~worth].mean()), 4),
    }


def describe(path: Path, look: Mapping[str, Any]) -> None:
    """Write the card.

    Args:
        path: of FIRST_LOOK.md.
        look: `first_look` of the manifest.
    """
    held, chats = look["held_out"], look["in_chats"]
    path.write_text(
        f"""# The first look

Says of a sentence whether the reader (`CARD.md`) has to be asked about it: a net over the embedder's word vectors of up
to {MOST_TOKENS} tokens, in numpy. What it finds to be surely not told is not read closely; whether such a sentence
makes its turn worth keeping, it says itself.

- **What it learned from**: what a reader ({look["taught_by"][:12]}) says of {look["sentences"]} sentences of
  `packaging/training/talk` and of {look["chat_sentences"]} of everyday chats
  (`packaging/training/first_look/chats`), in {look["epochs"]} epochs. One
  author and one chat in ten set the limits: the reader is asked from
  {look["told_from"]}, and what it is not asked about is worth keeping from {look["worthy_from"]}.
- **How it was made**: `packaging/training/first_look/train_first_look.py`, after the reader itself.
- **Licence**: Apache-2.0 (LICENSE), as the reader.

## Held-out authors: {held["sentences"]} sentences

| figure | share |
|---|---|
| sentences that the reader is not asked about | {held["spared"]:.3f} |
| sentences that the reader lets be told, and is asked about | {held["told_recall"]:.3f} |
| sentences of any worth that make their turn worth keeping | {held["worth_recall"]:.3f} |
| likewise by the reader alone | {held["worth_recall_of_reader"]:.3f} |
| sentences of no worth that do not | {held["nothing_called_nothing"]:.3f} |
| likewise by the reader alone | {held["nothing_called_nothing_by_reader"]:.3f} |

Talk of the project's own authors is mostly of some worth; of everyday talk far more is spared: of the chats that set
the limits, {chats["sentences"]} sentences, {chats["spared"]:.3f}, and of those the reader lets be told it is asked
about {chats["told_recall"]:.3f}.
""",
        "utf-8",
    )


def read_rows(sentences: Sequence[data.LabelledSentence]) -> list[Row]:
    """Labelled sentences with what the reader says of them."""
    said = [SentenceInContext(one.text, one.before) for one in sentences]
    readings = ReaderModel().read_closely(said)
    return [Row(*row) for row in zip(said, readings, (one.worth for one in sentences), strict=True)]


def read_chats(*, calibrating: bool) -> list[Row]:
    """Sentences and clauses of everyday chats as distilling has them read, with what the reader says of them.

    Args:
        calibrating: of the chats that set the limits, or else of those that teach.
    """
    reader = ReaderModel()
    rows: list[Row] = []

    def read(said: Sequence[SentenceInContext]) -> Sequence[Reading]:
        readings = reader.read_closely(said)
        rows.extend(map(Row, said, readings))
        return readings

    for path in sorted(CHATS.glob("*.txt")):
        for number, chat in enumerate(path.read_text("utf-8").strip().split("\n\n")):
            if (number % CALIBRATING_OF == 0) is calibrating:
                turns = [line.partition(": ") for line in chat.splitlines()]
                distill_conversation([Turn(str(at), name, text) for at, (name, _, text) in enumerate(turns)], read)
    return rows


def teach(rows: Sequence[Row], epochs: int) -> None:
    """Train on sentences and write the weights."""
    wanted = np.array([(how_told(one.reading), how_marked(one.reading)) for one in rows], np.float32)
    weights: Any = train(see([one.said for one in rows]), wanted, epochs)
    np.savez(TARGET / FILE, **weights)


def make(epochs: int, *, limits_only: bool, figures_only: bool) -> None:
    """Train, set the limits, measure and write.

    Args:
        epochs: passes over the sentences.
        limits_only: keep the net that is there.
        figures_only: keep its limits too.
    """
    path = TARGET / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    chat_sentences = manifest["first_look"].get("chat_sentences", 0)
    sentences = list(data.read_sentences())
    held = read_rows([one for one in sentences if one.is_held_out])
    teaching = [one for one in sentences if not one.is_held_out and not is_calibrating(one)]
    if not (limits_only or figures_only):
        taught = read_chats(calibrating=False)
        chat_sentences = len(taught)
        teach([*read_rows(teaching), *taught], epochs)
    net = FirstLook.open((TARGET / FILE).read_bytes(), {"told_from": 0, "worthy_from": 0})

    def weigh(rows: Sequence[Row]) -> NDArray[np.float64]:
        return np.array([net.weigh(each) for each in see([one.said for one in rows])])

    chats = read_chats(calibrating=True)
    if figures_only:
        limits = {name: manifest["first_look"][name] for name in ("told_from", "worthy_from")}
    else:
        tuning = [one for one in sentences if not one.is_held_out and is_calibrating(one)]
        rows = [*read_rows(tuning), *chats]
        limits = find_limits(weigh(rows), rows)
    print(limits, flush=True)
    figures = measure(weigh(held), held, limits)
    of_chats = measure(weigh(chats), chats, limits)
    manifest["files"][FILE] = sha256_of(TARGET / FILE)
    own = manifest["files"]["model.onnx"]
    taught_by = manifest["first_look"].get("taught_by", own) if limits_only or figures_only else own
    manifest["first_look"] = {
        **limits,
        "sentences": len(teaching),
        "epochs": epochs,
        "taught_by": taught_by,
        "chat_sentences": chat_sentences,
        "held_out": figures,
        "in_chats": {name: of_chats[name] for name in ("sentences", "spared", "told_recall")},
    }
    path.write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")
    describe(TARGET / "FIRST_LOOK.md", manifest["first_look"])
    print(json.dumps(manifest["first_look"], indent=1))


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--limits-only", action="store_true", help="keep the net that is there, and set its limits")
    parser.add_argument("--figures-only", action="store_true", help="keep its limits too, and measure it anew")
    options = parser.parse_args()
    make(options.epochs, limits_only=options.limits_only, figures_only=options.figures_only)


if __name__ == "__main__":
    main()
