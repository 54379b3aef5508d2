"""Labelled conversations in the shape the benches use, and the reader of the reshaped LoCoMo.

LoCoMo is for evaluation only: nothing of the data is ever copied into the project, and no rule or word list is taken
from it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "inference", 4: "single-hop", 5: "adversarial"}
_REF = re.compile(r"D\d+:\d+")


@dataclass(frozen=True)
class Turn:
    """One message: its reference, session, place in it, speaker, text, and the time of its session (epoch ms)."""

    ref: str
    session: str
    position: int
    author: str
    text: str
    at_ms: int


@dataclass(frozen=True)
class Question:
    """One question, its category, and the references that hold its answer; none where nothing answers it."""

    text: str
    category: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Conversation:
    """One conversation; it becomes a space of its own."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def read(path: Path, *, photos: bool = False) -> list[Conversation]:
    """Read the file.

    Args:
        path: a list of conversations as README-locomo.md tells.
        photos: put the caption of a shared photo behind the text.

    Returns:
        The conversations; questions without evidence are left out.
    """
    return [_conversation(raw, photos) for raw in json.loads(path.read_text("utf-8"))]


def _conversation(raw: dict[str, object], photos: bool) -> Conversation:
    turns = []
    for session in raw["sessions"]:  # type: ignore[attr-defined]
        at = datetime.strptime(session["date_time"].replace(",", ""), "%I:%M %p on %d %B %Y").replace(tzinfo=UTC)
        for place, turn in enumerate(session["turns"]):
            text = f"{turn['text']} [photo: {turn['photo']}]" if photos and turn.get("photo") else turn["text"]
            turns.append(
                Turn(turn["ref"], f"{session['session']}", place, turn["speaker"], text, int(at.timestamp() * 1000))
            )
    questions = []
    for question in raw["questions"]:  # type: ignore[attr-defined]
        refs = tuple(sorted({ref for entry in question["evidence"] for ref in _REF.findall(entry)}))
        if refs:
            questions.append(Question(question["question"], CATEGORIES[question["category"]], refs))
    return Conversation(str(raw["sample_id"]), tuple(turns), tuple(questions))
