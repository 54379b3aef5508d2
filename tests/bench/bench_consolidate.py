"""A consolidation of a full vault: what it does, how long it takes, what memory it needs, and whether recall waits.

    nice .venv/bin/python tests/bench/bench_consolidate.py [--n 5000] [--home DIR] [--pause 0.3] [--fill]

The vault is filled through the import with synthetic facts (`resources/bench`): seven of ten have nothing to do with
one another, one of ten says another one again in slightly other words, two of ten are details of one thing in groups
of eight. Then 90 days pass. The job is run as a person starts it. Recalls are timed while nothing else runs, while the
job plans, while it carries out, and when it is over: on a machine that does other work too, the first and the last tell
what that does. With `--home` a filled vault is kept there, and a copy of it is measured; `--fill` only fills it.
Filling is a process of its own: what it leaves behind in memory would hide what the job takes.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers"), str(ROOT / "tests" / "bench")]

from bench_store import START_MS, facts  # noqa: E402
from engine_rig import HandClock, Rig, rig_at  # noqa: E402
from ground_rig import ground_of, near_of  # noqa: E402

from app.bench.engine import TimedEmbedder  # noqa: E402
from app.bench.machine import read_system_load  # noqa: E402
from app.bench.measure import compute_percentiles  # noqa: E402
from core.engine.facade import built_in_readers  # noqa: E402
from core.engine.startup import warm_index  # noqa: E402
from core.index.manager import IndexState  # noqa: E402
from core.lifecycle.consolidate.consolidate import ConsolidationJob, count_plan  # noqa: E402
from core.lifecycle.job_support.job_context import JobContext  # noqa: E402
from core.types.belief import ComparedText  # noqa: E402
from core.types.lifecycle import JobType, PlannedAction  # noqa: E402
from core.types.values import OWNER_ACTOR  # noqa: E402

_DAY_MS = 86_400_000
_GROUP = 8
_LOOK_S = 0.3
_PARTS = ("budget", "deadline", "test plan", "log format", "release notes", "review", "mascot", "meeting room")


def texts(count: int, seed: int = 11) -> list[str]:
    """Synthetic facts with duplicates and groups among them, in a fixed order."""
    dice = random.Random(seed)
    alone = facts(count * 7 // 10, seed)
    again = [f"{text[:-1]}, as noted." for text in dice.sample(alone, count // 10)]
    groups = [
        f"The {part} of the project {chr(65 + nr % 26)}{nr} is kept by {chr(97 + (nr + at) % 26)}-team {nr % 97}."
        for nr in range(count * 2 // 10 // _GROUP)
        for at, part in enumerate(_PARTS)
    ]
    found = list(dict.fromkeys([*alone, *again, *groups]))
    dice.shuffle(found)
    return found


def fill(folder: Path, embedder: TimedEmbedder, known: list[str]) -> bytes:
    """Import facts that an assistant noted; they are not compared with each other.

    Returns:
        The root key of the vault.
    """
    with rig_at(folder, clock=HandClock(START_MS), embedder=embedder) as rig:
        rows = ({"text": text, "kind": "fact", "source": "inference", "ref": f"b{n}"} for n, text in enumerate(known))
        path = rig.write_rows(rows)
        with patch("core.engine.imports.group.compare_imported", lambda *_: 0):
            rig.engine.imports.run(path, None, None, OWNER_ACTOR).result(3600)
        rig.write(lambda tx: tx.run("UPDATE memories SET read_at = ? WHERE read_at IS NULL", (START_MS,)))
        return rig.root


def resident_mb() -> float:
    """Memory of this process now."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


class Watch:
    """Times recalls, and sees the most memory of each phase, until it is told to stop."""

    def __init__(self, rig: Rig, questions: list[str]) -> None:
        self._rig, self._questions = rig, questions
        self.took: dict[str, list[float]] = {}
        self.phase = "idle before"
        self.peaks: dict[str, float] = {}

    def until(self, is_over: threading.Event, pause_s: float, least: int = 0) -> None:
        """Ask one question after another, with pauses as a person makes them."""
        at = 0
        while at < least or not is_over.is_set():
            begun = time.perf_counter()
            phase = self.phase
            self._rig.recall(self._questions[at % len(self._questions)])
            self.took.setdefault(phase, []).append((time.perf_counter() - begun) * 1000)
            self._look()
            at += 1
            self._wait(pause_s, is_over)

    def _wait(self, pause_s: float, is_over: threading.Event) -> None:
        """A person's pause, looking at the memory."""
        until = time.perf_counter() + pause_s
        while (left := until - time.perf_counter()) > 0 and not (pause_s > _LOOK_S and is_over.is_set()):
            time.sleep(min(left, _LOOK_S))
            self._look()

    def _look(self) -> None:
        self.peaks[self.phase] = max(self.peaks.get(self.phase, 0.0), resident_mb())

    def idle(self, phase: str) -> None:
        """Ask a hundred while nothing runs."""
        self.phase = phase
        done = threading.Event()
        done.set()
        self.until(done, _LOOK_S, least=100)


