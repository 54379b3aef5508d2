"""Creating a vault, and opening one: everything between the held lock and the first verb.

The order is the design: what can be told without a connection first (kind of file, damage of the log), then the
version without changing a byte, then the connection that writes, the migrations, the readers, and last the comparison
with `vault.head`.

Must not do: take the lock (the engine holds it), open key slots, decide what a person says to an older copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import StrEnum

from sqlcipher3 import dbapi2

from core.errors import BugError, Code, IntegrityError, UserError
from core.security.atomic import file_write_error, sync_directory
from core.types.clock import Clock
from core.types.values import GLOBAL_SPACE, HOME_SPACE
from core.vault.database.connections import APPLICATION_ID, Versions, copy_into, open_reader, open_writer, read_versions
from core.vault.database.faults import RAISED, translate_error
from core.vault.database.inspection import look_into
from core.vault.database.migrations import Migration, migrate_schema
from core.vault.database.rows import fetch_rows
from core.vault.database.tx import Schema
from core.vault.files.home import PAGE_SIZE, Home, Reserve, SubKeys, new_file
from core.vault.files.wal_audit import WalScan, scan_log, set_log_aside
from core.vault.head import Head, HeadReading, read_head, write_head

DAMAGED_LOG = "journal-damaged.bin"
"""In `backups/`: the last log that could not be read whole, as encrypted as the vault."""


class Doubt(StrEnum):
    """Why a vault may not be the newest copy."""

    OLDER = "older"
    HEAD_MISSING = "missing"
    HEAD_DAMAGED = "damaged"


@dataclass(frozen=True)
class OlderCopy:
    """The vault is older than what was last seen of it, or it cannot be told whether it is.

    Attributes:
        vault_seq: its sequence.
        head_seq: the highest sequence seen, in `vault.head` or in the keyring; its own where neither tells.
        head_time_ms: when that was seen, epoch ms; None where nothing tells.
        doubt: which of the two it is, and why.
        clients: marks of the clients that stood when it was last seen; none where that is not known.
    """

    vault_seq: int
    head_seq: int
    head_time_ms: int | None
    doubt: Doubt = Doubt.OLDER
    clients: frozenset[str] = field(default=frozenset(), repr=False)


@dataclass(frozen=True)
class OpenInfo:
    """What opening found; the engine tells the person.

    Attributes:
        schema_version: after migrations.
        seq: the vault's sequence.
        recovered_from_crash: the last run did not close the vault.
        lost_commits: saved changes that a damaged log no longer gives; 0 for none.
        is_log_damaged: the log was damaged; even with nothing lost, run `verify`.
        older_than_head: the vault is an older copy, lost its last changes, or nothing tells that it did not.
        head_state: `ok`, `missing` or `damaged`.
        migrated_from: the schema's version before, where it changed.
        last_at_ms: time of the last change, epoch ms.
    """

    schema_version: int
    seq: int
    recovered_from_crash: bool
    lost_commits: int
    is_log_damaged: bool
    older_than_head: OlderCopy | None
    head_state: str
    migrated_from: int | None
    last_at_ms: int


@dataclass(frozen=True)
class OpenedDatabase:
    """An open vault's parts.

    Attributes:
        writer: the connection that writes.
        reader: the first connection of the read pool.
        schema: the tables.
        info: what opening found.
    """

    writer: dbapi2.Connection
    reader: dbapi2.Connection
    schema: Schema
    info: OpenInfo


def create_vault(home: Home, keys: SubKeys, vault_id: bytes, clock: Clock, steps: Sequence[Migration]) -> None:
    """Make a vault; it appears whole under its name or not at all.

    Args:
        home: where; the caller holds its lock.
        keys: its sub-keys; they must be on the disk in `vault.keys` already.
        vault_id: 16 bytes.
        clock: for its birthday.
        steps: all migrations.

    Raises:
        UserError: VAULT_EXISTS; nothing was touched.
        LociError: DISK_FULL, READ_ONLY …
    """
    if not home.is_free():
        raise UserError(Code.VAULT_EXISTS, "There is a vault here already; nothing was changed.")
    home.prepare_folders()
    home.need_writable()
    try:
        _build_vault(home, keys, clock.now_ms(), steps)
    except OSError as error:
        fault = file_write_error(error)
    else:
        write_head(home.head, keys.head, vault_id, Head(0, clock.now_ms()))
        Reserve(home).ensure_file()
        return
    raise fault


def open_vault(
    home: Home,
    keys: SubKeys,
    vault_id: bytes,
    clock: Clock,
    steps: Sequence[Migration],
    counter: int | None = None,
) -> OpenedDatabase:
    """Open a vault.

    Args:
        home: where; the caller holds its lock, and this process has no connection to it.
        vault_id: 16 bytes.
        clock: for migrations.
        steps: all migrations.
        counter: the sequence last seen, as the keyring tells it; None where it tells nothing.

    Returns:
        Its parts; the caller closes the connections.

    Raises:
        LociError: NO_VAULT, VAULT_DAMAGED, NEWER_VERSION, MIGRATION_FAILED, READ_ONLY, DISK_FULL …
    """
    home.need_vault()
    home.need_writable()
    newest = steps[-1].version
    log = _audit_log(home)
    stored_versions = read_versions(home.vault, keys.db)
    _refuse_unknown_schema(stored_versions, newest)
    if stored_versions.schema < newest:
        _copy_before_migrating(home, keys.db, stored_versions.schema, clock.now_ms())
    with ExitStack() as opened:
        writer = _close_with(opened, open_writer(home.vault, keys.db))
        lost = _count_lost_commits(writer, log)
        migrate_schema(writer, steps, clock.now_ms())
        reader = _close_with(opened, open_reader(home.vault, keys.db))
        schema = _load_schema(writer)
        ((seq, last_at),) = fetch_rows(writer, "SELECT seq, last_at FROM vault_state")
        found = read_head(home.head, keys.head, vault_id)
        info = OpenInfo(
            schema_version=newest,
            seq=seq,
            recovered_from_crash=log.size > 0,
            lost_commits=lost,
            is_log_damaged=log.is_damaged or lost > 0,
            older_than_head=_find_newer_evidence(seq, found, counter),
            head_state=found.state,
            migrated_from=stored_versions.schema if stored_versions.schema < newest else None,
            last_at_ms=last_at,
        )
        opened.pop_all()
    Reserve(home).ensure_file()
    return OpenedDatabase(writer, reader, schema, info)


def _refuse_unknown_schema(stored: Versions, newest: int) -> None:
    """Refuse a database of another application, or of a newer schema than this version knows."""
    if stored.application != APPLICATION_ID:
        raise IntegrityError(Code.VAULT_DAMAGED, "vault.db is not a vault of Loci; restore a backup.")
    if stored.schema > newest:
        raise UserError(
            Code.NEWER_VERSION, "This vault was written by a newer Loci; update Loci to open it. Nothing was changed."
        )


def _build_vault(home: Home, keys: SubKeys, now_ms: int, steps: Sequence[Migration]) -> None:
    """Build under another name and rename: a kill on the way leaves no half vault under the real one."""
    building = home.vault.with_name(home.vault.name + ".new")
    for suffix in ("", "-wal", "-shm", "-journal"):
        building.with_name(building.name + suffix).unlink(missing_ok=True)
    _set_orphaned_log_aside(home)
    new_file(building)
    writer = open_writer(building, keys.db)
    try:
        migrate_schema(writer, steps, now_ms, _first_vault_rows(now_ms))
        fetch_rows(writer, "PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        writer.close()
    with building.open("rb") as file:
        if file.read(6) == b"SQLite":
            raise BugError("vault without encryption")
    if not home.is_free():
        raise UserError(Code.VAULT_EXISTS, "There is a vault here already; nothing was changed.")
    building.rename(home.vault)
    sync_directory(home.path)


def _first_vault_rows(now_ms: int) -> list[tuple[str, tuple[object, ...]]]:
    space = "INSERT INTO spaces (id, name, created_at) VALUES (?, ?, ?)"
    return [
        (
            "INSERT INTO vault_state (one, seq, purge_open, last_at, created_at) VALUES (1, 0, 0, ?, ?)",
            (now_ms, now_ms),
        ),
        (space, (GLOBAL_SPACE, GLOBAL_SPACE, now_ms)),
        (space, (HOME_SPACE, HOME_SPACE, now_ms)),
    ]


def _set_orphaned_log_aside(home: Home) -> None:
    """A log without its vault would be played into the new one: keep it, but not under that name."""
    if home.wal.exists() and home.wal.stat().st_size:
        home.wal.replace(home.backups / DAMAGED_LOG)
    home.wal.unlink(missing_ok=True)
    home.shm.unlink(missing_ok=True)


def _audit_log(home: Home) -> WalScan:
    try:
        found = scan_log(home.wal, home.shm, PAGE_SIZE)
        if found.is_damaged:
            home.prepare_folders()
            set_log_aside(home.wal, home.shm, home.backups / DAMAGED_LOG, found)
    except OSError as error:
        fault = file_write_error(error)
    else:
        return found
    raise fault


def _count_lost_commits(writer: dbapi2.Connection, log: WalScan) -> int:
    """Commits that are gone: those the audit counted, or at least one where SQLite read less than it should."""
    if log.is_settled:
        return log.lost
    ((_, frames, _),) = fetch_rows(writer, "PRAGMA wal_checkpoint(PASSIVE)")
    return max(log.lost, int(log.readable > max(frames, 0)))


def _copy_before_migrating(home: Home, key: bytes, version: int, now_ms: int) -> None:
    home.prepare_folders()
    final = home.backups / f"vault-v{version}-{now_ms}.db"
    partial = final.with_name(final.name + ".partial")
    try:
        partial.unlink(missing_ok=True)
        copy_into(home.vault, key, partial)
        look_into(partial, key)
        partial.replace(final)
        sync_directory(home.backups)
    except OSError as error:
        fault = file_write_error(error)
    else:
        return
    raise fault


def _close_with(stack: ExitStack, connection: dbapi2.Connection) -> dbapi2.Connection:
    stack.callback(connection.close)
    return connection


def _load_schema(writer: dbapi2.Connection) -> Schema:
    try:
        return Schema(writer)
    except RAISED as error:
        fault = translate_error(error)
    raise fault


def _find_newer_evidence(seq: int, found: HeadReading, counter: int | None) -> OlderCopy | None:
    """What speaks against this being the newest copy; the keyring's counter may lag behind, never lead."""
    head, kept = found.head, -1 if counter is None else counter
    if head is None:
        if kept > seq:
            return OlderCopy(seq, kept, None)
        if counter is not None or seq == 0:
            return None  # the keyring vouches for it, or nothing was ever saved that could be missing
        return OlderCopy(seq, seq, None, Doubt(found.state))
    if max(head.seq, kept) <= seq:
        return None
    # Where the keyring saw more than the head, the head was put back too: whom it lets in may be revoked since.
    return OlderCopy(seq, max(head.seq, kept), head.time_ms, clients=head.clients if kept <= head.seq else frozenset())
