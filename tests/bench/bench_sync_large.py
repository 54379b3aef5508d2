"""Synchronising many memories, a bundle of two gigabytes, and kills at every step of a round.

    nice .venv/bin/python tests/bench/bench_sync_large.py [--n 100000] [--gigabytes 2] [--kills 50]

One device tells another of so many memories in one bundle; the other takes it. Then a file of so many gigabytes lies in
the folder under the name of a device, with a header that fits and a content that nobody signed: it has to be refused,
and memory must not grow with it. Then a process does rounds and is killed behind a step, each step in its turn:
afterwards both devices have everything. It ends with 1 where one of the last two fails.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers")]

import sync_child  # noqa: E402
from sync_rig import Device, new_device, new_group_of, settle  # noqa: E402

from app.bench.machine import describe_machine  # noqa: E402
from app.bench.synthetic import SyntheticWriter  # noqa: E402
from core.engine.sync.folder import bundle_name  # noqa: E402
from core.intake.sync.transfer import next_header  # noqa: E402
from core.memory.write import content_hash, refresh_terms, reserve_labels  # noqa: E402
from core.types.values import OWNER_ACTOR  # noqa: E402
from core.vault.database.tx import Tx  # noqa: E402

_AT_ONCE, _STEPS = 2_000, 8


def peak_mb() -> float:
    """The most memory this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fill(device: Device, count: int) -> None:
    """Store synthetic facts."""
    texts = [f"{message.text} ({at})" for at, message in enumerate(SyntheticWriter().write_messages(count))]

    def write(tx: Tx, some: list[str]) -> None:
        first, ids = reserve_labels(tx, len(some)), [device.make_id() for _ in some]
        with device.work.verb(tx, "remember", "Remember", OWNER_ACTOR):
            for at, (own, text) in enumerate(zip(ids, some, strict=True)):
                tx.insert("memories", _row(tx, first + at, own, text))
                source = {"memory_id": own, "lineage": "owner", "source": "user_explicit", "at": tx.now_ms}
                tx.insert("memory_sources", source)
            refresh_terms(tx, ids)

    for at in range(0, count, _AT_ONCE):
        device.write(lambda tx, some=texts[at : at + _AT_ONCE]: write(tx, some))  # type: ignore[misc]  # mypy infers no lambda with defaults


def _row(tx: Tx, n: int, own: str, text: str) -> dict[str, object]:
    return {
        "n": n, "id": own, "kind": "fact", "status": "active", "text": text, "content_hash": content_hash(text),
        "space_id": "home", "source": "user_explicit", "role": "user", "lineage": "owner", "recorded_at": tx.now_ms,
        "trust": 0.9, "confidence": 0.9, "last_confirmed_at": tx.now_ms, "chain_id": own,
    }  # fmt: skip


def run_large(folder: Path, count: int) -> None:
    """One bundle of everything, written and taken."""
    devices, shared = new_group_of(folder, 2)
    fill(devices[0], count)
    before = peak_mb()
    for device, name in zip(devices, ("write", "take"), strict=True):
        began, worked = time.perf_counter(), time.process_time()
        report = device.now()
        spent, busy = time.perf_counter() - began, time.process_time() - worked
        size = sum(path.stat().st_size for path in shared.glob("*.loci-bundle")) / 1e6
        rows = report.told or report.rows
        print(
            f"{name:8} {rows:>9,} rows, {size:.1f} MB in the folder, {spent:.1f} s, {busy:.1f} s processor, "
            f"{rows / spent:,.0f} rows/s, peak {peak_mb():.0f} MB ({before:.0f} before)",
            flush=True,
        )
    assert len(devices[1].ids("active")) == count
    for device in devices:
        device.close()


def run_huge(folder: Path, gigabytes: float) -> bool:
    """A file of two gigabytes that a device did not sign.

    Returns:
        Whether it was refused, and memory did not grow with it.
    """
    (one, other), shared = new_group_of(folder, 2)
    header = one.read(lambda rows: next_header(rows, is_whole=False))
    octets = header.to_octets()
    path = shared / bundle_name(header.device, header.number)
    with path.open("wb") as file:
        file.write(octets)
        file.truncate(int(gigabytes * 1e9))
    before, began = peak_mb(), time.perf_counter()
    report = other.now()
    spent, more = time.perf_counter() - began, peak_mb() - before
    kinds = [problem.kind for problem in report.problems]
    print(f"{gigabytes:g} GB that nobody signed: {kinds}, {spent:.1f} s, {more:.0f} MB more memory", flush=True)
    for device in (one, other):
        device.close()
    return kinds == ["damaged"] and more < 64


def run_kills(folder: Path, rounds: int) -> bool:
    """Kill a process behind each of its steps in turn.

    Returns:
        Whether both devices had everything afterwards, every time.
    """
    good, steps = 0, [0] * _STEPS
    for at in range(rounds):
        own = folder / f"kill-{at}"
        own.mkdir()
        (one, other), _ = new_group_of(own, 2)
        for device in (one, other):
            device.remember(f"{device.name} hears the rain")
        other.now()
        one.close()
        after = at % _STEPS + 1
        order = {"home": str(one.home), "name": one.name, "now_ms": one.clock.now_ms() + 50, "after": after}
        path = os.pathsep.join([str(Path(sync_child.__file__).parent), *(part for part in sys.path if part)])
        done = subprocess.run(
            [sys.executable, sync_child.__file__], input=json.dumps(order) + "\n", text=True, capture_output=True,
            env={**os.environ, "PYTHONPATH": path}, timeout=120, check=False,
        )  # fmt: skip
        steps[after - 1] += done.returncode == -signal.SIGKILL
        one.clock.advance(60)
        one.open()
        settle((one, other))
        good += one.synced_rows() == other.synced_rows() and len(one.texts()) == len(other.texts()) == 2
        for device in (one, other):
            device.close()
        shutil.rmtree(own)
    print(f"{rounds} rounds with a kill, by step {steps}: {good} in which both have everything", flush=True)
    return good == rounds


def main() -> int:
    """Run all three."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--kills", type=int, default=50)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        print(describe_machine())
        new_device(folder, "template-of-all").close()
        parts = [folder / name for name in ("large", "huge", "kills")]
        for part in parts:
            part.mkdir()
        is_good = run_huge(parts[1], given.gigabytes)
        is_good &= run_kills(parts[2], given.kills)
        run_large(parts[0], given.n)
        return 0 if is_good else 1
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    raise SystemExit(main())
