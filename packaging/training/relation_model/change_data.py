"""What invented persons told later, and which of their earlier statements each line ends: read, checked, split.

Every line was written for this project (packaging/training/README.md). Must not do: read any labelled set that measures
the model, or know what a model reads of a text.
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

from question_data import Person, is_held_back

FOLDER = Path(__file__).resolve().parents[1] / "later"
HARD, EASY = 4, 1
"""Statements beside the one that is ended: of the eight nearest by the embedder, and of the others."""
_NEAR = 8
_LEAST_BEFORE = 8


@dataclass(frozen=True)
class Line:
    """One thing that was told later.

    Attributes:
        at: its place among all that the person said.
        before: the places of what still held when it was told.
        ends: which of those it ends; empty for none.
    """

    at: int
    before: tuple[int, ...]
    ends: tuple[int, ...]


@dataclass(frozen=True)
class Life:
    """All that one invented person said, in order, and the lines that were told later."""

    author: str
    texts: tuple[str, ...]
    lines: tuple[Line, ...]

    @property
    def firsts(self) -> list[Line]:
        """The statements of the beginning, as lines that end nothing."""
        first = self.lines[0].at if self.lines else len(self.texts)
        return [Line(at, tuple(range(at)), ()) for at in range(_LEAST_BEFORE, first)]

    @property
    def is_held_back(self) -> bool:
        """Whether the person teaches nothing, told by a digest of the name; the same persons as of questions."""
        return is_held_back(self.author)


def load(persons: Sequence[Person]) -> tuple[list[Life], str]:
    """Read everybody's later lines.

    Args:
        persons: who told what first.

    Returns:
        The lives in a fixed order, and the SHA-256 of the files.

    Raises:
        SystemExit: a line names nobody, or ends what does not hold.
    """
    known = {one.author: one for one in persons}
    lives, digest = [], hashlib.sha256()
    for path in sorted(FOLDER.glob("*.jsonl")):
        digest.update(path.read_bytes())
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            lives.append(_life(line, known, f"{path.name}:{number}"))
    return lives, digest.hexdigest()


def _life(line: str, known: dict[str, Person], where: str) -> Life:
    try:
        row = json.loads(line)
        person = known[row["author"]]
        later = [(str(one["t"]), tuple(int(at) for at in one["ends"])) for one in row["later"]]
    except (ValueError, KeyError, TypeError) as error:
        sys.exit(f"{where} is no life: {error}")
    standing, lines = list(range(len(person.statements))), []
    for at, (_, ends) in enumerate(later, len(person.statements)):
        if not set(ends) <= set(standing):
            sys.exit(f"{where} ends what does not hold.")
        lines.append(Line(at, tuple(standing), ends))
        standing = [*(one for one in standing if one not in ends), at]
    return Life(person.author, (*person.statements, *(text for text, _ in later)), tuple(lines))


def draw_rivals(line: Line, nearness: NDArray[np.float32], rng: random.Random) -> list[int]:
    """What a line is weighed beside: of what it ends one, first; then others, most of them near.

    Args:
        nearness: of all that was said to the line, by the embedder.
    """
    others = [int(at) for at in np.argsort(-nearness) if at in line.before and at not in line.ends]
    near, far = others[:_NEAR], others[_NEAR:]
    rivals = rng.sample(near, min(HARD, len(near))) + rng.sample(far, min(EASY, len(far)))
    return [*([rng.choice(line.ends)] if line.ends else []), *rivals]


def counted(lives: Sequence[Life]) -> dict[str, int]:
    """How many persons and lines there are, and how many lines end something."""
    lines = [line for life in lives for line in life.lines]
    return {"persons": len(lives), "lines": len(lines), "ending": sum(bool(line.ends) for line in lines)}
