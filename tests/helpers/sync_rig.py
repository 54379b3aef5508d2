"""Devices that share a folder: small vaults without an engine, whose verbs are the house's own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from vault_kit import KEYS, START_MS, home_at, new_vault, open_at

from core.archive.bundle import read_lines
from core.engine.sync.folder import FileChecks, check_file
from core.engine.sync.pairing import (
    INVITATION_MS,
    DeviceInvitation,
    invitation_id,
    make_secret,
    write_answer,
    write_invitation,
)
from core.engine.sync.rounds import FolderRounds, Workplace
from core.errors import LociError
from core.intake.claims import EvidenceSource, sync_claims, write_claims
from core.intake.erase.erasure import erase_memories
from core.intake.sync.collection import ChangeCollector
from core.intake.sync.device import (
    KnownDevice,
    add_device,
    begin_sync,
    mark_left,
    new_group,
    note_owing,
    read_devices,
    require_state,
)
from core.intake.sync.keys import SyncKey, open_header, read_keys, take_keys
from core.intake.sync.registers import TABLES
from core.intake.transaction.unit_of_work import UnitOfWork
from core.intake.transitions.review_items import close_conflict
from core.intake.transitions.transitions import forget_memory
from core.intake.undo import last_step, undo_step
from core.memory.write import content_hash, refresh_terms, reserve_labels
from core.types.belief import ClaimDraft
from core.types.clock import ManualClock
from core.types.folders.sync import SyncReport
from core.types.values import OWNER_ACTOR, IdMaker
from core.vault.audit import AuditChain
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx
from core.vault.vault import Vault

T = TypeVar("T")

_templates: dict[str, Path] = {}


@dataclass
class Device:
    """One device: a vault, and rounds with the folder."""

    home: Path
    name: str
    clock: ManualClock
    vault: Vault = field(init=False)

    def __post_init__(self) -> None:
        self.open()

    def open(self) -> None:
        """Open the vault, as after a kill."""
        self.vault = open_at(home_at(self.home), self.clock, 1)
        make_id = IdMaker(self.clock)
        self.work = UnitOfWork(make_id, AuditChain(KEYS.audit), 90)
        self.make_id = make_id
        self.rounds = FolderRounds(
            Workplace(self, self.work, self.home / "sync", lambda seq, labels: None, FileChecks(self.clock))
        )

    def close(self) -> None:
        """Close the vault."""
        self.vault.close()

    def read(self, fn: Callable[[Rows], T]) -> T:
        """Read one snapshot."""
        return self.vault.read(fn)

    def write(self, fn: Callable[[Tx], T]) -> T:
        """Write one transaction."""
        self.clock.advance(1)
        return self.vault.write(fn)

    # ---- verbs

    def remember(self, text: str, claim: tuple[str, str, str] | None = None, replaces: str | None = None) -> str | None:
        """Store a fact, with its claim; the same words that stand already are not stored."""

        def store(tx: Tx) -> str | None:
            known = tx.value(
                "SELECT id FROM memories WHERE content_hash = ? AND status IN ('active', 'disputed')",
                (content_hash(text),),
            )
            if known is not None:
                return None
            with self.work.verb(tx, "remember", "Remember", OWNER_ACTOR):
                memory_id = self._insert(tx, text, replaces)
                if claim is not None:
                    subject, predicate, value = claim
                    draft = ClaimDraft(
                        subject=subject, predicate=predicate, value=value, exclusive=True, start=0, end=len(text)
                    )
                    source = EvidenceSource(memory_id, text, "home", "owner", tx.now_ms)
                    write_claims(tx, self.make_id, [draft], source)
                    sync_claims(tx, self.make_id, [memory_id])
            return memory_id

        return self.write(store)

    def _insert(self, tx: Tx, text: str, replaces: str | None) -> str:
        memory_id = self.make_id()
        old = None if replaces is None else tx.row("memories", {"id": replaces})
        row = _row(tx, reserve_labels(tx, 1), memory_id, text)
        if old is not None:
            row |= {"chain_id": old["chain_id"], "supersedes_id": replaces}
        tx.insert("memories", row)
        source = {"memory_id": memory_id, "lineage": "owner", "source": "user_explicit", "at": tx.now_ms}
        tx.insert("memory_sources", source)
        if old is not None:
            gone = {"status": "superseded", "status_reason": "replaced", "superseded_by_id": memory_id}
            tx.update("memories", {"id": replaces}, {**gone, "retired_at": tx.now_ms})
            sync_claims(tx, self.make_id, [str(replaces)])
        refresh_terms(tx, [memory_id])
        return memory_id

    def relate(self, one: str, other: str, kind: str) -> None:
        """Relate two memories; nothing where they are related so already, or it would close a circle."""

        def relate(tx: Tx) -> None:
            row = {"id": self.make_id(), "from_id": one, "to_id": other, "type": kind, "space_id": "home"}
            with self.work.verb(tx, "relate", "Relate", OWNER_ACTOR):
                tx.insert("edges", {**row, "made_by": "owner", "recorded_at": tx.now_ms})

        if one != other:
            with suppress(LociError):
                self.write(relate)

    def judge(self, memory_id: str, verdict: str) -> None:
        """Confirm or dispute a memory once more."""

        def judge(tx: Tx) -> None:
            key = {"memory_id": memory_id, "voice": "owner", "verdict": verdict}
            with self.work.verb(tx, verdict, "Judge", OWNER_ACTOR):
                known = tx.row("verdicts", key)
                if known is None:
                    tx.insert("verdicts", {**key, "at": tx.now_ms})
                else:
                    tx.update("verdicts", key, {"times": known["times"] + 1, "at": tx.now_ms})

        self.write(judge)

    def decide(self, resolution: str) -> None:
        """Close the first open item of the review, if there is one."""

        def decide(tx: Tx) -> None:
            found = tx.value("SELECT id FROM conflicts WHERE state = 'open' ORDER BY id")
            if found is not None:
                with self.work.verb(tx, "resolve", "Decide", OWNER_ACTOR):
                    close_conflict(tx, str(found), "resolved", resolution)

        self.write(decide)

    def split(self, parts: Sequence[str]) -> None:
        """Store a long text in parts."""

        def store(tx: Tx) -> None:
            first, head = reserve_labels(tx, len(parts)), self.make_id()
            with self.work.verb(tx, "remember", "Remember", OWNER_ACTOR):
                for at, text in enumerate(parts):
                    own = head if at == 0 else self.make_id()
                    row = _row(tx, first + at, own, text)
                    tx.insert("memories", {**row, "kind": "episode", "part_of": head, "part_index": at})

        self.write(store)

    def label(self, memory_id: str, **columns: object) -> None:
        """Change columns of a memory."""

        def change(tx: Tx) -> None:
            with self.work.verb(tx, "edit", "Edit", OWNER_ACTOR):
                tx.update("memories", {"id": memory_id}, columns)

        self.write(change)

    def forget(self, memory_id: str) -> None:
        """Forget a memory; nothing where it is forgotten already."""
        with suppress(LociError):
            self.write(lambda tx: forget_memory(tx, self.work, memory_id, OWNER_ACTOR))

    def erase(self, memory_id: str) -> None:
        """Erase a memory for good."""
        self.write(lambda tx: erase_memories(tx, self.work, [memory_id], OWNER_ACTOR, lambda seq, labels: None))

    def undo(self) -> None:
        """Take the last step back."""
        step = self.read(last_step)
        if step is not None:
            self.write(lambda tx: undo_step(tx, self.work, step, OWNER_ACTOR, lambda seq, labels: None))

    def undo_of(self, step: str) -> None:
        """Take one step back."""
        self.write(lambda tx: undo_step(tx, self.work, step, OWNER_ACTOR, lambda seq, labels: None))

    def ids(self, *statuses: str) -> list[str]:
        """Memories, oldest first."""
        wanted = to_json(list(statuses or ("active", "disputed", "superseded", "deleted", "consolidated", "archived")))
        sql = "SELECT id FROM memories WHERE status IN (SELECT value FROM json_each(?)) ORDER BY id"
        return [str(row[0]) for row in self.read(lambda rows: rows.all(sql, (wanted,)))]

    def texts(self, *statuses: str) -> list[str]:
        """Texts of memories, sorted."""
        wanted = to_json(list(statuses or ("active",)))
        sql = "SELECT text FROM memories WHERE status IN (SELECT value FROM json_each(?)) ORDER BY text"
        return [str(row[0]) for row in self.read(lambda rows: rows.all(sql, (wanted,)))]

    # ---- other devices

    def now(self, *, is_whole: bool = False) -> SyncReport:
        """One round with the folder."""
        self.clock.advance(1)
        return self.rounds.run(is_whole=is_whole)[0]

    def begin(self, folder: Path) -> None:
        """The first device of a group."""
        group, key = new_group()
        self.write(lambda tx: begin_sync(tx, group, key, str(folder), self.name))

    def invite(self, folder: Path, other: Device) -> None:
        """Let another device in, by an invitation and its answer."""
        secret = make_secret()
        state = self.read(require_state)
        host = next(one for one in self.read(read_devices) if one.id == state.device)
        expires_at = self.clock.now_ms() + INVITATION_MS
        values = (invitation_id(secret), secret, expires_at)
        self.write(lambda tx: tx.run("INSERT INTO sync_invitations (id, secret, expires_at) VALUES (?, ?, ?)", values))
        keys = tuple(self.read(read_keys).values())
        write_invitation(folder, secret, DeviceInvitation(state.group, keys, host, expires_at))
        other.join(folder, state.group, keys, host)
        own = other.read(require_state).device
        write_answer(folder, secret, next(one for one in other.read(read_devices) if one.id == own))

    def join(self, folder: Path, group: str, keys: Sequence[SyncKey], host: KnownDevice) -> None:
        """Become a device of a group."""

        def begin(tx: Tx) -> None:
            begin_sync(tx, group, keys[0].key, str(folder), self.name)
            add_device(tx, host)
            take_keys(tx, keys[1:])

        self.write(begin)

    def take_out(self, other: Device) -> None:
        """Take another device out; the next round tells it."""
        gone = other.read(require_state).device
        number = next(one.number for one in self.read(read_devices) if one.id == gone)

        def mark(tx: Tx) -> None:
            mark_left(tx, gone, tx.now_ms, number)
            note_owing(tx)

        self.write(mark)

    def synced_rows(self) -> dict[str, dict[str, dict[str, Any]]]:
        """All that is synchronised, as it must be the same on every device."""

        def read(rows: Rows) -> dict[str, dict[str, dict[str, Any]]]:
            collector = ChangeCollector(rows, lambda line: None)
            return {
                name: {record.key: dict(record.columns) for record in collector.read_records(table)}
                for name, table in TABLES.items()
            }

        return self.read(read)

    def real_rows(self) -> dict[str, int]:
        """How many rows each table really has."""
        return {
            # mypy infers no lambda with defaults; the names are the schema's own.
            name: self.read(lambda rows, name=name: int(rows.value(f"SELECT count(*) FROM {name}")))  # type: ignore[misc]  # noqa: S608
            for name in TABLES
        }


def _row(tx: Tx, n: int, memory_id: str, text: str) -> dict[str, Any]:
    return {
        "n": n, "id": memory_id, "kind": "fact", "status": "active", "text": text,
        "content_hash": content_hash(text), "space_id": "home", "source": "user_explicit", "role": "user",
        "lineage": "owner", "recorded_at": tx.now_ms, "trust": 0.9, "confidence": 0.9,
        "last_confirmed_at": tx.now_ms, "chain_id": memory_id,
    }  # fmt: skip


def new_device(folder: Path, name: str, ahead_ms: int = 0) -> Device:
    """A device with an empty vault; the first one of a run is made, the others are copies of its files."""
    if "made" not in _templates or not _templates["made"].exists():
        made = folder / "template"
        new_vault(made)
        _templates["made"] = made
    home = folder / name
    shutil.copytree(_templates["made"], home)
    return Device(home, name, ManualClock(START_MS + ahead_ms))


def new_group_of(folder: Path, count: int) -> tuple[list[Device], Path]:
    """Devices that share a folder and know one another."""
    shared = folder / "shared"
    shared.mkdir()
    devices = [new_device(folder, f"d{at}", at * 7) for at in range(count)]
    devices[0].begin(shared)
    for other in devices[1:]:
        devices[0].invite(shared, other)
        other.now()
        devices[0].now()
        other.now()
    settle(devices)
    return devices, shared


def bundles_opened_by(device: Device, shared: Path) -> set[str]:
    """Which files of a folder open with anything that a device has."""
    state, keys = device.read(require_state), device.read(read_keys)
    found = set()
    for path in shared.glob("*.loci-bundle"):
        checked = check_file(path)
        handed = device.read(lambda rows, header=checked.header: open_header(rows, header))  # type: ignore[misc]  # mypy infers no lambda with defaults
        for key in (state.sync_key, *(one.key for one in keys.values()), *([handed.key] if handed else [])):
            with suppress(LociError), path.open("rb") as file:
                list(read_lines(file, checked, key))
                found.add(path.name)
    return found


def settle(devices: Sequence[Device], most: int = 12) -> int:
    """Rounds until nobody has anything to tell.

    Returns:
        How many it took.
    """
    for turn in range(most):
        reports = [device.now() for device in devices]
        if not any(report.wrote or report.bundles for report in reports):
            return turn
    raise AssertionError("they never came to rest")
