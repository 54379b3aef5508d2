"""One client that wrote much does not fill what another is given; what is sealed is given to none of them."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from engine_rig import Rig, refused

from core.engine.startup import flush_journal
from core.errors import Code
from core.recall.context import SHARE
from core.recall.pipeline import Recall
from core.types.recall import ContextQuery
from core.types.requests import ListRequest
from core.types.values import OWNER_ACTOR, Actor

HOME = "space:home"
ASKED = "What is kept in the garden shed?"
LEADING = "In the garden shed box is kept"
"""What the one client wrote answers this better than anything else."""
THINGS = ("rake", "spade", "hose", "seeds", "twine", "gloves", "shears", "bucket", "trowel", "ladder", "saw", "paint")


def crowded(rig: Rig, flood: int) -> tuple[Actor, Actor]:
    """Twelve memories of the person's and many of one client's; another asks."""
    liar, asker = rig.client("liar", "read", "write", HOME), rig.client("asker", "read", HOME)
    for thing in THINGS:
        rig.store(f"The {thing} is kept in the garden shed.", space="home")
    for place in range(flood):
        rig.store(f"In the garden shed box number {place} is kept.", liar, space="home")
    return liar, asker


def brought(rig: Rig, ids: list[str]) -> Counter[str | None]:
    return Counter(rig.get(one).client_id for one in ids)


@pytest.mark.slow
def test_one_client_fills_a_third_of_what_another_is_given_before_all_others(rig: Rig) -> None:
    liar, asker = crowded(rig, 30)
    found = brought(rig, [item.memory.id for item in rig.recall(LEADING, asker, limit=10).items])
    assert found == {None: 7, liar.client_id: 3}
    query = ContextQuery(LEADING, budget=500)
    packed = rig.engine.memories.build_context(query, asker).result(30).context
    inside = brought(rig, [one.id for one in packed.included])
    assert 0 < inside[liar.client_id] <= sum(inside.values()) // 3
    assert SHARE in {one.reason for one in packed.excluded}
    told = rig.engine.clients.preview_context("asker", LEADING, 500).result(30)
    assert told.text == packed.text
    assert "other_space" not in set(told.withheld.values())
    # The person, and who asks for its own, are bounded by nothing.
    for one in (OWNER_ACTOR, liar):
        free = brought(rig, [item.memory.id for item in rig.recall(LEADING, one, limit=10).items])
        assert free == {liar.client_id: 10}


@pytest.mark.slow
def test_what_others_leave_free_is_filled_and_none_of_theirs_is_left_out(rig: Rig) -> None:
    liar, asker = crowded(rig, 50)
    found = brought(rig, [item.memory.id for item in rig.recall(ASKED, asker, limit=20).items])
    assert found == {None: 12, liar.client_id: 8}
    packed = rig.engine.memories.build_context(ContextQuery(ASKED, budget=1_500), asker).result(30).context
    inside = brought(rig, [one.id for one in packed.included])
    assert inside[None] == 12
    assert inside[liar.client_id] > 0


@pytest.mark.slow
def test_who_fills_the_lists_of_a_search_keeps_nothing_out_of_them(rig: Rig) -> None:
    liar, asker = crowded(rig, 60)
    for asked in (LEADING, "garden shed number kept"):
        found = brought(rig, [item.memory.id for item in rig.recall(asked, asker, limit=10).items])
        assert found == {None: 7, liar.client_id: 3}
    packed = rig.engine.memories.build_context(ContextQuery(LEADING, budget=1_500), asker).result(30).context
    assert brought(rig, [one.id for one in packed.included])[None] == 12


@pytest.mark.slow
def test_one_sentence_of_the_persons_takes_one_place(rig: Rig) -> None:
    writer, reader = rig.client("writer", "read", "write", HOME), rig.client("reader", "read", HOME)
    for place in range(20):
        rig.store(f"In the garden shed box number {place} is kept.", writer, space="home")
    given = [item.memory.id for item in rig.recall(ASKED, reader, limit=10).items]
    assert len(given) == 10
    own = rig.store("The rake is kept in the garden shed.", space="home").memory_id
    more = [item.memory.id for item in rig.recall(ASKED, reader, limit=10).items]
    assert own in more
    assert len(set(given) - set(more)) == 1
    packed = rig.engine.memories.build_context(ContextQuery(ASKED, budget=700), reader).result(30).context
    assert {own} < {one.id for one in packed.included}
    # What is longer than the whole budget waits for no room.
    rig.store("The garden shed is kept so. " + "It is painted anew each spring, " * 150, space="home")
    again = rig.engine.memories.build_context(ContextQuery(ASKED, budget=700), reader).result(30).context
    assert len(again.included) >= len(packed.included) - 1


@pytest.mark.slow
def test_what_the_person_said_as_well_or_vouched_for_is_nobody_elses_voice(rig: Rig) -> None:
    writer, reader = rig.client("writer", "read", "write", HOME), rig.client("reader", "read", HOME)
    texts = [f"In the garden shed box number {place} is kept." for place in range(8)]
    ids = [rig.store(text, writer, space="home").memory_id for text in texts]
    for thing in THINGS:
        rig.store(f"The {thing} is kept in the garden shed.", space="home")

    def given() -> int:
        found = rig.recall(LEADING, reader, limit=9).items
        return brought(rig, [item.memory.id for item in found])[writer.client_id]

    assert given() == 3
    for text in texts[:4]:
        assert rig.store(text, space="home").deduplicated
    assert 3 < given() < 8
    for memory_id in ids[4:]:
        rig.engine.memories.confirm(memory_id, OWNER_ACTOR).result(10)
    assert given() == 8


def test_two_clients_alone_share_the_places(rig: Rig) -> None:
    one, other = rig.client("one", "read", "write", HOME), rig.client("other", "read", "write", HOME)
    reader = rig.client("reader", "read", HOME)
    for place in range(12):
        rig.store(f"In the garden shed box number {place} is kept.", one, space="home")
        rig.store(f"The {THINGS[place]} stands in a garden shed.", other, space="home")
    found = brought(rig, [item.memory.id for item in rig.recall(ASKED, reader, limit=10).items])
    assert found == {one.client_id: 5, other.client_id: 5}


@pytest.mark.slow
def test_who_is_loud_keeps_a_quiet_client_out_no_more_than_the_person(rig: Rig) -> None:
    loud, quiet = rig.client("loud", "read", "write", HOME), rig.client("quiet", "read", "write", HOME)
    reader = rig.client("reader", "read", HOME)
    for place in range(90):
        rig.store(f"In the garden shed box number {place} is kept.", loud, space="home")
    for place in range(3):
        rig.store(
            f"The {THINGS[place]} is kept under the long old bench by the window of the garden shed.",
            quiet,
            space="home",
        )
        rig.store(
            f"The {THINGS[-place - 1]} is kept under the long old bench by the window of the garden shed.", space="home"
        )
    found = brought(rig, [item.memory.id for item in rig.recall(LEADING, reader, limit=9).items])
    assert found == {loud.client_id: 3, quiet.client_id: 3, None: 3}
    packed = rig.engine.memories.build_context(ContextQuery(LEADING, budget=1_000), reader).result(30).context
    inside = brought(rig, [one.id for one in packed.included])
    assert (inside[quiet.client_id], inside[None]) == (3, 3)


@pytest.mark.slow
def test_who_is_loud_behind_another_that_is_keeps_a_quiet_client_out_as_little(rig: Rig) -> None:
    first, second, quiet = (rig.client(name, "read", "write", HOME) for name in ("first", "second", "quiet"))
    reader, under = rig.client("reader", "read", HOME), "lies under the long old bench by the window"
    for place in range(100):
        rig.store(f"In the garden shed box number {place} is kept.", first, space="home")
        rig.store(f"By the wall stands box number {place} of the garden shed.", second, space="home")
    for thing in THINGS[:3]:
        rig.store(f"The {thing} {under} of the garden shed.", quiet, space="home")

    def given(limit: int) -> Counter[str | None]:
        return brought(rig, [item.memory.id for item in rig.recall(LEADING, reader, limit=limit).items])

    assert given(9) == {first.client_id: 3, second.client_id: 3, quiet.client_id: 3}
    for thing in THINGS[-3:]:
        rig.store(f"The {thing} {under} of the garden shed.", space="home")
    # Both that are loud have two thirds of fifteen places, the person its three; the quiet one has what is free then.
    assert given(15) == {first.client_id: 5, second.client_id: 5, quiet.client_id: 2, None: 3}


@pytest.mark.slow
def test_four_that_are_loud_have_no_more_than_two_thirds_while_the_persons_own_waits(rig: Rig) -> None:
    loud = [rig.client(f"loud{number}", "read", "write", HOME) for number in range(4)]
    reader = rig.client("reader", "read", HOME)
    for place in range(30):
        for number, one in enumerate(loud):
            rig.store(f"In the garden shed box number {number} {place} is kept.", one, space="home")
    for thing in THINGS[:4]:
        rig.store(f"The {thing} is kept under the long old bench by the window of the garden shed.", space="home")
    found = brought(rig, [item.memory.id for item in rig.recall(LEADING, reader, limit=10).items])
    assert found[None] == 4
    packed = rig.engine.memories.build_context(ContextQuery(LEADING, budget=1_000), reader).result(30).context
    assert brought(rig, [one.id for one in packed.included])[None] == 4


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Among whose memories recalls look once more, as they do."""
    found: list[str] = []
    among = Recall._search_within

    def spy(self: Recall, search: Any, question: Any, whose: str, params: Any) -> Any:
        found.append(whose)
        return among(self, search, question, whose, params)

    monkeypatch.setattr(Recall, "_search_within", spy)
    return found


