"""What is told has to be understood without what stood around it."""

from __future__ import annotations

import pytest

from core.talk.statement_check import compares_languages, has_substance, is_aside, reports_question, stands_alone
from core.talk.style.earlier_statements import content_words
from core.talk.vocabulary import tokenize_talk
from core.types.talk import StatementType


def words_of(text: str) -> list[str]:
    return [token.low for token in tokenize_talk(text.rstrip("."))]


@pytest.mark.parametrize(
    "text",
    [
        "Wren has her own cake shop in Leith.",
        "Joss found the idea of a second shop too risky.",
        "Omar leads a group for new fathers.",
        "Pottery is a large part of Ida's week, and it helps her back.",
    ],
)
def test_a_sentence_that_says_what_it_means_stands_alone(text: str) -> None:
    assert stands_alone(words_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "Ida got the idea from a magazine.",
        "Omar told her about that event.",
        "Since Wren was seventeen or.",
        "Joss is planning a few.",
        "Ida enjoyed it with her sister.",
        "Omar would never part with it.",
        "Joss loved taking lessons with a cousin.",
    ],
)
def test_a_sentence_that_points_outside_does_not(text: str) -> None:
    assert not stands_alone(words_of(text))


@pytest.mark.parametrize(
    ("text", "name", "says_something"),
    [
        ("Joss is doing really well lately.", "Joss", False),
        ("Ida had a great time.", "Ida", False),
        ("Ida had a great time on 4 March 2023.", "Ida", False),
        ("Omar goes a few times a week.", "Omar", False),
        ("Marlon is married.", "Marlon", True),
        ("Otis cried.", "Otis", True),
        ("Joss has two older siblings.", "Joss", True),
    ],
)
def test_that_somebody_is_well_says_nothing(text: str, name: str, *, says_something: bool) -> None:
    assert has_substance(content_words(text) - content_words(name)) is says_something


@pytest.mark.parametrize(
    ("text", "is_report"),
    [
        ("The bank asks at which address you live: 3 Quern Row.", True),
        ("Ida's boss asks where the keys are.", True),
        ("Omar asked Ida how old she is: thirty.", True),
        ("Omar asked Ida whether she would marry him.", False),
        ("Omar asks for a room where it is quiet.", False),
        ("You live where the river bends.", False),
    ],
)
def test_what_is_asked_is_no_statement(text: str, *, is_report: bool) -> None:
    assert reports_question(words_of(text)) is is_report
    assert is_aside(tokenize_talk(text), StatementType.PLACE) is is_report


@pytest.mark.parametrize(
    ("text", "is_remark"),
    [
        ("Forty is four tens, as in French: quarante.", True),
        ("Nouns have capitals, as in German.", True),
        ("Ida is fluent in German.", False),
        ("Omar bakes bread as in German bakeries.", False),
        ("You say goodbye twice, as in Welsh.", False),
    ],
)
def test_a_remark_on_a_language_is_no_statement(text: str, *, is_remark: bool) -> None:
    assert compares_languages(words_of(text)) is is_remark
    assert is_aside(tokenize_talk(text.rstrip(".")), StatementType.ATTRIBUTE) is is_remark
