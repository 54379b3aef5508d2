"""How much stays beside the first hit of an answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.score.answer_focus import AnswerRows, is_clear_answer, select_focus
from core.score.profile import Focus

FOCUS = Focus()
STRONGEST = 2.4


def answer(*shares: float, own: list[list[int]] | None = None, best: float = 2.0) -> AnswerRows:
    """An answer whose first has all words of a question of two, the others one, unless said otherwise."""
    has = np.array(own if own is not None else [[1, 1]] + [[1, 0]] * (len(shares) - 1), np.bool_)
    return AnswerRows(
        evidence=np.array(shares) * best,
        own=has,
        near=has,
        weights=np.array([4.0, 3.0]),
        bounded=np.zeros(len(shares), np.bool_),
        strongest=STRONGEST,
    )


def test_behind_a_clear_first_hit_only_what_comes_near_it_stays() -> None:
    found = answer(1.0, 0.7, 0.6, 0.5, 0.3)
    assert is_clear_answer(found, FOCUS)
    assert select_focus(found, FOCUS).tolist() == [True, True, False, False, False]


def test_a_first_hit_without_the_words_or_without_strength_is_not_clear() -> None:
    assert not is_clear_answer(answer(1.0, 0.5, own=[[1, 0], [0, 1]]), FOCUS)
    assert not is_clear_answer(answer(1.0, 0.5, best=0.6 * STRONGEST), FOCUS)
    assert not is_clear_answer(answer(1.0, 0.9, 0.9, 0.8), FOCUS)


def test_what_only_asks_or_is_one_of_several_is_not_clear() -> None:
    assert not is_clear_answer(replace(answer(1.0, 0.3), asks=True), FOCUS)
    assert not is_clear_answer(replace(answer(1.0, 0.3), several=True), FOCUS)


def test_behind_any_other_first_hit_the_best_stay_and_what_is_not_far() -> None:
    found = replace(answer(1.0, 0.9, 0.9, 0.9, 0.4, 0.3, 0.55, 0.45), several=True)
    assert select_focus(found, FOCUS).tolist() == [True, True, True, True, True, False, True, False]


def test_behind_a_strong_first_hit_more_is_far_than_behind_a_weak_one() -> None:
    shares = (1.0, 0.9, 0.9, 0.9, 0.9, 0.55)
    strong, weak = answer(*shares, best=0.9 * STRONGEST), answer(*shares, best=0.4 * STRONGEST)
    assert (select_focus(strong, FOCUS)[-1], select_focus(weak, FOCUS)[-1]) == (False, True)


def test_the_first_that_has_a_word_of_the_question_stays() -> None:
    found = answer(1.0, 0.3, 0.28, own=[[1, 0], [0, 1], [0, 1]])
    assert select_focus(replace(found, weights=np.array([9.0, 1.0])), FOCUS).tolist() == [True, True, False]


def test_what_stands_in_a_conversation_that_holds_the_words_stays() -> None:
    found = answer(1.0, 0.62, 0.62, own=[[1, 1], [0, 0], [0, 0]])
    near = np.array([[1, 1], [1, 1], [1, 0]], np.bool_)
    assert select_focus(replace(found, near=near), FOCUS).tolist() == [True, True, False]


def test_by_what_another_client_says_nothing_is_measured() -> None:
    """A text that repeats the question is the best there can be; the person's answer stays beside it."""
    loud = answer(1.0, 0.55, 0.3, own=[[1, 1], [1, 1], [0, 1]], best=STRONGEST)
    assert select_focus(loud, FOCUS).tolist() == [True, False, False]
    bounded = np.array([True, False, False])
    assert select_focus(replace(loud, bounded=bounded), FOCUS).tolist()[:2] == [True, True]
    assert not is_clear_answer(replace(loud, bounded=np.ones(3, np.bool_)), FOCUS)


def test_an_answer_without_words_and_an_empty_one() -> None:
    bare = replace(
        answer(1.0, 0.2), own=np.zeros((2, 0), np.bool_), near=np.zeros((2, 0), np.bool_), weights=np.array([])
    )
    assert select_focus(bare, replace(FOCUS, kept=1)).tolist() == [True, False]
    nothing = np.zeros((0, 2), np.bool_)
    empty = replace(bare, evidence=np.array([]), own=nothing, near=nothing, bounded=np.zeros(0, np.bool_))
    assert select_focus(empty, FOCUS).size == 0