@pytest.mark.slow
def test_nothing_is_looked_for_twice_where_nobody_is_above_its_share(rig: Rig, looked: list[str]) -> None:
    liar, asker = crowded(rig, 6)
    for one in (asker, liar, OWNER_ACTOR):
        assert rig.recall(LEADING, one, limit=10).items
    assert looked == []
    for place in range(20):
        rig.store(f"In the garden shed box number {place} is kept.", liar, space="home")
    # There is no third client, and so nothing to look for but the person's own.
    assert rig.recall(LEADING, asker, limit=10).items
    assert len(looked) == 1


@pytest.mark.slow
def test_what_lies_out_of_reach_is_no_crowd(rig: Rig, looked: list[str]) -> None:
    writer, asker = rig.client("writer", "read", "write", "space:work"), rig.client("asker", "read", HOME)
    for thing in THINGS:
        rig.store(f"The {thing} is kept in the garden shed.", space="home")
    before = [item.memory.id for item in rig.recall(LEADING, asker, limit=10).items]
    for place in range(30):
        rig.store(f"In the garden shed box number {place} is kept.", writer, space="work")
    assert [item.memory.id for item in rig.recall(LEADING, asker, limit=10).items] == before
    assert looked == []
    wide = rig.client("wide", "read", HOME, "space:work")
    assert rig.recall(LEADING, wide, limit=10).items
    assert looked  # to who may see them they are one


