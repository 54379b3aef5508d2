"""How a statement reads: pronouns that the talk itself gives, chat written out, order of its parts, said but once."""

from __future__ import annotations

import re
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spoken_lines import SAID_MS, distill_lines, statements_of

from core.talk.references import find_noun_phrases
from core.talk.statement_check import is_pep_talk
from core.talk.style.apposition import find_appositions
from core.talk.style.gender import find_genders, pronouns_of
from core.talk.style.polish import (
    drop_emphasis,
    drop_lately,
    drop_remark,
    name_speaker_first,
    shorthand,
    write_out,
)
from core.talk.turns import EpisodeText, read_turns
from core.talk.vocabulary import tokenize_talk
from core.types.talk import StatementType

WORDS = st.text(alphabet=st.characters(codec="utf-8"), max_size=60) | st.sampled_from(
    ["Mara's sister and Mara sing.", "It was a blast.", "being a mom, she", "My son Tom,", "biz - it was great."]
)


def _genders(*lines: tuple[str, str]) -> dict[str, str]:
    episodes = [EpisodeText(f"e{n}", text, speaker, SAID_MS) for n, (speaker, text) in enumerate(lines)]
    return dict(find_genders(read_turns(episodes)))


@pytest.mark.parametrize(
    ("lines", "known"),
    [
        ([("Mara", "Being a mum is loud."), ("Joss", "I bet.")], {"mara": "f"}),
        ([("Mara", "As a gay man I was nervous."), ("Joss", "Of course.")], {"mara": "m"}),
        ([("Mara", "You will be a great dad."), ("Joss", "Thanks.")], {"joss": "m"}),
        ([("Mara", "My wife Anna cooks."), ("Anna", "I do."), ("Joss", "Hi.")], {"anna": "f"}),
        ([("Mara", "Anna said she is late."), ("Anna", "Sorry."), ("Joss", "Hi.")], {"anna": "f"}),
        ([("Mara", "I met a woman at the lake."), ("Joss", "Who?")], {}),
        ([("Mara", "I see her as a mother."), ("Joss", "Yes.")], {}),
        ([("Mara", "When I was a boy it rained. Now I am a woman."), ("Joss", "Yes.")], {}),
        (
            [("Mara", "It must be hard to be a mother, I told my sister."), ("Joss", "You are a good listener.")],
            {"mara": "f"},
        ),
        ([("Mary", "I like jazz."), ("John", "I like it too.")], {}),  # a name tells nothing
    ],
)
def test_a_pronoun_is_known_where_the_talk_tells_it(lines: list[tuple[str, str]], known: dict[str, str]) -> None:
    assert _genders(*lines) == known


GENDERED = st.lists(
    st.sampled_from(["he", "Hes", "she", "shes", "HER", "his", "mum", "dads", "wife", "Anna", "my", "said", "is", "a"])
    | st.sampled_from(["as", " ", " ", "'s", "’s", ".", "!", "-", "_", "£5", "7", "é", "İ", "the", "hen", "here"]),
    max_size=12,
).map("".join)


@given(st.lists(GENDERED | WORDS, min_size=1, max_size=3))
def test_lines_that_are_passed_over_tell_no_pronoun(lines: list[str]) -> None:
    talk = [("Mara", line) for line in lines] + [("Anna", "Hi.")]
    known = _genders(*talk)
    with patch("core.talk.style.gender._gendered_words", lambda: re.compile("")):
        assert _genders(*talk) == known


MUM = ("Mara", "Being a mum is loud.")
DAD = ("Mara", "Being a dad is loud.")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I sold my boat in Leith.", "Mara sold her boat in Leith."),
        (
            "I used to go sailing with my dad when I was a kid.",
            "Mara used to go sailing with her dad when she was a kid.",
        ),
        ("I coach a boy from Leith just like me.", "Mara coaches a boy from Leith just like her."),
        ("I teach myself the cello.", "Mara teaches herself the cello."),
        ("I asked my sister to sell my boat in Leith.", "Mara asked her sister to sell Mara's boat in Leith."),
    ],
)
def test_a_mother_is_she(said: str, told: str) -> None:
    assert told in statements_of(MUM, ("Joss", "I see."), ("Mara", said))


