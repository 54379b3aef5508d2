"""A process that attaches files, one after the other, and kills itself at a statement of the writer's.

It is given one line of JSON: `{"home", "secret", "file", "number"}`: the process dies before the statement of that
number which writes to a table of files. It prints `done` where it never does.
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
from core.types.values import OWNER_ACTOR
from core.vault.database.tx import Tx

_OF_FILES = ("files", "file_views", "stored_files", "stored_chunks")


def attach_and_die(order: dict[str, Any]) -> None:
    """Attach a file until the statement comes."""
    left = [int(order["number"])]

    def count_down(name: str) -> None:
        if name in _OF_FILES:
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    insert, run, run_many = Tx.insert, Tx.run, Tx.run_many

    def counted_insert(self: Tx, table: str, row: Any) -> int:
        count_down(table)
        return insert(self, table, row)

    def counted_run(self: Tx, sql: str, params: Any = ()) -> int:
        count_down(next((name for name in _OF_FILES if f" {name} " in sql), ""))
        return run(self, sql, params)

    def counted_run_many(self: Tx, sql: str, rows: Any) -> Any:
        count_down(next((name for name in _OF_FILES if f" {name} " in sql), ""))
        return run_many(self, sql, rows)

    Tx.insert, Tx.run, Tx.run_many = counted_insert, counted_run, counted_run_many  # type: ignore[method-assign]  # counted here
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
    engine.files.attach(Path(order["file"]), OWNER_ACTOR, caption="killed").result(60)
    print("done", flush=True)
    engine.close()


if __name__ == "__main__":
    attach_and_die(json.loads(sys.stdin.readline()))