def sealed_of(rig: Rig, actor: Actor) -> list[int]:
    flush_journal(rig.opened)
    flush_journal(rig.opened)
    rows = rig.rows("SELECT body FROM receipts WHERE client_id = ? ORDER BY at, id", actor.client_id)
    return [int(json.loads(body).get("sealed", 0)) for (body,) in rows]


def test_what_is_sealed_is_given_to_no_client_and_counted(rig: Rig) -> None:
    client = rig.client("curious", "read", HOME)
    closed = rig.store("The safe is opened with the blue key.", space="home").memory_id
    rig.store("The blue car stands in the garage.", space="home")
    rig.opened.storage.write(
        lambda tx: tx.run("UPDATE memories SET security_tier = 'confidential' WHERE id = ?", (closed,))
    ).result(10)
    memories = rig.engine.memories
    assert closed in [item.memory.id for item in rig.recall("What is blue?").items]
    found = rig.recall("What is blue?", client)
    assert closed not in {item.memory.id for item in found.items} | {miss.id for miss in found.near_misses}
    packed = (
        memories.build_context(ContextQuery("What is the safe opened with?", budget=900), client).result(30).context
    )
    assert "safe" not in packed.text
    page = memories.list(ListRequest(statuses=None), client).result(10)
    assert (closed in [one.id for one in page.items], page.total) == (False, 1)
    for asked in (memories.get(closed, client), memories.list_versions(closed, client)):
        with refused(Code.NOT_FOUND):
            asked.result(10)
    stats = rig.engine.maintenance.count_by_state(None, client).result(10)
    assert stats["facts"]["active"] + stats["episodes"]["total"] == 1
    assert sealed_of(rig, client) == [1, 1]
    told = rig.engine.clients.preview_context("curious", "What is the safe opened with?", 900).result(10)
    assert told.withheld[closed] == "sealed"
