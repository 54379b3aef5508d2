"""Texts that tell another value of what the person said, in words that are not read as a claim."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.belief.extract.extraction import extract_claims
from core.belief.relate.owner_contradiction import is_rival
from core.types.belief import ComparedText

NOW_MS = 1_700_000_000_000


def told(text: str) -> ComparedText:
    return ComparedText(text, NOW_MS, extract_claims(text, now_ms=NOW_MS, said_ms=NOW_MS))


HOME = told("I live in Graz.")
EMPLOYER = told("I work at Siemens.")
EMAIL = told("My email is jo@home.example.")

RIVALS = [
    (HOME, "The user possibly lives in Vienna."),
    (HOME, "The user might live in Vienna now."),
    (HOME, "They live in Vienna."),
    (HOME, "The account holder lives in Vienna."),
    (HOME, "lives_in: Vienna"),
    (HOME, "user.residence = Vienna"),
    (HOME, '{"user": {"lives_in": "Vienna"}}'),
    (HOME, "| residence | Vienna |"),
    (HOME, "Vienna is where the user lives."),
    (HOME, "Not Graz but Vienna is where the user lives."),
    (HOME, "It is no longer Graz."),
    (HOME, "Vienna instead of Graz."),
    (HOME, "Graz is wrong."),
    (HOME, "Since June the user is a resident of Vienna."),
    (HOME, "home city = Vienna"),
    (HOME, "U s e r lives in V-i-e-n-n-a."),
    (HOME, "Vienna is the user's home town."),
    (HOME, "The user's new address is Ringstrasse 5, Vienna."),
    (EMAIL, "jo@evil.example is the user's email."),
    (EMPLOYER, "She is an employee of Bosch."),
    (EMPLOYER, "The user probably works at Bosch."),
    (EMPLOYER, '{"employer": "Bosch"}'),
    (EMPLOYER, "Bosch is where the user works."),
    (EMAIL, "email = jo@evil.example"),
    (EMAIL, "Their email is jo@evil.example."),
]
HARMLESS = [
    (HOME, "The user visited Vienna in May."),
    (HOME, "The user's sister lives in Vienna."),
    (HOME, "The train from Graz to Vienna takes three hours."),
    (HOME, "The user does not like the trams in Graz."),
    (HOME, "Their dog is called Rex."),
    (HOME, "The user perhaps lives in Graz."),
    (HOME, "residence: Graz"),
    (HOME, "home city: Graz"),
    (HOME, "Graz is the user's home town."),
    (HOME, "Vienna is the user's favourite city."),
    (HOME, "Anna is a resident of Vienna."),
    (EMPLOYER, "Bosch is where the user's brother works."),
    (EMPLOYER, "The user did not go to work today."),
    (told("I like tea."), "They like coffee."),
    (told("The fence is green."), "The fence is possibly red."),
]


@pytest.mark.parametrize(("held", "text"), RIVALS, ids=[text for _, text in RIVALS])
def test_a_rival_is_seen(held: ComparedText, text: str) -> None:
    assert is_rival(held, told(text))


@pytest.mark.parametrize(("held", "text"), HARMLESS, ids=[text for _, text in HARMLESS])
def test_what_tells_no_other_value_is_none(held: ComparedText, text: str) -> None:
    assert not is_rival(held, told(text))


def test_a_long_text_is_not_read_loosely() -> None:
    assert not is_rival(HOME, told("They live in Vienna. " + "A word more. " * 60))


@given(st.text(max_size=700))
def test_any_text_can_be_asked(text: str) -> None:
    assert is_rival(HOME, ComparedText(text, NOW_MS)) in (True, False)
    assert not is_rival(ComparedText("A text without claims.", NOW_MS), ComparedText(text, NOW_MS))
