"""Of facts as near to a question the one that fits its form comes first; nothing is left out, and messages stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from engine_rig import HandClock, Rig, rig_at

from core.intake.claims import TextReaders
from core.recall.result import UNFIT
from core.types.belief import BY_MEANING, LABELS, ComparedText, Label, Relation
from core.types.values import Source

HOUR = 3_600_000


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """An empty vault."""
    with rig_at(tmp_path) as made:
        yield made


def tell(rig: Rig, *texts: str, source: Source = Source.USER_EXPLICIT) -> None:
    """Tell one after another, an hour apart."""
    for text in texts:
        assert isinstance(rig.clock, HandClock)
        rig.clock.at_ms += HOUR
        rig.store(text, source=source)


def test_what_gives_no_place_comes_behind_what_does(rig: Rig) -> None:
    tell(rig, "My uncle came to stay in the mill house by the river.", "My uncle loves toffee.")
    assert rig.found("where is my uncle?")[0].endswith("by the river.")
    first, second = rig.recall("where is my uncle?").items
    assert UNFIT not in first.why
    assert UNFIT in second.why


def test_what_somebody_else_does_comes_behind_what_the_speaker_does(rig: Rig) -> None:
    tell(rig, "I live in the mill house near the weir and the locks.", "My aunt lives in Gdynia.")
    assert rig.found("where do I live?")[0].startswith("I live")


def test_the_later_of_two_values_comes_first(rig: Rig) -> None:
    tell(rig, "The ladder hangs in the shed.", "The ladder hangs in the attic these days I think.")
    found = rig.found("where is the ladder?")
    assert "attic" in found[0]
    assert "shed" in found[-1]


def test_of_how_it_was_the_earlier_one_keeps_its_place(rig: Rig) -> None:
    tell(rig, "The ladder hangs in the shed.", "The ladder hangs in the attic these days I think.")
    assert "shed" in rig.found("where was the ladder before?")[0]


def test_a_narrower_thing_is_no_later_value(rig: Rig) -> None:
    tell(rig, "Pears are 2.10 a kilo.", "Winter pears are 3.40 a kilo.")
    assert rig.found("how much are pears?")[0].startswith("Pears")


def test_a_later_word_of_less_weight_stays_behind(rig: Rig) -> None:
    tell(rig, "The ladder hangs in the shed.")
    tell(rig, "The ladder hangs in the attic these days I think.", source=Source.INFERENCE)
    assert "shed" in rig.found("where is the ladder?")[0]


def test_what_took_the_place_of_the_speakers_word_is_about_the_speaker(rig: Rig) -> None:
    def claim(town: str) -> dict[str, Any]:
        return {"subject": "user", "predicate": "lives_in", "value": town, "exclusive": True}

    later = "Mum lives next door to the new home in Linz."
    rig.store(later)
    assert not rig.found("where do I live?")
    rig.undo()
    rig.store("I live in Graz by the old mill.", claim=claim("Graz"))
    assert isinstance(rig.clock, HandClock)
    rig.clock.at_ms += HOUR
    assert rig.store(later, claim=claim("Linz")).operation == "SUPERSEDE"
    assert rig.found("where do I live?") == [later]


def test_what_only_may_be_comes_behind_what_is(rig: Rig) -> None:
    tell(rig, "The ladder hangs in the attic by the skis.", "The ladder might hang in the shed.")
    assert "attic" in rig.found("where is the ladder?")[0]


def test_a_guess_that_is_nearer_comes_behind_what_is(rig: Rig) -> None:
    tell(rig, "The ladder hangs in the attic by the skis.", "The ladder might hang in the shed.")
    assert "attic" in rig.found("where hangs the ladder in the shed?")[0]


def test_a_day_in_may_is_no_guess(rig: Rig) -> None:
    tell(rig, "The ladder fair was in Graz.", "The ladder fair is on 4 May in Linz.")
    assert "Linz" in rig.found("where is the ladder fair on 4 May in Linz?")[0]
    assert "Linz" in rig.found("where is the ladder fair in Linz?")[0]


def test_messages_keep_all_their_lists(rig: Rig) -> None:
    rig.bring(
        [
            {"ref": "a", "session": "s", "author": "Ilse", "text": "My uncle loves toffee"},
            {"ref": "b", "session": "t", "author": "Ilse", "text": "My uncle came to stay in the mill house"},
        ]
    )
    found = rig.recall("where is my uncle?", limit=5)
    assert [item.memory.kind.value for item in found.items] == ["episode", "episode"]
    assert all("coverage" in candidate.lists for candidate in found.trace.candidates)


def test_what_somebody_wants_a_value_to_be_comes_before_what_it_was(rig: Rig) -> None:
    tell(
        rig,
        "The studio is above the bakery on Wharf Lane, rent 455.",
        "The kiln is leased, 118 a month.",
        "Landlady is asking 490 from June.",
    )
    assert rig.found("what is the studio rent?")[:2] == [
        "Landlady is asking 490 from June.",
        "The studio is above the bakery on Wharf Lane, rent 455.",
    ]
    assert rig.found("how much is the kiln?")[0].startswith("The kiln")
    assert "455" in rig.found("what was the studio rent before?")[0]


class Supposing:
    """A relation model that takes every newcomer for the likely successor of what stands."""

    def __init__(self, share: float, ends: float | None = None) -> None:
        rest = (1.0 - share) / 3
        shares = {label: share if label is Label.SUPERSEDE else rest for label in LABELS}
        self._relation = Relation(Label.SUPERSEDE, share, shares, "builtin", BY_MEANING, ends)

    def classify(self, pairs: Sequence[tuple[ComparedText, ComparedText]]) -> tuple[Relation, ...]:
        """The same of every pair."""
        return (self._relation,) * len(pairs)


@pytest.mark.parametrize(("share", "first"), [(0.65, "Wexcombe"), (0.55, "Our parcels come")])
def test_what_was_noted_as_its_likely_successor_comes_first(tmp_path: Path, share: float, first: str) -> None:
    with rig_at(tmp_path, readers=TextReaders(relate=Supposing(share), gate=0.0)) as rig:
        tell(rig, "Our parcels come from Wexcombe.", "Wexcombe lost our parcels, so parcels come by van from Dorset.")
        assert len(rig.texts()) == 2
        assert rig.found("where do our parcels come from?")[0].startswith(first)


@pytest.mark.parametrize(("ends", "first"), [(4.0, "Wexcombe shut"), (1.0, "Our parcels come")])
def test_what_was_noted_as_its_sure_successor_comes_first_with_few_of_the_words(
    tmp_path: Path, ends: float, first: str
) -> None:
    told = "Our parcels come from Wexcombe on Tuesdays.", "Wexcombe shut, so a van brings them from Dorset."
    with rig_at(tmp_path, readers=TextReaders(relate=Supposing(0.5, ends), gate=0.0)) as rig:
        tell(rig, *told)
        assert len(rig.texts()) == 2
        assert rig.found("where do our parcels come from?")[0].startswith(first)


@pytest.mark.parametrize(("odds", "first"), [(-4.0, "Where our"), (-6.0, "Our parcels")])
def test_a_likely_successor_that_answers_far_worse_stays_behind(tmp_path: Path, odds: float, first: str) -> None:
    def weigh(question: str, texts: Sequence[str]) -> list[float]:
        return [0.0 if text.startswith("Our") else odds for text in texts]

    with rig_at(tmp_path, readers=TextReaders(relate=Supposing(0.65), gate=0.0, weigh_answers=weigh)) as rig:
        tell(rig, "Our parcels come from Wexcombe by van.", "Where our parcels do come from is Dorset.")
        assert rig.found("where do our parcels come from?")[0].startswith(first)
