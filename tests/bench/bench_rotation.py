"""How long new keys for a whole vault take and how much memory, and whether a kill at any moment leaves a whole vault.

    nice .venv/bin/python tests/bench/bench_rotation.py [--n 10000 100000] [--kills 50] [--kill-size 800]

The vault is filled with synthetic messages and facts with their sources (`resources/bench`), a vector and an audit row
each. For the kills a process rotates a vault, a small one unless told, and gets SIGKILL at a random moment; then the
passphrase must open a vault that is whole, by its old keys or by its new ones, and nothing of the work may be left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers"), str(ROOT / "tests" / "bench")]

import rotation_child  # noqa: E402
from bench_archive import fill  # noqa: E402
from engine_rig import PASSPHRASE, RESERVE, START_MS, HandClock, Rig, WordEmbedder, rig_at  # noqa: E402

from app.bench.synthetic import SyntheticWriter  # noqa: E402
from core.engine.facade import Engine, Home, Setup  # noqa: E402
from core.errors import LociError  # noqa: E402
from core.intake.claims import TextReaders  # noqa: E402
from core.vault.audit import AuditChain, AuditEntry  # noqa: E402
from core.vault.database.tx import Tx  # noqa: E402

_DIMS = 384
_AT_ONCE = 2000


def _add_vectors_and_audit(rig: Rig, count: int) -> None:
    """What a vault of that size has besides its texts."""
    chain: AuditChain = rig.opened.storage.work._chain
    numbers = [int(n) for (n,) in rig.rows("SELECT n FROM memories ORDER BY n")]
    insert = (
        "INSERT OR IGNORE INTO embeddings (owner, n, vector_space, model, dims, vector, rev) "
        "VALUES ('memory', ?, ?, 'bench', ?, ?, ?)"
    )
    space = rig.opened.search.space.name
    for at in range(0, len(numbers), _AT_ONCE):
        part = numbers[at : at + _AT_ONCE]

        def add(tx: Tx, part: list[int] = part) -> None:
            tx.run_many(insert, [(n, space, _DIMS, os.urandom(2 * _DIMS), tx.seq) for n in part])
            chain.append_many(tx, [AuditEntry("owner", "store", f"m{n}") for n in part])

        rig.opened.storage.write(add).result(120)


def measure(folder: Path, count: int) -> dict[str, float]:
    """Rotate a vault of so many memories once.

    Returns:
        Megabytes of the vault, seconds of wall clock and processor, megabytes of memory more than before.
    """
    with rig_at(folder) as rig:
        fill(rig, [message.text for message in SyntheticWriter(7).write_messages(count)])
        _add_vectors_and_audit(rig, count)
        rig.lock()
        keys = rig.engine.keys
        code = keys.prepare_rotation(PASSPHRASE).result(60)
        steps: dict[str, float] = {}
        wall, cpu = time.monotonic(), time.process_time()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        def note(step: str, _done: int, _total: int | None) -> None:
            steps.setdefault(step, time.monotonic() - wall)

        done = keys.rotate(code, note).result(3600)
        assert done is not None
        return {
            "memories": count,
            "vault_mb": round(done.vault_bytes / 1e6, 1),
            "rows": done.rows,
            "wall_s": round(time.monotonic() - wall, 2),
            "cpu_s": round(time.process_time() - cpu, 2),
            "more_memory_mb": round((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, 1),
            **{f"{name}_from_s": round(at, 2) for name, at in steps.items()},
        }


def kill_rounds(folder: Path, rounds: int, seed: int, size: int) -> Counter[str]:
    """Kill so many rotations at random moments.

    Args:
        size: memories in the vault.

    Returns:
        How many ended with the old keys, with the new ones, done before the kill, or damaged.
    """
    dice, outcomes = random.Random(seed), Counter[str]()
    with rig_at(folder / "first") as rig:
        fill(rig, [message.text for message in SyntheticWriter(seed).write_messages(size)])
        _add_vectors_and_audit(rig, size)
        total = int(rig.rows("SELECT count(*) FROM memories")[0][0])
        rig.lock()
    longest = 0.0
    for number in range(rounds + 1):
        home = folder / f"round{number}"
        shutil.copytree(folder / "first" / "home", home)
        child = _start_child(home)
        assert child.stdout is not None
        code = child.stdout.readline().strip()
        begun = time.monotonic()
        if number:
            time.sleep(dice.uniform(0, longest))
            os.kill(child.pid, signal.SIGKILL)
        said = child.stdout.readline()
        longest = longest or time.monotonic() - begun
        child.wait()
        outcomes[_look(home, code, total, is_done="done" in said)] += number > 0
        shutil.rmtree(home)
    return outcomes


def _start_child(home: Path) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(ROOT / "tests" / "helpers"), *(one for one in sys.path if one)])
    child = subprocess.Popen(
        [sys.executable, rotation_child.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
        text=True,
    )
    assert child.stdin is not None
    child.stdin.write(json.dumps({"home": str(home), "secret": PASSPHRASE, "at": "never", "number": 0}) + "\n")
    child.stdin.flush()
    return child


def _look(home: Path, code: str, total: int, *, is_done: bool) -> str:
    try:
        if not _is_whole(home, PASSPHRASE, total):
            return "damaged"
        is_new = _is_whole(home, code, total)
    except LociError as error:
        return "old" if error.code.value == "E1006" and not is_done else "damaged"
    if not is_new or [one for one in home.iterdir() if "rotat" in one.name]:
        return "damaged"
    return "done" if is_done else "new"


def _is_whole(home: Path, secret: str, total: int) -> bool:
    setup = Setup(
        Home(home, reserve_bytes=RESERVE), HandClock(START_MS), WordEmbedder(), background=False, readers=TextReaders()
    )
    engine = Engine(setup)
    try:
        engine.vault.open(secret).result(300)
        found = engine.vault.read_status().result(30).values["memories"]["total"]
        return bool(found == total and engine.older is None and engine.vault.verify().result(600)["status"] == "ok")
    finally:
        engine.close()


def main() -> int:
    """Measure, kill, and print one line of JSON for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--n", type=int, nargs="*", default=[10_000])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--kill-size", type=int, default=800)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for count in given.n:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(measure(Path(folder), count)), flush=True)
    if not given.kills:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        outcomes = kill_rounds(Path(folder), given.kills, given.seed, given.kill_size)
    print(json.dumps({"kills": given.kills, "memories": given.kill_size, **outcomes}), flush=True)
    return int(outcomes["damaged"] > 0)


if __name__ == "__main__":
    sys.exit(main())
