"""Kill a rotation, a sealing, an erasure and the taking of a bundle in each of their steps, so many times each.

The rewriting of backups that are older than a seal (`copies`) is killed likewise.

    nice .venv/bin/python tests/bench/bench_kill_steps.py [--rounds 50] [--seed 1] [--only rotation seal copies ...]

What can be killed is counted first: each statement of a transaction, each commit, each file that is moved, under the
step in which it is. Then, for each step, so many processes do the same work on a copy of the same vault and get SIGKILL
at a point of that step, which the seed chooses. Afterwards the vault is opened as by the next start, and everything
has to be as before or as after the work, whole; what was begun is finished or done again. Needs `fork`.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers"), str(ROOT / "tests" / "bench")]

from engine_rig import PASSPHRASE, RESERVE, START_MS, HandClock, Rig, WordEmbedder, new_home, rig_at  # noqa: E402
from erasing_rig import MARK, TEXT, traces  # noqa: E402
from kill_points import KillPoints, run_child  # noqa: E402
from sync_rig import Device, new_group_of, settle  # noqa: E402

from app.bench.machine import describe_machine  # noqa: E402
from core.engine.facade import Engine, Home, Setup  # noqa: E402
from core.errors import Code, LociError  # noqa: E402
from core.intake.claims import TextReaders  # noqa: E402
from core.security.passphrase import KdfCost  # noqa: E402
from core.types.clock import ManualClock  # noqa: E402
from core.types.memory import CopyState, ErasureRequest, ErasureState, ErasureSubject  # noqa: E402
from core.vault.copies import known_copies  # noqa: E402

TEXTS = 20
SECRET = "a second secret"
OLD, NEW = "as before", "as after"


@dataclass(frozen=True)
class Work:
    """One thing that is killed.

    Attributes:
        prepare: fills an empty folder, and returns what the other two are given.
        do: does the work there while its points are counted.
        look: opens what is left, and says `OLD` or `NEW`; anything else is damage.
    """

    prepare: Callable[[Path], Any]
    do: Callable[[Path, Any, KillPoints], None]
    look: Callable[[Path, Any], str]


def _engine_at(home: Path) -> Engine:
    setup = Setup(
        Home(home, reserve_bytes=RESERVE),
        HandClock(START_MS + 9_000),
        WordEmbedder(),
        background=False,
        kdf_cost=KdfCost.lowest(),
        readers=TextReaders(),
    )
    return Engine(setup)


def _store_texts(rig: Rig) -> None:
    for nr in range(TEXTS):
        rig.store(f"The lamp in room {nr} is lit at dusk.")


# ---- new keys for the whole vault


def _prepare_rotation(folder: Path) -> None:
    with rig_at(folder) as rig:
        _store_texts(rig)


def _rotate(folder: Path, _: Any, points: KillPoints) -> None:
    engine = _engine_at(folder / "home")
    engine.vault.open(PASSPHRASE).result(60)
    code = engine.keys.prepare_rotation(PASSPHRASE).result(60)
    (folder / "code").write_text(code, encoding="ascii")
    points.install()
    engine.keys.rotate(code, points.report).result(120)
    engine.close()


def _look_at_rotated(folder: Path, _: Any) -> str:
    home = folder / "home"
    if not _opens_whole(home, PASSPHRASE):
        return "the passphrase opens nothing"
    if [one.name for one in home.iterdir() if "rotat" in one.name]:
        return "something of the work is left"
    return NEW if _opens_whole(home, (folder / "code").read_text(encoding="ascii")) else OLD


def _opens_whole(home: Path, secret: str) -> bool:
    engine = _engine_at(home)
    try:
        engine.vault.open(secret).result(60)
        if engine.older is not None:
            return False
        found = engine.vault.read_status().result(30).values["memories"]["total"]
        return bool(found == TEXTS and engine.vault.verify().result(60)["status"] == "ok")
    except LociError as error:
        if error.code is not Code.WRONG_SECRET:
            raise
        return False
    finally:
        engine.close()


# ---- sealing


def _prepare_seal(folder: Path) -> dict[str, str]:
    with rig_at(folder) as rig:
        _store_texts(rig)
        memory = rig.store(TEXT).memory_id
        rig.recall(MARK)
        rig.engine.seal.set_up(SECRET).result(60)
        return {"id": memory, "root": rig.root.hex()}


def _seal(folder: Path, given: Any, points: KillPoints) -> None:
    with rig_at(folder, root=bytes.fromhex(given["root"])) as rig:
        rig.engine.seal.open(SECRET).result(60)
        points.install()
        rig.engine.seal.seal([given["id"]], "the key").result(60)


def _look_at_sealed(folder: Path, given: Any) -> str:
    with rig_at(folder, root=bytes.fromhex(given["root"])) as rig:
        if rig.verify()["status"] != "ok":
            return "verify is not clean"
        total, sealed = rig.value("SELECT count(*) FROM memories"), rig.engine.seal.list_rows().result(30)
        if not sealed:
            return OLD if total == TEXTS + 1 and rig.get(given["id"]).text == TEXT else "neither sealed nor there"
        if total != TEXTS or (left := traces(rig)):
            return f"sealed, and still in {left if total == TEXTS else 'memories'}"
        rig.engine.seal.open(SECRET).result(60)
        if rig.engine.seal.read_text(given["id"]).result(30).text != TEXT:
            return "sealed with another text"
        rig.engine.seal.unseal([given["id"]]).result(60)
        return NEW if rig.get(given["id"]).text == TEXT else "put back with another text"


# ---- sealing in the backups, too


def _prepare_copies(folder: Path) -> dict[str, str]:
    with rig_at(folder) as rig:
        _store_texts(rig)
        memory = rig.store(TEXT).memory_id
        rig.engine.seal.set_up(SECRET).result(60)
        rig.engine.vault.backup().result(60)
        rig.engine.seal.seal([memory], "the key").result(60)
        return {"id": memory, "root": rig.root.hex()}


def _rewrite_copies(folder: Path, given: Any, points: KillPoints) -> None:
    with rig_at(folder, root=bytes.fromhex(given["root"])) as rig:
        rig.engine.seal.open(SECRET).result(60)
        points.install()
        rig.engine.seal.copies.rewrite(points.report).result(120)


def _look_at_copies(folder: Path, given: Any) -> str:
    with rig_at(folder, root=bytes.fromhex(given["root"])) as rig:
        copies = known_copies(rig.home)
        if len(copies) != 1 or [one.name for one in rig.home.backups.iterdir()] != [copies[0].name]:
            return "a backup is lost, or there are two"
        if rig.verify()["status"] != "ok":
            return "verify is not clean"
        found = rig.engine.copies.find(copies[0].name, MARK).result(60)  # what is sealed is kept back
        rig.engine.seal.open(SECRET).result(60)
        held = rig.engine.copies.find(copies[0].name, MARK).result(60).total
        if found.total or found.kept_back != held:
            return "looking inside shows what is sealed"
        rig.engine.seal.copies.rewrite().result(120)
        left = rig.engine.copies.find(copies[0].name, MARK).result(60).total
        if left or rig.engine.seal.copies.list_older().result(30).names:
            return "what was begun could not be finished"
        text = rig.engine.seal.read_text(given["id"]).result(30).text
        return "the sealed text is another" if text != TEXT else OLD if held else NEW


# ---- erasing, with the backups rewritten


def _prepare_erasure(folder: Path) -> dict[str, str]:
    with rig_at(folder) as rig:
        _store_texts(rig)
        memory = rig.store(TEXT).memory_id
        rig.recall(MARK)
        rig.engine.vault.backup().result(60)
        return {"id": memory, "root": rig.root.hex()}


def _erase(folder: Path, given: Any, points: KillPoints) -> None:
    with rig_at(folder, root=bytes.fromhex(given["root"])) as rig:
        points.install()
        request = ErasureRequest(ErasureSubject.MEMORY, (given["id"],))
        rig.engine.erasures.erase(request, report=points.report, rewrites_backups=True).result(120)


def _look_at_erased(folder: Path, given: Any) -> str:
    with rig_at(folder, root=bytes.fromhex(given["root"])) as rig:
        if rig.verify()["status"] != "ok":
            return "verify is not clean"
        copies = known_copies(rig.home)
        if len(copies) != 1 or [one.name for one in rig.home.backups.iterdir()] != [copies[0].name]:
            return "a backup is lost, or there are two"
        certificates = rig.engine.erasures.list_certificates().result(30)
        is_there = bool(rig.rows("SELECT id FROM memories WHERE id = ?", given["id"]))
        if is_there == bool(certificates) or (not is_there and traces(rig)):
            return "erased in part"
        if is_there:
            rig.engine.erasures.erase(ErasureRequest(ErasureSubject.MEMORY, (given["id"],))).result(60)
        (line,) = rig.engine.erasures.list_certificates().result(30)
        found = rig.engine.erasures.rewrite_backups(line.id).result(60)
        is_proved = found.is_authentic and found.state in (ErasureState.ERASED, ErasureState.NOT_CHECKED)
        if traces(rig) or not is_proved or found.copies[0].state not in (CopyState.CLEAN, CopyState.REWRITTEN):
            return "what was begun could not be finished"
        return OLD if is_there else NEW


# ---- taking a bundle of another device


def _prepare_bundle(folder: Path) -> dict[str, Any]:
    (one, other), _ = new_group_of(folder, 2)
    for device in (one, other):
        device.remember(f"{device.name} hears the rain")
        device.remember(f"{device.name} keeps bees", ("Ada", "lives_in", device.name))
    settle((one, other))
    before = other.ids()
    one.remember("Ada moved", ("Ada", "lives_in", "Porto"))
    one.erase(one.ids()[0])
    one.forget(one.ids()[1])
    other.remember("What only the other said")
    one.now()
    at = max(one.clock.now_ms(), other.clock.now_ms()) + 50
    one.close()
    other.close()
    return {"at": at, "before": len(before)}


def _open_device(folder: Path, name: str, at: int) -> Device:
    return Device(folder / name, name, ManualClock(at))


def _take(folder: Path, given: Any, points: KillPoints) -> None:
    device = _open_device(folder, "d1", given["at"])
    points.install()
    device.now()
    device.close()


def _look_at_taken(folder: Path, given: Any) -> str:
    one, other = (_open_device(folder, name, given["at"] + 60_000) for name in ("d0", "d1"))
    try:
        mark = "Ada moved" in other.texts()
        if "What only the other said" not in other.texts():
            return "what was said here is lost"
        settle((one, other))
        if one.synced_rows() != other.synced_rows() or one.texts() != other.texts() or "Ada moved" not in one.texts():
            return "they do not agree"
        if one.now().problems or other.now().problems:
            return "something is told that is not so"
        return NEW if mark else OLD
    finally:
        one.close()
        other.close()


WORKS: Mapping[str, Work] = {
    "rotation": Work(_prepare_rotation, _rotate, _look_at_rotated),
    "seal": Work(_prepare_seal, _seal, _look_at_sealed),
    "copies": Work(_prepare_copies, _rewrite_copies, _look_at_copies),
    "erase": Work(_prepare_erasure, _erase, _look_at_erased),
    "apply": Work(_prepare_bundle, _take, _look_at_taken),
}


class StepKiller:
    """Kills one work in each of its steps."""

    def __init__(self, work: Work, folder: Path, dice: random.Random) -> None:
        """Prepare it.

        Args:
            folder: empty; the vault always lies at the same place in it.
            dice: choose the points.
        """
        self._work, self._dice = work, dice
        self._place, self._template = folder / "work", folder / "template"
        self._place.mkdir(parents=True)
        self._given = self._run(lambda: work.prepare(self._place))
        self._place.rename(self._template)
        self.by_step: dict[str, list[int]] = {}
        for at, step in enumerate(self._count_points()):
            self.by_step.setdefault(step, []).append(at)

    def _count_points(self) -> Sequence[str]:
        def count() -> list[str]:
            points = KillPoints()
            self._work.do(self._place, self._given, points)
            return points.passed

        shutil.copytree(self._template, self._place)
        found: list[str] = self._run(count)
        outcome = self._look()
        if outcome != NEW:
            raise AssertionError(f"nothing was killed, and it ended {outcome}")
        return found

    def kill(self, step: str, rounds: int) -> Counter[str]:
        """Kill it so many times in one step.

        Returns:
            How often it ended in which way; `not killed` where the point was not reached.
        """
        outcomes: Counter[str] = Counter()
        for _ in range(rounds):
            last = self._dice.choice(self.by_step[step])
            shutil.copytree(self._template, self._place)
            status, _ = run_child(lambda last=last: self._work.do(self._place, self._given, KillPoints(last)))  # type: ignore[misc]  # mypy infers no lambda with defaults
            if status not in (0, -signal.SIGKILL):
                outcomes["failed before the kill"] += 1
            elif status == 0:
                outcomes["not killed"] += 1
            outcomes[self._look()] += 1
        return outcomes

    def _look(self) -> str:
        status, outcome = run_child(lambda: self._work.look(self._place, self._given))
        shutil.rmtree(self._place)
        return str(outcome) if status == 0 else "could not be opened"

    @staticmethod
    def _run(work: Callable[[], object]) -> Any:
        status, found = run_child(work)
        if status:
            raise AssertionError(f"ended with {status}")
        return found


def kill_all(names: Sequence[str], rounds: int, seed: int, folder: Path) -> bool:
    """Kill each work in each of its steps, and print a line for each.

    Returns:
        Whether everything was whole every time.
    """
    new_home(folder / "first")  # made once, before anything is forked
    is_clean = True
    for name in names:
        killer = StepKiller(WORKS[name], folder / name, random.Random(f"{seed}/{name}"))
        for step, points in killer.by_step.items():
            begun = time.monotonic()
            outcomes = killer.kill(step, rounds)
            hit = rounds - outcomes["not killed"] - outcomes["failed before the kill"]
            bad = {what: count for what, count in outcomes.items() if what not in (OLD, NEW, "not killed")}
            is_clean = is_clean and not bad
            line = {
                "work": name, "step": step, "points": len(points), "rounds": rounds, "killed": hit,
                OLD: outcomes[OLD], NEW: outcomes[NEW], "damaged": bad, "s": round(time.monotonic() - begun, 1),
            }  # fmt: skip
            print(json.dumps(line), flush=True)
    return is_clean


def main() -> int:
    """Run it; 1 where anything was damaged."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=sorted(WORKS), default=list(WORKS))
    given = parser.parse_args()
    print(json.dumps({**describe_machine(), "seed": given.seed}), flush=True)
    with tempfile.TemporaryDirectory(prefix="loci-kill-") as name:
        is_clean = kill_all(given.only, given.rounds, given.seed, Path(name))
    print("clean" if is_clean else "NOT CLEAN")
    return 0 if is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
