"""A number is a telephone's where the sentence says so; the model alone takes a card's or a passport's for one."""

from __future__ import annotations

import pytest

from core.belief.extract.claim_model import ClaimModel
from core.belief.extract.extraction import extract_claims


@pytest.fixture(scope="module")
def model() -> ClaimModel:
    return ClaimModel()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My credit card is 5500 0000 0000 0004, valid until 03/29.", None),
        ("My membership number is 6120045.", None),
        ("My passport number is 771204518.", None),
        ("Ring me on 0161 555 0100.", "0161 555 0100"),
        ("My phone number is 555 7712.", "555 7712"),
        ("You can reach me at +44 7700 900451.", "+44 7700 900451"),
    ],
)
def test_only_what_is_said_to_be_a_telephone_is_one(model: ClaimModel, text: str, expected: str | None) -> None:
    phones = [one.value for one in extract_claims(text, model=model) if one.predicate == "phone_is"]
    assert phones == ([] if expected is None else [expected])
