"""Backups: a checked copy of the vault with its keys, in one file.

A backup counts once it was opened: the copy is checked page by page before it goes into the
archive, and the archive is read back and compared before it gets its name. Must not do:
write a secret that is not wrapped (the caller strips the keyring's slot), overwrite what is
no backup.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from core.errors import LociError, PreconditionError
from core.security.atomic import sync_directory, write_fault
from core.vault.backup.backup_format import KEYS, MANIFEST, VAULT, Manifest, invalid, pack, sha256_of
from core.vault.database.database_copy import look_into
from core.vault.files.home import Home
from core.vault.vault import Vault

_AUTOMATIC = re.compile(r"loci-\d{8}-\d{6}-(?P<seq>\d+)\.tar")
_PARTIAL = ".partial"
_WORK = ".work-"


@dataclass(frozen=True)
class BackupInfo:
    """A finished backup.

    Attributes:
        path: where it is.
        size: bytes.
        seq: the vault's sequence in it.
        made_at_ms: epoch ms.
        counts: table to number of rows.
    """

    path: Path
    size: int
    seq: int
    made_at_ms: int
    counts: Mapping[str, int]


def make_backup(
    vault: Vault,
    db_key: bytes,
    backup_key: bytes,
    key_file: bytes,
    now_ms: int,
    target: Path | None = None,
    *,
    kept: int = 3,
) -> BackupInfo:
    """Back up an open vault while it is in use.

    Args:
        vault: the open vault.
        db_key: its raw key, to open the copy.
        backup_key: signs the manifest.
        key_file: the bytes of `vault.keys` without the keyring's slot.
        target: where to; None for `backups/`, of which the newest stay.
        kept: how many automatic backups stay, from 1; the one just made always does.

    Returns:
        The finished backup.

    Raises:
        UserError: INVALID_INPUT; the target is something else than a backup.
        LociError: DISK_FULL, CANCELLED, VAULT_DAMAGED …
    """
    final = _automatic_name(vault, now_ms) if target is None else _checked_target(target)
    try:
        vault.home.prepare()
        info = _make(vault, db_key, backup_key, key_file, now_ms, final)
        if target is None:
            _keep_newest(vault.home, final, kept)
    except OSError as error:
        fault = write_fault(error)
    else:
        return info
    raise fault


def clear_leftovers(home: Home) -> int:
    """Remove what a killed backup left. Under the vault's lock, with no backup running.

    Args:
        home: whose.

    Returns:
        How many things were removed.
    """
    removed = 0
    with suppress(FileNotFoundError):
        for entry in list(home.backups.iterdir()):
            if entry.name.startswith(_WORK):
                shutil.rmtree(entry, ignore_errors=True)
                removed += 1
            elif entry.name.endswith(_PARTIAL):
                entry.unlink(missing_ok=True)
                removed += 1
    return removed


def automatic_backups(home: Home) -> tuple[Path, ...]:
    """The automatic backups, newest first: by the vault's sequence in them, since a clock may jump back.

    Args:
        home: whose.

    Returns:
        Their paths.
    """
    if not home.backups.is_dir():
        return ()
    found = [
        (int(named["seq"]), entry.stat().st_mtime_ns, entry)
        for entry in home.backups.iterdir()
        if (named := _AUTOMATIC.fullmatch(entry.name)) is not None
    ]
    return tuple(entry for _, _, entry in sorted(found, reverse=True))


def made_at_ms(automatic: Path) -> int:
    """When an automatic backup was made, by the vault's clock.

    Args:
        automatic: one of `automatic_backups`.

    Returns:
        Epoch ms, to the second.
    """
    stamp = automatic.name.removeprefix("loci-")[: len("20260101-000000")]
    return int(datetime.strptime(f"{stamp}+0000", "%Y%m%d-%H%M%S%z").timestamp()) * 1000


def _make(vault: Vault, db_key: bytes, backup_key: bytes, key_file: bytes, now_ms: int, final: Path) -> BackupInfo:
    work = Path(tempfile.mkdtemp(prefix=_WORK, dir=vault.home.backups))
    partial = final.with_name(final.name + _PARTIAL)
    try:
        copy = work / VAULT
        vault.copy_into(copy)
        look = look_into(copy, db_key)
        manifest = Manifest(
            vault_id=vault.vault_id,
            schema=look.versions.schema,
            seq=look.seq,
            made_at_ms=now_ms,
            counts=look.counts,
            vault_bytes=copy.stat().st_size,
            vault_sha256=sha256_of(copy),
            keys_sha256=hashlib.sha256(key_file).hexdigest(),
        )
        partial.unlink(missing_ok=True)
        pack(partial, copy, key_file, manifest, backup_key)
        _read_back(partial, manifest)
        partial.replace(final)
        sync_directory(final.parent)
    finally:
        shutil.rmtree(work, ignore_errors=True)
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    return BackupInfo(final, final.stat().st_size, look.seq, now_ms, look.counts)


def _read_back(archive: Path, manifest: Manifest) -> None:
    """The copy was opened and checked; the archive holds exactly that copy."""
    with tarfile.open(archive, mode="r:") as tar:
        members = tar.getmembers()
        if [member.name for member in members] != [MANIFEST, KEYS, VAULT]:
            raise invalid("it was not written whole")
        for member, wanted in ((members[1], manifest.keys_sha256), (members[2], manifest.vault_sha256)):
            file = tar.extractfile(member)
            digest = hashlib.sha256()
            while file is not None and (block := file.read(1024 * 1024)):
                digest.update(block)
            if digest.hexdigest() != wanted:
                raise invalid("it was not written whole")


def _automatic_name(vault: Vault, now_ms: int) -> Path:
    stamp = datetime.fromtimestamp(now_ms / 1000, UTC).strftime("%Y%m%d-%H%M%S")
    return vault.home.backups / f"loci-{stamp}-{vault.seq}.tar"


def _checked_target(target: Path) -> Path:
    refused: LociError | None = None
    if not target.parent.is_dir():
        refused = PreconditionError("The directory for the backup does not exist.")
    elif os.path.lexists(target) and not _is_backup(target):
        refused = PreconditionError("There is another file under that name; nothing was overwritten.")
    if refused is not None:
        raise refused
    return target


def _is_backup(target: Path) -> bool:
    """Whether a file begins as our archives do."""
    if target.is_symlink() or not target.is_file():
        return False
    wanted = MANIFEST.encode("ascii") + b"\0"
    with target.open("rb") as file:
        return file.read(len(wanted)) == wanted


def _keep_newest(home: Home, made: Path, kept: int) -> None:
    """Keep the one just made, even where a restored vault counts lower than the backups of before."""
    others = [entry for entry in automatic_backups(home) if entry != made]
    for old in others[kept - 1 :]:
        old.unlink(missing_ok=True)
