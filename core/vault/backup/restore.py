"""Putting a backup in the place of the present vault.

Everything is checked first, in a fresh directory: form, MAC, digests, the database page by
page. Then one rename (`restore.next`) decides; what follows it can be killed at any step
and is finished at the next start by `finish_restore`. The old vault stays as
`*.before-restore`. Pairings do not survive: a token that was revoked since must not come back.

Must not do: touch the present vault before everything is checked, run while it is open,
take a foreign archive (that is an import).
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import Code, IntegrityError, LociError, UserError
from core.security.atomic import sync_directory, write_fault
from core.types.clock import Clock
from core.vault.audit import AuditChain
from core.vault.backup.backup_format import KEYS, VAULT, UnpackedBackup, invalid, unpack
from core.vault.backup.replacement import OLD, WORK, finish_restore, take_place
from core.vault.database.database_copy import look_into
from core.vault.database.migrations import Migration, known_migrations
from core.vault.database.tx import Tx
from core.vault.files.home import Home, new_file
from core.vault.files.keys import SubKeys
from core.vault.head import Head, read_head, write_head
from core.vault.vault import Vault


@dataclass(frozen=True)
class OpenedKeys:
    """What the archive's own key file opened to.

    Attributes:
        vault_id: 16 bytes.
        keys: sub-keys of the vault.
        backup: key of the manifest's MAC.
    """

    vault_id: bytes
    keys: SubKeys
    backup: bytes = field(repr=False)


@dataclass(frozen=True)
class RestoreInfo:
    """What was restored.

    Attributes:
        made_at_ms: when the backup was made, epoch ms.
        seq: the vault's sequence now.
        counts: table to number of rows in the backup.
        dropped_clients: pairings that ended.
        has_old: whether there was a vault, now `*.before-restore`.
    """

    made_at_ms: int
    seq: int
    counts: Mapping[str, int]
    dropped_clients: int
    has_old: bool


def restore(
    archive: Path,
    home: Home,
    open_keys: Callable[[bytes], OpenedKeys],
    clock: Clock,
    migrations: tuple[Migration, ...] | None = None,
) -> RestoreInfo:
    """Restore a backup.

    Args:
        archive: the backup.
        home: where to; the caller holds its lock, and the vault there is closed.
        open_keys: opens the bytes of the archive's `vault.keys`; what it raises ends the restore.
        clock: the one clock.
        migrations: all steps; None for those this program knows.

    Returns:
        What was restored.

    Raises:
        UserError: BACKUP_INVALID, NEWER_VERSION; the present vault is untouched.
        LociError: WRONG_SECRET from `open_keys`, DISK_FULL, READ_ONLY …
    """
    steps = known_migrations() if migrations is None else migrations
    _need_file(archive)
    home.prepare()
    home.need_writable()
    finish_restore(home)
    try:
        work = Path(tempfile.mkdtemp(prefix=WORK, dir=home.path))
        try:
            return _restore(archive, home, work, open_keys, clock, steps)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        fault = write_fault(error)
    raise fault


def _restore(
    archive: Path,
    home: Home,
    work: Path,
    open_keys: Callable[[bytes], OpenedKeys],
    clock: Clock,
    steps: tuple[Migration, ...],
) -> RestoreInfo:
    parts = unpack(archive, work)
    opened = open_keys(parts.keys)
    _need_whole(parts, opened, steps[-1].version)
    seq, dropped = _drop_pairings(work, opened, clock, steps, _last_seen(home, opened))
    stage = work / "stage"
    stage.mkdir(mode=0o700)
    parts.vault.rename(stage / VAULT)
    new_file(stage / KEYS, parts.keys)
    write_head(stage / home.head.name, opened.keys.head, opened.vault_id, Head(seq, clock.now_ms()))
    sync_directory(stage)
    has_old = os.path.lexists(home.vault)
    _forget_older_still(home)
    stage.rename(home.restoring)
    sync_directory(home.path)
    take_place(home)
    return RestoreInfo(parts.manifest.made_at_ms, seq, parts.manifest.counts, dropped, has_old)


def _need_file(archive: Path) -> None:
    try:
        found = archive.stat()
    except OSError:
        raise UserError(Code.NOT_FOUND, "There is no such backup file.") from None
    # A FIFO under that name would hold us for ever.
    if not stat.S_ISREG(found.st_mode):
        raise invalid("it is not an ordinary file")


def _need_whole(parts: UnpackedBackup, opened: OpenedKeys, newest: int) -> None:
    if not parts.is_signed_by(opened.backup) or parts.manifest.vault_id != opened.vault_id:
        raise invalid("its seal does not fit its keys")
    if parts.manifest.schema > newest:
        raise UserError(Code.NEWER_VERSION, "This backup was written by a newer Loci; update Loci to restore it.")
    try:
        look = look_into(parts.vault, opened.keys.db)
    except IntegrityError:
        fault: LociError = invalid("its vault is damaged")
    else:
        if (look.versions.schema, look.seq, look.counts) == (
            parts.manifest.schema,
            parts.manifest.seq,
            dict(parts.manifest.counts),
        ):
            return
        fault = invalid("its parts do not belong together")
    raise fault


def _last_seen(home: Home, opened: OpenedKeys) -> int:
    """The sequence of the vault that is replaced; 0 where it is another vault, or there is none."""
    present = read_head(home.head, opened.keys.head, opened.vault_id).head
    return 0 if present is None else present.seq


def _drop_pairings(
    work: Path, opened: OpenedKeys, clock: Clock, steps: tuple[Migration, ...], above: int
) -> tuple[int, int]:
    """Open the copy as a vault of its own, bring it up to date and end its pairings."""

    def note(tx: Tx, dropped: int) -> int:
        AuditChain(opened.keys.audit).append(tx, "owner", "restore", detail={"dropped_clients": dropped})
        return dropped

    # A backup has no head of its own, and is not asked about: it was chosen by name.
    vault = Vault.open(Home(work, reserve_bytes=0), opened.keys, opened.vault_id, clock, 1, steps, counter=0)
    try:
        dropped = vault.accept_older(note, above)
    finally:
        failed = vault.close()
    if failed:
        raise invalid("its vault could not be prepared")
    return vault.seq, dropped


def _forget_older_still(home: Home) -> None:
    """Only the vault before the last restore is kept; its log must not meet another vault."""
    if not os.path.lexists(home.vault):
        return
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            (home.path / f"{VAULT}{OLD}{suffix}").unlink()
