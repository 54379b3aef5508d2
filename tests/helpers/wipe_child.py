"""A process that wipes the marked home it is given and kills itself before a named change of a file.

It is given one line of JSON: `{"home", "vault", "number"}`. Before the change of that number it dies; where there are
fewer, it prints `done` and ends.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from core.vault.files.destruction import WipeNote, destroy_home, mark_home
from core.vault.files.home import Home


def wipe_and_die(order: dict[str, Any]) -> None:
    """Wipe until the change comes."""
    left = [int(order["number"])]
    for name in ("unlink", "rmdir", "replace", "fsync", "urandom", "chmod"):
        real = getattr(os, name)

        def counted(*given: Any, real: Any = real, **more: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*given, **more)

        setattr(os, name, counted)
    home = Home(Path(order["home"]), reserve_bytes=64 * 1024)
    mark_home(home, WipeNote(bytes.fromhex(order["vault"])))
    destroy_home(home)
    sys.stdout.write(f"done {order['number'] - left[0]}\n")


if __name__ == "__main__":
    wipe_and_die(json.loads(sys.stdin.readline()))
