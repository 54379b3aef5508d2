"""Wounded calls of every method against a real engine: typed errors, nothing told, an honest client served throughout.

The full size is in tests/bench/bench_socket.py.
"""

from __future__ import annotations

import json
import socket
from importlib.resources import files
from typing import Any

import pytest
from engine_rig import Rig
from poison_socket import Wire
from wire_storm import Fuzzer, load, open_sockets
from wire_walk import PLANTED, Walk, wrong_with

from core.ipc.client.client import Client
from core.ipc.client.connection import connect_to
from core.ipc.protocol import contract

DOCUMENT: dict[str, Any] = json.loads(files("resources").joinpath("protocol.json").read_text("utf-8"))
REGISTRY = contract.load_registry()
LINES = 1600
ALL = ("read", "propose", "write", "curate", "space:home")


def test_every_sound_call_keeps_its_schema() -> None:
    """What the walk calls sound is sound; otherwise wounds would be all it tests."""
    walk = Walk(DOCUMENT, "sound")
    for name in DOCUMENT["methods"]:
        for _ in range(25):
            REGISTRY.find_method(name).check_params(walk.params(name))


def test_an_answer_that_tells_too_much_is_noticed() -> None:
    sound: dict[str, Any] = {"code": -32000, "message": "No.", "data": {"code": "E4005"}}
    answer = {"jsonrpc": "2.0", "id": 1, "error": sound}
    assert wrong_with(answer) is None
    for bad in (
        {**sound, "message": f"No {PLANTED}."},
        {**sound, "message": 'File "/home/x/y.py", line 3'},
        {**sound, "data": {"code": "E4005", "trace": "x"}},
        {**sound, "data": {"code": "E5007"}},
        {**sound, "message": ""},
    ):
        assert wrong_with({**answer, "error": bad}) is not None


class Sound(Walk):
    """Nothing but calls that are whole."""

    def line(self, ident: int) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "id": ident, "method": "memory_list", "params": {}}).encode() + b"\n"


@pytest.mark.parametrize(
    ("idents", "found"),
    [
        ((1, 2), []),
        ((2, 1), []),
        ((1, 1, 2), ["an answer to nothing, or a second one"]),
        ((9, 1, 2), ["an answer to nothing, or a second one"]),
        ((None, 2), ["a call that was answered without its id"]),
    ],
)
def test_an_answer_counts_for_the_line_it_is_of_and_for_no_other(
    idents: tuple[int | None, ...], found: list[str]
) -> None:
    ours, theirs = socket.socketpair()
    error = {"code": -32000, "message": "No.", "data": {"code": "E4005"}}
    for ident in idents:
        theirs.sendall(json.dumps({"jsonrpc": "2.0", "id": ident, "error": error}).encode() + b"\n")
    fuzzer = Fuzzer(Sound(DOCUMENT, 0), REGISTRY, lambda: Client(ours), at_once=2)
    assert [finding.partition(":")[0] for finding in fuzzer.run(2).findings] == found
    fuzzer.close()
    theirs.close()


def test_wounded_calls_harm_nobody(rig: Rig, wire: Wire) -> None:
    rig.store(f"{PLANTED} lies in a drawer.", space="cellar")
    with wire.client("honest", "read", "write") as honest:
        kept = honest.call("memory_store", {"text": "The honest one keeps bees."})["memory_id"]
        token = rig.engine.clients.pair("liar", ALL, "none").result(30).token
        fuzzer = Fuzzer(Walk(DOCUMENT, 1), REGISTRY, lambda: wire.greet("liar", token))
        stranger = Fuzzer(Walk(DOCUMENT, 2), REGISTRY, lambda: Client(connect_to(wire.place, 10)), at_once=4)
        before = open_sockets()
        for _ in range(8):
            fuzzer.run(LINES // 10)
            stranger.run(LINES // 40)
            assert honest.call("memory_get", {"id": kept})["text"] == "The honest one keeps bees."
        fuzzer.close()
        stranger.close()
        assert fuzzer.seen.findings + stranger.seen.findings == []
        assert fuzzer.seen.answers["result"] > LINES // 20
        assert fuzzer.seen.answers["E4009"] > LINES // 20
        assert stranger.seen.answers.keys() <= {"result", "E4005", "E4007", "E4008", "E4009", "E4010", "E5004"}
        assert honest.call("health")["state"] == "open"
        assert wire.settled(lambda: open_sockets() <= before)
    assert rig.verify()["status"] == "ok"


def test_many_clients_store_while_consolidation_runs(rig: Rig, wire: Wire) -> None:
    clients = [wire.client(f"client {n}", "read", "write") for n in range(8)]
    with wire.client("keeper", "read", "curate", "all_spaces") as keeper:
        seen = load(clients, 5, lambda: _consolidate(keeper))
    for client in clients:
        client.close()
    assert seen.errors == []
    assert seen.rounds > 0
    assert len(set(seen.ids)) == 40
    assert rig.value("SELECT count(*) FROM memories WHERE client_id IS NOT NULL") == 40


def _consolidate(keeper: Client) -> None:
    keeper.call("memory_run_consolidation")
