"""Which claims stand where rules and the claim model read one sentence."""

from __future__ import annotations

import numpy as np

from core.belief.extract.claim_model import ClaimReading, ReadValue, find_claim_value, reconcile_claims
from core.belief.extract.frames import predicate_names
from core.types.belief import ClaimDraft

SENTENCE = "I prefer writing in the morning, with tea."
LIMITS = {"added": 0.8, "replaces": 0.9, "backed": 0.05}
SHORT = ClaimDraft("user", "prefers", "writing", exclusive=False)


def reading(*values: ReadValue, backing: float = 1.0) -> ClaimReading:
    """What the model might say; every predicate is backed alike in every word."""
    words = [(at, at + 1) for at in range(len(SENTENCE))]
    return ClaimReading(values, np.full((len(words), len(predicate_names())), backing), tuple(words))


def found(value: str, confidence: float, predicate: str = "prefers") -> ReadValue:
    """A value of the speaker's that the model finds."""
    start = SENTENCE.index(value)
    return ReadValue(predicate, (start, start + len(value)), None, is_denied=False, confidence=confidence)


def test_what_both_read_stands_and_is_not_added_again() -> None:
    reconciled = reconcile_claims([SHORT], reading(found("writing", 0.99)), SENTENCE, LIMITS)
    assert (reconciled.dropped, reconciled.added) == ((), ())


def test_a_value_that_only_the_model_finds_needs_its_confidence() -> None:
    tea = found("tea", 0.85, "likes")
    assert reconcile_claims([SHORT], reading(tea), SENTENCE, LIMITS).added == (tea,)
    assert reconcile_claims([SHORT], reading(found("tea", 0.75, "likes")), SENTENCE, LIMITS).added == ()


def test_a_surer_reading_of_the_same_words_takes_the_place_of_the_rules() -> None:
    longer = found("writing in the morning", 0.95)
    reconciled = reconcile_claims([SHORT], reading(longer), SENTENCE, LIMITS)
    assert (reconciled.dropped, reconciled.added) == ((SHORT,), (longer,))


def test_a_less_sure_one_leaves_what_rules_read() -> None:
    reconciled = reconcile_claims([SHORT], reading(found("writing in the morning", 0.85)), SENTENCE, LIMITS)
    assert (reconciled.dropped, reconciled.added) == ((), ())


def test_what_the_model_does_not_bear_out_goes() -> None:
    assert reconcile_claims([SHORT], reading(backing=0.01), SENTENCE, LIMITS).dropped == (SHORT,)
    assert reconcile_claims([SHORT], reading(backing=0.5), SENTENCE, LIMITS).dropped == ()


def test_a_value_that_was_written_otherwise_is_left_to_the_rules() -> None:
    other = ClaimDraft("user", "budget_is", "14000 eur", exclusive=True)
    assert reconcile_claims([other], reading(backing=0.0), SENTENCE, LIMITS).dropped == ()


def test_a_value_is_found_without_regard_to_case() -> None:
    assert find_claim_value("Oak I love", "oak") == (0, 3)
    assert find_claim_value("Oak I love", "ash") is None
    assert find_claim_value("ﬁne oak", "oak") is None  # folding changes the places
