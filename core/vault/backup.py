"""Backups: the archive's form, making and checking one, and putting one in the place of the present vault.

A backup is a plain tar of three members: ``manifest.json`` (first), ``vault.keys``, ``vault.db``. The manifest holds
the sizes, digests and counts and a MAC under the backup key. A file that exists is not a backup: it counts once it
was read back.

To restore, everything is checked first, in a fresh directory: form, MAC, digests, the database page by page. Then one
rename (`restore.next`) decides; what follows it can be killed at any step and is finished at the next start by
`finish_replacement`. The old vault stays as `*.before-restore`. Pairings do not survive: a token that was revoked since
must not come back.

Must not do: extract any other name, trust a size in a header, follow a link; touch the present vault before everything
is checked, or restore while it is open.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import stat
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from core.errors import BugError, Code, EnvironmentFaultError, IntegrityError, LociError, PreconditionError, UserError
from core.security.atomic import file_write_error, sync_directory
from core.security.keys import keyed_digest, same_bytes
from core.types.clock import Clock
from core.vault.audit import AuditChain
from core.vault.database.inspection import look_into
from core.vault.database.migrations import Migration, known_migrations
from core.vault.database.tx import Tx
from core.vault.files.home import Home, SubKeys, new_file
from core.vault.files.replacement import BACKUP_WORK, OLD, PARTIAL, WORK, finish_replacement, take_place
from core.vault.head import Head, read_head, write_head
from core.vault.vault import Vault

MANIFEST = "manifest.json"
KEYS = "vault.keys"
VAULT = "vault.db"
_FORMAT = 1
_LABEL = b"loci-backup-manifest-v1"
_MAX_SMALL = 64 * 1024
_CHUNK = 1024 * 1024


@dataclass(frozen=True)
class Manifest:
    """What a backup says of itself.

    Attributes:
        vault_id: 16 bytes.
        schema: the schema's version.
        seq: the vault's sequence.
        made_at_ms: epoch ms.
        counts: table to number of rows.
        vault_bytes: size of `vault.db`.
        vault_sha256: hexadecimal.
        keys_sha256: hexadecimal.
    """

    vault_id: bytes
    schema: int
    seq: int
    made_at_ms: int
    counts: Mapping[str, int]
    vault_bytes: int
    vault_sha256: str
    keys_sha256: str

    def to_body(self) -> dict[str, Any]:
        """All but the MAC, as JSON holds it."""
        return {
            "format": _FORMAT,
            "vault_id": self.vault_id.hex(),
            "schema": self.schema,
            "seq": self.seq,
            "made_at": self.made_at_ms,
            "counts": dict(self.counts),
            "vault_bytes": self.vault_bytes,
            "vault_sha256": self.vault_sha256,
            "keys_sha256": self.keys_sha256,
        }

    def make_mac(self, key: bytes) -> bytes:
        """The MAC over the canonical body.

        Args:
            key: the backup's sub-key.

        Returns:
            32 bytes.
        """
        return keyed_digest(
            key, _LABEL, json.dumps(self.to_body(), sort_keys=True, separators=(",", ":")).encode("ascii")
        )


@dataclass(frozen=True)
class UnpackedBackup:
    """A backup's members in a fresh directory; nothing about them is proven yet.

    Attributes:
        vault: the database file.
        keys: the bytes of `vault.keys`.
        manifest: as it was found.
        mac: as it was found.
    """

    vault: Path
    keys: bytes
    manifest: Manifest
    mac: bytes

    def is_signed_by(self, key: bytes) -> bool:
        """Whether the manifest's MAC fits.

        Args:
            key: the backup's sub-key.
        """
        return same_bytes(self.mac, self.manifest.make_mac(key))


def invalid_backup_error(why: str) -> UserError:
    """A backup that cannot be used.

    Args:
        why: a clause; no path, no content.
    """
    return UserError(Code.BACKUP_INVALID, f"This backup cannot be used: {why}. The present vault was not touched.")


def sha256_of(path: Path) -> str:
    """Digest a file.

    Args:
        path: which; never a vault that is open.

    Returns:
        Hexadecimal SHA-256.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def pack_backup(
    target: Path, vault: Path, keys: bytes, manifest: Manifest, backup_key: bytes, rewritten_at_ms: int = 0
) -> None:
    """Write the archive; the file is new, 0600, and synced.

    Args:
        target: a free name.
        vault: the checked copy.
        keys: the bytes of `vault.keys`.
        manifest: what to say of them.
        backup_key: signs it.
        rewritten_at_ms: epoch ms; 0 for a new backup. It is the time of the vault's member.

    Raises:
        OSError: the disk refused.
    """
    signed = {**manifest.to_body(), "mac": manifest.make_mac(backup_key).hex()}
    new_file(target)
    with target.open("r+b") as file:
        with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            _add_member(tar, MANIFEST, io.BytesIO(json.dumps(signed, indent=1).encode("ascii")), manifest.made_at_ms)
            _add_member(tar, KEYS, io.BytesIO(keys), manifest.made_at_ms)
            with vault.open("rb") as source:
                _add_member(tar, VAULT, source, rewritten_at_ms or manifest.made_at_ms)
        file.flush()
        os.fsync(file.fileno())


