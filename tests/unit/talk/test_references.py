"""Whom pronouns mean, with how much confidence."""

from __future__ import annotations

import pytest

from core.talk.references import References, possessive
from core.talk.vocabulary import tokenize_talk
from core.types.talk import Turn

LEAST = 0.55


def _after(*lines: tuple[str, str], group: bool = False) -> References:
    speakers = ["Mara", "Joss", *(["Pia"] if group else [])]
    references = References([Turn(name, name, "x") for name in speakers])
    for number, (speaker, text) in enumerate(lines):
        references.turn = number
        references.note(tokenize_talk(text), speaker, "Joss" if speaker == "Mara" else "Mara")
    references.turn = len(lines)
    return references


def _meant(references: References, pronoun: str) -> str:
    found, sure = references.resolve(pronoun, not_meant=("Mara", "Joss"))
    return found.name if found and sure >= LEAST else ""


@pytest.mark.parametrize(
    ("said", "pronoun", "meant"),
    [
        ("My sister Wren could bake.", "she", "Wren"),
        ("My sister Wren could bake.", "he", ""),
        ("My brother lives in Kiel.", "he", "Mara's brother"),
        ("I saw your uncle.", "him", "Joss's uncle"),
        ("We got a dog.", "he", "Mara's dog"),
        ("My parents moved.", "they", "Mara's parents"),
        ("I bought a boat.", "it", "the boat"),
        ("My deaf uncle came.", "he", "Mara's deaf uncle"),
        ("My brother in law came.", "he", "Mara's brother in law"),
        ("I live in Kiel.", "he", ""),
        ("It rains.", "she", ""),
    ],
)
def test_a_pronoun_is_the_last_named_that_fits(said: str, pronoun: str, meant: str) -> None:
    assert _meant(_after(("Mara", said)), pronoun) == meant


def test_two_that_fit_are_too_many() -> None:
    assert _meant(_after(("Mara", "I met Anna and Emma.")), "she") == ""


def test_a_sister_is_she_where_a_brother_was_named_later() -> None:
    references = _after(("Mara", "My sister Wren bakes."), ("Mara", "My brother Leo eats."))
    assert (_meant(references, "she"), _meant(references, "he")) == ("Wren", "Leo")


def test_what_a_pronoun_said_of_somebody_is_kept() -> None:
    references = _after(("Mara", "I met Alex with the dog."))
    found, _ = references.resolve("she", not_meant=("Mara", "Joss"))
    assert found is not None
    references.mark_resolved(found, "she")
    he, _ = references.resolve("he", not_meant=("Mara", "Joss"))
    assert he is None or he.name != found.name


def test_a_name_that_may_be_meant_makes_a_pronoun_doubtful() -> None:
    assert _meant(_after(("Mara", "Thomas came."), ("Mara", "We waited for Zorvik.")), "he") == ""


def test_somebody_long_ago_is_not_meant() -> None:
    lines = [("Mara", "My sister Wren bakes."), *[("Joss", "Yes.")] * 8]
    assert _meant(_after(*lines), "she") == ""


def test_of_two_the_other_is_addressed_and_of_many_nobody_for_sure() -> None:
    turn = Turn("e", "Mara", "x")
    assert _after().addressee_of(turn, "Joss")[0] == "Joss"
    assert _after(group=True).addressee_of(turn, "Pia")[1] < LEAST
    many = References([Turn("e", f"N{n}", "x") for n in range(50)])
    assert many.addressee_of(Turn("e", "N1", "x"), "N2") == ("", 0.0)


def test_an_assistant_is_not_addressed_by_name() -> None:
    turns = [Turn("a", "User", "x", is_owner=True), Turn("b", "Assistant", "y", is_assistant=True)]
    references = References(turns)
    assert references.addressee_of(turns[0], "Assistant") == ("", 0.0)
    assert references.name_of(turns[0]) == "You"
    assert references.has_assistant


def test_after_a_pause_nobody_goes_on_with_a_pronoun() -> None:
    references = _after(("Mara", "My sister Wren bakes."))
    references.note_speaker(Turn("a", "Mara", "x", said_ms=0))
    assert _meant(references, "she") == "Wren"
    references.note_speaker(Turn("b", "Mara", "x", said_ms=24 * 3_600_000))
    assert _meant(references, "she") == ""


def test_who_may_have_been_named_last_makes_an_older_one_doubtful() -> None:
    assert _meant(_after(("Mara", "My mother has a boat."), ("Mara", "Zuri from the yard fixed a door.")), "she") == ""


def test_it_is_not_what_something_only_stands_beside() -> None:
    assert _meant(_after(("Mara", "These are currants from my garden.")), "it") == ""
    assert _meant(_after(("Mara", "I have a boat and some trouble.")), "it") == ""


def test_names_own_things() -> None:
    assert [possessive(name) for name in ("Mara", "You", "Mara's parents", "James")] == [
        "Mara's", "your", "Mara's parents'", "James's",
    ]  # fmt: skip
