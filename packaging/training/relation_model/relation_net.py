"""The relation model as a torch module, its training loop and its export. Needs the `model` extra.

Must not do: know where pairs and questions come from.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.belief.relate.features import EXISTING, FIGURES, INCOMING, KINDS, PAD, Features
from core.types.belief import LABELS, Label
from encoder_net import OPSET, WIDTH, fill_layers, fill_places, fit, layer_class, layer_groups

PLACES = 256
OUTPUTS = "logits", "answers", "ends"


@dataclass(frozen=True)
class Recipe:
    """How a model is trained.

    Attributes:
        layers: which of the encoder's six are kept, in order.
        epochs: passes over the pairs.
        batch: pairs a step.
        rate: the encoder's highest learning rate; the head's is `head_rate`.
        decay: what each lower layer's rate is multiplied by.
        smoothing: of the labels.
        dropout: everywhere.
        blind: how many rows are learned without their figures and kinds of word, from the words alone.
        seed: of order, dressing and dropout; the weights always begin alike.
    """

    layers: tuple[int, ...] = (0, 1, 2, 3, 4, 5)
    epochs: int = 4
    batch: int = 32
    rate: float = 2e-4
    head_rate: float = 1e-3
    decay: float = 0.9
    smoothing: float = 0.1
    dropout: float = 0.1
    blind: float = 0.15
    seed: int = 1


@dataclass(frozen=True)
class Sample:
    """One training row: what the model reads, its label and weight."""

    features: Features
    label: int
    weight: float


def build(weights: dict[str, Any], recipe: Recipe) -> Any:
    """The encoder with three heads that read both sides.

    They say how two notes relate, whether one answers a question, and whether the later one ends the earlier one.

    Args:
        weights: the published encoder's state.
        recipe: how many layers, how much dropout.

    Returns:
        A torch module: (words, kinds, figures) -> (four logits, log odds of an answer, log odds of an end).
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
            self.head1, self.head2 = nn.Linear(5 * WIDTH + FIGURES, 192), nn.Linear(192, len(LABELS))
            self.answer1, self.answer2 = nn.Linear(5 * WIDTH + FIGURES, 192), nn.Linear(192, 1)
            self.ends1, self.ends2 = nn.Linear(5 * WIDTH + FIGURES, 192), nn.Linear(192, 1)
            self.drop2 = nn.Dropout(max(0.1, recipe.dropout))

        def forward(self, words: Any, kinds: Any, figures: Any) -> tuple[Any, Any, Any]:
            joined = self.join(words, kinds, figures)
            return self.relate(joined), self.weigh(joined), self.end(joined)

        def relate(self, joined: Any) -> Any:
            return self.head2(self.drop2(nn.functional.gelu(self.head1(self.drop2(joined)))))

        def weigh(self, joined: Any) -> Any:
            return self.answer2(self.drop2(nn.functional.gelu(self.answer1(self.drop2(joined)))))

        def end(self, joined: Any) -> Any:
            return self.ends2(self.drop2(nn.functional.gelu(self.ends1(self.drop2(joined)))))

        def join(self, words: Any, kinds: Any, figures: Any) -> Any:
            mask = (kinds == PAD).to(words.dtype)[:, None, None, :] * -1e4
            places = torch.arange(words.shape[1])
            x = self.drop(self.norm(words + self.kind(kinds) + self.place(places)[None]))
            for layer in self.layers:
                x = layer(x, mask)
            old = ((kinds >= EXISTING) & (kinds < INCOMING)).to(x.dtype)[:, :, None]
            new = ((kinds >= INCOMING) & (kinds < PAD)).to(x.dtype)[:, :, None]
            a = (x * old).sum(1) / old.sum(1).clamp(min=1)
            b = (x * new).sum(1) / new.sum(1).clamp(min=1)
            return torch.cat([x[:, 0], a, b, (a - b).abs(), a * b, figures], 1)

    torch.manual_seed(0)  # models whose weights are averaged must begin alike
    net = Net()
    _fill(net, weights, recipe)
    return net


def _fill(net: Any, weights: dict[str, Any], recipe: Recipe) -> None:
    torch = importlib.import_module("torch")
    with torch.no_grad():
        fill_layers(net.layers, recipe.layers, weights)
        types = weights["embeddings.token_type_embeddings.weight"]
        net.kind.weight.copy_(types[0] + 0.02 * torch.randn(KINDS, WIDTH))
        net.kind.weight[INCOMING:] += types[1] - types[0]
        fill_places(net, weights, PLACES)


