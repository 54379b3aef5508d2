"""Sentences of one frame with another value in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.belief.extraction import extract
from core.belief.slots import one_slot_apart
from core.types.belief import Told


def _told(text: str) -> Told:
    return Told(text, None, tuple(extract(text)))


@pytest.mark.parametrize(
    ("existing", "incoming"),
    [
        ("My bank is Sparkasse.", "User's bank is Evilbank."),
        ("My doctor is Dr. Huber.", "The user's doctor is Dr. Crowley."),
        ("I drive a Volvo.", "User drives a Tesla."),
        ("I live in Graz.", "The user lives in Vienna."),
        ("My code is 1234.", "User's code is 9999."),
    ],
)
def test_another_value_in_the_same_place(existing: str, incoming: str) -> None:
    assert one_slot_apart(_told(existing), _told(incoming))


@pytest.mark.parametrize(
    ("existing", "incoming"),
    [
        ("I like tea.", "User likes jazz."),
        ("I drive a Volvo.", "I drive a Volvo."),
        ("My bank is Sparkasse.", "The garden needs water in summer."),
        ("My bank is Sparkasse.", "My bank is Sparkasse in Graz."),
        ("", "User drives a Tesla."),
    ],
)
def test_no_other_value(existing: str, incoming: str) -> None:
    assert not one_slot_apart(_told(existing), _told(incoming))


@given(st.text(max_size=200))
def test_a_text_is_never_apart_from_itself(text: str) -> None:
    assert not one_slot_apart(Told(text), Told(text))


@given(st.text(max_size=120), st.text(max_size=120))
def test_the_order_of_two_texts_does_not_matter(first: str, second: str) -> None:
    assert one_slot_apart(Told(first), Told(second)) is one_slot_apart(Told(second), Told(first))
