"""The client library that waits hears notifications: those that come now, and those that came amid another call."""

from __future__ import annotations

import threading

from ipc_clients import moves_of
from ipc_world import World, code_of

from core.errors import Code


def change(world: World, kind: str, *ids: str) -> None:
    world.engine.hub.tell(moves_of(kind, *ids))


def test_the_client_that_waits_listens(world: World) -> None:
    client = world.paired("one")
    assert client.listen(0) is None
    assert client.subscribe(["stored", "gone"]) == ("stored", "gone")
    change(world, "stored", "one-1")
    told = client.listen(60)
    assert told is not None
    assert (told.name, told.params) == ("changed", {"seq": 1, "kind": "stored", "ids": ["one-1"]})
    change(world, "gone", "one-1")
    pause = threading.Event()
    while not client._heard:  # it comes while another call waits, and is kept
        client.call("health")
        pause.wait(0.01)
    told = client.listen(0)
    assert told is not None
    assert told.params["kind"] == "gone"
    assert client.listen(0) is None
    assert client.subscribe([]) == ()


def test_listening_ends_with_the_connection(world: World) -> None:
    client = world.paired("one")
    client.subscribe()
    world.owner().call("owner.revoke", {"name": "one"})
    assert code_of(lambda: client.listen(60)) in (Code.NOT_HERE, Code.UNAUTHENTICATED)
