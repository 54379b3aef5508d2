"""The relation model's card: what it is, what it learned from, how often it is right.

Must not do: compute a score.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_CARD = """# The relation model

Says how a new memory relates to one that stands: DUPLICATE, SUPERSEDE, MERGE or COEXIST, each with a probability;
whether it ends that one; and how well a memory answers a question. It runs on the processor, without a server or a
network.

- **What it is**: {layers} layers of the bundled embedder (`../minilm`, Apache-2.0), fine-tuned as a cross-encoder
  that reads both texts at once, with a small head. It shares the embedder's tokenizer and word vectors, so only the
  layers are here: int8 ONNX, {size:.1f} MB. Besides the words it sees whether each word is a number, a name, or also
  in the other text, and {figures} figures of overlap (`core/belief/relate/features.py`).
- **What it learned from**: {pairs} pairs written for this project by its makers, without any outside text
  (`packaging/training/README.md`); SHA-256 of the set `{digest}`. Labels: {labels}.
- **How it was made**: `packaging/training/relation_model/train_relations.py`, {epochs} epochs; the mean of the weights
  of {models} models: {whole} learned from every file but the everyday ones (remarks, stories), the rest without two
  more; then a short pass over the same files, two over every pair, and the mean of three such endings. The word vectors
  are kept.
- **Licence**: Apache-2.0 (LICENSE), as the embedder it was tuned from; changed here as told above.
- **Limits**: English; reads 64 tokens of each text; knows nothing of who said what, which is the gate's work.

## Held-back scores

{count} pairs of whole files, each read as int8 by a model that never saw the file, nor any of its notes elsewhere. Each
file was written by itself and has its own field of life or kind of wording. The models measured here learned from fewer
pairs than the one that ships.

| file held back | pairs | accuracy |
|---|---|---|
{files}

Accuracy over the four labels: **{accuracy:.3f}**

| is \\ said | DUPLICATE | SUPERSEDE | MERGE | COEXIST |
|---|---|---|---|---|
{confusion}

Calibration: the softmax at temperature {heat}; the share from which a label may be acted on is bent to {acted_on}. Both
are fitted on the held-back pairs: the share is the least from which the label's
precision is, nine times in ten, above what is asked of it (Wilson's bound, one-sided). The temperature is that of the
models measured times {flat}: by this much the logits of the one that ships are larger or smaller, which was measured
without labels.

Given with a confidence of {acted_on} or more:

| label | share of the softmax | asked | right | share of the label's pairs found |
|---|---|---|---|---|
{acted}
{asked}{ended}"""
_ASKED = """
## Answers

`packaging/training/relation_model/train_heads.py` went on from that model: it learned {questions} questions of
{persons} invented persons, and to say of pairs what it said before. On pairs of notes that taught nothing ({pairs}) it
gives the label of the file that it went on from in {agreement:.3f}; the figures above are those of the first model. Of
short notes beside plain ends and what only looks like one it learned the labels: of {plain} such pairs of notes that
taught nothing it gives {plain_right:.3f} the right one.

{asked} questions of {held} persons who taught nothing, beside the eight statements nearest by the embedder: the one
with the greatest log odds answers {first_right:.3f} of them, the nearest {nearest_right:.3f}. Log odds of {least} or
more are said to be sure: where half of the questions have no answer, {right_of_found:.2f} of the best ones that reach
that answer, and {answers_found:.3f} of the questions that have an answer get one so.
"""
_ENDED = """
## What a later word ends

The same script taught it, of {lines} later lines of {persons} invented persons ({ending} end something; one person in
twelve taught nothing), of `changes/` and of the everyday pairs, which of the statements near it each ends, if any: they
are weighed against each other and against none of them. {weighed} lines of the {held} persons who taught nothing, more
than half of which end something, each beside the five statements nearest by the embedder: from a share of {sure_from}
on, {found:.3f} of the lines that end something are found, and {right_of_found:.3f} of what is found is right. In a
vault most of what is told ends nothing, so there the share that is right is smaller, and words have to tell it, too.
"""


@dataclass(frozen=True)
class Scores:
    """Held-back figures.

    Attributes:
        pairs: how many.
        accuracy: 0 to 1.
        confusion: rows what is right, columns what was said.
        acted: by label: precision and coverage at the threshold.
        files: by file held back: how many pairs, and the accuracy.
    """

    pairs: int
    accuracy: float
    confusion: list[list[int]]
    acted: dict[str, dict[str, float | None]]
    files: dict[str, dict[str, float]]

    def as_dict(self) -> dict[str, Any]:
        """As it stands in the manifest."""
        return asdict(self)


def write_card(path: Path, manifest: dict[str, Any], scores: Scores, figures: int = 16) -> None:
    """Write CARD.md beside the model.

    Args:
        manifest: as written.
        scores: held-back figures.
        figures: how many figures the model reads.
    """
    trained, labels = manifest["training"], manifest["labels"]
    told = zip(labels, scores.confusion, strict=True)
    rows = [f"| {name} | " + " | ".join(map(str, row)) + " |" for name, row in told]
    fitted = manifest["calibration"]
    acted = [
        f"| {name} | {fitted['sure_at'][name]} | {fitted['right_above'][name]} | {_share(row['precision'])} "
        f"| {_share(row['coverage'])} |"
        for name, row in scores.acted.items()
    ]
    asked, ended = manifest.get("asked"), manifest.get("ended")
    text = _CARD.format(
        layers=len(trained["layers"]),
        size=path.with_name("model.onnx").stat().st_size / 1e6,
        figures=figures,
        pairs=trained["pairs"],
        digest=trained["sha256"],
        labels=", ".join(f"{name} {count}" for name, count in trained["labels"].items()),
        epochs=trained["epochs"],
        models=trained["models"],
        whole=trained["learned_from_all"],
        flat=trained["flatness"],
        files="\n".join(
            f"| `{name}` | {row['pairs']} | {_share(row['accuracy'])} |" for name, row in scores.files.items()
        ),
        count=scores.pairs,
        accuracy=scores.accuracy,
        confusion="\n".join(rows),
        heat=fitted["temperature"],
        acted_on=fitted["acted_on"],
        acted="\n".join(acted),
        asked="" if asked is None else _ASKED.format(**asked, least=fitted["answers_from"]),
        ended="" if ended is None else _ENDED.format(**ended),
    )
    path.write_text(text, "utf-8")


def _share(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"
