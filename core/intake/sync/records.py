"""Records: how a row, and what it refers to by name, stands in a bundle.

A bundle from another device was signed by it, yet its program may be another version or broken, so everything is
checked before it is used. Must not do: read or write a row.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.archive.bundle import DEVICE_BYTES, BundleFault, BundleFaultError
from core.intake.sync.device import KnownDevice
from core.intake.sync.registers import (
    LAST_CLOCK,
    STAMP,
    TABLES,
    RowPresence,
    RowStamps,
    SyncedTable,
    clock_of,
    parse_key,
)

_OCTETS = "b"
_KEY_BYTES = 32
_MOST_NAME = 128
_INTEGERS = range(-(2**63), 2**63)

Columns = Mapping[str, Any]


def damaged_record_error() -> BundleFaultError:
    """A line that is no record."""
    return BundleFaultError(BundleFault.DAMAGED)


@dataclass(frozen=True, slots=True)
class RowRecord:
    """One row as a device has it.

    Attributes:
        key: as text (`key_text`).
        columns: of all registers; empty where the row is not there.
        sent: what a new row is given besides.
    """

    table: SyncedTable
    key: str
    stamps: RowStamps
    columns: Columns
    sent: Columns

    @property
    def clock(self) -> int:
        """The latest clock it names."""
        return max(clock_of(stamp) for stamp in (self.stamps.born, *self.stamps.later.values()))

    def to_line(self) -> dict[str, Any]:
        """The record as a line of a bundle."""
        line: dict[str, Any] = {
            "t": self.table.name,
            "k": self.key,
            "p": int(self.stamps.presence),
            "b": self.stamps.born,
        }
        if self.stamps.presence is RowPresence.PRESENT:
            line["c"] = {name: _to_wire(value) for name, value in self.columns.items()}
            line["s"] = {name: _to_wire(value) for name, value in self.sent.items()}
            if self.stamps.later:
                line["l"] = dict(self.stamps.later)
        return line


def parse_row(line: Mapping[str, Any]) -> RowRecord:
    """Undo `RowRecord.to_line`.

    Raises:
        BundleFaultError: DAMAGED.
    """
    try:
        table, key = TABLES[line["t"]], line["k"]
        later = dict(line.get("l", {}))
        stamps = RowStamps(RowPresence(line["p"]), line["b"], later)
        columns = {name: _from_wire(value) for name, value in line.get("c", {}).items()}
        sent = {name: _from_wire(value) for name, value in line.get("s", {}).items()}
        named = all(_is_stamp(one) for one in (stamps.born, *later.values())) and later.keys() <= table.registers.keys()
        fits = isinstance(key, str) and parse_key(table, key) is not None
    except (KeyError, TypeError, ValueError, AttributeError):
        raise damaged_record_error() from None
    needed = frozenset(table.columns) if stamps.presence is RowPresence.PRESENT else frozenset[str]()
    if not named or not fits or columns.keys() != needed or not sent.keys() <= frozenset(table.sent):
        raise damaged_record_error()
    return RowRecord(table, key, stamps, columns, sent)


def _is_stamp(found: object) -> bool:
    return isinstance(found, str) and STAMP.fullmatch(found) is not None and clock_of(found) < LAST_CLOCK


def _to_wire(value: object) -> object:
    return {_OCTETS: base64.b64encode(value).decode("ascii")} if isinstance(value, bytes) else value


def _from_wire(value: object) -> object:
    if value is None or isinstance(value, (str, float)) or (type(value) is int and value in _INTEGERS):
        return value
    if isinstance(value, dict) and value.keys() == {_OCTETS}:
        try:
            return base64.b64decode(value[_OCTETS], validate=True)
        except (binascii.Error, TypeError):
            raise ValueError from None
    raise ValueError


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A space, client or conversation that rows of a bundle name, in case a vault has none of that name.

    Attributes:
        kind: `space`, `client` or `conversation`.
        name: of a conversation its identity.
        fields: what it is made with.
    """

    kind: str
    name: str
    fields: Columns

    def to_line(self) -> dict[str, Any]:
        """The record as a line of a bundle."""
        return {self.kind: {"name": self.name, **self.fields}}


PLACES: Mapping[str, tuple[str, ...]] = {
    "client": ("id", "trust_ceiling"),
    "space": ("id", "client"),
    "conversation": ("id", "title", "space", "client", "started_at", "recorded_at", "extra"),
}
"""What goes with a name, by kind."""


def parse_place(kind: str, line: Mapping[str, Any]) -> NamedPlace:
    """Undo `NamedPlace.to_line`.

    Raises:
        BundleFaultError: DAMAGED.
    """
    found = line.get(kind)
    if not isinstance(found, dict) or found.keys() != {"name", *PLACES[kind]}:
        raise damaged_record_error()
    name = found["name"]
    if not isinstance(name, str) or not name or (kind != "conversation" and len(name) > _MOST_NAME):
        raise damaged_record_error()
    return NamedPlace(kind, name, {field: found[field] for field in PLACES[kind]})


def device_line(device: KnownDevice) -> dict[str, Any]:
    """A device as a line of a bundle."""
    return {
        "device": {
            "id": device.id,
            "name": device.name,
            "key": device.public_key.hex(),
            "added_at": device.added_at,
            "left_at": device.left_at,
            "last": device.last,
        }
    }


def parse_device(found: object) -> KnownDevice:
    """Undo `device_line`, or what it holds under `device`.

    Raises:
        BundleFaultError: DAMAGED.
    """
    try:
        about: Any = found
        ended = about["left_at"], about["last"]
        made = KnownDevice(about["id"], about["name"], bytes.fromhex(about["key"]), about["added_at"], *ended)
        is_id = len(bytes.fromhex(made.id)) == DEVICE_BYTES and made.id == made.id.lower()
        is_named = isinstance(made.name, str) and 0 < len(made.name) <= _MOST_NAME // 2 and made.name.isprintable()
        times = type(made.added_at) is int and (ended == (None, None) or all(type(one) is int for one in ended))
    except (KeyError, TypeError, ValueError):
        raise damaged_record_error() from None
    if not (is_id and is_named and times and len(made.public_key) == _KEY_BYTES):
        raise damaged_record_error()
    return made


@dataclass(frozen=True, slots=True)
class BundleOrigin:
    """The first line of a bundle.

    Attributes:
        clock: of the device when it wrote the bundle.
        taken: of each device that it knew, the number and digest of the last bundle that it had taken.
    """

    clock: int
    taken: Mapping[str, tuple[int, str]]

    def to_line(self) -> dict[str, Any]:
        """The record as a line of a bundle."""
        return {"bundle": {"clock": self.clock, "taken": {name: list(last) for name, last in self.taken.items()}}}


def parse_origin(line: Mapping[str, Any]) -> BundleOrigin:
    """Undo `BundleOrigin.to_line`.

    Raises:
        BundleFaultError: DAMAGED.
    """
    try:
        about = line["bundle"]
        taken = {str(name): (int(last[0]), str(last[1])) for name, last in about["taken"].items()}
        clock = int(about["clock"])
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise damaged_record_error() from None
    if not 0 <= clock < LAST_CLOCK:
        raise damaged_record_error()
    return BundleOrigin(clock, taken)
