"""Who has not said who it is: nonsense is counted, and takes no place from those who have something to say."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from ipc_peers import code_of
from ipc_served import Served, served_at

from core.errors import Code
from core.ipc.socket.limits import Caps

CAPS = Caps(strangers=2, malformed=5)


@pytest.fixture
def served(empty_home: Path) -> Iterator[Served]:
    with served_at(empty_home, caps=CAPS) as made:
        yield made


def test_a_stranger_that_goes_on_calling_is_put_out(served: Served) -> None:
    stranger = served.client()
    codes = [code_of(lambda: stranger.call("health")) for _ in range(6)]
    assert codes == [Code.UNAUTHENTICATED] * 5 + [Code.NOT_HERE]


def test_a_paired_client_that_asks_for_too_much_is_not(served: Served) -> None:
    client = served.paired(grants=["read"])
    assert [code_of(lambda: client.call("memory_store", {"text": "x"})) for _ in range(6)] == [Code.ACCESS_DENIED] * 6


def test_only_a_pairing_keeps_its_place_against_newcomers(served: Served) -> None:
    port = served.server.pairing
    assert port is not None
    turn, redeemer = port.open_pairing(None, None), served.client()
    with ThreadPoolExecutor(1) as pool:
        code = turn.code.result(60).code
        redeemed = pool.submit(lambda: redeemer.call("pair", {"client": "plug", "code": code}))
        asked = turn.asked.result(60)
        for _ in range(4):
            served.client()  # each puts out the one before, never the one that waits for the person
        assert served.paired("other").call("health")["state"] == "open"
        port.answer_question(asked.id, allow=True).result(60)
        assert redeemed.result(60)["client"] == "plug"


def test_slow_strangers_keep_nobody_out(empty_home: Path) -> None:
    """Each is younger than a moment, says nothing or half a word, and a new one comes as soon as one is put out."""
    with served_at(empty_home) as served:
        silent = [served.raw() for _ in range(3 * Caps().strangers)]
        for one in silent[::2]:
            with suppress(OSError):  # put out already
                one.send(b'{"jsonrpc": "2.0", ')
        for name in ("first", "second", "third"):
            assert served.paired(name).call("health")["state"] == "open"
            silent += [served.raw() for _ in range(Caps().strangers)]
        assert served.owner().call("health")["state"] == "open"


_RENEWING = """
import select, socket, sys, time
path, count = sys.argv[1], int(sys.argv[2])
held = []
end = time.monotonic() + 60
print("ready", flush=True)
while time.monotonic() < end:
    while len(held) < count:
        one = socket.socket(socket.AF_UNIX)
        try:
            one.connect(path)
        except OSError:
            sys.exit(0)
        held.append(one)
    gone, _, _ = select.select(held, [], [], 0.05)
    for one in gone:
        one.close()
        held.remove(one)
"""


@pytest.mark.starts_process
def test_a_process_that_connects_anew_as_often_as_it_is_put_out_keeps_nobody_out(empty_home: Path) -> None:
    with served_at(empty_home) as served:
        command = [sys.executable, "-I", "-S", "-c", _RENEWING, str(served.place.path), str(3 * Caps().strangers)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as stranger:
            assert stranger.stdout is not None
            assert stranger.stdout.readline() == b"ready\n"
            try:
                for name in ("first", "second", "third", "fourth"):
                    assert served.paired(name).call("health")["state"] == "open"
                assert stranger.poll() is None
            finally:
                stranger.kill()


def test_the_oldest_greeting_goes_first_however_young_it_is(empty_home: Path) -> None:
    with served_at(empty_home) as served:
        begun = [served.raw() for _ in range(Caps().strangers)]
        newcomer = served.raw()
        newcomer.send(b'{"jsonrpc": "2.0", "id": 1, "method": "health"}\n')
        answer = newcomer.line()  # it is listened to
        assert answer is not None
        assert answer["error"]["data"]["code"] == Code.UNAUTHENTICATED.value
        assert begun[0].line() is None
        begun[1].send(b'{"jsonrpc": "2.0", "id": 1, "method": "health"}\n')
        assert begun[1].line() is not None
