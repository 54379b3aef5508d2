"""Listening: what a client may see and nothing else, an end to it, and a reader that does not read."""

from __future__ import annotations

import json
import threading
from typing import Any
from unittest.mock import ANY

import pytest
from ipc_peers import code_of
from ipc_served import Served

from core.errors import Code
from core.events import Changed
from core.ipc.client.client import open_session
from core.ipc.protocol.messages import RateLimitedError
from core.types.values import OWNER_ACTOR, Actor


class Ear:
    """A client of its own that keeps the notifications it gets."""

    def __init__(self, served: Served, name: str, kinds: list[str] | None = None) -> None:
        self.heard: list[tuple[str, dict[str, Any]]] = []
        record = served.pair(name, ["read"], "none")
        self.client, _ = open_session(served.place, name, record.token, served.vault_id)
        served.kept(self.client)
        self.client.call("subscribe", {} if kinds is None else {"kinds": kinds})

    def listen(self) -> list[tuple[str, dict[str, Any]]]:
        """What came in until an answer to a call that is asked now."""
        pause = threading.Event()
        for _ in range(3):
            self.client.call("health", {}, notify=lambda what, notice: self.heard.append((what, dict(notice))))
            pause.wait(0.05)
        return self.heard


def change(served: Served, kind: str, *ids: str) -> None:
    served.tell(kind, *ids)


def test_only_what_may_be_seen_is_told_and_no_number_of_the_vault(served: Served) -> None:
    one, two = Ear(served, "one"), Ear(served, "two")
    change(served, "stored", "two-1")
    change(served, "stored", "one-1", "two-2")
    change(served, "gone", "one-1")
    assert one.listen() == [
        ("changed", {"seq": 1, "kind": "stored", "ids": ["one-1"]}),
        ("changed", {"seq": 2, "kind": "gone", "ids": ["one-1"]}),
    ]
    assert [notice["ids"] for _, notice in two.listen()] == [["two-1"], ["two-2"]]


def test_a_change_of_one_verb_is_told_as_what_it_was_to_each(served: Served) -> None:
    one, two = Ear(served, "one"), Ear(served, "two")
    served.engine.hub.tell(
        (*served.moves("gone", "one-1"), *served.moves("stored", "one-2"), *served.moves("changed", "two-1"))
    )
    assert one.listen() == [
        ("changed", {"seq": 1, "kind": "stored", "ids": ["one-2"]}),
        ("changed", {"seq": 2, "kind": "gone", "ids": ["one-1"]}),
    ]
    assert [notice["kind"] for _, notice in two.listen()] == ["changed"]


def test_more_memories_than_a_line_names_are_missed_by_who_sees_them(served: Served) -> None:
    one, two = Ear(served, "one"), Ear(served, "two")
    change(served, "stored", *(f"one-{number}" for number in range(501)))
    assert one.listen() == [("missed", {"seq": 1})]
    assert two.listen() == []


def test_an_event_of_the_windows_is_none_of_a_listeners(served: Served) -> None:
    one = Ear(served, "one")
    served.engine.hub.publish(Changed("forget", ("one-1",), OWNER_ACTOR, 7))
    assert one.listen() == []


def test_kinds_narrow_it_and_none_end_it(served: Served) -> None:
    one = Ear(served, "one", ["gone"])
    change(served, "stored", "one-1")
    change(served, "gone", "one-2")
    assert [notice["ids"] for _, notice in one.listen()] == [["one-2"]]
    assert one.client.call("subscribe", {"kinds": []}) == {"kinds": []}
    change(served, "gone", "one-3")
    assert len(one.listen()) == 1
    assert code_of(lambda: one.client.call("subscribe", {"kinds": ["all"]})) is Code.INVALID_INPUT


def test_without_read_there_is_nothing_to_listen_to(served: Served) -> None:
    client = served.paired("writer", ["write"])
    assert code_of(lambda: client.call("subscribe")) is Code.ACCESS_DENIED


def test_who_is_paused_hears_nothing_any_more(served: Served) -> None:
    one = Ear(served, "one")
    served.owner().call("owner.pause", {"name": "one"})
    change(served, "stored", "one-1")
    with pytest.raises(Exception, match=r"E\d{4}"):
        one.listen()
    assert one.heard == []


def test_a_reader_that_does_not_read_costs_one_word(served: Served) -> None:
    one = Ear(served, "one")
    (connection,) = [c for c in served.server._connections if c.session is not None]
    listening = connection.subscription
    assert listening is not None

    async def flood() -> int:
        for number in range(500):  # the pump has no turn meanwhile
            listening.offer_moves(served.moves("stored", f"one-{number}"))
        return len(listening._waiting)

    assert served.on_loop(flood()) <= 64
    heard = one.listen()
    assert heard[0] == ("missed", {"seq": 1})
    assert sum(what == "missed" for what, _ in heard) == 1
    assert [notice["seq"] for _, notice in heard] == list(range(1, len(heard) + 1))
    assert len(json.dumps(heard)) < 64 * 1024


