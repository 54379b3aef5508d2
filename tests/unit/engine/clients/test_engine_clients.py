"""Pairing and revoking through the engine, and what each actor sees."""

from __future__ import annotations

import pytest
from engine_rig import Rig, refused

from core.config.options import Options
from core.errors import Code
from core.types.clients import ClientRecord
from core.types.values import Actor


def record(rig: Rig, name: str) -> ClientRecord:
    found = rig.engine.authority.token_for(name)
    assert found is not None
    return found


def test_a_new_client_reads_and_proposes(rig: Rig) -> None:
    paired = rig.engine.clients.pair("Claude", ()).result(10)
    found = record(rig, "Claude")
    assert (found.id, found.token, found.grants) == (paired.client_id, paired.token, frozenset({"read", "propose"}))
    assert (found.trust_ceiling, found.limit_minute, found.limit_session, found.revoked) == (0.85, 20, 200, False)
    assert len(paired.token) == 32
    assert paired.token.hex() not in repr(paired) + repr(found)


@pytest.mark.parametrize(("limit", "bounds"), [(None, (20, 200)), (5, (5, 200)), ("none", (None, None))])
def test_limits(rig: Rig, limit: int | str | None, bounds: tuple[int | None, int | None]) -> None:
    rig.engine.clients.pair("Claude", ("read",), limit).result(10)
    found = record(rig, "Claude")
    assert (found.limit_minute, found.limit_session) == bounds


@pytest.mark.parametrize("limit", [0, -1, "many", 1.5])
def test_limits_that_are_none(rig: Rig, limit: object) -> None:
    with refused(Code.INVALID_INPUT):
        rig.engine.clients.pair("Claude", ("read",), limit)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", " x", "@owner", "a" * 41, "a\nb", "näme", "<b>", "-x", "a/b"])
def test_names_that_are_none(rig: Rig, name: str) -> None:
    with refused(Code.INVALID_INPUT):
        rig.engine.clients.pair(name, ())
    assert rig.rows("SELECT * FROM clients") == []


@pytest.mark.parametrize("grant", ["", "root", "READ", "space:", "space: x", "space:a\nb"])
def test_grants_that_are_none(rig: Rig, grant: str) -> None:
    with refused(Code.INVALID_INPUT):
        rig.engine.clients.pair("Claude", ("read", grant))


def test_the_defaults_of_limits_are_options(rig: Rig) -> None:
    rig.opened.options = Options(searches_minute=3, searches_session=9)
    rig.client("Claude", "read")
    assert (record(rig, "Claude").limit_minute, record(rig, "Claude").limit_session) == (3, 9)


def test_grants_add_up_once_and_make_their_spaces(rig: Rig) -> None:
    rig.client("Claude", "read", "read", "space:Work", "space:Work", "space:home", "speak_for_user")
    found = record(rig, "Claude")
    assert (found.grants, found.spaces) == (frozenset({"read", "speak_for_user"}), ("Work", "home"))
    assert found.trust_ceiling == 0.9
    assert rig.value("SELECT count(*) FROM grants") == 4


def test_a_name_in_use_is_refused_and_a_revoked_one_gets_a_new_token(rig: Rig) -> None:
    first = rig.engine.clients.pair("Claude", ("read", "write")).result(10)
    with refused(Code.INVALID_INPUT):
        rig.engine.clients.pair("Claude", ("read",)).result(10)
    assert record(rig, "Claude").token == first.token
    assert rig.engine.clients.revoke("Claude").result(10) == first.client_id
    assert record(rig, "Claude").revoked
    with refused(Code.NOT_FOUND):
        rig.engine.clients.revoke("Claude").result(10)
    with refused(Code.NOT_FOUND):
        rig.engine.clients.revoke("Nobody").result(10)
    again = rig.engine.clients.pair("Claude", ("propose",)).result(10)
    assert again.client_id == first.client_id
    assert again.token != first.token
    assert (record(rig, "Claude").grants, record(rig, "Claude").revoked) == (frozenset({"propose"}), False)
    assert [client.name for client in rig.engine.clients.list().result(10)] == ["Claude"]


def test_a_space_of_a_client_s_name_that_was_there_before_becomes_its_own(rig: Rig) -> None:
    rig.store("Left for you", space="client:Claude")
    before = rig.dump()
    rig.client("Claude", "read", "write")
    assert rig.undo().left == ()
    assert rig.dump() == before
    claude = rig.client("Claude", "read", "write")
    assert rig.found("left", claude) == ["Left for you"]
    assert rig.get(rig.store("Thanks", claude).memory_id).space == "client:Claude"


def test_clients_survive_a_lock(rig: Rig) -> None:
    claude = rig.client("Claude", "read", "write", "space:Work")
    before = record(rig, "Claude")
    rig.lock()
    rig.unlock()
    assert record(rig, "Claude") == before
    assert rig.store("Hello", claude).operation == "ADD"


def test_each_sees_what_it_may(rig: Rig) -> None:
    ids = {
        "home": rig.store("bees at home").memory_id,
        "GLOBAL": rig.store("bees for all", space="GLOBAL").memory_id,
        "Work": rig.store("bees at work", space="Work").memory_id,
    }
    one, two = rig.client("One", "read", "write"), rig.client("Two", "read", "write", "space:Work")
    everything = rig.client("All", "read", "all_spaces")
    ids["client:One"] = rig.store("bees of one", one).memory_id
    reach = {
        "One": (one, {"GLOBAL", "client:One"}),
        "Two": (two, {"GLOBAL", "Work"}),
        "All": (everything, set(ids)),
    }
    for actor, spaces in reach.values():
        assert {item.memory.space for item in rig.recall("bees", actor).items} == spaces
        for space, memory_id in ids.items():
            if space in spaces:
                assert rig.get(memory_id, actor).space == space
            else:
                for call in (rig.engine.memories.get, rig.engine.memories.show, rig.engine.memories.list_versions):
                    with refused(Code.NOT_FOUND):
                        call(memory_id, actor).result(10)


def test_reading_needs_the_grant(rig: Rig) -> None:
    memory = rig.store("bees", space="GLOBAL").memory_id
    mute = rig.client("Mute", "propose")
    for call in (rig.recall, rig.get):
        with refused(Code.ACCESS_DENIED):
            call(memory, mute)


def test_the_owner_s_channel_is_no_client(rig: Rig) -> None:
    found = record(rig, "@owner")
    assert found.trust_ceiling == 1.0
    assert "@owner" not in [client.name for client in rig.engine.clients.list().result(10)]
    with refused(Code.UNAUTHENTICATED):
        rig.recall("bees", Actor("client", "@owner"))
    assert rig.engine.authority.name_of("nobody") is None
