"""The session methods on the socket: shapes, grants, bounds, what is handed to the engine, and going away."""

from __future__ import annotations

import pytest
from ipc_peers import code_of, until
from ipc_served import Asked, Served

from core.errors import Code
from core.types.sessions import CaptureRequest, Message, Outcome, SummaryRequest, TurnEnd, TurnQuery
from core.types.values import Source

METHODS = ("turn_begin", "turn_end", "capture", "compaction_ingest", "session_close")


def left(asked: list[Asked]) -> list[tuple[str | None, str]]:
    """The sessions that were put away."""
    return sorted((name for verb, given, _ in asked if verb == "end_sessions" for name in given[0]), key=str)


def test_a_turn_over_the_socket(served: Served) -> None:
    known = {
        served.remember(text)
        for text in ("The harbour has a blue crane.", "The harbour has forty boats in the winter months.")
    }
    served.rig.settle()
    client = served.paired(grants=("read", "propose", "write"))
    question = {"trigger_prompt": "The harbour has what?", "session": "s", "model": "gpt-4", "token_budget": 9}
    first = served.call(client, "turn_begin", **{**question, "token_budget": 200})
    assert (first["resumed"], first["included"], first["excluded_reasons"]) == ("new", 2, [])
    served.call(client, "turn_end", session="s", turn=first["turn"])
    served.advance(5 * 3_600_000)
    asked = served.asked("sessions")
    begun = served.call(client, "turn_begin", **question)
    assert {name: begun[name] for name in ("budget", "window", "model_known", "at_hand", "resumed")} == {
        "budget": 9,
        "window": 8192,
        "model_known": True,
        "at_hand": 2,
        "resumed": "faded",
    }
    assert {one["id"] for one in begun["excluded_reasons"]} == known
    told = [(one["reason"], one["value"]) for one in begun["excluded_reasons"]]
    assert told == [("budget", "high")] * begun["excluded"]  # a band, no number
    assert begun["turn"] != first["turn"]
    assert "memories" not in begun
    said = {"user": "Hello.", "assistant": "Good day.", "tools": [{"name": "grep", "text": "none"}]}
    ended = served.call(client, "turn_end", session="s", turn=begun["turn"], outcome="failed", **said)
    assert (ended["turn"], ended["begun"], ended["outcome"]) == (begun["turn"], True, "failed")
    assert (ended["episodes"], ended["left_out"]) == (3, 0)
    assert "note" not in ended
    (_, (query, actor), _), (_, (end, _), _) = asked
    assert query == TurnQuery("The harbour has what?", "s", "gpt-4", 9, None)
    assert (actor.kind, actor.session) == ("client", "s")
    assert end == TurnEnd(
        "s",
        begun["turn"],
        (
            Message("Hello.", Source.USER_IMPLICIT),
            Message("none", Source.TOOL_OUTPUT, author="grep"),
            Message("Good day.", Source.INFERENCE),
        ),
        Outcome.FAILED,
    )


def test_who_may_not_write_is_told_what_was_left_out(served: Served) -> None:
    client = served.paired(grants=("read", "propose"))
    begun = client.call("turn_begin", {"prompt": "what?", "session": "s"})
    ended = served.call(client, "turn_end", session="s", turn=begun["turn"], outcome="failed", user="Hello.")
    assert (ended["turn"], ended["begun"], ended["outcome"]) == (begun["turn"], True, "failed")
    assert (ended["episodes"], ended["left_out"], ended["ids"]) == (0, 1, [])
    assert "grant write" in ended["note"]
    client.call("turn_begin", {"prompt": "what?", "session": "s"})
    ended = served.call(client, "turn_end", session="s", user="Hello.", assistant="Good day.")
    assert ended["left_out"] == 2
    assert "grant write" in ended["note"]


def test_the_other_methods(served: Served) -> None:
    client, heard = served.paired(grants=("read", "write")), served.asked("sessions")
    one = {"role": "user", "text": "Hi.", "name": "Ada", "time": "2026-01-31T10:00:00Z", "ref": "r1"}
    kept = served.call(client, "capture", session="s", messages=[one], request_id="q")
    assert (kept["episodes"], len(kept["ids"]) >= 1) == (1, True)
    summary = served.call(client, "compaction_ingest", session="s", text="The roof was mended in May.")
    assert (summary["stored"], summary["proposed"]) == (len(summary["ids"]), 0)
    closed = served.call(client, "session_close", session="s")
    assert closed["ended"] == 0
    (_, (captured, _), _), (_, (asked, _), _), _ = heard
    assert isinstance(captured, CaptureRequest)
    ((message),) = captured.messages
    assert (message.author, message.ref, message.occurred is not None) == ("Ada", "r1", True)
    assert asked == SummaryRequest("s", "The roof was mended in May.")


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
def test_what_is_refused(served: Served, method: str, params: dict[str, object]) -> None:
    client, asked = served.paired(grants=("read", "write")), served.asked("sessions")
    assert code_of(lambda: client.call(method, params)) is Code.INVALID_INPUT
    assert asked == []


