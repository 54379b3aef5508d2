"""How soon `loci mcp` answers and how much memory it takes: python tests/bench/bench_mcp.py [--rounds 10] [--json].

A vault of its own, a `loci serve`, and servers of each profile: from the start of the process to the answer of
`initialize`, its resident memory then and after calls, calls one after another, and many servers at once.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers")]

import psutil  # noqa: E402
from cli_rig import Palace, make_template, palace_from  # noqa: E402
from mcp_rig import RawMcp, pair  # noqa: E402

from app.bench.machine import describe_machine  # noqa: E402
from app.mcp.tools import PROFILES  # noqa: E402

MANY = 8
CALLS = 50


def resident_mb(raw: RawMcp) -> float:
    return psutil.Process(raw.process.pid).memory_info().rss / 1e6


def one_round(palace: Palace, profile: str) -> dict[str, float]:
    begun = time.perf_counter()
    with RawMcp(palace, "--client", "it", "--tools", profile) as raw:
        raw.greet()
        greeted = time.perf_counter()
        raw.ask(1, "tools/list")
        listed = time.perf_counter()
        raw.tool(2, "memory_search", {"query": "bicycle"})
        first = time.perf_counter()
        times = []
        for number in range(CALLS):
            asked = time.perf_counter()
            raw.tool(f"c{number}", "memory_search", {"query": "bicycle"})
            times.append((time.perf_counter() - asked) * 1000)
        memory = resident_mb(raw)
        closing = time.perf_counter()
        raw.close()
        ended = time.perf_counter()
    return {
        "initialize_s": greeted - begun,
        "list_ms": (listed - greeted) * 1000,
        "first_call_ms": (first - listed) * 1000,
        "call_p50_ms": median(times),
        "call_p95_ms": sorted(times)[int(len(times) * 0.95)],
        "rss_mb": memory,
        "close_s": ended - closing,
    }


def many_at_once(palace: Palace) -> dict[str, float]:
    begun = time.perf_counter()
    servers = [RawMcp(palace, "--client", "it") for _ in range(MANY)]
    try:
        for raw in servers:
            raw.greet()
        for raw in servers:
            raw.tool(1, "memory_search", {"query": "bicycle"})
        took = time.perf_counter() - begun
        return {"servers": MANY, "all_answered_s": took, "rss_mb": sum(resident_mb(raw) for raw in servers) / MANY}
    finally:
        for raw in servers:
            raw.__exit__()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a").mkdir()
        (Path(folder) / "b").mkdir()
        palace = palace_from(make_template(Path(folder) / "a"), Path(folder) / "b")
        pair(palace, "it", "read")
        palace.json("remember", "The person owns a red bicycle.")
        found: dict[str, object] = {"machine": describe_machine()}
        with palace.serving():
            for profile in PROFILES:
                rounds = [one_round(palace, profile) for _ in range(asked.rounds)]
                found[profile] = {name: round(median(one[name] for one in rounds), 3) for name in rounds[0]}
                found[f"{profile}_slowest_initialize_s"] = round(max(one["initialize_s"] for one in rounds), 3)
            found["many"] = {name: round(value, 3) for name, value in many_at_once(palace).items()}
    print(json.dumps(found, indent=2, default=str))


main()
