"""Peers that mean harm: garbage, endless lines, dripping, floods, replays, squatters. Time-outs are scaled down."""

from __future__ import annotations

import itertools
import json
import os
import random
import socket
import threading
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ipc_peers import Raw, code_of, until
from ipc_served import Served, served_at
from ipc_values import SECRET
from wire_storm import open_sockets

from core.errors import Code
from core.ipc.client.client import Client, open_session
from core.ipc.protocol import sessions
from core.ipc.protocol.messages import LINE_BYTES
from core.ipc.socket.limits import Caps
from core.security.handshake import client_mac, decode_value, encode_value

QUICK = Caps(handshake_s=2, line_s=1.5, drain_s=1, watch_s=0.05)
NC = bytes(range(32))


@pytest.fixture
def served(empty_home: Path) -> Iterator[Served]:
    with served_at(empty_home) as made:
        made.remember(SECRET, "home")
        yield made


@pytest.fixture
def quick(empty_home: Path) -> Iterator[Served]:
    with served_at(empty_home, caps=QUICK) as made:
        yield made


def request(method: str, params: object = None, ident: object = 1) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": ident, "method": method, "params": params or {}}).encode() + b"\n"


def login(served: Served, raw: Raw, name: str = "plug") -> None:
    """The handshake in raw bytes, as a plugin in another language would write it."""
    hello = raw.ask(request("hello", {"protocol": 1, "client": name, "nonce": encode_value(NC)}))
    assert hello is not None
    ns = decode_value(hello["result"]["nonce"], 32)
    mac = client_mac(served.record(name).token, NC, ns, served.vault_id)
    welcome = raw.ask(request("auth", {"mac": encode_value(mac)}))
    assert welcome is not None
    assert "result" in welcome


def error_code(message: dict[str, Any] | None) -> str:
    assert message is not None
    code: str = message["error"]["data"]["code"]
    return code


def assert_says_nothing(message: dict[str, Any] | None) -> None:
    """An error is a code and one sentence: no path, no traceback, no text of anybody."""
    if message is None or "error" not in message:
        return
    assert message.keys() == {"jsonrpc", "id", "error"}
    assert message["error"].keys() == {"code", "message", "data"}
    assert message["error"]["data"].keys() <= {"code", "retry_after"}
    text = json.dumps(message)
    for word in ("Traceback", ".py", "/home", "/tmp", "/root", "loci.sock", SECRET, "Error(", "sqlite", "0x"):
        assert word not in text
    assert len(message["error"]["message"]) < 300


GARBAGE = [
    b"\n",
    b"\0\n",
    b"hello\n",
    b"{}\n",
    b"[]\n",
    b'[{"jsonrpc":"2.0","id":1,"method":"health"}]\n',
    b'{"jsonrpc":"2.0","id":1,"id":2,"method":"health"}\n',
    b'{"jsonrpc":"2.0","method":"health"}\n',
    b'{"jsonrpc":"2.0","id":1,"method":"health","params":{"a":NaN}}\n',
    b'{"jsonrpc":"2.0","id":1,"method":"health","params":{"a":"\\ud800"}}\n',
    b'{"jsonrpc":"2.0","id":1,"method":"health","params":{"a":"\\u0000"}}\n',
    b"[" * 100_000 + b"\n",
    b'{"a":' * 1000 + b"1" + b"}" * 1000 + b"\n",
    b'{"jsonrpc":"2.0","id":1,"method":"' + SECRET.encode() + b'\xff"}\n',
    b"\x80\x81\x82\n",
    b"GET / HTTP/1.1\r\n",
    b'"' * 200_000 + b"\n",
]


@pytest.mark.parametrize("number", range(len(GARBAGE)))
def test_garbage_gets_one_typed_error(served: Served, number: int) -> None:
    raw = served.raw()
    found = raw.ask(GARBAGE[number])
    assert error_code(found) == "E4009"
    assert_says_nothing(found)
    assert error_code(raw.ask(request("health"))) == "E4007"


def test_too_much_garbage_ends_the_connection(served: Served) -> None:
    raw = served.raw()
    for _ in range(20):
        assert error_code(raw.ask(b"nonsense\n")) == "E4009"
    assert raw.line() is None