def batch_of(rows: Sequence[Features], table: NDArray[np.float32]) -> tuple[Any, Any, Any]:
    """Rows padded to the longest, with their words looked up.

    Args:
        rows: what the model reads.
        table: word vectors, shape (words, WIDTH).

    Returns:
        Tensors (words, kinds, figures).
    """
    torch = importlib.import_module("torch")
    longest = max(len(row.ids) for row in rows)
    ids = np.zeros((len(rows), longest), np.int64)
    kinds = np.full((len(rows), longest), PAD, np.int64)
    for i, row in enumerate(rows):
        ids[i, : len(row.ids)], kinds[i, : len(row.ids)] = row.ids, row.kinds
    figures = np.stack([row.figures for row in rows])
    return torch.from_numpy(table[ids]), torch.from_numpy(kinds), torch.from_numpy(figures)


def begin_ends(net: Any) -> None:
    """Let a model begin by saying that a note ends another where it says that the relation is SUPERSEDE."""
    torch = importlib.import_module("torch")
    at = LABELS.index(Label.SUPERSEDE)
    with torch.no_grad():
        net.ends1.load_state_dict(net.head1.state_dict())
        for name in ("weight", "bias"):
            known = getattr(net.head2, name)
            others = (known.sum(0) - known[at]) / (len(LABELS) - 1)
            getattr(net.ends2, name).copy_((known[at] - others)[None])


def train(net: Any, epoch_rows: Callable[[int], list[Sample]], table: NDArray[np.float32], recipe: Recipe) -> None:
    """Fit the model in place.

    Args:
        net: what `build` made.
        epoch_rows: the rows of an epoch; they may differ from epoch to epoch.
        table: word vectors.
    """
    torch = importlib.import_module("torch")

    def loss_of(chunk: list[Sample], rng: random.Random) -> Any:
        words, kinds, figures = batch_of([blinded(row.features, recipe.blind, rng) for row in chunk], table)
        labels = torch.tensor([row.label for row in chunk])
        weights = torch.tensor([row.weight for row in chunk])
        with torch.autocast("cpu", torch.bfloat16):
            logits = net(words, kinds, figures)[0]
        losses = torch.nn.functional.cross_entropy(
            logits.float(), labels, reduction="none", label_smoothing=recipe.smoothing
        )
        return (losses * weights).sum() / weights.sum()

    groups = layer_groups(net, [net.head1, net.head2], recipe)
    groups.append({"params": list(net.kind.parameters()), "lr": recipe.rate * 2})
    fit(net, groups, epoch_rows, loss_of, recipe)


def blinded(features: Features, share: float, rng: random.Random) -> Features:
    """The row, or now and then only its words: paraphrases share few words, so the overlap must not decide alone."""
    if rng.random() >= share:
        return features
    kinds = features.kinds.copy()
    kinds[(kinds >= EXISTING) & (kinds < INCOMING)] = EXISTING
    kinds[(kinds >= INCOMING) & (kinds < PAD)] = INCOMING
    return Features(features.ids, kinds, np.zeros_like(features.figures))


def outputs_of(net: Any, rows: Sequence[Features], table: NDArray[np.float32]) -> list[NDArray[np.float64]]:
    """What a model says of rows.

    Returns:
        The logits, shape (len(rows), 4), the log odds of an answer and those of an end, (len(rows), 1) each.
    """
    torch = importlib.import_module("torch")
    net.eval()
    with torch.no_grad():
        out = [net(*batch_of(rows[i : i + 64], table)) for i in range(0, len(rows), 64)]
    return [torch.cat(part).numpy().astype(np.float64) for part in zip(*out, strict=True)]


def export(net: Any, target: Path) -> None:
    """Write the model as float32 ONNX with a free length; one pair a run.

    Args:
        net: a trained model.
    """
    torch = importlib.import_module("torch")
    net.eval()
    words = torch.randn(1, 9, WIDTH)
    kinds = torch.tensor([[0, 3, 4, 1, 9, 10, 11, 9, 2]])
    axes = {0: "batch", 1: "length"}
    torch.onnx.export(
        net,
        (words, kinds, torch.zeros(1, FIGURES)),
        str(target),
        input_names=["words", "kinds", "figures"],
        output_names=list(OUTPUTS),
        dynamic_axes={"words": axes, "kinds": axes, **{name: {0: "batch"} for name in ("figures", *OUTPUTS)}},
        opset_version=OPSET,
        dynamo=False,
    )


def seeded(recipe: Recipe, seed: int) -> Recipe:
    """The same recipe with another seed."""
    return replace(recipe, seed=seed)
