"""Random histories of several devices, and a day of two devices: bundles, bytes, seconds until they agree.

    nice .venv/bin/python tests/bench/bench_sync.py [--histories 500] [--seed 1] [--day 200]

A history has two to five devices that store, replace, label, forget, erase and undo; their files arrive late, twice and
in any order, and rounds are killed. It ends with 1 where two devices do not hold the same rows in the end.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers")]

from sync_histories import History  # noqa: E402
from sync_rig import Device, new_group_of, settle  # noqa: E402


def run_histories(folder: Path, count: int, seed: int) -> int:
    """Run histories; tells each that went wrong.

    Returns:
        How many did.
    """
    wrong, begun = 0, time.perf_counter()
    for at in range(seed, seed + count):
        own = folder / f"history-{at}"
        own.mkdir()
        history = History.begin(own, at)
        try:
            history.run(60)
            history.finish()
            found = history.differences()
        except AssertionError as error:
            found = [str(error)]
        finally:
            history.close()
        if found:
            wrong += 1
            print(f"history {at}, {len(history.devices)} devices: {found[:3]}", flush=True)
        shutil.rmtree(own)
        if (at - seed) % 50 == 49:
            print(f"{at - seed + 1} histories, {wrong} of them wrong", flush=True)
    print(f"{count} histories, {wrong} of them wrong, {time.perf_counter() - begun:.0f} s", flush=True)
    return wrong


def act(device: Device, count: int) -> None:
    """What a person does on one device on one day."""
    for at in range(count):
        kind = at % 5
        if kind < 3:
            device.remember(
                f"{device.name} note {at}: the {at}th thing that was said today, at some length, as people do"
            )
        elif kind == 3:
            device.label(device.ids("active")[-1], tags=f'["t{at}"]')
        else:
            device.label(device.ids("active")[0], pinned=at % 2)


def run_day(folder: Path, changes: int) -> None:
    """Two devices, each with many changes, and a round now and then."""
    for rounds in (1, 8):
        own = folder / f"day-{rounds}"
        own.mkdir()
        devices, shared = new_group_of(own, 2)
        wrote, size, spent = 0, 0, 0.0
        for _ in range(rounds):
            for device in devices:
                act(device, changes // rounds)
            before = {path.name for path in shared.iterdir()}
            began = time.perf_counter()
            for device in devices:
                device.now()
                made = [path for path in shared.iterdir() if path.name not in before]
                wrote += len(made)
                size += sum(path.stat().st_size for path in made)
                before |= {path.name for path in made}
            spent += time.perf_counter() - began
        began = time.perf_counter()
        turns = settle(devices)
        spent += time.perf_counter() - began
        assert devices[0].synced_rows() == devices[1].synced_rows()
        print(
            f"{changes} changes on each of two devices, {rounds} rounds a day: {wrote} bundles, {size / 1024:.0f} KiB, "
            f"{turns} more rounds, {spent:.2f} s in all"
        )
        for device in devices:
            device.close()


def main() -> int:
    """Run both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--day", type=int, default=200)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        (folder / "first").mkdir()
        for device in new_group_of(folder / "first", 2)[0]:
            device.close()
        run_day(folder, given.day)
        return 1 if run_histories(folder, given.histories, given.seed) else 0
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    raise SystemExit(main())
