"""`memory_context` and `owner.context`: shapes, bands, grants, limits, and what is handed to the engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ipc_peers import code_of
from ipc_served import Served, served_at

from core.errors import Code
from core.types.recall import ContextQuery


@pytest.fixture
def served(empty_home: Path) -> Iterator[Served]:
    with served_at(empty_home) as made:
        for text in ("The harbour has a blue crane.", "The harbour has forty boats in the winter months."):
            made.rig.store(text, space="GLOBAL")
        made.rig.settle()
        yield made


def test_a_client_gets_the_text_and_bands(served: Served) -> None:
    client, asked = served.paired(), served.asked("memories")
    params = {"prompt": "The harbour has what?", "token_budget": 200, "model": "llama3:8b"}
    found = served.call(client, "memory_context", **params)
    assert found["included"] == 2
    assert "The harbour has a blue crane." in found["text"]
    assert "memories" not in found
    tight = served.call(client, "memory_context", **{**params, "token_budget": 60})
    assert tight["excluded"] == len(tight["excluded_reasons"]) >= 1
    assert {one["reason"] for one in tight["excluded_reasons"]} == {"budget"}
    assert all(one["value"] in ("high", "medium", "low", "minimal") for one in tight["excluded_reasons"])
    query, actor = asked[0][1]
    assert query == ContextQuery("The harbour has what?", 200, "llama3:8b", None, None)
    assert actor.kind == "client"


def test_the_owner_sees_numbers_and_tiers(served: Served) -> None:
    owner, asked = served.owner(), served.asked("memories")
    found = served.call(owner, "owner.context", prompt="The harbour has what?", token_budget=60)
    assert [isinstance(one["value"], float) for one in found["excluded_reasons"]] == [True] * found["excluded"]
    whole = served.call(owner, "owner.context", prompt="The harbour has what?")
    assert {"id", "tier", "score", "tokens"} == whole["memories"][0].keys()
    assert isinstance(whole["memories"][0]["score"], float)
    served.call(owner, "owner.context", prompt="what?", space="home", spaces=["GLOBAL"])
    query = asked[-1][1][0]
    assert (query.budget, query.spaces) == (None, ("GLOBAL", "home"))


def test_the_seed_s_name_of_the_prompt_is_accepted(served: Served) -> None:
    client, asked = served.paired(), served.asked("memories")
    client.call("memory_context", {"trigger_prompt": "what?", "session": "s-1"})
    ((_, (query, actor), _),) = asked
    assert (query.prompt, query.session, actor.session) == ("what?", "s-1", "s-1")


def test_it_takes_read_and_a_grant_for_the_space(served: Served) -> None:
    writer, reader = served.paired("writer", ("write",)), served.paired("reader", ("read",))
    asked = served.asked("memories")
    assert code_of(lambda: writer.call("memory_context", {"prompt": "what?"})) is Code.ACCESS_DENIED
    in_home = {"prompt": "what?", "spaces": ["home"]}
    assert code_of(lambda: reader.call("memory_context", in_home)) is Code.ACCESS_DENIED
    assert asked == []


@pytest.mark.slow
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
def test_what_it_does_not_take_is_refused(served: Served, params: dict[str, object]) -> None:
    client = served.paired()
    assert code_of(lambda: client.call("memory_context", params)) in (Code.INVALID_INPUT, Code.FORBIDDEN_FIELD)


def test_an_empty_prompt_is_refused(served: Served) -> None:
    client = served.paired()
    assert code_of(lambda: client.call("memory_context", {"prompt": " \n"})) is Code.INVALID_QUERY


def test_it_counts_as_a_search(served: Served) -> None:
    client = served.paired(limit=2)
    client.call("memory_context", {"prompt": "what?"})
    client.call("memory_search", {"query": "what?"})
    assert code_of(lambda: client.call("memory_context", {"prompt": "what?"})) is Code.RATE_LIMITED
