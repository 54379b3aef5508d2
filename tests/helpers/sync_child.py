"""A process that does rounds with a folder and kills itself behind one of its transactions.

It is given one line of JSON: `{"home", "name", "now_ms", "after"}`, the last of which is the number of transactions and
of files put into the folder.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sync_rig import Device

from core.engine.sync.folder import SyncFolder
from core.types.clock import ManualClock
from core.vault.database.tx import Tx


def run_and_die(order: dict[str, Any]) -> None:
    """Do rounds until the step that is the last."""
    left = [int(order["after"])]

    def count() -> None:
        left[0] -= 1
        if left[0] <= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    device = Device(Path(order["home"]), order["name"], ManualClock(int(order["now_ms"])))
    write, publish = device.vault.write, SyncFolder.publish

    def write_and_count(fn: Callable[[Tx], Any]) -> Any:
        done = write(fn)
        count()
        return done

    def publish_and_count(folder: SyncFolder, source: Path) -> None:
        count()  # noted as told, and not in the folder yet
        publish(folder, source)
        count()

    device.vault.write = write_and_count  # type: ignore[method-assign]  # counted, to die at one of them
    SyncFolder.publish = publish_and_count  # type: ignore[method-assign, assignment]  # as above
    for _ in range(3):
        device.now()
    device.close()


if __name__ == "__main__":
    run_and_die(json.loads(sys.stdin.readline()))