@pytest.mark.parametrize(("name", "told"), [("two", []), ("one", [("missed", {"seq": 1})])])
def test_a_flood_of_others_is_not_felt(served: Served, name: str, told: list[Any]) -> None:
    served.pair("two")
    one = Ear(served, "one")
    (connection,) = [c for c in served.server._connections if c.session is not None]
    listening = connection.subscription
    assert listening is not None

    async def flood() -> None:
        for number in range(65):
            listening.offer_moves(served.moves("stored", f"{name}-{number}"))

    served.on_loop(flood())
    assert one.listen() == told


def test_writes_have_a_limit_of_their_own(served: Served) -> None:
    served.choose(writes_minute=2)
    plug = served.paired("plug", ["read", "write"])
    for number in range(2):
        plug.call("memory_store", {"text": f"jar {number}"})
    with pytest.raises(RateLimitedError, match="2 times a minute") as caught:
        plug.call("memory_store", {"text": "jar 3"})
    assert 0 < caught.value.retry_after <= 60
    assert plug.call("health")["state"] == "open"
    free = served.paired("free", ["read", "write"], "none")
    for number in range(2):
        free.call("memory_store", {"text": f"vase {number}"})
    # Whoever lifts the searches of a client has not let it flood the vault.
    assert code_of(lambda: free.call("memory_store", {"text": "vase 3"})) is Code.RATE_LIMITED
    served.advance(60_000)
    plug.call("memory_store", {"text": "jar 4"})


def test_reads_beside_searches_have_a_limit_and_a_list_by_text_is_a_search(served: Served) -> None:
    served.choose(reads_minute=3)
    plug = served.paired("plug", ["read"], 2)
    for _ in range(3):
        plug.call("memory_list")
    with pytest.raises(RateLimitedError, match="read 3 times a minute"):
        plug.call("memory_list")
    assert plug.call("health")["state"] == "open"
    for _ in range(2):
        plug.call("memory_list", {"text": "jar"})
    with pytest.raises(RateLimitedError, match="search 2 times a minute"):
        plug.call("memory_list", {"text": "jar"})
    assert code_of(lambda: plug.call("memory_search", {"query": "jar"})) is Code.RATE_LIMITED
    served.advance(60_000)
    plug.call("memory_list")
    plug.call("memory_search", {"query": "jar"})


def test_a_client_that_sleeps_is_refused_as_if_it_were_unknown(served: Served) -> None:
    record = served.pair("sleeper")
    served.advance(400 * 86_400_000)
    assert served.record("sleeper").asleep
    sentences = set()
    for name in ("sleeper", "unknown"):
        with pytest.raises(Exception, match="E4007") as caught:
            open_session(served.place, name, record.token, None)
        sentences.add(str(caught.value))
    assert len(sentences) == 1


def test_the_owner_stops_and_resumes_all(served: Served) -> None:
    one, two = served.paired("one"), served.paired("two")
    owner = served.owner()
    assert owner.call("owner.pause", {"all": True}) == {"client": None, "paused": True, "step": ANY}
    for client in (one, two):
        assert code_of(lambda: client.call("health")) is not None  # noqa: B023 - called at once
    owner.call("owner.resume", {"all": True})
    assert served.paired("one").call("health")["state"] == "open"
    for params in ({}, {"all": True, "name": "one"}, {"all": False}):
        assert code_of(lambda: owner.call("owner.pause", params)) is Code.INVALID_INPUT  # noqa: B023


def test_revoking_says_what_it_wrote_and_takes_it_back_when_asked(served: Served) -> None:
    one = Actor("client", served.pair("one", ["read", "write"]).id, "one")
    served.rig.store("The oldest jar is blue.", one)
    served.advance(100 * 86_400_000)
    served.rig.store("A second jar is red.", one)
    served.rig.store("A third vase is green.", one)
    owner = served.owner()
    told = owner.call("owner.revoke", {"name": "one"})
    assert told["wrote"] == {"steps": 2, "memories": 2, "too_old": 1, "untried": 0}
    assert len(served.rig.texts()) == 3
    told = owner.call("owner.revoke", {"name": "one", "remove": True})
    assert (told["removed"], told["step"]) == ({"steps": 2, "left": 0, "archived": 1, "left_ids": []}, ANY)
    assert served.rig.texts() == []
