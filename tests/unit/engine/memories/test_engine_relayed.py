"""What the person types to a client that may speak for them: the person's word, told through that client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from engine_rig import HandClock, Rig, rig_at
from real_models import real_embedder, real_readers

from core.types.recall import ContextQuery
from core.types.requests import ListRequest
from core.types.reviews import Decision
from core.types.sessions import Captured, Message, TurnEnd
from core.types.values import OWNER_ACTOR, Action, Actor, Kind, Memory, Source

HOUR_MS = 3_600_000
SPEAKS = ("read", "write", "speak_for_user", "space:home")
CHANGES = {
    "a dose": ("I take 50 mg of sertraline.", "I take 25 mg of sertraline now.", "How much sertraline do I take?"),
    "a dose of what was named before": ("I take 50 mg of sertraline.", "I take 25 mg now.", "How much sertraline?"),
    "a bare dose": ("I take 50 mg.", "I take 25 mg now.", "How much do I take?"),
    "a home": ("I live in Graz.", "I live in Vienna now.", "Where do I live?"),
    "an employer": ("I work at Siemens.", "I work at Bosch now.", "Where do I work?"),
    "a favourite": (
        "My favourite colour is teal.",
        "My favourite colour is green now.",
        "What is my favourite colour?",
    ),
    "a habit": ("I run 5 km a day.", "I run 8 km a day now.", "How far do I run a day?"),
}
KNOWN = [name for name in CHANGES if name in ("a dose", "a home", "an employer")]


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, embedder=real_embedder(), readers=real_readers()) as rig:
        yield rig


def typed(rig: Rig, text: str, actor: Actor, session: str = "s") -> Captured:
    """A turn in which the person typed this, an hour after what was before."""
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(HOUR_MS)
    turn = TurnEnd(session, messages=(Message(text, Source.USER_IMPLICIT),), space="home")
    return rig.engine.sessions.end_turn(turn, actor).result(30).captured


def facts(rig: Rig) -> list[Memory]:
    """The facts that stand, oldest first."""
    page = rig.engine.memories.list(ListRequest(statuses=("active",), limit=None), OWNER_ACTOR).result(30)
    return [memory for memory in reversed(page.items) if memory.kind is Kind.FACT]


def context(rig: Rig, prompt: str, actor: Actor) -> str:
    return rig.engine.memories.build_context(ContextQuery(prompt), actor).result(30).context.text


@pytest.mark.parametrize("name", CHANGES)
def test_in_one_chat_the_later_holds(name: str, rig: Rig) -> None:
    old, new, question = CHANGES[name]
    chat = rig.client("chat", *SPEAKS)
    typed(rig, old, chat)
    typed(rig, new, chat)
    assert [memory.text for memory in facts(rig)] == [new]
    assert rig.engine.conflicts.list_queue().result(30).rows == ()
    assert rig.recall(question, chat).items[0].memory.text == new


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_it_holds_over_what_was_typed_to_another_chat(name: str, rig: Rig) -> None:
    old, new, _ = CHANGES[name]
    typed(rig, old, rig.client("first", *SPEAKS))
    typed(rig, new, rig.client("second", *SPEAKS))
    assert [memory.text for memory in facts(rig)] == [new]


@pytest.mark.parametrize("name", KNOWN)
def test_it_holds_over_what_others_told(name: str, rig: Rig) -> None:
    old, new, _ = CHANGES[name]
    rig.store(old, rig.client("tool", "read", "write", "space:home"), source=Source.TOOL_OUTPUT, space="home")
    typed(rig, new, rig.client("chat", *SPEAKS))
    assert [memory.text for memory in facts(rig)] == [new]


@pytest.mark.parametrize("name", KNOWN)
def test_beside_the_persons_own_door_both_stand_and_the_person_is_asked(name: str, rig: Rig) -> None:
    old, new, question = CHANGES[name]
    own = rig.store(old).memory_id
    chat, reader = rig.client("chat", *SPEAKS), rig.client("reader", "read", "space:home")
    typed(rig, new, chat)
    assert [memory.text for memory in facts(rig)] == [old, new]
    (row,) = rig.engine.conflicts.list_queue().result(30).rows
    asked = rig.rows("SELECT kind, suggestion, reason FROM conflicts")
    assert row.existing_id == own
    assert asked == [("contradiction", Action.SUPERSEDE.value, "relayed_against_owner")]
    found = rig.recall(question, reader).items
    assert found[0].memory.text == new
    assert {item.contradicts for item in found if item.memory.text == new} == {own}
    assert old in [item.memory.text for item in found]
    text = context(rig, question, reader)
    assert text.index(new) < text.index(old)
    assert f"[contested: the user's own word, memory {own}, says otherwise]" in text
    assert "[user, via chat]" in text


@pytest.mark.parametrize(("action", "standing"), [(Action.SUPERSEDE, 1), (Action.REJECT, 0), (Action.KEEP_BOTH, None)])
def test_the_answer_to_the_question_holds(action: Action, standing: int | None, rig: Rig) -> None:
    old, new, _ = CHANGES["a home"]
    rig.store(old)
    chat = rig.client("chat", *SPEAKS)
    typed(rig, new, chat)
    (row,) = rig.engine.conflicts.list_queue().result(30).rows
    rig.engine.conflicts.resolve(row.id, Decision(action), OWNER_ACTOR).result(30)
    wanted = [old, new] if standing is None else [(old, new)[standing]]
    assert [memory.text for memory in facts(rig)] == wanted
    typed(rig, new, chat, "again")
    assert [memory.text for memory in facts(rig)] == wanted
    assert rig.engine.conflicts.list_queue().result(30).rows == ()


def test_what_the_person_says_at_the_own_door_later_holds(rig: Rig) -> None:
    old, new, _ = CHANGES["a home"]
    typed(rig, old, rig.client("chat", *SPEAKS))
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(HOUR_MS)
    rig.store(new)
    assert [memory.text for memory in facts(rig)] == [new]


def test_without_the_grant_it_is_the_clients_word(rig: Rig) -> None:
    old, new, _ = CHANGES["a home"]
    typed(rig, old, rig.client("chat", *SPEAKS))
    typed(rig, new, rig.client("plugin", "read", "write", "space:home"))
    assert [memory.text for memory in facts(rig)] == [old]


def test_the_grants_words_say_so() -> None:
    words = json.loads((files("resources") / "help" / "clients.json").read_text("utf-8"))
    told = words["grants"]["speak_for_user"]["sentence"]
    assert "replaces what you said earlier to assistants or in imported files" in told
    assert "What you told Loci yourself, in its window or on the command line, it does not replace" in told
    assert "you are asked which holds" in told
