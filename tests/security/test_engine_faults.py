"""Faults from outside: kill -9, a full disk, a home that cannot be written, prying eyes."""

from __future__ import annotations

import base64
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import engine_child
import numpy as np
import pytest
from engine_rig import MARKER, Rig, WordEmbedder, error_of, refused, rig_at, talk

from core.config.options import Options
from core.engine.facade import RootKey
from core.errors import Code, LociError
from core.types.clock import SystemClock
from core.types.requests import StoreRequest
from core.types.values import OWNER_ACTOR, Kind

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 12
"""`tests/bench/bench_kill.py` goes 100 rounds through the program itself."""
KIB = 1024


class Child:
    """`engine_child.py`, started early so that it is ready when it is needed."""

    def __init__(self) -> None:
        path = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "helpers")])
        self.process = subprocess.Popen(
            [sys.executable, engine_child.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )

    def order(self, **order: object) -> None:
        """Tell it what to do."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()

    def lines(self) -> list[list[str]]:
        """Everything it said, once it has ended."""
        out, _ = self.process.communicate(timeout=60)
        return [line.split() for line in out.splitlines()]

    def kill(self, after: int = 0, pause_s: float = 0.0) -> list[list[str]]:
        """End it as a power cut would, some time after so many lines; a line cut in half does not count."""
        assert self.process.stdout is not None
        said = [self.process.stdout.readline() for _ in range(after)]
        time.sleep(pause_s)
        self.process.send_signal(signal.SIGKILL)
        said += self.process.communicate(timeout=60)[0].splitlines(keepends=True)
        return [line.split() for line in said if line.endswith("\n")]


def outside(**order: object) -> list[list[str]]:
    """What another process says."""
    child = Child()
    child.order(**order)
    return child.lines()


def test_nothing_acknowledged_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    chance = random.Random(20)
    stored: dict[int, str] = {}
    imported: set[str] = set()
    with rig_at(tmp_path, clock=SystemClock()) as rig:
        rig.write(lambda tx: tx.run("INSERT INTO settings (key, value, changed_at) VALUES ('import_batch', '7', 0)"))
        root = rig.root
    child = Child()
    for number in range(ROUNDS):
        child.order(mode="work", folder=str(tmp_path), root=root.hex(), first=max(stored, default=-1) + 1, round=number)
        # Every fourth one while the vault is being opened, the others in the midst of work.
        lines = 0 if number % 4 == 3 else chance.randrange(1, 80)
        said = child.kill(lines, chance.uniform(0, 0.2 if lines == 0 else 0.03))
        child = Child()
        for kind, *rest in said:
            if kind == "stored":
                stored[int(rest[0])] = rest[1]
            elif kind == "imported":
                assert rest[1] == str(engine_child.ROWS)
                imported.add(rest[0])
        if number % 6 == 5:
            for path in tmp_path.glob("export-*"):
                path.unlink()
        check_after_kill(tmp_path, root, stored, imported, thorough=number % 4 == 3)
    child.kill()
    assert len(stored) > 5 * ROUNDS
    assert len(imported) >= ROUNDS // 4


def check_after_kill(folder: Path, root: bytes, stored: dict[int, str], imported: set[str], *, thorough: bool) -> None:
    with rig_at(folder, clock=SystemClock(), background=True, root=root) as rig:
        rig.settle()
        assert rig.value("SELECT count(*) FROM imports WHERE state = 'running'") == 0
        assert rig.value("SELECT count(*) FROM undo_steps WHERE is_open = 1") == 0
        held = rig.rows("SELECT id, text FROM memories WHERE import_id IS NULL")
        assert len({text for _, text in held}) == len(held)
        assert {(memory_id, f"{MARKER} entry {n}") for n, memory_id in stored.items()} <= set(held)
        assert len(held) <= len(stored) + 1 + ROUNDS  # at most one a round was saved and not yet acknowledged
        by_file = dict[str, int](
            (str(label), int(rows))
            for label, rows in rig.rows(
                "SELECT i.label, count(m.n) FROM imports i LEFT JOIN memories m ON m.import_id = i.id "
                "WHERE i.state = 'done' GROUP BY i.id"
            )
        )
        assert imported <= by_file.keys()
        assert set(by_file.values()) <= {engine_child.ROWS}
        assert rig.value("SELECT count(*) FROM memories WHERE import_id IS NOT NULL") == sum(by_file.values())
        if thorough:
            assert rig.verify()["status"] == "ok"
    # Afterwards: while it is open it may be writing a snapshot of its own.
    assert not any(path.suffix == ".partial" for path in rig.home.path.iterdir())


def test_a_second_process_is_told_that_the_vault_is_in_use(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig:
        rig.store("Mine")
        order = {"mode": "open", "folder": str(tmp_path), "root": rig.root.hex()}
        assert outside(**order) == [[Code.VAULT_BUSY.value]]
        rig.lock()
        assert outside(**order) == [[Code.VAULT_BUSY.value]]
        rig.engine.close()
        assert outside(**order) == [["opened"]]


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """As on a full disk: no file of this process may grow beyond a size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def store_until_full(rig: Rig) -> dict[str, str]:
    """Store until the disk is full; id to text of what was acknowledged."""
    acknowledged: dict[str, str] = {}
    for n in range(2000):
        text = f"{n} {MARKER} " + os.urandom(2500).hex()
        try:
            acknowledged[rig.store(text, kind=Kind.EPISODE).memory_id] = text
        except LociError as error:
            if error.code is not Code.DISK_FULL:
                raise
            return acknowledged
    raise AssertionError("the disk was never full")


FULL = pytest.mark.expected_logs("closing: the step", "a background chore stopped: E1003", "stopped: E1003")


@FULL
def test_a_full_disk_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig:
        kept = rig.store("Ada keeps bees").memory_id
        rig.opened.options = Options(import_batch=5)
        with files_no_larger_than(rig.home.vault.stat().st_size + 400 * KIB):
            acknowledged = store_until_full(rig)
            assert len(acknowledged) > 3
            # Reading goes on.
            assert rig.found("bees") == ["Ada keeps bees"]
            assert rig.get(kept).text == "Ada keeps bees"
            assert rig.value("SELECT count(*) FROM memories") == 1 + len(acknowledged)
            for code in (
                error_of(rig.engine.memories.store(StoreRequest("x" * 40_000), OWNER_ACTOR)).code,
                error_of(rig.engine.imports.run(wide_rows(rig), None, None, OWNER_ACTOR)).code,
            ):
                assert code is Code.DISK_FULL
            rig.lock()
            assert rig.engine.state == "locked"
        rig.unlock()
        rig.engine.imports.finish_interrupted().result(60)
        rows = rig.value("SELECT count(*) FROM memories WHERE import_id IS NOT NULL")
        assert rows in {0, 60}
        assert rig.engine.imports.count_interrupted() == 0
        held = rig.rows("SELECT id, text FROM memories WHERE import_id IS NULL ORDER BY n")
        assert held == [(kept, "Ada keeps bees"), *acknowledged.items()]
        assert rig.store("There is room again").operation == "ADD"
        assert rig.verify()["status"] == "ok"


def wide_rows(rig: Rig) -> Path:
    """A file that needs more room than there is; written while files may still be that large."""
    path = rig.folder / "wide.jsonl"
    rows = [{**row, "text": f"{row['text']} {'wide ' * 900}"} for row in talk(60)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@contextmanager
def small_disk(path: Path, size: str) -> Iterator[Path]:
    """A file system of its own; skips where this process may not mount one."""
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "loci-test", str(path)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


@FULL
def test_a_small_disk_that_runs_full(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "3m") as disk, rig_at(disk) as rig:
        kept = rig.store("Ada keeps bees").memory_id
        acknowledged = store_until_full(rig)
        assert rig.found("bees") == ["Ada keeps bees"]
        rig.lock()
        assert rig.engine.state == "locked"
        subprocess.run(["mount", "-o", "remount,size=12m", str(disk)], check=True)
        rig.unlock()
        held = rig.rows("SELECT id, text FROM memories ORDER BY n")
        assert held == [(kept, "Ada keeps bees"), *acknowledged.items()]
        assert rig.store("There is room again").operation == "ADD"
        assert rig.verify()["status"] == "ok"


def test_a_read_only_home_says_so_and_is_left_as_it_is(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "12m") as disk:
        with rig_at(disk) as rig:
            rig.store("Ada keeps bees")
            root, vault_id = rig.root, rig.engine.vault_id
        before = {path: path.read_bytes() for path in (disk / "home").rglob("*") if path.is_file()}
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with rig_at(disk, is_open=False, root=root) as rig:
            with refused(Code.READ_ONLY):
                rig.engine.unlock(RootKey(root, vault_id))
            assert rig.engine.state == "locked"
        assert {path: path.read_bytes() for path in (disk / "home").rglob("*") if path.is_file()} == before
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        with rig_at(disk, root=root) as rig:
            assert rig.texts() == ["Ada keeps bees"]


def traces(word: str) -> list[bytes]:
    """What a word leaves behind in the clear: as it is, in other encodings, as a vector."""
    plain = word.encode()
    encoded = [base64.b64encode(b"x" * shift + plain)[4:-4] for shift in range(3)]
    vector = WordEmbedder().embed_one(word)
    return [
        plain,
        plain.lower(),
        word.encode("utf-16-le"),
        word.encode("utf-16-be"),
        plain.hex().encode(),
        *encoded,
        vector.tobytes()[:64],
        vector.astype(np.float16).tobytes()[:64],
    ]


def scan(rig: Rig, wanted: list[bytes]) -> list[list[str]]:
    found = outside(mode="scan", folder=str(rig.home.path), wanted=[one.hex() for one in wanted])
    files = {rest[0] for kind, *rest in found if kind == "read"}
    assert {"vault.db", "vault.keys", "vault.head"} <= files
    return [line for line in found if line[0] == "found"]


def test_no_word_is_in_the_clear_in_any_file(tmp_path: Path) -> None:
    wanted = traces(MARKER)
    claim = {"subject": MARKER, "predicate": "likes", "value": MARKER}
    with rig_at(tmp_path) as rig:
        # The search itself finds what is in the clear.
        planted = rig.home.logs / "planted"
        planted.write_bytes(wanted[5] + wanted[2])
        assert {line[2] for line in scan(rig, wanted)} == {"2", "5"}
        planted.unlink()

        rig.store(MARKER, category=MARKER, tags=(MARKER,), author=MARKER, space=MARKER, ref=MARKER, claim=claim)
        rows = [{**row, "text": f"{MARKER} {row['text']}", "session": MARKER} for row in talk(50)]
        report = rig.bring(rows, name=f"{MARKER}.jsonl")
        rig.client(MARKER, "read", f"space:{MARKER}")
        assert rig.found(MARKER, explain=True)
        rig.engine.flush_journal()
        assert scan(rig, wanted) == []
        rig.unimport(report.import_id)
        with refused(Code.INVALID_INPUT):
            rig.store(f"{MARKER}\0")
        rig.engine.vault.backup().result(60)
        assert scan(rig, wanted) == []
        rig.lock()
        assert rig.home.snapshot.exists()
        assert scan(rig, wanted) == []
        rig.engine.close()
        assert scan(rig, wanted) == []


def test_every_file_is_the_owner_s_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with rig_at(tmp_path) as rig:
            rig.bring(talk(20))
            rig.engine.vault.backup().result(60)
            live = modes(rig)
            rig.lock()
            closed = modes(rig)
    finally:
        os.umask(before)
    for found in (live, closed):
        assert {mode for name, mode in found.items() if name.endswith("/")} == {0o700}
        assert {mode for name, mode in found.items() if not name.endswith("/")} == {0o600}


def modes(rig: Rig) -> dict[str, int]:
    found: dict[str, int] = {}
    for path in (rig.home.path, *rig.home.path.rglob("*")):
        found[f"{path.name}{'/' if path.is_dir() else ''}"] = path.stat().st_mode & 0o777
    return found
