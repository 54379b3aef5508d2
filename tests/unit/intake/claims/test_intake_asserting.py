"""The life of a claim: the ways from state to state, what it follows, its quotes, windows and qualifiers."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from belief_rig import claim as put_claim
from belief_rig import evidence as put_evidence
from engine_rig import START_MS, Rig, refused

from core.errors import Code
from core.intake.claims import (
    EvidenceSource,
    claims_of,
    draft_claim,
    exclusive_rivals,
    find_asserted,
    replace_claim,
    sync_claims,
)
from core.types.belief import ClaimDraft
from core.types.replies import StoreReply
from core.types.values import OWNER_ACTOR, Kind, Source, Status, When
from core.vault.database.tx import Tx

STATES = ("draft", "asserted", "disputed", "retracted", "superseded")
LET = {
    ("draft", "asserted"),
    ("draft", "retracted"),
    ("asserted", "disputed"),
    ("asserted", "retracted"),
    ("asserted", "superseded"),
    ("disputed", "asserted"),
    ("disputed", "retracted"),
    ("disputed", "superseded"),
    ("retracted", "asserted"),
    ("superseded", "asserted"),
}
TEXT = "Ada lives in Graz and keeps bees."


def lives(value: str = "Graz", **more: Any) -> dict[str, Any]:
    """A claim as a caller gives it; one value at a time."""
    return {"subject": "Ada", "predicate": "lives_in", "value": value, "exclusive": True, **more}


def say(rig: Rig, value: str, text: str | None = None, **more: Any) -> StoreReply:
    """The owner says where Ada lives."""
    window = {
        name: more.pop(name) for name in ("valid_from", "valid_to", "qualifiers", "polarity", "scope") if name in more
    }
    return rig.store(text or f"Ada lives in {value}", claim=lives(value, **window), **more)


def states(rig: Rig) -> dict[str, str]:
    """Value to state of all claims."""
    return dict(rig.rows("SELECT value, state FROM claims ORDER BY rowid"))


def go(rig: Rig, claim_id: str, state: str) -> None:
    """Set a claim's state past everything but the schema."""
    rig.write(lambda tx: tx.update("claims", {"id": claim_id}, {"state": state}))


def become(rig: Rig, memory_id: str, status: Status) -> None:
    """A memory's status changes, and its claims follow."""

    def write(tx: Tx) -> None:
        tx.update("memories", {"id": memory_id}, {"status": status.value})
        sync_claims(tx, rig.opened.storage.make_id, [memory_id])

    rig.write(write)


# ---- the ways from state to state, held by the schema


@pytest.mark.parametrize("old", STATES)
@pytest.mark.parametrize("new", STATES)
def test_every_way_from_state_to_state(rig: Rig, old: str, new: str) -> None:
    memory_id = rig.store(TEXT, kind=Kind.EPISODE).memory_id
    claim_id = put_claim(rig, memory_id, "lives_in", "Graz", "lives in Graz", state=old)
    if old == new or (old, new) in LET:
        go(rig, claim_id, new)
        assert rig.value("SELECT state FROM claims") == new
        return
    with refused(Code.INVALID_INPUT):
        go(rig, claim_id, new)
    assert rig.value("SELECT state FROM claims") == old


@pytest.mark.parametrize("state", STATES[1:])
def test_a_claim_is_born_a_draft(rig: Rig, state: str) -> None:
    memory_id = rig.store(TEXT, kind=Kind.EPISODE).memory_id
    claim_id = put_claim(rig, memory_id, "lives_in", "Graz", "lives in Graz", state="draft")
    with refused(Code.INVALID_INPUT):
        rig.write(
            lambda tx: tx.insert("claims", {**(tx.row("claims", {"id": claim_id}) or {}), "id": "two", "state": state})
        )
    assert rig.value("SELECT count(*) FROM claims") == 1


