"""Reinforce, dispute, corroborate, confirm: one voice a client, when a memory is disputed, who may speak of what."""

from __future__ import annotations

from typing import Any

import pytest
from belief_rig import change
from desk_rig import DAY_MS
from engine_rig import MARKER, START_MS, Rig, differences, error_of, later, refused

from core.errors import Code
from core.intake.transitions.verdicts import BY_CLIENTS, BY_OWNER, LOW_TRUST
from core.types.replies import VerdictReply
from core.types.values import OWNER_ACTOR, Actor, Kind, Source, When

CLIENTS = ("aster", "borage", "cress", "dill", "endive")
ALL = ("reinforce", "dispute", "confirm", "corroborate")
NEVER = "0190a000-0000-7000-8000-000000000000"


def say(rig: Rig, verb: str, memory_id: str, actor: Actor = OWNER_ACTOR, **more: Any) -> VerdictReply:
    """Speak of a memory through the facade."""
    found: VerdictReply = getattr(rig.engine.memories, verb)(memory_id, actor, **more).result(30)
    return found


def speakers(rig: Rig, count: int) -> list[Actor]:
    """Clients with a voice in the owner's space."""
    return [rig.client(name, "read", "write", "space:home") for name in CLIENTS[:count]]


def imported(rig: Rig, text: str = "The weir opens at noon", source: str = "assistant") -> str:
    """A fact that nobody but an import says."""
    rig.bring([{"text": text, "kind": "fact", "author": source, "ref": text}], name=f"{len(text)}.jsonl")
    return str(rig.value("SELECT id FROM memories WHERE text = ?", text))


def guess(rig: Rig, text: str = "The weir opens at noon") -> str:
    """A fact the owner passes on as a guess."""
    return rig.store(text, source=Source.INFERENCE).memory_id


def state(rig: Rig, memory_id: str) -> tuple[str, str | None]:
    """Status and its reason."""
    row = rig.rows("SELECT status, status_reason FROM memories WHERE id = ?", memory_id)[0]
    return str(row[0]), row[1]


# ---- counting


def test_the_owner_counts_each_time(rig: Rig) -> None:
    memory_id = guess(rig)
    assert [say(rig, "reinforce", memory_id).reinforcements for _ in range(3)] == [1, 2, 3]
    assert rig.get(memory_id).trust == pytest.approx(0.65)


def test_a_client_has_one_voice_however_often_it_speaks(rig: Rig) -> None:
    memory_id = guess(rig)
    aster, borage = speakers(rig, 2)
    counts = [say(rig, "reinforce", memory_id, who).reinforcements for who in (aster, aster, borage, aster)]
    assert counts == [1, 1, 2, 2]
    voices = rig.rows("SELECT voice, verdict, times FROM verdicts ORDER BY voice")
    assert voices == [
        (f"client:{aster.client_id}", "reinforce", 1),
        (f"client:{borage.client_id}", "reinforce", 1),
    ]


def test_one_client_in_two_sessions_is_one_voice(rig: Rig) -> None:
    memory_id = guess(rig)
    aster = speakers(rig, 1)[0]
    other = Actor("client", aster.client_id, aster.name, "another session")
    say(rig, "dispute", memory_id, aster)
    assert say(rig, "dispute", memory_id, other).disputes == 1


@pytest.mark.parametrize(
    ("first", "then", "counts"), [("reinforce", "dispute", (0, 1)), ("dispute", "reinforce", (1, 0))]
)
def test_who_changes_its_mind_takes_the_other_word_back(
    rig: Rig, first: str, then: str, counts: tuple[int, int]
) -> None:
    memory_id = guess(rig)
    for who in (speakers(rig, 1)[0], OWNER_ACTOR):
        say(rig, first, memory_id, who)
        reply = say(rig, then, memory_id, who)
        assert rig.value("SELECT count(*) FROM verdicts WHERE voice = ?", _voice(who)) == 1
    assert (reply.reinforcements, reply.disputes) == (2 * counts[0], 2 * counts[1])


