"""A question for one property of the speaker's is answered by what has a claim of it, in whatever words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from candidate_rig import make_candidates
from engine_rig import Rig, rig_at

from core.belief.extract.extraction import extract_claims
from core.intake.claims import TextReaders
from core.recall.answer_fit import put_claims_first
from core.recall.candidates import Candidates
from core.types.values import Source

OLD = "I'm 61 and carry on till I drop."
BOAT = "The age of the boat's engine is a riddle to me."


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, readers=TextReaders(extract=extract_claims)) as made:
        yield made


def tell(rig: Rig, *texts: str) -> list[str]:
    return [rig.store(text, source=Source.USER_EXPLICIT).memory_id for text in texts]


@pytest.mark.parametrize(
    "question", ["how old am I?", "my age", "What is my age?", "remind me how old I am", "My age?"]
)
def test_a_claim_of_what_is_asked_for_comes_first(rig: Rig, question: str) -> None:
    tell(rig, OLD, BOAT, "My sister Ana is 50.")
    item = rig.recall(question).items[0]
    assert item.memory.text == OLD
    assert item.why[0] == "It states what the question asks for."


def test_what_has_no_claim_of_it_answers_nothing(rig: Rig) -> None:
    tell(rig, OLD, BOAT)
    assert OLD not in rig.found("when is my birthday?")[:1]
    assert rig.recall("what is my phone number?").abstained


def test_a_question_that_says_more_is_read_as_any_other(rig: Rig) -> None:
    tell(rig, "I live in Graz.", "We live on the boat in summer, in Rab.")
    assert "Rab" in rig.found("where do I live in summer?")[0]
    assert "Graz" in rig.found("where do I live?")[0]


def test_a_claim_about_somebody_else_is_not_the_speakers(rig: Rig) -> None:
    tell(rig, "My mum lives in Aalst.", "I live in Graz.", "Old Tom is 93 years old.", "I am 61 years old.")
    assert rig.found("where do I live?")[0] == "I live in Graz."
    assert rig.found("where does my mum live?")[0] == "My mum lives in Aalst."
    assert rig.found("how old am I?")[0] == "I am 61 years old."


def test_what_is_denied_or_forgotten_is_no_answer(rig: Rig) -> None:
    denied, gone = tell(rig, "I'm not allergic to cats.", "I'm allergic to latex.")
    assert rig.found("what am I allergic to?")[0] == "I'm allergic to latex."
    rig.forget(gone)
    assert "I'm allergic to latex." not in rig.found("what am I allergic to?")
    assert rig.get(denied).status.value == "active"


def test_several_claims_come_together(rig: Rig) -> None:
    tell(rig, "I speak Turkish.", "The speaker in the hall hums.", "I speak German with my boss.")
    assert set(rig.found("which languages do I speak?")[:2]) == {"I speak Turkish.", "I speak German with my boss."}


def test_a_client_does_not_come_before_a_surer_word_of_the_persons(rig: Rig) -> None:
    tell(rig, "Des is what everybody here calls me, though my real name is another.")
    client = rig.client("aster", "read", "write", "space:home")
    reply = rig.store("The user's name is Bob.", client, space="home")
    held = rig.rows(
        "SELECT 1 FROM evidence e JOIN claims c ON c.id = e.claim_id WHERE e.memory_id = ? AND c.predicate = 'name_is'",
        reply.memory_id,
    )
    assert held
    assert "Des" in rig.found("what is my real name?")[0]


def test_a_client_is_answered_by_what_it_may_see_alone(rig: Rig) -> None:
    rig.store("I am 61 years old.", source=Source.USER_EXPLICIT, space="home")
    outside = rig.client("outside", "read")
    assert rig.found("how old am I?", outside) == []
    assert rig.found("how old is the user?", rig.client("inside", "read", "space:home")) == ["I am 61 years old."]


def test_what_others_told_takes_no_place_of_ones_own(rig: Rig) -> None:
    rig.store("I am 61 years old.", source=Source.USER_EXPLICIT, space="home")
    for age in range(30, 46):
        rig.store(f"I am {age} years old, says the play.", source=Source.USER_EXPLICIT, space="elsewhere")
    assert rig.found("how old am I?", rig.client("inside", "read", "space:home")) == ["I am 61 years old."]


def candidates(evidence: list[float], confidence: list[float], claims: list[bool]) -> Candidates:
    """Facts that may all be returned."""
    return make_candidates(evidence, confidence=confidence, claims=claims)


def test_a_claim_is_raised_above_what_is_no_surer() -> None:
    found = put_claims_first(candidates([0.5, 0.1, 0.4], [0.9, 0.9, 0.9], [False, True, False]), 1.0)
    assert found.claims.tolist() == [False, True, False]
    assert found.evidence.argmax() == 1
    assert found.fit.tolist() == [0.7, 1.0, 0.7]


def test_a_claim_that_is_less_sure_than_the_first_is_left_where_it_is() -> None:
    before = candidates([0.5, 0.1, 0.4], [0.9, 0.6, 0.9], [False, True, False])
    found = put_claims_first(before, 1.0)
    assert not found.claims.any()  # else it would be said alone where nothing else is likely to answer
    assert found.evidence.tolist() == before.evidence.tolist()
    assert found.fit.tolist() == before.fit.tolist()


def test_a_question_of_another_time_asks_for_no_present_claim(rig: Rig) -> None:
    tell(rig, "I am 61 years old.")
    assert rig.recall("my age", as_of_ms=1).abstained


def test_what_would_not_be_said_without_the_claim_stays_unsaid(rig: Rig) -> None:
    tell(rig, "I am 61 years old.", "The ferry leaves at seven.", "Ana paints boats.")
    found = rig.recall("my age")
    assert [item.memory.text for item in found.items] == ["I am 61 years old."]
    dropped = {candidate.dropped for candidate in found.trace.candidates if candidate.id != found.items[0].memory.id}
    assert dropped <= {"below_floor"}


def test_words_alone_stay_words(rig: Rig) -> None:
    tell(rig, OLD)
    assert rig.recall("my age", mode="keyword").abstained