@pytest.mark.parametrize("stance", ["contradicting", "neutral"])
def test_what_speaks_against_a_claim_does_not_carry_it(rig: Rig, stance: str) -> None:
    memory_id = rig.store(TEXT, kind=Kind.EPISODE).memory_id
    claim_id = put_claim(rig, memory_id, "lives_in", "Graz", "lives in Graz", state="draft")
    quote = rig.value("SELECT id FROM evidence")
    rig.write(lambda tx: tx.delete("evidence", {"id": quote}))
    put_evidence(rig, claim_id, memory_id, "Graz", stance)
    with refused(Code.INVALID_INPUT):
        go(rig, claim_id, "asserted")


# ---- a claim follows its memory


def test_a_memory_that_stands_asserts_what_it_says(rig: Rig) -> None:
    reply = say(rig, "Graz")
    assert states(rig) == {"Graz": "asserted"}
    assert rig.value("SELECT asserted_at FROM claims") == START_MS
    found = rig.opened.storage.vault.read(lambda rows: claims_of(rows, [reply.memory_id]))
    assert found == [rig.value("SELECT id FROM claims")]


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (Status.DISPUTED, "disputed"),
        (Status.SUPERSEDED, "superseded"),
        (Status.ARCHIVED, "retracted"),
        (Status.DELETED, "retracted"),
        (Status.QUARANTINED, "retracted"),
    ],
)
def test_it_goes_with_its_memory_and_comes_back_with_it(rig: Rig, status: Status, state: str) -> None:
    memory_id = say(rig, "Graz").memory_id
    become(rig, memory_id, status)
    assert states(rig) == {"Graz": state}
    assert (rig.value("SELECT retired_at FROM claims") is None) == (state == "disputed")
    become(rig, memory_id, Status.ACTIVE)
    assert states(rig) == {"Graz": "asserted"}
    assert rig.value("SELECT retired_at FROM claims") is None


def test_a_proposals_claim_stays_a_draft_until_it_is_let_in(rig: Rig) -> None:
    shy = rig.client("Shy", "read", "propose", "space:home")
    rig.store("Ada lives in Graz", shy, space="home", claim=lives())
    assert states(rig) == {"Graz": "draft"}


def test_a_claim_stands_while_one_of_its_memories_does(rig: Rig) -> None:
    first = say(rig, "Graz").memory_id
    claim_id = str(rig.value("SELECT id FROM claims"))
    other = rig.store("Graz is where Ada lives.", kind=Kind.EPISODE).memory_id
    put_evidence(rig, claim_id, other, "Graz is where Ada lives")
    become(rig, first, Status.ARCHIVED)
    assert states(rig) == {"Graz": "asserted"}
    become(rig, other, Status.ARCHIVED)
    assert states(rig) == {"Graz": "retracted"}


def test_a_claim_that_another_replaced_does_not_come_back_beside_it(rig: Rig) -> None:
    first = say(rig, "Graz").memory_id
    say(rig, "Linz")
    assert states(rig) == {"Graz": "superseded", "Linz": "asserted"}
    with refused(Code.INVALID_INPUT):
        go(rig, str(rig.value("SELECT id FROM claims WHERE value = 'Graz'")), "asserted")
    become(rig, first, Status.ACTIVE)
    assert states(rig) == {"Graz": "superseded", "Linz": "asserted"}


def test_a_replaced_claim_names_its_successor_and_ends_when_that_begins(rig: Rig) -> None:
    say(rig, "Graz", occurred=When(START_MS - 1000))
    say(rig, "Linz", occurred=When(START_MS))
    old, new = rig.rows("SELECT id, superseded_by_id, valid_to, retired_at FROM claims ORDER BY rowid")
    assert old[1:] == (new[0], START_MS, START_MS)
    assert new[1:] == (None, None, None)


