"""Who belongs into the room of a theme."""

from __future__ import annotations

import numpy as np
import pytest
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st

from core.lifecycle.palace.theme_members import (
    GROUND_WEIGHT,
    LEAST_COVERAGE,
    LEAST_WITH_TALK,
    NONE,
    Gathering,
    add_kin,
    assign_speakers,
    cohesion,
    follow_talk,
)
from core.score.centres import Vectors, normalize_rows

ABOUT_HERONS, ABOUT_TAXES, BETWEEN, ELSEWHERE = (1, 0, 0), (0, 1, 0), (0.8, 0.6, 0), (0, 0, 1)


def gathering(*rows: tuple[float, ...], talks: list[int] | None = None, ground: tuple[int, ...] = ()) -> Gathering:
    weights = np.ones(len(rows))
    weights[list(ground)] = GROUND_WEIGHT
    return Gathering(np.array(rows, np.float32), np.array(talks or [NONE] * len(rows), np.int64), weights)


def places(*chosen: int) -> np.ndarray:
    return np.array(chosen, np.int64)


def test_who_speaks_of_two_themes_goes_to_the_nearer() -> None:
    said = gathering(ABOUT_HERONS, ABOUT_HERONS, BETWEEN, ABOUT_TAXES, ABOUT_TAXES)
    assert assign_speakers(said, [places(0, 1, 2), places(2, 3, 4)], 2).tolist() == [0, 0, 0, 1, 1]


def test_a_theme_with_too_few_gives_its_speakers_to_the_others() -> None:
    said = gathering(ABOUT_HERONS, ABOUT_HERONS, ABOUT_TAXES)
    assert assign_speakers(said, [places(0, 1, 2), places(2)], 2).tolist() == [0, 0, 0]
    assert assign_speakers(said, [places(0)], 2).tolist() == [NONE] * 3


def test_kin_joins_while_more_than_half_of_the_room_speaks_of_its_name() -> None:
    said = gathering(*[ABOUT_HERONS] * 6)
    found = add_kin(said, np.array([0, 0, NONE, NONE, NONE, NONE]), 1)
    assert (found == 0).sum() == 3
    ground = gathering(*[ABOUT_HERONS] * 6, ground=(2, 3, 4, 5))
    assert (add_kin(ground, np.array([0, 0, NONE, NONE, NONE, NONE]), 1) == 0).sum() == 5


def test_who_is_far_from_every_theme_joins_none() -> None:
    said = gathering(ABOUT_HERONS, ABOUT_HERONS, ELSEWHERE)
    assert add_kin(said, np.array([0, 0, NONE]), 1).tolist() == [0, 0, NONE]
    assert add_kin(said, np.array([NONE] * 3), 1).tolist() == [NONE] * 3


def test_a_closed_theme_has_no_kin() -> None:
    said = gathering(*[ABOUT_HERONS] * 4, *[BETWEEN] * 2)
    themes = np.array([0, 0, 1, 1, NONE, NONE])
    assert set(add_kin(said, themes, 2, closed=[0]).tolist()[4:]) <= {1, NONE}
    assert add_kin(said, themes, 2, closed=[0, 1]).tolist() == themes.tolist()


def test_a_reply_goes_with_what_it_follows() -> None:
    reply = (0.55, 0.6, 0.58)
    said = gathering(ABOUT_HERONS, reply, ABOUT_HERONS, ABOUT_TAXES, ABOUT_TAXES, talks=[0, 0, 0, 1, 1])
    assert add_kin(said, np.array([0, NONE, 0, 1, 1]), 2).tolist()[1] == 0
    apart = gathering(ABOUT_HERONS, reply, ABOUT_HERONS, ABOUT_TAXES, ABOUT_TAXES)
    assert add_kin(apart, np.array([0, NONE, 0, 1, 1]), 2, least_cosine=0.0).tolist()[1] in (1, NONE)


def test_a_turn_between_two_of_a_theme_goes_with_them_whatever_its_words_are() -> None:
    themes = np.array([0, NONE, 0, 1, 1])
    said = gathering(ABOUT_HERONS, ELSEWHERE, ABOUT_HERONS, ABOUT_TAXES, ABOUT_TAXES, talks=[0, 0, 0, 1, 1])
    assert follow_talk(said, themes, themes, 2).tolist() == [0, 0, 0, 1, 1]
    other_talk = gathering(ABOUT_HERONS, ELSEWHERE, ABOUT_HERONS, ABOUT_TAXES, ABOUT_TAXES, talks=[0, 2, 0, 1, 1])
    assert follow_talk(other_talk, themes, themes, 2).tolist() == themes.tolist()


