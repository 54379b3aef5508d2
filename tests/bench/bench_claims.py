"""How well claims are read from sentences: bench_claims.py FOLDER_OR_FILE [--errors] [--rules] [--half held].

A folder holds `claims-dev.jsonl`; a file holds lines of the same form: `text` and `claims` of `{subject, predicate,
value, polarity}`, and perhaps `half`. Claims are read as of a text that is stored, by rules and the claim model. A
claim is right if subject, predicate and value are, after normalising. Not a test: it asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from core.belief.extract.claim_model import ClaimModel  # noqa: E402
from core.belief.extract.extraction import canonical_form, extract_claims  # noqa: E402
from core.belief.extract.frames import predicate_names  # noqa: E402
from core.belief.extract.normal_form import value_key  # noqa: E402

Key = tuple[str, str, str]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("where", type=Path)
    parser.add_argument("--errors", action="store_true", help="show what was missed and what was wrong")
    parser.add_argument("--rules", action="store_true", help="by rules alone")
    parser.add_argument("--half", default="", help="only the lines of this half")
    chosen = parser.parse_args(arguments)
    model = None if chosen.rules else ClaimModel()
    path = chosen.where / "claims-dev.jsonl" if chosen.where.is_dir() else chosen.where
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    lines = [line for line in lines if not chosen.half or line["half"] == chosen.half]
    right: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    other_sign = 0
    extract_claims("warm up", model=model)
    began = time.perf_counter()
    read = [extract_claims(line["text"], model=model) for line in lines]
    took = time.perf_counter() - began
    for line, drafts in zip(lines, read, strict=True):
        want = {_key(claim): claim["polarity"] for claim in line["claims"]}
        got = {canonical_form(draft): draft.polarity for draft in drafts}
        right.update(key[1] for key in want.keys() & got.keys())
        missed.update(key[1] for key in want.keys() - got.keys())
        wrong.update(key[1] for key in got.keys() - want.keys())
        other_sign += sum(want[key] != got[key] for key in want.keys() & got.keys())
        if chosen.errors and want != got:
            _show(line["text"], want, got)
    _table(right, missed, wrong)
    print(f"polarity wrong: {other_sign}   {len(lines)} lines, {1000 * took / max(1, len(lines)):.3f} ms a line")


def _key(claim: dict[str, str]) -> Key:
    return value_key(claim["subject"]), claim["predicate"], value_key(claim["value"])


def _show(text: str, want: dict[Key, str], got: dict[Key, str]) -> None:
    print(text)
    for key in sorted(want.keys() - got.keys()):
        print("   missed", *key, sep=" | ")
    for key in sorted(got.keys() - want.keys()):
        print("   wrong ", *key, sep=" | ")
    for key in sorted(key for key in want.keys() & got.keys() if want[key] != got[key]):
        print("   sign  ", *key, got[key], sep=" | ")


def _table(right: Counter[str], missed: Counter[str], wrong: Counter[str]) -> None:
    print(f"{'':18}{'right':>6}{'missed':>8}{'wrong':>7}{'P':>7}{'R':>7}{'F1':>7}")
    for name in predicate_names():
        if right[name] or missed[name] or wrong[name]:
            _row(name, right[name], missed[name], wrong[name])
    _row("all", right.total(), missed.total(), wrong.total())


def _row(name: str, right: int, missed: int, wrong: int) -> None:
    precision = right / (right + wrong) if right + wrong else 1.0
    recall = right / (right + missed) if right + missed else 1.0
    balance = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    print(f"{name:18}{right:6}{missed:8}{wrong:7}{precision:7.3f}{recall:7.3f}{balance:7.3f}")


if __name__ == "__main__":
    main()
