"""A device that is taken out, or that left: nothing that is written when that is known opens with what it has."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from sync_rig import bundles_opened_by, new_device, new_group_of, settle

from core.archive.bundle import MAGIC, BundleHeader, BundleWriter, read_lines
from core.engine.sync.folder import check_file
from core.errors import Code, LociError
from core.intake.sync.device import mark_left, note_owing, require_state
from core.intake.sync.keys import newest_key, read_keys
from core.vault.database.tx import Tx


def test_a_device_that_was_taken_out_cannot_read_what_comes(tmp_path: Path) -> None:
    (one, other, lost), shared = new_group_of(tmp_path, 3)
    lost_id = lost.read(require_state).device
    one.remember("Said while the laptop was there")
    settle((one, other, lost))
    before = {path.name for path in shared.iterdir()}
    one.take_out(lost)
    one.remember("Said when it was gone")
    settle((one, other))
    other.remember("And answered")
    settle((one, other))
    assert one.texts() == other.texts()
    assert len(one.texts()) == 3
    later = {path.name for path in shared.glob("*.loci-bundle")} - before
    assert later
    assert bundles_opened_by(other, shared) >= later
    assert not bundles_opened_by(lost, shared) & later
    for device in (one, other):
        assert lost_id not in device.read(newest_key).holders
    with pytest.raises(LociError) as caught:
        lost.now()
    assert caught.value.code is Code.SYNC_OFF
    assert lost.texts() == ["Said while the laptop was there"]
    for device in (one, other, lost):
        device.close()


def test_two_that_are_taken_out_at_once_are_both_shut_out(tmp_path: Path) -> None:
    (one, other, *lost), shared = new_group_of(tmp_path, 4)
    one.take_out(lost[0])
    other.take_out(lost[1])
    settle((one, other))
    before = {path.name for path in shared.iterdir()}
    one.remember("Said when both were gone")
    settle((one, other))
    later = {path.name for path in shared.glob("*.loci-bundle")} - before
    assert later
    assert bundles_opened_by(other, shared) >= later
    for device in lost:
        assert not bundles_opened_by(device, shared) & later
    assert one.read(newest_key) == other.read(newest_key)
    for device in (one, other, *lost):
        device.close()


def test_who_joins_beside_a_new_key_gets_it_from_the_others(tmp_path: Path) -> None:
    (one, other, lost), shared = new_group_of(tmp_path, 3)
    late = new_device(tmp_path, "late", 90)
    other.invite(shared, late)
    one.take_out(lost)
    one.remember("Said under the new key")
    one.now()  # the new key is not for the late one, of which this device has not heard
    late.now()
    settle((other, one, late))
    assert late.texts() == ["Said under the new key"]
    assert len({device.read(newest_key).id for device in (one, other, late)}) == 1
    again = new_device(tmp_path, "again", 95)
    one.invite(shared, again)
    settle((one, other, late, again))
    assert again.texts() == ["Said under the new key"]
    for device in (one, other, lost, late, again):
        device.close()


def test_a_device_that_left_by_itself_reads_nothing_more(tmp_path: Path) -> None:
    (one, other, gone), _ = new_group_of(tmp_path, 3)
    keys = gone.read(read_keys)

    def leave(tx: Tx) -> None:
        state = require_state(tx)
        mark_left(tx, state.device, tx.now_ms, state.number + 1)
        note_owing(tx)

    gone.write(leave)
    gone.rounds.run(is_last=True)
    settle((one, other))
    one.remember("Said when it had left")
    settle((one, other))
    assert other.texts() == ["Said when it had left"]
    assert not keys.keys() & {one.read(newest_key).id, other.read(newest_key).id}
    assert gone.read(read_keys) == keys
    for device in (one, other, gone):
        device.close()


def test_a_bundle_of_the_first_format_is_taken(tmp_path: Path) -> None:
    (one, other), shared = new_group_of(tmp_path, 2)
    own = one.read(require_state).device
    one.remember("Said by an older program")
    one.now()
    (path,) = [found for found in sorted(shared.glob("*.loci-bundle")) if check_file(found).header.device == own][-1:]
    checked = check_file(path)
    body = json.loads(checked.octets[13:])
    old = {name: body[name] for name in ("device", "group", "kind", "number", "previous", "salt", "schema")}
    text = json.dumps({**old, "format": 1}, sort_keys=True, separators=(",", ":")).encode()
    state = one.read(require_state)
    with path.open("rb") as file:
        lines = list(read_lines(file, checked, state.sync_key))
    header = replace(checked.header, key="", made=0, share="", envelopes={})
    with path.open("w+b") as file, pytest.MonkeyPatch.context() as patch:
        patch.setattr(BundleHeader, "to_octets", lambda _: MAGIC + len(text).to_bytes(2, "big") + text)
        writer = BundleWriter(file, header, state.sync_key, state.private_key)
        for line in lines:
            writer.write_line(line)
        digest = writer.finish()
    one.write(lambda tx: tx.run("UPDATE sync_state SET digest = ?", (digest,)))
    assert other.now().problems == ()
    assert other.texts() == ["Said by an older program"]
    for device in (one, other):
        device.close()
