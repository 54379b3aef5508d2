"""Amounts of one unit on which two texts do not agree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.belief.relate.distinctions import has_other_amounts, is_amount_restated

NUMBERS = {"one": "1", "three": "3", "seven": "7"}


@pytest.mark.parametrize(
    ("existing", "incoming"),
    [
        ("The machine takes 9 kg of laundry.", "The machine presumably takes 7 kg."),
        ("Notice: three months, in writing.", "Flats here usually need one month."),
        ("Hardness is 21 dH.", "Probably around 8 dH."),
        ("It costs 4,50 euros.", "It costs 5 euros."),
        ("2 eggs and 9 kg of flour", "2 eggs and 7 kg of flour"),
    ],
)
def test_other_amounts_of_one_unit(existing: str, incoming: str) -> None:
    assert has_other_amounts(existing, incoming, NUMBERS)
    assert has_other_amounts(incoming, existing, NUMBERS)


@pytest.mark.parametrize(
    ("existing", "incoming"),
    [
        ("The machine takes 9 kg.", "Seven programmes, and it takes 9 kg."),
        ("The machine takes 9 kg.", "The machine is 60 cm wide."),
        ("Seven kilos", "7 kilos"),
        ("Version 9", "Version 7"),
        ("Nine of them", "7 of them"),
        ("", "7 kg"),
    ],
)
def test_the_same_other_units_and_names(existing: str, incoming: str) -> None:
    assert not has_other_amounts(existing, incoming, NUMBERS)


@given(st.text(max_size=80))
def test_no_text_is_at_odds_with_itself(text: str) -> None:
    assert not has_other_amounts(text, text, NUMBERS)


@pytest.mark.parametrize(
    ("existing", "incoming"),
    [("1,000 kg", "1000 kg"), ("07 May", "7 May"), ("9.0 litres", "9 litres"), ("1.250.000 euros", "1250000 euros")],
)
def test_one_amount_in_two_forms(existing: str, incoming: str) -> None:
    assert not has_other_amounts(existing, incoming, NUMBERS)


@pytest.mark.parametrize(
    "existing", ["I take 50 mg of sertraline.", "I take 50 mg.", "User takes 50 mg of sertraline a day."]
)
def test_an_amount_that_changed_names_nothing_else(existing: str) -> None:
    assert is_amount_restated(
        existing, "I now take 25 mg.".replace("take", "takes" if "takes" in existing else "take"), NUMBERS
    )


@pytest.mark.parametrize(
    ("existing", "incoming"),
    [
        ("I ran 5 km.", "I ran 8 km."),
        ("I take 50 mg of sertraline.", "I take 20 mg of lisinopril now."),
        ("I take 50 mg of sertraline.", "I take 50 mg now."),
        ("I take 50 mg of sertraline.", "Now 25 of them."),
    ],
)
def test_no_other_amount_of_the_same(existing: str, incoming: str) -> None:
    assert not is_amount_restated(existing, incoming, NUMBERS)
