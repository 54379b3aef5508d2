"""Text laws that hold for every text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.text.sentences import split_sentences, split_text
from core.text.terms import MAX_QUERY_TERMS, MAX_TERM, index_terms, query_terms

_any = st.text(st.characters(), max_size=300)


@given(_any)
def test_terms_hold_nothing_the_tokenizer_would_split_at(text: str) -> None:
    joined = index_terms(text)
    assert joined == joined.strip()
    for term in joined.split(" ") if joined else []:
        assert 0 < len(term) <= MAX_TERM
        assert not any(sign.isascii() and not (sign.isalnum() or sign == "_") for sign in term)
        assert not any(sign.isspace() for sign in term)


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_a_text_finds_itself(text: str) -> None:
    stored = index_terms(text).split()
    asked = [term.term for term in query_terms(text)]
    assert len(asked) == len(set(asked)) <= MAX_QUERY_TERMS
    assert set(asked) <= set(stored)
    if len(set(stored)) <= MAX_QUERY_TERMS and len(text.encode()) <= 1024:
        assert set(asked) == set(stored)


@given(st.text(st.characters(codec="utf-8", categories=("L", "N", "Zs", "P")), max_size=120))
def test_case_and_width_do_not_matter_to_single_words(text: str) -> None:
    words = [word for word in text.split() if word.isascii() and word.isalpha()]
    for word in words:
        assert index_terms(word.lower()).split()[:1] == index_terms(word.upper()).split()[:1]


@given(st.text(st.characters(), max_size=400), st.integers(4, 80))
def test_parts_are_the_text(text: str, limit: int) -> None:
    parts = split_text(text, limit)
    assert "".join(parts) == text
    assert all(len(part.encode("utf-8", "surrogatepass")) <= limit for part in parts)
    assert all(parts) or text == ""


@given(st.text(st.sampled_from("aB .!?\n。e\u0301"), max_size=200))
def test_sentences_follow_one_another_without_a_gap(text: str) -> None:
    spans = split_sentences(text)
    assert "".join(text[start:stop] for start, stop in spans) == text
    assert all(start < stop for start, stop in spans)
