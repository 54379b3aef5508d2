"""One client that wrote much does not fill what another is given; what is sealed is given to none of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig, refused, rig_at

from core.engine.opening import flush_journal
from core.errors import Code
from core.types.contexts import ContextQuery
from core.types.requests import ListRequest
from core.types.values import OWNER_ACTOR, Actor

HOME = "space:home"
ASKED = "What is kept in the garden shed?"
THINGS = ("rake", "spade", "hose", "seeds", "twine", "gloves", "shears", "bucket", "trowel", "ladder", "saw", "paint")


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as made:
        yield made


def crowded(rig: Rig) -> tuple[Actor, Actor]:
    """Twelve memories of the person's and fifty of one client's; another asks."""
    liar, asker = rig.client("liar", "read", "write", HOME), rig.client("asker", "read", HOME)
    for thing in THINGS:
        rig.store(f"The {thing} is kept in the garden shed.", space="home")
    for place in range(50):
        rig.store(f"In the garden shed box number {place} is kept.", liar, space="home")
    return liar, asker


def brought(rig: Rig, ids: list[str]) -> Counter[str | None]:
    return Counter(rig.get(one).client_id for one in ids)


def test_one_client_fills_at_most_a_third_of_what_another_is_given(rig: Rig) -> None:
    liar, asker = crowded(rig)
    for limit in (10, 20):
        found = brought(rig, [item.memory.id for item in rig.recall(ASKED, asker, limit=limit).items])
        assert found[liar.client_id] <= sum(found.values()) // 3
        assert found[None] >= 6
    query = ContextQuery(ASKED, budget=1_500)
    packed = rig.engine.memories.context(query, asker).result(30).context
    inside = brought(rig, [one.id for one in packed.included])
    assert 0 < inside[liar.client_id] <= sum(inside.values()) // 3
    told = rig.engine.clients.sight("asker", ASKED, 1_500).result(30)
    assert told.text == packed.text
    assert "other_space" not in set(told.withheld.values())
    # The person, and who asks for its own, are bounded by nothing.
    for one in (OWNER_ACTOR, liar):
        free = brought(rig, [item.memory.id for item in rig.recall(ASKED, one, limit=20).items])
        assert free[liar.client_id] > 20 // 3


def sealed_of(rig: Rig, actor: Actor) -> list[int]:
    flush_journal(rig.opened)
    flush_journal(rig.opened)
    rows = rig.rows("SELECT body FROM receipts WHERE client_id = ? ORDER BY at, id", actor.client_id)
    return [int(json.loads(body).get("sealed", 0)) for (body,) in rows]


def test_what_is_sealed_is_given_to_no_client_and_counted(rig: Rig) -> None:
    client = rig.client("curious", "read", HOME)
    closed = rig.store("The safe is opened with the blue key.", space="home").memory_id
    rig.store("The blue car stands in the garage.", space="home")
    rig.opened.write(
        lambda tx: tx.run("UPDATE memories SET security_tier = 'confidential' WHERE id = ?", (closed,))
    ).result(10)
    memories = rig.engine.memories
    assert closed in [item.memory.id for item in rig.recall("What is blue?").items]
    found = rig.recall("What is blue?", client)
    assert closed not in {item.memory.id for item in found.items} | {miss.id for miss in found.near_misses}
    packed = memories.context(ContextQuery("What is the safe opened with?", budget=900), client).result(30).context
    assert "safe" not in packed.text
    page = memories.list(ListRequest(statuses=None), client).result(10)
    assert (closed in [one.id for one in page.items], page.total) == (False, 1)
    for asked in (memories.get(closed, client), memories.history(closed, client)):
        with refused(Code.NOT_FOUND):
            asked.result(10)
    stats = rig.engine.upkeep.stats(None, client).result(10)
    assert stats["facts"]["active"] + stats["episodes"]["total"] == 1
    assert sealed_of(rig, client) == [1, 1]
    told = rig.engine.clients.sight("curious", "What is the safe opened with?", 900).result(10)
    assert told.withheld[closed] == "sealed"