def unpack_backup(archive: Path, into: Path) -> UnpackedBackup:
    """Take the three members out of an archive.

    Args:
        archive: an existing regular file.
        into: an empty directory.

    Returns:
        The members; sizes and digests fit the manifest, whose MAC is yet to be checked.

    Raises:
        UserError: BACKUP_INVALID.
        EnvironmentFaultError: ACCESS_DENIED.
        OSError: the disk refused to write.
    """
    try:
        source = archive.open("rb")
    except OSError:
        fault: LociError = EnvironmentFaultError(Code.ACCESS_DENIED, "The backup file cannot be read.")
    else:
        with source:
            try:
                return _unpack_members(source, into)
            except (tarfile.TarError, EOFError):
                fault = invalid_backup_error("it was cut or is another kind of file")
    raise fault


def _add_member(tar: tarfile.TarFile, name: str, source: IO[bytes], made_at_ms: int) -> None:
    info = tarfile.TarInfo(name)
    info.size = source.seek(0, 2)
    source.seek(0)
    info.mode = 0o600
    info.mtime = made_at_ms // 1000
    tar.addfile(info, source)


def _unpack_members(source: IO[bytes], into: Path) -> UnpackedBackup:
    with tarfile.open(fileobj=source, mode="r:") as tar:
        manifest, mac = _parse_manifest(_read_small(_next_member(tar, MANIFEST), tar))
        keys = _read_small(_next_member(tar, KEYS), tar)
        member = _next_member(tar, VAULT)
        if member.size != manifest.vault_bytes or hashlib.sha256(keys).hexdigest() != manifest.keys_sha256:
            raise invalid_backup_error("its parts do not belong together")
        vault = into / VAULT
        _extract_member(tar, member, vault)
        if tar.next() is not None:
            raise invalid_backup_error("it holds more than a backup does")
    if sha256_of(vault) != manifest.vault_sha256:
        raise invalid_backup_error("it is damaged")
    return UnpackedBackup(vault, keys, manifest, mac)


def _next_member(tar: tarfile.TarFile, name: str) -> tarfile.TarInfo:
    member = tar.next()
    if member is None or member.name != name or member.type != tarfile.REGTYPE:
        raise invalid_backup_error("it was cut or is another kind of file")
    return member


def _read_small(member: tarfile.TarInfo, tar: tarfile.TarFile) -> bytes:
    if member.size > _MAX_SMALL:
        raise invalid_backup_error("it is another kind of file")
    file = tar.extractfile(member)
    data = b"" if file is None else file.read(_MAX_SMALL)
    if len(data) != member.size:
        raise invalid_backup_error("it was cut")
    return data


