"""Rotation: the whole vault under another root key, in one decision.

Everything is made and checked in a fresh directory first: the database page by page under its new key, the audit's
marks, the head, the key file. Then one rename (`rotate.next`) decides; what follows it can be killed at any step and is
finished at the next start by `finish_replacement`. Before that rename the vault is what it was, behind it the new keys
alone open it. Backups made before keep the keys they were made with.

Must not do: change a byte of the present vault before everything is checked, run while it is open, make keys.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from core.errors import Code, EnvironmentFaultError, IntegrityError, LociError
from core.security.atomic import file_write_error, sync_directory
from core.types.clock import Clock
from core.vault.audit import AuditChain
from core.vault.backup import automatic_backups
from core.vault.database.connections import copy_under_key, open_reader, open_writer, without_traces
from core.vault.database.inspection import count_rows, look_into
from core.vault.database.rows import SqlRows, fetch_rows
from core.vault.database.tx import Tx
from core.vault.files.home import Home, SubKeys, new_file
from core.vault.files.replacement import ROTATION_WORK, take_rotated_place
from core.vault.vault import Vault

_SPARE_BYTES = 32 * 1024 * 1024
_AUDIT_SHARE = 4
"""The log of the copy may take a quarter of the vault besides while the audit's marks are written."""


class RotationStep(StrEnum):
    """What a rotation is doing, in its order."""

    COPY = "copy"
    AUDIT = "audit"
    CHECK = "check"
    SWITCH = "switch"


@dataclass(frozen=True)
class RotationInfo:
    """What was rotated.

    Attributes:
        rows: rows of all tables that were compared with those of before.
        vault_bytes: size of the database.
        old_backups: names of backups in the home, which open with the secrets of before.
        closed_copies: names of copies in the home that have no keys of their own and open no more.
    """

    rows: int
    vault_bytes: int
    old_backups: tuple[str, ...]
    closed_copies: tuple[str, ...]


ReportStep = Callable[[RotationStep, int, int], None]


def rotate_vault(
    home: Home,
    old: SubKeys,
    new: SubKeys,
    vault_id: bytes,
    key_file: bytes,
    clock: Clock,
    report_step: ReportStep = lambda *_: None,
) -> RotationInfo:
    """Put a vault under other keys.

    Args:
        home: where; the caller holds its lock, and the vault is closed and the newest copy.
        old: the keys it has.
        new: the keys it gets.
        vault_id: 16 bytes.
        key_file: the bytes of the `vault.keys` that opens the new keys.
        report_step: told each step with done and total; what it raises before the switch ends the rotation.

    Returns:
        What was done. Once `RotationStep.SWITCH` is reported the new keys hold, whatever is raised.

    Raises:
        EnvironmentFaultError: DISK_FULL, READ_ONLY or WRITE_FAILED.
        IntegrityError: VAULT_DAMAGED.
    """
    home.need_writable()
    _need_room(home)
    try:
        work = Path(tempfile.mkdtemp(prefix=ROTATION_WORK, dir=home.path))
        try:
            stage, rows = _build_stage(home, work, old, new, vault_id, key_file, clock, report_step)
            size = (stage / home.vault.name).stat().st_size
            stage.rename(home.rotating)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        sync_directory(home.path)
        report_step(RotationStep.SWITCH, 0, 1)
        take_rotated_place(home)
        return RotationInfo(rows, size, tuple(one.name for one in automatic_backups(home)), _closed_copies(home))
    except OSError as error:
        fault = file_write_error(error)
    raise fault


def rotation_room(home: Home) -> int:
    """How many free bytes a rotation asks for before it begins."""
    size = sum(one.stat().st_size for one in (home.vault, home.wal) if one.exists())
    return size + size // _AUDIT_SHARE + _SPARE_BYTES


def _need_room(home: Home) -> None:
    needed, free = rotation_room(home), shutil.disk_usage(home.path).free
    if free < needed:
        raise EnvironmentFaultError(
            Code.DISK_FULL,
            f"New keys need {needed // 1_000_000:,} MB of free disk for a while and there are "
            f"{free // 1_000_000:,} MB; make room and try again. Nothing was changed.",
        )


