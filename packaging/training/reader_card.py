"""Figures of the reader on authors that no fit saw, and the card that describes the model.

Must not do: train, or read a labelled set that measures the reader elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.talk.reader_features import ASSERTIONS, SPANS, TYPES, read_logits
from core.types.talk import Reading
from reader_net import Sample
from talk_data import LabelledSentence

_KINDS = tuple(enumerate(TYPES[:-1]))


def measure(
    said: Sequence[tuple[NDArray[Any], NDArray[Any]]], rows: Sequence[Sample], temperatures: Mapping[str, float]
) -> dict[str, Any]:
    """How often the reader is right.

    Args:
        said: the logits of each sentence and of its tokens.
        rows: the same sentences with their labels.
        temperatures: that the logits are divided by.
    """
    readings = [read_logits(*each, row.features, temperatures) for each, row in zip(said, rows, strict=True)]
    labels = np.array([row.labels for row in rows])
    worth = labels[:, 3] > 0
    states = np.array([reading.statement for reading in readings])
    types = np.array([TYPES.index(reading.type) for reading in readings])
    assertions = np.array([ASSERTIONS.index(reading.assertion) for reading in readings])
    lasting = np.array([reading.lasting for reading in readings]) >= 0.5
    return {
        "sentences": len(rows),
        "statement": {str(at): _precision_recall(states >= at, worth) for at in (0.3, 0.5, 0.7, 0.8, 0.9)},
        "type_of_statements": round(float((types == labels[:, 0])[worth].mean()), 4),
        "type_of_found": round(float((types == labels[:, 0])[worth & (states >= 0.5)].mean()), 4),
        "types": {kind.value: _precision_recall(types[worth] == nr, labels[worth, 0] == nr) for nr, kind in _KINDS},
        "assertion": round(float((assertions == labels[:, 1]).mean()), 4),
        "asserted": _precision_recall(
            np.array([reading.asserted for reading in readings]) >= 0.5, (labels[:, 1] == 0) | (labels[:, 1] == 1)
        ),
        "lasting_of_statements": round(float((lasting == (labels[:, 2] == 1))[worth].mean()), 4),
        "spans": {name: _span_figures(nr, readings, rows, worth) for nr, name in enumerate(SPANS)},
    }


def _precision_recall(said: NDArray[np.bool_], true: NDArray[np.bool_]) -> list[float]:
    right = int((said & true).sum())
    return [round(right / max(1, int(said.sum())), 4), round(right / max(1, int(true.sum())), 4)]


def _span_figures(
    nr: int, readings: Sequence[Reading], rows: Sequence[Sample], asked: NDArray[np.bool_]
) -> list[float]:
    """Precision and recall of exactly the same characters, over the sentences that state something."""
    given = right = there = 0
    for reading, row in zip(
        (r for r, is_asked in zip(readings, asked, strict=True) if is_asked),
        (r for r, is_asked in zip(rows, asked, strict=True) if is_asked),
        strict=True,
    ):
        start, end = row.pointers[2 * nr : 2 * nr + 2]
        offsets = row.features.offsets
        true = (offsets[start - 1][0], offsets[end - 1][1]) if start else None
        found = reading.spans.get(SPANS[nr])
        given, there = given + (found is not None), there + (true is not None)
        right += found is not None and found == true
    return [round(right / max(1, given), 4), round(right / max(1, there), 4)]


def describe(path: Path, manifest: Mapping[str, Any], sentences: Sequence[LabelledSentence]) -> None:
    """Write the card.

    Args:
        path: of CARD.md.
        manifest: what `train_reader.py` wrote.
        sentences: all labelled sentences.
    """
    figures, recipe = manifest["held_out"], manifest["training"]["recipe"]
    lasting, assertion = figures["lasting_of_statements"], figures["assertion"]
    kind, found = figures["type_of_statements"], figures["type_of_found"]
    authors = {each.author for each in sentences}
    held = {each.author for each in sentences if each.is_held_out}
    statement = "\n".join(f"| {at} | {p:.3f} | {r:.3f} |" for at, (p, r) in figures["statement"].items())
    types = "\n".join(f"| {name} | {p:.3f} | {r:.3f} |" for name, (p, r) in figures["types"].items())
    spans = "\n".join(f"| {name} | {p:.3f} | {r:.3f} |" for name, (p, r) in figures["spans"].items())
    renewed, mean, taught = _tell_making(manifest["training"])
    path.write_text(
        f"""# The reader

Says of a sentence in its talk what it states: whether it is worth keeping, its type, whether it is asserted, whether it
lasts, and where subject, property, value and time stand. It runs on the processor, without a server or a network.

- **What it is**: {len(recipe["layers"])} layers of the bundled embedder (`../minilm`, Apache-2.0), fine-tuned, with a
  head over the sentence and one over its tokens. It shares the embedder's tokenizer and word vectors, so only the
  layers are here, as int8 ONNX. It reads 64 tokens of the sentence, 20 of the turn before and 12 of the same turn.
  {renewed}
- **What it learned from**: {manifest["training"]["sentences"]} sentences of {len(authors - held)} invented authors and
  {manifest["training"]["notes"]} plain notes of the relation pairs, written for this project
  (`packaging/training/README.md`). {len(held)} more authors were held out from every fit.
- **How it was made**: `packaging/training/train_reader.py`, {recipe["epochs"]} epochs; {mean}.
  {taught}One author in ten calibrates.
- **Licence**: Apache-2.0 (LICENSE), as the embedder it was tuned from; changed here as told above.
- **Limits**: English; knows nothing of who said what, which `core.talk` finds.

## Held-out authors: {figures["sentences"]} sentences

| states something worth keeping, from | precision | recall |
|---|---|---|
{statement}

Type of those that do: **{kind:.3f}**, of those it finds from 0.5: **{found:.3f}**; lasting or passing: {lasting:.3f};
assertion of all: {assertion:.3f}. The labels of type and duration are one hand's, after a written guide.

| type | precision | recall |
|---|---|---|
{types}

| exactly these characters | precision | recall |
|---|---|---|
{spans}
""",
        "utf-8",
    )


def _tell_making(training: Mapping[str, Any]) -> tuple[str, str, str]:
    """What its layers renew, of how many models it is the mean, and what a teacher had in it."""
    renewed = (
        "Each layer renews all of them."
        if training["recipe"]["renews_all"]
        else "Its layers renew the sentence's tokens alone, which see the others as words: less than half the work."
    )
    models, teacher = training["models"], training["teacher"]
    mean = f"the mean of the weights of {models} models" if models > 1 else "one model"
    taught = (
        f"It began with the weights of a larger reader ({teacher[:12]}) and learned from what that says too.\n  "
        if teacher
        else ""
    )
    return renewed, mean, taught
