"""How well the relation model reads labelled pairs: python tests/bench/bench_relations.py FOLDER [--errors 10].

FOLDER holds `belief-pairs-dev.jsonl`. Prints the accuracy over the four labels, the confusion matrix, how often an
applied SUPERSEDE or MERGE (confidence 0.8 or more) is right and how much is applied, the worst errors by id, and the
time for five pairs. Asserts nothing.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from core.belief.relate.relation_model import RelationModel  # noqa: E402
from core.belief.trust_gate import may_act_on  # noqa: E402
from core.types.belief import ACTED_ON, LABELS, ClaimDraft, ComparedText, Label, Relation  # noqa: E402

NAME = "belief-pairs-dev.jsonl"


@dataclass(frozen=True)
class Row:
    """One labelled pair."""

    id: str
    existing: ComparedText
    incoming: ComparedText
    label: Label


def reader() -> Callable[[str], tuple[ClaimDraft, ...]]:
    """The project's claim reader."""
    found: Callable[[str], tuple[ClaimDraft, ...]] = importlib.import_module(
        "core.belief.extract.extraction"
    ).extract_claims
    return found


def load(path: Path, read: Callable[[str], tuple[ClaimDraft, ...]]) -> list[Row]:
    """The labelled pairs of a file."""

    def told(side: dict[str, Any]) -> ComparedText:
        return ComparedText(side["text"], None, read(side["text"]))

    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    return [Row(line["id"], told(line["existing"]), told(line["new"]), Label(line["label"])) for line in lines]


def print_confusion(rows: Sequence[Row], said: Sequence[Relation]) -> None:
    """Rows what is right, columns what was said."""
    print(f"{'is / said':<12}" + "".join(f"{label.value:>11}" for label in LABELS))
    for label in LABELS:
        counts = [
            sum(row.label is label and one.label is other for row, one in zip(rows, said, strict=True))
            for other in LABELS
        ]
        print(f"{label.value:<12}" + "".join(f"{count:>11}" for count in counts))


def print_applied(rows: Sequence[Row], said: Sequence[Relation]) -> None:
    """Precision and coverage of what would be applied without a person."""
    for labels in ((Label.SUPERSEDE,), (Label.MERGE,), (Label.SUPERSEDE, Label.MERGE), LABELS):
        name = "+".join(label.value for label in labels) if len(labels) < 4 else "all four"
        sure = [
            row.label is one.label
            for row, one in zip(rows, said, strict=True)
            if may_act_on(one) and one.label in labels
        ]
        whole = sum(row.label in labels for row in rows)
        right = f"{sum(sure) / len(sure):.3f}" if sure else "none"
        print(f"at {ACTED_ON} or more, {name:<16} right {right}, {len(sure)} given, {sum(sure)} of {whole} found")


def print_time(model: RelationModel, rows: Sequence[Row]) -> None:
    """The time for five pairs, one call."""
    pairs = [(row.existing, row.incoming) for row in rows]
    times = []
    for start in range(200):
        five = [pairs[(start * 5 + i) % len(pairs)] for i in range(5)]
        begun = time.perf_counter()
        model.classify(five)
        times.append((time.perf_counter() - begun) * 1000)
    times.sort()
    print(f"five pairs: p50 {statistics.median(times):.1f} ms, p95 {times[int(len(times) * 0.95)]:.1f} ms")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--errors", type=int, default=10)
    parser.add_argument("--no-claims", action="store_true", help="leave out what was read from the texts")
    arguments = parser.parse_args()
    rows = load(arguments.folder / NAME, (lambda _: ()) if arguments.no_claims else reader())
    model = RelationModel()
    said = model.classify([(row.existing, row.incoming) for row in rows])
    right = sum(row.label is one.label for row, one in zip(rows, said, strict=True))
    print(f"model {model.card.version}: {right / len(rows):.3f} right of {len(rows)}")
    print_confusion(rows, said)
    print_applied(rows, said)
    wrong = [(one.confidence, row, one) for row, one in zip(rows, said, strict=True) if row.label is not one.label]
    for confidence, row, one in sorted(wrong, key=lambda item: -item[0])[: arguments.errors]:
        print(f"  {row.id}: {row.label.value} read as {one.label.value}, {confidence:.2f} ({one.reason})")
    print_time(model, rows)


if __name__ == "__main__":
    main()
