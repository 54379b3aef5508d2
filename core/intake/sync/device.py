"""This device and the others it knows: the state of synchronisation in the vault.

Must not do: read or write a file, look at a memory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from dataclasses import dataclass, field

from core.archive.bundle import DEVICE_BYTES, FIRST, GROUP_BYTES, KEY_BYTES, make_device_key
from core.errors import Code, UserError
from core.intake.sync.registers import TABLES, key_sql
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

MOST_NAME, _NUMBER = 64, 5
"""Characters of a device's name, and of a number behind it."""
_NUMBERED = re.compile(r" \(\d{1,2}\)$")
MOST_DEVICES = 16
"""Of a group; the design speaks of two to five."""

_STATE = (
    "SELECT group_id, device, sync_key, private_key, folder, clock, number, digest, is_owing, synced_at FROM sync_state"
)
_DEVICES = (
    "SELECT id, name, public_key, added_at, left_at, last, number, digest, known, is_met FROM sync_devices ORDER BY id"
)
_SEEDS = {
    name: (
        "INSERT OR IGNORE INTO sync_rows (tbl, row_key, presence, born, is_pending) "  # noqa: S608 - fixed words
        f"SELECT '{name}', {key_sql(table, 'new')}, 1, printf('%016x', ({table.since}) << 16) || ?, 1 "
        f"FROM {name} AS new" + (f" WHERE {table.only}" if table.only else "")
    )
    for name, table in TABLES.items()
}


@dataclass(frozen=True, slots=True)
class SyncState:
    """How this device stands.

    Attributes:
        group: of devices, hexadecimal.
        device: this one, hexadecimal.
        sync_key: the first of the keys that seal bundles (`core.intake.sync.keys`); `private_key` signs this device's.
        folder: where bundles lie, on this machine.
        clock: the hybrid logical clock.
        number: of the last bundle this device wrote; `digest` is that bundle's.
        is_owing: there is something to tell though no row changed: what was taken since, who left.
        synced_at: when bundles were looked for last, epoch ms.
    """

    group: str
    device: str
    sync_key: bytes = field(repr=False)
    private_key: bytes = field(repr=False)
    folder: str
    clock: int
    number: int
    digest: str
    is_owing: int
    synced_at: int | None


@dataclass(frozen=True, slots=True)
class KnownDevice:
    """A device of the group.

    Attributes:
        left_at: when it left, epoch ms; None while it takes part.
        last: the number of the last of its bundles that counts; None while it takes part.
        number: of the last of its bundles that was taken here; `digest` is that bundle's.
        known: of the last of this device's own bundles that it has taken.
        is_met: 1 where it has sealed a bundle to this device.
    """

    id: str
    name: str
    public_key: bytes
    added_at: int
    left_at: int | None = None
    last: int | None = None
    number: int = 0
    digest: str = ""
    known: int = 0
    is_met: int = 0


def read_state(rows: Rows) -> SyncState | None:
    """How this device stands; None where the vault is on this device alone."""
    row = rows.one(_STATE)
    return None if row is None else SyncState(*row)


def require_state(rows: Rows) -> SyncState:
    """As `read_state`.

    Raises:
        UserError: SYNC_OFF.
    """
    found = read_state(rows)
    if found is None:
        raise UserError(Code.SYNC_OFF, "This vault is on this device alone; `loci sync pair` begins.")
    return found


def read_devices(rows: Rows) -> tuple[KnownDevice, ...]:
    """This device and those it knows, also those that left."""
    return tuple(KnownDevice(*row) for row in rows.all(_DEVICES))


def new_group() -> tuple[str, bytes]:
    """A new group: its id, hexadecimal, and its sync key."""
    return os.urandom(GROUP_BYTES).hex(), os.urandom(KEY_BYTES)


def begin_sync(tx: Tx, group: str, sync_key: bytes, folder: str, name: str) -> SyncState:
    """Make this vault that of a device: everything in it is stamped and goes into its first bundle.

    What was written before is stamped with the time of its row, so that a copy of long ago overrides nothing.

    Args:
        group: hexadecimal.
        name: by which the others list it.

    Returns:
        How it stands.
    """
    device = os.urandom(DEVICE_BYTES).hex()
    private, public = make_device_key()
    tx.run(
        "INSERT INTO sync_state (one, group_id, device, sync_key, private_key, folder, clock, digest) "
        "VALUES (1, ?, ?, ?, ?, ?, ?, ?)",
        (group, device, sync_key, private, folder, tx.now_ms << 16, FIRST),
    )
    for sql in _SEEDS.values():
        tx.run(sql, (device,))
    add_device(tx, KnownDevice(device, name, public, tx.now_ms))
    return require_state(tx)


