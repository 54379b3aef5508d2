"""The claim model as a torch module, its training loop and its export. Needs the `model` extra.

Must not do: know where the lines come from.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from claim_data import ClaimLine
from core.belief.extract.claim_model import BEGIN, CONTINUE, DENIED, OTHERS, SIDE, count_logits
from core.belief.extract.frames import predicate_names
from core.talk.reader_features import KINDS, PAD, SentenceFeatures, TextTokens, encode_sentence, token_span
from core.types.talk import SentenceInContext
from encoder_net import WIDTH, export_reader, fill_layers, fill_places, fit, layer_class, layer_groups
from reader_net import PLACES, UNKNOWN, batch_of

_NOTHING = -1e4


@dataclass(frozen=True)
class Recipe:
    """How a claim model is trained; as `reader_net.Recipe`."""

    layers: tuple[int, ...] = (0, 1, 2, 3)
    epochs: int = 3
    batch: int = 32
    rate: float = 3e-4
    head_rate: float = 2e-3
    decay: float = 0.9
    smoothing: float = 0.02
    dropout: float = 0.1
    seed: int = 1


@dataclass(frozen=True)
class MarkedLine:
    """A line as the model reads it, with a mark a token.

    Attributes:
        features: what it reads.
        marks: rows of tag, subject, "somebody else's", "denied"; UNKNOWN where a mark is not learned from.
    """

    features: SentenceFeatures
    marks: NDArray[np.int64]


def mark_line(tokenizer: Any, line: ClaimLine) -> MarkedLine:
    """The marks of a line's tokens."""
    features = encode_sentence(TextTokens(tokenizer), SentenceInContext(line.text))
    marks = np.full((4, len(features.ids)), UNKNOWN, np.int64)
    marks[:2, 1 : len(features.offsets) + 1] = 0
    for one in line.values:
        place = token_span(features.offsets, *one.value)
        if place is None:
            continue
        tag = 2 * predicate_names().index(one.predicate)
        marks[0, place[0] : place[1] + 1] = tag + CONTINUE
        marks[0, place[0]] = tag + BEGIN
        marks[2:, place[0]] = one.subject is not None, one.is_denied
        named = None if one.subject is None else token_span(features.offsets, *one.subject)
        if named is not None:
            marks[1, named[0] : named[1] + 1] = CONTINUE
            marks[1, named[0]] = BEGIN
    return MarkedLine(features, marks)


def build(weights: dict[str, Any], recipe: Recipe) -> Any:
    """The encoder with one head over its tokens.

    Args:
        weights: the published encoder's state.
        recipe: how many layers, how much dropout.

    Returns:
        A torch module: (words, kinds) -> (batch, length, `count_logits()`).
    """
    torch = importlib.import_module("torch")
    nn = torch.nn
    layer = layer_class(recipe.dropout)

    class Net(nn.Module):  # type: ignore[name-defined, misc, unused-ignore]  # torch is loaded when it runs
        def __init__(self) -> None:
            super().__init__()
            self.kind, self.place = nn.Embedding(KINDS, WIDTH), nn.Embedding(PLACES, WIDTH)
            self.norm, self.drop = nn.LayerNorm(WIDTH, 1e-12), nn.Dropout(recipe.dropout)
            self.layers = nn.ModuleList([layer() for _ in recipe.layers])
            self.tag = nn.Linear(WIDTH, count_logits())

        def forward(self, words: Any, kinds: Any) -> Any:
            mask = (kinds == PAD).to(words.dtype)[:, None, None, :] * _NOTHING
            x = self.drop(self.norm(words + self.kind(kinds) + self.place(torch.arange(words.shape[1]))[None]))
            for each in self.layers:
                x = each(x, mask)
            return self.tag(self.drop(x))

    torch.manual_seed(0)
    net = Net()
    with torch.no_grad():
        fill_layers(net.layers, recipe.layers, weights)
        fill_places(net, weights, PLACES)
        net.kind.weight.copy_(weights["embeddings.token_type_embeddings.weight"][0] + 0.02 * torch.randn(KINDS, WIDTH))
    return net


def train(net: Any, epoch_rows: Callable[[int], list[MarkedLine]], table: NDArray[np.float32], recipe: Recipe) -> None:
    """Fit the model in place.

    Args:
        net: what `build` made.
        epoch_rows: the lines of an epoch.
        table: word vectors.
        recipe: how.
    """
    torch = importlib.import_module("torch")

    def loss_of(chunk: list[MarkedLine], _: random.Random) -> Any:
        words, kinds = batch_of([row.features for row in chunk], table)
        with torch.autocast("cpu", torch.bfloat16):
            marks = net(words, kinds)
        return _loss(marks.float(), chunk, recipe.smoothing)

    groups = layer_groups(net, [net.tag], recipe)
    groups[-1]["params"] += net.kind.parameters()
    fit(net, groups, epoch_rows, loss_of, recipe)


def _loss(said: Any, chunk: Sequence[MarkedLine], smoothing: float) -> Any:
    torch = importlib.import_module("torch")
    functions = torch.nn.functional
    marks = np.full((4, len(chunk), said.shape[1]), UNKNOWN, np.int64)
    for nr, row in enumerate(chunk):
        marks[:, nr, : row.marks.shape[1]] = row.marks
    true = torch.from_numpy(marks).flatten(1)
    said = said.flatten(0, 1)
    loss = functions.cross_entropy(said[:, :-SIDE], true[0], label_smoothing=smoothing)
    loss = loss + 0.5 * functions.cross_entropy(said[:, -SIDE : -SIDE + OTHERS], true[1])
    for place, labels in ((OTHERS - SIDE, true[2]), (DENIED - SIDE, true[3])):
        known = labels != UNKNOWN
        if known.any():
            pairs = said[:, place][known], labels[known].float()
            loss = loss + 0.3 * functions.binary_cross_entropy_with_logits(*pairs)
    return loss


def export(net: Any, target: Path) -> None:
    """Write the model as float32 ONNX with a free length; one sentence a run."""
    export_reader(net, target, {"marks": {1: "length"}})
