"""A process that erases with a certificate, backups and all, and kills itself at a named step of it.

It is given one line of JSON: `{"home", "secret", "id", "at", "number"}`. `at` is a step's code word, or `file`; the
process dies when the step is reported, or before a rename or removal of a file once the backups are being rewritten,
for the time that `number` names.
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
from core.types.memory import ErasureRequest, ErasureSubject


def erase_and_die(order: dict[str, Any]) -> None:
    """Erase until the step comes; print `done` where it never does."""
    left = [int(order["number"])]
    is_rewriting: list[bool] = []

    def count_down() -> None:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def report(step: str, _done: int, _total: int | None) -> None:
        if step == "rewrite":
            is_rewriting.append(True)
        if step == order["at"]:
            count_down()

    for name in ("rename", "replace", "unlink", "fsync"):
        real = getattr(os, name)

        def counted(*given: Any, real: Any = real, **more: Any) -> Any:
            if is_rewriting and order["at"] == "file":
                count_down()
            return real(*given, **more)

        setattr(os, name, counted)

    engine = Engine(
        Setup(
            Home(Path(order["home"]), reserve_bytes=64 * 1024),
            HandClock(START_MS + 1000),
            WordEmbedder(),
            background=False,
            readers=TextReaders(),
        )
    )
    engine.vault.open(order["secret"]).result(60)
    request = ErasureRequest(ErasureSubject.MEMORY, (order["id"],))
    engine.erasures.erase(request, report=report, rewrites_backups=True).result(120)
    sys.stdout.write("done\n")
    sys.stdout.flush()
    engine.close()


if __name__ == "__main__":
    erase_and_die(json.loads(sys.stdin.readline()))
