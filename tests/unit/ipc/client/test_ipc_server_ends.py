"""The server's own affairs: hand-over, caps, its place on the disk, and faults inside."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from ipc_engine import OWNER_TOKEN, SECRET
from ipc_values import make_client
from ipc_world import World, code_of, until

from core.errors import Code, LociError
from core.ipc.client.client import Client, open_session
from core.ipc.socket.limits import Caps


def test_handing_over(world: World) -> None:
    owner, client = world.owner(), world.paired()
    assert owner.call("owner.handover") == {"closing": True, "within_s": 5.0}
    assert world.handed_over.wait(60)
    assert code_of(lambda: client.call("health")) is Code.BUSY
    world.on_loop(world.server.stop())
    assert not world.place.path.exists()
    assert code_of(lambda: client.call("health")) is Code.NOT_HERE
    assert code_of(lambda: Client.connect(world.place)) is Code.NOT_HERE


def test_a_handover_waits_for_what_runs(world: World) -> None:
    gate = world.engine.memories.gate = threading.Event()
    owner, writer = world.owner(), world.paired("writer", ["write"])
    with ThreadPoolExecutor(2) as pool:
        storing = pool.submit(lambda: writer.call("memory_store", {"text": "kept"}))
        until(lambda: world.engine.memories.stores)
        handing = pool.submit(lambda: owner.call("owner.handover"))
        until(lambda: world.server.handing_over)
        assert not handing.done()
        gate.set()
        assert storing.result(60)["operation"] == "ADD"
        assert handing.result(60)["closing"] is True


def test_a_window_does_not_hand_over(empty_home: Path) -> None:
    with World(empty_home, hand_over=False) as world:
        assert code_of(lambda: world.owner().call("owner.handover")) is Code.NOT_HERE
        assert world.owner().call("health")["state"] == "open"


def test_connection_caps(empty_home: Path) -> None:
    caps = Caps(connections=3, per_client=2, strangers=2)
    with World(empty_home, caps=caps) as world:
        world.paired("a"), world.paired("a")
        record = world.engine.clients.records["a"]
        assert code_of(lambda: open_session(world.place, "a", record.token, patience_s=0)) is Code.BUSY
        world.paired("b")
        other = world.engine.clients.add(make_client("c"))
        assert code_of(lambda: open_session(world.place, "c", other.token, patience_s=0)) is Code.BUSY
        world.owner()
        world.client(), world.client()
        open_session(world.place, "@owner", OWNER_TOKEN, patience_s=0)[0].close()  # the oldest stranger made room


def test_an_old_stranger_makes_room(empty_home: Path) -> None:
    with World(empty_home, caps=Caps(strangers=2)) as world:
        idle = [world.raw() for _ in range(6)]
        world.owner()
        assert idle[0].line() is None


@pytest.mark.expected_logs("displaced")
def test_a_displaced_socket_is_bound_anew(empty_home: Path, caplog: pytest.LogCaptureFixture) -> None:
    with World(empty_home, caps=Caps(watch_s=0.02)) as world:
        client = world.paired()
        world.place.path.unlink()
        until(lambda: world.displaced)
        until(world.place.path.exists)
        assert world.owner().call("health")["state"] == "open"
        assert client.call("health")["state"] == "open"
    assert "displaced" in caplog.text


@pytest.mark.expected_logs("a call failed inside Loci")
def test_a_bug_tells_nothing(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.engine.memories.bug = True
    client = world.paired()
    with pytest.raises(LociError) as caught:
        client.call("memory_search", {"query": SECRET})
    assert caught.value.code is Code.BUG
    assert SECRET not in caught.value.sentence
    assert all(SECRET not in record.getMessage() for record in caplog.records)
    assert client.call("health")["state"] == "open"


def test_a_socket_appears_only_when_published(empty_home: Path) -> None:
    with World(empty_home) as world:
        world.on_loop(world.server.stop())
        world.on_loop(world.server.start(publish=False))
        assert not world.place.path.exists()
        world.server.publish()
        assert world.place.path.exists()
