"""Rules: the formulas stay inside their bounds, harm never raises what help did; steps and cues of any text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.score.trust import (
    Maturity,
    demote_maturity,
    harmful_effectiveness,
    helpful_effectiveness,
    needs_inversion,
    promote_maturity,
    running_average,
)
from core.text.metadata import MOST_CUES, MOST_STEPS, extract_cues, extract_steps

ORDER = list(Maturity)
counts = st.integers(0, 10_000)
share = st.floats(0, 1)


@given(counts, counts)
def test_effectiveness_is_a_share(helpful: int, harmful: int) -> None:
    assert 0.0 <= helpful_effectiveness(helpful, harmful) <= 1.0
    assert 0.0 <= harmful_effectiveness(helpful, harmful) <= 1.0


@given(counts, st.integers(1, 10_000))
def test_harm_weighs_more_than_help(helpful: int, harmful: int) -> None:
    assert harmful_effectiveness(helpful, harmful) <= helpful_effectiveness(helpful, harmful)
    assert harmful_effectiveness(helpful, harmful + 1) <= harmful_effectiveness(helpful, harmful)
    assert harmful_effectiveness(helpful + 1, harmful) >= harmful_effectiveness(helpful, harmful)


@given(st.sampled_from(ORDER), counts, share, st.floats(0, 10_000))
def test_help_never_demotes_and_harm_never_promotes(held: Maturity, helpful: int, worth: float, age: float) -> None:
    up, down = promote_maturity(held, helpful, worth, age), demote_maturity(held, worth)
    assert 0 <= ORDER.index(up) - ORDER.index(held) <= 1
    assert 0 <= ORDER.index(held) - ORDER.index(down) <= 1


@given(counts, share)
def test_more_harm_never_takes_an_inversion_back(harmful: int, worth: float) -> None:
    assert needs_inversion(harmful, worth) <= needs_inversion(harmful + 1, worth)


@given(st.integers(0, 10**9), counts, st.integers(0, 10**9))
def test_an_average_lies_between(average: int, count: int, value: int) -> None:
    assert min(average, value) - 1 <= running_average(average, count, value) <= max(average, value) + 1


line = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp", "Zs"]), min_size=1, max_size=20)


@given(st.lists(line, min_size=2, max_size=30))
def test_a_numbered_list_gives_its_lines(lines: list[str]) -> None:
    text = "How to do it:\n" + "\n".join(f"{nr % 99 + 1}. {one}" for nr, one in enumerate(lines))
    assert extract_steps(text) == tuple(lines)


@given(st.text(max_size=400))
def test_any_text_has_bounded_steps_and_cues(text: str) -> None:
    steps, cues = extract_steps(text), extract_cues(text)
    assert len(steps) != 1
    assert len(steps) <= MOST_STEPS
    assert all(step and "\n" not in step for step in steps)
    assert len(cues) <= MOST_CUES
    assert len(set(cues)) == len(cues)
    assert tuple(" ".join(cues).split()) == cues
