"""Texts that have nothing to do with each other and meet in a vault by chance: for the relation model.

Sentences of `talk/` and statements of `questions/` stand; lines of `claims/`, as assistants and people note them, come.
Another author wrote each, so that none can end, repeat or add to the other. Must not do: read a set that measures a
model, or an author of talk who is held out.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

import claim_data
import question_data
import talk_data
from relation_data import LABELS, Pair

NEAR = 0.6
"""So many of the pairs are the nearest of `RIVALS` that were drawn: what is near by chance is what a vault compares."""
RIVALS = 80
SHORTEST = 12
"""Characters of a text that says something."""
Embed = Callable[[Sequence[str]], NDArray[np.float32]]


def load_standing() -> list[str]:
    """What stands: sentences of talk, and statements of persons, who teach."""
    said = [one.text for one in talk_data.read_sentences() if not one.is_held_out]
    stated = [text for one in question_data.load()[0] if not one.is_held_back for text in one.statements]
    return [text for text in (*said, *stated) if len(text) >= SHORTEST]


def load_coming() -> list[str]:
    """What comes: lines that were written for the claim model."""
    return [line.text for line in claim_data.load_lines() if len(line.text) >= SHORTEST]


def draw_pairs(count: int, rng: random.Random, embed: Embed) -> list[Pair]:
    """Pairs of what stands and what comes, all of them COEXIST.

    Args:
        embed: unit vectors of texts, shape (texts, width); only what may be near by chance is asked for.
    """
    standing, coming = load_standing(), rng.choices(load_coming(), k=count)
    rivals = rng.sample(standing, min(len(standing), RIVALS * 60))
    table, vectors = embed(rivals), embed(coming)
    coexist, pairs = LABELS.index("COEXIST"), []
    for text, vector in zip(coming, vectors, strict=True):
        some = rng.sample(range(len(rivals)), RIVALS)
        nearest = max(some, key=lambda at: float(table[at] @ vector))
        old = rivals[nearest] if rng.random() < NEAR else rng.choice(standing)
        pairs.append(Pair(old, text, coexist, "chance", 0, source="chance"))
    return pairs
