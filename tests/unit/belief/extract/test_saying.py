"""Whether a text says more than what was read from it."""

from __future__ import annotations

import pytest

from core.belief.extract.extraction import extract_claims
from core.belief.relate.coverage import has_no_residue


@pytest.mark.parametrize(
    "text",
    [
        "My birthday is 4 May.",
        "User lives in Graz",
        "I live in Vienna now.",
        "I live in Graz. I work at Siemens.",
        "I live in Graz and I work at Siemens",
        "My name is Ada and I am allergic to peanuts",
        "Ada lives in Linz",
        "In 2019 I moved to Graz",
    ],
)
def test_a_text_that_is_its_claims(text: str) -> None:
    assert has_no_residue(text, extract_claims(text))


@pytest.mark.parametrize(
    "text",
    [
        "My birthday is 4 May and I want a bicycle",
        "I want a bicycle and my birthday is 4 May",
        "I work at Siemens and my badge number is 4471.",
        "I have a dog that must not eat chocolate.",
        "My brother and I live in Graz",
        "I live in Graz until 2020",
        "Where is the key?",
        "I take 25 mg of sertraline now.",
        "I take 25mg of sertraline.",
    ],
)
def test_a_text_with_something_left_over(text: str) -> None:
    assert not has_no_residue(text, extract_claims(text))


def test_a_value_that_the_text_does_not_name_tells_nothing_of_it() -> None:
    claims = extract_claims("I live in Graz")
    assert not has_no_residue("Ｉ live in Ｇｒａｚ", claims)