def _voice(actor: Actor) -> str:
    return "owner" if actor.client_id is None else f"client:{actor.client_id}"


def test_the_owner_takes_a_confirmation_back_by_disputing(rig: Rig) -> None:
    memory_id = guess(rig)
    say(rig, "reinforce", memory_id)
    assert say(rig, "confirm", memory_id).reinforcements == 2
    reply = say(rig, "dispute", memory_id)
    assert (reply.reinforcements, reply.disputes, reply.status) == (0, 1, "disputed")


@pytest.mark.parametrize(("up", "down", "trust"), [(1, 0, 0.65), (0, 1, 0.35), (3, 1, 0.575), (2, 2, 0.5)])
def test_trust_follows_the_balance(rig: Rig, up: int, down: int, trust: float) -> None:
    memory_id = guess(rig)
    voices = speakers(rig, up + down)
    for who in voices[:up]:
        say(rig, "reinforce", memory_id, who)
    for who in voices[up:]:
        reply = say(rig, "dispute", memory_id, who)
    reply = say(rig, "reinforce", memory_id, voices[0]) if up else reply
    assert reply.trust == pytest.approx(trust)
    assert reply.confidence == reply.trust
    assert rig.get(memory_id).trust == reply.trust


# ---- when a memory is disputed (design section 3, statuses)


def test_what_the_owner_disputes_is_disputed_at_once(rig: Rig) -> None:
    memory_id = rig.store("The weir opens at noon").memory_id
    assert say(rig, "dispute", memory_id, reason="It opens at one").status == "disputed"
    assert state(rig, memory_id) == ("disputed", BY_OWNER)
    assert rig.found("weir opens") == []


@pytest.mark.parametrize(("against", "in_favour", "status"), [
    (1, 0, "active"), (2, 0, "disputed"), (2, 1, "active"), (3, 1, "disputed"), (3, 2, "active"),
])  # fmt: skip
def test_clients_dispute_by_a_majority_of_two(rig: Rig, against: int, in_favour: int, status: str) -> None:
    memory_id = imported(rig)
    voices = speakers(rig, against + in_favour)
    for who in voices[:in_favour]:
        say(rig, "reinforce", memory_id, who)
    for who in voices[in_favour:]:
        reply = say(rig, "dispute", memory_id, who)
    assert reply.status == status
    assert state(rig, memory_id) == (status, BY_CLIENTS if status == "disputed" else None)
    assert (reply.reinforcements, reply.disputes) == (in_favour, against)


def test_one_client_alone_never_reaches_a_majority(rig: Rig) -> None:
    memory_id = imported(rig)
    aster = speakers(rig, 1)[0]
    assert {say(rig, "dispute", memory_id, aster).status for _ in range(5)} == {"active"}


def test_below_three_tenths_it_is_disputed(rig: Rig) -> None:
    old = When(START_MS - 365 * DAY_MS)
    aster = speakers(rig, 1)[0]
    just_above = rig.store("The sluice is narrow", source=Source.DOCUMENT, occurred=old).memory_id
    assert say(rig, "dispute", just_above, aster).trust == pytest.approx(0.35)
    assert state(rig, just_above)[0] == "active"
    below = rig.store("The weir opens at noon", source=Source.INFERENCE, occurred=old).memory_id
    reply = say(rig, "dispute", below, aster)
    assert reply.trust == pytest.approx(0.25)
    assert state(rig, below) == ("disputed", LOW_TRUST)


@pytest.mark.parametrize("verb", ["reinforce", "confirm"])
def test_a_word_for_it_brings_back_what_verdicts_took_away(rig: Rig, verb: str) -> None:
    memory_id = imported(rig)
    for who in speakers(rig, 2):
        say(rig, "dispute", memory_id, who)
    assert state(rig, memory_id) == ("disputed", BY_CLIENTS)
    assert say(rig, verb, memory_id).status == "active"
    assert rig.found("weir opens") == ["The weir opens at noon"]


