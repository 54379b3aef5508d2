"""Items of the review queue: what is the same question, and what closes by itself."""

from __future__ import annotations

from engine_rig import Rig

from core.types.values import Actor


def reader(rig: Rig) -> Actor:
    """A client that sees what the owner has at home."""
    return rig.client("aster", "read", "write", "space:home")


def test_a_doubt_that_is_repeated_after_the_text_changed_is_the_same_question(rig: Rig) -> None:
    doubted = rig.store("The weir opens at noon").memory_id
    client = reader(rig)
    first = rig.engine.memories.dispute(doubted, client).result(30).conflict
    rig.write(
        lambda tx: tx.update("memories", {"id": doubted}, {"text": "It opens at one", "content_hash": b"\1" * 32})
    )
    assert rig.engine.memories.dispute(doubted, client).result(30).conflict == first
    assert rig.rows("SELECT id, state FROM conflicts") == [(first, "open")]