def test_two_memories_of_one_claim_hold_one_asserted_claim(rig: Rig) -> None:
    say(rig, "Graz")
    aster = rig.client("aster", "read", "write", "space:home")
    reply = rig.store("Graz is where Ada lives", aster, space="home", claim=lives())
    assert reply.deduplicated
    assert rig.rows("SELECT count(*), min(state) FROM claims") == [(1, "asserted")]


def test_of_what_was_retired_nothing_is_retired_again(rig: Rig) -> None:
    say(rig, "Graz")
    claim_id = str(rig.value("SELECT id FROM claims"))
    assert rig.write(lambda tx: replace_claim(tx, claim_id, None, START_MS + 5)) is True
    assert rig.write(lambda tx: replace_claim(tx, claim_id, None, START_MS + 9)) is False
    assert rig.write(lambda tx: replace_claim(tx, "no such claim", None, None)) is False
    assert rig.rows("SELECT state, valid_to FROM claims") == [("superseded", START_MS + 5)]


@pytest.mark.parametrize(("own_end", "kept"), [(START_MS + 3, START_MS + 3), (START_MS + 30, START_MS + 9)])
def test_an_end_that_is_stated_and_sooner_stays(rig: Rig, own_end: int, kept: int) -> None:
    memory_id = rig.store(TEXT, kind=Kind.EPISODE).memory_id
    claim_id = put_claim(rig, memory_id, "lives_in", "Graz", "lives in Graz", valid_from=START_MS, valid_to=own_end)
    rig.write(lambda tx: replace_claim(tx, claim_id, None, START_MS + 9))
    assert rig.value("SELECT valid_to FROM claims") == kept


def test_a_claim_never_ends_before_it_begins(rig: Rig) -> None:
    memory_id = rig.store(TEXT, kind=Kind.EPISODE).memory_id
    claim_id = put_claim(rig, memory_id, "lives_in", "Graz", "lives in Graz", valid_from=START_MS)
    rig.write(lambda tx: replace_claim(tx, claim_id, None, START_MS - 9))
    assert rig.rows("SELECT valid_from, valid_to FROM claims") == [(START_MS, START_MS)]


# ---- one value at a time: windows, qualifiers, scope, polarity

APART: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("windows that follow each other", {"valid_to": "2020-01-01"}, {"valid_from": "2020-01-01"}),
    ("windows with a gap", {"valid_to": "2019"}, {"valid_from": "2021"}),
    ("qualifiers", {"qualifiers": {"when": "summer"}}, {"qualifiers": {"when": "winter"}}),
    ("one qualifier", {}, {"qualifiers": {"when": "winter"}}),
    ("a session", {}, {"scope": "session", "session": "tonight"}),
]
AT_ODDS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("no window", {}, {}),
    ("windows that overlap", {"valid_to": "2020-01-02"}, {"valid_from": "2020-01-01"}),
    ("an open end", {"valid_from": "2019"}, {"valid_from": "2021"}),
    ("the same qualifiers", {"qualifiers": {"when": "summer"}}, {"qualifiers": {"when": "summer"}}),
    ("the same session", {"scope": "session", "session": "tonight"}, {"scope": "session", "session": "tonight"}),
]


@pytest.mark.parametrize(("first", "second"), [row[1:] for row in APART], ids=[row[0] for row in APART])
def test_both_hold_where_they_cannot_meet(rig: Rig, first: dict[str, Any], second: dict[str, Any]) -> None:
    say(rig, "Graz", **first)
    reply = say(rig, "Linz", **second)
    assert (reply.operation, reply.superseded) == ("ADD", ())
    assert states(rig) == {"Graz": "asserted", "Linz": "asserted"}


@pytest.mark.parametrize(("first", "second"), [row[1:] for row in AT_ODDS], ids=[row[0] for row in AT_ODDS])
def test_the_later_one_holds_where_they_meet(rig: Rig, first: dict[str, Any], second: dict[str, Any]) -> None:
    old = say(rig, "Graz", **first).memory_id
    reply = say(rig, "Linz", **second)
    assert (reply.operation, reply.superseded) == ("SUPERSEDE", (old,))
    assert states(rig) == {"Graz": "superseded", "Linz": "asserted"}


