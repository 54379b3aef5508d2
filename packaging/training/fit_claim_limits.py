"""Set the limits of resources/model/claims again: how sure the claim model must be to add or replace a claim.

Run by hand after the model or the rules changed; no torch is needed:

    PYTHONPATH=. python packaging/training/fit_claim_limits.py [--least 0.922] [--write]

The limits are chosen on lines of our own whose authors taught nothing and that were read since: half `fit` of
`claims_voices.jsonl`, `claims_tongues.jsonl`, `claims_yards.jsonl` and `claims_lodgers.jsonl` in tests/bench/heldout,
and tests/bench/claims_heldout.jsonl. Of all limits whose precision is at least `--least` those with the most right
claims are taken; what is shown beside are half `held`, `claims_strangers.jsonl` and `claims_travellers.jsonl`, which
choose no limit. Must not do: read a
labelled set from outside.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from core.belief.extract.claim_model import LIMITS, ClaimModel, ClaimReading, claims_folder  # noqa: E402
from core.belief.extract.extraction import canonical_form, extract_claims  # noqa: E402
from core.belief.extract.normal_form import value_key  # noqa: E402

BENCH = ROOT / "tests" / "bench"
FIT = (
    "heldout/claims_tongues.jsonl",
    "heldout/claims_yards.jsonl",
    "heldout/claims_lodgers.jsonl",
    "claims_heldout.jsonl",
)
HELD = "heldout/claims_strangers.jsonl", "heldout/claims_travellers.jsonl"
ADDED = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95)
REPLACES = (0.6, 0.7, 0.8, 0.9, 2.0)
BACKED = (0.0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5)


class KnownReadings(ClaimModel):
    """The shipped model that reads every sentence once, with limits that may be set."""

    def __init__(self) -> None:
        """Make one; nothing is read yet."""
        super().__init__()
        self._read: dict[str, ClaimReading] = {}
        self._card = self.card

    def read(self, sentence: str) -> ClaimReading:
        """Read a sentence, or say again what was read."""
        if sentence not in self._read:
            self._read[sentence] = super().read(sentence)
        return self._read[sentence]

    def set_limits(self, limits: Mapping[str, float]) -> None:
        """From now on with these limits."""
        self._card = replace(self.card, limits=limits)


@dataclass(frozen=True)
class Score:
    """Claims that were right, missed and wrong."""

    right: int
    missed: int
    wrong: int

    @property
    def precision(self) -> float:
        """Of those read, how many are right."""
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        """Of those there are, how many were read."""
        return self.right / max(1, self.right + self.missed)


def score_lines(lines: Sequence[Mapping[str, Any]], model: ClaimModel | None) -> Score:
    """How well lines are read, by rules and a model, or by rules alone."""
    right = missed = wrong = 0
    for line in lines:
        want = {(value_key(one["subject"]), one["predicate"], value_key(one["value"])) for one in line["claims"]}
        got = {canonical_form(draft) for draft in extract_claims(line["text"], model=model)}
        right, missed, wrong = right + len(want & got), missed + len(want - got), wrong + len(got - want)
    return Score(right, missed, wrong)


def load_half(half: str) -> list[dict[str, Any]]:
    """Lines of our own: `fit`, which chooses, or `held`."""
    lines = [line for line in _load("heldout/claims_voices.jsonl") if line["half"] == half]
    for name in FIT if half == "fit" else HELD:
        lines += _load(name)
    return lines


def _load(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (BENCH / name).read_text("utf-8").splitlines()]


def fit_limits(model: KnownReadings, lines: Sequence[Mapping[str, Any]], least: float) -> dict[str, float]:
    """The limits with the most right claims at a precision, the strictest of equals."""
    best: tuple[int, tuple[float, float, float]] = (-1, (1.0, 2.0, 0.0))
    for chosen in product(ADDED, REPLACES, BACKED):
        model.set_limits(dict(zip(LIMITS, chosen, strict=True)))
        score = score_lines(lines, model)
        if score.precision >= least and (score.right, chosen) > best:
            best = score.right, chosen
    return dict(zip(LIMITS, best[1], strict=True))


def main() -> None:
    """Choose, show, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--least", type=float, default=0.922, help="the least precision on the lines that choose")
    parser.add_argument("--write", action="store_true", help="write the limits into the model's manifest")
    chosen = parser.parse_args()
    model, fit, held = KnownReadings(), load_half("fit"), load_half("held")
    limits = fit_limits(model, fit, chosen.least)
    model.set_limits(limits)
    print(json.dumps(limits))
    for name, lines in (("fit", fit), ("held", held)):
        for by, reader in (("rules", None), ("rules and model", model)):
            score = score_lines(lines, reader)
            print(f"{name}, {by}: precision {score.precision:.3f}, recall {score.recall:.3f}")
    if chosen.write:
        path = Path(str(claims_folder())) / "manifest.json"
        manifest = json.loads(path.read_text("utf-8"))
        path.write_text(json.dumps(manifest | {"limits": limits}, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
