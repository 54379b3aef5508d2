"""A process that puts a vault under new keys and kills itself at a named step of it.

It is given one line of JSON: `{"home", "secret", "at", "number"}`. `at` is a step's code word, or `rename`; the process
dies when the step is reported, or before a rename behind the switch, for the time that `number` names. What it prints
is the new recovery code, before anything is changed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from engine_rig import START_MS, HandClock, WordEmbedder

from core.engine.facade import Engine, Home, Setup
from core.intake.claims import TextReaders
from core.security.passphrase import KdfCost


def rotate_and_die(order: dict[str, Any]) -> None:
    """Rotate until the step comes; print `done` where it never does."""
    left = [int(order["number"])]
    is_switched: list[bool] = []

    def count_down() -> None:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def report(step: str, _done: int, _total: int | None) -> None:
        if step == "switch":
            is_switched.append(True)
        if step == order["at"]:
            count_down()

    for name in ("rename", "replace", "unlink", "rmdir"):
        real = getattr(os, name)

        def counted(*given: Any, real: Any = real, **more: Any) -> Any:
            if is_switched and order["at"] == "rename":
                count_down()
            return real(*given, **more)

        setattr(os, name, counted)

    home = Home(Path(order["home"]), reserve_bytes=64 * 1024)
    engine = Engine(
        Setup(
            home,
            HandClock(START_MS + 1000),
            WordEmbedder(),
            background=False,
            kdf_cost=KdfCost.lowest(),
            readers=TextReaders(),
        )
    )
    engine.vault.open(order["secret"]).result(60)
    code = engine.keys.prepare_rotation(order["secret"]).result(60)
    sys.stdout.write(f"{code}\n")
    sys.stdout.flush()
    engine.keys.rotate(code, report).result(600)
    sys.stdout.write("done\n")
    sys.stdout.flush()
    engine.close()


if __name__ == "__main__":
    rotate_and_die(json.loads(sys.stdin.readline()))
