"""The client library on a loop: the same handshake, overlapping calls, and what ends a connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from ipc_engine import VAULT_ID, make_client
from ipc_world import World

from core.errors import Code, LociError
from core.ipc.async_client import AsyncClient


@pytest.fixture
def world(empty_home: Path) -> Iterator[World]:
    with World(empty_home) as made:
        yield made


@pytest.fixture
async def client(world: World) -> AsyncIterator[AsyncClient]:
    record = world.engine.clients.add(make_client("plug", ("read", "write")))
    found = await AsyncClient.connect(world.place)
    await found.greet("plug", record.token, VAULT_ID)
    yield found
    await found.close()


async def refused(work: object) -> Code:
    with pytest.raises(LociError) as caught:
        await work  # type: ignore[misc]  # any awaitable
    return caught.value.code


async def test_calls_overlap_and_each_gets_its_answer(client: AsyncClient) -> None:
    calls = [client.call("health") for _ in range(5)] + [client.call("memory_list", {"limit": 1})]
    *many, last = await asyncio.gather(*calls)
    assert all(one["state"] == "open" for one in many)
    assert "items" in last


async def test_what_the_server_refuses_keeps_its_code(client: AsyncClient) -> None:
    assert await refused(client.call("memory_list", {"nonsense": 1})) is Code.INVALID_INPUT
    assert await refused(client.call("nothing")) is Code.UNKNOWN_METHOD
    assert client.is_open


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("\ud800", Code.INVALID_INPUT),
        (float("nan"), Code.INVALID_INPUT),
        ("x" * 300_000, Code.TEXT_TOO_LARGE),
        (10**30, Code.MALFORMED_MESSAGE),
    ],
)
async def test_what_would_end_the_connection_is_not_sent(client: AsyncClient, value: object, code: Code) -> None:
    assert await refused(client.call("memory_list", {"text": value})) is code
    deep: object = "x"
    for _ in range(40):
        deep = [deep]
    assert await refused(client.call("memory_list", {"text": deep})) is Code.MALFORMED_MESSAGE
    assert (await client.call("health"))["state"] == "open"


async def test_a_wrong_token_or_vault_shows_nothing(world: World) -> None:
    record = world.engine.clients.add(make_client("plug", ("read",)))
    for token, vault, code in (
        (bytes(32), VAULT_ID, Code.UNAUTHENTICATED),
        (record.token, bytes(16), Code.VAULT_BUSY),
    ):
        client = await AsyncClient.connect(world.place)
        assert await refused(client.greet("plug", token, vault)) is code
        await client.close()


async def test_an_answer_nobody_waits_for_is_let_go(client: AsyncClient) -> None:
    call = asyncio.create_task(client.call("health"))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (await client.call("health"))["state"] == "open"


async def test_the_end_of_the_connection_ends_every_call(client: AsyncClient) -> None:
    waiting = asyncio.create_task(client.call("health"))
    await asyncio.sleep(0)
    await client.close()
    with pytest.raises(LociError) as caught:
        await waiting
    assert caught.value.code is Code.NOT_HERE
    assert not client.is_open
    assert await refused(client.call("health")) is Code.NOT_HERE
    await client.close()


async def test_nobody_there_is_told(tmp_path: Path, world: World) -> None:
    place = type(world.place)(tmp_path / "none" / "loci.sock")
    assert await refused(AsyncClient.connect(place)) is Code.NOT_HERE
