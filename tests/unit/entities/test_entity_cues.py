"""What stands beside a name says what it names; titles of works; words that people write small are no names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.entities.name_cues import find_works, read_cue
from core.entities.recognition import recognize_names
from core.text.terms import plain_words


def types(text: str) -> dict[str, str]:
    return {one.name: one.type for one in recognize_names(text).candidates}


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("we took our hamster Nubbin along", "Nubbin", "pet"),
        ("I got a kitten last week! Her name's Plum and she sleeps", "Plum", "pet"),
        ("did you groom Tolstoy yesterday", "Tolstoy", "pet"),
        ("they flew to Antofagasta on the third", "Antofagasta", "place"),
        ("it rains in Ålesund", "Ålesund", "place"),
        ("she got a job at Quillfeather this year", "Quillfeather", "organization"),
        ("my bank is New York based, not British Gas", "British Gas", "organization"),
        ("so I asked Ottoline about it", "Ottoline", "person"),
        ("we chose Rosalind wallpaper for the hall", "Rosalind", "other"),
        ("I like Rosalind's wallpaper, thanks Rosalind!", "Rosalind", "person"),
        ("a guy called Winibald sings here", "Winibald", "person"),
        ("well, thanks Ottoline!", "Ottoline", "person"),
        ("I was reading Klara and the Moon on the train", "Klara and the Moon", "work"),
        ("we finished 'Tea at Seven' and then watched Ganymede again", "Ganymede", "work"),
        ("his truck, which is called Ottoline, is red", "Ottoline", "other"),
        ("we rented a houseboat named the Quandary", "Quandary", "other"),
        ("she sings in a choir called the Larkspurs", "Larkspurs", "organization"),
        ("my home insurance is with Bramblegate now", "Bramblegate", "organization"),
        ("they have a hut in a valley below Tarnholm", "Tarnholm", "place"),
        ("we saw Vorselaar, an old market town", "Vorselaar", "place"),
        ("the Orlen valley is full of mist", "Orlen", "place"),
        ("I had a postcard from Ottoline yesterday", "Ottoline", "person"),
        ("it was Winibald, with whom I learnt to row", "Winibald", "person"),
        ("two cousins, Ottmar and Winibald, came", "Winibald", "person"),
        ("the deadline for Quiet Harvests is May", "Quiet Harvests", "project"),
        ("the walk starts at Cooper's Lock today", "Cooper's Lock", "place"),
        ("she lay in St Brannoc's Hospital", "St Brannoc's Hospital", "organization"),
        ("I sent it to Quern Press in May", "Quern Press", "organization"),
        ("- *The Slow Boat*, Ottoline Prye: lent to him in May and not back yet", "The Slow Boat", "work"),
        ("a mistake on page 12 of The Rowers' Handbook", "The Rowers' Handbook", "work"),
        ("we open with Amber Weather and then take a break", "Amber Weather", "work"),
        ("I lost it on the bus. Farewell, Orla Venn, page 312.", "Orla Venn", "work"),
        ("Vorselaar is still my favourite film", "Vorselaar", "work"),
        ("the song's called Amber Weather, you know it", "Amber Weather", "work"),
        ("she chose Amber Weather for our book club", "Amber Weather", "work"),
        ("I've got through The Tin Orchard and I'm not sure", "The Tin Orchard", "work"),
        ("we binge The Tin Orchard on Friday evenings", "The Tin Orchard", "work"),
        ("nothing beats Quandary by Ottoline Prye", "Quandary", "work"),
        ("the book that I like most is \u201cThe Slow Boat\u201d by Ottoline Prye", "The Slow Boat", "work"),
    ],
)
def test_a_cue_tells_the_type(text: str, name: str, kind: str) -> None:
    assert types(text).get(name) == kind


@pytest.mark.parametrize(
    "text",
    [
        "we watched Winibald play tennis",
        "we saw Winibald and the river",
        "I played with Winibald and lost",
        "we finished Monday's walk early",
        "she gave me Winibald Prye's number",
        "I heard Winibald sing",
    ],
)
def test_whoever_does_something_or_is_seen_is_no_work(text: str) -> None:
    assert "work" not in types(text).values()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ten days with Ottmar and the dog", "Ottmar"),
        ("we took the puppy along to Vorselaar", "Vorselaar"),
        ("a week on Tarnholm with our old terrier", "Tarnholm"),
        ("I met Winibald with his spaniel", "Winibald"),
    ],
)
def test_whoever_is_beside_a_pet_is_none(text: str, name: str) -> None:
    assert types(text).get(name) != "pet"


NOTE = "---\ncreated: 2026-01-02\ntags: [{tags}]\npeople: [Ottoline, Winibald]\n---\n# {heading}\n\nWe begin soon.\n"


@pytest.mark.parametrize(
    ("tags", "name", "kind"),
    [
        ("project, garden", "Quiet Harvests", "project"),
        ("people, family", "Quiet Harvests", "person"),
        ("trip", "Winibald", "person"),
    ],
)
def test_the_properties_of_a_note_tell_what_its_heading_and_its_people_are(tags: str, name: str, kind: str) -> None:
    assert types(NOTE.format(tags=tags, heading="Quiet Harvests")).get(name) == kind


def test_a_heading_without_a_telling_tag_or_with_two_is_untold() -> None:
    for tags in ("garden", "project, people"):
        assert "Quiet Harvests" not in types(NOTE.format(tags=tags, heading="Quiet Harvests"))


def test_a_surname_that_is_a_landmark_too_belongs_to_a_person() -> None:
    assert types("we met Emma Hall there")["Emma Hall"] == "person"
    assert types("we met at Quern Hall there")["Quern Hall"] == "place"


def test_what_is_liked_is_a_title_and_what_something_is_like_is_none() -> None:
    assert types("in summer I like Ganymede and the Kettle best of all")["Ganymede and the Kettle"] == "work"
    assert "work" not in types("we play old tunes like Ottmar and Winibald wrote").values()


def test_an_animal_in_a_sentence_makes_no_pet_of_what_has_an_article() -> None:
    assert types("dogs were barking behind the Quandary all night").get("Quandary") != "pet"


@pytest.mark.parametrize(
    "text",
    [
        "I sent PDFs and learnt some Slovene on Tues.",
        "Cool! Wow! Thankfully it rained.", "Y, after eight.", "Paid. Landed at four. Barely.", "See you Friday, Mum",
        "Good Morning! Happy Birthday!", "Congrats on the job", "Poor thing", "Absolutely. Same here. Great job!",
    ],
)  # fmt: skip
def test_greetings_days_and_openers_are_no_names(text: str) -> None:
    assert types(text) == {}


def test_an_adverb_before_a_name_is_no_part_of_it() -> None:
    assert list(types("Thankfully Ottoline said yes.")) == ["Ottoline"]
    assert list(types("I lost my job at Door Dash today.")) == ["Door Dash"], "in a sentence a capital has a reason"


def test_a_shouted_text_and_one_of_short_sentences_differ() -> None:
    assert types("OTTOLINE IS NOT HERE AND NOT HAPPY TODAY") == {}
    assert types("In. Can Amara come? She is in Lagos. Yes.")["Amara"] == "person"


def test_plain_words_are_small_words() -> None:
    assert {"paid", "landed", "poor"} <= plain_words()
    assert all(word.islower() for word in plain_words())


@given(st.text(max_size=120), st.integers(0, 119), st.integers(1, 20), st.booleans())
def test_any_place_of_any_text_is_read(text: str, start: int, size: int, is_first_name: bool) -> None:
    cue = read_cue(text, start, min(len(text), start + size), is_first_name=is_first_name)
    assert cue is None or cue.type in ("person", "pet", "place", "organization")
    spans = list(find_works(text))
    assert all(0 <= a < b <= len(text) for a, b in spans)
