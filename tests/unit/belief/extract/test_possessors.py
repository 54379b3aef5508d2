"""Whose relative a claim is about where a pronoun tells: by name, or no claim."""

from __future__ import annotations

import pytest

from core.belief.extract.claim_model import ClaimModel
from core.belief.extract.extraction import extract_claims

MODEL = ClaimModel()


def read(text: str) -> set[tuple[str, str, str]]:
    """What rules and model claim."""
    return {(one.subject, one.predicate, one.value) for one in extract_claims(text, model=MODEL)}


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Melanie and their family enjoy hiking.", ("Melanie's family", "likes", "hiking")),
        ("Melanie and her family enjoy hiking.", ("Melanie's family", "likes", "hiking")),
        ("Melanie loves hiking and her husband loves tea.", ("Melanie's husband", "likes", "tea")),
        ("Melanie and her dog love hiking.", ("Melanie's dog", "likes", "hiking")),
        ("Melanie's family enjoys hiking.", ("Melanie's family", "likes", "hiking")),
        ("My family enjoys hiking.", ("My family", "likes", "hiking")),
        ("User and their kids love pottery.", ("kids", "likes", "pottery")),
        ("The user and their family enjoy hiking.", ("family", "likes", "hiking")),
        ("I love tea and my family loves coffee.", ("my family", "likes", "coffee")),
        ("Melanie lives in Ghent. Her daughter Ida is allergic to nuts.", ("Melanie", "has_child", "Ida")),
        ("Melanie lives in Ghent. Her partner is Karl.", ("Melanie", "partner_is", "Karl")),
    ],
)
def test_a_relative_is_named_by_the_one_person_of_the_sentence(text: str, claim: tuple[str, str, str]) -> None:
    assert claim in read(text)


@pytest.mark.parametrize(
    "text",
    [
        "Their family likes camping.",
        "Their kids love pottery.",
        "Her husband is a baker.",
        "His wife speaks Danish.",
        "Her sister works at Volvo.",
        "Her partner is Karl.",
        "His wife is Ana.",
        "Their family lives in Oslo.",
        "Melanie and Caroline and their kids love pottery.",
        "Melanie's son and his wife like tea.",
    ],
)
def test_a_relative_of_nobody_or_of_several_gives_no_claim(text: str) -> None:
    assert read(text) == set()


def test_what_stands_behind_whose_is_not_told_of_the_relative() -> None:
    claims = read("Nadia, whose mother is a nurse, lives in Bath.")
    assert {subject for subject, _, _ in claims} <= {"Nadia"}


@pytest.mark.parametrize("text", ["Her daughter Ida is allergic to nuts.", "Karl and Karl are married."])
def test_nobody_is_a_relative_of_their_own(text: str) -> None:
    assert not any(subject == value for subject, _, value in read(text))
