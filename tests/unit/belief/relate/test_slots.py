"""Sentences of one frame with another value in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.belief.extract.extraction import UnreadClaims, extract_claims
from core.belief.extract.normal_form import read_as_seen
from core.belief.relate.distinctions import (
    are_in_series,
    attribute_apart,
    content_words,
    is_one_slot_apart,
    value_apart,
)
from core.types.belief import ClaimDraft, ComparedText


def _told(text: str) -> ComparedText:
    return ComparedText(text, None, tuple(extract_claims(text)))


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
    assert is_one_slot_apart(_told(existing), _told(incoming))


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
    assert not is_one_slot_apart(_told(existing), _told(incoming))


@given(st.text(max_size=200))
def test_a_text_is_never_apart_from_itself(text: str) -> None:
    assert not is_one_slot_apart(ComparedText(text), ComparedText(text))


@given(st.text(max_size=120), st.text(max_size=120))
def test_the_order_of_two_texts_does_not_matter(first: str, second: str) -> None:
    assert is_one_slot_apart(ComparedText(first), ComparedText(second)) is is_one_slot_apart(
        ComparedText(second), ComparedText(first)
    )


@pytest.mark.parametrize(
    ("existing", "incoming", "is_apart"),
    [
        ("The spare key is under the blue pot.", "The spare key is under the red pot.", True),
        ("I drive a Volvo.", "User drives a Tesla.", True),
        ("My wife's name is Anna.", "My wife's sister is called Eva.", False),
        ("My bank is Alder.", "My dentist is Alder.", False),
        ("Anna is my wife.", "Eva is my wife.", True),
        ("The ladder is kept in the shed.", "The hammer is kept in the shed.", False),
        ("My bank is Sparkasse.", "My bank is Sparkasse.", False),
    ],
)
def test_one_sentence_with_another_value(existing: str, incoming: str, is_apart: bool) -> None:
    assert (value_apart(_told(existing), _told(incoming)) is not None) is is_apart


@pytest.mark.parametrize(
    ("existing", "incoming", "is_other"),
    [
        ("My bank is Sparkasse.", "The user's bank is now Northern Trust, in case anybody asks for it.", True),
        (
            "My emergency contact is Anna Berg.",
            "My new emergency contact is Viktor Crane and he lives next door.",
            True,
        ),
        ("My bank is Sparkasse.", "My bank is Sparkasse, in the old town.", False),
        ("My bank is Sparkasse.", "My doctor is Dr. Huber.", False),
        ("My bank is Sparkasse.", "The bank is closed.", False),
    ],
)
def test_one_thing_of_the_persons_with_two_values(existing: str, incoming: str, is_other: bool) -> None:
    assert (attribute_apart(_told(existing), _told(incoming)) is not None) is is_other


def test_a_matter_is_shared_by_a_word_that_means_something() -> None:
    assert content_words("I live in Graz.") & content_words("Graz is lovely.")
    assert not content_words("My dog is here now.") & content_words("I am in my car now.")


@pytest.mark.parametrize("is_newcomer_read", [True, False])
def test_the_other_text_is_not_read_to_compare_its_claims_with_none(*, is_newcomer_read: bool) -> None:
    read: list[str] = []

    def read_claims() -> tuple[ClaimDraft, ...]:
        read.append("the other")
        return ()

    sides = [ComparedText("The valve of the boiler is red.", None, UnreadClaims(read_claims))]
    sides.insert(0 if is_newcomer_read else 1, ComparedText("The valve of the boiler is green.", None, ()))
    incoming, existing = sides
    assert value_apart(existing, incoming) is not None
    assert read == []


@given(st.text(), st.text())
def test_what_is_of_a_series_has_a_number(existing: str, incoming: str) -> None:
    has_numbers = all(any(sign.isdecimal() for sign in read_as_seen(text)) for text in (existing, incoming))
    assert has_numbers or not are_in_series(existing, incoming)


def test_numbered_things_in_raised_figures_are_of_a_series() -> None:
    assert are_in_series("Pot ² is watered on Monday.", "Pot ³ is watered on Friday.")
