"""Measures the injection scan on a labelled set: attacks kept out of automatic context, harmless texts blocked.

`python tests/bench/bench_injection.py FOLDER` reads FOLDER/injection-dev.jsonl and prints counts and times, no text.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.text.screening.injection import ScanLimits, scan_text

OWN = Path(__file__).resolve().parents[1] / "fixtures" / "injection"


def own(kept: str = "") -> list[tuple[str, str]]:
    """Our own texts with their labels; `held_` and `standing_` for those the rules were not made for."""
    names = ((f"{kept}attacks.txt", "attack"), (f"{kept}benign.txt", "benign"))
    return [
        (line.replace("\\n", "\n"), label)
        for name, label in names
        for line in (OWN / name).read_text("utf-8").splitlines()
        if line
    ]


def measured(name: str, rows: list[tuple[str, str]]) -> None:
    """Print the figures of one set."""
    limits, begun = ScanLimits(), time.perf_counter()
    scores = [(scan_text(text).score, label) for text, label in rows]
    took = (time.perf_counter() - begun) * 1000 / max(1, len(rows))
    for wanted in ("attack", "benign"):
        found = [score for score, label in scores if label == wanted]
        counts = [sum(score > limit for score in found) for limit in (limits.flag, limits.block, limits.hard)]
        print(f"{name} {wanted}: {len(found)}; out of context {counts[0]}, blocked {counts[1]}, held {counts[2]}")
    print(f"{name}: {took:.2f} ms a text")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    lines = (parser.parse_args().folder / "injection-dev.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line]
    measured("own", own())
    measured("held", own("held_"))
    measured("standing", own("standing_"))
    measured("kinds", own("kinds_"))
    measured("kinds, held", own("kinds_held_"))
    measured("reworded", own("reworded_"))
    measured("reworded, held", own("reworded_held_"))
    measured("given", [(row["text"], row["label"]) for row in rows])


if __name__ == "__main__":
    main()
