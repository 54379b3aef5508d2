"""What the person said excludes what others tell of the person in spaces of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig, rig_at

from core.belief.extract.extraction import extract_claims
from core.intake.claims import TextReaders
from core.recall.result import AT_ODDS
from core.types.values import Actor, When

MINE = "I live in Graz"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """An open engine that reads claims by rules."""
    with rig_at(tmp_path, readers=TextReaders(extract=extract_claims, gate=0.1)) as made:
        yield made


@pytest.fixture
def bot(rig: Rig) -> Actor:
    """A client that tells of the person in its own space."""
    made = rig.client("bot", "read", "write")
    assert rig.store("User lives in Vienna", made).operation == "ADD"
    return made


def test_the_owner_is_given_the_owners_word_alone(rig: Rig, bot: Actor) -> None:
    rig.store(MINE)
    found = rig.recall("user lives in Vienna, or do I live in Graz", limit=5)
    assert [item.memory.text for item in found.items] == [MINE]
    misses = [(miss.why, miss.status, rig.get(miss.id).text) for miss in found.near_misses]
    assert misses == [(AT_ODDS, "active", "User lives in Vienna")]


def test_a_client_that_does_not_see_the_owners_word_has_its_own(rig: Rig, bot: Actor) -> None:
    rig.store(MINE)
    assert rig.found("user lives in Vienna", bot) == ["User lives in Vienna"]


def test_a_client_that_sees_both_is_given_the_owners(rig: Rig, bot: Actor) -> None:
    rig.store(MINE)
    other = rig.client("other", "read", "all_spaces")
    assert rig.found("user lives in Vienna, or do I live in Graz", other, limit=5) == [MINE]


def test_the_same_value_and_other_matters_stay(rig: Rig, bot: Actor) -> None:
    rig.store("I live in Vienna these days")
    rig.store("Ada lives in Graz")
    assert "User lives in Vienna" in rig.found("user lives in Vienna", limit=5)


def test_what_no_longer_stands_excludes_nothing(rig: Rig, bot: Actor) -> None:
    rig.forget(rig.store(MINE).memory_id)
    assert rig.found("user lives in Vienna", limit=5) == ["User lives in Vienna"]


def test_two_words_of_the_owners_in_two_spaces_both_answer(rig: Rig) -> None:
    rig.store(MINE)
    rig.store("I live in Linz", space="work")
    assert set(rig.found("where do I live in", limit=5)) == {MINE, "I live in Linz"}


def test_another_client_excludes_nothing(rig: Rig, bot: Actor) -> None:
    rig.store("User lives in Graz", rig.client("aster", "read", "write", "space:home"), space="home")
    assert "User lives in Vienna" in rig.found("user lives in", limit=5)


def test_as_of_a_day_it_is_told_as_it_was(rig: Rig, bot: Actor) -> None:
    rig.store(MINE, occurred=When(rig.clock.now_ms()))
    assert "User lives in Vienna" in rig.found("user lives in Vienna", limit=5, as_of_ms=rig.clock.now_ms())
