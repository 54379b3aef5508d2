"""The later lines that teach what ends: every line is of its format, and what it ends held when it was told."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

import change_data
from change_data import EASY, HARD, draw_rivals, load
from question_data import Person, Question
from question_data import load as load_persons

PERSON = Person("a", ("My rent is 900.", "I have a dog.", "Tea is at four."), (Question("Which?", (0,)),))


def write(folder: Path, later: object, author: str = "a") -> None:
    (folder / "some.jsonl").write_text(json.dumps({"author": author, "later": later}), "utf-8")


def test_every_person_told_lines_that_end_something_and_lines_that_do_not() -> None:
    persons, _ = load_persons()
    lives, digest = load(persons)
    assert len(digest) == 64
    assert len(lives) >= 500
    assert len({life.author for life in lives}) == len(lives)
    lines = [line for life in lives for line in life.lines]
    assert len(lines) >= 9_000
    assert 0.4 < sum(bool(line.ends) for line in lines) / len(lines) < 0.65
    assert {life.author for life in lives if life.is_held_back} <= {one.author for one in persons if one.is_held_back}
    assert sum(life.is_held_back for life in lives) >= 20
    for life in lives:
        over: set[int] = set()
        for line in life.lines:
            assert set(line.ends) <= set(line.before)
            assert not over & set(line.before)
            over |= set(line.ends)


def test_a_later_line_may_end_an_earlier_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_data, "FOLDER", tmp_path)
    write(tmp_path, [{"t": "Rent is 950.", "ends": [0]}, {"t": "Rent is 990.", "ends": [3]}])
    (life,), _ = load([PERSON])
    assert life.texts == (*PERSON.statements, "Rent is 950.", "Rent is 990.")
    assert [(line.at, line.before, line.ends) for line in life.lines] == [(3, (0, 1, 2), (0,)), (4, (1, 2, 3), (3,))]


@pytest.mark.parametrize(
    ("later", "author"),
    [
        ([{"t": "Rent is 950."}], "a"),
        ([{"t": "Rent is 950.", "ends": ["x"]}], "a"),
        ([{"t": "Rent is 950.", "ends": [3]}], "a"),
        ([{"t": "Rent is 950.", "ends": [0]}, {"t": "Rent is 990.", "ends": [0]}], "a"),
        ([{"t": "Rent is 950.", "ends": [0]}], "nobody"),
    ],
)
def test_a_broken_line_is_refused(later: object, author: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_data, "FOLDER", tmp_path)
    write(tmp_path, later, author)
    with pytest.raises(SystemExit, match=r"some\.jsonl:1"):
        load([PERSON])


def test_what_is_ended_comes_first_and_nothing_else_that_is_ended_beside_it() -> None:
    line = change_data.Line(20, tuple(range(20)), (2, 5))
    nearness = np.linspace(1, 0, 21, dtype=np.float32)
    for seed in range(50):
        first, *rivals = draw_rivals(line, nearness, random.Random(seed))
        assert first in (2, 5)
        assert len(rivals) == HARD + EASY == len(set(rivals))
        assert not {2, 5, 20} & set(rivals)
