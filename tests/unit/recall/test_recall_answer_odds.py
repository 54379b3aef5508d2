"""What a model reads as the answer comes first, and is said where words and meaning are too far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from candidate_rig import make_candidates
from engine_rig import Rig, rig_at

from core.belief.extract.extraction import extract_claims
from core.errors import Code, LociError
from core.intake.claims import TextReaders
from core.recall.answer_fit import WEIGHED, _apply_answer_odds, _put_behind, _put_in_place_of
from core.types.values import Kind, Source

ROWS = "Thursdays I row with the veterans."
FAIR = "The exercise books for the fair take a lot of paper."
QUESTION = "what exercise do I take?"
UNSURE, NO_ANSWER = -1.0, -9.0


class Weighing:
    """Stands in for the model: odds by text, and what it was asked."""

    def __init__(self) -> None:
        self.odds: dict[str, float] = {}
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self.fault: LociError | None = None

    def __call__(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        self.asked.append((question, tuple(texts)))
        if self.fault is not None:
            raise self.fault
        return [self.odds.get(text, NO_ANSWER) for text in texts]


@pytest.fixture
def weighing() -> Weighing:
    return Weighing()


@pytest.fixture
def rig(tmp_path: Path, weighing: Weighing) -> Iterator[Rig]:
    with rig_at(tmp_path, readers=TextReaders(extract=extract_claims, weigh_answers=weighing)) as made:
        yield made


def tell(rig: Rig, *texts: str) -> None:
    for text in texts:
        rig.store(text, source=Source.USER_EXPLICIT)


def test_what_answers_comes_before_what_has_the_words(rig: Rig, weighing: Weighing) -> None:
    tell(rig, ROWS, FAIR)
    assert rig.found(QUESTION)[:1] == [FAIR]  # nothing answers: words and meaning alone tell
    weighing.odds = {ROWS: UNSURE}
    assert rig.found(QUESTION)[0] == ROWS
    first, second = rig.recall(QUESTION).items
    assert first.score >= second.score
    assert any("answers less well than another" in sentence for sentence in second.why)
    assert not any("answers less well than another" in sentence for sentence in first.why)


def test_what_surely_answers_is_said_alone_where_nothing_else_would_be(rig: Rig, weighing: Weighing) -> None:
    tell(rig, ROWS, "The ferry leaves at seven.", "Ana paints boats.")
    question = "which sport keeps me fit?"
    assert rig.recall(question).abstained
    weighing.odds = {ROWS: UNSURE}
    assert rig.recall(question).abstained
    weighing.odds = {ROWS: 0.0}
    items = rig.recall(question).items
    assert [item.memory.text for item in items] == [ROWS]
    assert items[0].why[0] == "The built-in model reads it as the answer."


def test_the_later_word_holds_where_the_one_before_is_the_answer(rig: Rig, weighing: Weighing) -> None:
    old, new, other = "I live in Graz.", "I live in Linz.", "Town bats live in the hall of my town."
    tell(rig, old, other, new)
    question = "live in which town?"
    assert rig.found(question)[0] == other
    weighing.odds = {old: 4.0}
    assert rig.found(question)[0] == new
    assert old in weighing.asked[-1][1]  # the version before is weighed for it


def test_what_surely_answers_is_said_however_near_a_message_comes(rig: Rig, weighing: Weighing) -> None:
    tell(rig, ROWS)
    rig.store("Do you know which sport is on tonight?", kind=Kind.EPISODE)
    weighing.odds = {ROWS: 1.0}
    assert rig.found("which sport keeps me fit?") == [ROWS]


def test_the_odds_go_with_the_place_of_what_is_over() -> None:
    found = make_candidates([0.6, 0.5], answers=[2.0, -8.0])
    for put in (_put_behind, _put_in_place_of):
        answers = put(found, 0, 1).answers
        assert (np.isnan(answers[0]), answers[1]) == (True, 2.0)


def test_what_was_not_weighed_does_not_pass_what_was() -> None:
    found = make_candidates([0.60 - 0.02 * place for place in range(WEIGHED + 3)])
    read = {place: f"text {place}" for place in range(WEIGHED + 3)}
    after = _apply_answer_odds(QUESTION, found, read, {}, lambda _, texts: [0.0, *[NO_ANSWER] * (len(texts) - 1)])
    assert after.evidence[0] == found.evidence[0]
    assert (np.diff(after.evidence) < 0).all()
    assert np.isnan(after.answers).tolist() == [False] * WEIGHED + [True] * 3


def test_only_the_strongest_are_weighed(rig: Rig, weighing: Weighing) -> None:
    tell(rig, *(f"The exercise book number {number} is full." for number in range(WEIGHED + 4)))
    rig.found(QUESTION)
    assert len(weighing.asked[-1][1]) == WEIGHED


def test_a_search_by_words_or_by_meaning_alone_weighs_nothing(rig: Rig, weighing: Weighing) -> None:
    tell(rig, ROWS, FAIR)
    for mode in ("keyword", "semantic"):
        rig.recall(QUESTION, mode=mode)
    assert not weighing.asked


@pytest.mark.expected_logs("the model that weighs answers did not answer")
def test_without_an_answer_of_the_model_words_and_meaning_tell(rig: Rig, weighing: Weighing) -> None:
    tell(rig, ROWS, FAIR)
    weighing.fault = LociError(Code.EMBEDDING_FAILED, "The model gave no usable answer.")
    assert rig.found(QUESTION)[:1] == [FAIR]
    assert weighing.asked
