"""A device that is killed anywhere in a round goes on with the next one: nothing is lost, and nothing comes twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import sync_child
from sync_rig import new_group_of, settle


@pytest.mark.starts_process
@pytest.mark.parametrize("after", [1, 2, 4, 6])
def test_a_kill_in_a_round_loses_nothing(tmp_path: Path, after: int) -> None:
    (one, other), _ = new_group_of(tmp_path, 2)
    for device in (one, other):
        device.remember("Ada lives in Lisbon" if device is one else "Ada lives in Porto")
        device.remember(f"{device.name} hears the rain")
    other.now()
    one.close()
    order = {"home": str(one.home), "name": one.name, "now_ms": one.clock.now_ms() + 50, "after": after}
    path = os.pathsep.join([str(Path(sync_child.__file__).parent), *(part for part in sys.path if part)])
    killed = subprocess.run(
        [sys.executable, sync_child.__file__],
        input=json.dumps(order) + "\n",
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    one.clock.advance(60)
    one.open()
    settle((one, other))
    assert one.texts() == other.texts()
    assert len(one.texts()) == 4
    assert one.synced_rows() == other.synced_rows()
    assert one.now().problems == other.now().problems == ()
    for device in (one, other):
        device.close()
