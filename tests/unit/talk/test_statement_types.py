"""The type of a told sentence by its grammar."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.talk.statement_types import find_main_verb, is_passing_happening, is_turning_point, type_statement
from core.talk.vocabulary import tokenize_talk
from core.types.talk import StatementType


@pytest.mark.parametrize(
    ("told", "read", "kind"),
    [
        ("Ada went to a folk concert on 3 May 2024", "work", "event"),
        ("Ada joined a choir", "habit", "event"),
        ("Ada has finished the quilt on 3 May 2024", "preference", "event"),
        ("Ada has done weight training", "habit", "habit"),
        ("Ada was hit by a van on 3 May 2024", "attribute", "event"),
        ("Ada got a new job on 3 May 2024", "work", "work"),
        ("Ada had an operation on 3 May 2024", "health", "health"),
        ("Ada bought a boat on 3 May 2024", "possession", "possession"),
        ("Ada is going to sell the boat", "possession", "plan"),
        ("Ada is thinking about moving to Bergen", "place", "plan"),
        ("Ada is going to the sea", "event", "event"),
        ("Ada plays the cello", "work", "skill"),
        ("Ada speaks Welsh", "habit", "skill"),
        ("Ada does not like liver", "habit", "preference"),
        ("Ada really loves the sea", "work", "preference"),
        ("Ada used to row", "skill", "habit"),
        ("Ada has two brothers", "possession", "relationship"),
        ("Ada works for a brewery", "plan", "work"),
        ("Ada is Adelheid on paper", "work", "attribute"),
        ("Ada is Head of Sales", "work", "work"),
        ("Ada is CEO", "work", "work"),
        ("Ada believed in ghosts", "opinion", "opinion"),
        ("Ada knew the answer on 3 May 2024", "opinion", "opinion"),
        ("Rough seas ahead", "opinion", "opinion"),
        ("Ada uses a planner to keep track", "skill", "habit"),
        ("Ada struggled with anxiety", "skill", "health"),
        ("Ada does not row", "skill", "skill"),
        ("Ada got a puppy", "relationship", "possession"),
        ("Ada has two dogs and a brother", "relationship", "relationship"),
        ("Ada has a picture from Leith", "place", "possession"),
        ("Ada is trying yoga", "preference", "habit"),
        ("Ada has been into sailing since 2015", "habit", "preference"),
        ("Ada set up a race in Leith", "work", "event"),
        ("Ada volunteered at a career fair", "work", "event"),
        ("Ada signed up for a pottery class on 3 May 2024", "work", "event"),
        ("Ada helps out at the shelter twice a month", "event", "habit"),
    ],
)
def test_grammar_tells_the_type_where_it_is_surer(told: str, read: str, kind: str) -> None:
    assert type_statement(tokenize_talk(told), StatementType(read)) is StatementType(kind)


@pytest.mark.parametrize(
    ("text", "is_passing"),
    [
        ("Ada visited a hospital", True),
        ("Ada has seen the film", True),
        ("Ada visited a hospital on 3 May 2024", False),
        ("Ada has got a caravan", False),
        ("Ada sang in a choir for nine years", False),
        ("Ada has sung twice a week", False),
        ("Ada lives in Leith", False),
        ("Rough seas", False),
    ],
)
def test_what_happened_once_on_no_day_passes(text: str, *, is_passing: bool) -> None:
    assert is_passing_happening(tokenize_talk(text)) is is_passing


@pytest.mark.parametrize(
    ("text", "is_change"), [("Ada has started rowing", True), ("Ada sold the boat", True), ("Ada visited Leith", False)]
)
def test_a_start_or_a_sale_changes_something(text: str, *, is_change: bool) -> None:
    assert is_turning_point(tokenize_talk(text)) is is_change


@pytest.mark.parametrize(("told", "verb"), [("The man who sang was tall", "was"), ("Ada swims", "swims")])
def test_the_verb_of_a_relative_clause_is_not_the_main_one(told: str, verb: str) -> None:
    tokens = tokenize_talk(told)
    found = find_main_verb(tokens)
    assert found is not None
    assert tokens[found].low == verb


@given(st.text(max_size=120), st.sampled_from(StatementType))
def test_any_text_has_a_type(text: str, read: StatementType) -> None:
    assert type_statement(tokenize_talk(text), read) in StatementType
