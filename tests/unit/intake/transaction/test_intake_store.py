"""Storing one text for the owner: what becomes of it, twice, long, with a claim, with a request id."""

from __future__ import annotations

from typing import Any

import pytest
from engine_rig import START_MS, Rig, refused

from core.errors import Code
from core.intake.transaction.admission import PART_BYTES
from core.types.values import OWNER_ACTOR, Kind, Precision, Role, Source, Status, When

CLAIM: dict[str, Any] = {"subject": "Ada", "predicate": "lives_in", "value": "Graz", "exclusive": True}
LONG = "".join(f"Sentence {n} of the long letter about the harbour. " for n in range(4000))


def count(rig: Rig, table: str) -> int:
    return int(rig.value(f"SELECT count(*) FROM {table}"))  # noqa: S608


def test_a_fact_of_the_owner(rig: Rig) -> None:
    reply = rig.store("  Ada keeps bees\n", tags=("bees",), importance=0.9, ref="r", session="s")
    assert (reply.operation, reply.deduplicated, reply.superseded, reply.conflict) == ("ADD", False, (), None)
    memory = rig.get(reply.memory_id)
    assert memory.text == "  Ada keeps bees\n"
    assert (memory.kind, memory.status, memory.space) == (Kind.FACT, Status.ACTIVE, "home")
    assert (memory.source, memory.role, memory.trust) == (Source.USER_EXPLICIT, Role.USER, 1.0)
    assert (memory.occurred, memory.recorded_at, memory.last_confirmed_at) == (When(START_MS), START_MS, START_MS)
    assert (memory.importance, memory.tags, memory.ref, memory.session) == (0.9, ("bees",), "r", "s")
    assert rig.found("bees") == [memory.text]


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_can_be_stored(rig: Rig, kind: Kind) -> None:
    memory = rig.get(rig.store("Water the plants", kind=kind).memory_id)
    assert memory.kind is kind


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", Code.INVALID_INPUT),
        ("\n \t", Code.INVALID_INPUT),
        ("a\0b", Code.INVALID_INPUT),
        ("\ud800", Code.INVALID_INPUT),
    ],
)
def test_a_refused_text_leaves_nothing(rig: Rig, text: str, code: Code) -> None:
    before = rig.dump()
    with refused(code):
        rig.store(text)
    assert rig.dump() == before
    assert count(rig, "undo_steps") == 0


@pytest.mark.parametrize(
    "more",
    [
        {"importance": 1.5},
        {"importance": float("nan")},
        {"space": ""},
        {"space": "a\nb"},
        {"ref": "a\0"},
        {"author": "\ud800"},
        {"category": "x" * 2000},
        {"tags": ("ok", "\udfff")},
        {"session": "x\0"},
        {"claim": {"subject": "Ada"}},
        {"claim": {**CLAIM, "valid_from": "2025", "valid_to": "2024"}},
        {"claim": {**CLAIM, "subject": "\ud800"}},
    ],
)
def test_a_refused_request_leaves_nothing(rig: Rig, more: dict[str, Any]) -> None:
    before = rig.dump()
    with refused(Code.INVALID_INPUT):
        rig.store("A good text", **more)
    assert rig.dump() == before


def test_the_same_fact_is_known(rig: Rig) -> None:
    first = rig.store("Ada keeps bees")
    again = rig.store("Ada keeps bees")
    assert (again.operation, again.deduplicated, again.memory_id) == ("NOOP", True, first.memory_id)
    assert again.classification.label == "DUPLICATE"
    assert rig.texts() == ["Ada keeps bees"]


@pytest.mark.parametrize("other", [{"text": "ada keeps bees"}, {"kind": Kind.RULE}, {"space": "Work"}])
def test_another_text_kind_or_space_is_another_fact(rig: Rig, other: dict[str, Any]) -> None:
    rig.store("Ada keeps bees")
    assert rig.store(**{"text": "Ada keeps bees", **other}).operation == "ADD"


