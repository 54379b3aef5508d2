"""Which of the person's statements their later one ends: at most one, and none in doubt."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from engine_rig import START_MS, HandClock, Rig, rig_at
from real_models import real_embedder, real_readers

from core.types.belief import BY_MEANING, ComparedText, Label, Relation
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


@pytest.mark.parametrize(
    ("earlier", "later", "is_ended"),
    [
        ("I live in Tarvin.", "I moved away from Tarvin.", True),
        ("I live in Tarvin.", "I used to live in Tarvin.", True),
        ("I live in Tarvin.", "My brother used to live in Tarvin.", False),
        ("Odalind works at the brewery.", "Odalind used to work at the brewery.", True),
        ("Odalind works at the brewery.", "Odalind's aunt left the brewery.", False),
        ("The spare key hangs in the pantry.", "The spare key used to hang in the pantry.", True),
        ("Leopold has shingles.", "Leopold is cured of his shingles.", True),
        ("I'm a member of the glider club.", "I'm thinking of leaving the glider club.", False),
    ],
)
def test_a_plain_end_ends_what_it_names(rig: Rig, earlier: str, later: str, is_ended: bool) -> None:
    assert tell(rig, earlier, later) == ({earlier} if is_ended else set())


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


class Odds:
    """A relation model that says of every pair how likely it is a change, and of some texts how likely they are ended.

    Attributes:
        ends: log odds that the last newcomer ends a text that stands; of others that they are not ended.
    """

    def __init__(self, share: float, ends: Mapping[str, float]) -> None:
        self._shares = dict.fromkeys(Label, (1.0 - share) / 3) | {Label.SUPERSEDE: share}
        self._ends = ends

    def classify(self, pairs: Sequence[tuple[ComparedText, ComparedText]]) -> tuple[Relation, ...]:
        label = max(Label, key=lambda one: self._shares[one])
        return tuple(
            Relation(label, self._shares[label], self._shares, "builtin", BY_MEANING, self._odds_of(old.text, new.text))
            for old, new in pairs
        )

    def _odds_of(self, old: str, new: str) -> float:
        return self._ends.get(old, NOT) if new not in (BANK, CARD, DESK) else NOT


@contextmanager
def told_to(folder: Path, share: float, ends: Mapping[str, float]) -> Iterator[Rig]:
    """An empty vault whose relation model is `Odds`."""
    readers = replace(real_readers(), relate=Odds(share, ends))
    with rig_at(folder, clock=HandClock(START_MS), embedder=real_embedder(), readers=readers) as rig:
        yield rig


NOT = -6.0
MOVED = "They put our team on the fifth floor."
WISHED = "I wish they would put our team on the fifth floor."
ASKED = "Is our team on the fifth floor?"
BANK, CARD, LATER = "My bank is Pennant.", "My bank card is green.", "My bank is Harbourside now."


@pytest.mark.parametrize(
    ("odds", "over"),
    [
        ({BANK: 4.0}, {BANK}),
        ({CARD: 4.0}, {CARD}),
        ({BANK: 4.0, CARD: 1.0}, {BANK}),
        ({BANK: -5.0}, set()),
    ],
)
def test_what_the_model_says_is_ended_ends_where_words_tell_it_may(
    tmp_path: Path, odds: Mapping[str, float], over: set[str]
) -> None:
    with told_to(tmp_path, 0.85, odds) as rig:
        assert tell(rig, BANK, CARD, LATER) == over


DESK = "My desk is on the third floor."


@pytest.mark.parametrize(("later", "is_noted"), [(MOVED, True), (WISHED, False), (ASKED, False)])
def test_what_may_have_ended_is_noted_and_not_asked(tmp_path: Path, later: str, is_noted: bool) -> None:
    with told_to(tmp_path, 0.2, {DESK: 0.7}) as rig:
        assert tell(rig, DESK, later) == set()
        rows = rig.rows("SELECT kind, suggestion, state, confidence FROM conflicts")
        assert [row[:3] for row in rows] == [("classification", "supersede", "moot")] * is_noted
        assert [row[3] for row in rows] == [pytest.approx(1 / (1 + math.exp(-0.7)), abs=1e-4)] * is_noted


def test_a_question_ends_nothing_however_sure_the_model_is(tmp_path: Path) -> None:
    with told_to(tmp_path, 0.9, {BANK: 6.0}) as rig:
        assert tell(rig, BANK, "Is my bank Harbourside now?") == set()


@pytest.mark.parametrize(
    ("share", "odds", "is_ended"), [(0.94, 6.0, True), (0.92, 6.0, False), (0.94, 3.0, False), (0.94, NOT, False)]
)
def test_where_words_tell_that_both_stand_only_a_model_that_is_nearly_certain_ends(
    tmp_path: Path, share: float, odds: float, is_ended: bool
) -> None:
    ladder = "The ladder leans on the shed."
    with told_to(tmp_path, share, {ladder: odds}) as rig:
        assert tell(rig, ladder, "Also, the ladder went to the tip.") == ({ladder} if is_ended else set())


def test_what_is_told_tentatively_ends_nothing_however_sure_the_model_is(tmp_path: Path) -> None:
    ladder = "The ladder leans on the shed."
    with told_to(tmp_path, 0.96, {ladder: 6.0}) as rig:
        assert tell(rig, ladder, "Also, the ladder may go to the tip.") == set()


@pytest.mark.parametrize(
    ("said", "is_return"),
    [("My partner's name is Odo.", False), ("I live with my partner Odo in Carrow Lane again.", True)],
)
def test_what_repeats_of_the_past_only_what_still_holds_ends_nothing(rig: Rig, said: str, is_return: bool) -> None:
    before, now = "I live with my partner Odo in Carrow Lane.", "We have lived in Fenwick Road since last week."
    assert tell(rig, before, now, said) == ({before, now} if is_return else {before})


@pytest.mark.parametrize(
    ("earlier", "later"),
    [("I work at Lidl.", "I'm working at Lidl now."), ("I live in Graz.", "I've been living in Graz.")],
)
def test_a_statement_that_is_said_again_ends_nothing(rig: Rig, earlier: str, later: str) -> None:
    assert tell(rig, earlier, later) == set()
    assert rig.texts() == [earlier]