def test_a_father_is_he_and_who_is_neither_is_they() -> None:
    assert "Mara sold his boat in Leith." in statements_of(
        DAD, ("Joss", "I see."), ("Mara", "I sold my boat in Leith.")
    )
    assert statements_of(("Mara", "I sold my boat in Leith.")) == ["Mara sold their boat in Leith."]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I had a tutor when I was learning the cello.", "Mara had a tutor when Mara was learning the cello."),
        ("I keep a list that helps me in Leith.", "Mara keeps a list that helps Mara in Leith."),
        ("Losing my job gave me the push to open a bakery.", "Losing their job gave Mara the push to open a bakery."),
        ("My neighbours and I built a shed in Leith.", "Mara and their neighbours built a shed in Leith."),
        ("When I was small, my aunt and I lived in Kiel.", "When Mara was small, they and their aunt lived in Kiel."),
        ("I joined a LGBTQ choir and a SCUBA club in Kiel.", "Mara joined an LGBTQ choir and a SCUBA club in Kiel."),
        ("Our one-year-old is so cute, his name is Kyle!", "Mara's one-year-old is called Kyle."),
        ("I'm definitely moving to Kiel.", "Mara is moving to Kiel."),
        ("I run a biz with my bestie in Kiel.", "Mara runs a business with their best friend in Kiel."),
        ("I took the twins to Kiel - it was a really nice time.", "Mara took the twins to Kiel."),
        ("I enjoy rowing, it's a great way to relax.", "Mara enjoys rowing."),
    ],
)
def test_a_statement_reads_as_a_person_would_note_it(said: str, told: str) -> None:
    assert told in statements_of(("Mara", said))


def test_a_date_is_put_before_its_own_verb() -> None:
    told = statements_of(("Mara", "I gave my old bike to a school I teach at yesterday."))
    assert told == ["On 2 March 2025 Mara gave their old bike to a school Mara teaches at."]
    told = statements_of(("Mara", "I took a short trip yesterday to Rome to see Jean."))
    assert told == ["On 2 March 2025 Mara took a short trip to Rome to see Jean."]
    assert statements_of(("Mara", "I sold the bike yesterday.")) == ["Mara sold the bike on 2 March 2025."]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Lost my job as a baker yesterday.", "Mara lost their job as a baker on 2 March 2025."),
        ("Been fixing up a boat in Leith.", "Mara has been fixing up a boat in Leith."),
        ("Still working on my boat.", "Mara is working on their boat."),
        ("Since we last spoke, I took my kids to Kiel.", "Mara took their kids to Kiel."),
        ("Yesterday, there was a flood in our street.", "On 2 March 2025, there was a flood in Mara's street."),
        ("I just adopted this old dog from a shelter.", "Mara adopted an old dog from a shelter."),
        ("I met this woman, Jean, in Leith.", "Mara met a woman, Jean, in Leith."),
        ("A friend of mine teaches in Kiel.", "A friend of Mara's teaches in Kiel."),
        ("We're considering adopting a cat.", "Mara is considering adopting a cat."),
        ("Last year I took a solo trip and took this pic in Spain.", "In 2024 Mara took a solo trip."),
    ],
)  # fmt: skip
def test_what_a_friend_would_know_is_not_lost(said: str, told: str) -> None:
    assert told in statements_of(("Mara", said))


@pytest.mark.parametrize(
    "said",
    [
        "I'm off to bake some bread.",
        "My family is awesome.",
        "I started when I was young.",
        "I can make a special evening for my guests.",
        "We need way better roads.",
        "We can't lean on Isobel forever.",
        "Growing my little farm is the main thing.",
        "I was just thinking of my old school yesterday.",
        "I'm game for a swim in Leith.",
        "I stay positive and find a way.",
        "There were crafts at a fair.",
        "I told you about the boat in Leith.",
        "There is no signal in Leith unless you climb up.",
        "A year since Tom moved to Leith.",
        "I've learned precisely nothing.",
        "My dog is lying on the tiles in Leith.",
        "My dad is in the shed.",
        "My dad is doing the dishes.",
        "I start on Sunday.",
        "I'm back on Saturdays.",
        "There is a place on Magdalen Street.",
        "I'm even learning with my students.",
        "I want to be valiant for my family.",
        "I've been accepted.",
    ],
)
def test_what_is_no_fact_or_needs_its_surroundings_is_no_statement(said: str) -> None:
    assert statements_of(("Mara", said), ("Joss", "I see.")) == []


def test_a_plan_with_a_day_is_no_goodbye() -> None:
    assert is_pep_talk(["tom", "can", "come", "soon"], StatementType.PLAN)
    assert not is_pep_talk(["tom", "can", "come", "on", "3", "may", "2025"], StatementType.PLAN)
    assert statements_of(("Mara", "I'm off to Lisbon in June.")) == ["Mara is off to Lisbon in June 2025."]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I do - Oscar, my rabbit.", "Oscar is Mara's rabbit."),
        ("That picture was for my daughter Sara's birthday!", "Sara is Mara's daughter."),
        ("It is a gift from my home country, Sweden.", "Sweden is Mara's home country."),
    ],
)
def test_who_somebody_is_to_the_speaker_is_kept_though_said_by_the_way(said: str, told: str) -> None:
    assert told in statements_of(("Mara", said), ("Joss", "I see."))
    assert sum(one == told for one in statements_of(("Mara", said), ("Joss", "I see."), ("Mara", said))) == 1


