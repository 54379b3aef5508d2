"""The keys that seal bundles: which there are here, which one is written with, and which devices have each.

A key that a device has had which takes no part any more is never written with again: the next bundle is sealed under a
new key, which goes to the devices that are left, sealed to each. Must not do: read or write a file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from core.archive.bundle import KEY_BYTES, BundleHeader
from core.archive.envelope import open_envelope, seal_key
from core.intake.sync.device import KnownDevice, read_devices, require_state
from core.security.keys import hkdf_sha256
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

_ID_BYTES = 8
_LABEL = b"loci-sync-key-v1"
_READ = "SELECT id, key, made, holders FROM sync_keys"
_WRITE = (
    "INSERT INTO sync_keys (id, key, made, holders) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (id) DO UPDATE SET holders = excluded.holders"
)


@dataclass(frozen=True, slots=True)
class SyncKey:
    """A key that seals bundles.

    Attributes:
        id: hexadecimal; follows from the key.
        made: by the clock of the device that made it; 0 for the first of a group.
        holders: ids of the devices that have it, as far as is known here.
    """

    id: str
    key: bytes = field(repr=False)
    made: int
    holders: frozenset[str]


def key_id(key: bytes) -> str:
    """What a key is called by, hexadecimal."""
    return hkdf_sha256(key, _LABEL, b"id", _ID_BYTES).hex()


def read_keys(rows: Rows) -> dict[str, SyncKey]:
    """All keys that this device has, by id, the oldest first. Every device it knows may have the first one."""
    state = require_state(rows)
    found = [SyncKey(str(row[0]), row[1], int(row[2]), frozenset(json.loads(row[3]))) for row in rows.all(_READ)]
    first = SyncKey(key_id(state.sync_key), state.sync_key, 0, frozenset(one.id for one in read_devices(rows)))
    if all(one.id != first.id for one in found):
        found.append(first)
    return {one.id: one for one in sorted(found, key=lambda one: (one.made, one.id))}


def newest_key(rows: Rows) -> SyncKey:
    """The key that is written with, unless one of its holders has left."""
    return list(read_keys(rows).values())[-1]


def is_key_spent(rows: Rows) -> bool:
    """Whether a device that takes no part any more has the newest key."""
    left = {one.id for one in read_devices(rows) if one.left_at is not None}
    return not left.isdisjoint(newest_key(rows).holders)


def renew_key(tx: Tx) -> None:
    """Make a new key where a device that left has the newest; the next bundle hands it to the others."""
    if is_key_spent(tx):
        key, made = os.urandom(KEY_BYTES), max(require_state(tx).clock, newest_key(tx).made + 1)
        note_key(tx, SyncKey(key_id(key), key, made, frozenset(one.id for one in _members(tx))))


def note_key(tx: Tx, key: SyncKey) -> None:
    """Keep a key, or learn who else has one that is here."""
    known = read_keys(tx).get(key.id)
    if known is None:
        tx.run(_WRITE, (key.id, key.key, key.made, to_json(sorted(key.holders))))
    elif not key.holders <= known.holders and known.made > 0:
        tx.run(_WRITE, (known.id, known.key, known.made, to_json(sorted(known.holders | key.holders))))


def note_holder(tx: Tx, device: str) -> None:
    """A device that takes part is met: whoever let it in gave it all keys there were."""
    for key in read_keys(tx).values():
        note_key(tx, replace(key, holders=frozenset({device})))


def note_holders(tx: Tx, header: BundleHeader) -> None:
    """Learn of a bundle who has its key: its device, and those that the key is sealed to."""
    known = read_keys(tx).get(header.key)
    if known is not None:
        note_key(tx, replace(known, holders=frozenset({header.device, *header.envelopes})))


def seal_newest(rows: Rows) -> tuple[SyncKey, str, Mapping[str, str]]:
    """The key of the next bundle, sealed to each device that takes part.

    Returns:
        The key, what the envelopes share, and the envelopes by device.
    """
    newest, own = newest_key(rows), require_state(rows).device
    others = {one.id: one.public_key for one in _members(rows) if one.id != own}
    share, envelopes = seal_key(newest.key, _about(newest.id), others)
    return newest, share, envelopes


def find_key(rows: Rows, header: BundleHeader) -> bytes | None:
    """The key that opens a bundle; None for one that this device does not have."""
    if not header.key:  # of format 1, in which groups had one key
        return require_state(rows).sync_key
    known = read_keys(rows).get(header.key)
    return None if known is None else known.key


def open_header(rows: Rows, header: BundleHeader) -> SyncKey | None:
    """The key that a header hands to this device; None for none. The header's signature has to be checked before."""
    state = require_state(rows)
    own = next(one for one in read_devices(rows) if one.id == state.device)
    envelope = header.envelopes.get(state.device, "")
    about = _about(header.key)
    key = open_envelope(header.share, envelope, about, state.device, state.private_key, own.public_key)
    if key is None or key_id(key) != header.key:
        return None
    return SyncKey(header.key, key, header.made, frozenset({header.device, *header.envelopes}))


def take_keys(tx: Tx, keys: Iterable[SyncKey]) -> None:
    """Keep the keys that an invitation brought, beside the first."""
    for key in keys:
        note_key(tx, key)


def _about(ident: str) -> bytes:
    return _LABEL + bytes.fromhex(ident)


def _members(rows: Rows) -> tuple[KnownDevice, ...]:
    return tuple(one for one in read_devices(rows) if one.left_at is None)