def test_small_talk_follows_the_turn_before_it_and_what_says_something_only_what_is_near() -> None:
    themes = np.array([0, 0, 0, NONE, NONE])
    rows = (ABOUT_HERONS, ABOUT_HERONS, ABOUT_HERONS, ELSEWHERE, ELSEWHERE)
    assert follow_talk(gathering(*rows, talks=[0] * 5), themes, themes, 1).tolist() == themes.tolist()
    assert follow_talk(gathering(*rows, talks=[0] * 5, ground=(3, 4)), themes, themes, 1).tolist() == [0] * 5
    near = gathering(*rows[:3], BETWEEN, ELSEWHERE, talks=[0] * 5)
    assert follow_talk(near, themes, themes, 1).tolist() == [0, 0, 0, 0, NONE]


def with_small_talk(talks: list[int], *small: int) -> Gathering:
    is_small = np.zeros(len(talks), np.bool_)
    is_small[list(small)] = True
    rows = np.array([ABOUT_HERONS] * len(talks), np.float32)
    return Gathering(rows, np.array(talks), np.where(is_small, 0.0, 1.0), None, is_small)


def test_small_talk_is_no_kin_however_near_it_is() -> None:
    said = with_small_talk([0, 0, 0, 0], 3)
    assert add_kin(said, np.array([0, 0, 0, NONE]), 1).tolist() == [0, 0, 0, NONE]
    assert follow_talk(said, np.array([0, 0, 0, NONE]), np.array([0, 0, 0, NONE]), 1).tolist() == [0, 0, 0, NONE]


def test_a_statement_goes_with_what_it_was_made_of_and_that_with_it() -> None:
    rows = (ABOUT_HERONS, ABOUT_HERONS, ELSEWHERE, ABOUT_HERONS, ELSEWHERE)
    said = gathering(*rows)
    origins = np.array([NONE, NONE, 1, NONE, NONE])
    themes = np.array([0, 0, NONE, 0, NONE])
    made = Gathering(said.vectors, said.talks, said.weights, origins)
    assert follow_talk(made, themes, themes, 1).tolist() == [0, 0, 0, 0, NONE]
    turned = Gathering(said.vectors, said.talks, said.weights, np.array([NONE, 2, NONE, NONE, NONE]))
    assert follow_talk(turned, themes, themes, 1).tolist() == [0, 0, 0, 0, NONE]


def test_those_who_say_the_same_are_near_to_one_another() -> None:
    said = gathering(ABOUT_HERONS, ABOUT_HERONS, ABOUT_TAXES)
    assert cohesion(said.vectors, places(0, 1)) == pytest.approx(1)
    assert cohesion(said.vectors, places(0, 2)) == pytest.approx(0)
    assert cohesion(said.vectors, places(0)) == 0


@st.composite
def crowds(draw: st.DrawFn) -> tuple[Gathering, list[np.ndarray]]:
    count = draw(st.integers(1, 24))
    dice = np.random.default_rng(draw(st.integers(0, 10_000)))
    vectors: Vectors = normalize_rows(dice.normal(size=(count, 4)).astype(np.float32))
    weights = np.where(dice.random(count) < 0.4, GROUND_WEIGHT, 1.0)
    talks = dice.integers(-1, 3, count)
    themes = [np.flatnonzero(dice.random(count) < 0.3) for _ in range(draw(st.integers(0, 4)))]
    return Gathering(vectors, talks, weights), themes


@settings(max_examples=count_examples(120), deadline=None)
@given(crowds(), st.integers(1, 4))
def test_every_room_is_about_its_name_and_nobody_who_spoke_of_it_leaves(
    crowd: tuple[Gathering, list[np.ndarray]], least: int
) -> None:
    said, speakers = crowd
    told = assign_speakers(said, speakers, least)
    for theme, those in enumerate(speakers):
        mine = np.flatnonzero(told == theme)
        assert set(mine.tolist()) <= set(those.tolist())
        assert not mine.size or len(mine) >= least
    found = add_kin(said, told, len(speakers))
    assert (found[told != NONE] == told[told != NONE]).all()
    assert (found == add_kin(said, assign_speakers(said, speakers, least), len(speakers))).all()
    for theme in range(len(speakers)):
        room = found == theme
        if room.any():
            weights = said.weights[room]
            assert weights[told[room] == theme].sum() / weights.sum() >= LEAST_COVERAGE - 1e-9


@settings(max_examples=count_examples(60))
@given(crowds(), st.integers(0, 5))
def test_who_follows_leaves_the_name_of_the_room_true(crowd: tuple[Gathering, list[np.ndarray]], origin: int) -> None:
    said, speakers = crowd
    origins = np.where(np.arange(len(said.vectors)) > origin, origin, NONE)
    said = Gathering(said.vectors, said.talks, said.weights, origins)
    speaking = assign_speakers(said, speakers, 1)
    kin = add_kin(said, speaking, len(speakers))
    found = follow_talk(said, speaking, kin, len(speakers))
    assert (found[kin >= 0] == kin[kin >= 0]).all()
    for theme in range(len(speakers)):
        own, whole = said.weights[speaking == theme].sum(), said.weights[found == theme].sum()
        assert own + 1e-9 >= LEAST_WITH_TALK * whole
