"""How well questions are understood: python tests/bench/bench_understand.py FOLDER [--errors] [--half a].

FOLDER holds `temporal-dev.jsonl` (`now`, `query`, `from`, `to`) and `intent-dev.jsonl` (`query`, `label`). The same is
measured on the project's own lines in `tests/bench/heldout`, each half of them for itself; `--errors` shows what went
wrong in FOLDER and in the first half only, so that the other one stays unseen. Not a test: it asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from core.text.query_plan import understand_question  # noqa: E402
from core.types.recall import QueryPlan  # noqa: E402

Line = dict[str, Any]
OWN = ROOT / "tests" / "bench" / "heldout"
NOON_MS = 1_780_000_000_000


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--errors", action="store_true", help="show what went wrong, but never of the held half")
    chosen = parser.parse_args(arguments)
    for kind, wrong in (("temporal", _wrong_time), ("intent", _wrong_intent)):
        own = _read(OWN / f"{kind}.jsonl")
        sets = {
            f"{kind} dev": _read(chosen.folder / f"{kind}-dev.jsonl"),
            f"{kind} own, seen half": [line for line in own if line["half"] == "a"],
            f"{kind} own, held half": [line for line in own if line["half"] == "b"],
        }
        for name, lines in sets.items():
            failures = [(line, said) for line in lines if (said := wrong(line))]
            print(f"{name:26} {len(lines) - len(failures):>4}/{len(lines):<4} {1 - len(failures) / len(lines):.1%}")
            if chosen.errors and "held" not in name:
                for line, said in failures:
                    print(f"    {line.get('now', '')[:10]:10} {line['query']}\n        {said}")
    _times([line["query"] for line in _read(chosen.folder / "intent-dev.jsonl")])


def _wrong_time(line: Line) -> str:
    plan = _plan(line)
    got = (plan.time.first_day, plan.time.last_day) if plan.time else (None, None)
    want = (line["from"], line["to"])
    words = plan.time.words if plan.time else ""
    return "" if got == want else f"want {want}, got {got} from {words!r}"


def _wrong_intent(line: Line) -> str:
    plan = _plan(line)
    scores = ", ".join(f"{name} {score:.2f}" for name, score in plan.intent_scores.items() if score > 0)
    return "" if plan.intent == line["label"] else f"want {line['label']}, got {plan.intent.value} ({scores})"


def _plan(line: Line) -> QueryPlan:
    now = datetime.fromisoformat(line["now"]).replace(tzinfo=UTC) if "now" in line else None
    return understand_question(line["query"], int(now.timestamp() * 1000) if now else NOON_MS, UTC)


def _read(path: Path) -> list[Line]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _times(queries: Sequence[str]) -> None:
    took = []
    for query in [*queries[:5], *(query for _ in range(20) for query in queries)]:
        began = time.thread_time()
        understand_question(query, NOON_MS, UTC)
        took.append(1000 * (time.thread_time() - began))
    cuts = statistics.quantiles(took[5:], n=100)
    print(
        f"processor time of a query: {cuts[49]:.3f} ms in the middle, {cuts[94]:.3f} ms at p95, {max(took):.3f} at most"
    )


if __name__ == "__main__":
    main()
