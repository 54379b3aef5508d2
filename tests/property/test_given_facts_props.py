"""A fact given in parts becomes one text with its claim: sentences stay as they are, bare values get their subject."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.belief.extract.extraction import extract_claims
from core.errors import Code, UserError
from core.intake.claims import no_claims
from core.intake.store.requests import check_request, is_bare_value, store_request_from_fact
from core.types.requests import FactRequest, StoreRequest

NOW_MS = 1_700_000_000_000
WORDS = st.text("abcdefghijklmnop äß", min_size=1, max_size=40).filter(lambda text: bool(text.strip()))
SUBJECTS = st.sampled_from(["Anna", "user", "the Zoo of Wien", "Ω"])
PREDICATES = st.sampled_from(["lives_in", "likes", "favourite_colour"])


@given(SUBJECTS, PREDICATES, WORDS)
def test_every_fact_can_be_stored_and_names_its_subject(subject: str, predicate: str, text: str) -> None:
    request = store_request_from_fact(FactRequest(subject, predicate, StoreRequest(text)), no_claims, NOW_MS)
    checked = check_request(request, None)
    assert checked.claim is not None
    assert (checked.claim["subject"], checked.claim["predicate"]) == (subject, predicate)
    assert text.strip() in request.text
    if is_bare_value(text, subject):
        assert subject in request.text
        assert checked.claim["value"] == text.strip()
    else:
        assert request.text == text


@given(SUBJECTS, PREDICATES, WORDS, WORDS)
def test_a_text_whose_value_is_given_stays_as_it_is(subject: str, predicate: str, text: str, value: str) -> None:
    request = store_request_from_fact(
        FactRequest(subject, predicate, StoreRequest(text), value=value), no_claims, NOW_MS
    )
    assert request.text == text
    assert request.claim is not None
    assert request.claim["value"] == value


@given(WORDS, SUBJECTS)
def test_a_sentence_that_names_its_subject_is_no_bare_value(text: str, subject: str) -> None:
    assert not is_bare_value(f"{subject} {text}", subject)
    assert not is_bare_value(f"{text}.", subject)


def test_the_value_of_a_sentence_is_what_is_read_from_it() -> None:
    fact = FactRequest("Anna", "lives_in", StoreRequest("Anna lives in Graz."))
    request = store_request_from_fact(fact, extract_claims, NOW_MS)
    assert (request.text, request.claim) == (
        "Anna lives in Graz.",
        {"subject": "Anna", "predicate": "lives_in", "value": "Graz"},
    )


def test_a_long_text_needs_its_value() -> None:
    fact = FactRequest("Anna", "lives_in", StoreRequest("Anna, of whom much is told. " * 100))
    with pytest.raises(UserError) as caught:
        store_request_from_fact(fact, no_claims, NOW_MS)
    assert caught.value.code is Code.INVALID_INPUT
    assert "`value`" in caught.value.sentence
