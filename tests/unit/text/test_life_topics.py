"""Which topics of life a text has words of."""

from __future__ import annotations

import pytest

from core.text.life_topics import ENOUGH, read_topic_words, topic_names, weigh_topic_words


@pytest.mark.parametrize(
    ("text", "topic", "words", "is_enough"),
    [
        ("The dentists are on strike.", "health", {"dentist"}, True),
        ("He coughs at night.", "health", {"cough"}, False),
        ("It hurts: a cough and an ache.", "health", {"cough", "ache"}, True),
        ("The allergies are back.", "health", {"allergy"}, True),
        ("Two churches by the road", "faith", {"church"}, True),
        ("We wrote a DISSERTATION", "learning", {"dissertation"}, True),
        ("The council sat until ten.", "politics", {"council"}, False),
        ("I have a new app.", "technology", {"app"}, True),
        ("The boss gave an interview.", "work", {"boss", "interview"}, True),
        ("A bean is not a has-been", "garden", {"bean"}, False),
    ],
)
def test_some_words_tell_a_topic_alone_and_others_by_twos(
    text: str, topic: str, words: set[str], is_enough: bool
) -> None:
    found = read_topic_words(text)
    assert found[topic] == words
    assert (weigh_topic_words(topic, found[topic]) >= ENOUGH) == is_enough


def test_a_text_without_such_words_has_no_topic() -> None:
    assert read_topic_words("") == read_topic_words("It was the twelfth of nothing.") == {}


def test_every_topic_has_a_name_of_its_own() -> None:
    names = topic_names()
    assert len(set(names.values())) == len(names)
    assert all(name == name.strip() and name[:1].isupper() for name in names.values())