def test_an_empty_prompt_is_no_question(served: Served) -> None:
    asked = {"prompt": "  ", "session": "s"}
    assert code_of(lambda: served.paired().call("turn_begin", asked)) is Code.INVALID_QUERY


def test_grants_and_spaces(served: Served) -> None:
    reader, proposer = served.paired("reader", ("read",)), served.paired("proposer", ("read", "propose"))
    message = {"session": "s", "messages": [{"role": "user", "text": "x"}]}
    assert code_of(lambda: reader.call("capture", message)) is Code.ACCESS_DENIED
    assert code_of(lambda: proposer.call("compaction_ingest", {"session": "s", "summary": "x"})) is Code.ACCESS_DENIED
    assert code_of(lambda: proposer.call("capture", {**message, "space": "home"})) is Code.ACCESS_DENIED
    assert code_of(lambda: proposer.call("capture", {**message, "space": "GLOBAL"})) is Code.ACCESS_DENIED
    asked = {"prompt": "x", "session": "s", "spaces": ["home"]}
    assert code_of(lambda: reader.call("turn_begin", asked)) is Code.ACCESS_DENIED
    assert proposer.call("capture", message)["left_out"] == 1
    assert reader.call("turn_end", {"session": "s"})["begun"] is False


def test_a_turn_counts_as_a_search(served: Served) -> None:
    client = served.paired(limit=2)
    for _ in range(2):
        client.call("turn_begin", {"prompt": "x", "session": "s"})
    assert code_of(lambda: client.call("turn_begin", {"prompt": "x", "session": "s"})) is Code.RATE_LIMITED


def test_when_the_peer_goes_its_sessions_are_left(served: Served) -> None:
    client, other = served.paired("plug", ("read", "write")), served.paired("other", ("read", "write"))
    asked, who = served.asked("sessions"), served.client_id()
    for session in ("b", "a", "b"):
        client.call("turn_begin", {"prompt": "x", "session": session})
    client.call("turn_begin", {"prompt": "x", "session": "a", "channel": "discord", "channel_user": "ada"})
    other.call("turn_begin", {"prompt": "x", "session": "c"})
    other.call("capture", {"session": "d", "messages": [{"role": "user", "text": "x"}]})
    assert left(asked) == []
    client.close()
    until(lambda: left(asked))
    assert left(asked) == [(who, "a"), (who, "b"), (who, "channel:discord:ada a")]


@pytest.mark.slow
def test_a_connection_remembers_so_many_sessions_and_leaves_all_that_are_in_use(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.ipc.socket.connection._SESSIONS", 5)
    client, who = served.paired("plug", ("read", "write"), "none"), served.client_id()
    monkeypatch.setattr(served.engine.sessions, "list_in_use", lambda _: frozenset({(who, "s0"), (who, "s6")}))
    asked = served.asked("sessions")
    (connection,) = [one for one in served.server._connections if one.session is not None]
    for number in range(40):
        client.call("turn_begin", {"prompt": "x", "session": f"s{number % 20}"})
        client.call("turn_end", {"session": f"s{number % 20}"})
        assert len(connection.sessions) <= 5
    client.close()
    until(lambda: left(asked))  # the end of a connection is noticed on the server's loop, and nobody is told of it
    assert {(who, "s0"), (who, "s6")} <= set(left(asked))


def test_a_revoked_client_leaves_its_sessions_too(served: Served) -> None:
    client, owner, asked = served.paired("plug", ("read", "write")), served.owner(), served.asked("sessions")
    client.call("turn_begin", {"prompt": "x", "session": "s"})
    owner.call("owner.revoke", {"name": "plug"})
    until(lambda: left(asked))
    assert [session for _, session in left(asked)] == ["s"]


def test_a_locked_vault_answers_nothing_else(served: Served) -> None:
    client = served.paired(grants=("read", "write"))
    served.rig.lock()
    for method in METHODS:
        assert code_of(lambda: client.call(method, {"session": "s"})) is Code.VAULT_LOCKED  # noqa: B023
