"""The same attacks through the socket and the command line: the doors that attackers and the person use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_rig import Palace, make_template, palace_from
from poison_rig import HOME, Victim
from poison_socket import Wire, wire_to

from core.errors import LociError
from core.ipc.client.client import Client


@pytest.fixture
def wire(victim: Victim, tmp_path: Path) -> Iterator[Wire]:
    with wire_to(victim.rig, tmp_path) as wire:
        yield wire


LIES: dict[str, dict[str, Any]] = {
    "a tool": {"source": "tool_output", "claim": HOME.claim()},
    "a document": {"source": "document", "claim": HOME.claim()},
    "an inference": {"source": "inference"},
    "said in passing": {"source": "user_implicit", "claim": HOME.claim()},
    "dated back": {"source": "tool_output", "time": "2001-01-01"},
    "dated ahead": {"source": "tool_output", "time": "2199-01-01"},
    "as a rule": {"source": "tool_output", "kind": "rule"},
    "a qualifier": {"source": "tool_output", "claim": HOME.claim(qualifiers={"x": "1"})},
    "not exclusive": {"source": "tool_output", "claim": HOME.claim(exclusive=False)},
    "for a session": {"source": "tool_output", "session": "s", "claim": HOME.claim(scope="session")},
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_through_the_socket_fails(name: str, victim: Victim, wire: Wire) -> None:
    with wire.client("bot", "read", "write", "space:home") as bot:
        reply = bot.call("memory_store", {"text": HOME.lie, "space": "home", **LIES[name]})
        assert reply["superseded"] == []
    victim.check()


FORBIDDEN: dict[str, dict[str, Any]] = {
    "user_explicit": {"source": "user_explicit"},
    "trust": {"trust": 1.0},
    "status": {"status": "active"},
    "client_id": {"client_id": "owner"},
    "recorded_at": {"recorded_at": 0},
    "lineage": {"lineage": "owner"},
    "actor": {"actor": "owner"},
    "confidence": {"confidence": 1.0},
    "supersedes": {"supersedes": "all"},
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_what_a_client_may_not_say_of_itself_is_refused(name: str, victim: Victim, wire: Wire) -> None:
    with wire.client("bot", "read", "write", "space:home") as bot, pytest.raises(LociError):
        bot.call("memory_store", {"text": HOME.lie, "space": "home", **FORBIDDEN[name]})
    assert victim.lies() == []
    victim.check()


def _store(bot: Client, text: str, **more: Any) -> dict[str, Any]:
    return bot.call("memory_store", {"text": text, "space": "home", **more})


def test_a_replay_with_another_text_is_refused(victim: Victim, wire: Wire) -> None:
    with wire.client("bot", "read", "write", "space:home") as bot:
        first = _store(bot, "The user has a cat.", request_id="r")
        assert _store(bot, "The user has a cat.", request_id="r") == first
        with pytest.raises(LociError):
            _store(bot, HOME.lie, request_id="r")
    victim.check()


def test_what_was_searched_does_not_come_back_as_a_confirmation(victim: Victim, wire: Wire) -> None:
    with wire.client("bot", "read", "write", "space:home") as bot:
        found = bot.call("memory_search", {"query": HOME.question})
        text = found["items"][0]["text"]
        _store(bot, text, source="tool_output")
        _store(bot, f"  {text} ", source="tool_output", session="other")
    victim.check()
    assert victim.rig.get(victim.said).corroboration == 1


def test_a_client_is_told_nothing_that_waits(victim: Victim, wire: Wire) -> None:
    with wire.client("liar", "read", "write", "space:home") as bot:
        _store(bot, HOME.lie, source="tool_output", claim=HOME.claim())
    with wire.client("reader", "read", "space:home") as reader:
        found = reader.call("memory_search", {"query": HOME.question})
        assert [item["text"] for item in found["items"]] == [HOME.said]
    victim.check()


# ---- the command line


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed, empty vault."""
    return make_template(tmp_path_factory.mktemp("poisoned"))


@pytest.fixture
def palace(template: Path, tmp_path: Path) -> Palace:
    """A palace with an empty vault."""
    return palace_from(template, tmp_path)


def test_what_the_person_pastes_from_elsewhere_is_not_the_person_s_word(palace: Palace) -> None:
    with palace.shell() as shell:
        said = shell.json("--json", "remember", HOME.said)["memory_id"]
        for source in ("document", "tool_output", "inference"):
            reply = shell.json("--json", "remember", f"User lives in Vienna, says {source}.", "--source", source)
            assert (reply["operation"], reply["superseded"]) == ("QUARANTINE", [])
        (palace.folder / "rows.jsonl").write_text(
            '{"text": "User lives in Vienna.", "kind": "fact", "source": "user_explicit", '
            '"claim": {"subject": "user", "predicate": "lives_in", "value": "Vienna", "exclusive": true}}\n'
        )
        shell.json("--json", "import", str(palace.folder / "rows.jsonl"))
        shown = shell.json("--json", "show", said)
        assert (shown["status"], shown["text"]) == ("active", HOME.said)
        assert len(shell.json("--json", "conflicts")["conflicts"]) >= 1
        found = shell.json("--json", "recall", HOME.question)["items"]
        assert [item["text"] for item in found] == [HOME.said]
