"""A folder that is written by a test and watched by an engine; its files look as if they had rested for years."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from engine_rig import Rig

from core.types.folders.watch import GoneFile, WatchedFolder, WatchEntry
from core.types.values import OWNER_ACTOR

_LONG_AGO_S = 1_500_000_000
_moments = count(1)


@dataclass
class WrittenFolder:
    """A folder of a test."""

    root: Path

    def write(self, name: str, text: str | bytes) -> Path:
        """Write a file; each writing has a time of its own."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
        self.age(path)
        return path

    def age(self, path: Path) -> None:
        """Let a file look old, and other than before."""
        moment = (_LONG_AGO_S + next(_moments)) * 10**9
        os.utime(path, ns=(moment, moment))

    def append_turns(self, name: str, turns: Sequence[tuple[str, str]], session: str = "s-1") -> Path:
        """Add turns to a session of Claude Code."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        at = len(path.read_text("utf-8").splitlines()) if path.exists() else 0
        with path.open("a", encoding="utf-8") as file:
            for place, (who, text) in enumerate(turns, at):
                line = {
                    "type": who,
                    "sessionId": session,
                    "uuid": f"{session}-{place}",
                    "parentUuid": None,
                    "timestamp": f"2026-03-01T10:{place:02d}:00Z",
                    "message": {"role": who, "content": text},
                }
                file.write(json.dumps(line) + "\n")
        self.age(path)
        return path


def watch(rig: Rig, folder: Path, form: str, space: str | None = None) -> WatchedFolder:
    """Watch a folder; it is read once."""
    return rig.engine.watches.add(folder, form, space, OWNER_ACTOR).result(60)


def look(rig: Rig) -> WatchedFolder:
    """Look at all watched folders; the first of them."""
    return rig.engine.watches.look().result(120)[0]


def entries(rig: Rig, folder_id: str) -> list[WatchEntry]:
    """What was done, the oldest first."""
    return list(reversed(rig.engine.watches.read_log(folder_id).result(30)[0]))


def gone(rig: Rig, folder_id: str) -> list[GoneFile]:
    """What is asked about."""
    return list(rig.engine.watches.read_log(folder_id).result(30)[1])
