"""Texts of one frame whose numbers name other things, against quantities that change."""

from __future__ import annotations

import pytest

from core.belief.relation import NUMBERED, RelationModel
from core.belief.series import in_series
from core.types.belief import Label, Told


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Pot 3 of the Celadon series.", "Pot 4 of the Celadon series."),
        (
            "The kiln was fired for the 2nd time, and pot 0 cracked.",
            "The kiln was fired for the 3rd time, and pot 1 cracked.",
        ),
        ("Note number 7 is about bees.", "Note number 8 is about bees."),
    ],
)
def test_a_number_that_names_or_counts_is_another_matter(old: str, new: str) -> None:
    assert in_series(old, new)
    assert in_series(new, old)
    (found,) = RelationModel().classify([(Told(old), Told(new))])
    assert (found.label, found.reason, found.certain) == (Label.COEXIST, NUMBERED, True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Rent 900 a month.", "Rent 950 a month."),
        ("Takes 20 mg in the morning.", "Takes 40 mg in the morning."),
        ("The budget is 180.", "The budget is 200."),
        ("Pot 3 of the Celadon series.", "Pot 3 of the Ash series."),
        ("Pot 3 of the series.", "Pot 3 of the series."),
        ("", "Pot 3 of the series."),
    ],
)
def test_a_quantity_or_another_word_is_none(old: str, new: str) -> None:
    assert not in_series(old, new)
