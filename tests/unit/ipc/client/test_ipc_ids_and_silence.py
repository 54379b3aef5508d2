"""One id is one running call; a client that says nothing is let go where the person set a time for that."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from ipc_peers import code_of, until
from ipc_served import Held, Served, served_at

from core.errors import Code, UserError
from core.ipc.client.client import Client
from core.ipc.socket.limits import Caps


def line(ident: object, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": ident, "method": method, "params": params}).encode() + b"\n"


def heard(client: Client) -> dict[str, Any]:
    """The next line of the server, as it is."""
    client._sock.settimeout(60)
    found = bytearray()
    while not found.endswith(b"\n"):
        more = client._sock.recv(1)
        assert more, "the server closed"
        found += more
    message: dict[str, Any] = json.loads(found)
    return message


def finish(searches: Held) -> None:
    """Let the search end that is held."""
    until(lambda: searches.waiting)
    searches.waiting[0].set_exception(UserError(Code.NOT_FOUND, "Held, then let go."))


@pytest.mark.parametrize("ident", [900, "a name"])
def test_an_id_that_still_runs_is_refused_without_a_name_and_its_first_call_is_answered(
    served: Served, ident: object
) -> None:
    searches = served.held("recall")
    client = served.paired()
    client._send_line(line(ident, "memory_search", query="x"))
    client._send_line(line(ident, "health"))
    refused = heard(client)
    assert refused["id"] is None  # the answer under that id is still to come
    assert refused["error"]["data"]["code"] == Code.MALFORMED_MESSAGE.value
    assert "still running" in refused["error"]["message"]
    finish(searches)
    answered = heard(client)
    assert answered["id"] == ident
    assert answered["error"]["data"]["code"] == Code.NOT_FOUND.value
    client._send_line(line(ident, "health"))
    assert heard(client)["result"]["state"] == "open"  # once it was answered, an id may be used again


def test_the_same_id_on_another_connection_is_another_call(served: Served) -> None:
    searches = served.held("recall")
    one, other = served.paired(), served.paired()
    one._send_line(line(900, "memory_search", query="x"))
    other._send_line(line(900, "health"))
    assert heard(other)["result"]["state"] == "open"
    finish(searches)
    assert heard(one)["error"]["data"]["code"] == Code.NOT_FOUND.value


def test_a_client_that_says_nothing_is_let_go_after_the_minutes_of_the_option(empty_home: Path) -> None:
    """From its first moment: also one that came in and never asked for anything."""
    with served_at(empty_home, caps=Caps(watch_s=0.02)) as served:
        begun = time.monotonic()
        served.choose(client_idle_minutes=0.3 / 60)
        client, owner = served.paired(), served.owner()
        assert code_of(lambda: client.listen(60)) is Code.NOT_HERE
        assert time.monotonic() - begun >= 0.3
        assert owner.call("health")["state"] == "open"  # the person's own tools may be silent as long as they like


def test_who_waits_for_an_answer_is_not_silent(empty_home: Path) -> None:
    with served_at(empty_home, caps=Caps(watch_s=0.02)) as served:
        searches = served.held("recall")
        client = served.paired()
        client._send_line(line(900, "memory_search", query="x"))
        until(lambda: searches.waiting)  # or a slow machine would let it go before it asked
        served.choose(client_idle_minutes=0.2 / 60)
        assert client.listen(0.6) is None
        finish(searches)
        assert heard(client)["id"] == 900
        assert code_of(lambda: client.listen(60)) is Code.NOT_HERE


def test_who_listens_to_changes_is_not_silent(empty_home: Path) -> None:
    with served_at(empty_home, caps=Caps(watch_s=0.02)) as served:
        client = served.paired()
        assert client.subscribe()
        served.choose(client_idle_minutes=0.2 / 60)
        assert client.listen(0.6) is None
        served.tell("stored", "plug-1")
        told = client.listen(60)
        assert told is not None
        assert told.params["ids"] == ["plug-1"]
        assert client.subscribe([]) == ()
        assert code_of(lambda: client.listen(60)) is Code.NOT_HERE


def test_without_the_option_a_client_may_be_silent(served: Served) -> None:
    client = served.paired()
    assert served.engine.options.client_idle_minutes == 0
    assert client.listen(0.5) is None
    assert client.call("health")["state"] == "open"
