"""`memory_context` and `owner.context`: shapes, bands, grants, limits, and what is handed to the engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ipc_engine import make_memory
from ipc_world import REGISTRY, World, code_of

from core.errors import Code
from core.types.recall import ContextQuery


@pytest.fixture
def world(empty_home: Path) -> Iterator[World]:
    with World(empty_home) as made:
        made.engine.memories.rows += [make_memory(n, space="GLOBAL", text=f"text {n}") for n in (1, 2)]
        yield made


def test_a_client_gets_the_text_and_bands(world: World) -> None:
    found = world.paired().call("memory_context", {"prompt": "what?", "token_budget": 200, "model": "llama3:8b"})
    assert not list(REGISTRY.result_checker("memory_context").iter_errors(found))
    assert found == {
        "text": f'<memory id="{make_memory(1).id}" type="fact">\ntext 1\n</memory>\n',
        "tokens": 20,
        "included": 1,
        "excluded": 1,
        "excluded_reasons": [{"id": make_memory(2).id, "reason": "budget", "value": "medium"}],
        "receipt": "receipt-1",
        "tokenizer": "estimate",
        "exact": False,
    }
    ((query, actor),) = world.engine.memories.contexts
    assert query == ContextQuery("what?", 200, "llama3:8b", None, None)
    assert actor.kind == "client"


def test_the_owner_sees_numbers_and_tiers(world: World) -> None:
    found = world.owner().call("owner.context", {"prompt": "what?", "space": "home", "spaces": ["work"]})
    assert not list(REGISTRY.result_checker("owner.context").iter_errors(found))
    assert [one["value"] for one in found["excluded_reasons"]] == [0.61]
    assert found["memories"] == [{"id": make_memory(1).id, "tier": "full", "score": 0.86, "tokens": 20}]
    ((query, _),) = world.engine.memories.contexts
    assert (query.budget, query.spaces) == (None, ("work", "home"))


def test_the_seed_s_name_of_the_prompt_is_accepted(world: World) -> None:
    world.paired().call("memory_context", {"trigger_prompt": "what?", "session": "s-1"})
    ((query, actor),) = world.engine.memories.contexts
    assert (query.prompt, query.session, actor.session) == ("what?", "s-1", "s-1")


def test_it_takes_read_and_a_grant_for_the_space(world: World) -> None:
    writer, reader = world.paired("writer", ("write",)), world.paired("reader", ("read",))
    assert code_of(lambda: writer.call("memory_context", {"prompt": "what?"})) is Code.ACCESS_DENIED
    asked = {"prompt": "what?", "spaces": ["home"]}
    assert code_of(lambda: reader.call("memory_context", asked)) is Code.ACCESS_DENIED
    assert world.engine.memories.contexts == []


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"prompt": "what?", "token_budget": -1},
        {"prompt": "what?", "token_budget": 1.5},
        {"prompt": "what?", "token_budget": 100_001},
        {"prompt": "what?", "butler": "x"},
        {"prompt": "what?", "model": ""},
    ],
)
def test_what_it_does_not_take_is_refused(world: World, params: dict[str, object]) -> None:
    client = world.paired()
    assert code_of(lambda: client.call("memory_context", params)) in (Code.INVALID_INPUT, Code.FORBIDDEN_FIELD)


def test_an_empty_prompt_is_refused(world: World) -> None:
    client = world.paired()
    assert code_of(lambda: client.call("memory_context", {"prompt": " \n"})) is Code.INVALID_QUERY


def test_it_counts_as_a_search(world: World) -> None:
    client = world.paired(limit_minute=2)
    client.call("memory_context", {"prompt": "what?"})
    client.call("memory_search", {"query": "what?"})
    assert code_of(lambda: client.call("memory_context", {"prompt": "what?"})) is Code.RATE_LIMITED
