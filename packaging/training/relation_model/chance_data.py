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
UNRELATED_NEAR, UNRELATED_FAR, UNRELATED_LONG = 3_000, 2_000, 1_500
"""Newcomers beside notes of others: near by chance, any, and several in one text."""
LONG_NOTES = 2, 5
"""So many statements make one text."""
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


def draw_unrelated(
    news: Sequence[tuple[str, Sequence[str]]], persons: Sequence[question_data.Person], rng: random.Random
) -> list[Pair]:
    """Newcomers beside what they have nothing to do with, or a model takes any "was" for the end of anything.

    Args:
        news: newcomers, each with notes of others that are near by chance; where there are none, it is left out.
        persons: whose statements stand.
    """
    news = [one for one in news if one[1]]
    near = rng.sample(news, UNRELATED_NEAR)
    texts = [text for person in persons for text in person.statements]
    many = [person.statements for person in persons if len(person.statements) > max(LONG_NOTES)]
    olds = [
        *(rng.choice(others) for _, others in near),
        *rng.choices(texts, k=UNRELATED_FAR),
        *("\n".join(rng.sample(said, rng.randint(*LONG_NOTES))) for said in rng.choices(many, k=UNRELATED_LONG)),
    ]
    met = [new for new, _ in (*near, *rng.choices(news, k=UNRELATED_FAR + UNRELATED_LONG))]
    coexist = LABELS.index("COEXIST")
    return [Pair(old, new, coexist, "", 0) for old, new in zip(olds, met, strict=True)]
