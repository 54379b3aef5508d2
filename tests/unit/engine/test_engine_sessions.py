"""Turns through the engine: what is given, what is kept, what a session has at hand, and what an undo takes back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from engine_rig import START_MS, HandClock, Rig, error_of, refused, rig_at
from real_models import real_readers

from core.errors import Code
from core.events import Changed, Event
from core.sessions.capture import MOST_BYTES
from core.types.sessions import (
    Captured,
    CaptureRequest,
    Message,
    Outcome,
    Resumed,
    SummaryRequest,
    TurnBegun,
    TurnEnd,
    TurnEnded,
    TurnQuery,
)
from core.types.values import OWNER_ACTOR, Actor, Source

HOUR = 3_600_000
FIVE = (
    "The harbour crane is painted green. Ida repairs the crane on Fridays. The shed lease ends in 2031. "
    "Bruno keeps the spare keys. The team meets in room seven."
)


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, readers=real_readers(), clock=HandClock(START_MS)) as rig:
        yield rig


def user(text: str) -> Message:
    return Message(text, Source.USER_IMPLICIT)


def assistant(text: str) -> Message:
    return Message(text, Source.INFERENCE)


def begin(
    rig: Rig, actor: Actor, prompt: str = "What colour is the crane?", session: str = "s", **more: Any
) -> TurnBegun:
    return rig.engine.sessions.begin_turn(TurnQuery(prompt, session, **more), actor).result(30)


def end(rig: Rig, actor: Actor, *messages: Message, session: str = "s", **more: Any) -> TurnEnded:
    return rig.engine.sessions.end_turn(TurnEnd(session, messages=messages, **more), actor).result(30)


def capture(rig: Rig, actor: Actor, *messages: Message, session: str = "s", **more: Any) -> Captured:
    return rig.engine.sessions.capture_messages(CaptureRequest(session, messages, **more), actor).result(30)


def ingest(rig: Rig, actor: Actor, text: str = FIVE, session: str = "s", **more: Any) -> Captured:
    return rig.engine.sessions.keep_summary(SummaryRequest(session, text, **more), actor).result(30)


def pass_ms(rig: Rig, ms: int) -> None:
    clock = rig.clock
    assert isinstance(clock, HandClock)
    clock.advance(ms)


# ---- a turn


def test_a_turn_gives_keeps_and_is_told(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write")
    rig.store("The harbour crane is painted green.", plug)
    told: list[Event] = []
    rig.engine.hub.subscribe(told.append)
    begun = begin(rig, plug, model="gpt-4")
    assert "painted green" in begun.reply.context.text
    assert (begun.window, begun.budget, begun.known, begun.resumed) == (8192, 983, True, Resumed.NEW)
    assert (begun.at_hand, rig.engine.sessions.open_turns(plug)) == (1, 1)
    ended = end(rig, plug, user("I live in Lisbon. What colour is it?"), assistant("It is green."), turn=begun.turn)
    assert (ended.turn, ended.begun, ended.captured.episodes) == (begun.turn, True, 2)
    assert (ended.captured.extracted, ended.captured.stored) == (1, 1)
    assert rig.engine.sessions.open_turns(plug) == 0
    done = [one for one in told if isinstance(one, Changed) and one.verb == "turn_end"]
    assert [one.ids for one in done] == [ended.captured.ids]
    rig.engine.flush_journal()
    assert {verb for (verb,) in rig.rows("SELECT verb FROM audit")} >= {"context", "turn_end"}
    ((detail,),) = rig.rows("SELECT detail FROM audit WHERE verb = 'turn_end'")
    assert "Lisbon" not in detail


def test_messages_are_kept_word_for_word_in_one_conversation(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write")
    texts = ["  Where was I?\n", "In the shed.", "  Where was I?\n"]
    for at in range(2):
        end(rig, plug, user(texts[0]), Message("seven results", Source.TOOL_OUTPUT, author="grep"), assistant(texts[1]))
        assert rig.value("SELECT count(*) FROM conversations") == 1, at
    rows = rig.rows(
        "SELECT text, role, source, author, position, session, kind, status, importance FROM memories ORDER BY position"
    )
    assert [row[4] for row in rows] == list(range(6))
    assert rows[0] == (texts[0], "user", "user_implicit", None, 0, "s", "episode", "active", 0.5)
    assert rows[1] == ("seven results", "tool", "tool_output", "grep", 1, "s", "episode", "active", 0.4)
    assert rows[2][:3] == ("In the shed.", "assistant", "inference")
    end(rig, plug, user("Elsewhere."), session="other")
    assert rig.value("SELECT count(*) FROM conversations") == 2


def test_facts_come_from_what_the_person_says_only(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write")
    ended = end(
        rig,
        plug,
        user("If I lived in Rome I would sing. I work at Halvorsen. Can you help me?"),
        assistant("You live in Oslo. My name is Ada."),
        Message("The user lives in Turin.", Source.TOOL_OUTPUT, author="web"),
    )
    facts = rig.rows("SELECT text, source, importance, session, status FROM memories WHERE kind = 'fact'")
    assert facts == [("I work at Halvorsen.", "user_implicit", 0.6, "s", "active")]
    assert (ended.captured.extracted, ended.captured.stored, ended.captured.proposed) == (1, 1, 0)


def test_a_client_that_may_only_propose_leaves_facts_for_review(rig: Rig) -> None:
    plug = rig.client("plug", "read", "propose")
    ended = end(rig, plug, user("I live in Lisbon. Hello."), assistant("Hello."))
    assert (ended.captured.episodes, ended.captured.left_out, ended.captured.proposed) == (0, 2, 1)
    assert rig.rows("SELECT text, status FROM memories") == [("I live in Lisbon.", "quarantined")]
    assert rig.rows("SELECT kind, state FROM conflicts") == [("proposal", "open")]
    again = end(rig, plug, user("I live in Lisbon."))
    assert (again.captured.proposed, again.captured.skipped) == (0, 1)


def test_who_may_only_read_ends_turns_and_keeps_nothing(rig: Rig) -> None:
    plug = rig.client("plug", "read")
    begun = begin(rig, plug)
    assert (
        error_of(rig.engine.sessions.end_turn(TurnEnd("s", begun.turn, (user("Hello."),)), plug)).code
        is Code.ACCESS_DENIED
    )
    assert rig.engine.sessions.open_turns(plug) == 0  # a failing turn releases its permit
    begun = begin(rig, plug)
    assert end(rig, plug, turn=begun.turn, outcome=Outcome.FAILED).begun
    assert rig.texts(None) == []


def test_a_turn_that_was_not_open_is_told_and_kept(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write")
    ended = end(rig, plug, user("Hello there."))
    assert (ended.begun, ended.turn, ended.captured.episodes) == (False, "", 1)
    assert not end(rig, plug, user("Hello again."), turn="no-such-turn").begun


def test_the_same_turn_ended_twice_is_kept_once(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write")
    begun = begin(rig, plug)
    first = end(rig, plug, user("I live in Lisbon."), turn=begun.turn)
    assert end(rig, plug, user("I live in Lisbon."), turn=begun.turn) == first
    assert rig.value("SELECT count(*) FROM memories") == 2
    asked = rig.engine.sessions.end_turn(TurnEnd("s", begun.turn, (user("Another text."),)), plug)
    assert error_of(asked).code is Code.INVALID_INPUT
    kept = capture(rig, plug, user("One."), request_id="r")
    assert capture(rig, plug, user("One."), request_id="r") == kept
    assert rig.value("SELECT count(*) FROM memories") == 3


def test_a_turn_is_one_undo_step(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write")
    end(rig, plug, user("I live in Lisbon. I work at Halvorsen."), assistant("Noted."))
    assert len(rig.texts()) == 4
    ((step, actor, client),) = rig.rows("SELECT id, actor, client_id FROM undo_steps WHERE verb = 'turn_end'")
    assert (actor, client) == ("client", plug.client_id)
    rig.undo(step)
    assert rig.texts(None) == []
    assert rig.value("SELECT count(*) FROM conversations") == 0


# ---- permits


def test_permits_are_bounded_and_come_back(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write")
    turns = [begin(rig, plug, session=f"s{n}").turn for n in range(4)]
    with refused(Code.BUSY):
        rig.engine.sessions.begin_turn(TurnQuery("more?", "s4"), plug)
    end(rig, plug, session="s0", turn=turns[0], outcome=Outcome.CANCELLED)
    begin(rig, plug, session="s4")


def test_a_turn_that_cannot_begin_holds_no_permit(rig: Rig) -> None:
    plug = rig.client("plug", "read")
    for _ in range(6):
        with refused(Code.INVALID_QUERY):
            rig.engine.sessions.begin_turn(TurnQuery(" ", "s"), plug)
        future = rig.engine.sessions.begin_turn(TurnQuery("x", "s", spaces=("nowhere",)), plug)
        assert error_of(future).code is Code.NOT_FOUND
    assert rig.engine.sessions.open_turns(plug) == 0
    writer = rig.client("writer", "write")
    with refused(Code.ACCESS_DENIED):
        rig.engine.sessions.begin_turn(TurnQuery("x", "s"), writer)


def test_leaving_ends_turns(rig: Rig) -> None:
    plug = rig.client("plug", "read")
    begin(rig, plug, session="a")
    begin(rig, plug, session="b")
    rig.engine.sessions.end_sessions([(plug.client_id, "a"), (plug.client_id, "b"), (plug.client_id, "c")])
    assert rig.engine.sessions.open_turns(plug) == 0


# ---- what is at hand


def held(rig: Rig, actor: Actor, session: str = "s") -> dict[str, float]:
    found = rig.engine.sessions._table.look((actor.client_id, session))
    return {} if found is None or found.left is None else dict(found.left.slots)


def saved(rig: Rig) -> None:
    """Wait for what is written behind everything else."""
    rig.opened.storage.write(lambda tx: tx.now_ms, background=True).result(30)


def test_what_is_at_hand_comes_along_with_another_question(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write")
    crane = rig.store("The harbour crane is painted green.", plug).memory_id
    rig.store("Ida bakes rye bread on Sundays.", plug)
    begin(rig, plug)
    other = begin(rig, plug, "Who bakes rye bread on Sundays?")
    assert crane in [one.id for one in other.reply.context.included]
    alone = begin(rig, plug, "Who bakes rye bread on Sundays?", session="fresh")
    assert crane not in [one.id for one in alone.reply.context.included]


def test_what_left_or_is_out_of_reach_does_not_come_along(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write")
    crane = rig.store("The harbour crane is painted green.", plug).memory_id
    begin(rig, plug)
    assert crane in held(rig, plug)
    rig.forget(crane)
    assert crane not in [one.id for one in begin(rig, plug, "Who bakes bread?").reply.context.included]
    theirs = rig.client("other", "read", "write")
    secret = rig.store("The vault code is under the mat.", theirs).memory_id
    rig.engine.sessions._table.use((plug.client_id, "s"), {secret: 1.0}, START_MS)  # as if an id were guessed
    assert secret not in [one.id for one in begin(rig, plug, "Where is the vault code?").reply.context.included]


@pytest.mark.parametrize(
    ("ms", "how", "share"),
    [
        (4 * HOUR - 60_000, Resumed.WHOLE, 1.0),
        (12 * HOUR, Resumed.FADED, 0.5),
        (24 * HOUR, Resumed.GONE, 0.0),
    ],
)
@pytest.mark.parametrize("way", ["close", "leave", "idle", "lock"])
def test_a_session_comes_back_by_its_age(rig: Rig, ms: int, how: Resumed, share: float, way: str) -> None:
    plug = rig.client("plug", "read", "write")
    crane = rig.store("The harbour crane is painted green.", plug).memory_id
    begin(rig, plug)
    before = held(rig, plug)[crane]
    if way == "close":
        closed = rig.engine.sessions.close("s", plug).result(30)
        assert (closed.saved, closed.ended) == (1, 1)
    elif way == "leave":
        rig.engine.sessions.end_sessions([(plug.client_id, "s")])
        saved(rig)
    elif way == "idle":
        pass_ms(rig, 31 * 60_000)
        rig.engine.sessions.run_chores(rig.opened)
        saved(rig)
    else:
        rig.lock()
        rig.unlock()
    assert rig.value("SELECT count(*) FROM working") == 1
    pass_ms(rig, START_MS + ms - rig.clock.now_ms())
    back = begin(rig, plug, "Nothing of that kind at all?")
    assert back.resumed is how
    assert held(rig, plug).get(crane, 0.0) == pytest.approx(before * share * 0.8, abs=0.02)


def test_an_empty_session_forgets_what_was_kept(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write")
    rig.store("The harbour crane is painted green.", plug)
    begin(rig, plug)
    rig.engine.sessions.close("s", plug).result(30)
    assert rig.value("SELECT count(*) FROM working") == 1
    for _ in range(12):
        begin(rig, plug, "Nothing of that kind at all?", budget=0)
    rig.engine.sessions.close("s", plug).result(30)
    assert rig.value("SELECT count(*) FROM working") == 0


def test_a_lock_in_the_middle_of_a_turn_loses_nothing(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write")
    rig.store("The harbour crane is painted green.", plug)
    begun = begin(rig, plug)
    rig.lock()
    with refused(Code.VAULT_LOCKED):
        rig.engine.sessions.end_turn(TurnEnd("s", begun.turn, (user("Hello."),)), plug)
    assert rig.engine.sessions.open_turns(plug) == 0
    rig.engine.sessions.end_sessions([(plug.client_id, "s")])  # while locked: nothing happens
    rig.unlock()
    ended = end(rig, plug, user("I live in Lisbon."), turn=begun.turn)
    assert (ended.begun, ended.captured.episodes, ended.at_hand) == (False, 1, 2)


@pytest.mark.slow
def test_a_hundred_switches_among_five_clients_lose_nothing(rig: Rig) -> None:
    plugs = [rig.client(f"plug{n}", "read", "write") for n in range(5)]
    mine = [
        rig.store(f"The {what} crane is painted green.", plug).memory_id
        for what, plug in zip("ABCDE", plugs, strict=True)
    ]
    for n in range(100):
        plug = plugs[n * 3 % 5]
        begin(rig, plug, session="main")
        rig.engine.sessions.end_sessions([(plug.client_id, "main")])
    for plug, memory_id in zip(plugs, mine, strict=True):
        back = begin(rig, plug, "Nothing of that kind at all?", session="main")
        assert back.resumed is Resumed.WHOLE
        assert list(held(rig, plug, "main")) == [memory_id]


@pytest.mark.slow
def test_another_model_has_another_budget(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write")
    for n in range(6):
        words = " ".join(f"word{n}x{at}" for at in range(120))
        rig.store(f"The colour of the crane is {words}.", plug)
    vectors = rig.value("SELECT count(*) FROM embeddings")
    small = begin(rig, plug, "What colour is the crane?", model="gpt-4", session="a")
    large = begin(rig, plug, "What colour is the crane?", model="claude-opus-4.6", session="b")
    assert (small.budget, large.budget) == (983, 24_000)
    assert small.reply.context.tokens <= 983
    assert small.reply.context.tokens < large.reply.context.tokens <= 24_000
    assert rig.value("SELECT count(*) FROM embeddings") == vectors


# ---- summaries, sizes, echoes


def test_a_summary_is_kept_once(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write")
    first = ingest(rig, plug)
    assert (first.extracted, first.stored, first.skipped) == (5, 5, 0)
    rows = rig.rows("SELECT session, importance, kind, category, client_id FROM memories")
    assert set(rows) == {("s", 0.6, "episode", "context", plug.client_id)}
    second = ingest(rig, plug)
    assert (second.extracted, second.stored, second.skipped) == (5, 0, 5)
    pass_ms(rig, 48 * HOUR)
    assert ingest(rig, plug, session="later").stored == 0  # the same words, whenever
    assert ingest(rig, plug, "The old harbour crane is painted green.").stored == 1  # it says more
    assert rig.value("SELECT count(*) FROM consolidation_log WHERE operation = 'NOOP'") == 10


def test_another_clients_summary_does_not_count(rig: Rig) -> None:
    first, second = rig.client("one", "read", "write"), rig.client("two", "read", "write")
    assert ingest(rig, first).stored == ingest(rig, second).stored == 5


def test_near_repetitions_are_passed_over_within_the_hour(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write")
    ingest(rig, plug, "The old harbour crane is painted green.")
    assert ingest(rig, plug, "The harbour crane is painted green.").stored == 0
    pass_ms(rig, HOUR + 1000)
    assert ingest(rig, plug, "The harbour crane was painted green.").stored == 1


def test_a_summary_takes_write(rig: Rig) -> None:
    plug = rig.client("plug", "read", "propose")
    assert error_of(rig.engine.sessions.keep_summary(SummaryRequest("s", FIVE), plug)).code is Code.ACCESS_DENIED


@pytest.mark.slow
def test_long_messages_are_split_at_sentence_bounds_and_nothing_is_lost(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write")
    text = "".join(f"Sentence number {n} tells of the harbour. " for n in range(2_000))
    assert 64 * 1024 < len(text) < 128 * 1024
    kept = capture(rig, plug, assistant(text), user("Thanks."))
    assert kept.episodes == 2
    parts = [row[0] for row in rig.rows("SELECT text FROM memories WHERE part_of IS NOT NULL ORDER BY part_index")]
    assert "".join(parts) == text
    assert all(len(part.encode()) <= 8 * 1024 and part.endswith(". ") for part in parts)
    assert rig.rows("SELECT DISTINCT position FROM memories WHERE part_of IS NOT NULL") == [(0,)]


def test_more_than_128_kib_is_refused_whole(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write")
    half = "ä" * (33 * 1024)
    asked = rig.engine.sessions.capture_messages(CaptureRequest("s", (user(half), user(half))), plug)
    assert error_of(asked).code is Code.TEXT_TOO_LARGE
    assert rig.texts(None) == []
    assert (
        error_of(rig.engine.sessions.capture_messages(CaptureRequest("s", (user("a\0b"),)), plug)).code
        is Code.INVALID_INPUT
    )


@pytest.mark.slow
def test_a_long_conversation_of_the_owner_is_kept_whole_in_one_step(rig: Rig) -> None:
    texts = [f"Page {nr}: " + "the weir is closed at noon. " * 1500 for nr in range(4)]
    assert sum(map(len, texts)) > MOST_BYTES
    request = CaptureRequest("ask-1", tuple(user(text) for text in texts))
    kept = rig.engine.sessions.capture_messages(request, OWNER_ACTOR).result(120)
    assert kept.episodes == len(texts)
    assert rig.value("SELECT count(*) FROM undo_steps") == 1


def test_what_was_handed_out_is_not_stored_as_new(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write")
    fact = rig.store("I live in Lisbon.", plug).memory_id
    episode = capture(rig, plug, user("The crane was green as grass that day.")).ids[0]
    begun = begin(rig, plug, "Where do I live, and how green was the crane that day?", budget=2000)
    assert {fact, episode} <= {one.id for one in begun.reply.context.included}
    before = set(rig.texts(None))
    ended = end(
        rig,
        plug,
        user(begun.reply.context.text),
        user(f"{begun.reply.context.text}\nAnd now?"),
        assistant("The crane was green as grass that day."),
        user("I live in Lisbon."),
    )
    assert set(rig.texts(None)) - before == {"And now?"}
    assert ended.captured.episodes == 2  # "And now?" and the person's own sentence, which repeats
    assert rig.value("SELECT corroboration FROM memories WHERE id = ?", fact) == 1


def test_what_was_erased_does_not_come_back(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write")
    secret = capture(rig, plug, user("The mole wears a red hat.")).ids[0]
    rig.engine.memories.erase([secret], OWNER_ACTOR).result(30)
    kept = capture(rig, plug, user("The mole wears a red hat."), request_id="r")
    assert (kept.episodes, kept.ids) == (0, ())
    assert rig.rows("SELECT * FROM requests") == []


def test_clients_keep_within_their_spaces(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write")
    for space in ("home", "GLOBAL", "nowhere"):
        asked = rig.engine.sessions.capture_messages(CaptureRequest("s", (user("Hello."),), space), plug)
        assert error_of(asked).code is Code.ACCESS_DENIED
    granted = rig.client("guest", "read", "write", "space:work")
    kept = capture(rig, granted, user("Hello from work."), space="work")
    assert rig.get(kept.ids[0]).space == "work"


def test_channels_keep_apart(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write")
    one, other = replace(plug, channel="forum:ada"), replace(plug, channel="forum:bob")
    kept = capture(rig, one, user("I live in Lisbon. The crane is green."))
    assert set(rig.rows("SELECT scope_channel FROM memories")) == {("forum:ada",)}
    begin(rig, one, "Where do I live, and what about the crane?")
    for asker in (other, plug):  # in the same session: what is at hand for one is not for the other
        begun = begin(rig, asker, "Where do I live, and what about the crane?")
        assert not set(kept.ids) & {given.id for given in begun.reply.context.included}
    assert ingest(rig, one).stored == ingest(rig, other).stored == 5
    capture(rig, other, user("Hello."))
    assert rig.value("SELECT count(*) FROM conversations") == 2


def test_the_person_may_capture_too(rig: Rig) -> None:
    kept = capture(rig, OWNER_ACTOR, user("I live in Lisbon."))
    assert (kept.episodes, kept.stored) == (1, 1)
    assert begin(rig, OWNER_ACTOR, "Where do I live?").at_hand >= 1
    rig.lock()
    rig.unlock()
    assert rig.rows("SELECT * FROM working") == []


def test_nothing_of_a_text_is_in_the_audit_or_at_hand(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write")
    begin(rig, plug, "Where is the Quittenmarmelade?")
    end(rig, plug, user("I live in Quittenmarmelade."), assistant("Quittenmarmelade it is."))
    ingest(rig, plug, "The user asked about Quittenmarmelade today.")
    rig.engine.flush_journal()
    for table in (
        "SELECT * FROM audit",
        "SELECT * FROM working",
        "SELECT * FROM undo_steps",
        "SELECT * FROM consolidation_log",
        "SELECT * FROM requests",
    ):
        found = rig.rows(table)
        assert found, table
        assert not any("Quitten" in str(value) for row in found for value in row), table


# ---- what the person tells of themself


@pytest.mark.parametrize(
    "opener", ["", "By the way ", "by the way, ", "Oh, and ", "FYI ", "Speaking of which, ", "Actually "]
)
def test_a_turn_keeps_a_preference_as_surely_as_an_allergy(rig: Rig, opener: str) -> None:
    plug = rig.client("plug", "read", "write")
    told = ("my favourite colour is teal", "our landlord is Kurt Weiss", "I am allergic to penicillin")
    for place, text in enumerate(told):
        kept = end(rig, plug, user(f"{opener}{text}."), session=f"s{place}").captured
        assert (kept.episodes, kept.stored) == (1, 1), text


@pytest.mark.parametrize(
    "talk", ["What is my favourite colour?", "If I had a dog, I would walk more.", "I'm fine, thanks."]
)
def test_a_turn_makes_no_statement_of_talk(rig: Rig, talk: str) -> None:
    kept = end(rig, rig.client("plug", "read", "write"), user(talk), assistant("My favourite colour is teal.")).captured
    assert (kept.episodes, kept.extracted, kept.stored) == (2, 0, 0)