@pytest.mark.parametrize(
    "said", ["Thanks Joss, my dog is ill!", "My sister, Tom and I sing.", "My ex Tom rang.", "Joss, my friend, hello!"]
)
def test_a_name_that_only_calls_or_stands_beside_is_no_relation(said: str) -> None:
    tokens = tokenize_talk(said)
    assert list(find_appositions(tokens, find_noun_phrases(tokens), frozenset(("mara", "joss")))) == []


def test_one_pursuit_is_one_text_with_several_sources() -> None:
    done = distill_lines(
        ("Mara", "I've been looking into counseling and mental health as a career."),
        ("Joss", "Good."),
        ("Mara", "I'm looking into counseling and mental health jobs."),
    )
    assert {one.text for one in done.statements} == {
        "Mara has been looking into counseling and mental health as a career."
    }
    assert [one.episode_id for one in done.statements] == ["e0", "e2"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I want to sail round the old islands of Norway.", "I want to sail round the old islands of Greece."),
        ("I want to sail round all 5 old islands.", "I want to sail round all 6 old islands."),
        ("I work as a night nurse at the city hospital.", "I work as a night porter at the city hospital."),
        ("I am having a big garden party in June.", "I am having a big garden party in July."),
    ],
)
def test_two_pursuits_are_two(first: str, second: str) -> None:
    assert len({*statements_of(("Mara", first), ("Joss", "Good."), ("Mara", second))}) == 2


def test_years_are_told_from_how_long_it_was_asked() -> None:
    told = statements_of(("Joss", "How long have you been painting?"), ("Mara", "Since I was 17 or so."))
    assert told == ["Mara has been painting since Mara was 17 or so."]


def test_the_name_of_an_animal_that_one_has_is_told_as_theirs() -> None:
    told = statements_of(
        ("Mara", "I adopted a puppy last week. Her name's Coco and she's adorable."), ("Joss", "Sweet.")
    )
    assert told[1] == "Mara's puppy is called Coco."
    told = statements_of(
        ("Joss", "I met a mentor in Leith."),
        ("Mara", "I adopted a puppy in Leith."),
        ("Joss", "What's her name?"),
        ("Mara", "Her name is Shadow!"),
    )
    assert told[-1] == "Mara's puppy is called Shadow."


def test_words_of_chat_have_no_second_meaning_and_are_written_out_once() -> None:
    assert not set(shorthand().values()) & {*shorthand()}
    assert write_out("Mara's fam likes pics.") == "Mara's family likes pictures."
    assert write_out("IT COMP") == "IT COMP"


def test_what_narrows_stays() -> None:
    assert drop_remark("Mara sold the boat - it was not great.") == "Mara sold the boat - it was not great."
    assert drop_remark("Mara sold the boat, it was a false alarm.") == "Mara sold the boat, it was a false alarm."
    assert drop_lately("Mara has not slept lately.") == "Mara has not slept lately."
    assert drop_emphasis("Mara does not really like tea.", "Mara") == "Mara does not really like tea."


@given(WORDS)
def test_any_text_is_polished_without_an_exception_and_at_once(text: str) -> None:
    assert write_out(write_out(text)) == write_out(text)
    for done in (drop_remark(text), drop_lately(text), drop_emphasis(text, "Mara")):
        assert len(done) <= len(text) + 1
    assert isinstance(name_speaker_first(text, "Mara", pronouns_of("f")), str)
    assert set(_genders(("Mara", text), ("Joss", text)).values()) <= {"f", "m"}


def test_a_relation_has_its_type() -> None:
    done = distill_lines(("Mara", "It is from my son Tom's school."), ("Joss", "I see."))
    assert (StatementType.RELATIONSHIP, "Tom") in [(one.type, one.about) for one in done.statements]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I sing in a choir near me on Mondays.", "Mara sings in a choir near them on Mondays."),
        (
            "I wrote letters to publishers near me on Monday.",
            "Mara wrote letters to publishers near Mara on 24 February 2025.",
        ),
        ("I finally moved into my flat in Leith yesterday.", "Mara moved into their flat in Leith on 2 March 2025."),
        ("I think there's people in Leith who bake.", "Mara thinks there are people in Leith who bake."),
    ],
)
def test_they_are_the_speaker_where_nobody_else_is_before_it(said: str, told: str) -> None:
    assert statements_of(("Mara", said)) == [told]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I keep a list that helps me in Leith.", "Mara keeps a list that helps Mara in Leith."),
        ("I joined a choir because I am fond of old songs.", "Mara joined a choir because Mara is fond of old songs."),
        ("I lost my job as a baker yesterday.", "Mara lost their job as a baker on 2 March 2025."),
    ],
)
def test_who_does_something_is_named_where_nobody_told_a_pronoun(said: str, told: str) -> None:
    assert statements_of(("Mara", said)) == [told]
    known = statements_of(("Mara", "I am a proud mom."), ("Joss", "Nice."), ("Mara", said))
    assert (
        told.replace("because Mara", "because she").replace("helps Mara", "helps her").replace("their", "her") in known
    )
