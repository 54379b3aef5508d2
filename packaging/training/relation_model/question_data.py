"""Questions of invented persons and which of their statements answers: read, checked, split.

Every person was written for this project (packaging/training/README.md). Must not do: read any labelled set that
measures the model, or know what a model reads of a text.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FOLDER = Path(__file__).resolve().parents[1] / "questions"
HELD_BACK_OF = 12
"""One person in so many teaches nothing: they measure, and set from which odds a memory surely answers."""
HARD, EASY = 3, 1
"""Statements beside the one that answers: of the eight nearest by the embedder, and of the others."""
_NEAR = 8
_IN_HASTE = 0.3


@dataclass(frozen=True)
class Question:
    """A question, and the places of the statements that answer it, the best first."""

    text: str
    answers: tuple[int, ...]


@dataclass(frozen=True)
class Person:
    """What one invented person stated, in order, and is asked."""

    author: str
    statements: tuple[str, ...]
    questions: tuple[Question, ...]

    @property
    def is_held_back(self) -> bool:
        """Whether the person teaches nothing, told by a digest of the name."""
        return is_held_back(self.author)


def is_held_back(author: str) -> bool:
    """Whether a person teaches nothing, told by a digest of the name."""
    return int(hashlib.sha256(author.encode()).hexdigest(), 16) % HELD_BACK_OF == 0


def load() -> tuple[list[Person], str]:
    """Read everybody.

    Returns:
        The persons in a fixed order, and the SHA-256 of the files.

    Raises:
        SystemExit: a line is no person, or a question names no statement.
    """
    persons, digest = [], hashlib.sha256()
    for path in sorted(FOLDER.glob("*.jsonl")):
        digest.update(path.read_bytes())
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            persons.append(_person(line, f"{path.name}:{number}"))
    return persons, digest.hexdigest()


def _person(line: str, where: str) -> Person:
    try:
        row = json.loads(line)
        statements = tuple(str(text) for text in row["statements"])
        questions = tuple(Question(str(one["q"]), tuple(one["a"])) for one in row["questions"])
        person = Person(str(row["author"]), statements, questions)
    except (ValueError, KeyError, TypeError) as error:
        sys.exit(f"{where} is no person: {error}")
    places = range(len(statements))
    if not questions or any(not one.answers or any(at not in places for at in one.answers) for one in questions):
        sys.exit(f"{where} has a question without a statement that answers it.")
    return person


def draw_group(
    person: Person, question: Question, nearness: NDArray[np.float32], rng: random.Random
) -> tuple[str, list[str]]:
    """A question as it is typed, and statements of which the first answers it.

    Args:
        nearness: of each statement to the question, by the embedder.
    """
    others = [int(at) for at in np.argsort(-nearness) if at not in question.answers]
    near, far = others[:_NEAR], others[_NEAR:]
    wrong = rng.sample(near, min(HARD, len(near))) + rng.sample(far, min(EASY, len(far)))
    text = question.text.lower().rstrip("?") if rng.random() < _IN_HASTE else question.text
    return text, [person.statements[at] for at in (rng.choice(question.answers), *wrong)]


def counted(persons: Sequence[Person]) -> dict[str, int]:
    """How many persons, statements and questions there are."""
    return {
        "persons": len(persons),
        "statements": sum(len(one.statements) for one in persons),
        "questions": sum(len(one.questions) for one in persons),
    }
