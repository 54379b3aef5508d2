"""How long storing one fact takes in a full vault, with all that decides on it: claims, neighbours, relations, gate.

    nice .venv/bin/python tests/bench/bench_store.py [--n 10000] [--stores 300] [--home DIR] [--profile]

The vault is filled with synthetic facts (`resources/bench`), or taken from `--home` as a run before left it. Then facts
are stored one after another by the owner and by a tool: new ones, old ones said again, old ones with another number,
and old ones in other words. Figures are of the whole call, of it without the embedding, and of the processor time of
the whole process meanwhile, which a busy machine hardly changes; the bar is 25 ms p95 of the whole call.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import pstats
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers")]

from engine_rig import HandClock, Rig, rig_at  # noqa: E402

from app.bench.engine import TimedEmbedder  # noqa: E402
from app.bench.machine import read_system_load  # noqa: E402
from app.bench.measure import compute_percentiles  # noqa: E402
from app.bench.synthetic import SyntheticWriter  # noqa: E402
from core.engine.facade import built_in_readers  # noqa: E402
from core.engine.startup import warm_index  # noqa: E402
from core.index.manager import IndexState  # noqa: E402
from core.intake.store.store import StoreService  # noqa: E402
from core.types.values import OWNER_ACTOR, Source  # noqa: E402

START_MS = 1_760_000_000_000
_WARM_UP = 20
_SENTENCE_END = re.compile(r"(?<=[.!?]) ")


def facts(count: int, seed: int) -> list[str]:
    """Synthetic facts, no two alike: one sentence each, of 15 words at the median (what people note has 8 or so)."""
    found: dict[str, None] = {}
    for message in SyntheticWriter(seed).write_messages(4 * count):
        found.setdefault(_SENTENCE_END.split(message.text, maxsplit=1)[0])
        if len(found) == count:
            break
    return list(found)


def fill(folder: Path, embedder: TimedEmbedder, texts: list[str]) -> bytes:
    """Make a vault that holds facts; they are not compared with each other.

    Returns:
        Its root key.
    """
    with rig_at(folder, clock=HandClock(START_MS), embedder=embedder) as rig:
        path = rig.write_rows({"text": text, "kind": "fact", "ref": f"b{nr}"} for nr, text in enumerate(texts))
        # As if they had been compared: settling ten thousand synthetic facts is not what is measured.
        with patch("core.engine.imports.group.compare_imported", lambda *_: 0):
            rig.engine.imports.run(path, None, None, OWNER_ACTOR).result(3600)
        rig.write(lambda tx: tx.run("UPDATE memories SET read_at = ? WHERE read_at IS NULL", (START_MS,)))
        return rig.root


def wanted(known: list[str], count: int) -> Iterator[tuple[str, str]]:
    """What is stored: kind and text."""
    dice = random.Random(7)
    fresh = iter(facts(count, 99))
    for _ in range(count):
        kind = dice.choices(("new", "again", "changed", "worded"), (50, 10, 25, 15))[0]
        old = dice.choice(known)
        if kind == "new":
            yield kind, next(fresh)
        elif kind == "again":
            yield kind, old
        elif kind == "changed":
            yield kind, re.sub(r"\d+", lambda found: str(int(found[0]) + 3), old, count=1)
        else:
            yield kind, f"To be remembered: {old[0].lower()}{old[1:]}"


def measure(rig: Rig, embedder: TimedEmbedder, known: list[str], stores: int) -> dict[str, Any]:
    """Store facts and time each."""
    total: list[float] = []
    rest: list[float] = []
    processor: list[float] = []
    labels: Counter[str] = Counter()
    for nr, (_, text) in enumerate(wanted(known, stores + _WARM_UP)):
        rig.clock.at_ms += 60_000  # type: ignore[attr-defined]
        embedder.took_ms.clear()
        begun, worked = time.perf_counter(), time.process_time()
        reply = rig.store(text, source=Source.TOOL_OUTPUT if nr % 3 else Source.USER_EXPLICIT)
        took = (time.perf_counter() - begun) * 1000
        if nr >= _WARM_UP:
            total.append(took)
            processor.append((time.process_time() - worked) * 1000)
            rest.append(took - sum(embedder.took_ms))
            labels[f"{reply.operation}/{reply.classification.label}"] += 1
    return {
        "store_ms": compute_percentiles(total),
        "without_embedding_ms": compute_percentiles(rest),
        "processor_ms": compute_percentiles(processor),
        "replies": dict(labels),
    }


@contextmanager
def profiled(on: bool) -> Iterator[None]:
    """Print where the writer's thread spent its time."""
    if not on:
        yield
        return
    profile = cProfile.Profile()
    real = StoreService.store_request

    def timed(self: StoreService, *given: Any, **named: Any) -> Any:
        profile.enable()
        try:
            return real(self, *given, **named)
        finally:
            profile.disable()

    StoreService.store_request = timed  # type: ignore[method-assign]  # the bench times each call
    try:
        yield
    finally:
        StoreService.store_request = real  # type: ignore[method-assign]  # the bench times each call
        pstats.Stats(profile).sort_stats("cumulative").print_stats(45)


def main() -> None:
    """Fill, store and print."""
    gc.freeze()  # as a command does when its modules are loaded, and before models and a vault are
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--stores", type=int, default=300)
    parser.add_argument("--home", type=Path, help="a folder that is kept; filled if it is empty")
    parser.add_argument("--profile", action="store_true")
    arguments = parser.parse_args()
    embedder, known = TimedEmbedder(HandClock(START_MS)), facts(arguments.n, 1)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.home or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        key = folder / "root.bin"
        if not key.exists():
            key.write_bytes(fill(folder, embedder, known))
        clock = HandClock(START_MS + 86_400_000)
        with (
            rig_at(folder, clock=clock, embedder=embedder, root=key.read_bytes(), readers=built_in_readers()) as rig,
            profiled(arguments.profile),
        ):
            rig.opened.storage.threads.jobs.submit(warm_index, rig.opened.storage, rig.opened.search).result(600)
            while rig.opened.search.index.status().state is not IndexState.READY:
                time.sleep(0.05)
            found = measure(rig, embedder, known, arguments.stores)
    print({"memories": arguments.n, "load": read_system_load(), **found})


if __name__ == "__main__":
    main()