def end_sync(tx: Tx) -> None:
    """This vault is on this device alone again; the memories stay, keys and stamps go."""
    for sql in ("DELETE FROM sync_rows", "DELETE FROM sync_devices", "DELETE FROM sync_invitations",
                "DELETE FROM sync_keys", "DELETE FROM sync_state"):  # fmt: skip
        tx.run(sql)


def add_device(tx: Tx, device: KnownDevice) -> None:
    """Take a device into the group; one that is known stays as it is.

    Raises:
        UserError: INVALID_INPUT where there are too many.
    """
    if len(read_devices(tx)) >= MOST_DEVICES:
        raise UserError(
            Code.INVALID_INPUT, f"A group has at most {MOST_DEVICES} devices, also counting those that left."
        )
    tx.run(
        "INSERT OR IGNORE INTO sync_devices (id, name, public_key, added_at, left_at, last) VALUES (?, ?, ?, ?, ?, ?)",
        (device.id, device.name, device.public_key, device.added_at, device.left_at, device.last),
    )


def rename_device(tx: Tx, device_id: str, name: str) -> None:
    """Call a device by another name; only its own word, or that of its owner on it, decides."""
    tx.run("UPDATE sync_devices SET name = ? WHERE id = ? AND name <> ?", (name, device_id, name))


def free_name(wanted: str, taken: Collection[str]) -> str:
    """A name that no other device has: the one that is wanted, else with a number behind it."""
    bare = _NUMBERED.sub("", wanted)[: MOST_NAME - _NUMBER]
    numbered = (f"{bare} ({number})" for number in range(2, MOST_DEVICES + 2))
    return next((name for name in (wanted, *numbered) if name not in taken), wanted)


def names_of_others(rows: Rows) -> frozenset[str]:
    """What the other devices that take part are called."""
    own = require_state(rows).device
    return frozenset(one.name for one in read_devices(rows) if one.id != own and one.left_at is None)


def has_taken_name(rows: Rows) -> bool:
    """Whether a device that is longer in the group has this one's name: then this one gets a number."""
    own_id, devices = require_state(rows).device, read_devices(rows)
    own = next(one for one in devices if one.id == own_id)
    return any(
        one.name == own.name and one.left_at is None and (one.added_at, one.id) < (own.added_at, own.id)
        for one in devices
    )


def number_own_name(tx: Tx) -> None:
    """Give this device a name that no other has; the next bundle tells it."""
    own_id = require_state(tx).device
    own = next(one for one in read_devices(tx) if one.id == own_id)
    rename_device(tx, own.id, free_name(own.name, names_of_others(tx)))
    note_owing(tx)


def mark_left(tx: Tx, device_id: str, at: int, last: int) -> None:
    """A device takes no part any more: nothing that it writes behind a bundle is taken.

    Args:
        last: the number of that bundle; where several devices say so, or had taken more before they knew, the highest
            counts.
    """
    tx.run(
        "UPDATE sync_devices SET left_at = min(coalesce(left_at, ?), ?), last = max(coalesce(last, 0), number, ?) "
        "WHERE id = ?",
        (at, at, last, device_id),
    )


def note_taken(tx: Tx, device_id: str, number: int, digest: str) -> None:
    """A bundle of a device was taken; in the transaction that took it."""
    tx.run(
        "UPDATE sync_devices SET number = ?, digest = ? WHERE id = ? AND number < ?",
        (number, digest, device_id, number),
    )


def note_written(tx: Tx, state: SyncState, number: int, digest: str) -> None:
    """This device wrote a bundle."""
    tx.run("UPDATE sync_state SET number = ?, digest = ?, is_owing = 0 WHERE one = 1", (number, digest))
    note_taken(tx, state.device, number, digest)


def note_known(tx: Tx, device_id: str, number: int) -> None:
    """Another device has taken this device's bundles up to a number."""
    tx.run("UPDATE sync_devices SET known = max(known, ?) WHERE id = ?", (number, device_id))


def note_met(tx: Tx, device_id: str) -> None:
    """Another device has sealed a bundle to this one."""
    tx.run("UPDATE sync_devices SET is_met = 1 WHERE id = ?", (device_id,))


def note_owing(tx: Tx) -> None:
    """There is something to tell the others, though no row changed: what was taken of them, who left."""
    tx.run("UPDATE sync_state SET is_owing = 1 WHERE one = 1")


def use_folder(tx: Tx, folder: str) -> None:
    """Bundles lie somewhere else from now on."""
    tx.run("UPDATE sync_state SET folder = ? WHERE one = 1", (folder,))


def note_clock(tx: Tx, clock: int) -> None:
    """Another device's clock was seen: this one never falls behind it."""
    tx.run("UPDATE sync_state SET clock = max(clock, ?) WHERE one = 1", (clock,))


def note_synced(tx: Tx) -> None:
    """Bundles were looked for just now."""
    tx.run("UPDATE sync_state SET synced_at = ? WHERE one = 1", (tx.now_ms,))
