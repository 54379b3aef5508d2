"""What a person would expect of how long a text lasts: claims, cues, and `standard` in doubt."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from core.belief.extract.extraction import extract_claims
from core.belief.extract.frames import predicate_names
from core.belief.extract.validity import LEVELS, classify_permanence, longest_permanence, reconcile_permanence
from core.errors import Code, UserError
from core.types.belief import ClaimDraft
from core.types.values import Kind


def level(text: str, kind: Kind = Kind.FACT) -> str:
    return classify_permanence(text, extract_claims(text, now_ms=0, said_ms=0), kind)


def given(predicate: str, value: str, text: str, polarity: str = "positive") -> ClaimDraft:
    """A claim that came with its text, all of it its evidence."""
    return ClaimDraft("user", predicate, value, exclusive=True, polarity=polarity, end=len(text), method="given")


def test_the_levels_go_from_the_longest_lasting_on() -> None:
    assert LEVELS == ("permanent", "stable", "standard", "volatile", "ephemeral")


def test_every_predicate_of_the_vocabulary_has_a_level() -> None:
    loaded = json.loads((files("resources") / "lifecycle" / "permanence.json").read_text("utf-8"))
    assert set(loaded["predicates"]) == set(predicate_names())
    assert {*loaded["predicates"].values(), *loaded["cues"]} <= set(LEVELS)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("I was born on 8 November 1936.", "permanent"),
        ("I am allergic to hazelnuts.", "permanent"),
        ("My name is Ada.", "permanent"),
        ("I live in Graz.", "stable"),
        ("I prefer tea.", "stable"),
        ("My dog is called Rex.", "stable"),
        ("We plan to visit Oslo.", "volatile"),
        ("The project is on hold.", "volatile"),
    ],
)
def test_a_claim_says_how_long_its_text_lasts(text: str, wanted: str) -> None:
    assert level(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("My grandmother was born in Linz.", "permanent"),
        ("Uncle Karl is buried in Hallein.", "permanent"),
        ("My mother\u2019s MAIDEN NAME was Huber.", "permanent"),
        ("Anna is my sister.", "permanent"),
        ("My bank is the one by the river.", "stable"),
        ("I never eat meat.", "stable"),
        ("The server is down right now.", "volatile"),
        ("I'm feeling a bit low this week.", "volatile"),
        ("I feel quite worn out today.", "ephemeral"),
    ],
)
def test_a_text_without_a_claim_goes_by_its_cues(text: str, wanted: str) -> None:
    assert classify_permanence(text, (), Kind.FACT) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "Hello!",
        "The shelf holds jar seven.",
        "I never got the parcel.",
        "We signed the contract today.",  # when it happened, not how long it lasts
        "Was Goethe born in Frankfurt?",
        "Whoever was born there, is it known?",
        "A child was born right now.",  # one cue against the other
        "He was stubborn.",  # whole words only
    ],
)
def test_in_doubt_it_is_standard(text: str) -> None:
    assert classify_permanence(text, (), Kind.FACT) == "standard"


def test_a_claim_goes_before_a_cue() -> None:
    assert level("I live in Graz right now.") == "stable"


def test_the_longest_lasting_of_several_counts_if_all_sentences_have_one() -> None:
    assert level("Hi there! I live in Graz. I am allergic to hazelnuts.") == "permanent"
    assert level("I feel tired today. I live in Graz.") == "stable"
    assert level("I am allergic to hazelnuts. The weather was nice on the lake.") == "standard"


def test_a_claim_that_was_given_holds_for_the_sentence_of_its_value_alone() -> None:
    text = "She came in the year 1936. Then there was a lot of talk about boats."
    assert classify_permanence(text, [given("born_on", "1936", text)], Kind.FACT) == "standard"
    first = text.partition(" Then")[0]
    assert classify_permanence(first, [given("born_on", "1936", first)], Kind.FACT) == "permanent"
    assert classify_permanence(first, [given("born_on", "the 1930s", first)], Kind.FACT) == "permanent"
    assert classify_permanence(first, [given("likes_most", "1936", first)], Kind.FACT) == "standard"


def test_a_denial_is_never_permanent() -> None:
    assert level("I have no children.") == "stable"
    text = "Not on hold."
    assert classify_permanence(text, [given("status_is", "on hold", text, "negative")], Kind.FACT) == "volatile"


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        (Kind.RULE, "permanent"),
        (Kind.PROCEDURE, "permanent"),
        (Kind.EPISODE, "standard"),
        (Kind.DIGEST, "standard"),
    ],
)
def test_an_episode_and_a_digest_are_standard(kind: Kind, wanted: str) -> None:
    assert level("I am allergic to hazelnuts.", kind) == wanted


def test_the_longer_of_two() -> None:
    assert longest_permanence(["volatile", "stable", "standard"]) == "stable"


@pytest.mark.parametrize(
    ("told", "read", "wanted"),
    [
        ("permanent", "standard", "standard"),  # a model must not make junk permanent
        ("stable", "standard", "stable"),
        ("ephemeral", "standard", "ephemeral"),
        ("permanent", "stable", "permanent"),
        ("stable", "volatile", "volatile"),
        ("volatile", "permanent", "permanent"),
        ("stable", "permanent", "stable"),
        ("standard", "permanent", "permanent"),
    ],
)
def test_a_model_may_be_one_level_off(told: str, read: str, wanted: str) -> None:
    assert reconcile_permanence(told, read) == wanted


def test_invalid_permanence_rejected() -> None:
    for told in ("eternal", ""):
        with pytest.raises(UserError, match="permanent, stable, standard, volatile, ephemeral") as caught:
            reconcile_permanence(told, "standard")
        assert caught.value.code is Code.INVALID_INPUT
    with pytest.raises(UserError, match="permanent, stable, standard"):
        longest_permanence(["stable", "eternal"])
