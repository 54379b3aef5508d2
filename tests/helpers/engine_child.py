"""A process that works with an engine and is killed by its parent, or looks at the parent's files from outside.

It waits for one line of JSON on its input: `{"mode": "work" | "open" | "scan", ..}`. It prints one line for each thing
that is certain, after the engine acknowledged it, flushed at once.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from engine_rig import MARKER, Rig, WordEmbedder, rig_at

from core.engine.facade import Engine, Home, HomeKeys, RootKey, Setup
from core.errors import LociError
from core.types.clock import SystemClock
from core.types.values import OWNER_ACTOR, Kind

ROWS = 15


def say(*words: object) -> None:
    """One certain thing."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def export(folder: Path, name: str) -> Path:
    """A file to import; it appears whole."""
    partial, path = folder / "partial", folder / name
    rows = [{"text": f"{MARKER} row {n} of {name}", "session": name, "ref": str(n)} for n in range(ROWS)]
    partial.write_text("".join(json.dumps(row) + "\n" for row in rows))
    partial.rename(path)
    return path


def work(order: dict[str, Any]) -> None:
    """Store and import, lock and unlock, for ever."""
    folder, n, turn = Path(order["folder"]), int(order["first"]), 0
    with rig_at(folder, clock=SystemClock(), background=True, root=bytes.fromhex(order["root"])) as rig:
        say("open")
        running: tuple[str, Future[Any]] | None = None
        while True:
            if running is None:
                turn += 1
                name = f"export-{order['round']}-{turn}.jsonl"
                running = (name, rig.engine.imports.run(export(folder, name), None, None, OWNER_ACTOR))
            reply = rig.store(f"{MARKER} entry {n}", kind=Kind.EPISODE, request_id=str(n))
            say("stored", n, reply.memory_id)
            n += 1
            if running[1].done():
                say("imported", running[0], running[1].result().stored)
                running = None
            if n % 45 == 0:
                _lock_and_unlock(rig, running)
                running = None


def _lock_and_unlock(rig: Rig, running: tuple[str, Future[Any]] | None) -> None:
    rig.lock()
    if running is not None and running[1].exception() is None:
        say("imported", running[0], running[1].result().stored)
    rig.unlock()
    say("unlocked")


def open_once(order: dict[str, Any]) -> None:
    """Try to open the vault that another process has open."""
    home = Home(Path(order["folder"]) / "home")
    engine = Engine(Setup(home, SystemClock(), WordEmbedder(), background=False))
    try:
        engine.unlock(RootKey(bytes.fromhex(order["root"]), HomeKeys(home).vault_id))
        say("opened")
    except LociError as error:
        say(error.code.value)
    finally:
        engine.close()


def scan(order: dict[str, Any]) -> None:
    """Name every file that holds one of some byte strings; from outside, so that no lock of the vault is touched."""
    wanted = [bytes.fromhex(one) for one in order["wanted"]]
    for path in sorted(Path(order["folder"]).rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            say("read", path.name)
            for number, one in enumerate(wanted):
                if one in content or one in content.lower():
                    say("found", path.name, number)


if __name__ == "__main__":
    given = json.loads(sys.stdin.readline())
    {"work": work, "open": open_once, "scan": scan}[given["mode"]](given)