def test_an_independent_source_raises_trust_and_the_same_does_not(rig: Rig) -> None:
    claude = rig.client("Claude", "read", "write", "space:home", session="one")
    fact = rig.store("The boiler leaks", claude, space="home").memory_id
    assert (rig.get(fact).trust, rig.get(fact).corroboration) == (0.5, 1)

    rig.store("The boiler leaks", claude, space="home")
    assert (rig.get(fact).trust, rig.get(fact).corroboration) == (0.5, 1)

    rig.store("The boiler leaks")
    assert (rig.get(fact).trust, rig.get(fact).corroboration) == (0.55, 2)
    rig.store("The boiler leaks", session="another evening")  # the owner is one source in all sessions
    assert (rig.get(fact).trust, rig.get(fact).corroboration) == (0.55, 2)

    other = rig.client("Cursor", "read", "write", "space:home")
    rig.store("The boiler leaks", other, space="home")
    memory = rig.get(fact)
    assert (round(memory.trust, 6), memory.confidence, memory.corroboration) == (0.6, memory.trust, 3)
    detail = rig.engine.memories.show(fact, other).result(10)
    assert sorted(source["client"] or "" for source in detail.sources) == ["", "Claude", "Cursor"]
    assert dict(detail.trust_terms)["corroboration"] == pytest.approx(0.1)


def test_age_takes_trust_off(rig: Rig) -> None:
    day = 86_400_000
    said = When(START_MS - 365 * day, Precision.DAY)
    memory = rig.get(rig.store("Long ago", source=Source.DOCUMENT, occurred=said).memory_id)
    assert memory.trust == pytest.approx(0.5)
    future = rig.get(rig.store("To come", source=Source.DOCUMENT, occurred=When(START_MS + 90 * day)).memory_id)
    assert future.trust == pytest.approx(0.6)


def test_episodes_are_verbatim_and_may_repeat(rig: Rig) -> None:
    ids = {rig.store("Good morning", kind=Kind.EPISODE).memory_id for _ in range(3)}
    assert len(ids) == 3
    assert rig.texts() == ["Good morning"] * 3


def test_a_forgotten_fact_is_stored_anew(rig: Rig) -> None:
    first = rig.store("Ada keeps bees").memory_id
    rig.forget(first)
    again = rig.store("Ada keeps bees")
    assert (again.operation, again.memory_id == first) == ("ADD", False)
    assert rig.texts(None) == ["Ada keeps bees"] * 2


@pytest.mark.slow
def test_a_long_text_is_kept_whole_in_linked_parts(rig: Rig) -> None:
    assert len(LONG) > 200_000
    reply = rig.store(LONG)
    parts = rig.rows("SELECT id, text, part_of, part_index, chain_id FROM memories ORDER BY part_index")
    assert "".join(part[1] for part in parts) == LONG
    assert len(parts) > 20
    assert all(len(part[1].encode()) <= PART_BYTES for part in parts)
    assert {part[2] for part in parts} == {part[4] for part in parts} == {reply.memory_id}
    assert [part[3] for part in parts] == list(range(len(parts)))
    assert rig.engine.memories.show(parts[3][0], OWNER_ACTOR).result(10).parts == tuple(part[0] for part in parts)
    assert count(rig, "embeddings") == len(parts)

    rig.forget(parts[5][0])
    assert {row[0] for row in rig.rows("SELECT status FROM memories")} == {"deleted"}
    rig.undo()
    assert {row[0] for row in rig.rows("SELECT status FROM memories")} == {"active"}


@pytest.mark.slow
def test_the_same_long_fact_is_known_too(rig: Rig) -> None:
    first = rig.store(LONG)
    rows = count(rig, "memories")
    claude = rig.client("Claude", "read", "write", "all_spaces")
    again = rig.store(LONG)
    assert (again.deduplicated, again.memory_id, count(rig, "memories")) == (True, first.memory_id, rows)
    assert rig.store(LONG + "And one more.").operation == "ADD"
    start = rig.get(first.memory_id).text
    assert rig.store(start, claude, space="home").operation == "ADD"  # the first part alone is another text
    assert rig.store(LONG, kind=Kind.EPISODE).operation == "ADD"


