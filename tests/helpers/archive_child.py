"""A process that imports an archive and kills itself behind one of its transactions.

It is given one line of JSON: `{"folder", "root", "path", "after"}`, the last of which is the number of transactions.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import archive_rig
from engine_rig import HandClock, rig_at

from core.engine.imports import restore
from core.engine.runtime.storage import Storage
from core.types.values import OWNER_ACTOR


def import_and_die(order: dict[str, Any]) -> None:
    """Import, with few rows a transaction, until the one that is the last."""
    restore._ROWS_AT_ONCE = 7
    left = [int(order["after"])]
    write = restore._write

    def write_or_die(storage: Storage, fn: Any) -> None:
        write(storage, fn)
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    restore._write = write_or_die
    clock = HandClock(archive_rig.LATER_MS)
    with rig_at(Path(order["folder"]), clock=clock, root=bytes.fromhex(order["root"])) as rig:
        rig.engine.imports.run(Path(order["path"]), None, None, OWNER_ACTOR, passphrase=archive_rig.PASSPHRASE).result(
            60
        )


if __name__ == "__main__":
    import_and_die(json.loads(sys.stdin.readline()))
