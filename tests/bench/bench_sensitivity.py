"""Measures the detector of sensitive content on a labelled set: precision and recall by type, tiers, and time.

`python tests/bench/bench_sensitivity.py FILE [--half seen|blind] [--errors]` reads JSON Lines with `text`, `tier` and
`spans`. A span is found where one of its type overlaps it; `exact` counts those with the very same ends.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.sensitivity.detector import find_sensitive, tier_of
from core.types.sensitivity import SensitiveType

Place = tuple[str, int, int]


def overlaps(one: Place, other: Place) -> bool:
    """Whether two places of one type share a sign."""
    return one[0] == other[0] and one[1] < other[2] and other[1] < one[2]


def wanted_places(row: Mapping[str, Any]) -> set[Place]:
    """The labelled places of a line."""
    return {(span["type"], span["start"], span["end"]) for span in row["spans"]}


def found_places(text: str) -> set[Place]:
    """The places that the detector finds."""
    return {(span.type.value, span.start, span.end) for span in find_sensitive(text)}


def count_line(counts: Counter[tuple[str, str]], wanted: set[Place], found: set[Place]) -> list[str]:
    """Add one line to the counts; what is wrong with it, in words."""
    wrong = []
    for place in wanted:
        hit = any(overlaps(place, other) for other in found)
        counts[place[0], "hit" if hit else "missed"] += 1
        counts[place[0], "exact"] += place in found
        wrong += [] if hit else [f"missed {place}"]
    for place in found:
        false = not any(overlaps(place, other) for other in wanted)
        counts[place[0], "false" if false else "right"] += 1
        wrong += [f"false {place}"] if false else []
    return wrong


def share(part: int, whole: int) -> str:
    """A part of a whole as a decimal fraction."""
    return f"{part / whole:.3f}" if whole else "  -  "


def print_figures(rows: Iterable[Mapping[str, Any]], *, errors: bool) -> None:
    """Count and print."""
    counts: Counter[tuple[str, str]] = Counter()
    tiers = lines = 0
    begun = time.process_time()
    for row in rows:
        lines += 1
        wrong = count_line(counts, wanted_places(row), found_places(row["text"]))
        right = tier_of(find_sensitive(row["text"])) == row["tier"]
        tiers += right
        if errors and (wrong or not right):
            print(f"{row['id']} {row['text']!r}: {'; '.join(wrong)}")
    took = (time.process_time() - begun) / max(1, lines * 2)
    print(f"{'type':14} {'n':>4} {'recall':>7} {'prec.':>7} {'exact':>7} {'missed':>6} {'false':>6}")
    for kind in SensitiveType:
        hit, missed, exact, right, false = (
            counts[kind.value, one] for one in ("hit", "missed", "exact", "right", "false")
        )
        figures = (share(hit, hit + missed), share(right, right + false), share(exact, hit + missed))
        print(f"{kind.value:14} {hit + missed:4} {figures[0]:>7} {figures[1]:>7} {figures[2]:>7} {missed:6} {false:6}")
    print(f"tier right: {share(tiers, lines)} of {lines}; {took * 1e6:.0f} µs of processor time a text")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--half", choices=("seen", "blind"))
    parser.add_argument("--errors", action="store_true")
    asked = parser.parse_args()
    rows = [json.loads(line) for line in asked.file.read_text("utf-8").splitlines() if line]
    find_sensitive("the vocabularies are read here")
    print_figures((row for row in rows if asked.half in {None, row.get("half")}), errors=asked.errors)


if __name__ == "__main__":
    main()
