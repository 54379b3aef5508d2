"""A first name and a full name are two people where what is said gives them plainly different roles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.entities.roles import are_plainly_two, is_introduced_as_relation, is_known_for_work


@pytest.mark.parametrize(
    "texts",
    [
        ["My sister Odile is a nurse.", "I have all songs by Odile Marchetti."],
        ["Ask Bo's colleague Odile.", "My favourite singer is Odile Marchetti."],
        ["Odile is my neighbour.", "Odile Marchetti's latest novel made me cry."],
        ["Our cousin Odile came.", "Odile Marchetti is a Swiss painter."],
        ["My friend Odile called.", "We listened to Odile Marchetti all night."],
    ],
)
def test_a_relation_and_a_maker_of_works_are_two(texts: list[str]) -> None:
    assert are_plainly_two("Odile", "odile marchetti", texts)


@pytest.mark.parametrize(
    "texts",
    [
        [],
        ["Odile called.", "I have all songs by Odile Marchetti."],  # an admirer calls her so, too
        ["My sister Odile is a nurse.", "Odile Marchetti moved in upstairs."],  # nothing says who that is
        ["My sister Odile sings.", "I have all songs by Odile Marchetti.", "My sister Odile Marchetti won a prize."],
        ["My sister Odile Marchetti sings.", "I have all songs by Odile Marchetti."],
    ],
)
def test_without_two_roles_nothing_speaks_against_one(texts: list[str]) -> None:
    assert not are_plainly_two("Odile", "odile marchetti", texts)


def test_a_longer_name_is_another() -> None:
    assert is_introduced_as_relation("Odile", "My sister Odile, the nurse")
    assert not is_introduced_as_relation("Odile", "My sister Odile Marchetti")
    assert not is_introduced_as_relation("Odile", "My sister Odilette")
    assert not is_known_for_work("Odile", "songs by Odile Marchetti")


@given(st.text("OdileMarcht .,'by", max_size=60), st.text("Odile x", min_size=1, max_size=8))
def test_any_text_is_read(text: str, name: str) -> None:
    assert is_known_for_work(name, text) in (True, False)
    assert are_plainly_two(name, f"{name} Marchetti", [text]) in (True, False)
