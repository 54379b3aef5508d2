"""The session methods on the socket: shapes, grants, bounds, what is handed to the engine, and going away."""

from __future__ import annotations

import time

import pytest
from ipc_world import REGISTRY, World, code_of

from core.errors import Code
from core.types.sessions import CaptureRequest, Message, Outcome, SummaryRequest, TurnEnd, TurnQuery
from core.types.values import Source

METHODS = ("turn_begin", "turn_end", "capture", "compaction_ingest", "session_close")


def test_a_turn_over_the_socket(world: World) -> None:
    client = world.paired(grants=("read", "write"))
    begun = client.call("turn_begin", {"trigger_prompt": "what?", "session": "s", "model": "gpt-4", "token_budget": 9})
    assert not list(REGISTRY.result_checker("turn_begin").iter_errors(begun))
    assert {name: begun[name] for name in ("turn", "budget", "window", "model_known", "at_hand", "resumed")} == {
        "turn": "turn-1",
        "budget": 983,
        "window": 8192,
        "model_known": True,
        "at_hand": 1,
        "resumed": "faded",
    }
    assert [one["value"] for one in begun["excluded_reasons"]] == ["medium"]  # a band, no number
    assert "memories" not in begun
    said = {"user": "Hello.", "assistant": "Good day.", "tools": [{"name": "grep", "text": "none"}]}
    ended = client.call("turn_end", {"session": "s", "turn": "turn-1", "outcome": "failed", **said})
    assert not list(REGISTRY.result_checker("turn_end").iter_errors(ended))
    assert (ended["turn"], ended["begun"], ended["outcome"], ended["left_out"]) == ("turn-1", True, "failed", 1)
    assert "grant write" in ended["note"]
    (query, actor), (end, _) = world.engine.sessions.asked
    assert query == TurnQuery("what?", "s", "gpt-4", 9, None)
    assert (actor.kind, actor.session) == ("client", "s")
    assert end == TurnEnd(
        "s",
        "turn-1",
        (
            Message("Hello.", Source.USER_IMPLICIT),
            Message("none", Source.TOOL_OUTPUT, author="grep"),
            Message("Good day.", Source.INFERENCE),
        ),
        Outcome.FAILED,
    )


def test_the_other_methods(world: World) -> None:
    client = world.paired(grants=("read", "write"))
    one = {"role": "user", "text": "Hi.", "name": "Ada", "time": "2026-01-31T10:00:00Z", "ref": "r1"}
    kept = client.call("capture", {"session": "s", "messages": [one], "request_id": "q"})
    summary = client.call("compaction_ingest", {"session": "s", "text": "It was so."})
    closed = client.call("session_close", {"session": "s"})
    for name, found in zip(("capture", "compaction_ingest", "session_close"), (kept, summary, closed), strict=True):
        assert not list(REGISTRY.result_checker(name).iter_errors(found)), name
    assert summary == {"extracted": 5, "stored": 4, "skipped": 1, "proposed": 0, "ids": ["m-1", "m-2", "m-3", "m-4"]}
    assert closed == {"saved": 3, "ended": 1}
    (captured, _), (asked, _), _ = world.engine.sessions.asked
    assert isinstance(captured, CaptureRequest)
    ((message),) = captured.messages
    assert (message.author, message.ref, message.occurred is not None) == ("Ada", "r1", True)
    assert asked == SummaryRequest("s", "It was so.")


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("turn_begin", {"prompt": "x"}),
        ("turn_begin", {"prompt": "x", "session": ""}),
        ("turn_begin", {"prompt": "x", "session": "s", "token_budget": -1}),
        ("turn_end", {}),
        ("turn_end", {"session": "s", "outcome": "perfect"}),
        ("turn_end", {"session": "s", "user": ""}),
        ("turn_end", {"session": "s", "tools": [{"name": "x"}]}),
        ("capture", {"session": "s", "messages": []}),
        ("capture", {"session": "s", "messages": [{"role": "system", "text": "x"}]}),
        ("capture", {"session": "s", "messages": [{"role": "user", "text": "x", "source": "user_explicit"}]}),
        ("capture", {"session": "s", "messages": [{"role": "user", "text": "x", "time": "yesterday-ish"}]}),
        ("compaction_ingest", {"session": "s"}),
        ("session_close", {"session": "x" * 257}),
    ],
)
def test_what_is_refused(world: World, method: str, params: dict[str, object]) -> None:
    assert code_of(lambda: world.paired(grants=("read", "write")).call(method, params)) is Code.INVALID_INPUT
    assert world.engine.sessions.asked == []