def test_the_owners_dispute_is_taken_back_by_the_owner_alone(rig: Rig) -> None:
    memory_id = imported(rig)
    say(rig, "dispute", memory_id)
    for who in speakers(rig, 5):
        assert say(rig, "reinforce", memory_id, who).status == "disputed"
    assert say(rig, "reinforce", memory_id).status == "active"


def test_what_is_disputed_for_another_reason_stays_so(rig: Rig) -> None:
    memory_id = imported(rig)
    change(rig, memory_id, status="disputed", status_reason="equals_disagree")
    assert say(rig, "reinforce", memory_id).status == "disputed"
    assert state(rig, memory_id) == ("disputed", "equals_disagree")


def test_claims_go_and_come_with_their_memory(rig: Rig) -> None:
    claim = {"subject": "Ada", "predicate": "lives_in", "value": "Graz", "exclusive": True}
    memory_id = rig.store("Ada lives in Graz", claim=claim).memory_id
    say(rig, "dispute", memory_id)
    assert rig.value("SELECT state FROM claims") == "disputed"
    say(rig, "reinforce", memory_id)
    assert rig.value("SELECT state FROM claims") == "asserted"


# ---- what the owner said


@pytest.mark.parametrize("source", [Source.USER_EXPLICIT, Source.USER_IMPLICIT])
def test_a_clients_doubt_about_the_owners_words_becomes_a_question(rig: Rig, source: Source) -> None:
    memory_id = rig.store("The weir opens at noon", source=source).memory_id
    before = rig.get(memory_id)
    reply = say(rig, "dispute", memory_id, speakers(rig, 1)[0])
    assert (reply.status, reply.disputes, reply.trust) == ("active", 0, before.trust)
    row = rig.rows("SELECT id, kind, incoming_id, reason, state FROM conflicts")[0]
    assert row == (reply.conflict, "stale", memory_id, "client_doubts", "open")
    assert rig.rows("SELECT * FROM verdicts") == []


def test_a_clients_doubt_suggests_nothing_and_shows_who_doubts_and_why(rig: Rig) -> None:
    memory_id = rig.store("The weir opens at noon").memory_id
    why = "It {opens}\n\x1b[31m<b>later</b>. " + "x" * 400
    reply = say(rig, "dispute", memory_id, speakers(rig, 1)[0], reason=why)
    item = rig.engine.conflicts.read_item(str(reply.conflict)).result(10)
    assert item.suggestion is None
    told = next(sentence for sentence in item.why if "speaker" in sentence or "It {opens}" in sentence)
    assert "It {opens} [31m<b>later</b>. xxx" in told
    assert told.isprintable()
    assert len(told) < 300


def test_a_doubt_without_a_reason_still_shows_who_doubts(rig: Rig) -> None:
    memory_id = rig.store("The weir opens at noon").memory_id
    who = speakers(rig, 1)[0]
    item = rig.engine.conflicts.read_item(str(say(rig, "dispute", memory_id, who).conflict)).result(10)
    assert f"{who.name} doubts it." in item.why


def test_many_clients_doubts_are_one_question_and_never_a_verdict(rig: Rig) -> None:
    memory_id = rig.store("The weir opens at noon").memory_id
    replies = [say(rig, "dispute", memory_id, who) for who in speakers(rig, 5)]
    assert len({reply.conflict for reply in replies}) == 1
    assert state(rig, memory_id) == ("active", None)


def test_what_the_owner_confirmed_is_the_owners_word(rig: Rig) -> None:
    memory_id = imported(rig)
    say(rig, "confirm", memory_id)
    for who in speakers(rig, 3):
        assert say(rig, "dispute", memory_id, who).conflict is not None
    assert state(rig, memory_id) == ("active", None)
    assert rig.get(memory_id).disputes == 0


