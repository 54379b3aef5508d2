"""Terms: every spelling that people use for one thing meets in the index."""

from __future__ import annotations

import pytest

from core.text.terms import MAX_QUERY_TERMS, MAX_TERM, fold_case, fold_width, index_terms, query_terms, stop_words


def terms(text: str) -> list[str]:
    return index_terms(text).split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Running runs", "run run"),
        ("fooBar", "foobar foo bar"),
        ("HTTPServer", "httpserver http server"),
        ("foo_bar", "foo_bar foo bar"),
        ("main.rs", "main_rs main rs"),
        ("v1.2.3", "v1_2_3 v1 2 3"),
        ("a/b/c", "a_b_c a b c"),
        ("self-care", "self_care self care"),
        ("C++ C#", "c_plus c plus c_sharp c sharp"),
        ("1,000,000 and 12,5", "1000000 and 12 5"),
        ("naïve Ærø Straße İzmir", "naiv aero strass izmir"),
        ("Ann's dogs' don't we'll O\u2019Brien", "ann dog dont we obrien"),
        ("ﬁne ①②", "fine 12"),
        ("__init__ _ __", "init"),
        ("塔の鍵", "塔の 塔 の鍵 の 鍵"),
        ("日本text", "日本 日 本 text"),
        ("नमस्ते दुनिया।", "नमस्ते दुनिया"),
        ("😀 👨‍👩‍👧 !?", ""),
        ("", ""),
        ("\0a\0", "a"),
    ],
)
def test_index_terms(text: str, expected: str) -> None:
    assert index_terms(text) == expected


def test_parts_and_whole_of_an_identifier_are_found() -> None:
    stored = set(terms("see parse_http_header in src/net/httpParser.rs"))
    for query in ("parse_http_header", "http header", "httpParser.rs", "src/net", "HTTPPARSER"):
        assert {term.term for term in query_terms(query)} & stored, query


def test_voiced_kana_are_not_folded_into_unvoiced() -> None:
    assert fold_case("が") == "が"
    assert fold_case("か") == "か"


def test_indic_vowel_signs_stay() -> None:
    assert fold_case("कि") == "कि"


def test_width_and_apostrophes_fold() -> None:
    assert fold_width("Ｌｏｃｉ’s") == "Loci's"


def test_a_term_is_capped() -> None:
    assert terms("x" * 1000) == ["x" * MAX_TERM]


def test_query_terms_are_deduplicated_and_flagged() -> None:
    found = query_terms("the dog and the Dogs of O'Brien")
    assert [(term.term, term.stop) for term in found] == [
        ("the", True),
        ("dog", False),
        ("and", True),
        ("of", True),
        ("obrien", False),
    ]
    assert [term.word for term in found][1] == "dog"


def test_single_signs_of_a_run_are_weak_but_a_lone_sign_is_not() -> None:
    assert {term.term: term.stop for term in query_terms("鍵は")} == {"鍵は": False, "鍵": True, "は": True}
    assert [term.stop for term in query_terms("鍵")] == [False]


def test_a_word_is_content_when_any_of_its_uses_is() -> None:
    assert not next(term for term in query_terms("鍵は 鍵") if term.term == "鍵").stop


def test_a_query_is_bounded() -> None:
    assert len(query_terms(" ".join(f"w{i}" for i in range(5000)))) == MAX_QUERY_TERMS
    assert [term.term for term in query_terms("é" * 10_000)] == ["e" * MAX_TERM]


def test_lone_surrogates_do_no_harm() -> None:
    assert [term.term for term in query_terms("a\ud800b")] == ["a", "b"]
    assert index_terms("a\udfffb") == "a b"


def test_the_stop_list_holds_function_words_only() -> None:
    words = stop_words()
    assert {"the", "of", "would", "dont"} <= words
    assert not {"may", "dog", "work", "home", "first", "like"} & words
    assert all(word == fold_case(word) and word.isalpha() for word in words)
