"""Laws of reading claims that hold for every text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.belief.extract.extraction import LONGEST_VALUE, MOST_CLAIMS, canonical_form, extract_claims, is_exclusive
from core.belief.extract.family import read_family_claims
from core.belief.extract.normal_form import fold_to_skeleton, value_key
from core.belief.extract.sentence import claim_word_lists, hide_unreal, read_sentence
from core.text.sentences import extract_clauses

_SAID = """
I we my the a 's 'm not no live lives in at on Graz Anna Otto works for Velland Foods and or , . ; : ( ) ? since 2019
until May 3 dog cat called two budget is 400 euros email a@b.example phone 07700 900461 allergic to nuts due by status
blocked version 5.2 wife son speaks Polish prefer tea hate love use Vim own boat take 20mg insulin born name if " ' …
was been good plan decided goal member of club
"""
WORDS = _SAID.split()
_any = st.text(st.characters(), max_size=300)
_words = st.lists(
    st.sampled_from(WORDS),
    max_size=60,
).map(" ".join)


@given(st.one_of(_any, _words))
def test_any_text_gives_claims_that_rest_on_it(text: str) -> None:
    drafts = extract_claims(text)
    assert len(drafts) <= MOST_CLAIMS
    assert len({canonical_form(draft) for draft in drafts}) == len(drafts)
    for draft in drafts:
        assert 0 <= draft.start < draft.end <= len(text)
        quote = " ".join(text[draft.start : draft.end].split())
        assert draft.value in quote
        assert 0 < len(draft.value) <= LONGEST_VALUE
        assert len(draft.value.splitlines()) == 1
        assert is_exclusive(draft.predicate) is draft.exclusive
        assert draft.polarity in ("positive", "negative")
        assert draft.subject.strip()


@given(_words)
def test_reading_is_repeatable(text: str) -> None:
    assert extract_claims(text) == extract_claims(text)


@given(st.one_of(_any, _words))
def test_a_key_s_key_is_itself(text: str) -> None:
    key = value_key(text)
    assert value_key(key) == key
    assert value_key(text) == key
    assert fold_to_skeleton(fold_to_skeleton(text)) == fold_to_skeleton(text)


@given(st.one_of(_any, _words))
def test_no_relative_or_animal_is_read_without_a_word_for_one(text: str) -> None:
    sentence = read_sentence(text, 0, len(text))
    hide_unreal(sentence)
    if claim_word_lists().kin.isdisjoint(sentence.lows):
        assert list(read_family_claims(sentence)) == []


@given(_words)
def test_case_and_edges_do_not_matter(text: str) -> None:
    assert value_key(text.upper()) == value_key(text)
    for word in text.split():
        if word.isalpha():
            assert value_key(f'  "{word}", ') == value_key(word)


@given(st.one_of(_any, _words))
def test_clauses_are_spans_in_order(text: str) -> None:
    last = 0
    for one in extract_clauses(text):
        assert last <= one.start < one.end <= len(text)
        assert text[one.start : one.end] == one.text
        last = one.end
