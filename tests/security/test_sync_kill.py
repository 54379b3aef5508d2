"""A device that is killed anywhere in a round goes on with the next one: nothing is lost, and nothing comes twice."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
import sync_child
from killed_process import run_child
from sync_rig import Device, bundles_opened_by, new_group_of, settle

from core.intake.sync.keys import newest_key


def run_and_kill(device: Device, after: int) -> None:
    """Rounds of a device in a process that kills itself behind so many transactions and files."""
    order = {"home": str(device.home), "name": device.name, "now_ms": device.clock.now_ms() + 50, "after": after}
    killed = run_child(sync_child, order)
    assert killed.returncode == -signal.SIGKILL, killed.stderr


@pytest.mark.starts_process
@pytest.mark.parametrize("after", [1, 2, 4, 6])
def test_a_kill_in_a_round_loses_nothing(tmp_path: Path, after: int) -> None:
    (one, other), _ = new_group_of(tmp_path, 2)
    for device in (one, other):
        device.remember("Ada lives in Lisbon" if device is one else "Ada lives in Porto")
        device.remember(f"{device.name} hears the rain")
    other.now()
    one.close()
    run_and_kill(one, after)
    one.clock.advance(60)
    one.open()
    settle((one, other))
    assert one.texts() == other.texts()
    assert len(one.texts()) == 4
    assert one.synced_rows() == other.synced_rows()
    assert one.now().problems == other.now().problems == ()
    for device in (one, other):
        device.close()


@pytest.mark.starts_process
@pytest.mark.parametrize("after", [1, 2, 3, 4, 5])
def test_a_kill_while_a_device_is_taken_out_shuts_it_out_all_the_same(tmp_path: Path, after: int) -> None:
    (one, other, lost), shared = new_group_of(tmp_path, 3)
    one.take_out(lost)
    one.remember("Said when the laptop was gone")
    one.close()
    before = {path.name for path in shared.iterdir()}
    run_and_kill(one, after)
    one.clock.advance(60)
    one.open()
    settle((one, other))
    assert one.texts() == other.texts() == ["Said when the laptop was gone"]
    later = {path.name for path in shared.glob("*.loci-bundle")} - before
    assert bundles_opened_by(other, shared) >= later
    assert not bundles_opened_by(lost, shared) & later
    assert one.read(newest_key) == other.read(newest_key)
    for device in (one, other, lost):
        device.close()