def test_an_empty_prompt_is_no_question(world: World) -> None:
    asked = {"prompt": "  ", "session": "s"}
    assert code_of(lambda: world.paired().call("turn_begin", asked)) is Code.INVALID_QUERY


def test_grants_and_spaces(world: World) -> None:
    reader, proposer = world.paired("reader", ("read",)), world.paired("proposer", ("read", "propose"))
    message = {"session": "s", "messages": [{"role": "user", "text": "x"}]}
    assert code_of(lambda: reader.call("capture", message)) is Code.ACCESS_DENIED
    assert code_of(lambda: proposer.call("compaction_ingest", {"session": "s", "summary": "x"})) is Code.ACCESS_DENIED
    assert code_of(lambda: proposer.call("capture", {**message, "space": "home"})) is Code.ACCESS_DENIED
    assert code_of(lambda: proposer.call("capture", {**message, "space": "GLOBAL"})) is Code.ACCESS_DENIED
    asked = {"prompt": "x", "session": "s", "spaces": ["home"]}
    assert code_of(lambda: reader.call("turn_begin", asked)) is Code.ACCESS_DENIED
    assert proposer.call("capture", message)["proposed"] == 1
    assert reader.call("turn_end", {"session": "s"})["begun"] is False


def test_a_turn_counts_as_a_search(world: World) -> None:
    client = world.paired(limit_minute=2)
    for _ in range(2):
        client.call("turn_begin", {"prompt": "x", "session": "s"})
    assert code_of(lambda: client.call("turn_begin", {"prompt": "x", "session": "s"})) is Code.RATE_LIMITED


def test_when_the_peer_goes_its_sessions_are_left(world: World) -> None:
    client, other = world.paired("plug", ("read", "write")), world.paired("other", ("read", "write"))
    for session in ("b", "a", "b"):
        client.call("turn_begin", {"prompt": "x", "session": session})
    client.call("turn_begin", {"prompt": "x", "session": "a", "channel": "discord", "channel_user": "ada"})
    other.call("turn_begin", {"prompt": "x", "session": "c"})
    other.call("capture", {"session": "d", "messages": [{"role": "user", "text": "x"}]})
    who = world.engine.clients.records["plug"].id
    assert world.engine.sessions.left == []
    client.close()
    until = time.monotonic() + 10
    while not world.engine.sessions.left and time.monotonic() < until:
        time.sleep(0.01)
    assert world.engine.sessions.left == [(who, "a"), (who, "b"), (who, "channel:discord:ada a")]


def test_a_connection_remembers_so_many_sessions_and_leaves_all_that_are_in_use(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.ipc.socket.connection._SESSIONS", 5)
    client = world.paired("plug", ("read", "write"), limit_minute=None, limit_session=None)
    world.engine.sessions.used = {"s0", "s6"}
    (connection,) = [one for one in world.server._connections if one.session is not None]
    for number in range(40):
        client.call("turn_begin", {"prompt": "x", "session": f"s{number % 20}"})
        assert len(connection.sessions) <= 5
    client.close()
    until = time.monotonic() + 60
    while not world.engine.sessions.left:
        assert time.monotonic() < until
        time.sleep(0.01)  # the end of a connection is noticed on the server's loop, and nobody is told of it
    assert {"s0", "s6"} <= {session for _, session in world.engine.sessions.left}


def test_a_revoked_client_leaves_its_sessions_too(world: World) -> None:
    client, owner = world.paired("plug", ("read", "write")), world.owner()
    client.call("turn_begin", {"prompt": "x", "session": "s"})
    owner.call("owner.revoke", {"name": "plug"})
    until = time.monotonic() + 10
    while not world.engine.sessions.left and time.monotonic() < until:
        time.sleep(0.01)
    assert [session for _, session in world.engine.sessions.left] == ["s"]


def test_a_locked_vault_answers_nothing_else(world: World) -> None:
    client = world.paired(grants=("read", "write"))
    world.engine.set_state("locked")
    for method in METHODS:
        assert code_of(lambda: client.call(method, {"session": "s"})) is Code.VAULT_LOCKED  # noqa: B023