def test_the_owners_confirmation_outweighs_any_number_of_clients(rig: Rig) -> None:
    memory_id = imported(rig)
    for who in speakers(rig, 5):
        say(rig, "dispute", memory_id, who)
    assert say(rig, "reinforce", memory_id).status == "disputed"  # one voice among many: it does not vouch
    assert say(rig, "confirm", memory_id).status == "active"
    assert say(rig, "reinforce", memory_id).status == "active"


def test_what_the_owner_says_is_never_disputed_by_a_number(rig: Rig) -> None:
    memory_id = rig.store("A guess", source=Source.INFERENCE, occurred=When(START_MS - 365 * DAY_MS)).memory_id
    say(rig, "dispute", memory_id, speakers(rig, 1)[0])
    assert state(rig, memory_id) == ("disputed", LOW_TRUST)
    assert rig.store("A guess").operation == "UPDATE"
    assert rig.get(memory_id).trust < 0.5
    assert state(rig, memory_id) == ("active", None)
    say(rig, "dispute", memory_id, speakers_again(rig, "aster"))
    assert state(rig, memory_id) == ("active", None)


def speakers_again(rig: Rig, name: str) -> Actor:
    """A client that is paired already."""
    return Actor("client", str(rig.value("SELECT id FROM clients WHERE name = ?", name)), name)


def test_a_client_may_reinforce_what_the_owner_said(rig: Rig) -> None:
    memory_id = rig.store("The weir opens at noon", source=Source.USER_IMPLICIT).memory_id
    reply = say(rig, "reinforce", memory_id, speakers(rig, 1)[0])
    assert (reply.reinforcements, reply.conflict) == (1, None)
    assert reply.trust == pytest.approx(0.85)


# ---- confirm


def test_a_persons_confirmation_makes_it_young_again(rig: Rig) -> None:
    memory_id = rig.store(
        "The weir opens at noon", source=Source.DOCUMENT, occurred=When(START_MS - 365 * DAY_MS)
    ).memory_id
    later(rig, 100)
    assert rig.get(memory_id).trust == pytest.approx(0.5)
    reply = say(rig, "confirm", memory_id)
    assert rig.get(memory_id).last_confirmed_at == START_MS + 100 * DAY_MS
    assert reply.trust == pytest.approx(0.75)  # the age is gone, and the person's word counts for it


def test_a_clients_confirmation_counts_as_a_reinforcement_and_keeps_the_age(rig: Rig) -> None:
    said = When(START_MS - 365 * DAY_MS)
    memory_id = rig.store("The weir opens at noon", source=Source.DOCUMENT, occurred=said).memory_id
    confirmed = rig.get(memory_id).last_confirmed_at
    later(rig, 1)
    reply = say(rig, "confirm", memory_id, speakers(rig, 1)[0])
    assert rig.get(memory_id).last_confirmed_at == confirmed
    assert reply.reinforcements == 1
    assert reply.trust == pytest.approx(0.65)
    assert rig.value("SELECT verdict FROM verdicts") == "reinforce"


# ---- corroborate


def test_each_session_of_a_client_corroborates_once(rig: Rig) -> None:
    memory_id = guess(rig)
    aster, borage = speakers(rig, 2)
    counts = [
        say(rig, "corroborate", memory_id, who, session=session).corroboration
        for who, session in ((aster, "one"), (aster, "one"), (aster, "two"), (borage, "one"))
    ]
    assert counts == [2, 2, 3, 4]
    assert rig.get(memory_id).trust == pytest.approx(0.65)


def test_the_owner_is_one_source_in_all_sessions(rig: Rig) -> None:
    memory_id = guess(rig)
    assert say(rig, "corroborate", memory_id, session="one").corroboration == 1
    assert say(rig, "corroborate", memory_id, session="two").corroboration == 1


