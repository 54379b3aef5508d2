"""A few rounds with the real embedder: stored, imported, found by meaning, also after a lock."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig, rig_at

from core.engine.facade import built_in_embedder
from core.types.values import OWNER_ACTOR

LETTERS = (
    "My sister Helena keeps three hives at the edge of the forest.",
    "The boiler in the cellar broke down on Tuesday night.",
    "We are flying to Lisbon in October for the wedding.",
    "The dog needs his injection against rabies before the summer.",
)


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, embedder=built_in_embedder()) as rig:
        yield rig


def test_what_was_said_is_found_by_meaning_also_after_a_lock(rig: Rig) -> None:
    for text in LETTERS:
        rig.store(text)
    questions = {"Who has bees?": 0, "heating failure": 1, "trip to Portugal": 2, "vet appointment": 3}
    for _ in range(2):
        for question, place in questions.items():
            assert rig.found(question, limit=1, mode="semantic") == [LETTERS[place]]
        rig.lock()
        rig.unlock()
        rig.settle()


def test_a_vector_does_not_depend_on_how_it_came(rig: Rig) -> None:
    for text in LETTERS:
        rig.store(text, space="One by one")
    rig.bring([{"text": text, "kind": "fact"} for text in reversed(LETTERS)], space="At once")
    vectors = rig.rows(
        "SELECT m.text, count(DISTINCT e.vector) FROM memories m JOIN embeddings e ON e.n = m.n GROUP BY m.text"
    )
    assert vectors == sorted((text, 1) for text in LETTERS)
    rig.write(lambda tx: tx.run("DELETE FROM embeddings WHERE n < 5"))
    rig.settle()
    assert rig.value("SELECT count(DISTINCT vector) FROM embeddings") == len(LETTERS)


def test_details_tell_where_a_memory_came_from(rig: Rig) -> None:
    memory = rig.store(LETTERS[0], session="letters").memory_id
    detail = rig.engine.memories.show(memory, OWNER_ACTOR).result(10)
    assert [(source["source"], source["session"]) for source in detail.sources] == [("user_explicit", "letters")]
    assert (detail.conversation, detail.claims, detail.edges, detail.parts) == ({}, (), (), ())
    assert dict(detail.trust_terms)["trust"] == 1.0
    assert [one.id for one in rig.engine.memories.history(memory, OWNER_ACTOR).result(10)] == [memory]
