"""The client library on a loop: the same handshake, overlapping calls, and what ends a connection."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from ipc_served import Served

from core.errors import Code, LociError
from core.ipc.client.async_client import AsyncClient, open_session


@pytest.fixture
async def client(served: Served) -> AsyncIterator[AsyncClient]:
    record = served.pair("plug", ("read", "write"))
    found = await AsyncClient.connect(served.place)
    await found.greet("plug", record.token, served.vault_id)
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


async def test_a_wrong_token_or_vault_shows_nothing(served: Served) -> None:
    record = served.pair("plug", ("read",))
    for token, vault, code in (
        (bytes(32), served.vault_id, Code.UNAUTHENTICATED),
        (record.token, bytes(16), Code.VAULT_BUSY),
    ):
        client = await AsyncClient.connect(served.place)
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


async def test_nobody_there_is_told(tmp_path: Path, served: Served) -> None:
    place = type(served.place)(tmp_path / "none" / "loci.sock")
    assert await refused(AsyncClient.connect(place)) is Code.NOT_HERE


async def test_a_callback_that_fails_ends_nothing_and_is_told(served: Served) -> None:
    faults: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context["exception"]))

    def fails(*_: object) -> None:
        raise KeyError("a plugin's own fault")

    record = served.pair("plug", ("read",))
    client, _ = await open_session(served.place, "plug", record.token, served.vault_id, notify=fails)
    assert await client.subscribe() == ("stored", "changed", "gone")
    served.tell("stored", "plug-1")
    while not faults:
        assert (await client.call("health"))["state"] == "open"
    assert [type(fault) for fault in faults] == [KeyError]
    assert client.is_open
    assert (await client.call("health"))["state"] == "open"
    await client.close()
    assert not client.is_open


async def test_whoever_reads_no_more_is_not_open(client: AsyncClient) -> None:
    waiting = asyncio.create_task(client.call("health"))
    await asyncio.sleep(0)
    client._listening.cancel()
    assert await refused(waiting) is Code.NOT_HERE
    assert not client.is_open
    assert await refused(client.call("health")) is Code.NOT_HERE
    await client.close()


async def test_pages_are_followed_as_by_the_client_that_waits(served: Served) -> None:
    record = served.pair("plug", ("read", "write", "all_spaces"), "none")
    async with (await open_session(served.place, "plug", record.token, served.vault_id))[0] as client:
        for number in range(5):
            await client.call("memory_store", {"text": f"jar {number}"})
        whole = await client.collect("memory_list")
        assert "next" not in whole
        assert len(whole["items"]) == 5
        assert [one["id"] for one in (await client.collect("memory_list", {"limit": 3}))["items"]] == [
            one["id"] for one in whole["items"][:3]
        ]


async def test_a_wrong_code_pairs_nobody(served: Served) -> None:
    client = await AsyncClient.connect(served.place)
    assert await refused(client.pair("plug", "AAAAAAAAAAAAAAAA", ["read"])) is Code.PAIRING_REFUSED
    await client.close()


class Peer:
    """The server's side of a socket, spoken by hand."""

    def __init__(self) -> None:
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter

    async def met(self) -> AsyncClient:
        ours, theirs = socket.socketpair()
        self._reader, self._writer = await asyncio.open_unix_connection(sock=theirs)
        reader, writer = await asyncio.open_unix_connection(sock=ours)
        return AsyncClient(reader, writer, None, 60)

    async def line(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(await self._reader.readline())
        return found

    def say(self, **message: Any) -> None:
        self._writer.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def close(self) -> None:
        self._writer.close()


async def test_progress_reaches_the_call_it_is_of_and_no_other() -> None:
    peer, heard = Peer(), list[tuple[str, int, int | None]]()
    client = await peer.met()
    one = asyncio.create_task(client.call("long", progress=lambda *said: heard.append(said)))
    other = asyncio.create_task(client.call("short"))
    idents = [(await peer.line())["id"], (await peer.line())["id"]]
    for ident, label in zip([*idents, 99], ("one", "other", "nobody"), strict=True):
        peer.say(method="progress", params={"id": ident, "label": label, "done": 1, "total": None})
    for ident in reversed(idents):
        peer.say(id=ident, result={"ident": ident})
    assert [await one, await other] == [{"ident": ident} for ident in idents]
    assert heard == [("one", 1, None)]
    peer.close()
    await client.close()


@pytest.mark.parametrize(("owner", "told"), [(True, True), (False, False)])
async def test_a_call_of_the_owner_that_is_cancelled_is_stopped_there_too(*, owner: bool, told: bool) -> None:
    peer = Peer()
    client = await peer.met()
    client._owner = owner
    call = asyncio.create_task(client.call("long"))
    ident = (await peer.line())["id"]
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    asyncio.create_task(client.call("next")).add_done_callback(lambda done: done.exception())
    after = await peer.line()
    assert (after["method"] == "owner.cancel") is told
    assert after["params"] == ({"call": ident} if told else {})
    peer.close()
    await client.close()