def _build_stage(
    home: Home,
    work: Path,
    old: SubKeys,
    new: SubKeys,
    vault_id: bytes,
    key_file: bytes,
    clock: Clock,
    report_step: ReportStep,
) -> tuple[Path, int]:
    stage = work / "stage"
    stage.mkdir(mode=0o700)
    copy = stage / home.vault.name
    with without_traces(home.vault):
        copy_under_key(
            home.vault, old.db, copy, new.db, lambda done, total: report_step(RotationStep.COPY, done, total)
        )
    report_step(RotationStep.AUDIT, 0, 1)
    _rebind_audit(copy, old, new)
    _note_rotation(stage, new, vault_id, clock)
    report_step(RotationStep.CHECK, 0, 1)
    rows = _compare_rows(home.vault, old.db, copy, new.db)
    for name in (home.keys.name, f"{home.keys.name}.bak"):
        new_file(stage / name, key_file)
    _keep_only(stage, home)
    sync_directory(stage)
    return stage, rows


def _rebind_audit(copy: Path, old: SubKeys, new: SubKeys) -> None:
    """The audit's marks under the new key. Its triggers refuse every UPDATE; a row put in its own place is none."""
    with closing(open_writer(copy, new.db)) as writer:
        fetch_rows(writer, "BEGIN IMMEDIATE")
        for marks in AuditChain(old.audit).rebind_rows(SqlRows(writer), AuditChain(new.audit)):
            writer.executemany(
                "INSERT OR REPLACE INTO audit (nr, at, actor, verb, object, detail, mac) "
                "SELECT nr, at, actor, verb, object, detail, ? FROM audit WHERE nr = ?",
                marks,
            )
        fetch_rows(writer, "COMMIT")


def _note_rotation(stage: Path, new: SubKeys, vault_id: bytes, clock: Clock) -> None:
    """Open the copy as a vault of its own and put the rotation down; closing it writes its head."""

    def note(tx: Tx) -> None:
        AuditChain(new.audit).append_row(tx, "owner", "rotate_keys")
        tx.run("UPDATE vault_state SET last_at = ? WHERE one = 1", (tx.now_ms,))

    vault = Vault.open(Home(stage, reserve_bytes=0), new, vault_id, clock, 1, counter=0)
    try:
        vault.write(note)
    finally:
        failed = vault.close()
    if failed:
        raise _unsound_copy_error()


def _compare_rows(present: Path, old_key: bytes, copy: Path, new_key: bytes) -> int:
    """Check every page of the copy, and every table's rows against those of before."""
    try:
        look_into(copy, new_key)
    except IntegrityError:
        fault: LociError = _unsound_copy_error()
    else:
        counts = []
        for path, key in ((present, old_key), (copy, new_key)):
            with without_traces(path), closing(open_reader(path, key)) as reader:
                counts.append(count_rows(reader))
        before, after = counts
        before["audit"] += 1
        if before == after:
            return sum(after.values())
        fault = _unsound_copy_error()
    raise fault


def _keep_only(stage: Path, home: Home) -> None:
    """Nothing but what takes a place: an empty directory is what the switch leaves."""
    kept = {home.vault.name, home.head.name, home.keys.name, f"{home.keys.name}.bak"}
    for entry in stage.iterdir():
        if entry.name not in kept:
            entry.unlink()


def _unsound_copy_error() -> LociError:
    return IntegrityError(
        Code.VAULT_DAMAGED,
        "The copy under the new keys is not sound; run `loci verify`. The old keys hold and nothing was changed.",
    )


def _closed_copies(home: Home) -> tuple[str, ...]:
    """Copies without a key file: those made before a migration."""
    if not home.backups.is_dir():
        return ()
    names = (entry.name for entry in os.scandir(home.backups))
    return tuple(sorted(name for name in names if name.startswith("vault-v") and name.endswith(".db")))
