"""Statements of two people are told apart by their names before the relation model is asked."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.lifecycle.distill.other_subjects import SubjectRelations, are_of_others
from core.types.belief import ComparedText, Label, Relation


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
