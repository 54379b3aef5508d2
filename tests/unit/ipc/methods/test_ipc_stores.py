"""The store methods of one kind each, recall and the methods about upkeep, over the socket."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from ipc_peers import code_of
from ipc_served import Asked, Served

from core.errors import Code, LociError
from core.types.requests import FactRequest, StoreRequest
from core.types.values import Actor, Kind

STORES: dict[str, dict[str, Any]] = {
    "memory_store_episode": {"text": "We walked to the lake."},
    "memory_store_fact": {"subject": "Anna", "predicate": "lives_in", "text": "Anna lives in Graz."},
    "memory_store_rule": {"text": "Answer in short sentences."},
}
SEARCHES = ("memory_search", "memory_recall")


def stored(asked: list[Asked]) -> tuple[StoreRequest, Actor]:
    """What the engine was last asked to store, and by whom."""
    request, actor = asked[-1][1]
    return (request.store if isinstance(request, FactRequest) else request), actor


@pytest.mark.parametrize(("method", "kind"), list(zip(STORES, (Kind.EPISODE, Kind.FACT, Kind.RULE), strict=True)))
def test_each_stores_its_kind(served: Served, method: str, kind: Kind) -> None:
    client, asked = served.paired("plug", ("read", "write")), served.asked("memories")
    served.call(client, method, **STORES[method], importance=0.7, tags=["walk"], request_id="r")
    request, actor = stored(asked)
    assert (request.kind, request.importance, request.tags, request.request_id) == (kind, 0.7, ("walk",), "r")
    assert (actor.kind, actor.client_id) == ("client", served.client_id())


@pytest.mark.parametrize("method", STORES)
def test_the_seeds_spelling_is_understood(served: Served, method: str) -> None:
    client, asked = served.paired("plug", ("read", "write", "space:garden")), served.asked("memories")
    params = {**STORES[method], "scope": "garden", "session_id": "s1"}
    params["content"] = params.pop("text")
    client.call(method, params)
    request, actor = stored(asked)
    assert (request.space, request.session, actor.session) == ("garden", "s1", "s1")
    assert request.text == params["content"]


@pytest.mark.parametrize("method", STORES)
def test_what_a_client_may_not_say_is_refused(served: Served, method: str) -> None:
    client, asked = served.paired("plug", ("read", "write")), served.asked("memories")

    def code(**more: Any) -> Code | None:
        return code_of(lambda: client.call(method, {**STORES[method], **more}))

    assert code(text="x" * 8193) is Code.TEXT_TOO_LARGE
    assert code(space="home") is Code.ACCESS_DENIED
    assert code(space="GLOBAL") is Code.ACCESS_DENIED
    assert code(source="user_explicit") is Code.FORBIDDEN_FIELD
    assert code(importance=5.0) is Code.INVALID_INPUT
    assert code(butler="jeeves") is Code.FORBIDDEN_FIELD
    assert code(zeal=1) is Code.INVALID_INPUT
    assert asked == []


def test_a_client_that_may_only_read_stores_nothing(served: Served) -> None:
    client = served.paired("reader", ("read",))
    for method, params in STORES.items():
        assert code_of(partial(client.call, method, params)) is Code.ACCESS_DENIED


def test_an_unknown_permanence_lists_the_known_ones(served: Served) -> None:
    client = served.paired("plug", ("read", "write"))
    with pytest.raises(LociError) as caught:
        client.call("memory_store_fact", {**STORES["memory_store_fact"], "permanence": "eternal"})
    assert caught.value.code is Code.INVALID_INPUT
    for level in ("permanent", "stable", "standard", "volatile", "ephemeral"):
        assert level in caught.value.sentence


def test_a_fact_is_handed_over_in_its_parts(served: Served) -> None:
    client, asked = served.paired("plug", ("read", "write")), served.asked("memories")
    client.call(
        "memory_store_fact",
        {**STORES["memory_store_fact"], "value": "Graz", "permanence": "stable", "valid_from": "2024-01"},
    )
    ((_, (fact, _), _),) = asked
    assert (fact.subject, fact.predicate, fact.value) == ("Anna", "lives_in", "Graz")
    assert (fact.valid_from, fact.valid_to, fact.store.permanence) == ("2024-01", None, "stable")


def test_recall_leaves_out_what_is_hardly_certain(served: Served) -> None:
    client, asked = served.paired("plug", ("read",)), served.asked("memories")
    client.call("memory_recall", {"topic": "lake"})
    client.call("memory_recall", {"topic": "lake", "min_confidence": 0.6})
    client.call("memory_search", {"query": "lake"})
    client.call("memory_search", {"query": "lake", "min_confidence": 0.0})
    assert [given[0].min_confidence for _, given, _ in asked] == [0.2, 0.6, 0.2, 0.0]


@pytest.mark.parametrize("method", SEARCHES)
def test_one_space_is_that_space_and_what_is_everybodys(served: Served, method: str) -> None:
    client, asked = served.paired("plug", ("read", "space:garden")), served.asked("memories")
    client.call(method, {"query": "lake", "scope": "garden"})
    assert asked[-1][1][0].spaces == ("garden", "GLOBAL")
    assert code_of(lambda: client.call(method, {"query": "lake", "scope": "home"})) is Code.ACCESS_DENIED
    assert code_of(lambda: client.call(method, {"query": "lake", "space": "nowhere"})) is Code.ACCESS_DENIED


def test_stats_are_told_as_the_seed_does(served: Served) -> None:
    client, asked = served.paired("plug", ("read", "write", "space:garden")), served.asked("maintenance")
    client.call("memory_store_episode", {**STORES["memory_store_episode"], "space": "garden"})
    found = served.call(client, "memory_stats", scope="garden")
    assert found["episodes"] == {"total": 1, "unconsolidated": 1, "backlog_age_hours": 0.0}
    assert asked[-1][:2] == ("count_by_state", ("garden", asked[-1][1][1]))
    assert code_of(lambda: client.call("memory_stats", {"space": "home"})) is Code.ACCESS_DENIED


def test_the_log_holds_ids_and_counts(served: Served) -> None:
    client = served.paired("plug", ("read", "write"))
    one, two = (client.call("memory_store", {"text": text})["memory_id"] for text in ("The lake froze.", "Tea at six."))
    found = served.call(client, "memory_audit_log")["entries"]
    assert [(row["verb"], row["id"], row["success"]) for row in found[:2]] == [
        ("store", two, True),
        ("store", one, True),
    ]
    assert len(client.call("memory_audit_log", {"limit": 1})["entries"]) == 1
    assert code_of(lambda: client.call("memory_audit_log", {"limit": 201})) is Code.INVALID_INPUT


def test_runs_need_curate(served: Served) -> None:
    plain, curator = served.paired("plain", ("read", "write")), served.paired("curator", ("read", "curate"))
    asked = served.asked("maintenance")
    for method in ("memory_run_consolidation", "memory_run_episode_cleanup"):
        assert code_of(partial(plain.call, method, {})) is Code.ACCESS_DENIED
    assert served.call(curator, "memory_run_consolidation", dry_run=True)["dry_run"] is True
    assert served.call(curator, "memory_run_consolidation")["dry_run"] is False
    done = served.call(curator, "memory_run_episode_cleanup", max_entries=5)
    assert done == {"expired_deleted": 0, "capacity_deleted": 0, "remaining": 0}
    curator.call("memory_run_episode_cleanup", {})
    assert [given[0] for verb, given, _ in asked if verb == "archive_own_notes"] == [5, 10_000]


@pytest.mark.parametrize("method", [*STORES, *SEARCHES, "memory_store", "memory_list", "memory_context"])
def test_a_channel_is_part_of_who_asks(served: Served, method: str) -> None:
    client, heard = served.paired("bridge", ("read", "write")), served.asked("memories")
    params = {"memory_store": {"text": "x"}, "memory_list": {}, "memory_context": {"prompt": "x"}}.get(
        method, STORES.get(method, {"query": "x"})
    )
    client.call(method, {**params, "channel": "discord", "channel_user_id": "discord:user123"})
    assert [given[-1].channel for _, given, _ in heard] == ["discord:user123"]
    for wrong in ({"channel": "Discord!"}, {"channel_user": "a"}, {"channel": "discord", "channel_user": "a b"}):
        assert code_of(partial(client.call, method, {**params, **wrong})) is Code.INVALID_INPUT
    assert code_of(partial(client.call, method, {**params, "scope_channel": "discord"})) is Code.FORBIDDEN_FIELD


def test_filters_count_as_if_they_stood_beside(served: Served) -> None:
    client, asked = served.paired("plug", ("read",)), served.asked("memories")
    filters = {"tags": ["walk"], "since": "2023-01-01", "until": "2024-01-01T00:00:00Z", "kinds": ["fact"]}
    client.call("memory_search", {"query": "lake", "filters": filters})
    client.call("memory_search", {"query": "lake", **filters})
    client.call("memory_search", {"query": "lake", "tags": []})
    first, second, plain = (given[0] for _, given, _ in asked)
    assert first == second
    assert (first.tags, first.since_ms, first.until_ms) == (("walk",), 1_672_531_200_000, 1_704_067_200_000)
    assert plain.tags is None