def test_corroboration_adds_a_fifth_at_most(rig: Rig) -> None:
    memory_id = guess(rig)
    aster = speakers(rig, 1)[0]
    for nr in range(7):
        reply = say(rig, "corroborate", memory_id, aster, session=str(nr))
    assert reply.corroboration == 8
    assert reply.trust == pytest.approx(0.7)


def test_corroboration_may_lift_a_disputed_memory_over_the_bar(rig: Rig) -> None:
    memory_id = rig.store("A guess", source=Source.INFERENCE, occurred=When(START_MS - 365 * DAY_MS)).memory_id
    aster = speakers(rig, 1)[0]
    say(rig, "dispute", memory_id, aster)
    assert state(rig, memory_id) == ("disputed", LOW_TRUST)
    assert say(rig, "corroborate", memory_id, aster, session="another").status == "active"


# ---- ceilings


@pytest.mark.parametrize(("grants", "ceiling"), [((), 0.85), (("speak_for_user",), 0.9)])
def test_no_praise_lifts_a_memory_over_its_clients_ceiling(rig: Rig, grants: tuple[str, ...], ceiling: float) -> None:
    aster = rig.client("aster", "read", "write", "space:home", *grants)
    source = Source.USER_EXPLICIT if grants else Source.TOOL_OUTPUT
    memory_id = rig.store("The weir opens at noon", aster, source=source, space="home").memory_id
    for who in (OWNER_ACTOR, *[rig.client(name, "read", "write", "space:home") for name in CLIENTS[1:]]):
        reply = say(rig, "reinforce", memory_id, who)
    assert reply.trust == pytest.approx(ceiling)
    assert say(rig, "confirm", memory_id).trust == pytest.approx(ceiling)


# ---- who may speak


@pytest.mark.parametrize("verb", ALL)
@pytest.mark.parametrize(
    ("grants", "code"),
    [
        (("read",), Code.ACCESS_DENIED),
        (("read", "propose"), Code.ACCESS_DENIED),
        (("read", "write"), None),
        (("read", "curate"), None),
        (("write",), Code.ACCESS_DENIED),
    ],
)
def test_a_voice_needs_write_or_curate(rig: Rig, verb: str, grants: tuple[str, ...], code: Code | None) -> None:
    memory_id = guess(rig)
    actor = rig.client("aster", "space:home", *grants)
    before = rig.dump()
    if code is None:
        say(rig, verb, memory_id, actor)
        assert differences(before, rig.dump()) != {}
        return
    with refused(code):
        say(rig, verb, memory_id, actor)
    assert differences(before, rig.dump()) == {}


@pytest.mark.parametrize("verb", ALL)
def test_what_lies_out_of_reach_is_not_there(rig: Rig, verb: str) -> None:
    memory_id = rig.store("A secret of the attic", space="Attic").memory_id
    actor = rig.client("aster", "read", "write", "space:home")
    with refused(Code.NOT_FOUND):
        say(rig, verb, memory_id, actor)
    with refused(Code.NOT_FOUND):
        say(rig, verb, NEVER)
    assert rig.rows("SELECT * FROM verdicts") == []


@pytest.mark.parametrize("verb", ALL)
def test_a_revoked_client_has_no_voice(rig: Rig, verb: str) -> None:
    memory_id = guess(rig)
    actor = rig.client("aster", "read", "write", "space:home")
    rig.engine.clients.revoke("aster").result(10)
    with refused(Code.UNAUTHENTICATED):
        say(rig, verb, memory_id, actor)


@pytest.mark.parametrize("verb", ALL)
def test_of_what_is_forgotten_or_replaced_nobody_speaks(rig: Rig, verb: str) -> None:
    claim = {"subject": "Ada", "predicate": "lives_in", "exclusive": True}
    old = rig.store("Ada lives in Graz", claim={**claim, "value": "Graz"}).memory_id
    rig.store("Ada lives in Linz", claim={**claim, "value": "Linz"})
    assert state(rig, old)[0] == "superseded"
    with refused(Code.INVALID_INPUT):
        say(rig, verb, old)
    gone = guess(rig)
    rig.forget(gone)
    with refused(Code.NOT_FOUND):
        say(rig, verb, gone)


