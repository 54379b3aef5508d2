"""The methods on entities over the socket: names of parameters, shapes of replies, grants, what is refused by name."""

from __future__ import annotations

from typing import Any

import pytest
from ipc_peers import REGISTRY, code_of
from ipc_served import Served

from core.entities import registry
from core.errors import Code
from core.types.entities import EntityChange, EntityDraft, Resolving

ALL = ("read", "write", "curate")
NAMES = ("entity_create", "entity_get", "entity_update", "entity_resolve", "entity_merge")


def call(served: Served, method: str, grants: tuple[str, ...] = ALL, **params: Any) -> dict[str, Any]:
    return served.call(served.paired("-".join(grants), grants), method, **params)


def test_the_types_are_those_of_the_register() -> None:
    types = REGISTRY._defs["entity_type"]["enum"]
    assert set(types) == registry.TYPES


def test_parameters_are_handed_on(served: Served) -> None:
    asked = served.asked("entities")
    made = call(
        served, "entity_create", canonical_name="Rosa", entity_type="person", aliases=["Ro"], metadata={"a": [1]},
        request_id="r",
    )  # fmt: skip
    ident = made.pop("entity_id")
    assert made.pop("created_at") == made.pop("updated_at")
    assert made == {
        "canonical_name": "Rosa",
        "entity_type": "person",
        "aliases": ["Ro"],
        "metadata": {"a": [1]},
        "space": "client:read-write-curate",
    }
    assert call(served, "entity_get", id=ident)["canonical_name"] == "Rosa"
    changed = call(served, "entity_update", entity_id=ident, canonical_name="Ros", metadata={"b": None})
    assert changed["canonical_name"] == "Ros"
    call(served, "entity_update", entity_id=ident, aliases=[])
    assert [(verb, *given[:-1]) for verb, given, _ in asked] == [
        ("create", EntityDraft("Rosa", "person", ("Ro",), {"a": [1]}, None, "r")),
        ("get", ident),
        ("update", ident, EntityChange(name="Ros", metadata={"b": None})),
        ("update", ident, EntityChange(aliases=())),
    ]


def test_resolving_tells_the_seeds_scores(served: Served) -> None:
    made = call(served, "entity_create", canonical_name="Rosa", entity_type="person", aliases=["Rosie"])
    ident = made["entity_id"]
    asked = served.asked("entities")
    hints = {"topic": "songs", "mentioned_with": "Ada", "domain_scores": {ident: 12.3457}}
    answer = call(served, "entity_resolve", name="rosie", context_hints=hints, enable_fuzzy=True)
    assert answer == {
        "candidates": [
            {
                "entity_id": ident,
                "canonical_name": "Rosa",
                "entity_type": "person",
                "score": 92.3457,
                "name_match": "alias",
                "aliases": ["Rosie"],
            }
        ]
    }
    assert asked[0][1][0] == Resolving("rosie", None, "songs", ("Ada",), {ident: 12.3457}, fuzzy=True)


def test_a_merge_tells_the_seeds_payload(served: Served) -> None:
    kept = call(served, "entity_create", canonical_name="Rosa", entity_type="person")["entity_id"]
    gone = call(served, "entity_create", canonical_name="Rosita", entity_type="person")["entity_id"]
    answer = call(served, "entity_merge", source_entity_id=gone, target_entity_id=kept)
    assert answer == {
        "operation": "MERGE",
        "source_entity_id": gone,
        "target_entity_id": kept,
        "facts_repointed": 0,
        "facts_superseded": 0,
        "aliases_added": 1,
        "conflict": None,
    }
    assert call(served, "entity_get", id=gone)["metadata"]["merged_into"] == kept


@pytest.mark.parametrize("field", ["tenant_id", "butler"])
def test_tenants_and_butlers_are_refused_by_name(served: Served, field: str) -> None:
    client = served.paired("plug", ("read", "write", "curate"))
    for name in NAMES:
        assert code_of(lambda: client.call(name, {field: "x"})) is Code.FORBIDDEN_FIELD, name  # noqa: B023


def test_grants_are_needed(served: Served) -> None:
    asked = served.asked("entities")
    lacking: list[tuple[str, tuple[str, ...], dict[str, Any]]] = [
        ("entity_create", ("read", "propose"), {"canonical_name": "x", "entity_type": "other"}),
        ("entity_update", ("read", "write"), {"entity_id": "x"}),
        ("entity_merge", ("read",), {"source_entity_id": "x", "target_entity_id": "y"}),
        ("entity_resolve", ("write",), {"name": "x"}),
        ("entity_get", ("write",), {"entity_id": "x"}),
    ]
    for method, grants, params in lacking:
        assert code_of(lambda: call(served, method, grants, **params)) is Code.ACCESS_DENIED, method  # noqa: B023
    assert asked == []


def test_what_cannot_be_is_refused(served: Served) -> None:
    for params in (
        {"canonical_name": "x", "entity_type": "ghost"},
        {"canonical_name": "", "entity_type": "person"},
        {"entity_type": "person"},
        {"canonical_name": "x" * 81, "entity_type": "person"},
        {"canonical_name": "x", "entity_type": "person", "aliases": ["a"] * 65},
    ):
        assert code_of(lambda: call(served, "entity_create", **params)) is Code.INVALID_INPUT, params  # noqa: B023
