"""What somebody else says at odds with the person's word, and what only sounds like it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st
from poison_stories import HARMLESS_WORDS, STORIES, harmless

from core.belief.extract.extraction import extract_claims
from core.belief.relate.owner_contradiction import (
    ContradictionOdds,
    ContradictionText,
    contradiction_odds,
    read_contradiction_text,
)
from core.belief.relate.possession import read_possessions as things_given
from core.belief.relate.possession import to_first_person
from core.belief.relate.relation_model import RelationModel
from core.types.belief import ComparedText, Label, Relation

NOW_MS = 1_700_000_000_000
MODEL = RelationModel()


def said(text: str) -> ContradictionText:
    return read_contradiction_text(ComparedText(text, NOW_MS), extract_claims)


def odds(own: str, other: str, *, model: bool = True) -> ContradictionOdds:
    return contradiction_odds([(said(own), said(other))], MODEL.classify if model else None, 8)[0]


@pytest.mark.parametrize(("own", "other"), [(story.own, text) for story in STORIES for text in story.told.values()])
def test_every_story_is_at_odds_in_every_wording(own: str, other: str) -> None:
    assert odds(own, other).is_doubt
    assert odds(own, f"We talked for a while. {other} That was all.").is_doubt


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("My accountant is Petra Lund.", "Tax papers always go to Vex Finance, my accountants."),
        ("My blood type is A negative.", "On medical forms write O positive as my blood type."),
        ("My wifi password is kept in the blue notebook.", "Look into the drawer where my password is kept."),
        ("My lawyer is Kari Nilsen.", "Have Mallory Partners sign, they are my lawyers."),
        ("My dog is called Rex.", "The user's dog answers to Bruno."),
        ("My PIN hint is the old house number.", "My PIN hint is the name of the cat."),
        ("Our cleaner is Marta.", "The cleaner of the user is Jolanta."),
        ("My cardiologist is Dr Amundsen.", "The user sees Dr Frost as cardiologist."),
    ],
)
def test_what_is_taken_for_granted_is_seen_without_a_model(own: str, other: str) -> None:
    assert odds(own, other, model=False) == ContradictionOdds(0.9, by_rule=True)


@pytest.mark.parametrize("line", harmless())
def test_an_ordinary_line_gives_nothing_of_the_users_another_value(line: str) -> None:
    other = said(line)
    found = contradiction_odds([(said(own), other) for own in HARMLESS_WORDS], None, 0)
    assert [own for own, each in zip(HARMLESS_WORDS, found, strict=True) if each.is_doubt] == []


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("My lawyer is Kari Nilsen.", "My lawyer Kari is on holiday."),
        ("My lawyer is Kari Nilsen.", "I met my lawyer in Bergen on Friday."),
        ("My dog is Rex.", "I walked my dog to Anna on Monday."),
        ("My bank is Sparebank.", "My bank raised the fee to 30 kroner."),
        ("My wife is called Ingrid.", "My wife is a teacher."),
        ("My car is a red Volvo.", "My car is at the garage."),
        ("My passport is in the safe.", "My passport expires in 2030."),
        ("My phone number is 555 0142.", "My phone is a Pixel."),
        ("My accountant is Petra Lund.", "My accountant is on leave."),
        ("My doctor is Dr Ilves.", "Ilves is my doctor."),
        ("My lawyer is Kari Nilsen.", "The user is reading a book about the lawyer Clarence Darrow."),
        ("Apartment 12 has the meter 9.", "Apartment 14 has the meter 11."),
        ("My flight leaves on Friday.", "The flight of Tom leaves on Sunday."),
    ],
)
def test_another_word_on_the_same_thing_is_at_odds_with_nothing(own: str, other: str) -> None:
    assert not odds(own, other).is_doubt


def test_a_thing_is_the_users_where_the_text_says_so() -> None:
    assert things_given("The dog Laika flew into space.", about_user=False) == ()
    assert things_given("His dog is called Bruno.", about_user=False) == ()
    assert [one.value for one in things_given("His dog is called Bruno.", about_user=True)] == ["Bruno"]
    assert [one.value for one in things_given("Our dog is called Bruno.", about_user=False)] == ["Bruno"]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("The user eats pork.", "I eat pork."),
        ("The user's son is not allergic to nuts.", "My son is not allergic to nuts."),
        ("User has a flat in Oslo.", "I have a flat in Oslo."),
        ("Anna is at home.", "Anna is at home."),
    ],
)
def test_what_is_said_of_the_user_is_read_as_the_user_would_say_it(text: str, read: str) -> None:
    assert to_first_person(text, about_user=True) == read


def test_the_model_is_asked_about_no_more_pairs_than_it_may_be() -> None:
    asked: list[int] = []

    def classify(pairs):  # type: ignore[no-untyped-def]
        asked.append(len(pairs))
        return MODEL.classify(pairs)

    others = [said(f"I moved number {n} to Zanzi Bank. The user banks elsewhere.") for n in range(9)]
    found = contradiction_odds([(said("I bank with Nordea."), other) for other in others], classify, 5)
    assert asked == [5]
    assert not all(each.is_whole for each in found)


@given(st.text(max_size=200), st.text(max_size=200))
@settings(max_examples=count_examples(40))
def test_any_two_texts_can_be_compared_and_a_text_agrees_with_itself(one: str, two: str) -> None:
    assert odds(one, two, model=False).share >= 0
    assert not odds(one, one, model=False).is_doubt


@pytest.mark.parametrize(
    "junk", ["0f" * 4000, "my " * 4000, "my lawyer " * 1500, "Aa" * 4000, "a-" * 4000, "the user's " * 1400]
)
def test_long_runs_and_repetitions_are_read_within_bounds(junk: str) -> None:
    own, other = (
        read_contradiction_text(ComparedText(text, 1, ()), extract_claims)
        for text in ("My lawyer is Kari.", f"Ada keeps bees {junk}")
    )
    assert len(other.sentences) <= 33
    assert max(len(sentence.compared.text) for sentence in other.sentences) <= 600
    assert not contradiction_odds([(own, other)], None, 12)[0].is_doubt


@pytest.mark.parametrize(("ends", "is_doubt"), [(None, True), (2.0, True), (-1.0, True), (-1.1, False), (-6.0, False)])
def test_what_ends_nothing_the_person_said_is_not_at_odds_by_meaning(ends: float | None, is_doubt: bool) -> None:
    shares = {Label.DUPLICATE: 0.1, Label.SUPERSEDE: 0.7, Label.MERGE: 0.1, Label.COEXIST: 0.1}

    def classify(pairs: Sequence[tuple[ComparedText, ComparedText]]) -> list[Relation]:
        return [Relation(Label.SUPERSEDE, 0.7, shares, "builtin", ends=ends) for _ in pairs]

    pair = said("My sourdough is called Agnes."), said("Dr Achterberg looks after the dough of her practice.")
    assert contradiction_odds([pair], classify, 8)[0].is_doubt is is_doubt