@pytest.mark.parametrize("authenticated", [False, True])
def test_a_line_over_the_cap_is_refused_before_parsing(served: Served, authenticated: bool) -> None:
    stores = served.calls_of("store")
    served.pair("plug")
    raw = served.raw()
    if authenticated:
        login(served, raw)
    head = b'{"jsonrpc":"2.0","id":5,"method":"memory_store","params":{"text":"'
    raw.send(head + b"x" * LINE_BYTES + b'"}}\n')
    found = raw.line()
    assert error_code(found) == "E4009"
    assert found is not None
    assert found["id"] is None
    assert raw.line() is None
    assert stores == []


def test_a_line_of_just_the_cap_is_read(served: Served) -> None:
    served.pair("plug")
    raw = served.raw()
    login(served, raw)
    head, tail = b'{"jsonrpc":"2.0","id":5,"method":"memory_store","params":{"text":"', b'"}}\n'
    found = raw.ask(head + b"x" * (LINE_BYTES - len(head) - len(tail)) + tail)
    assert error_code(found) == "E4004"


def test_ten_megabytes_on_one_line_leave_memory_flat(served: Served) -> None:
    raw = served.raw()
    tracemalloc.start()
    for _ in range(160):
        if not raw.send(b"x" * 65_536):
            break
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    raw.send(b"\n")
    found = raw.line()
    assert error_code(found) == "E4009"
    assert peak < 4 << 20


def test_an_endless_line_is_cut_off(quick: Served) -> None:
    raw = quick.raw()
    until(lambda: not raw.send(b"x" * 65_536))
    assert quick.owner().call("health")["state"] == "open"


def test_glued_messages_are_answered_in_turn(served: Served) -> None:
    served.pair("plug")
    raw = served.raw()
    login(served, raw)
    raw.send(b"".join(request("health", ident=n) for n in range(50)))
    answers = [raw.line() for _ in range(50)]
    assert sorted(answer["id"] for answer in answers if answer is not None) == list(range(50))
    assert all(answer is not None and "result" in answer for answer in answers)


def test_a_message_in_single_bytes_is_read(served: Served) -> None:
    raw = served.raw()
    for byte in request("health"):
        raw.send(bytes([byte]))
    assert error_code(raw.line()) == "E4007"


def test_slow_strangers_are_cut_and_do_not_stand_in_the_way(quick: Served) -> None:
    before = open_sockets()
    slow: list[Raw] = []
    for _ in range(60):
        try:
            slow.append(Raw(quick.place.path))
        except OSError:
            continue
        slow[-1].send(b"{")
    owner = quick.owner()
    assert owner.call("health")["state"] == "open"
    gone = 0
    for raw in slow:
        raw.send(b'"')
        while (message := raw.line()) is not None:
            assert error_code(message) == "E5004"
        gone += 1
        raw.close()
    assert gone == len(slow)
    owner.close()
    until(lambda: open_sockets() <= before)


def test_a_stranger_that_says_nothing_is_cut(quick: Served) -> None:
    raw = quick.raw()
    assert raw.line() is None


def test_a_client_that_drips_is_cut(quick: Served) -> None:
    quick.pair()
    raw = quick.raw()
    login(quick, raw)
    raw.send(b'{"jsonrpc":')
    assert raw.line() is None


def test_a_silent_client_may_stay(quick: Served) -> None:
    client = quick.paired()
    threading.Event().wait(QUICK.handshake_s + 0.5)
    assert client.call("health")["state"] == "open"


def test_a_client_that_never_reads_is_cut(quick: Served) -> None:
    quick.bring([f"{n} " + "x" * 8000 for n in range(39)], "GLOBAL")
    quick.pair()
    raw = quick.raw()
    login(quick, raw)
    numbers = itertools.count()
    until(lambda: not raw.send(request("memory_list", {"limit": 100}, next(numbers))))
    assert quick.owner().call("health")["state"] == "open"


def test_many_connections_meet_the_caps_and_keep_nobody_out(served: Served) -> None:
    token = served.pair("plug").token
    many = [Raw(served.place.path) for _ in range(60)]
    try:
        client, _ = open_session(served.place, "plug", token, served.vault_id, patience_s=0)
        client.close()
        # The oldest made room, one for each that came; nobody was refused.
        assert [raw.line() for raw in many[: 60 - QUICK.strangers]] == [None] * (60 - QUICK.strangers)
        assert len(served.server._connections) <= QUICK.strangers + 1
    finally:
        for raw in many:
            raw.close()


