"""The methods on entities over the socket: names of parameters, shapes of replies, grants, what is refused by name."""

from __future__ import annotations

from typing import Any

import pytest
from ipc_world import REGISTRY, World, code_of

from core.entities import registry
from core.entities.resolution import EntityCandidate
from core.errors import Code
from core.types.entities import EntityChange, EntityDraft, Resolving

ALL = ("read", "write", "curate")
NAMES = ("entity_create", "entity_get", "entity_update", "entity_resolve", "entity_merge")


def call(world: World, method: str, grants: tuple[str, ...] = ALL, **params: Any) -> Any:
    found = world.paired("-".join(grants), grants).call(method, params)
    for problem in REGISTRY.result_checker(method).iter_errors(found):
        raise AssertionError(f"{method}: {problem.message}")
    return found


def test_the_types_are_those_of_the_register() -> None:
    types = REGISTRY._defs["entity_type"]["enum"]
    assert set(types) == registry.TYPES


def test_parameters_are_handed_on(world: World) -> None:
    entities = world.engine.entities
    made = call(
        world, "entity_create", canonical_name="Rosa", entity_type="person", aliases=["Ro"], metadata={"a": [1]},
        request_id="r",
    )  # fmt: skip
    assert made == {
        "entity_id": "e-1",
        "canonical_name": "Rosa",
        "entity_type": "person",
        "aliases": ["Rosie"],
        "metadata": {"city": "Porto"},
        "space": "home",
        "created_at": "1970-01-01T00:00:00Z",
        "updated_at": "1970-01-01T00:00:01Z",
    }
    call(world, "entity_get", id="e-1")
    call(world, "entity_update", entity_id="e-1", canonical_name="Ros", metadata={"b": None})
    call(world, "entity_update", entity_id="e-1", aliases=[])
    assert [one[:-1] for one in entities.asked] == [
        (EntityDraft("Rosa", "person", ("Ro",), {"a": [1]}, None, "r"),),
        ("e-1",),
        ("e-1", EntityChange(name="Ros", metadata={"b": None})),
        ("e-1", EntityChange(aliases=())),
    ]


def test_resolving_tells_the_seeds_scores(world: World) -> None:
    world.engine.entities.found = (EntityCandidate("e-1", "Rosa", "person", 92.3457, "alias", ("Rosie",)),)
    hints = {"topic": "songs", "mentioned_with": "Ada", "domain_scores": {"e-1": 12.3457}}
    answer = call(world, "entity_resolve", name="rosie", context_hints=hints, enable_fuzzy=True)
    assert answer == {
        "candidates": [
            {
                "entity_id": "e-1",
                "canonical_name": "Rosa",
                "entity_type": "person",
                "score": 92.3457,
                "name_match": "alias",
                "aliases": ["Rosie"],
            }
        ]
    }
    wanted = Resolving("rosie", None, "songs", ("Ada",), {"e-1": 12.3457}, fuzzy=True)
    assert world.engine.entities.asked[0][0] == wanted


def test_a_merge_tells_the_seeds_payload(world: World) -> None:
    answer = call(world, "entity_merge", source_entity_id="e-2", target_entity_id="e-1")
    assert answer == {
        "operation": "MERGE",
        "source_entity_id": "e-2",
        "target_entity_id": "e-1",
        "facts_repointed": 3,
        "facts_superseded": 1,
        "aliases_added": 2,
        "conflict": None,
    }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("field", ["tenant_id", "butler"])
def test_tenants_and_butlers_are_refused_by_name(world: World, name: str, field: str) -> None:
    client = world.paired("plug", ("read", "write", "curate"))
    assert code_of(lambda: client.call(name, {field: "x"})) is Code.FORBIDDEN_FIELD


@pytest.mark.parametrize(
    ("method", "grants", "params"),
    [
        ("entity_create", ("read", "propose"), {"canonical_name": "x", "entity_type": "other"}),
        ("entity_update", ("read", "write"), {"entity_id": "x"}),
        ("entity_merge", ("read",), {"source_entity_id": "x", "target_entity_id": "y"}),
        ("entity_resolve", ("write",), {"name": "x"}),
        ("entity_get", ("write",), {"entity_id": "x"}),
    ],
)
def test_grants_are_needed(world: World, method: str, grants: tuple[str, ...], params: dict[str, Any]) -> None:
    assert code_of(lambda: call(world, method, grants, **params)) is Code.ACCESS_DENIED
    assert world.engine.entities.asked == []


@pytest.mark.parametrize(
    "params",
    [
        {"canonical_name": "x", "entity_type": "ghost"},
        {"canonical_name": "", "entity_type": "person"},
        {"entity_type": "person"},
        {"canonical_name": "x" * 81, "entity_type": "person"},
        {"canonical_name": "x", "entity_type": "person", "aliases": ["a"] * 65},
    ],
)
def test_what_cannot_be_is_refused(world: World, params: dict[str, Any]) -> None:
    assert code_of(lambda: call(world, "entity_create", **params)) is Code.INVALID_INPUT
