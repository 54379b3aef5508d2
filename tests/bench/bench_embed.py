"""Texts a second of the built-in embedder: python tests/bench/bench_embed.py [--n 2000].

Not a test: it prints a table and asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from core.embed.embedder import MiniLmEmbedder  # noqa: E402


def machine() -> str:
    """The machine's size in words."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}, load {load:.1f} at the start"


def resident_mb() -> float:
    """Resident memory of this process in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def rate(texts: list[str], run: Callable[[list[str]], object]) -> float:
    """Texts a second."""
    start = time.perf_counter()
    run(texts)
    return len(texts) / (time.perf_counter() - start)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=2000, help="texts a row")
    count = parser.parse_args().n
    reference = json.loads((ROOT / "tests" / "fixtures" / "embed_reference.json").read_text("utf-8"))
    short = ([row["text"] for row in reference] * (count // 20 + 1))[:count]
    long = [" ".join(short[i : i + 30]) for i in range(max(1, count // 20))]
    print(machine())
    before, start = resident_mb(), time.perf_counter()
    one = MiniLmEmbedder(threads=1)
    print(f"load {time.perf_counter() - start:.2f} s, {resident_mb() - before:.0f} MB")
    two = MiniLmEmbedder(threads=2)
    one.embed(short[:50])
    two.embed(short[:50])
    with ThreadPoolExecutor(2) as pool:
        rows: list[tuple[str, list[str], Callable[[list[str]], object]]] = [
            ("short, 1 caller, 1 thread", short, one.embed),
            ("short, 1 caller, 2 threads", short, two.embed),
            ("short, 2 callers, 1 thread each", short, lambda t: list(pool.map(one.embed_one, t))),
            ("256 tokens, 1 caller, 1 thread", long, one.embed),
            ("256 tokens, 2 callers, 1 thread each", long, lambda t: list(pool.map(one.embed_one, t))),
        ]
        for name, texts, run in rows:
            print(f"{name:<40} {rate(texts, run):8.0f} texts/s")


if __name__ == "__main__":
    main()
