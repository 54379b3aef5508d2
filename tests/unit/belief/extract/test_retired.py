"""Texts that bring back a value that is over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.belief.extract.extraction import extract_claims
from core.belief.relate.distinctions import has_outdated_value
from core.types.belief import ComparedText


def _told(text: str) -> ComparedText:
    return ComparedText(text, None, tuple(extract_claims(text)))


@pytest.mark.parametrize(
    ("over", "head", "incoming"),
    [
        ("I live in Graz.", "We moved: home is Linz now.", "Export of the user: residence Graz"),
        ("Kitchen was told 60 plates.", "Raised the plates to 85.", "order.pdf: soup, 60 plates"),
        ("Launch is 28 April.", "The launch slipped to 12 May.", "Plan v1: launch 28 April"),
        ("Rex gets beef pellets.", "Rex is on trout pellets for good.", "Shop record: beef pellets, 10 kg"),
        ("The door code is 4711.", "New door code 9023.", "Note in a file: door code 4711"),
        ("Anna leads the choir.", "The choir is led by Berta now.", "Flyer: ask Anna about the choir"),
        ("Sixty chairs are in the hall.", "The hall has eighty chairs now.", "Inventory: hall, 60 chairs"),
    ],
)
def test_an_old_value_of_the_same_matter(over: str, head: str, incoming: str) -> None:
    assert has_outdated_value(_told(over), _told(head), _told(incoming))


@pytest.mark.parametrize(
    ("over", "head", "incoming"),
    [
        ("Kitchen was told 60 plates.", "Raised the plates to 85.", "The pool is 60 metres long"),
        ("Kitchen was told 60 plates.", "Raised the plates to 85.", "order.pdf: soup, 85 plates"),
        ("Launch is 28 April.", "The launch slipped to 12 May.", "Concert on 28 April in the park"),
        ("Rex gets beef pellets.", "Rex is on trout pellets for good.", "Beef is cheap this week"),
        ("Anna leads the choir.", "The choir is led by Berta now.", "Anna turns forty on Sunday"),
        ("Anna leads the choir.", "The choir is led by Berta now.", "The choir sings on Sunday"),
        ("", "Home is Linz.", "Export: residence Graz"),
        ("I live in Graz.", "", ""),
    ],
)
def test_another_matter_or_what_stands(over: str, head: str, incoming: str) -> None:
    assert not has_outdated_value(_told(over), _told(head), _told(incoming))


@given(over=st.text(max_size=60), head=st.text(max_size=60), incoming=st.text(max_size=60))
def test_it_answers_any_texts_and_never_of_what_stands(over: str, head: str, incoming: str) -> None:
    told = [ComparedText(text, None, ()) for text in (over, head, incoming)]
    assert has_outdated_value(*told) in (True, False)
    assert not has_outdated_value(told[0], told[1], told[1])
    assert not has_outdated_value(told[0], told[0], told[2])
