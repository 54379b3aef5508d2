"""A client on a channel can do over the socket with what is stored there all it can do elsewhere; off it, nothing (X2).

The methods come from the protocol: a new one that takes no channel, or one that no call here is made of, fails.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from functools import partial
from importlib.resources import files
from typing import Any

import pytest
from engine_rig import Rig
from poison_socket import Wire

from core.errors import Code, LociError
from core.ipc.client.client import Client

DOCUMENT: dict[str, Any] = json.loads(files("resources").joinpath("protocol.json").read_text("utf-8"))
NOBODY = "00000000-0000-7000-8000-00000000dead"
ANNA, BOB = {"channel": "discord", "channel_user": "anna"}, {"channel": "discord", "channel_user_id": "bob"}

# What is of a space and not of a channel, or of the whole client.
NO_CHANNEL = {"memory_run_consolidation", "memory_run_episode_cleanup", "health"}
MORE: Mapping[str, Mapping[str, Any]] = {
    "memory_update": {"text": "Never steep the quay leaves in cold water."},
    "memory_feedback": {"helpful": True},
    "memory_relate": {"relationship": "supports"},
}
OTHER_IDS = {"memory_resolve_conflict", "entity_get", "entity_update", "entity_merge"}


def of_clients() -> dict[str, dict[str, Any]]:
    return {name: body for name, body in DOCUMENT["methods"].items() if body["who"] == "client"}


def named_ids(body: Mapping[str, Any]) -> list[str]:
    return [one for one in body["params"].get("required", ()) if one == "id" or one.endswith("_id")]


def test_every_method_of_clients_takes_a_channel() -> None:
    for name, body in of_clients().items():
        known = body["params"].get("properties", {})
        takes = name not in NO_CHANNEL
        assert ("channel" in known, "channel_user" in known) == (takes, takes), name
        assert body.get("aliases", {}).get("channel_user_id") == ("channel_user" if takes else None), name


def asked(client: Client, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return client.call(method, params)
    except LociError as error:
        return {"code": error.code.value, "message": str(error)}


@pytest.mark.parametrize(
    "method", [name for name, body in of_clients().items() if named_ids(body) and name not in OTHER_IDS]
)
def test_what_is_on_a_channel_is_there_for_the_channel_and_for_nobody_else(wire: Wire, method: str) -> None:
    client = wire.client("bridge", "read", "write", "curate")
    try:
        ids = [
            client.call("memory_store_rule", {"text": text, **ANNA})["memory_id"]
            for text in ("Never steep the quay leaves.", "Always warm the quay pot.")
        ]
        named = named_ids(DOCUMENT["methods"][method])
        params = {**MORE.get(method, {}), **dict(zip(named, ids, strict=False))}
        nothing = {**MORE.get(method, {}), **dict.fromkeys(named, NOBODY)}
        for where in ({}, BOB, {"channel": "discord"}, {"channel": "telegram", "channel_user": "anna"}):
            answer = asked(client, method, {**params, **where})
            assert answer == asked(client, method, {**nothing, **where})
            assert answer["code"] == Code.NOT_FOUND.value
        assert "code" not in asked(client, method, {**params, **ANNA})
    finally:
        client.close()


def test_items_and_names_of_a_channel(rig: Rig, wire: Wire) -> None:
    shy = wire.client("shy", "read", "propose", "all_spaces")
    client = wire.client("bridge", "read", "curate", "all_spaces")
    try:
        rig.store("The house has a name.", space="home")
        text = "The quay kettle of Zebulon is blue."
        shy.call("memory_store", {"text": text, "space": "home", **ANNA})
        [item] = client.call("memory_conflicts", ANNA)["conflicts"]
        for where in ({}, BOB):
            assert client.call("memory_conflicts", where)["conflicts"] == []
            lost = {"id": item["id"], "action": "reject", **where}
            answer = asked(client, "memory_resolve_conflict", lost)
            assert answer == asked(client, "memory_resolve_conflict", {**lost, "id": NOBODY})
            assert answer["code"] == Code.NOT_FOUND.value
        mine = client.call("memory_list", {**ANNA, "status": ["quarantined"]})["items"]
        assert [one["text"] for one in mine] == [text]
        assert "code" not in asked(client, "memory_resolve_conflict", {"id": item["id"], "action": "reject", **ANNA})
    finally:
        shy.close()
        client.close()


def test_an_entity_is_made_changed_and_merged_on_no_channel(wire: Wire) -> None:
    client = wire.client("bridge", "read", "write", "curate")
    try:
        one, two = (
            client.call("entity_create", {"canonical_name": name, "entity_type": "person"})["entity_id"]
            for name in ("Dr. Quickwater", "Quickwater")
        )
        before = asked(client, "entity_resolve", {"name": "quick"})
        said: set[str] = set()
        for method, params in (
            ("entity_create", {"canonical_name": "Annas HIV doctor", "entity_type": "person"}),
            ("entity_update", {"entity_id": one, "aliases": ["Annas HIV doctor"]}),
            ("entity_update", {"entity_id": NOBODY, "aliases": ["Annas HIV doctor"]}),
            ("entity_merge", {"source_entity_id": two, "target_entity_id": one}),
            ("entity_merge", {"source_entity_id": NOBODY, "target_entity_id": one}),
        ):
            for where in (ANNA, BOB, {"channel": "discord"}):
                answer = asked(client, method, {**params, **where})
                assert answer["code"] == Code.ACCESS_DENIED.value
                said.add(answer["message"])
        assert len(said) == 1
        for where in ({}, ANNA, BOB):
            assert asked(client, "entity_resolve", {"name": "quick", **where}) == before
            assert asked(client, "entity_resolve", {"name": "doctor", **where}) == {"candidates": []}
    finally:
        client.close()


def _hears(told: list[Mapping[str, Any]], _: str, what: Mapping[str, Any]) -> None:
    told.append(what)


def test_a_listener_hears_of_the_channel_it_named(wire: Wire) -> None:
    heard: dict[str, list[Mapping[str, Any]]] = {}
    ears = {name: wire.client(name, "read", "all_spaces") for name in ("anna", "bob", "plain")}
    writer = wire.client("bridge", "write")
    where: Mapping[str, Mapping[str, Any]] = {"anna": ANNA, "bob": BOB, "plain": {}}
    try:
        for name, ear in ears.items():
            heard[name] = []
            ear.call("subscribe", where[name])
        mine = writer.call("memory_store", {"text": "The quay kettle is blue.", **ANNA})["memory_id"]
        last = writer.call("memory_store", {"text": "The hall lamp is red."})["memory_id"]
        until = time.monotonic() + 60
        for name, ear in ears.items():
            while not any(last in one.get("ids", ()) for one in heard[name]):
                assert time.monotonic() < until
                ear.call("health", notify=partial(_hears, heard[name]))
        told = {name: [one["ids"] for one in notices] for name, notices in heard.items()}
        assert told == {"anna": [[mine], [last]], "bob": [[last]], "plain": [[last]]}
    finally:
        for one in (*ears.values(), writer):
            one.close()
