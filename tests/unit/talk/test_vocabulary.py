"""Words of talk: tokens, and what is told of them sooner."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.talk.vocabulary import base_form, list_words, stem_word, tokenize_talk, verb_forms

_TALK = st.text(st.sampled_from("abIiM’'mvlsd 9£.,-İß!?"), max_size=40)


@given(_TALK | st.text(max_size=60))
def test_the_words_of_a_text_are_those_of_its_tokens(text: str) -> None:
    assert list_words(text) == [token.low for token in tokenize_talk(text) if token.is_word]


@given(_TALK | st.text(max_size=60))
def test_tokens_stand_where_they_say(text: str) -> None:
    for token in tokenize_talk(text):
        assert token.text == text[token.start : token.end] != ""


def test_a_shortened_verb_is_a_token_of_its_own() -> None:
    assert [token.low for token in tokenize_talk("I’m sure shes out, dont ask")] == [
        *("i", "'m", "sure", "she", "'s", "out", ",", "don't", "ask"),
    ]


@pytest.mark.parametrize("low", ["went", "dying", "skies", "mara's", "yes", "années", "'tis"])
def test_a_stem_begins_as_its_base_form_does(low: str) -> None:
    assert stem_word(low)[:1] == base_form(low)[:1] != ""


def test_the_stem_of_any_form_begins_as_its_base_form_does() -> None:
    verbs = verb_forms()
    assert all(stem_word(low)[:1] == base_form(low)[:1] for low in (*verbs.base, *verbs.past, *verbs.third))
