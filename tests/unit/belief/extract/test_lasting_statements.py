"""Which sentences a person tells of themself: openers by statements of many kinds, and talk that is no statement."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from core.belief.extract.extraction import extract_claims
from core.belief.extract.lasting_statements import find_statements

FOLDER = Path(__file__).parents[3] / "fixtures" / "statements"
OPENERS = (
    "",
    "By the way",
    "by the way",
    "Btw",
    "btw",
    "FYI",
    "fyi",
    "Oh",
    "Oh, and",
    "Oh and",
    "Just so you know",
    "just so you know",
    "Speaking of which",
    "Also",
    "also",
    "Actually",
    "And",
    "Well",
    "For the record",
    "As it happens",
    "For what it's worth",
    "On another note",
    "That reminds me",
    "Before I forget",
    "One more thing",
    "In case it helps",
    "For your information",
    "Incidentally",
    "Anyway",
    "Besides",
    "Just a heads up",
    "While we're at it",
)
MARKS = (",", "", " -", ":")
STATED = (
    "my favourite colour is teal.",
    "my favourite band is Radiohead.",
    "I prefer window seats on trains.",
    "I can't stand coriander.",
    "my sister is called Nora.",
    "my youngest son goes to the Waldorf school.",
    "our landlord is Kurt Weiss.",
    "I work as a nurse in the night shift.",
    "I drive an old Volvo.",
    "we own a cabin near the lake.",
    "I collect stamps from Portugal.",
    "my shoe size is 42.",
    "my blood type is O negative.",
    "my dentist is Dr Klein.",
    "our anniversary is on 4 May.",
    "we got married on 3 June 2015.",
    "I was born in Ghana.",
    "I grew up on a farm.",
    "I'm vegetarian.",
    "I'm left-handed.",
    "I am allergic to penicillin.",
    "I always book aisle seats.",
    "I never drink coffee after noon.",
    "I run 5 km a day.",
    "I don't eat pork.",
    "I've lived here since 2010.",
    "I have two cats and a parrot.",
    "I'm learning Portuguese.",
    "I'm flying to Oslo on 4 May.",
    "I take 25 mg now.",
    "my wifi password is tulip.",
    "I'm 1.82 m tall.",
    "I'm afraid of spiders.",
    "I used to play the cello.",
)
TALK = (
    "What is my favourite colour?",
    "Is my sister called Nora?",
    "Do I take 25 mg?",
    "Can you remind me what my shoe size is?",
    "How do I cook rice?",
    "If I lived in Graz, my rent would be lower.",
    "Maybe I will get a dog.",
    "I might move to Vienna.",
    "I wish I had a garden.",
    "I would love a boat.",
    "Suppose my car is a Volvo.",
    "Imagine I am allergic to nuts.",
    "I'm fine, thanks.",
    "I'm good.",
    "I'm so tired today.",
    "I am not sure.",
    "I'm sorry about that.",
    "I'm looking for a recipe.",
    "I'm trying to fix a bug.",
    "I think so.",
    "I see what you mean.",
    "I guess it is late.",
    "I have a question about rice.",
    "I have to go now.",
    "I need help with this essay.",
    "I want you to translate this.",
    "I got an error message.",
    "I tried it and it failed.",
    "I agree with that.",
    "My question is simple.",
    "My bad.",
    "My day was great.",
    "My code does not compile.",
    "My point is that it fails.",
    "Thanks a lot!",
    "Hello there.",
    "It is raining again.",
    "Nice weather today.",
    "That sounds wonderful.",
    "Translate this into French.",
    "Once upon a time I lived in a castle.",
    'She said "my favourite colour is red and I love it".',
    "Let me think about it.",
    "I'll try again later.",
    "I just finished reading it.",
)


def is_kept(text: str) -> bool:
    return bool(find_statements(text) or extract_claims(text))


@pytest.mark.parametrize("stated", STATED)
def test_no_opener_keeps_a_statement_from_being_one(stated: str) -> None:
    missed = []
    for opener, mark in product(OPENERS, MARKS):
        text = f"{opener}{mark} {stated}" if opener else stated[0].upper() + stated[1:]
        missed += [] if is_kept(text) else [text]
    assert missed == []


@pytest.mark.parametrize("talk", TALK)
def test_talk_is_no_statement(talk: str) -> None:
    assert find_statements(talk) == ()


@pytest.mark.parametrize("talk", [one for one in TALK if one[0] not in "\"'"])
def test_nor_behind_an_opener(talk: str) -> None:
    plain = talk if talk.startswith(("I ", "I'", "If I")) else talk[0].lower() + talk[1:]
    found = [text for opener in OPENERS[1:8] if find_statements(text := f"{opener}, {plain}")]
    assert found == []


@pytest.mark.parametrize(
    "stated",
    [
        "I'm down to one coffee a day now.",
        "It's my birthday on Friday.",
        "You should know that I stutter.",
        "My mum turns 70 in March.",
    ],
)
def test_amounts_own_days_disclosures_and_relatives_are_stated(stated: str) -> None:
    assert len(find_statements(stated)) == 1


@pytest.mark.parametrize(
    ("stated", "talk", "least", "most"), [("stated", "talk", 38, 1), ("stated_held", "talk_held", 36, 4)]
)
def test_the_kinds_are_told_from_talk_in_their_words(stated: str, talk: str, least: int, most: int) -> None:
    """The held halves were written with the others and only counted: no word is listed for one of them."""
    told, idle = ((FOLDER / f"{name}.txt").read_text("utf-8").splitlines() for name in (stated, talk))
    assert len(told) == len(idle) == 40
    assert sum(map(is_kept, told)) >= least
    assert sum(bool(find_statements(text)) for text in idle) <= most


def test_it_is_found_among_other_sentences() -> None:
    text = "Hi there! Could you help me? By the way my favourite colour is teal. Thanks!"
    ((start, end),) = find_statements(text)
    assert text[start:end].strip() == "By the way my favourite colour is teal."


def test_a_story_goes_on_to_its_paragraphs_end() -> None:
    assert find_statements("In my novel it rains. My favourite colour is teal.") == ()
    (span,) = find_statements("In my novel it rains.\n\nMy favourite colour is teal.")
    assert span[0] > 20