def _extract_member(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    source = tar.extractfile(member)
    if source is None:
        raise invalid_backup_error("it is another kind of file")
    new_file(target)
    left = member.size
    with target.open("r+b") as file:
        while left:
            block = source.read(min(_CHUNK, left))
            if not block:
                raise invalid_backup_error("it was cut")
            file.write(block)
            left -= len(block)


def _parse_manifest(raw: bytes) -> tuple[Manifest, bytes]:
    try:
        found = json.loads(raw.decode("ascii"))
        if found["format"] != _FORMAT:
            raise invalid_backup_error("it was written by a newer Loci; update Loci first")
        manifest = Manifest(
            vault_id=bytes.fromhex(found["vault_id"]),
            schema=_check_number(found["schema"]),
            seq=_check_number(found["seq"]),
            made_at_ms=_check_number(found["made_at"]),
            counts={str(name): _check_number(count) for name, count in found["counts"].items()},
            vault_bytes=_check_number(found["vault_bytes"]),
            vault_sha256=str(found["vault_sha256"]),
            keys_sha256=str(found["keys_sha256"]),
        )
        mac = bytes.fromhex(found["mac"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        fault = invalid_backup_error("its description cannot be read")
    else:
        return manifest, mac
    raise fault


def _check_number(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError
    return value


@dataclass(frozen=True)
class OpenedKeys:
    """What a backup or another copy of a vault is opened with.

    Attributes:
        vault_id: 16 bytes.
        keys: sub-keys of the vault.
        backup: key of the MAC of a backup's manifest.
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


def restore_backup(
    archive: Path,
    home: Home,
    open_keys: Callable[[bytes], OpenedKeys],
    clock: Clock,
    migrations: tuple[Migration, ...] | None = None,
) -> RestoreInfo:
    """Restore a backup.

    Args:
        home: where to; the caller holds its lock, and the vault there is closed.
        open_keys: opens the bytes of the archive's `vault.keys`; what it raises ends the restore.
        migrations: all steps; None for those this program knows.

    Raises:
        UserError: BACKUP_INVALID, NEWER_VERSION; the present vault is untouched.
        LociError: WRONG_SECRET from `open_keys`, DISK_FULL, READ_ONLY …
    """
    steps = known_migrations() if migrations is None else migrations
    _need_file(archive)
    home.prepare_folders()
    home.need_writable()
    finish_replacement(home)
    try:
        work = Path(tempfile.mkdtemp(prefix=WORK, dir=home.path))
        try:
            return _restore_parts(archive, home, work, open_keys, clock, steps)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        fault = file_write_error(error)
    raise fault


def _restore_parts(
    archive: Path,
    home: Home,
    work: Path,
    open_keys: Callable[[bytes], OpenedKeys],
    clock: Clock,
    steps: tuple[Migration, ...],
) -> RestoreInfo:
    parts = unpack_backup(archive, work)
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
    _remove_older_vault(home)
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
        raise invalid_backup_error("it is not an ordinary file")


def _need_whole(parts: UnpackedBackup, opened: OpenedKeys, newest: int) -> None:
    if not parts.is_signed_by(opened.backup) or parts.manifest.vault_id != opened.vault_id:
        raise invalid_backup_error("its seal does not fit its keys")
    if parts.manifest.schema > newest:
        raise UserError(Code.NEWER_VERSION, "This backup was written by a newer Loci; update Loci to restore it.")
    try:
        look = look_into(parts.vault, opened.keys.db)
    except IntegrityError:
        fault: LociError = invalid_backup_error("its vault is damaged")
    else:
        if (look.versions.schema, look.seq, look.counts) == (
            parts.manifest.schema,
            parts.manifest.seq,
            dict(parts.manifest.counts),
        ):
            return
        fault = invalid_backup_error("its parts do not belong together")
    raise fault


def _last_seen(home: Home, opened: OpenedKeys) -> int:
    """The sequence of the vault that is replaced; 0 where it is another vault, or there is none."""
    present = read_head(home.head, opened.keys.head, opened.vault_id).head
    return 0 if present is None else present.seq


def _drop_pairings(
    work: Path, opened: OpenedKeys, clock: Clock, steps: tuple[Migration, ...], above: int
) -> tuple[int, int]:
    """Open the copy as a vault of its own, bring it up to date and end its pairings."""

    def note_restore(tx: Tx, dropped: int) -> int:
        AuditChain(opened.keys.audit).append_row(tx, "owner", "restore", detail={"dropped_clients": dropped})
        return dropped

    # A backup has no head of its own, and is not asked about: it was chosen by name.
    vault = Vault.open(Home(work, reserve_bytes=0), opened.keys, opened.vault_id, clock, 1, steps, counter=0)
    try:
        dropped = vault.accept_older(note_restore, above)
    finally:
        failed = vault.close()
    if failed:
        raise invalid_backup_error("its vault could not be prepared")
    return vault.seq, dropped


def _remove_older_vault(home: Home) -> None:
    """Only the vault before the last restore is kept; its log must not meet another vault."""
    if not os.path.lexists(home.vault):
        return
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            (home.path / f"{VAULT}{OLD}{suffix}").unlink()


_AUTOMATIC = re.compile(r"loci-\d{8}-\d{6}-(?P<seq>\d+)\.tar")


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
        vault.home.prepare_folders()
        info = _make_backup(vault, db_key, backup_key, key_file, now_ms, final)
        if target is None:
            _keep_newest(vault.home, final, kept)
    except OSError as error:
        fault = file_write_error(error)
    else:
        return info
    raise fault


def automatic_backups(home: Home) -> tuple[Path, ...]:
    """The automatic backups, newest first: by the vault's sequence in them, since a clock may jump back."""
    if not home.backups.is_dir():
        return ()
    found = [
        (int(named["seq"]), entry.stat().st_mtime_ns, entry)
        for entry in home.backups.iterdir()
        if (named := _AUTOMATIC.fullmatch(entry.name)) is not None
    ]
    return tuple(entry for _, _, entry in sorted(found, reverse=True))


def seq_of(automatic: Path) -> int:
    """The vault's sequence in an automatic backup.

    Args:
        automatic: one of `automatic_backups`.
    """
    named = _AUTOMATIC.fullmatch(automatic.name)
    if named is None:
        raise BugError("the name of an automatic backup")
    return int(named["seq"])


def made_at_ms(automatic: Path) -> int:
    """When an automatic backup was made, by the vault's clock.

    Args:
        automatic: one of `automatic_backups`.

    Returns:
        Epoch ms, to the second.
    """
    stamp = automatic.name.removeprefix("loci-")[: len("20260101-000000")]
    return int(datetime.strptime(f"{stamp}+0000", "%Y%m%d-%H%M%S%z").timestamp()) * 1000


def _make_backup(
    vault: Vault, db_key: bytes, backup_key: bytes, key_file: bytes, now_ms: int, final: Path
) -> BackupInfo:
    work = Path(tempfile.mkdtemp(prefix=BACKUP_WORK, dir=vault.home.backups))
    partial = final.with_name(final.name + PARTIAL)
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
        pack_backup(partial, copy, key_file, manifest, backup_key)
        read_back(partial, manifest)
        partial.replace(final)
        sync_directory(final.parent)
    finally:
        shutil.rmtree(work, ignore_errors=True)
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    return BackupInfo(final, final.stat().st_size, look.seq, now_ms, look.counts)


def read_back(archive: Path, manifest: Manifest) -> None:
    """Check that an archive holds exactly the copy that was opened and checked.

    Raises:
        UserError: BACKUP_INVALID.
    """
    with tarfile.open(archive, mode="r:") as tar:
        members = tar.getmembers()
        if [member.name for member in members] != [MANIFEST, KEYS, VAULT]:
            raise invalid_backup_error("it was not written whole")
        for member, wanted in ((members[1], manifest.keys_sha256), (members[2], manifest.vault_sha256)):
            file = tar.extractfile(member)
            digest = hashlib.sha256()
            while file is not None and (block := file.read(1024 * 1024)):
                digest.update(block)
            if digest.hexdigest() != wanted:
                raise invalid_backup_error("it was not written whole")


def _automatic_name(vault: Vault, now_ms: int) -> Path:
    stamp = datetime.fromtimestamp(now_ms / 1000, UTC).strftime("%Y%m%d-%H%M%S")
    return vault.home.backups / f"loci-{stamp}-{vault.seq}.tar"


def _checked_target(target: Path) -> Path:
    refused: LociError | None = None
    if not target.parent.is_dir():
        refused = PreconditionError("The directory for the backup does not exist.")
    elif os.path.lexists(target) and not is_backup(target):
        refused = PreconditionError("There is another file under that name; nothing was overwritten.")
    if refused is not None:
        raise refused
    return target


@dataclass(frozen=True)
class BackupTimes:
    """When a backup was made and rewritten, as it says itself, the second begun.

    Attributes:
        made_at_ms: epoch ms; 0 where it cannot be read. Rewriting leaves it as it is.
        rewritten_at_ms: epoch ms; 0 where it was not rewritten, or by a Loci that did not note it.
    """

    made_at_ms: int
    rewritten_at_ms: int = 0


def read_times(backup: Path) -> BackupTimes:
    """Read when a backup was made and rewritten.

    Args:
        backup: one for which `is_backup` holds.
    """
    try:
        with tarfile.open(backup, mode="r:") as tar:
            made_at, _, written_at = (int(_next_member(tar, name).mtime) * 1000 for name in (MANIFEST, KEYS, VAULT))
    except (tarfile.TarError, OSError, LociError):
        return BackupTimes(0)
    return BackupTimes(made_at, written_at if written_at > made_at else 0)


def is_backup(target: Path) -> bool:
    """Whether a file begins as a backup does; False for a link, and for what is no file."""
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