def test_a_flood_of_searches_meets_the_limit(served: Served) -> None:
    recalls = served.calls_of("recall")
    served.pair("plug")
    raw = served.raw()
    login(served, raw)
    seen: list[dict[str, Any]] = []

    def listen() -> None:
        for _ in range(500):
            message = raw.line()
            assert message is not None
            seen.append(message)

    listener = threading.Thread(target=listen)
    listener.start()
    for n in range(500):
        assert raw.send(request("memory_search", {"query": f"{SECRET} {n}"}, n))
    listener.join(60)
    by_id = {message["id"]: message for message in seen}
    assert sorted(by_id) == list(range(500))
    assert all("result" in by_id[n] for n in range(20))
    assert {error_code(by_id[n]) for n in range(20, 500)} == {"E2003"}
    assert all(0 < by_id[n]["error"]["data"]["retry_after"] <= 60 for n in range(20, 500))
    for message in seen:
        assert_says_nothing(message)
    assert len(recalls) == 20


def test_a_replayed_handshake_is_refused(served: Served) -> None:
    served.pair("plug")
    hello = request("hello", {"protocol": 1, "client": "plug", "nonce": encode_value(NC)})
    first = served.raw()
    answer = first.ask(hello)
    assert answer is not None
    mac = client_mac(served.record().token, NC, decode_value(answer["result"]["nonce"], 32), served.vault_id)
    auth = request("auth", {"mac": encode_value(mac)})
    replay = served.raw()
    assert replay.ask(hello) is not None
    assert error_code(replay.ask(auth)) == "E4007"
    assert replay.line() is None
    done = first.ask(auth)
    assert done is not None
    assert "result" in done
    assert error_code(first.ask(auth)) == "E4005"  # the session cannot be proved twice either
    bare = served.raw()
    assert error_code(bare.ask(auth)) == "E4007"


def test_endless_hellos_are_cut(served: Served) -> None:
    raw = served.raw()
    hello = request("hello", {"protocol": 1, "client": "plug", "nonce": encode_value(NC)})
    for _ in range(3):
        assert "result" in (raw.ask(hello) or {})
    assert error_code(raw.ask(hello)) == "E4007"
    assert raw.line() is None


def test_a_token_of_another_vault_is_refused(served: Served) -> None:
    served.pair("plug")
    raw = served.raw()
    answer = raw.ask(request("hello", {"protocol": 1, "client": "plug", "nonce": encode_value(NC)}))
    assert answer is not None
    mac = client_mac(served.record().token, NC, decode_value(answer["result"]["nonce"], 32), b"v" * 16)
    assert error_code(raw.ask(request("auth", {"mac": encode_value(mac)}))) == "E4007"


