"""Small talk gives way at the top of an answer: to statements that answer and to what is near, and only there."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.recall.episode_statements import (
    ANSWERS,
    SMALL_TALK,
    TOP,
    RepresentativeStatement,
    SourceEpisode,
    put_small_talk_behind,
)


class Readings:
    """Rows in which some labels are small talk."""

    def __init__(self, small: set[int]) -> None:
        self.small = small

    def all(self, sql: str, params: Any) -> list[tuple[int]]:
        assert "small_talk" in sql
        return [(label,) for label in sorted(self.small)]


def order_of(evidence: Sequence[float], small: set[int], statements: dict[int, float]) -> list[int]:
    """Items are labelled 0, 1, 2 … and shown in that order."""
    found: Any = SimpleNamespace(labels=np.arange(len(evidence)), evidence=np.array(evidence, np.float64))
    told = {
        label: RepresentativeStatement(1000 + label, strength, (SourceEpisode(label, f"e{label}", None),))
        for label, strength in statements.items()
    }
    rows: Any = Readings(small)
    return put_small_talk_behind(rows, range(len(evidence)), found, told)


def test_small_talk_stands_behind_what_is_near() -> None:
    assert order_of([1.0, 0.9, 0.7], {0}, {}) == [1, 0, 2]


def test_small_talk_that_alone_speaks_of_it_stays_first() -> None:
    assert order_of([1.0, 0.5, 0.4], {0}, {}) == [0, 1, 2]


def test_no_small_talk_before_a_statement_that_answers() -> None:
    assert order_of([1.0, 0.95, 0.7], {0, 1}, {2: 0.9}) == [2, 0, 1]
    assert order_of([1.0, 0.95, 0.7], {0, 1}, {2: 0.5}) == [0, 1, 2], "one that hardly answers"


def test_a_statement_is_no_small_talk_even_where_its_episode_was_read_as_such() -> None:
    assert order_of([1.0, 0.99], {0}, {0: 1.0}) == [0, 1]


@given(
    st.lists(st.floats(0.01, 1.0), min_size=1, max_size=25),
    st.sets(st.integers(0, 24)),
    st.dictionaries(st.integers(0, 24), st.floats(0.01, 1.0), max_size=6),
)
def test_nothing_is_lost_and_only_small_talk_falls_behind(
    evidence: list[float], small: set[int], statements: dict[int, float]
) -> None:
    evidence.sort(reverse=True)
    small = {label for label in small if label < len(evidence)}
    statements = {label: strength for label, strength in statements.items() if label < len(evidence)}
    order = order_of(evidence, small, statements)
    assert sorted(order) == list(range(len(evidence)))
    assert order[TOP:] == list(range(TOP, len(evidence))), "behind the top everything stays"
    talk = small - statements.keys()
    others = [label for label in order[:TOP] if label not in talk]
    assert others == sorted(others), "what is no small talk keeps its order"
    best = max(evidence)
    for at, label in enumerate(order[:TOP]):
        behind = order[at + 1 : TOP]
        if label in talk:
            assert all(evidence[other] <= evidence[label] * SMALL_TALK + 1e-9 for other in behind if other in others)
            assert not any(statements.get(other, 0.0) >= ANSWERS * best for other in behind)
