"""A digest of talk says what the statements made of it say; the episodes go beneath it with their statements."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig, rig_at
from gathering_rig import told
from ground_rig import Ran, ground_of, near_of, run
from real_models import real_embedder, real_readers

from core.lifecycle.consolidate.consolidate import ConsolidationJob
from core.types.values import Actor, Kind

TALK = (
    ("yeah the greenhouse heater runs on gas, you know", "Wanda's greenhouse heater runs on gas."),
    (
        "and the greenhouse heater comes on at four degrees, right",
        "Wanda's greenhouse heater comes on at four degrees.",
    ),
    ("oh, the greenhouse heater has a leaky valve by the way", "Wanda's greenhouse heater has a leaky valve."),
    ("greenhouse heater was fitted by Tobias, honestly", "Wanda's greenhouse heater was fitted by Tobias."),
)


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, embedder=real_embedder(), readers=real_readers()) as made:
        yield made


@pytest.fixture
def client(rig: Rig) -> Actor:
    return rig.client("aster", "write")


def say(rig: Rig, client: Actor, said: str, statement: str | None = None) -> tuple[str, str]:
    """An assistant's episode of long ago, with the statement that was made of it."""
    episode = told(rig, said, kind=Kind.EPISODE, client_id=client.client_id)
    if statement is None:
        return episode, ""
    made = told(rig, statement, client_id=client.client_id)
    row = {
        "memory_id": made, "episode_id": episode, "start_at": 0, "end_at": len(said), "about": "Wanda",
        "type": "possession", "lasting": 1, "confidence": 0.9, "operation": "ADD", "made_by": "reader",
    }  # fmt: skip
    link = {"derived_id": made, "source_id": episode, "space_id": "home", "recorded_at": rig.clock.now_ms()}
    rig.write(lambda tx: (tx.insert("statements", row), tx.insert("derivations", link)))
    return episode, made


def consolidate(rig: Rig) -> Ran:
    return run(rig, ConsolidationJob(), ground_of(rig, {}, near=near_of(rig)))


def digests(rig: Rig) -> list[str]:
    return [row[0] for row in rig.rows("SELECT text FROM memories WHERE kind = 'digest' AND status = 'active'")]


def beneath(rig: Rig) -> set[str]:
    return {row[0] for row in rig.rows("SELECT id FROM memories WHERE status = 'consolidated'")}


def test_a_digest_says_the_statements_and_not_the_talk(rig: Rig, client: Actor) -> None:
    pairs = [say(rig, client, said, statement) for said, statement in TALK]
    consolidate(rig)
    (digest,) = digests(rig)
    assert all(statement in digest for _, statement in TALK)
    assert not any(word in digest for word in ("you know", "by the way", "honestly", "right"))
    assert {statement for _, statement in pairs} <= beneath(rig)


def test_an_episode_goes_beneath_with_all_of_its_statements(rig: Rig, client: Actor) -> None:
    pairs = [say(rig, client, said, statement) for said, statement in TALK]
    consolidate(rig)
    gone = beneath(rig)
    near = {row[0] for row in rig.rows("SELECT id FROM memories WHERE kind = 'episode' AND status = 'consolidated'")}
    assert near
    assert near == {episode for episode, statement in pairs if episode in gone and statement in gone}


def test_an_episode_of_which_a_statement_stands_outside_stays(rig: Rig, client: Actor) -> None:
    pairs = [say(rig, client, said, statement) for said, statement in TALK]
    other = told(rig, "Wanda plays the bassoon in a quartet.", 1)
    row = {
        "memory_id": other, "episode_id": pairs[0][0], "start_at": 0, "end_at": 4, "about": "Wanda",
        "type": "habit", "lasting": 1, "confidence": 0.9, "operation": "ADD", "made_by": "reader",
    }  # fmt: skip
    rig.write(lambda tx: tx.insert("statements", row))
    consolidate(rig)
    assert len(digests(rig)) == 1
    assert pairs[0][0] not in beneath(rig)
    assert pairs[0][1] in beneath(rig)


def test_talk_of_which_nothing_was_made_speaks_for_itself(rig: Rig, client: Actor) -> None:
    for said, _ in TALK:
        say(rig, client, said)
    consolidate(rig)
    (digest,) = digests(rig)
    assert "leaky valve by the way" in digest
