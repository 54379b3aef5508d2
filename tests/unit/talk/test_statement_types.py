"""The type of a told sentence by its grammar."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.talk.statement_types import find_main_verb, type_statement
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
        ("Ada believed in ghosts", "opinion", "opinion"),
        ("Ada knew the answer on 3 May 2024", "opinion", "opinion"),
        ("Rough seas ahead", "opinion", "opinion"),
    ],
)
def test_grammar_tells_the_type_where_it_is_surer(told: str, read: str, kind: str) -> None:
    assert type_statement(tokenize_talk(told), StatementType(read)) is StatementType(kind)


@pytest.mark.parametrize(("told", "verb"), [("The man who sang was tall", "was"), ("Ada swims", "swims")])
def test_the_verb_of_a_relative_clause_is_not_the_main_one(told: str, verb: str) -> None:
    tokens = tokenize_talk(told)
    found = find_main_verb(tokens)
    assert found is not None
    assert tokens[found].low == verb


@given(st.text(max_size=120), st.sampled_from(StatementType))
def test_any_text_has_a_type(text: str, read: StatementType) -> None:
    assert type_statement(tokenize_talk(text), read) in StatementType
