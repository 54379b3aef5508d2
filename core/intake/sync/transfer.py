"""Writing this device's next bundle, and taking one of another device: one transaction each, with a line of the audit.

Must not do: open a file; check a signature.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.archive.bundle import BundleHeader, BundleKind, make_salt
from core.intake.sync.collection import ChangeCollector, Sink, count_pending
from core.intake.sync.device import (
    KnownDevice,
    SyncState,
    add_device,
    mark_left,
    note_clock,
    note_known,
    note_met,
    note_owing,
    note_taken,
    note_written,
    read_devices,
    rename_device,
    require_state,
)
from core.intake.sync.keys import note_holder, note_holders, read_keys, seal_newest
from core.intake.sync.merge import RowMerge, TakenRows
from core.intake.sync.records import (
    PLACES,
    BundleOrigin,
    damaged_record_error,
    parse_device,
    parse_origin,
    parse_place,
    parse_row,
)
from core.intake.sync.stamps import untouched_stamps
from core.intake.transaction.unit_of_work import UnitOfWork
from core.types.values import LIFECYCLE_ACTOR
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx, without_recorder

WRITE, TAKE = "sync_write", "sync_take"
_SCHEMA = "SELECT max(version) FROM schema_version"

Lines = Iterator[Mapping[str, Any]]


def is_bundle_due(rows: Rows) -> bool:
    """Whether this device has something to tell: changes, or that it took those of others."""
    return count_pending(rows) > 0 or bool(require_state(rows).is_owing)


def next_header(rows: Rows, *, is_whole: bool) -> BundleHeader:
    """The header of this device's next bundle, with its key for each device that takes part."""
    state = require_state(rows)
    key, share, envelopes = seal_newest(rows)
    return BundleHeader(
        group=state.group,
        device=state.device,
        number=state.number + 1,
        previous=state.digest,
        kind=BundleKind.WHOLE if is_whole else BundleKind.CHANGES,
        schema=int(rows.value(_SCHEMA)),
        salt=make_salt(),
        key=key.id,
        made=key.made,
        share=share,
        envelopes=envelopes,
    )


def write_bundle(
    tx: Tx,
    work: UnitOfWork,
    header: BundleHeader,
    open_sink: Callable[[SyncState, bytes], tuple[Sink, Callable[[], str]]],
) -> int:
    """Write this device's next bundle.

    Args:
        header: of `next_header`.
        open_sink: given the state and the bundle's key, gives what takes the lines, and what ends the bundle and tells
            its digest.

    Returns:
        How many rows it has.
    """
    state = require_state(tx)
    write, finish = open_sink(state, read_keys(tx)[header.key].key)
    with work.verb(tx, WRITE, "Tell other devices", LIFECYCLE_ACTOR) as verb, without_recorder(tx):
        count = ChangeCollector(tx, write).write_all(state, is_whole=header.kind is BundleKind.WHOLE)
        digest = finish()
        tx.run("UPDATE sync_rows SET is_pending = 0 WHERE is_pending = 1")
        note_written(tx, state, header.number, digest)
        note_holders(tx, header)
        verb.note_audit(state.device, number=header.number, told=count)
    return count


def read_introduction(lines: Lines) -> tuple[BundleOrigin, tuple[KnownDevice, ...]]:
    """What a bundle says before its rows: what its device had taken, and which devices it knows.

    Raises:
        BundleFaultError: DAMAGED.
    """
    first = next(lines, None)
    if first is None:
        raise damaged_record_error()
    origin, devices = parse_origin(first), []
    for line in lines:
        if "device" not in line:
            break
        devices.append(parse_device(line["device"]))
    return origin, tuple(devices)


def meet_devices(tx: Tx, devices: Sequence[KnownDevice], sender: str) -> None:
    """Know the devices that a device of the group knows.

    Args:
        sender: the id of that device, which alone says how it is called.
    """
    known = {one.id: one for one in read_devices(tx)}
    for device in devices:
        if device.id not in known:
            meet_device(tx, replace(device, number=0, digest=""))
            continue
        if device.id == sender:
            rename_device(tx, device.id, device.name)
        if device.left_at is not None and device.last is not None:
            mark_left(tx, device.id, device.left_at, device.last)
            before = known[device.id]
            if before.last is None and before.number > device.last:
                note_owing(tx)  # the others have to take that too


def count_taken(tx: Tx, origin: BundleOrigin) -> None:
    """Let bundles of a device that left count which another had taken before it knew, so that all take the same."""
    known = {one.id: one for one in read_devices(tx)}
    for device_id, (number, _) in origin.taken.items():
        device = known.get(device_id)
        if device is not None and device.left_at is not None and number > (device.last or 0):
            mark_left(tx, device_id, device.left_at, number)
            note_owing(tx)


def meet_device(tx: Tx, device: KnownDevice) -> None:
    """Know a device, and that it has the keys there are, unless it has left.

    Raises:
        UserError: INVALID_INPUT where there are too many.
    """
    add_device(tx, device)
    if device.left_at is None:
        note_holder(tx, device.id)


def take_bundle(
    tx: Tx,
    work: UnitOfWork,
    header: BundleHeader,
    digest: str,
    lines: Lines,
    removed: Callable[[int, Sequence[int]], None],
) -> TakenRows:
    """Take a bundle of a known device, whose signature was checked and whose turn it is.

    Args:
        removed: told sequence and labels of memories that vanish, for the index.

    Raises:
        BundleFaultError: DAMAGED; nothing of it was taken.
    """
    own = require_state(tx).device
    with work.verb(tx, TAKE, "Take the changes of another device", LIFECYCLE_ACTOR) as verb, without_recorder(tx):
        merge = RowMerge(tx, work, removed)
        with tx.purge():
            with untouched_stamps(tx):
                origin = parse_origin(next(lines, {}))
                for line in lines:
                    _take_line(tx, merge, line, header.device)
                merge.settle()
            taken = merge.finish()
        note_clock(tx, max(merge.clock, origin.clock))
        note_holders(tx, header)
        if own in header.envelopes:
            note_met(tx, header.device)
        note_taken(tx, header.device, header.number, digest)
        if header.kind is BundleKind.WHOLE:
            for device, (number, last) in origin.taken.items():
                note_taken(tx, device, number, last)
        note_known(tx, header.device, origin.taken.get(own, (0, ""))[0])
        if taken.rows:
            note_owing(tx)
        verb.note_audit(
            header.device,
            number=header.number,
            taken=taken.rows,
            new=len(taken.memories),
            gone=taken.gone,
            asked=taken.opened,
            refused=taken.refused,
        )
    return taken


def _take_line(tx: Tx, merge: RowMerge, line: Mapping[str, Any], sender: str) -> None:
    if "t" in line:
        merge.take_row(parse_row(line))
        return
    if "device" in line:
        meet_devices(tx, (parse_device(line["device"]),), sender)
        return
    kind = next((one for one in PLACES if one in line), None)
    if kind is None:
        raise damaged_record_error()
    merge.take_place(parse_place(kind, line))