def consolidate(rig: Rig, watch: Watch, is_over: threading.Event) -> None:
    """Run the job once, as the person does."""
    plan = ConsolidationJob.plan

    def timed(self: ConsolidationJob, ground: JobContext) -> Sequence[PlannedAction]:
        watch.phase = "during the plan"
        wall, own = time.perf_counter(), time.thread_time()
        deeds = plan(self, ground)
        took = time.perf_counter() - wall, time.thread_time() - own
        print(
            f"plan: {len(deeds)} deeds in {took[0]:.1f} s, {took[1]:.1f} s of one processor, {dict(count_plan(deeds))}",
            flush=True,
        )
        watch.phase = "during the carrying out"
        return deeds

    try:
        with patch.object(ConsolidationJob, "plan", timed):
            begun = time.perf_counter()
            row = rig.engine.jobs.run(JobType.CONSOLIDATE).result(36_000)
            print(f"run: {row.state.value}, {dict(row.report)}, {time.perf_counter() - begun:.1f} s", flush=True)
    finally:
        is_over.set()


def measure(rig: Rig, known: list[str], pause_s: float) -> None:
    """Time recalls idle and during the job, and say what it did."""
    rig.opened.storage.threads.jobs.submit(warm_index, rig.opened.storage, rig.opened.search).result(600)
    while rig.opened.search.index.status().state is not IndexState.READY:
        time.sleep(0.05)
    watch = Watch(rig, random.Random(5).sample(known, min(200, len(known))))
    relate = rig.opened.search.store_service.readers.relate
    assert relate is not None
    relate.classify(
        [(ComparedText("The boat lies in the harbour."), ComparedText("The oven is cleaned on Fridays."))]
    )  # loads it
    watch.idle("idle before")
    is_over = threading.Event()
    worker = threading.Thread(target=consolidate, args=(rig, watch, is_over))
    worker.start()
    watch.until(is_over, pause_s)
    worker.join()
    watch.idle("idle after")
    before = watch.peaks["idle before"]
    above = ", ".join(f"{phase} {peak - before:+.0f}" for phase, peak in watch.peaks.items())
    print(f"memory: the most in MB, beside {before:.0f} before: {above}", flush=True)
    for phase, took in watch.took.items():
        print(f"recall {phase}: {compute_percentiles(took)} ms, {len(took)} recalls")
    deeds = ConsolidationJob().plan(ground_of(rig, near=near_of(rig)))
    print(f"second run: {len(deeds)} deeds; load {read_system_load()}")


def main() -> int:
    """Fill a vault, or take the one that is there, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=5000)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--pause", type=float, default=0.3, help="seconds between two searches while the job runs")
    parser.add_argument("--fill", action="store_true", help="only fill a vault in --home")
    given = parser.parse_args()
    known = texts(given.n)
    embedder = TimedEmbedder(HandClock(START_MS))
    with tempfile.TemporaryDirectory() as made:
        folder = given.home or Path(made) / "filled"
        folder.mkdir(parents=True, exist_ok=True)
        key = folder / "root.key"
        if given.fill:
            key.write_bytes(fill(folder, embedder, known))
            return 0
        if not key.exists():
            told = [sys.executable, __file__, "--n", str(given.n), "--home", str(folder), "--fill"]
            subprocess.run(told, check=True)
        copy = shutil.copytree(folder, Path(made) / "copy")
        clock = HandClock(START_MS + 90 * _DAY_MS)
        with rig_at(copy, clock=clock, embedder=embedder, root=key.read_bytes(), readers=built_in_readers()) as rig:
            measure(rig, known, given.pause)
    return 0


if __name__ == "__main__":
    sys.exit(main())
