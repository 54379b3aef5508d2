"""The reader of sentences as a torch module, its training loop and its export. Needs the `model` extra.

Must not do: know where the sentences come from.
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

from core.talk.reader_features import ASSERTIONS, KINDS, PAD, POINTERS, POOLED, TYPES, SentenceFeatures
from encoder_net import WIDTH, export_reader, fill_layers, fill_places, fit, layer_class, layer_groups

PLACES = 128
_NOTHING = -1e4
TYPE_SHARE = 1.5
"""How much the type weighs in the loss beside assertion, lasting and worth."""
UNKNOWN = -100
"""A label that is not learned from; what torch ignores in a cross entropy."""


@dataclass(frozen=True)
class Recipe:
    """How a reader is trained.

    Attributes:
        layers: which of the encoder's six are kept, in order.
        epochs: passes over the sentences.
        batch: sentences a step.
        rate: the encoder's highest learning rate; the heads' is `head_rate`.
        decay: what each lower layer's rate is multiplied by.
        smoothing: of the labels.
        dropout: everywhere.
        seed: of order and dropout.
    """

    layers: tuple[int, ...] = (0, 1, 2, 3)
    epochs: int = 5
    batch: int = 32
    rate: float = 2e-4
    head_rate: float = 1e-3
    decay: float = 0.9
    smoothing: float = 0.05
    dropout: float = 0.1
    seed: int = 1


@dataclass(frozen=True)
class Sample:
    """One sentence with what the reader is to say of it.

    Attributes:
        features: what it reads.
        labels: type, assertion, lasting, worth; UNKNOWN where nobody said.
        pointers: for each span the index of its first and its last token; 0 where it is not there, UNKNOWN likewise.
    """

    features: SentenceFeatures
    labels: tuple[int, int, int, int]
    pointers: tuple[int, ...]


def build(weights: dict[str, Any], recipe: Recipe) -> Any:
    """The encoder with a head over the sentence and one over its tokens.

    Args:
        weights: the published encoder's state.
        recipe: how many layers, how much dropout.

    Returns:
        A torch module: (words, kinds) -> (batch, POOLED) and (batch, length, POINTERS).
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
            self.head1, self.head2 = nn.Linear(2 * WIDTH, 256), nn.Linear(256, POOLED)
            self.pointer = nn.Linear(WIDTH, POINTERS)
            self.drop2 = nn.Dropout(max(0.1, recipe.dropout))

        def forward(self, words: Any, kinds: Any) -> Any:
            mask = (kinds == PAD).to(words.dtype)[:, None, None, :] * _NOTHING
            places = torch.arange(words.shape[1])
            x = self.drop(self.norm(words + self.kind(kinds) + self.place(places)[None]))
            for each in self.layers:
                x = each(x, mask)
            own = ((kinds == 1) | (kinds == 2)).to(x.dtype)[:, :, None]
            mean = (x * own).sum(1) / own.sum(1).clamp(min=1)
            joined = torch.cat([x[:, 0], mean], 1)
            return self.head2(self.drop2(nn.functional.gelu(self.head1(self.drop2(joined))))), self.pointer(x)

    torch.manual_seed(0)
    net = Net()
    with torch.no_grad():
        fill_layers(net.layers, recipe.layers, weights)
        fill_places(net, weights, PLACES)
        net.kind.weight.copy_(weights["embeddings.token_type_embeddings.weight"][0] + 0.02 * torch.randn(KINDS, WIDTH))
    return net


def batch_of(rows: Sequence[SentenceFeatures], table: NDArray[np.float32]) -> tuple[Any, Any]:
    """Rows padded to the longest, with their words looked up: tensors (words, kinds)."""
    torch = importlib.import_module("torch")
    longest = max(len(row.ids) for row in rows)
    ids = np.zeros((len(rows), longest), np.int64)
    kinds = np.full((len(rows), longest), PAD, np.int64)
    for i, row in enumerate(rows):
        ids[i, : len(row.ids)], kinds[i, : len(row.ids)] = row.ids, row.kinds
    return torch.from_numpy(table[ids]), torch.from_numpy(kinds)


def train(net: Any, epoch_rows: Callable[[int], list[Sample]], table: NDArray[np.float32], recipe: Recipe) -> None:
    """Fit the model in place.

    Args:
        net: what `build` made.
        epoch_rows: the sentences of an epoch; they may be dressed otherwise from epoch to epoch.
        table: word vectors.
        recipe: how.
    """
    torch = importlib.import_module("torch")

    def loss_of(chunk: list[Sample], _: random.Random) -> Any:
        words, kinds = batch_of([row.features for row in chunk], table)
        with torch.autocast("cpu", torch.bfloat16):
            pooled, tokens = net(words, kinds)
        return _loss(pooled.float(), tokens.float(), kinds, chunk, recipe.smoothing)

    groups = layer_groups(net, [net.head1, net.head2, net.pointer], recipe)
    groups.append({"params": list(net.kind.parameters()), "lr": recipe.rate * 2})
    fit(net, groups, epoch_rows, loss_of, recipe)


def _loss(pooled: Any, tokens: Any, kinds: Any, chunk: Sequence[Sample], smoothing: float) -> Any:
    torch = importlib.import_module("torch")
    entropy = torch.nn.functional.cross_entropy
    labels = torch.tensor([row.labels for row in chunk])
    ends = len(TYPES), len(TYPES) + len(ASSERTIONS)
    types, assertions, lasting, worths = pooled.tensor_split((*ends, ends[1] + 1), 1)
    lasting = torch.stack([torch.zeros_like(lasting[:, 0]), lasting[:, 0]], 1)

    def mean(logits: Any, wanted: Any, smoothed: float) -> Any:
        known = (wanted != UNKNOWN).sum().clamp(min=1)  # of a batch of greetings nobody knows how long they last
        return entropy(logits, wanted, label_smoothing=smoothed, reduction="sum") / known

    loss = TYPE_SHARE * mean(types, labels[:, 0], smoothing) + mean(assertions, labels[:, 1], smoothing)
    loss = loss + mean(lasting, labels[:, 2], 0.0) + mean(worths, labels[:, 3], smoothing)
    pointers = torch.tensor([row.pointers for row in chunk])
    tokens = tokens + ((kinds != 1) & (kinds != 2))[:, :, None] * _NOTHING
    tokens[:, 0] -= _NOTHING  # the first token stands for a span that is not there
    for nr in range(POINTERS):
        loss = loss + 0.25 * mean(tokens[:, :, nr], pointers[:, nr], 0.0)
    return loss


def export(net: Any, target: Path) -> None:
    """Write the model as float32 ONNX with a free length; one sentence a run."""
    export_reader(net, target, {"sentence": {0: "batch"}, "tokens": {0: "batch", 1: "length"}})
