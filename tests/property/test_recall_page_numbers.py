"""Properties of what the Recall page draws: pieces of a bar, steps of a slider."""

from __future__ import annotations

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ui.pages.recall.knobs import KnobScale
from ui.pages.recall.signals import TOKENS, bar_pieces

AMOUNTS = st.floats(-1.5, 1.5, allow_nan=False)


@given(st.dictionaries(st.sampled_from([*TOKENS, "a new one"]), AMOUNTS))
def test_pieces_lie_beside_each_other_within_the_bar(parts: dict[str, float]) -> None:
    pieces = bar_pieces(parts)
    assert all(0.0 <= one.start < one.end <= 1.0 for one in pieces)
    assert all(before.end <= after.start + 1e-9 for before, after in pairwise(pieces))


@given(st.dictionaries(st.sampled_from([*TOKENS]), AMOUNTS))
def test_what_made_the_score_ends_at_the_score(parts: dict[str, float]) -> None:
    made = [one for one in bar_pieces(parts) if not one.is_lost]
    score = max(0.0, min(1.0, sum(parts.values())))
    assert max((one.end for one in made), default=0.0) <= score + 1e-9
    if score > 0.01:
        assert made
        assert score - made[-1].end < 0.001


@given(
    st.floats(0, 1_000, allow_nan=False),
    st.floats(0.01, 1e7, allow_nan=False),
    st.booleans(),
    st.integers(0, 1_000_000),
)
def test_a_step_is_a_value_within_the_bounds_and_comes_back(least: float, span: float, turned: bool, at: int) -> None:
    scale = KnobScale(least, least + span, turned=turned)
    step = at % (scale.steps + 1)
    value = scale.value_of(step)
    assert math.isfinite(value)
    assert least - 0.06 <= value <= least + span + 0.06  # rounding to four places, or one where it is wide
    if span >= 1 and not scale.is_wide:
        assert scale.step_of(value) == step
