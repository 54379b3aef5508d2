"""The server with real sockets, the real client library and a stand-in engine."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ipc_engine import OWNER_TOKEN, ROOT, VAULT_ID
from ipc_served import Served
from ipc_values import make_client, make_memory
from ipc_world import REGISTRY, World, answers_as_said, code_of, refusal_of, until

from core.errors import CancelledError, Code, LociError
from core.ipc.client.client import open_session
from core.ipc.methods.table import METHODS
from core.ipc.protocol.messages import RateLimitedError
from core.ipc.socket.limits import Caps
from core.types.values import Status


def test_a_client_comes_in(world: World) -> None:
    record = world.engine.clients.add(make_client("plug", ["read", "propose", "space:work"]))
    client, welcome = open_session(world.place, "plug", record.token, VAULT_ID)
    with client:
        assert welcome.grants == ("propose", "read")
        assert welcome.spaces == ("work",)
        assert welcome.limits == {
            "searches_per_minute": 20,
            "searches_per_session": 200,
            "writes_per_minute": 600,
            "reads_per_minute": 600,
            "line_bytes": 262144,
            "text_bytes": 8192,
            "items": 200,
        }
        assert (welcome.server["name"], welcome.server["protocol"]) == ("loci", 1)
        assert set(welcome.server["methods"]) == {name for name, entry in METHODS.items() if entry.who == "client"}
        assert {"memory_search", "health", "subscribe"} <= set(welcome.server["granted"])
        assert "compaction_ingest" not in welcome.server["granted"]
        health = client.call("health")
        assert (health["state"], health["version"], health["rows"]) == ("open", "0.0.test", 0)


def test_strangers_get_nothing(world: World) -> None:
    with world.client() as client:
        for method in ("health", "memory_search", "owner.status", "nonsense", "owner.unlock"):
            assert refusal_of(client, method) is Code.UNAUTHENTICATED


def test_wrong_tokens_and_unknown_names_fail_alike(world: World) -> None:
    record = world.engine.clients.add(make_client("plug"))
    liar = world.client()
    hello = {"protocol": 1, "client": "plug", "nonce": "A" * 43}
    unknown = {**hello, "client": "nobody"}
    assert liar.call("hello", hello).keys() == world.client().call("hello", unknown).keys()
    assert code_of(lambda: liar.call("auth", {"mac": "A" * 43})) is Code.UNAUTHENTICATED
    assert code_of(lambda: liar.call("hello", hello)) is Code.NOT_HERE  # put out
    # The library notices on its own side: the server cannot prove that it knows the token.
    assert code_of(lambda: world.client().greet("plug", b"x" * 32, VAULT_ID)) is Code.UNAUTHENTICATED
    assert code_of(lambda: world.client().greet("nobody", record.token)) is Code.UNAUTHENTICATED
    assert code_of(lambda: world.client().greet("plug", record.token, b"v" * 16)) is Code.VAULT_BUSY
    assert [refusal.code for refusal in world.refusals] == [Code.UNAUTHENTICATED]
    assert world.refusals[0].client_id is None


def test_owner_verbs_are_the_owners(world: World) -> None:
    client = world.paired("plug", ["read", "write", "curate", "all_spaces"])
    for method in sorted(name for name in REGISTRY.methods if name.startswith("owner.")):
        assert refusal_of(client, method) is Code.ACCESS_DENIED
    assert code_of(lambda: client.call("owner.teleport")) is Code.UNKNOWN_METHOD
    assert code_of(lambda: client.call("hello")) is Code.INVALID_INPUT
    assert {refusal.client_id for refusal in world.refusals} == {"id-plug"}


def test_a_client_that_proposes(world: World) -> None:
    client = world.paired()
    found = client.call("memory_store", {"content": "tea", "memory_type": "fact"})
    answers_as_said("memory_store", found)
    assert (found["operation"], found["conflict"]) == ("PROPOSED", "review-1")
    assert "classification" not in found
    assert world.engine.memories.rows[0].status is Status.QUARANTINED
    request, actor = world.engine.memories.stores[0]
    assert (request.text, request.space, request.source) == ("tea", None, None)
    assert (actor.kind, actor.client_id, actor.name) == ("client", "id-plug", "plug")


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"text": "x" * 8193}, Code.TEXT_TOO_LARGE),
        ({"text": "é" * 4097}, Code.TEXT_TOO_LARGE),
        ({"text": "x", "source": "user_explicit"}, Code.FORBIDDEN_FIELD),
        ({"text": "x", "provenance": "user_explicit"}, Code.FORBIDDEN_FIELD),
        ({"text": "x", "space": "home"}, Code.ACCESS_DENIED),
        ({"text": "x", "space": "no such space"}, Code.ACCESS_DENIED),
        ({"text": "x", "space": "GLOBAL"}, Code.ACCESS_DENIED),
        ({"text": "x", "space": "client:other"}, Code.ACCESS_DENIED),
        ({"text": "x", "importance": 7}, Code.INVALID_INPUT),
        ({"text": "x", "author": "you"}, Code.INVALID_INPUT),
    ],
)
def test_what_a_client_may_not_store(world: World, params: dict[str, Any], code: Code) -> None:
    assert code_of(lambda: world.paired().call("memory_store", params)) is code
    assert world.engine.memories.stores == []


def test_what_a_client_may_store(world: World) -> None:
    client = world.paired("plug", ["write", "speak_for_user", "space:work"])
    for params in (
        {"text": "é" * 4096},
        {"text": "x", "source": "user_explicit"},
        {"text": "x", "space": "work"},
        {"text": "x", "space": "client:plug", "session": "s1"},
    ):
        assert client.call("memory_store", params)["operation"] == "ADD"
    assert world.engine.memories.stores[3][1].session == "s1"
    assert code_of(lambda: client.call("memory_search", {"query": "x"})) is Code.ACCESS_DENIED
    reader = world.paired("reader", ["read"])
    assert code_of(lambda: reader.call("memory_store", {"text": "x"})) is Code.ACCESS_DENIED


def test_get_and_scope(world: World) -> None:
    world.engine.memories.rows += [make_memory(1, space="GLOBAL"), make_memory(2, space="home")]
    client = world.paired()
    found = client.call("memory_get", {"memory_id": make_memory(1).id, "memory_type": "fact"})
    answers_as_said("memory_get", found)
    assert (found["trust"], found["score"]) == ("high", None)
    for params in ({"id": make_memory(2).id}, {"id": "?"}, {"id": make_memory(1).id, "memory_type": "rule"}):
        with pytest.raises(LociError) as caught:
            client.call("memory_get", params)
        assert (caught.value.code, caught.value.sentence) == (Code.NOT_FOUND, "There is no such memory.")
    assert client.call("memory_list", {"status": ["active"]})["total"] == 1
    assert client.call("health")["rows"] == 1
    assert code_of(lambda: client.call("memory_list", {"space": "home"})) is Code.ACCESS_DENIED
    assert code_of(lambda: client.call("memory_list", {"status": ["deleted"]})) is Code.INVALID_INPUT


def test_search(world: World) -> None:
    world.engine.memories.rows.append(make_memory(1, space="GLOBAL", text="tea"))
    client = world.paired()
    params = {"topic": "tea", "filters": {"kinds": ["fact"], "min_confidence": 0.2}, "kinds": ["rule"], "session": "s"}
    found = client.call("memory_search", {**params, "explain": True})
    answers_as_said("memory_search", found)
    assert found["items"][0]["score"] == "high"
    assert found["receipt"] == "receipt-1"
    assert "near_misses" not in found
    query, actor = world.engine.memories.recalls[0]
    assert (query.kinds, query.min_confidence, query.session, actor.session) == (("rule",), 0.2, "s", "s")
    assert code_of(lambda: client.call("memory_search", {"query": " "})) is Code.INVALID_QUERY
    assert code_of(lambda: client.call("memory_search", {"query": "x", "spaces": ["home"]})) is Code.ACCESS_DENIED
    assert code_of(lambda: client.call("memory_search", {"query": "x", "filters": {"spaces": ["home"]}}))


def test_the_owner_sees_numbers_and_has_no_limits(world: World) -> None:
    world.engine.memories.rows.append(make_memory(1, text="tea"))
    owner = world.owner()
    for _ in range(30):
        found = owner.call("memory_search", {"query": "tea"})
    assert found["items"][0]["score"] == 0.86
    assert owner.call("owner.recall", {"query": "tea"})["items"][0]["trust"] == 0.9
    world.paired()
    assert owner.call("health") == {
        "state": "open", "version": "0.0.test", "rows": 1, "seq": 7, "wal_bytes": 0, "clients": 2,
    }  # fmt: skip
    assert owner.call("memory_store", {"text": "x" * 9000, "space": "GLOBAL"})["classification"]["label"] == "NEW"


def test_the_21st_search_of_a_minute_on_any_connection(world: World) -> None:
    first, second = world.paired(), world.paired()
    for client in [first, second] * 10:
        client.call("memory_search", {"query": "x"})
    with pytest.raises(RateLimitedError) as caught:
        world.paired().call("memory_search", {"query": "x"})
    assert 0 < caught.value.retry_after <= 60
    world.paired("other").call("memory_search", {"query": "x"})
    assert len(world.engine.memories.recalls) == 21
    first.call("memory_list")
    world.engine.clock.advance(60_000)
    first.call("memory_search", {"query": "x"})
    world.engine.clients.records["plug"] = replace(world.engine.clients.records["plug"], limit_minute=None)
    for _ in range(30):
        first.call("memory_search", {"query": "x"})


def test_the_pages_of_what_holds_a_text_count_as_one_search_and_as_reads(world: World) -> None:
    world.engine.memories.rows += [make_memory(n, text="a jar " * 10, space="client:plug") for n in range(1, 41)]
    client = world.paired("plug", ["read"], limit_minute=2)
    world.engine.chosen = world.engine.chosen.model_copy(update={"reads_minute": 5})
    asked = {"text": "jar", "limit": 10}
    page = client.call("memory_list", asked)
    ids = [one["id"] for one in page["items"]]
    while "next" in page:
        page = client.call("memory_list", {**asked, "after": page["next"]})
        ids += [one["id"] for one in page["items"]]
    assert len(ids) == len(set(ids)) == 40
    # The second search; then none: neither a new one, nor a page that was not handed out, or was used already.
    page = client.call("memory_list", asked)
    for more in (asked, {**asked, "after": ids[9], "limit": 9}, {**asked, "text": "a", "after": page["next"]}):
        assert refusal_of(client, "memory_list", more) is Code.RATE_LIMITED
    for _ in range(2):
        page = client.call("memory_list", {**asked, "after": page["next"]})
    with pytest.raises(RateLimitedError, match="read 5 times"):
        client.call("memory_list", {**asked, "after": page["next"]})


def test_the_pages_of_a_search_count_as_one(world: World) -> None:
    world.engine.memories.rows += [make_memory(n, text="x" * 8000, space="client:plug") for n in range(1, 101)]
    client = world.paired("plug", ["read"], limit_minute=2)
    found = client.collect("memory_search", {"query": "x", "limit": 100})
    assert len(found["items"]) == 100
    assert len(world.engine.memories.recalls) > 3
    # An `after` that was not handed out for this very search, or was used already, costs a search.
    page = client.call("memory_search", {"query": "y", "limit": 100})
    client.call("memory_search", {"query": "y", "limit": 100, "after": page["next"]})
    for query in ("y", "z"):
        more = {"query": query, "limit": 100, "after": page["next"]}
        assert refusal_of(client, "memory_search", more) is Code.RATE_LIMITED


def test_what_is_no_unicode_is_refused_before_it_is_sent(world: World) -> None:
    owner = world.owner()
    with pytest.raises(LociError, match="`path` cannot be sent") as caught:
        owner.call("owner.import", {"path": "/caf\udce9.txt"})
    assert caught.value.code is Code.INVALID_INPUT
    assert refusal_of(owner, "owner.remember", {"text": "a\ud800b"}) is Code.INVALID_INPUT
    assert refusal_of(owner, "owner.remember", {"text": "a", "tags": ["\0"]}) is Code.INVALID_INPUT
    assert world.engine.memories.stores == []
    assert owner.call("health")["state"] == "open"


def test_a_refused_line_is_answered_under_its_id(world: World) -> None:
    raw = world.raw()
    answer = raw.ask(b'{"jsonrpc":"2.0","id":7,"method":"hello","params":{"nonce":"\\u0000"}}\n')
    assert answer is not None
    assert (answer["id"], answer["error"]["code"], answer["error"]["data"]["code"]) == (7, -32600, "E4009")


def test_long_lists_are_cut_and_followed(world: World) -> None:
    world.engine.memories.rows += [make_memory(n, text="x" * 8000) for n in range(1, 101)]
    owner = world.owner()
    page = owner.call("owner.list", {"limit": 100})
    assert 20 < len(page["items"]) < 40
    assert page["next"] == page["items"][-1]["id"]
    assert page["total"] == 100
    whole = owner.collect("owner.list", {"limit": 90})
    assert [item["id"] for item in whole["items"]] == [make_memory(n).id for n in range(100, 10, -1)]
    assert "next" not in whole
    found = owner.collect("owner.recall", {"query": "x", "limit": 95})
    assert [item["id"] for item in found["items"]] == [make_memory(n).id for n in range(1, 96)]


def test_a_list_without_a_limit_has_as_many_items_as_the_protocol_says(served: Served) -> None:
    served.rig.bring([{"text": f"Jar {n}", "kind": "fact", "ref": f"j{n}"} for n in range(60)], space="home")
    served.engine.clients.pair("plug", ["read", "space:home"]).result(60)
    assert REGISTRY.methods["memory_list"].params["properties"]["limit"]["default"] == 10
    page = served.call(served.paired("plug"), "memory_list")
    assert (len(page["items"]), page["total"]) == (10, 60)
    assert page["next"] == page["items"][-1]["id"]
    assert len(served.call(served.owner(), "memory_list")["items"]) == 10
    assert len(served.call(served.owner(), "owner.list")["items"]) == 50


def test_one_reply_of_a_list_has_at_most_500_items(world: World) -> None:
    world.engine.memories.rows += [make_memory(n, text="") for n in range(1, 1201)]
    owner = world.owner()
    assert len(owner.collect("owner.list", {"limit": 1100})["items"]) == 1100
    assert max(request.limit or 0 for request in world.engine.memories.lists) == 500


def test_locked_says_locked_and_nothing_else(empty_home: Path) -> None:
    with World(empty_home, state="locked") as world:
        client = world.client()
        for method in [*REGISTRY.methods, "nonsense"]:
            if method != "owner.unlock":
                assert refusal_of(client, method, {"x": 1}) is Code.VAULT_LOCKED
        assert code_of(lambda: world.client().greet("@owner", OWNER_TOKEN)) is Code.VAULT_LOCKED
        raw = world.raw()
        for line in (b"garbage\n", b'{"jsonrpc":"2.0","id":1,"method":"x","x":1}\n', b"x" * 300_000 + b"\n"):
            answer = raw.ask(line)
            assert answer is not None
            assert answer["error"]["data"]["code"] == Code.VAULT_LOCKED.value


def test_unlocking_over_the_socket(empty_home: Path) -> None:
    with World(empty_home, state="locked") as world:
        assert code_of(lambda: world.client().unlock(VAULT_ID, b"x" * 32)) is Code.WRONG_SECRET
        assert code_of(lambda: world.client().unlock(b"v" * 16, ROOT)) is Code.WRONG_SECRET
        assert code_of(lambda: world.client().unlock(VAULT_ID, ROOT, owner_pid=1)) is Code.ACCESS_DENIED
        client = world.client()
        assert client.unlock(VAULT_ID, ROOT) == {"state": "open"}
        assert client.greet("@owner", OWNER_TOKEN, VAULT_ID).server["name"] == "loci"


def test_locking_ends_every_session(world: World) -> None:
    client, owner = world.paired(), world.owner()
    world.engine.memories.gate = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(lambda: code_of(lambda: client.call("memory_search", {"query": "x"})))
        until(lambda: world.engine.memories.waiting)
        assert owner.call("owner.lock") == {"state": "locked"}
        assert asking.result(60) is Code.VAULT_LOCKED
    assert world.engine.memories.waiting[0].cancelled()
    assert code_of(lambda: client.call("health")) is Code.VAULT_LOCKED
    assert code_of(lambda: owner.call("health")) is Code.VAULT_LOCKED
    world.engine.set_state("open")
    assert code_of(lambda: client.call("health")) is Code.UNAUTHENTICATED
    world.engine.memories.gate = None
    client.greet("plug", make_client("plug").token, VAULT_ID)
    assert client.call("health")["state"] == "open"


def test_revoking_drops_live_connections(world: World) -> None:
    client, other, owner = world.paired(), world.paired("other"), world.owner()
    assert owner.call("owner.revoke", {"name": "plug"})["revoked"] is True
    assert code_of(lambda: client.call("health")) is Code.NOT_HERE
    assert other.call("health")["state"] == "open"
    assert code_of(lambda: world.client().greet("plug", make_client("plug").token)) is Code.UNAUTHENTICATED
    assert owner.call("owner.clients")["clients"][0]["state"] == "revoked"


def test_a_client_that_vanishes_from_the_vault_is_noticed(empty_home: Path) -> None:
    with World(empty_home, caps=Caps(watch_s=0.02)) as world:
        client = world.paired()
        world.engine.clients.records["plug"] = replace(make_client("plug"), paused=True)
        with pytest.raises(LociError) as caught:
            client.listen(5)  # nothing was asked: the server closes by itself
        assert caught.value.code is Code.NOT_HERE


def test_reads_are_given_up_when_the_peer_goes_and_writes_are_finished(world: World) -> None:
    gate = world.engine.memories.gate = threading.Event()
    reader, writer = world.paired("reader"), world.paired("writer", ["write"])
    with ThreadPoolExecutor(2) as pool:
        pool.submit(lambda: code_of(lambda: reader.call("memory_search", {"query": "x"}, timeout_s=0.2)))
        pool.submit(lambda: code_of(lambda: writer.call("memory_store", {"text": "kept"}, timeout_s=0.2)))
        until(lambda: world.engine.memories.waiting and world.engine.memories.stores)
    reader.close()
    writer.close()
    until(world.engine.memories.waiting[0].cancelled)
    gate.set()
    until(lambda: [memory.text for memory in world.engine.memories.rows] == ["kept"])


def test_calls_of_one_connection_run_side_by_side(world: World) -> None:
    world.engine.memories.gate = threading.Event()
    raw_client = world.paired()
    raw_client._send(b'{"jsonrpc":"2.0","id":900,"method":"memory_search","params":{"query":"x"}}\n')
    until(lambda: world.engine.memories.waiting)
    assert raw_client.call("health")["state"] == "open"
    twice = b'{"jsonrpc":"2.0","id":900,"method":"health"}\n'
    raw_client._send(twice)
    assert code_of(lambda: raw_client.call("health")) is Code.MALFORMED_MESSAGE


def test_progress_reaches_the_caller(world: World) -> None:
    told: list[tuple[str, int, int | None]] = []
    found = world.owner().call(
        "owner.import", {"path": "/x.jsonl"}, progress=lambda label, done, total: told.append((label, done, total))
    )
    answers_as_said("owner.import", found)
    assert told == [("Importing", step, 3) for step in range(3)]


def test_a_long_call_can_be_stopped(world: World) -> None:
    world.engine.imports.gate = threading.Event()
    owner = world.owner()

    def stop(_label: str, done: int, _total: int | None) -> None:
        if done == 2:
            assert owner.call("owner.cancel", {"call": 3}) == {"cancelled": True}

    with pytest.raises(CancelledError):
        owner.call("owner.import", {"path": "/x.jsonl"}, progress=stop)
    assert owner.call("owner.cancel", {"call": 77}) == {"cancelled": False}


@pytest.mark.parametrize("allow", [True, False])
def test_pairing_with_a_code(world: World, allow: bool) -> None:
    owner, codes = world.owner(), []
    shown: list[Mapping[str, Any]] = []
    ready = threading.Event()

    def notify(method: str, params: Mapping[str, Any]) -> None:
        if method == "pair_code":
            codes.append(params["code"])
            ready.set()
        else:
            shown.append(params)
            assert owner.call("owner.pair_answer", {"request": params["request"], "allow": allow})

    with ThreadPoolExecutor(2) as pool:
        opening = pool.submit(lambda: owner.call("owner.pair_code", {}, notify=notify))
        assert ready.wait(60)
        redeeming = pool.submit(lambda: world.client().pair("My plug<b>", codes[0].lower(), ["read"]))
        if not allow:
            assert code_of(redeeming.result) is Code.PAIRING_REFUSED
            assert code_of(opening.result) is Code.PAIRING_REFUSED
            assert world.engine.clients.records == {}
            return
        pairing = redeeming.result(60)
        assert opening.result(60) == {"client": "My plug-b", "grants": ["read"]}
    assert (shown[0]["client"], shown[0]["name"]) == ("My plug\\u003cb\\u003e", "My plug-b")
    assert str(pairing.token) not in repr(pairing)
    with world.client() as client:
        assert client.greet(pairing.client, pairing.token, VAULT_ID).grants == ("read",)


def test_pairing_without_an_open_code_asks_nobody(world: World) -> None:
    assert code_of(lambda: world.client().pair("plug", "A" * 16)) is Code.PAIRING_REFUSED
    assert world.engine.clients.records == {}
    assert code_of(lambda: world.owner().call("owner.pair_answer", {"request": "x", "allow": True}))


def test_the_person_going_away_ends_pairing(world: World) -> None:
    owner, ready = world.owner(), threading.Event()
    codes: list[str] = []

    def notify(method: str, params: Mapping[str, Any]) -> None:
        codes.append(params.get("code", ""))
        ready.set()
        if method == "pair_request":
            owner.close()

    with ThreadPoolExecutor(1) as pool:

        def opening() -> None:
            with suppress(LociError, OSError):
                owner.call("owner.pair_code", {"name": "plug"}, notify=notify)

        waiting = pool.submit(opening)
        assert ready.wait(60)
        assert code_of(lambda: world.client().pair("x", codes[0])) is Code.PAIRING_REFUSED
        waiting.result(60)
    assert world.engine.clients.records == {}


def test_a_client_is_told_what_it_may_and_where_its_stores_go(world: World) -> None:
    told = world.paired("plug", ["read", "propose", "space:work"]).call("health")
    assert (told["client"], told["grants"]) == ("plug", ["propose", "read"])
    assert (told["spaces"], told["own_space"]) == (["work"], "client:plug")
    world.engine.vault.spaces = ["GLOBAL", "client:seer", "home", "work"]
    assert world.paired("seer", ["read", "all_spaces"]).call("health")["spaces"] == ["home", "work"]
    assert "own_space" not in world.owner().call("health")
