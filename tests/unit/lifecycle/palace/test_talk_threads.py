"""Where matters begin in talk, and what goes on with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st

from core.lifecycle.palace.room_texts import NamingText
from core.lifecycle.palace.talk_threads import (
    NONE,
    TalkTurns,
    follow_threads,
    gather_topics,
    order_by_talk,
    read_turns,
)
from core.text.noun_phrases import read_phrases


def turns_of(said: Sequence[str], talks: Sequence[int] | None = None, small: Sequence[int] = ()) -> TalkTurns:
    is_small = np.isin(np.arange(len(said)), small)
    numbers = np.zeros(len(said), np.int64) if talks is None else np.array(talks, np.int64)
    return read_turns(texts_of(said), numbers, is_small, frozenset())


def texts_of(said: Sequence[str]) -> list[NamingText]:
    return [NamingText(text, tuple(read_phrases(text)), None, None, is_talk=True) for text in said]


def follow(turns: TalkTurns, themes: Sequence[int], mentions: Sequence[int] = ()) -> list[int]:
    count = len(themes)
    is_mention = np.isin(np.arange(count), mentions)
    found: list[int] = follow_threads(np.array(themes), turns, is_mention, np.full(count, NONE)).tolist()
    return found


@pytest.mark.parametrize(
    ("before", "text", "opens"),
    [
        ("The ferry was late again.", "Oh no, poor you!", False),
        ("The ferry was late again.", "By the way, thanks a lot!", True),
        ("The ferry was late again.", "Poor you! Oh, by the way, thanks a lot!", True),
        ("The ferry was late again.", "Poor you\nAnyway, thanks a lot!", True),
        ("The ferry was late again.", "Poor you \U0001f614 Btw, thanks a lot!", True),
        ("The ferry was late again.", "Thanks anyway!", False),
        ("The ferry was late again.", "Thanks, anyway!", False),
        ("The ferry was late again.", "It is late when it rains, and is anyhow.", False),
        ("The ferry was late. What's up with you?", "Not much, thanks!", True),
        ("The ferry was late. Have you ever taken it?", "Only with my saxophone and a goat.", False),
        ("The ferry was late again.", "I sold the saxophone and bought a goat.", True),
        ("The ferry was late again.", "A ferry with a goat and a saxophone!", False),
    ],
)
def test_a_turn_begins_something_else_where_it_says_so_is_asked_for_news_or_names_other_things(
    before: str, text: str, opens: bool
) -> None:
    assert turns_of([before, text]).opens.tolist() == [True, opens]


def test_what_is_of_no_conversation_or_of_another_goes_on_with_nothing() -> None:
    said = ["The ferry was late.", "Thanks!", "Thanks!"]
    assert turns_of(said, talks=[0, 1, NONE]).opens.all()
    assert follow(turns_of(said, talks=[0, 1, NONE]), [0, NONE, NONE]) == [0, NONE, NONE]


@pytest.mark.parametrize(("hours", "opens"), [(1, False), (9, True)])
def test_another_talk_begins_after_a_long_pause(hours: int, opens: bool) -> None:
    texts = [
        NamingText(text, tuple(read_phrases(text)), None, at * hours * 3_600_000, is_talk=True)
        for at, text in enumerate(["The ferry was late again.", "Oh no!"])
    ]
    assert read_turns(texts, np.zeros(2, np.int64), np.zeros(2, np.bool_), frozenset()).opens[1] == opens


def test_conversations_that_went_on_at_the_same_time_stand_one_after_the_other() -> None:
    assert order_by_talk(np.array([1, NONE, 0, 1, 0, NONE, 1])).tolist() == [0, 3, 6, 1, 2, 4, 5]
    assert order_by_talk(np.array([], np.int64)).tolist() == []


def test_replies_lie_with_the_turn_they_answer() -> None:
    said = ["The ferry was late again.", "Oh no! And then?", "I got home by midnight.", "Poor you!", "Thanks!"]
    assert follow(turns_of(said, small=[1, 3, 4]), [0, NONE, NONE, NONE, NONE]) == [0] * 5


def test_what_begins_something_else_ends_the_thread() -> None:
    said = ["The ferry was late again.", "Oh no!", "By the way, happy birthday!", "Thank you!"]
    assert follow(turns_of(said, small=[1, 2, 3]), [0, NONE, NONE, NONE]) == [0, 0, NONE, NONE]


def test_a_greeting_lies_with_what_it_leads_to() -> None:
    said = ["Hello! What's up?", "The ferry was late again.", "What's new with you?", "The goat is ill."]
    assert follow(turns_of(said, small=[0, 2]), [NONE, 0, NONE, 1]) == [0, 0, 0, 1]
    assert follow(turns_of(said[2:], small=[0]), [NONE, 1]) == [1, 1]


def test_cheers_go_on_longer_than_what_names_new_things_and_a_mention_carries_little() -> None:
    cheers = turns_of(["The ferry was late.", *["Keep it up!"] * 20], small=range(1, 21))
    carried = follow(cheers, [0, *[NONE] * 20]).count(0)
    passing = follow(cheers, [0, *[NONE] * 20], mentions=[0]).count(0)
    things = ["saxophone", "goat", "lantern", "violin", "kettle", "hammock"]
    said = [f"Do you know the {thing}?" for thing in things]
    news = follow(turns_of(["The ferry was late?", *said]), [0, *[NONE] * 6]).count(0)
    assert 1 < news < passing < carried < 21


def test_a_statement_goes_with_what_it_was_made_of() -> None:
    said = turns_of(["The ferry was late.", "Poor you!", "Ines took the ferry."], talks=[0, 0, NONE], small=[1])
    found = follow_threads(np.array([0, NONE, NONE]), said, np.zeros(3, np.bool_), np.array([NONE, NONE, 1]))
    assert found.tolist() == [0, 0, 0]


def test_the_words_of_the_turns_beside_it_tell_what_a_turn_is_about() -> None:
    said = ["He coughs at night.", "Did you ring somebody?", "They say it is an allergy.", "Meanwhile the roof is off."]
    told = gather_topics(texts_of(said), turns_of(said))
    assert told == [("health", False), None, ("health", False), None]
    alone = ["He coughs at night.", "By the way, an allergy is no joke."]
    assert gather_topics(texts_of(alone), turns_of(alone)) == [None, ("health", True)]


def test_a_word_that_the_other_takes_up_tells_no_more() -> None:
    said = ["He coughs at night.", "A cough at night?"]
    assert gather_topics(texts_of(said), turns_of(said)) == [None, None]


@pytest.mark.parametrize(
    ("said", "topics"),
    [
        (["Der Lake war am Strand mit dem Chef und der Dame."], [None]),
        (["The lake was by the beach with the chef."], ["nature"]),
        (["Wir haben das Rad nicht mit auf die Insel genommen.", "Lake!"], [None, None]),
        (["We went on our bikes, and it was fun.", "Lake!"], [None, "nature"]),
        (["Lake!"], ["nature"]),
    ],
)
def test_words_of_another_language_that_look_like_english_ones_tell_no_topic(
    said: list[str], topics: list[str | None]
) -> None:
    assert [one and one[0] for one in gather_topics(texts_of(said), turns_of(said))] == topics


def test_a_turn_that_tells_two_topics_as_well_is_sure_of_none() -> None:
    said = ["The dentist sold his saxophone."]
    assert gather_topics(texts_of(said), turns_of(said)) == [None]


@settings(max_examples=count_examples(100))
@given(st.data())
def test_who_has_a_theme_keeps_it_and_nobody_gets_one_of_another_conversation(data: st.DataObject) -> None:
    said = data.draw(st.lists(st.sampled_from(["Thanks!", "What's up?", "The goat ate a kettle.", "", "Btw, yes."])))
    count = len(said)
    talks = sorted(data.draw(st.lists(st.integers(-1, 2), min_size=count, max_size=count)))
    themes = data.draw(st.lists(st.integers(-1, 2), min_size=count, max_size=count))
    turns = turns_of(said, talks, [at for at, text in enumerate(said) if text == "Thanks!"])
    found = follow(turns, themes)
    for place, (before, after) in enumerate(zip(themes, found, strict=True)):
        own = {theme for theme, talk in zip(themes, talks, strict=True) if talk == talks[place]}
        assert after == before if before != NONE or talks[place] == NONE else after in own | {NONE}
