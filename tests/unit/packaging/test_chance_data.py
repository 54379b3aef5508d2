"""Pairs that meet by chance: of others' texts, near ones among them, and never of who is held out."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

import chance_data
import question_data
import talk_data
from relation_data import LABELS


def by_length(texts: Sequence[str]) -> NDArray[np.float32]:
    """Unit vectors that are near where texts are about as long."""
    angles = np.array([min(len(text), 150) / 100 for text in texts], np.float32)
    return np.stack([np.cos(angles), np.sin(angles)], 1)


@pytest.mark.slow
def test_pairs_are_of_others_and_mostly_near() -> None:
    pairs = chance_data.draw_pairs(200, random.Random(1), by_length)
    assert len(pairs) == 200
    assert {LABELS[one.label] for one in pairs} == {"COEXIST"}
    coming = set(chance_data.load_coming())
    assert all(one.new in coming for one in pairs)
    near = sum(abs(min(len(one.old), 150) - min(len(one.new), 150)) <= 3 for one in pairs)
    assert near >= 0.5 * len(pairs)
    held_out = {one.text for one in talk_data.read_sentences() if one.is_held_out}
    teaching = {one.text for one in talk_data.read_sentences() if not one.is_held_out}
    assert not {one.old for one in pairs} & (held_out - teaching)


@pytest.mark.slow
def test_the_same_seed_draws_the_same() -> None:
    drawn = [chance_data.draw_pairs(5, random.Random(7), by_length) for _ in range(2)]
    assert drawn[0] == drawn[1]


@pytest.mark.slow
def test_what_is_unrelated_stands_beside_notes_of_others() -> None:
    persons = question_data.load()[0]
    news = [(f"I sold the boat, number {n}.", (f"note {n} of another",) if n % 2 else ()) for n in range(8_000)]
    pairs = chance_data.draw_unrelated(news, persons, random.Random(3))
    assert {LABELS[one.label] for one in pairs} == {"COEXIST"}
    assert {one.new for one in pairs} <= {new for new, others in news if others}
    assert sum("\n" in one.old for one in pairs) >= chance_data.UNRELATED_LONG
