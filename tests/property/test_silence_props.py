"""When recall keeps silent: the signs, and what is made of them."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.score.profile import LOCI
from core.score.ranking import CandidateColumns, SilenceModel, answer_probability, silence_model

shares = st.floats(0.0, 1.0)


@st.composite
def compared(draw: st.DrawFn) -> CandidateColumns:
    count = draw(st.integers(0, 30))
    window, vector, coverage, own = (np.array(draw(st.lists(shares, min_size=count, max_size=count))) for _ in range(4))
    evidence, unknown, size = 1.4 * window + coverage, draw(shares), draw(st.integers(0, 10**7))
    return CandidateColumns(evidence, window, vector, coverage, own, unknown, draw(st.integers(0, 60)), size)


@given(compared())
def test_signs_are_finite_and_the_chance_is_a_chance(found: CandidateColumns) -> None:
    signs = found.make_signs()
    assert all(math.isfinite(value) for value in signs.values())
    assert 0.0 <= answer_probability(signs) <= 1.0
    assert set(silence_model().signs) <= set(signs)


@given(compared())
def test_the_order_of_candidates_does_not_matter(found: CandidateColumns) -> None:
    turned = CandidateColumns(
        found.evidence[::-1], found.window[::-1], found.vector[::-1], found.coverage[::-1], found.own[::-1],
        found.unknown, found.terms, found.size,
    )  # fmt: skip
    if np.unique(found.evidence).size == found.evidence.size:
        assert answer_probability(turned.make_signs()) == answer_probability(found.make_signs())


def test_a_model_adds_what_its_signs_say() -> None:
    model = SilenceModel(1.0, {"words": (0.5, 0.25, 2.0)})
    signs = {"words": 0.75, "meaning": 0.3}
    assert answer_probability(signs, model) == 1 / (1 + math.exp(-3.0))


def _found(evidence: float, meaning: float, words: float, unknown: float) -> CandidateColumns:
    two = np.array([0.2, 0.1])
    meanings, shares_of_words = np.r_[meaning, two], np.r_[words, two]
    return CandidateColumns(np.r_[evidence, two], meanings, meanings, shares_of_words, shares_of_words, unknown, 4, 500)


def test_what_answers_has_a_better_chance_than_what_does_not() -> None:
    good, bad = _found(1.7, 0.6, 0.9, 0.0), _found(0.4, 0.15, 0.2, 0.6)
    assert answer_probability(good.make_signs()) > LOCI.least_chance > answer_probability(bad.make_signs())
