"""What a client stores for one channel never reaches another (E12a, E12b; X1, X2): every door against a plain model."""

from __future__ import annotations

from dataclasses import replace

import pytest
from engine_rig import Rig, refused

from core.errors import Code
from core.types.recall import ContextQuery
from core.types.requests import ListRequest, StoreRequest
from core.types.values import OWNER_ACTOR, Actor, Kind

CHANNELS = ("", "discord", "discord:a", "discord:b", "telegram", "telegram:a", "disc")


def model(row: str, view: str) -> bool:
    """Whether who speaks for `view` sees a row of the channel `row`."""
    return row == "" or row == view or (":" not in row and view.startswith(f"{row}:"))


def in_channel(actor: Actor, channel: str) -> Actor:
    return replace(actor, channel=channel)


def texts(rig: Rig, actor: Actor) -> set[str]:
    page = rig.engine.memories.list(ListRequest(statuses=None, limit=None), actor).result(30)
    assert page.total == len(page.items)
    return {memory.text for memory in page.items}


@pytest.mark.slow
@pytest.mark.parametrize("grant", ["read", "all_spaces"])
def test_every_door_agrees_with_the_model(rig: Rig, grant: str) -> None:
    client = rig.client("bridge", "read", "write", grant)
    ids = {row: rig.store(f"The harbour tea of {row!r}.", in_channel(client, row)).memory_id for row in CHANNELS}
    for view in CHANNELS:
        actor = in_channel(client, view)
        expected = {row for row in CHANNELS if model(row, view)}
        told = {f"The harbour tea of {row!r}." for row in expected}
        assert texts(rig, actor) == told
        for mode in ("hybrid", "semantic", "keyword"):
            assert set(rig.found("harbour tea", actor, mode=mode, limit=50)) == told
        packed = rig.engine.memories.build_context(ContextQuery("harbour tea"), actor).result(30).context
        assert {one.id for one in packed.included} | {one.id for one in packed.excluded} <= {ids[r] for r in expected}
        counts = rig.engine.maintenance.count_by_state(None, actor).result(30)
        assert counts["facts"]["active"] == len(expected)
        for row, memory_id in ids.items():
            if row in expected:
                assert rig.get(memory_id, actor).id == memory_id
            else:
                with refused(Code.NOT_FOUND):
                    rig.get(memory_id, actor)
    assert len(texts(rig, OWNER_ACTOR)) == len(CHANNELS)


def test_another_client_sees_none_of_it_whatever_it_names(rig: Rig) -> None:
    one, other = rig.client("one", "read", "write"), rig.client("other", "read", "write")
    rig.store("The harbour tea of a.", in_channel(one, "discord:a"))
    for view in CHANNELS:
        assert texts(rig, in_channel(other, view)) == set()
        assert rig.found("harbour tea", in_channel(other, view)) == []


def test_the_row_says_its_channel(rig: Rig) -> None:
    client = rig.client("bridge", "read", "write")
    memory_id = rig.store("The harbour tea.", in_channel(client, "discord:a"), session="s").memory_id
    row = rig.rows("SELECT scope_channel, session, space_id = 'GLOBAL' FROM memories WHERE id = ?", memory_id)
    assert row == [("discord:a", "s", 0)]


def test_two_people_may_say_the_same_and_the_opposite(rig: Rig) -> None:
    client = rig.client("bridge", "read", "write")

    def lives(where: str, channel: str) -> tuple[str, str]:
        claim = {"subject": "user", "predicate": "lives_in", "value": where}
        reply = rig.engine.memories.store(
            StoreRequest(f"I live in {where}.", claim=claim), in_channel(client, channel)
        ).result(30)
        return reply.operation, reply.memory_id

    first, same, other = lives("Graz", "discord:a"), lives("Graz", "discord:b"), lives("Linz", "telegram:a")
    assert [first[0], same[0], other[0]] == ["ADD", "ADD", "ADD"]
    assert len({first[1], same[1], other[1]}) == 3
    assert lives("Graz", "discord:a") == ("NOOP", first[1])
    moved = lives("Wels", "discord:a")
    assert moved[0] == "SUPERSEDE"
    assert rig.get(first[1]).status.value == "superseded"
    assert {rig.get(one).status.value for one in (same[1], other[1])} == {"active"}


def test_a_proposal_of_one_channel_is_not_told_to_another(rig: Rig) -> None:
    client = rig.client("shy", "read", "propose")
    first = rig.store("The harbour tea.", in_channel(client, "discord:a")).memory_id
    second = rig.store("The harbour tea.", in_channel(client, "discord:b")).memory_id
    plain = rig.store("The harbour tea.", client).memory_id
    assert len({first, second, plain}) == 3


def test_what_is_true_of_a_session_in_a_channel_stays_in_both(rig: Rig) -> None:
    client = rig.client("bridge", "read", "write")
    claim = {"subject": "user", "predicate": "lives_in", "value": "Graz", "scope": "session"}
    rig.store("I live in Graz for now.", in_channel(client, "discord:a"), session="s1", claim=claim)

    def found(channel: str, session: str | None) -> list[str]:
        return rig.found("live in Graz", in_channel(client, channel), session=session)

    assert found("discord:a", "s1") == ["I live in Graz for now."]
    assert found("discord:a", "s2") == found("discord:a", None) == found("", "s1") == found("discord:b", "s1") == []
    assert found("", "channel:discord:a s1") == []


def test_episodes_of_channels_are_apart_too(rig: Rig) -> None:
    client = rig.client("bridge", "read", "write")
    rig.store("We spoke of the harbour tea.", in_channel(client, "discord:a"), kind=Kind.EPISODE)
    assert rig.found("harbour tea", in_channel(client, "discord:b")) == []
    assert rig.found("harbour tea", in_channel(client, "discord:a")) == ["We spoke of the harbour tea."]
