"""What a session has at hand: nine slots, how they fade, and how they come back after a while."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import Options
from core.sessions.table import KEPT_ABOVE, SLOTS, decay_of, from_snapshot, mark_used, resume_slots, to_snapshot
from core.types.sessions import Resumed

OPTIONS = Options()
HOUR = 3_600_000
SLOTSETS = st.dictionaries(st.text(min_size=1, max_size=40), st.floats(0, 1), max_size=20)


def test_a_tenth_slot_takes_the_place_of_the_weakest() -> None:
    nine = {f"m{n}": 0.5 + n / 100 for n in range(SLOTS)}
    after = mark_used(nine, {"new": 0.9})
    assert len(after) == SLOTS
    assert "new" in after
    assert "m0" not in after


def test_what_is_not_used_fades_and_leaves() -> None:
    slots = mark_used({}, {"a": 1.0})
    for _ in range(10):
        slots = mark_used(slots, {"b": 1.0})
    assert slots["b"] == 1.0
    assert 0.1 < slots["a"] < 0.11
    assert "a" not in mark_used(slots, {"b": 1.0})


@pytest.mark.parametrize(
    ("age", "how"),
    [
        (-5 * HOUR, Resumed.WHOLE),
        (0, Resumed.WHOLE),
        (4 * HOUR - 60_000, Resumed.WHOLE),
        (4 * HOUR, Resumed.FADED),
        (12 * HOUR, Resumed.FADED),
        (24 * HOUR - 1, Resumed.FADED),
        (24 * HOUR, Resumed.GONE),
    ],
)
def test_the_three_ages(age: int, how: Resumed) -> None:
    taken = resume_slots({"a": 0.9, "b": 0.3}, age, OPTIONS)
    assert taken.resumed is how
    if how is Resumed.WHOLE:
        assert taken.slots == {"a": 0.9, "b": 0.3}
    if how is Resumed.GONE:
        assert taken.slots == {}


def test_the_figures_between() -> None:
    assert decay_of(4 * HOUR) == pytest.approx(240 / 1440)
    assert decay_of(12 * HOUR) == 0.5
    assert decay_of(23 * HOUR) == 0.8
    assert resume_slots({"a": 0.9, "b": 0.2}, 12 * HOUR, OPTIONS).slots == {"a": 0.45}  # 0.1 is not above 0.1
    assert resume_slots({"a": 0.9, "b": 0.5}, 23 * HOUR, OPTIONS).slots == {"a": pytest.approx(0.18)}


def test_other_ages_may_be_chosen() -> None:
    chosen = Options(session_whole_h=1.0, session_gone_h=2.0)
    assert resume_slots({"a": 1.0}, HOUR, chosen).resumed is Resumed.FADED
    assert resume_slots({"a": 1.0}, 2 * HOUR, chosen).resumed is Resumed.GONE


@given(SLOTSETS, SLOTSETS)
def test_never_more_than_nine_never_out_of_bounds(before: dict[str, float], now: dict[str, float]) -> None:
    after = mark_used(before, now)
    assert len(after) <= SLOTS
    assert all(KEPT_ABOVE < value <= 1 for value in after.values())
    assert list(after.values()) == sorted(after.values(), reverse=True)
    assert from_snapshot(to_snapshot(after)) == after


@given(SLOTSETS, st.integers(0, 48 * HOUR), st.integers(0, 24 * HOUR))
def test_waiting_longer_never_brings_more(slots: dict[str, float], age: int, more: int) -> None:
    sooner, later = (resume_slots(slots, one, OPTIONS).slots for one in (age, age + more))
    assert set(later) <= set(sooner)
    assert all(later[name] <= sooner[name] + 1e-9 for name in later)


@pytest.mark.parametrize(
    "text", ["{}", "[]", '{"slots": [["a"], ["b", 7], ["c", "x"], [1, 0.5], null]}', '{"slots": []}']
)
def test_what_is_no_slot_is_passed_over(text: str) -> None:
    assert from_snapshot(text) == {}
