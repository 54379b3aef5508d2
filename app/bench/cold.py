"""A cold start in a process of its own: unlock a vault, ask it once, wait for its index, ask on.

Run as `python -m app.bench.cold`; the orders come on standard input and the figures go to standard output, both one
JSON document. Nothing of Loci is imported before the memory of the bare process is known. Must not do: write into the
vault by itself.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from app.bench.machine import resident_mb


def measure_start(orders: Mapping[str, Any]) -> dict[str, Any]:
    """Open a vault and ask it.

    Args:
        orders: `{home, secret, queries, started}`: the home, the file of its passphrase, the questions, and when the
            process was started on the monotonic clock of this machine.

    Returns:
        `{start_ms, kdf_ms, unlock_ms, first_ms, warm_ms, linked_ms, answers_ms, closing_ms, index, memory}`; `start_ms`
        is the interpreter and all imports, `first_ms`, `warm_ms` and `linked_ms` count from the begin of unlocking.
    """
    bare = resident_mb()
    from app.bench.engine import Bench  # what it takes to be there is part of what is measured

    bench = Bench.from_paths(orders["home"], orders["secret"])
    clock = bench.clock
    started = clock.monotonic()
    figures: dict[str, Any] = {"start_ms": _to_ms(started - orders["started"])}
    root = bench.open_root()
    figures["kdf_ms"] = _to_ms(clock.monotonic() - started)
    begun = clock.monotonic()
    with bench.open_engine(root) as palace:
        figures["unlock_ms"] = _to_ms(clock.monotonic() - begun)
        palace.time_question(orders["queries"][0])
        figures["first_ms"] = _to_ms(clock.monotonic() - begun)
        figures["warm_ms"] = _to_ms(palace.wait_until_loaded() - begun)
        figures["linked_ms"] = _to_ms(palace.wait_until_linked() - begun)
        opened = resident_mb()
        figures["answers_ms"] = [round(palace.time_question(query), 3) for query in orders["queries"][1:]]
        figures["index"] = palace.read_index_state()
        figures["memory"] = {
            "bare_mb": bare,
            "opened_mb": opened,
            "asked_mb": resident_mb(),
            "peak_mb": resident_mb(peak=True),
        }
        begun = clock.monotonic()
    figures["closing_ms"] = _to_ms(clock.monotonic() - begun)
    return figures


def _to_ms(seconds: float) -> float:
    return round(seconds * 1000, 1)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure_start(json.load(sys.stdin))))