def test_a_claim_is_asserted_with_its_evidence(rig: Rig) -> None:
    reply = rig.store("Ada moved to Graz", claim={**CLAIM, "valid_from": "2024-05"})
    (claim,) = rig.engine.memories.show(reply.memory_id, OWNER_ACTOR).result(10).claims
    assert {name: claim[name] for name in CLAIM} == CLAIM
    assert (claim["state"], claim["polarity"], claim["confidence"]) == ("asserted", "positive", 1.0)
    assert [piece["quote"] for piece in claim["evidence"]] == ["Ada moved to Graz"]
    memory = rig.get(reply.memory_id)
    assert memory.valid_from == claim["valid_from"] == 1_714_521_600_000


def test_a_claim_given_later_is_not_lost(rig: Rig) -> None:
    first = rig.store("Ada moved to Graz").memory_id
    assert rig.store("Ada moved to Graz", claim=CLAIM).memory_id == first
    rig.store("Ada moved to Graz", claim=CLAIM)
    rig.store("Ada moved to Graz", claim={**CLAIM, "predicate": "moved_to"})
    claims = rig.engine.memories.show(first, OWNER_ACTOR).result(10).claims
    assert sorted(claim["predicate"] for claim in claims) == ["lives_in", "moved_to"]


def test_the_owner_s_space_is_made(rig: Rig) -> None:
    reply = rig.store("Ship it on Friday", space="Work")
    assert rig.get(reply.memory_id).space == "Work"
    assert rig.store("To everybody", space="GLOBAL").operation == "ADD"
    assert sorted(row[0] for row in rig.rows("SELECT name FROM spaces")) == ["GLOBAL", "Work", "home"]
    assert rig.found("Friday", spaces=("home",)) == []


def test_a_request_id_makes_a_call_happen_once(rig: Rig) -> None:
    first = rig.store("Good evening", kind=Kind.EPISODE, request_id="a")
    steps = count(rig, "undo_steps")
    again = rig.store("Good evening", kind=Kind.EPISODE, request_id="a")
    assert again == first
    assert (rig.texts(), count(rig, "undo_steps")) == (["Good evening"], steps)
    assert rig.store("Good evening", kind=Kind.EPISODE, request_id="b").memory_id != first.memory_id


@pytest.mark.parametrize(
    "other",
    [
        {"text": "Other"},
        {"kind": Kind.RULE},
        {"space": "Work"},
        {"ref": "r"},
        {"category": "c"},
        {"importance": 0.1},
        {"tags": ("t",)},
        {"session": "s"},
        {"occurred": When(1)},
        {"claim": {"subject": "user", "predicate": "is", "value": "here"}},
        {"source": Source.SYSTEM},
        {"author": "a"},
    ],
)
def test_a_request_id_cannot_mean_two_things(rig: Rig, other: dict[str, Any]) -> None:
    rig.store("Good evening", request_id="a")
    before = rig.dump()
    with refused(Code.INVALID_INPUT):
        rig.store(**{"text": "Good evening", "request_id": "a", **other})
    assert rig.dump() == before


def test_a_request_id_outlives_a_lock_and_an_undo(rig: Rig) -> None:
    first = rig.store("Good evening", request_id="a")
    rig.undo()
    rig.lock()
    rig.unlock()
    assert rig.store("Good evening", request_id="a") == first
    assert rig.texts(None) == []


def test_request_ids_of_two_actors_do_not_meet(rig: Rig) -> None:
    one, two = (rig.client(name, "read", "write") for name in ("one", "two"))
    ids = {rig.store("Hello", actor, request_id="a").memory_id for actor in (one, two)}
    assert len({*ids, rig.store("Hello", request_id="a").memory_id}) == 3


def test_one_store_is_one_change(rig: Rig) -> None:
    seq = rig.opened.storage.vault.seq
    rig.store("Ada keeps bees", space="New", claim=CLAIM)
    assert rig.opened.storage.vault.seq == seq + 1
    ((verb, label, actor, is_open, expires),) = rig.rows(
        "SELECT verb, label, actor, is_open, expires_at FROM undo_steps"
    )
    assert (verb, label, actor, is_open) == ("store", "Remember a fact", "owner", 0)
    assert expires == START_MS + 90 * 86_400_000
    assert rig.rows("SELECT actor, verb FROM audit") == [("owner", "store")]
