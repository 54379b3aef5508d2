"""Statements of two people, or with nothing in common, are told apart before the relation model is asked."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.belief.relate.supersession import read_supersession_text
from core.lifecycle.distill.other_subjects import SubjectRelations, are_of_others, speak_of_others
from core.types.belief import ClaimDraft, ComparedText, Label, Relation


@pytest.mark.parametrize(
    ("first", "second", "is_apart"),
    [
        ("Mara lives in Graz.", "Jon lives in Bremen.", True),
        ("Mara's brother is a baker.", "Jon's sister is a baker.", True),
        ("Mara lives in Graz.", "Mara lives in Bremen.", False),
        ("Sam lives in Graz.", "Samantha lives in Bremen.", False),
        ("Mara's sister Wren has a shop.", "Wren closed her shop.", False),
        ("Mara lives in Graz.", "Jon lives in Graz.", False),  # asked, though they are two: a name is in both
        ("You live in Graz.", "Jon lives in Bremen.", False),
        ("The boat is Mara's.", "Jon sold it.", False),
        ("Mara likes you.", "Jon left.", False),
        ("", "Jon left.", False),
    ],
)
def test_two_names_are_two_subjects(first: str, second: str, is_apart: bool) -> None:
    assert are_of_others(first, second) is is_apart
    assert are_of_others(second, first) is is_apart


@pytest.mark.parametrize(
    ("earlier", "later", "is_apart"),
    [
        ("Jon wants to start a dance studio.", "Jon reads a book about bees.", True),
        ("The mooring of the boat is paid until June.", "The boat's mooring is paid until July 2028.", False),
        ("Mara has two cats.", "Mara's cats are called Flint and Ash.", False),
        ("Mara is vegetarian.", "Mara eats meat again.", False),  # a word of a change beside a short one
        ("Mara is vegetarian.", "Mara has two brothers.", True),
        ("Jon rehearsed a new dance with a small group after work.", "Jon wants to teach others to dance well.", True),
    ],
)
def test_what_has_little_in_common_is_apart(earlier: str, later: str, is_apart: bool) -> None:
    assert speak_of_others(read_supersession_text(earlier), read_supersession_text(later)) is is_apart


def test_only_what_may_have_one_subject_is_asked() -> None:
    asked: list[tuple[str, str]] = []

    class Everything:
        def classify(self, pairs: Sequence[tuple[ComparedText, ComparedText]]) -> tuple[Relation, ...]:
            asked.extend((one.text, other.text) for one, other in pairs)
            return tuple(Relation(Label.SUPERSEDE, 1.0, {Label.SUPERSEDE: 1.0}, "builtin") for _ in pairs)

    new = ComparedText("Mara lives in Bremen.")
    pairs = [(ComparedText("Jon lives in Graz."), new), (ComparedText("Mara lives in Graz."), new)]
    found = SubjectRelations(Everything()).classify(pairs)
    assert asked == [("Mara lives in Graz.", "Mara lives in Bremen.")]
    assert [one.label for one in found] == [Label.COEXIST, Label.SUPERSEDE]


def test_claims_of_one_property_are_asked_about_whatever_the_words() -> None:
    class Everything:
        def classify(self, pairs: Sequence[tuple[ComparedText, ComparedText]]) -> tuple[Relation, ...]:
            return tuple(Relation(Label.SUPERSEDE, 1.0, {Label.SUPERSEDE: 1.0}, "builtin") for _ in pairs)

    texts = "Mara lives in an old mill near Graz.", "Mara has found something new by the sea."
    plain = [ComparedText(text) for text in texts]
    claimed = [
        ComparedText(text, claims=(ClaimDraft("Mara", "lives_in", value, exclusive=True),))
        for text, value in zip(texts, ("Graz", "the sea"), strict=True)
    ]
    found = SubjectRelations(Everything()).classify([(plain[0], plain[1]), (claimed[0], claimed[1])])
    assert [one.label for one in found] == [Label.COEXIST, Label.SUPERSEDE]