def test_what_is_not_exclusive_never_contradicts(rig: Rig) -> None:
    for value in ("bees", "hens", "goats"):
        claim = {"subject": "Ada", "predicate": "keeps", "value": value, "exclusive": False}
        assert rig.store(f"Ada keeps {value}", claim=claim).operation == "ADD"
    assert set(states(rig).values()) == {"asserted"}


def test_a_denial_ends_what_it_denies_and_nothing_else(rig: Rig) -> None:
    graz = say(rig, "Graz").memory_id
    bees = rig.store("Ada keeps bees", claim={"subject": "Ada", "predicate": "keeps", "value": "bees"}).memory_id
    reply = say(rig, "Graz", "Ada does not live in Graz any more", polarity="negative")
    assert reply.superseded == (graz,)
    assert rig.get(bees).status is Status.ACTIVE
    rows = rig.rows("SELECT polarity, state FROM claims WHERE predicate = 'lives_in' ORDER BY rowid")
    assert rows == [("positive", "superseded"), ("negative", "asserted")]


def test_a_session_claim_supersedes_nothing_global_whoever_says_it(rig: Rig) -> None:
    guess = rig.store("Ada lives in Graz", source=Source.INFERENCE, claim=lives()).memory_id
    say(rig, "Linz", scope="session", session="tonight")
    assert rig.get(guess).status is Status.ACTIVE
    assert rig.rows("SELECT value, scope_session, state FROM claims ORDER BY rowid") == [
        ("Graz", "", "asserted"),
        ("Linz", "tonight", "asserted"),
    ]


def test_a_session_claim_needs_its_session(rig: Rig) -> None:
    with refused(Code.INVALID_INPUT):
        rig.store("Ada lives in Graz", claim=lives(scope="session"))


def test_another_space_is_another_matter(rig: Rig) -> None:
    say(rig, "Graz", space="Work")
    assert say(rig, "Linz", space="Attic").operation == "ADD"
    assert set(states(rig).values()) == {"asserted"}


def test_spelling_makes_no_second_value(rig: Rig) -> None:
    first = say(rig, "Graz").memory_id
    reply = say(rig, "GRAZ", "Ada lives in GRAZ!")
    assert (reply.deduplicated, reply.memory_id) == (True, first)


def test_qualifiers_are_part_of_what_a_claim_says(rig: Rig) -> None:
    say(rig, "Graz", qualifiers={"when": "summer", "who": ["Ada"]})
    held = rig.rows("SELECT qualifiers FROM claims")[0][0]
    assert json.loads(held) == {"when": "summer", "who": ["Ada"]}
    again = say(rig, "Graz", "In summer Ada lives in Graz", qualifiers={"who": ["Ada"], "when": "summer"})
    assert again.deduplicated
    assert not say(rig, "Graz", "In winter Ada lives in Graz", qualifiers={"when": "winter"}).deduplicated


def test_what_excludes_a_claim_is_named(rig: Rig) -> None:
    say(rig, "Graz")
    waiting = rig.store("Ada may live in Linz", kind=Kind.EPISODE).memory_id
    put_claim(rig, waiting, "lives_in", "Linz", "live in Linz", state="draft", subject="Ada")

    def ask(tx: Tx) -> tuple[list[str], list[str], str | None]:
        graz, linz = (
            tx.row("claims", {"id": str(row[0])}) or {} for row in tx.all("SELECT id FROM claims ORDER BY rowid")
        )
        free = {**linz, "exclusive": 0}
        return (
            exclusive_rivals(tx, linz),
            exclusive_rivals(tx, free),
            find_asserted(tx, graz["space_id"], graz["claim_key"]),
        )

    excluded, free, standing = rig.write(ask)
    graz_id = rig.value("SELECT id FROM claims WHERE value = 'Graz'")
    assert (excluded, free, standing) == ([graz_id], [], graz_id)


