"""The client library that waits hears notifications: those that come now, and those that came amid another call."""

from __future__ import annotations

import threading

from ipc_peers import code_of
from ipc_served import Served

from core.errors import Code


def change(served: Served, kind: str, *ids: str) -> None:
    served.tell(kind, *ids)


def test_the_client_that_waits_listens(served: Served) -> None:
    client = served.paired("one")
    assert client.listen(0) is None
    assert client.subscribe(["stored", "gone"]) == ("stored", "gone")
    change(served, "stored", "one-1")
    told = client.listen(60)
    assert told is not None
    assert (told.name, told.params) == ("changed", {"seq": 1, "kind": "stored", "ids": ["one-1"]})
    change(served, "gone", "one-1")
    pause = threading.Event()
    while not client._notifications:  # it comes while another call waits, and is kept
        client.call("health")
        pause.wait(0.01)
    told = client.listen(0)
    assert told is not None
    assert told.params["kind"] == "gone"
    assert client.listen(0) is None
    assert client.subscribe([]) == ()


def test_listening_ends_with_the_connection(served: Served) -> None:
    client = served.paired("one")
    client.subscribe()
    served.owner().call("owner.revoke", {"name": "one"})
    assert code_of(lambda: client.listen(60)) in (Code.NOT_HERE, Code.UNAUTHENTICATED)
