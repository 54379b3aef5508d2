"""The conversations written for Loci, with questions, in the shape the benches use.

Not LoCoMo: invented for this project, so rules may be fitted on them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from locomo import Conversation, Question, Turn
from recall_rig import Note


@dataclass(frozen=True)
class Talk(Conversation):
    """One conversation with its questions; no evidence where nothing answers a question."""

    def notes(self) -> list[Note]:
        """Its messages as memories."""
        return [
            Note(
                one.text,
                author=one.author,
                ref=one.ref,
                space=self.name,
                conversation=f"{self.name}/{one.session}",
                position=one.position,
                occurred_ms=one.at_ms,
            )
            for one in self.turns
        ]


def read_ours(folder: Path) -> list[Talk]:
    """Read every file of a folder.

    Args:
        folder: JSON files, each a list of conversations.

    Returns:
        The conversations in the order of their files.
    """
    paths = sorted(folder.glob("*.json"))
    return [_talk(path.stem, raw) for path in paths for raw in json.loads(path.read_text("utf-8"))]


def _talk(name: str, raw: dict[str, Any]) -> Talk:
    turns = []
    for session in raw["sessions"]:
        at = int(datetime.fromisoformat(session["time"]).replace(tzinfo=UTC).timestamp() * 1000)
        for place, turn in enumerate(session["turns"]):
            turns.append(Turn(turn["ref"], session["session"], place, turn["speaker"], turn["text"], at))
    questions = (Question(one["question"], one["category"], tuple(one["evidence"])) for one in raw["questions"])
    return Talk(name, tuple(turns), tuple(questions))