def test_unknown_paused_and_known_clients_look_alike(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Same members, same lengths, other values each time; and the same work, so that time tells nothing either."""
    served.pair("known")
    served.pair("paused")
    served.engine.clients.pause("paused").result(60)
    work: Counter[str] = Counter()

    def counted(name: str) -> None:
        real = getattr(sessions, name)

        def step(*values: bytes) -> bytes:
            work[name] += 1
            found: bytes = real(*values)
            return found

        monkeypatch.setattr(sessions, name, step)

    for name in ("server_proof", "client_mac", "new_nonce", "new_token"):
        counted(name)
    shapes: set[object] = set()
    proofs: set[str] = set()
    for name in ("known", "paused", "nobody") * 5:
        raw = served.raw()
        answer = raw.ask(request("hello", {"protocol": 1, "client": name, "nonce": encode_value(NC)}))
        refused = raw.ask(request("auth", {"mac": encode_value(b"w" * 32)}))
        assert answer is not None
        assert refused is not None
        proofs.add(answer["result"]["proof"])
        steps = tuple(sorted(work.items()))
        shape = tuple((key, len(value)) for key, value in answer["result"].items())
        shapes.add((steps, shape, json.dumps(refused["error"]), raw.line() is None))
        work.clear()
        raw.close()
    assert len(shapes) == 1
    assert len(proofs) == 15


def test_the_token_never_crosses_the_wire(served: Served, empty_home: Path) -> None:
    """A squatter that answers like a server learns nothing and is not believed."""
    record = served.pair("plug")
    folder = empty_home / "run" / "q"
    folder.mkdir(mode=0o700)
    heard = bytearray()
    with socket.socket(socket.AF_UNIX) as squatter:
        squatter.bind(os.fspath(folder / "s"))
        squatter.listen()

        def pose() -> None:
            peer, _ = squatter.accept()
            with peer:
                heard.extend(peer.recv(65_536))
                lie = {"nonce": b"n" * 32, "vault": served.vault_id, "proof": b"p" * 32}
                fake = {key: encode_value(value) for key, value in lie.items()}
                peer.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "result": fake}).encode() + b"\n")
                while chunk := peer.recv(65_536):
                    heard.extend(chunk)

        posing = threading.Thread(target=pose)
        posing.start()
        place = type(served.place)(folder / "s", chosen=True)
        with Client.connect(place) as client:
            assert code_of(lambda: client.greet("plug", record.token, served.vault_id)) is Code.UNAUTHENTICATED
        posing.join(60)
    assert json.loads(heard)["method"] == "hello"
    assert encode_value(record.token).encode() not in heard
    assert record.token not in heard


@pytest.mark.expected_logs("displaced")
def test_a_squatter_at_our_place_is_replaced(quick: Served, caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket(socket.AF_UNIX) as squatter:
        aside = quick.place.path.with_name("x.sock")
        squatter.bind(os.fspath(aside))
        squatter.listen()
        aside.rename(quick.place.path)
        until(lambda: quick.displaced)
        assert quick.displaced == [1]
    assert quick.owner().call("health")["state"] == "open"
    assert "displaced" in caplog.text


def test_a_foreign_user_is_not_heard(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.ipc.socket.server.os.geteuid", lambda: 4711)
    raw = Raw(served.place.path)
    raw.send(request("health"))
    assert raw.line() is None
    raw.close()


HOSTILE_FIELDS = (
    "provenance", "is_user_explicit", "agent_id", "tenant_id", "butler", "trust", "confidence", "client_id", "client",
    "created_at", "recorded_at", "scope_channel", "user_id", "token",
)  # fmt: skip


@pytest.mark.parametrize("field", HOSTILE_FIELDS)
@pytest.mark.parametrize("method", ["memory_store", "memory_search", "memory_context", "memory_get", "memory_list"])
def test_identity_and_trust_cannot_be_said(served: Served, method: str, field: str) -> None:
    served.pair("plug", ["read", "write"])
    raw = served.raw()
    login(served, raw)
    asked = served.asked("memories")
    found = raw.ask(request(method, {"text": "x", "query": "x", "prompt": "x", "id": "x", field: SECRET}))
    assert error_code(found) == "E4006"
    assert_says_nothing(found)
    assert field in (found or {})["error"]["message"]
    assert asked == []
    assert served.refusals[-1].code is Code.FORBIDDEN_FIELD
    assert (served.refusals[-1].client_id, served.refusals[-1].method) == (served.client_id(), method)


def test_mutants_on_the_wire(served: Served) -> None:
    """A seeded short walk: typed errors or an end, nothing told, an honest client served throughout."""
    chance = random.Random(77)
    honest = served.paired("honest")
    served.pair("plug", ["read", "propose"], "none")
    bodies = [
        request("memory_store", {"text": SECRET, "tags": ["a"], "claim": {"subject": "I"}}),
        request("memory_search", {"query": SECRET, "limit": 5, "filters": {"kinds": ["fact"]}}),
        request("memory_search", {"query": SECRET, "intent": "causal", "from": "2026-01-02", "to": "2026-03-04"}),
        request("owner.import", {"path": "/x"}),
        request("pair", {"client": "x", "code": "A" * 16}),
    ]
    raw, codes = served.raw(), Counter[str]()
    login(served, raw)
    for n in range(600):
        line = bytearray(chance.choice(bodies)[:-1])
        for _ in range(chance.randint(0, 3)):
            line[chance.randrange(len(line))] = chance.randrange(256)
        message = raw.ask(bytes(line).replace(b"\n", b" ") + b"\n")
        if message is None:
            raw.close()
            raw = served.raw()
            login(served, raw)
            continue
        assert_says_nothing(message)
        codes["result" if "result" in message else error_code(message)] += 1
        if n % 100 == 0:
            assert honest.call("health")["state"] == "open"
    assert codes["E4009"] > 50
    assert codes["result"] > 10
    assert codes.keys() <= {"E4009", "E4010", "E4001", "E4005", "E4006", "E2004", "result"}


def test_going_away_at_every_moment_harms_nobody(served: Served) -> None:
    stores = served.calls_of("store")
    honest = served.paired("honest")
    served.pair("plug", ["read", "write"])
    whole = request("memory_store", {"text": "x"})
    for cut in range(0, len(whole), 7):
        raw = served.raw()
        login(served, raw)
        raw.send(whole[:cut])
        raw.close()
        raw = served.raw()
        raw.send(whole[:cut])
        raw.close()
    assert honest.call("health")["state"] == "open"
    assert stores == []
