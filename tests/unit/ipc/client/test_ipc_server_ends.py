"""The server's own affairs: hand-over, caps, its place on the disk, and faults inside."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

import pytest
from ipc_peers import code_of, until
from ipc_served import Served, served_at
from ipc_values import SECRET

from core.errors import Code, LociError
from core.ipc.client.client import Client, open_session
from core.ipc.socket.limits import Caps


def test_handing_over(served: Served) -> None:
    owner, client = served.owner(), served.paired()
    assert owner.call("owner.handover") == {"closing": True, "within_s": 5.0}
    assert served.handed_over.wait(60)
    assert code_of(lambda: client.call("health")) is Code.BUSY
    served.on_loop(served.server.stop())
    assert not served.place.path.exists()
    assert code_of(lambda: client.call("health")) is Code.NOT_HERE
    assert code_of(lambda: Client.connect(served.place)) is Code.NOT_HERE


def test_a_handover_waits_for_what_runs(served: Served) -> None:
    held = served.held("store")
    owner, writer = served.owner(), served.paired("writer", ["write"])
    with ThreadPoolExecutor(2) as pool:
        storing = pool.submit(lambda: writer.call("memory_store", {"text": "kept"}))
        until(lambda: held.waiting)
        handing = pool.submit(lambda: owner.call("owner.handover"))
        until(lambda: served.server.handing_over)
        assert not handing.done()
        held.release()
        assert storing.result(60)["operation"] == "ADD"
        assert handing.result(60)["closing"] is True


def test_a_window_does_not_hand_over(empty_home: Path) -> None:
    with served_at(empty_home, hand_over=False) as served:
        assert code_of(lambda: served.owner().call("owner.handover")) is Code.NOT_HERE
        assert served.owner().call("health")["state"] == "open"


def test_connection_caps(empty_home: Path) -> None:
    caps = Caps(connections=3, per_client=2, strangers=2)
    with served_at(empty_home, caps=caps) as served:
        served.paired("a"), served.paired("a")
        record = served.record("a")
        assert code_of(lambda: open_session(served.place, "a", record.token, patience_s=0)) is Code.BUSY
        served.paired("b")
        other = served.pair("c")
        assert code_of(lambda: open_session(served.place, "c", other.token, patience_s=0)) is Code.BUSY
        served.owner()
        served.client(), served.client()
        open_session(served.place, "@owner", served.owner_token, patience_s=0)[
            0
        ].close()  # the oldest stranger made room


def test_an_old_stranger_makes_room(empty_home: Path) -> None:
    with served_at(empty_home, caps=Caps(strangers=2)) as served:
        idle = [served.raw() for _ in range(6)]
        served.owner()
        assert idle[0].line() is None


@pytest.mark.expected_logs("displaced")
def test_a_displaced_socket_is_bound_anew(empty_home: Path, caplog: pytest.LogCaptureFixture) -> None:
    with served_at(empty_home, caps=Caps(watch_s=0.02)) as served:
        client = served.paired()
        served.place.path.unlink()
        until(lambda: served.displaced)
        until(served.place.path.exists)
        assert served.owner().call("health")["state"] == "open"
        assert client.call("health")["state"] == "open"
    assert "displaced" in caplog.text


def broken(*_: object) -> NoReturn:
    raise ZeroDivisionError(SECRET)


@pytest.mark.expected_logs("a call failed inside Loci")
def test_a_bug_tells_nothing(served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(served.engine.memories, "recall", broken)
    client = served.paired()
    with pytest.raises(LociError) as caught:
        client.call("memory_search", {"query": SECRET})
    assert caught.value.code is Code.BUG
    assert SECRET not in caught.value.sentence
    assert all(SECRET not in record.getMessage() for record in caplog.records)
    assert client.call("health")["state"] == "open"


def test_a_socket_appears_only_when_published(empty_home: Path) -> None:
    with served_at(empty_home) as served:
        served.on_loop(served.server.stop())
        served.on_loop(served.server.start(publish=False))
        assert not served.place.path.exists()
        served.server.publish_socket()
        assert served.place.path.exists()
