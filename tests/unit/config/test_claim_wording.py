"""The words between a claim's subject and its value."""

from __future__ import annotations

import pytest

from core.config.claim_wording import is_owner_named, word_predicate


@pytest.mark.parametrize(
    ("predicate", "value", "sentence"),
    [
        ("plans_to", "start their own business", "Jon plans to start their own business"),
        ("plans_to", "starting their own business", "Jon is planning on starting their own business"),
        ("plans_to", "moving to Oslo", "Jon is planning on moving to Oslo"),
        ("plans_to", "bring the boat home", "Jon plans to bring the boat home"),
        ("plans_to", "sing in the choir", "Jon plans to sing in the choir"),
        ("decided", "run for office", "Jon decided: run for office"),
        ("decided", "blue tiles", "Jon decided: blue tiles"),
        ("goal_is", "run a marathon", "Jon has as goal: run a marathon"),
        ("has_skill", "splice rope", "Jon has as skill: splice rope"),
        ("likes", "sailing", "Jon likes sailing"),
        ("lives_in", "Reading", "Jon lives in Reading"),
    ],
)
def test_a_claim_is_a_sentence_whatever_its_value_begins_with(predicate: str, value: str, sentence: str) -> None:
    assert f"Jon {word_predicate(predicate, value, is_owner=False, is_denied=False)} {value}" == sentence


@pytest.mark.parametrize(
    ("is_owner", "is_denied", "words"),
    [
        (True, False, "are planning on"),
        (True, True, "are not planning on"),
        (False, True, "is not planning on"),
    ],
)
def test_the_owner_is_spoken_to(is_owner: bool, is_denied: bool, words: str) -> None:
    assert word_predicate("plans_to", "sailing", is_owner=is_owner, is_denied=is_denied) == words


def test_a_predicate_without_words_has_none() -> None:
    assert word_predicate("favourite_river", "Tagus", is_owner=True, is_denied=False) is None


@pytest.mark.parametrize(("subject", "is_owner"), [("User", True), ("the  user", True), ("Jon", False)])
def test_who_is_the_owner(subject: str, is_owner: bool) -> None:
    assert is_owner_named(subject) is is_owner
