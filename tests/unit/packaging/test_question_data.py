"""The questions that teach which memory answers: every line is of its format, and what measures teaches nothing."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

import question_data
from question_data import EASY, HARD, Person, Question, draw_group, load
from train_heads import TRUE_ANSWERS, Asked, answers_from


def test_there_are_many_persons_and_both_sides_have_some() -> None:
    persons, digest = load()
    assert len(persons) >= 400
    assert len({one.author for one in persons}) == len(persons)
    assert 20 <= sum(one.is_held_back for one in persons) <= len(persons) / 6
    assert len(digest) == 64


@pytest.mark.parametrize(
    "row",
    [
        "no json",
        json.dumps({"author": "a", "statements": ["One."]}),
        json.dumps({"author": "a", "statements": ["One."], "questions": []}),
        json.dumps({"author": "a", "statements": ["One."], "questions": [{"q": "Which?", "a": [1]}]}),
        json.dumps({"author": "a", "statements": ["One."], "questions": [{"q": "Which?", "a": []}]}),
    ],
)
def test_a_broken_line_is_refused(row: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.jsonl").write_text(row, "utf-8")
    monkeypatch.setattr(question_data, "FOLDER", tmp_path)
    with pytest.raises(SystemExit, match=r"broken\.jsonl:1"):
        load()


def test_a_group_begins_with_what_answers_and_holds_nothing_else_that_does() -> None:
    question = Question("Which?", (2, 5))
    person = Person("a", tuple(f"statement {number}" for number in range(20)), (question,))
    nearness = np.linspace(1, 0, 20, dtype=np.float32)
    for seed in range(50):
        _, texts = draw_group(person, question, nearness, random.Random(seed))
        assert texts[0] in {"statement 2", "statement 5"}
        assert len(texts) == 1 + HARD + EASY
        assert not {"statement 2", "statement 5"} & set(texts[1:])


def test_the_odds_from_which_one_answers_keep_their_promise() -> None:
    chance = np.random.default_rng(5)
    asked = []
    for _ in range(400):
        right = np.zeros(6, np.bool_)
        right[0] = True
        asked.append(Asked(chance.normal(np.where(right, 6.0, 0.0), 2.0), right))
    least = answers_from(asked)
    told = [one.is_first_right for one in asked if one.odds.max() >= least]
    told += [False for one in asked if one.odds[~one.right].max() >= least]
    assert 0 < least < 8
    assert TRUE_ANSWERS <= np.mean(told) < 0.97
