"""Words of talk: tokens, and what is told of them sooner."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.talk.vocabulary import (
    PhraseList,
    base_form,
    length_of_phrase_at,
    list_words,
    stem_word,
    tokenize_talk,
    verb_forms,
)

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


_WORDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=3)


@given(st.lists(_WORDS, max_size=8), st.lists(st.sampled_from("abcd"), max_size=6), st.integers(-2, 7))
def test_the_longest_phrase_that_begins_at_a_place_is_found(phrases: list[list[str]], lows: list[str], at: int) -> None:
    known = PhraseList.from_lines(" ".join(phrase) for phrase in phrases)
    fitting = [len(phrase) for phrase in phrases if 0 <= at < len(lows) and lows[at : at + len(phrase)] == phrase]
    assert length_of_phrase_at(lows, at, known) == max(fitting, default=0)


@given(st.lists(_WORDS, max_size=8))
def test_phrases_are_known_by_their_first_and_their_last_word(phrases: list[list[str]]) -> None:
    known = PhraseList.from_lines(" ".join(phrase) for phrase in phrases)
    for place, by_word in ((0, known.by_first_word), (-1, known.by_last_word)):
        assert {word: [*found] for word, found in by_word.items()} == {
            word: [one for one in known if one[place] == word] for word in {one[place] for one in known}
        }
