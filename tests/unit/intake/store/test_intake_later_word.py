"""Which of the person's statements their later one ends: at most one, and none in doubt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import START_MS, HandClock, Rig, rig_at
from real_models import real_embedder, real_readers

from core.types.values import Source

HOUR = 3_600_000


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """An empty vault with the models that are shipped."""
    with rig_at(tmp_path, clock=HandClock(START_MS), embedder=real_embedder(), readers=real_readers()) as rig:
        yield rig


def tell(rig: Rig, *texts: str) -> set[str]:
    """Tell one after another, an hour apart: what of it is over in the end."""
    told: dict[str, str] = {}
    for text in texts:
        assert isinstance(rig.clock, HandClock)
        rig.clock.at_ms += HOUR
        told[rig.store(text, source=Source.USER_EXPLICIT).memory_id] = text
    over = rig.rows("SELECT id FROM memories WHERE status NOT IN ('active', 'disputed')")
    return {told[str(row[0])] for row in over}


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Wendeline plays the bassoon in our town band.", "Wendeline has switched to a vegan diet."),
        ("Ottokar and I are sailing to Bornholm in August.", "Ottokar has gone back to school."),
        ("I share an allotment with Yusra.", "Choir practice is cancelled; I bake with Yusra's nieces on Mondays."),
    ],
)
def test_a_name_alone_in_common_ends_nothing(rig: Rig, earlier: str, later: str) -> None:
    assert tell(rig, earlier, later) == set()


def test_of_two_that_may_be_meant_equally_none_ends(rig: Rig) -> None:
    both = ("Ludmila runs the kiosk.", "Ludmila and I are buying a caravan in June.")
    assert tell(rig, *both, "Ludmila has gone freelance.") == set()


def test_of_several_about_one_person_the_one_of_the_same_property_ends(rig: Rig) -> None:
    car = "Ludmila drives a green Skoda."
    others = ("Ludmila is allergic to bees.", "Ludmila and I share the cellar.")
    assert tell(rig, *others, car, "Ludmila's green Skoda is gone, she drives a van.") == {car}


@pytest.mark.parametrize(
    "rumour",
    ["There is talk of raising the berth to five hundred.", "If only the berth were down to five hundred."],
)
def test_what_is_not_asserted_ends_nothing(rig: Rig, rumour: str) -> None:
    assert tell(rig, "It is four hundred a year for the berth from now on.", rumour) == set()


def test_an_order_ends_another_order(rig: Rig) -> None:
    order = "Reply to me in Danish please."
    assert tell(rig, order, "Let's keep all of it in German from here on.") == {order}


def test_who_speaks_of_one_of_two_things_does_not_end_both(rig: Rig) -> None:
    both = "Aprons are blue this year, baker is Halloran Mills."
    assert tell(rig, both, "The baker pulled out, no crest on the aprons now.") == set()
