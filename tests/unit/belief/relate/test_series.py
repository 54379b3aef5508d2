"""Texts of one frame whose numbers name other things, against quantities that change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.belief.relate.distinctions import are_in_series
from core.belief.relate.relation_model import NUMBERED, RelationModel
from core.belief.trust_gate import may_act_on
from core.types.belief import ComparedText, Label


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Pot 3 of the Celadon series.", "Pot 4 of the Celadon series."),
        (
            "The kiln was fired for the 2nd time, and pot 0 cracked.",
            "The kiln was fired for the 3rd time, and pot 1 cracked.",
        ),
        ("Note number 7 is about bees.", "Note number 8 is about bees."),
    ],
)
def test_a_number_that_names_or_counts_is_another_matter(old: str, new: str) -> None:
    assert are_in_series(old, new)
    assert are_in_series(new, old)
    (found,) = RelationModel().classify([(ComparedText(old), ComparedText(new))])
    assert (found.label, found.reason, may_act_on(found)) == (Label.COEXIST, NUMBERED, True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Rent 900 a month.", "Rent 950 a month."),
        ("Takes 20 mg in the morning.", "Takes 40 mg in the morning."),
        ("The budget is 180.", "The budget is 200."),
        ("Pot 3 of the Celadon series.", "Pot 3 of the Ash series."),
        ("Pot 3 of the series.", "Pot 3 of the series."),
        ("", "Pot 3 of the series."),
    ],
)
def test_a_quantity_or_another_word_is_none(old: str, new: str) -> None:
    assert not are_in_series(old, new)


SUBJECTS = (
    "The word number {} of the list is spoken in the town {}.",
    "Room {} on the second floor is reserved for team {}.",
    "Server web-{} runs version 3.{}.",
    "INV-{} was paid on day {}.",
    "Sensor {} reads {} degrees.",
    "Player {} lives at {} Oak Street.",
    "The key to locker {} hangs on hook {}.",
    "Gate B{} opens at {}:15.",
)
QUANTITIES = (
    "I take {} mg of iron.",
    "We ordered {} chairs.",
    "The budget is {} euros.",
    "{} people signed up for the reunion.",
    "The train leaves at {}.",
    "payments-core is at 5.{}.",
    "My bike has {} gears.",
)
numbers = st.integers(1, 9_999)


@given(st.sampled_from(SUBJECTS), numbers, numbers, numbers, numbers)
def test_another_number_in_the_subject_is_another_matter(frame: str, a: int, b: int, x: int, y: int) -> None:
    assert are_in_series(frame.format(a, x), frame.format(b, y)) == (a != b)


@given(st.sampled_from(QUANTITIES), numbers, numbers)
def test_another_quantity_is_no_other_matter(frame: str, a: int, b: int) -> None:
    assert not are_in_series(frame.format(a), frame.format(b))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Room 12 on the left is our meeting room.", "Room 14 on the left is our meeting room now."),
        ("Server web-3 is the primary.", "Server web-4 replaced it as the primary."),
        ("I sit in room 12 with Anna.", "I sit in room 14 with Anna."),
    ],
)
def test_a_turn_to_another_thing_is_left_to_the_model(old: str, new: str) -> None:
    assert not are_in_series(old, new)
