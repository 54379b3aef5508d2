"""A text of which the claims stand already: what else it says is not lost, and what is over comes back with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig, later, rig_at

from core.belief.extract.extraction import extract_claims
from core.intake.claims import TextReaders
from core.types.values import Source

HOME, MORE = "My birthday is 4 May.", "My birthday is 4 May and I want a bicycle"
BOTH, MOVED = "I live in Graz. I work at Siemens.", "I live in Vienna now."


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """An open engine that reads claims by rules, and asks no model."""
    with rig_at(tmp_path, readers=TextReaders(extract=extract_claims, gate=0.1)) as made:
        yield made


def asserted(rig: Rig) -> set[str]:
    """The values of the claims that hold."""
    return {str(row[0]) for row in rig.rows("SELECT value FROM claims WHERE state = 'asserted'")}


def test_what_a_text_says_beside_a_claim_that_stands_is_kept(rig: Rig) -> None:
    rig.store(HOME)
    later(rig)
    reply = rig.store(MORE)
    assert (reply.operation, reply.deduplicated) == ("ADD", False)
    assert rig.texts() == [HOME, MORE]


def test_other_words_for_the_same_claim_are_no_second_memory(rig: Rig) -> None:
    first = rig.store("I live in Graz").memory_id
    reply = rig.store("User lives in Graz.")
    assert (reply.operation, reply.memory_id) == ("NOOP", first)


def test_a_claim_that_is_given_stands_for_its_text(rig: Rig) -> None:
    claim = {"subject": "user", "predicate": "born_on", "value": "4 May", "exclusive": True}
    first = rig.store(HOME, claim=claim).memory_id
    reply = rig.store("The fourth of May it is, and cake for all", claim=claim)
    assert (reply.operation, reply.memory_id) == ("NOOP", first)


def half_over(rig: Rig) -> tuple[str, str]:
    """Of two sentences one is over."""
    first = rig.store(BOTH).memory_id
    later(rig)
    second = rig.store(MOVED)
    assert (second.operation, asserted(rig)) == ("ADD", {"Vienna", "Siemens"})
    later(rig)
    return first, second.memory_id


def test_the_owner_says_again_what_is_half_over(rig: Rig) -> None:
    first, second = half_over(rig)
    reply = rig.store(BOTH)
    assert reply.operation == "SUPERSEDE"
    assert set(reply.superseded) == {first, second}
    assert rig.texts() == [BOTH]
    assert asserted(rig) == {"Graz", "Siemens"}
    rig.undo()
    assert (rig.texts(), asserted(rig)) == ([BOTH, MOVED], {"Vienna", "Siemens"})


def test_what_is_half_over_comes_back_though_its_successor_is_forgotten(rig: Rig) -> None:
    _, second = half_over(rig)
    rig.forget(second)
    rig.store(BOTH)
    assert rig.texts() == [BOTH]
    assert asserted(rig) == {"Graz", "Siemens"}


def test_who_may_not_replace_it_changes_nothing(rig: Rig) -> None:
    half_over(rig)
    client = rig.client("aster", "read", "write", "space:home")
    assert rig.store(BOTH, client, space="home").operation in ("NOOP", "QUARANTINE")
    assert rig.store(BOTH, source=Source.DOCUMENT).operation in ("NOOP", "QUARANTINE")
    assert asserted(rig) == {"Vienna", "Siemens"}
    assert rig.texts() == [BOTH, MOVED]
