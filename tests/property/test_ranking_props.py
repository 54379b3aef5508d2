"""The formulas behind the order of a recall, over many numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.score.ranking import (
    HOP_DECAY,
    LEAST,
    blend_weights,
    diversify,
    may_spread,
    redundancy,
    spread_activation,
    substance_factor,
    time_proximity,
)

HOUR = 3_600_000
shares = st.floats(0.0, 1.0, allow_nan=False)


def test_spreading_follows_the_example_of_the_plan() -> None:
    links = {1: [(1, 2, 1.0)], 2: [(2, 3, 1.0)], 3: [(3, 4, 1.0)]}
    level = spread_activation({1: 0.9}, lambda front: [link for node in front for link in links.get(node, [])], 2)
    assert level == pytest.approx({1: 0.9, 2: 0.54, 3: 0.324})


def test_two_ways_do_not_add_up() -> None:
    links = {1: [(1, 3, 1.0)], 2: [(2, 3, 1.0)]}
    level = spread_activation(
        {1: 0.9, 2: 0.5}, lambda front: [link for node in front for link in links.get(node, [])], 2
    )
    assert level[3] == pytest.approx(0.54)


@given(
    st.dictionaries(st.integers(0, 12), shares, max_size=6),
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12), shares), max_size=40),
    st.integers(0, 4),
)
def test_spreading_never_raises_above_its_seeds(
    seeds: dict[int, float], links: list[tuple[int, int, float]], hops: int
) -> None:
    def links_of(front: Collection[int]) -> list[tuple[int, int, float]]:
        return [link for link in links if link[0] in front]

    level = spread_activation(seeds, links_of, hops)
    assert all(value >= LEAST for value in level.values())
    top = max(seeds.values(), default=0.0)
    for node, value in level.items():
        assert value == seeds.get(node) or value <= top * HOP_DECAY + 1e-12
        assert value >= seeds.get(node, 0.0)

    def needed(front: Mapping[int, float]) -> list[tuple[int, int, float]]:
        return [link for link in links if link[0] in front and may_spread(front[link[0]], link[2])]

    assert spread_activation(seeds, needed, hops) == level


@given(st.integers(0, 2 * 10**12), st.integers(1, 400 * 24))
def test_nearness_in_time(start: int, hours: int) -> None:
    end = start + hours * HOUR
    sigma = max(6.0, hours / 2)
    middle = (start + end) / 2
    assert time_proximity(middle, start, end) == pytest.approx(1.0)
    assert time_proximity(middle - sigma * HOUR, start, end) == pytest.approx(math.exp(-0.5))
    before = time_proximity(np.array([middle - d * HOUR for d in (0, 1, 10, 100, 1000)]), start, end)
    assert (np.diff(before) <= 0).all()
    after = time_proximity(np.array([end + d * HOUR for d in (0, 24, 240, 24_000)]), start, end)
    assert (after[1:] <= 0.5 + 1e-9).all() or hours >= 24
    assert 0.0 <= float(after[-1]) <= 1.0


@given(st.integers(1, 12).flatmap(lambda n: st.tuples(
    st.lists(shares, min_size=n, max_size=n), st.lists(shares, min_size=n * n, max_size=n * n), shares)))  # fmt: skip
def test_what_is_chosen_later_never_has_a_greater_value(drawn: tuple[list[float], list[float], float]) -> None:
    scores = np.sort(np.array(drawn[0]))[::-1]
    alike = np.array(drawn[1]).reshape(scores.size, scores.size)
    alike = (alike + alike.T) / 2
    order, values, most = diversify(scores, alike, drawn[2])
    assert sorted(order) == list(range(scores.size))
    chosen = [values[at] for at in order]
    assert all(a >= b - 1e-12 for a, b in itertools.pairwise(chosen))
    assert order[0] == 0
    assert most[order[0]] == 0.0
    for at in range(scores.size):
        assert values[at] == pytest.approx(scores[at] * (1 - (1 - drawn[2]) * most[at]))


def test_a_different_hit_passes_the_second_of_two_that_say_the_same() -> None:
    alike = np.array([[1.0, 0.98, 0.0], [0.98, 1.0, 0.0], [0.0, 0.0, 1.0]])
    scores = np.array([0.9, 0.89, 0.5])
    assert diversify(scores, alike, 0.3)[0] == (0, 2, 1)
    assert diversify(scores, alike, 1.0)[0] == (0, 1, 2)


@given(st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=20), st.floats(0.0, 0.95))
def test_likeness_counts_from_a_cosine_on(cosines: list[float], near: float) -> None:
    found = redundancy(np.array(cosines), near)
    for cosine, value in zip(cosines, found.tolist(), strict=True):
        assert 0.0 <= value <= 1.0
        assert (value == 0.0) == (cosine <= near) or cosine - near < 1e-12


@given(shares)
def test_words_and_meaning_share_two(text_weight: float) -> None:
    meaning, words = blend_weights(text_weight)
    assert meaning + words == pytest.approx(2.0)
    assert words == pytest.approx(2 * text_weight)


@given(st.lists(st.tuples(st.booleans(), st.integers(-1, 100_000)), min_size=1, max_size=20))
def test_what_only_asks_counts_less_and_what_says_more_counts_more(drawn: list[tuple[bool, int]]) -> None:
    asks, size = np.array([a for a, _ in drawn]), np.array([float(s) for _, s in drawn])
    found = substance_factor(asks, size, 0.15, 0.05)
    assert (np.abs(found) <= 0.15 + 0.05 * math.log(10)).all()
    plain = substance_factor(np.zeros_like(asks), size, 0.15, 0.05)
    assert (found <= plain).all()
    order = np.argsort(np.where(size < 0, 1e9, size), kind="stable")
    assert (np.diff(plain[order]) >= -1e-12).all()
    assert (found[size < 0] == plain[size < 0]).all()


def test_a_range_that_is_open_to_one_side_ends_at_its_other() -> None:
    day = 24 * HOUR
    end = 20_000 * day
    near = time_proximity(np.array([end - 9_000 * day, end - day, end + 60 * day]), 0, end)
    assert near[:2].tolist() == [1.0, 1.0]
    assert near[2] < 0.01