def test_a_client_corroborates_as_the_person_only_with_the_grant(rig: Rig) -> None:
    memory_id = guess(rig)
    aster = speakers(rig, 1)[0]
    with refused(Code.FORBIDDEN_FIELD):
        say(rig, "corroborate", memory_id, aster, source=Source.USER_EXPLICIT)
    voice = rig.client("speaker", "read", "write", "space:home", "speak_for_user")
    assert say(rig, "corroborate", memory_id, voice, source=Source.USER_EXPLICIT).corroboration == 2


def test_a_reason_has_an_end_and_is_in_no_audit(rig: Rig) -> None:
    memory_id = rig.store("The weir opens at noon").memory_id
    with refused(Code.INVALID_INPUT):
        say(rig, "dispute", memory_id, reason="x" * 513)
    assert state(rig, memory_id)[0] == "active"
    say(rig, "dispute", memory_id, reason=MARKER)
    assert rig.value("SELECT reason FROM verdicts") == MARKER
    assert not any(MARKER in str(row) for row in rig.rows("SELECT * FROM audit"))
    assert not any(MARKER in str(row) for row in rig.rows("SELECT label FROM undo_steps"))


def test_a_locked_vault_hears_nobody(rig: Rig) -> None:
    memory_id = guess(rig)
    rig.lock()
    with refused(Code.VAULT_LOCKED):
        say(rig, "confirm", memory_id)


# ---- the step


@pytest.mark.parametrize("verb", ALL)
def test_a_verdict_is_one_step_that_is_taken_back_whole(rig: Rig, verb: str) -> None:
    claim = {"subject": "Ada", "predicate": "lives_in", "value": "Graz", "exclusive": True}
    memory_id = rig.store("Ada lives in Graz", source=Source.DOCUMENT, claim=claim).memory_id
    aster = speakers(rig, 1)[0]
    say(rig, "reinforce", memory_id, aster)
    before = rig.dump()
    reply = say(rig, verb, memory_id, OWNER_ACTOR if verb != "corroborate" else aster)
    assert differences(before, rig.dump()) != {}
    label = rig.value("SELECT label FROM undo_steps WHERE id = ?", reply.step_id)
    assert label == f"{verb.capitalize()} a memory"
    assert rig.undo().step_id == reply.step_id
    assert differences(before, rig.dump()) == {}


def test_every_part_of_a_long_text_stands_or_falls_together(rig: Rig) -> None:
    long = "".join(f"Sentence {nr} about the lock keeper. " for nr in range(800))
    head = rig.store(long, source=Source.DOCUMENT).memory_id
    parts = [row[0] for row in rig.rows("SELECT id FROM memories WHERE part_of = ?", head) if row[0] != head]
    assert len(parts) > 1
    reply = say(rig, "dispute", parts[-1])
    assert reply.memory_id == head
    assert {row[0] for row in rig.rows("SELECT status FROM memories")} == {"disputed"}
    assert {row[0] for row in rig.rows("SELECT disputes FROM memories")} == {1}
    say(rig, "confirm", head)
    assert {row[0] for row in rig.rows("SELECT status FROM memories")} == {"active"}


def test_an_episode_can_be_spoken_of_too(rig: Rig) -> None:
    memory_id = rig.store("Good morning", kind=Kind.EPISODE).memory_id
    assert say(rig, "reinforce", memory_id).reinforcements == 1


def test_error_futures_carry_the_refusal(rig: Rig) -> None:
    assert error_of(rig.engine.memories.confirm(NEVER, OWNER_ACTOR)).code is Code.NOT_FOUND