# ---- quotes


def _draft(rig: Rig, memory_id: str, start: int, end: int) -> str | None:
    draft = ClaimDraft("Ada", "lives_in", "Graz", exclusive=True, start=start, end=end)
    found: str | None = rig.write(
        lambda tx: draft_claim(tx, draft, EvidenceSource(memory_id, TEXT, "home", "owner", START_MS), ("c", "e"))
    )
    return found


def test_a_quote_is_exactly_what_the_text_says_there(rig: Rig) -> None:
    memory_id = rig.store(TEXT, kind=Kind.EPISODE).memory_id
    space = rig.value("SELECT space_id FROM memories")
    draft = ClaimDraft("Ada", "lives_in", "Graz", exclusive=True, start=4, end=17)
    on = EvidenceSource(memory_id, TEXT, str(space), "owner", START_MS)
    assert rig.write(lambda tx: draft_claim(tx, draft, on, ("c", "e"))) == "c"
    quote, start, end, digest = rig.rows("SELECT quote, start_at, end_at, span_hash FROM evidence")[0]
    assert (quote, start, end) == ("lives in Graz", 4, 17)
    assert bytes(digest) == hashlib.sha256(b"lives in Graz").digest()
    assert rig.value("SELECT state FROM claims") == "draft"


@pytest.mark.parametrize(("start", "end"), [(5, 5), (9, 4), (-3, 4), (500, 600), (len(TEXT), len(TEXT) + 1)])
def test_a_span_that_is_no_quote_makes_no_claim(rig: Rig, start: int, end: int) -> None:
    memory_id = rig.store(TEXT, kind=Kind.EPISODE).memory_id
    assert _draft(rig, memory_id, start, end) is None
    assert rig.rows("SELECT * FROM claims") == rig.rows("SELECT * FROM evidence") == []


def test_every_quote_of_a_vault_is_in_its_text(rig: Rig) -> None:
    for value in ("Graz", "Linz", "Graz"):
        say(rig, value)
    say(rig, "Wien", "Ada lives in Wien — ganz\u00a0nah 🏛 am Fluss")
    for quote, start, end, text in rig.rows(
        "SELECT e.quote, e.start_at, e.end_at, m.text FROM evidence e JOIN memories m ON m.id = e.memory_id"
    ):
        assert text[start:end] == quote


# ---- one text, several claims


def test_a_value_that_returns_is_a_new_version_of_the_chain(rig: Rig) -> None:
    first = say(rig, "Graz").memory_id
    second = say(rig, "Linz").memory_id
    reply = say(rig, "Graz")
    assert (reply.operation, reply.superseded) == ("SUPERSEDE", (second,))
    assert reply.memory_id not in (first, second)
    history = rig.engine.memories.list_versions(reply.memory_id, OWNER_ACTOR).result(30)
    assert [memory.text.split()[-1] for memory in history] == ["Graz", "Linz", "Graz"]
    assert [memory.version for memory in history] == [1, 2, 3]
    assert rig.rows("SELECT value FROM claims WHERE state = 'asserted'") == [("Graz",)]


def test_the_order_of_arrival_does_not_matter(rig: Rig) -> None:
    days = {"Graz": 1, "Linz": 2, "Wien": 3}
    for value in ("Wien", "Graz", "Linz"):
        say(rig, value, occurred=When(START_MS + days[value] * 86_400_000))
    assert rig.texts() == ["Ada lives in Wien"]
    assert states(rig)["Wien"] == "asserted"
    assert "asserted" not in (states(rig)["Graz"], states(rig)["Linz"])
    standing = str(rig.value("SELECT id FROM memories WHERE status = 'active'"))
    history = rig.engine.memories.list_versions(standing, OWNER_ACTOR).result(30)
    assert {memory.text.split()[-1] for memory in history} == {"Graz", "Linz", "Wien"}
