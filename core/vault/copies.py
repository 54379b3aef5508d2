"""Known copies of a vault: backups, copies from before an update or a restore; looking into them, rewriting them.

A copy is never opened where it lies: what opening leaves behind would lie beside it, and a log beside it would be
played into it. It is unpacked into a fresh directory of the backups folder and looked at there. A rewritten backup is
built there too, packed, read back, and put in the old one's place by one rename: killed at any step, the old one or
the new one stands, whole. Must not do: look for copies outside the home; touch the vault that is open.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from sqlcipher3 import dbapi2

from core.errors import Code, IntegrityError, LociError, UserError
from core.security.atomic import file_write_error, sync_directory
from core.types.clock import Clock
from core.types.memory import CopyState
from core.vault.backup import (
    Manifest,
    OpenedKeys,
    UnpackedBackup,
    invalid_backup_error,
    is_backup,
    pack_backup,
    read_back,
    sha256_of,
    unpack_backup,
)
from core.vault.database.connections import copy_into, open_reader
from core.vault.database.inspection import look_into
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx, without_recorder
from core.vault.files.home import Home
from core.vault.files.replacement import BACKUP_WORK, OLD, PARTIAL
from core.vault.vault import Vault

_LOG = "-wal"
_ELSEWHERE, _MOST_ELSEWHERE = "backups_saved_elsewhere", 50
_PUT_ELSEWHERE = (
    "INSERT INTO settings (key, value, changed_at) VALUES (?, ?, ?) "
    "ON CONFLICT (key) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at"
)
_NOT_OF_THE_COPY = frozenset({Code.VAULT_LOCKED, Code.CANCELLED})


def known_copies(home: Home) -> tuple[Path, ...]:
    """Copies of the vault in the home, by name; those elsewhere nobody knows of."""
    found = list(home.backups.iterdir()) if home.backups.is_dir() else []
    copies = [path for path in found if path.is_file() and (is_backup(path) or _is_plain_copy(path))]
    before = home.vault.with_name(home.vault.name + OLD)
    return tuple(sorted([*copies, *([before] if before.is_file() else [])], key=lambda path: path.name))


def noted_elsewhere(rows: Rows) -> dict[Path, int]:
    """Backups that were written to places of the person's own, whether they are there now or not.

    Returns:
        When each was made, epoch ms.
    """
    found = json.loads(rows.value("SELECT value FROM settings WHERE key = ?", (_ELSEWHERE,), default="{}"))
    return {Path(one): int(made_at) for one, made_at in found.items()}


def note_elsewhere(tx: Tx, backup: Path, made_at: int) -> None:
    """Remember a backup that was written to a place of the person's own.

    Args:
        backup: its whole path.
        made_at: epoch ms.
    """
    noted = {str(one): at for one, at in noted_elsewhere(tx).items() if one != backup}
    kept = dict([*noted.items(), (str(backup), made_at)][-_MOST_ELSEWHERE:])
    with without_recorder(tx):
        tx.run(_PUT_ELSEWHERE, (_ELSEWHERE, json.dumps(kept), tx.now_ms))


def has_other_files(home: Home) -> bool:
    """Whether the backups folder holds files that are no copy, such as a damaged log that was set aside."""
    if not home.backups.is_dir():
        return False
    copies = set(known_copies(home))
    return any(path.is_file() and path not in copies for path in home.backups.iterdir())


def _is_plain_copy(path: Path) -> bool:
    """Whether it is a copy from before an update, which has no seal and no keys beside it."""
    return path.name.startswith("vault-v") and path.name.endswith(".db")


@contextmanager
def work_folder(home: Home) -> Iterator[Path]:
    """A fresh directory for copies, beside the backups; removed at the end, and after a kill at the next start.

    Raises:
        EnvironmentFaultError: DISK_FULL, READ_ONLY or WRITE_FAILED, of what is done inside too.
    """
    try:
        home.prepare_folders()
        work = Path(tempfile.mkdtemp(prefix=BACKUP_WORK, dir=home.backups))
        try:
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        fault = file_write_error(error)
    else:
        return
    raise fault


def unpack_copy(copy: Path, into: Path, keys: OpenedKeys) -> Path:
    """Put the database of a copy into a directory, with the log beside it where it has one.

    Args:
        copy: one of `known_copies`, or a backup from elsewhere.
        into: an empty directory.

    Returns:
        The database file, `vault.db`; of a backup its seal was checked.

    Raises:
        UserError: BACKUP_INVALID for a damaged one, WRONG_SECRET where these keys did not seal it.
        EnvironmentFaultError: ACCESS_DENIED.
        OSError: the disk refused.
    """
    if is_backup(copy):
        return _unpack_sealed(copy, into, keys).vault
    target = into / "vault.db"
    for suffix in ("", _LOG):
        source = copy.with_name(copy.name + suffix)
        if source.is_file():
            shutil.copyfile(source, target.with_name(target.name + suffix))
    return target


def _unpack_sealed(copy: Path, into: Path, keys: OpenedKeys) -> UnpackedBackup:
    parts = unpack_backup(copy, into)
    need_own_seal(parts, keys)
    return parts


def need_own_seal(parts: UnpackedBackup, keys: OpenedKeys) -> None:
    """Refuse a backup that these keys did not seal.

    Raises:
        UserError: WRONG_SECRET.
    """
    if not parts.is_signed_by(keys.backup) or parts.manifest.vault_id != keys.vault_id:
        raise UserError(Code.WRONG_SECRET, "This backup was sealed with other keys than the vault has now.")


@contextmanager
def open_copy(home: Home, copy: Path, keys: OpenedKeys) -> Iterator[dbapi2.Connection]:
    """Open the database of a backup or another copy of the vault for reading; its unpacked files go at the end.

    Args:
        home: whose backups folder is worked in.
        copy: as for `unpack_copy`.

    Yields:
        A connection that cannot write.

    Raises:
        LociError: as `unpack_copy`; VAULT_DAMAGED where the key does not open it, DISK_FULL.
    """
    with work_folder(home) as work, closing(open_reader(unpack_copy(copy, work, keys), keys.keys.db)) as reader:
        yield reader


def state_of_fault(copy: Path, error: LociError) -> CopyState:
    """The state of a copy of the vault (damaged, other keys, not checked), by the error that opening it raised.

    Raises:
        LociError: the error itself, where it says nothing of the copy: the vault is closing.
    """
    if error.code in _NOT_OF_THE_COPY:
        raise error
    if error.code is Code.WRONG_SECRET or (
        error.code is Code.VAULT_DAMAGED and copy.suffix != ".tar" and not is_backup(copy)
    ):
        return CopyState.OTHER_KEYS  # a plain copy has no seal that tells other keys from damage
    is_damaged = error.code in (Code.BACKUP_INVALID, Code.VAULT_DAMAGED)
    return CopyState.DAMAGED if is_damaged else CopyState.NOT_CHECKED


def rewrite_backup(home: Home, backup: Path, keys: OpenedKeys, clock: Clock, change: Callable[[Vault], None]) -> None:
    """Put a changed backup in the place of one; killed or failing at any step, one of the two stands whole.

    Args:
        home: whose backups folder is worked in.
        backup: sealed with these keys.
        change: changes the vault that is in it; the vault is brought to the present schema first.

    Raises:
        UserError: BACKUP_INVALID, WRONG_SECRET, NEWER_VERSION; the old one stands.
        LociError: DISK_FULL and what else the disk said; the old one stands.
    """
    partial = backup.with_name(backup.name + PARTIAL)
    with work_folder(home) as work:
        try:
            parts = _unpack_sealed(backup, work, keys)
            _change_unpacked(work, keys, clock, change)
            clean = work / "clean.db"
            copy_into(parts.vault, keys.keys.db, clean)
            manifest = _describe_copy(clean, keys, parts)
            partial.unlink(missing_ok=True)
            pack_backup(partial, clean, parts.keys, manifest, keys.backup, clock.now_ms())
            read_back(partial, manifest)
            partial.replace(backup)
            sync_directory(backup.parent)
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)


def _change_unpacked(work: Path, keys: OpenedKeys, clock: Clock, change: Callable[[Vault], None]) -> None:
    # It has no head of its own, and is not asked about: it was chosen by name.
    vault = Vault.open(Home(work, reserve_bytes=0), keys.keys, keys.vault_id, clock, 1, counter=0)
    try:
        change(vault)
        is_scrubbed = vault.scrub_deleted()
    finally:
        failed = vault.close()
    if failed or not is_scrubbed:
        raise invalid_backup_error("its vault could not be rewritten")


def _describe_copy(clean: Path, keys: OpenedKeys, parts: UnpackedBackup) -> Manifest:
    try:
        look = look_into(clean, keys.keys.db)
    except IntegrityError:
        fault: LociError = invalid_backup_error("its vault could not be rewritten")
    else:
        return replace(
            parts.manifest,
            schema=look.versions.schema,
            seq=look.seq,
            counts=look.counts,
            vault_bytes=clean.stat().st_size,
            vault_sha256=sha256_of(clean),
            keys_sha256=hashlib.sha256(parts.keys).hexdigest(),
        )
    raise fault
