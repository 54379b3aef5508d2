"""The server with real sockets, the real client library and the real engine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ipc_peers import REGISTRY, answers_as_said, code_of, refusal_of, until
from ipc_served import Served, client_names, served_at
from ipc_values import found_item, make_memory

from core.errors import CancelledError, Code, LociError
from core.ipc.client.client import open_session
from core.ipc.methods.table import METHODS
from core.ipc.protocol.messages import RateLimitedError
from core.ipc.socket.limits import Caps
from core.types.clients import Terms
from core.types.replies import ImportReport
from core.types.requests import ListRequest
from core.types.values import OWNER_ACTOR, Actor, Status


def test_a_client_comes_in(served: Served) -> None:
    record = served.pair("plug", ["read", "propose", "space:work"])
    client, welcome = open_session(served.place, "plug", record.token, served.vault_id)
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


def test_strangers_get_nothing(served: Served) -> None:
    with served.client() as client:
        for method in ("health", "memory_search", "owner.status", "nonsense", "owner.unlock"):
            assert refusal_of(client, method) is Code.UNAUTHENTICATED


def test_wrong_tokens_and_unknown_names_fail_alike(served: Served) -> None:
    record = served.pair("plug")
    liar = served.client()
    hello = {"protocol": 1, "client": "plug", "nonce": "A" * 43}
    unknown = {**hello, "client": "nobody"}
    assert liar.call("hello", hello).keys() == served.client().call("hello", unknown).keys()
    assert code_of(lambda: liar.call("auth", {"mac": "A" * 43})) is Code.UNAUTHENTICATED
    assert code_of(lambda: liar.call("hello", hello)) is Code.NOT_HERE  # put out
    # The library notices on its own side: the server cannot prove that it knows the token.
    assert code_of(lambda: served.client().greet("plug", b"x" * 32, served.vault_id)) is Code.UNAUTHENTICATED
    assert code_of(lambda: served.client().greet("nobody", record.token)) is Code.UNAUTHENTICATED
    assert code_of(lambda: served.client().greet("plug", record.token, b"v" * 16)) is Code.VAULT_BUSY
    assert [refusal.code for refusal in served.refusals] == [Code.UNAUTHENTICATED]
    assert served.refusals[0].client_id is None


def test_owner_verbs_are_the_owners(served: Served) -> None:
    client = served.paired("plug", ["read", "write", "curate", "all_spaces"])
    for method in sorted(name for name in REGISTRY.methods if name.startswith("owner.")):
        assert refusal_of(client, method) is Code.ACCESS_DENIED
    assert code_of(lambda: client.call("owner.teleport")) is Code.UNKNOWN_METHOD
    assert code_of(lambda: client.call("hello")) is Code.INVALID_INPUT
    assert {refusal.client_id for refusal in served.refusals} == {served.client_id()}


def test_a_client_that_proposes(served: Served) -> None:
    client, stores = served.paired(), served.calls_of("store")
    found = client.call("memory_store", {"content": "tea", "memory_type": "fact"})
    answers_as_said("memory_store", found)
    assert (found["operation"], found["conflict"] is None) == ("PROPOSED", False)
    assert "classification" not in found
    assert served.rig.get(found["memory_id"]).status is Status.QUARANTINED
    ((request, actor),) = stores
    assert (request.text, request.space, request.source) == ("tea", None, None)
    assert (actor.kind, actor.client_id, actor.name) == ("client", served.client_id(), "plug")


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
def test_what_a_client_may_not_store(served: Served, params: dict[str, Any], code: Code) -> None:
    stores = served.calls_of("store")
    assert code_of(lambda: served.paired().call("memory_store", params)) is code
    assert stores == []


def test_what_a_client_may_store(served: Served) -> None:
    client, stores = served.paired("plug", ["write", "speak_for_user", "space:work"]), served.calls_of("store")
    for params in (
        {"text": "é" * 4096},
        {"text": "x", "source": "user_explicit"},
        {"text": "x", "space": "work"},
        {"text": "x", "space": "client:plug", "session": "s1"},
    ):
        assert client.call("memory_store", params)["operation"] == "ADD"
    assert stores[3][1].session == "s1"
    assert code_of(lambda: client.call("memory_search", {"query": "x"})) is Code.ACCESS_DENIED
    reader = served.paired("reader", ["read"])
    assert code_of(lambda: reader.call("memory_store", {"text": "x"})) is Code.ACCESS_DENIED


def test_get_and_scope(served: Served) -> None:
    mine, other = served.remember("Tea is green."), served.remember("Coffee is black.", "home")
    client = served.paired()
    found = client.call("memory_get", {"memory_id": mine, "memory_type": "fact"})
    answers_as_said("memory_get", found)
    assert (found["trust"], found["score"]) == ("high", None)
    for params in ({"id": other}, {"id": "?"}, {"id": mine, "memory_type": "rule"}):
        with pytest.raises(LociError) as caught:
            client.call("memory_get", params)
        assert (caught.value.code, caught.value.sentence) == (Code.NOT_FOUND, "There is no such memory.")
    assert client.call("memory_list", {"status": ["active"]})["total"] == 1
    assert client.call("health")["rows"] == 1
    assert code_of(lambda: client.call("memory_list", {"space": "home"})) is Code.ACCESS_DENIED
    assert code_of(lambda: client.call("memory_list", {"status": ["deleted"]})) is Code.INVALID_INPUT


def test_search(served: Served) -> None:
    asked = served.answer_with(found_item(served.rig.get(served.remember("tea"))))
    client, actors = served.paired(), served.calls_of("recall")
    params = {"topic": "tea", "filters": {"kinds": ["fact"], "min_confidence": 0.2}, "kinds": ["rule"], "session": "s"}
    found = client.call("memory_search", {**params, "explain": True})
    answers_as_said("memory_search", found)
    assert found["items"][0]["score"] == "high"
    assert found["receipt"] == "receipt-1"
    assert "near_misses" not in found
    (query,), ((_, actor),) = asked, actors
    assert (query.kinds, query.min_confidence, query.session, actor.session) == (("rule",), 0.2, "s", "s")
    assert code_of(lambda: client.call("memory_search", {"query": " "})) is Code.INVALID_QUERY
    assert code_of(lambda: client.call("memory_search", {"query": "x", "spaces": ["home"]})) is Code.ACCESS_DENIED
    assert code_of(lambda: client.call("memory_search", {"query": "x", "filters": {"spaces": ["home"]}}))


def test_the_owner_sees_numbers_and_has_no_limits(served: Served) -> None:
    served.remember("tea")
    served.answer_with(found_item(make_memory(1, text="tea")))
    owner = served.owner()
    for _ in range(30):
        found = owner.call("memory_search", {"query": "tea"})
    assert found["items"][0]["score"] == 0.86
    assert owner.call("owner.recall", {"query": "tea"})["items"][0]["trust"] == 0.9
    served.paired()
    values = served.engine.vault.read_status().result(60).values
    assert owner.call("health") == {
        "state": "open", "version": "0.0.test", "rows": 1, "seq": values["seq"], "wal_bytes": values["wal_bytes"],
        "clients": 2,
    }  # fmt: skip
    assert owner.call("memory_store", {"text": "x" * 9000, "space": "GLOBAL"})["classification"]["label"] == "NEW"


@pytest.mark.slow
def test_the_21st_search_of_a_minute_on_any_connection(served: Served) -> None:
    first, second, recalls = served.paired(), served.paired(), served.calls_of("recall")
    for client in [first, second] * 10:
        client.call("memory_search", {"query": "x"})
    with pytest.raises(RateLimitedError) as caught:
        served.paired().call("memory_search", {"query": "x"})
    assert 0 < caught.value.retry_after <= 60
    served.paired("other").call("memory_search", {"query": "x"})
    assert len(recalls) == 21
    first.call("memory_list")
    served.advance(60_000)
    first.call("memory_search", {"query": "x"})
    served.engine.clients.change_terms("plug", Terms(("read", "propose"), None, 200)).result(60)
    for _ in range(30):
        first.call("memory_search", {"query": "x"})


@pytest.mark.slow
def test_the_pages_of_what_holds_a_text_count_as_one_search_and_as_reads(served: Served) -> None:
    client = served.paired("plug", ["read"], limit=2)
    served.bring([f"a jar {n} " * 10 for n in range(40)], "client:plug")
    served.choose(reads_minute=5)
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


def test_the_pages_of_a_search_count_as_one(served: Served) -> None:
    client = served.paired("plug", ["read"], limit=2)
    recalls = served.answer_with(*(found_item(make_memory(n, text="x" * 8000)) for n in range(1, 101)))
    found = client.collect("memory_search", {"query": "x", "limit": 100})
    assert len(found["items"]) == 100
    assert len(recalls) > 3
    # An `after` that was not handed out for this very search, or was used already, costs a search.
    page = client.call("memory_search", {"query": "y", "limit": 100})
    client.call("memory_search", {"query": "y", "limit": 100, "after": page["next"]})
    for query in ("y", "z"):
        more = {"query": query, "limit": 100, "after": page["next"]}
        assert refusal_of(client, "memory_search", more) is Code.RATE_LIMITED


def test_what_is_no_unicode_is_refused_before_it_is_sent(served: Served) -> None:
    owner, stores = served.owner(), served.calls_of("store")
    with pytest.raises(LociError, match="`path` cannot be sent") as caught:
        owner.call("owner.import", {"path": "/caf\udce9.txt"})
    assert caught.value.code is Code.INVALID_INPUT
    assert refusal_of(owner, "owner.remember", {"text": "a\ud800b"}) is Code.INVALID_INPUT
    assert refusal_of(owner, "owner.remember", {"text": "a", "tags": ["\0"]}) is Code.INVALID_INPUT
    assert stores == []
    assert owner.call("health")["state"] == "open"


def test_a_refused_line_is_answered_under_its_id(served: Served) -> None:
    raw = served.raw()
    answer = raw.ask(b'{"jsonrpc":"2.0","id":7,"method":"hello","params":{"nonce":"\\u0000"}}\n')
    assert answer is not None
    assert (answer["id"], answer["error"]["code"], answer["error"]["data"]["code"]) == (7, -32600, "E4009")


@pytest.mark.slow
def test_long_lists_are_cut_and_followed(served: Served) -> None:
    served.bring([f"{n} " + "x" * 8000 for n in range(100)])
    ids = [one.id for one in served.engine.memories.list(ListRequest(limit=None), OWNER_ACTOR).result(60).items]
    owner = served.owner()
    page = owner.call("owner.list", {"limit": 100})
    assert 20 < len(page["items"]) < 40
    assert page["next"] == page["items"][-1]["id"]
    assert page["total"] == 100
    whole = owner.collect("owner.list", {"limit": 90})
    assert [item["id"] for item in whole["items"]] == ids[:90]
    assert "next" not in whole
    served.answer_with(*(found_item(served.rig.get(one)) for one in ids))
    found = owner.collect("owner.recall", {"query": "x", "limit": 95})
    assert [item["id"] for item in found["items"]] == ids[:95]


@pytest.mark.slow
def test_a_list_without_a_limit_has_as_many_items_as_the_protocol_says(served: Served) -> None:
    served.rig.bring([{"text": f"Jar {n}", "kind": "fact", "ref": f"j{n}"} for n in range(60)], space="home")
    served.engine.clients.pair("plug", ["read", "space:home"]).result(60)
    assert REGISTRY.methods["memory_list"].params["properties"]["limit"]["default"] == 10
    page = served.call(served.paired("plug"), "memory_list")
    assert (len(page["items"]), page["total"]) == (10, 60)
    assert page["next"] == page["items"][-1]["id"]
    assert len(served.call(served.owner(), "memory_list")["items"]) == 10
    assert len(served.call(served.owner(), "owner.list")["items"]) == 50


@pytest.mark.slow
def test_one_reply_of_a_list_has_at_most_500_items(served: Served) -> None:
    served.bring([f"jar {n}" for n in range(650)])
    owner, lists = served.owner(), served.calls_of("list")
    assert len(owner.collect("owner.list", {"limit": 600})["items"]) == 600
    assert max(request.limit or 0 for request, _ in lists) == 500


def test_locked_says_locked_and_nothing_else(empty_home: Path) -> None:
    with served_at(empty_home, is_open=False) as served:
        client = served.client()
        for method in [*REGISTRY.methods, "nonsense"]:
            if method != "owner.unlock":
                assert refusal_of(client, method, {"x": 1}) is Code.VAULT_LOCKED
        assert code_of(lambda: served.client().greet("@owner", served.owner_token)) is Code.VAULT_LOCKED
        raw = served.raw()
        for line in (b"garbage\n", b'{"jsonrpc":"2.0","id":1,"method":"x","x":1}\n', b"x" * 300_000 + b"\n"):
            answer = raw.ask(line)
            assert answer is not None
            assert answer["error"]["data"]["code"] == Code.VAULT_LOCKED.value


def test_unlocking_over_the_socket(empty_home: Path) -> None:
    with served_at(empty_home, is_open=False) as served:
        assert code_of(lambda: served.client().unlock(served.vault_id, b"x" * 32)) is Code.WRONG_SECRET
        assert code_of(lambda: served.client().unlock(b"v" * 16, served.rig.root)) is Code.WRONG_SECRET
        assert (
            code_of(lambda: served.client().unlock(served.vault_id, served.rig.root, owner_pid=1)) is Code.ACCESS_DENIED
        )
        client = served.client()
        assert client.unlock(served.vault_id, served.rig.root) == {"state": "open"}
        assert client.greet("@owner", served.owner_token, served.vault_id).server["name"] == "loci"


def test_locking_ends_every_session(served: Served) -> None:
    client, owner = served.paired(), served.owner()
    token, held = served.record().token, served.held("recall")
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(lambda: code_of(lambda: client.call("memory_search", {"query": "x"})))
        until(lambda: held.waiting)
        assert owner.call("owner.lock") == {"state": "locked"}
        assert asking.result(60) is Code.VAULT_LOCKED
    assert held.waiting[0].cancelled()
    assert code_of(lambda: client.call("health")) is Code.VAULT_LOCKED
    assert code_of(lambda: owner.call("health")) is Code.VAULT_LOCKED
    served.rig.unlock()
    assert code_of(lambda: client.call("health")) is Code.UNAUTHENTICATED
    client.greet("plug", token, served.vault_id)
    assert client.call("health")["state"] == "open"


def test_revoking_drops_live_connections(served: Served) -> None:
    client, other, owner = served.paired(), served.paired("other"), served.owner()
    token = served.record().token
    assert owner.call("owner.revoke", {"name": "plug"})["revoked"] is True
    assert code_of(lambda: client.call("health")) is Code.NOT_HERE
    assert other.call("health")["state"] == "open"
    assert code_of(lambda: served.client().greet("plug", token)) is Code.UNAUTHENTICATED
    assert {one["name"]: one["state"] for one in owner.call("owner.clients")["clients"]}["plug"] == "revoked"


def test_a_client_that_vanishes_from_the_vault_is_noticed(empty_home: Path) -> None:
    with served_at(empty_home, caps=Caps(watch_s=0.02)) as served:
        client = served.paired()
        # Behind the engine's back: no event says so.
        served.engine.authority._replace_clients({"plug": replace(served.record(), paused=True)})
        with pytest.raises(LociError) as caught:
            client.listen(60)  # nothing was asked: the server closes by itself
        assert caught.value.code is Code.NOT_HERE


def test_reads_are_given_up_when_the_peer_goes_and_writes_are_finished(served: Served) -> None:
    recalls, stores = served.held("recall"), served.held("store")
    reader, writer = served.paired("reader"), served.paired("writer", ["write"])
    reader._send_line(b'{"jsonrpc":"2.0","id":1,"method":"memory_search","params":{"query":"x"}}\n')
    writer._send_line(b'{"jsonrpc":"2.0","id":1,"method":"memory_store","params":{"text":"kept"}}\n')
    until(lambda: recalls.waiting and stores.waiting)
    reader.close()
    writer.close()
    until(recalls.waiting[0].cancelled)
    stores.release()
    assert served.rig.texts() == ["kept"]


def test_calls_of_one_connection_run_side_by_side(served: Served) -> None:
    raw_client, held = served.paired(), served.held("recall")
    raw_client._send_line(b'{"jsonrpc":"2.0","id":900,"method":"memory_search","params":{"query":"x"}}\n')
    until(lambda: held.waiting)
    assert raw_client.call("health")["state"] == "open"
    twice = b'{"jsonrpc":"2.0","id":900,"method":"health"}\n'
    raw_client._send_line(twice)
    assert code_of(lambda: raw_client.call("health")) is Code.MALFORMED_MESSAGE


def slow_import(served: Served, monkeypatch: pytest.MonkeyPatch, gate: threading.Event) -> threading.Event:
    """Let every import tell three steps, then wait for the gate, or until it is stopped."""

    def work(tell: Callable[[int, int], None], cancelled: Callable[[], bool]) -> ImportReport:
        for step in range(3):
            tell(step, 3)
        while not gate.wait(0.01):
            if cancelled():
                raise CancelledError
        counts = {"user": 2, "assistant": 1, "other": 0}
        return ImportReport("import-1", "jsonl", 1, counts, 3, 0, {"empty": 1}, (), "2024-01-01T00:00:00.000Z", None)

    def run(
        _path: Path, _format: str | None, _space: str | None, _actor: Actor, *ways: Any, **_: Any
    ) -> Future[ImportReport]:
        return served.rig.opened.storage.run_on(served.rig.opened.storage.threads.jobs, work, *ways[:2])

    monkeypatch.setattr(served.engine.imports, "run", run)
    return gate


def test_progress_reaches_the_caller(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int, int | None]] = []
    slow_import(served, monkeypatch, threading.Event()).set()
    found = served.owner().call(
        "owner.import", {"path": "/x.jsonl"}, progress=lambda label, done, total: told.append((label, done, total))
    )
    answers_as_said("owner.import", found)
    assert told == [("Importing", step, 3) for step in range(3)]


def test_a_long_call_can_be_stopped(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    slow_import(served, monkeypatch, threading.Event())
    owner = served.owner()

    def stop(_label: str, done: int, _total: int | None) -> None:
        if done == 2:
            assert owner.call("owner.cancel", {"call": 3}) == {"cancelled": True}

    with pytest.raises(CancelledError):
        owner.call("owner.import", {"path": "/x.jsonl"}, progress=stop)
    assert owner.call("owner.cancel", {"call": 77}) == {"cancelled": False}


@pytest.mark.parametrize("allow", [True, False])
def test_pairing_with_a_code(served: Served, allow: bool) -> None:
    owner, codes = served.owner(), []
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
        redeeming = pool.submit(lambda: served.client().pair("My plug<b>", codes[0].lower(), ["read"]))
        if not allow:
            assert code_of(redeeming.result) is Code.PAIRING_REFUSED
            assert code_of(opening.result) is Code.PAIRING_REFUSED
            assert client_names(served.engine) == []
            return
        pairing = redeeming.result(60)
        assert opening.result(60) == {"client": "My plug-b", "grants": ["read"]}
    assert (shown[0]["client"], shown[0]["name"]) == ("My plug\\u003cb\\u003e", "My plug-b")
    assert str(pairing.token) not in repr(pairing)
    with served.client() as client:
        assert client.greet(pairing.client, pairing.token, served.vault_id).grants == ("read",)


def test_pairing_without_an_open_code_asks_nobody(served: Served) -> None:
    assert code_of(lambda: served.client().pair("plug", "A" * 16)) is Code.PAIRING_REFUSED
    assert client_names(served.engine) == []
    assert code_of(lambda: served.owner().call("owner.pair_answer", {"request": "x", "allow": True}))


def test_the_person_going_away_ends_pairing(served: Served) -> None:
    owner, ready = served.owner(), threading.Event()
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
        assert code_of(lambda: served.client().pair("x", codes[0])) is Code.PAIRING_REFUSED
        waiting.result(60)
    assert client_names(served.engine) == []


def test_a_client_is_told_what_it_may_and_where_its_stores_go(served: Served) -> None:
    told = served.paired("plug", ["read", "propose", "space:work"]).call("health")
    assert (told["client"], told["grants"]) == ("plug", ["propose", "read"])
    assert (told["spaces"], told["own_space"]) == (["work"], "client:plug")
    assert served.paired("seer", ["read", "all_spaces"]).call("health")["spaces"] == ["client:plug", "home", "work"]
    assert "own_space" not in served.owner().call("health")
