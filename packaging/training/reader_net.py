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

from core.talk.reader_features import (
    ASSERTIONS,
    CAPITAL,
    KINDS,
    PAD,
    POINTERS,
    POOLED,
    TYPES,
    WORD,
    SentenceFeatures,
)
from encoder_net import WIDTH, export_reader, fill_layers, fill_places, fit, layer_class, layer_groups

PLACES = 128
_NOTHING = -1e4
TYPE_SHARE = 1.5
"""How much the type weighs in the loss beside assertion, lasting and worth."""
TAUGHT_SHARE = 0.6
"""How much what a teacher says weighs in the loss; the rest is what the labels say."""
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
        renews_all: whether each layer renews what was said before too; else the sentence alone, which sees it.
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
    renews_all: bool = False


@dataclass(frozen=True)
class Sample:
    """One sentence with what the reader is to say of it.

    Attributes:
        features: what it reads.
        labels: type, assertion, lasting, worth; UNKNOWN where nobody said.
        pointers: for each span the index of its first and its last token; 0 where it is not there, UNKNOWN likewise.
        taught: a teacher's logits of the sentence and of its tokens; None where nobody teaches.
    """

    features: SentenceFeatures
    labels: tuple[int, int, int, int]
    pointers: tuple[int, ...]
    taught: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None


def build(weights: dict[str, Any], recipe: Recipe) -> Any:
    """The encoder with a head over the sentence and one over its tokens.

    Args:
        weights: the published encoder's state.
        recipe: how many layers, how much dropout.

    Returns:
        A torch module: (words, kinds) -> (batch, POOLED) and (batch, first, POINTERS), `first` being the tokens of the
        longest sentence with what frames it.
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
            own = (kinds == WORD) | (kinds == CAPITAL)
            framed = own.sum(1) + 2
            first = framed.max()
            for each in self.layers:
                if recipe.renews_all:
                    x = each(x, mask)
                    continue
                renewed = each(x, mask, first)
                if len(words) > 1:  # of a shorter sentence more tokens were renewed than when it is run by itself
                    is_own = (places[:first][None] < framed[:, None])[:, :, None]
                    renewed = torch.where(is_own, renewed, x[:, :first])
                x = renewed if each is self.layers[-1] else torch.cat([renewed, x[:, first:]], 1)
            x, weights = x[:, :first], own[:, :first].to(x.dtype)[:, :, None]
            mean = (x * weights).sum(1) / weights.sum(1).clamp(min=1)
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

    def mean(logits: Any, wanted: Any, smoothed: float) -> Any:
        known = (wanted != UNKNOWN).sum().clamp(min=1)  # of a batch of greetings nobody knows how long they last
        return entropy(logits, wanted, label_smoothing=smoothed, reduction="sum") / known

    types, assertions, lasting, worths = _parts(pooled)
    loss = TYPE_SHARE * mean(types, labels[:, 0], smoothing) + mean(assertions, labels[:, 1], smoothing)
    loss = loss + mean(lasting, labels[:, 2], 0.0) + mean(worths, labels[:, 3], smoothing)
    pointers = torch.tensor([row.pointers for row in chunk])
    read = kinds[:, : tokens.shape[1]]
    tokens = tokens + ((read != WORD) & (read != CAPITAL))[:, :, None] * _NOTHING
    tokens[:, 0] -= _NOTHING  # the first token stands for a span that is not there
    for nr in range(POINTERS):
        loss = loss + 0.25 * mean(tokens[:, :, nr], pointers[:, nr], 0.0)
    taught = [row.taught for row in chunk if row.taught is not None]
    if len(taught) < len(chunk):
        return loss
    return (1 - TAUGHT_SHARE) * loss + TAUGHT_SHARE * _taught_loss(pooled, tokens, taught)


def _taught_loss(pooled: Any, tokens: Any, taught: Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]]) -> Any:
    """How far sentences and tokens are from what a teacher says of them: the cross entropy of its softmax."""
    torch = importlib.import_module("torch")
    entropy = torch.nn.functional.cross_entropy
    sentences = torch.from_numpy(np.stack([sentence for sentence, _ in taught]))
    weights = TYPE_SHARE, 1.0, 1.0, 1.0
    loss = sum(
        weight * entropy(own, known.softmax(-1))
        for weight, own, known in zip(weights, _parts(pooled), _parts(sentences), strict=True)
    )
    known = np.full(tuple(tokens.shape), _NOTHING, np.float32)
    for row, (_, said) in zip(known, taught, strict=True):
        row[: len(said)] = said
    own, wanted = (each.transpose(1, 2).flatten(0, 1) for each in (tokens, torch.from_numpy(known)))
    return loss + 0.25 * POINTERS * entropy(own, wanted.softmax(-1))


def _parts(pooled: Any) -> tuple[Any, Any, Any, Any]:
    """Logits of a sentence as those of type, assertion, duration and worth, each of which a softmax is taken of."""
    torch = importlib.import_module("torch")
    ends = len(TYPES), len(TYPES) + len(ASSERTIONS)
    types, assertions, lasting, worths = pooled.tensor_split((*ends, ends[1] + 1), 1)
    return types, assertions, torch.cat([torch.zeros_like(lasting), lasting], 1), worths


def export(net: Any, target: Path) -> None:
    """Write the model as float32 ONNX with a free length; one sentence a run."""
    export_reader(net, target, {"sentence": {}, "tokens": {1: "first"}})
