"""The parts of intake by themselves: the unit of work, the inputs of trust, the parts of a text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import START_MS, HandClock, Rig, refused, rig_at

from core.errors import BugError, Code, UserError
from core.intake.store.import_batch import ImportTally, identity_digest, tally_from, tally_json
from core.intake.transaction.admission import split_draft
from core.intake.transaction.sources import refresh_trust, trust_terms_of
from core.intake.transaction.unit_of_work import UnitOfWork, Verb
from core.intake.transitions.review_items import open_review
from core.memory.write import Draft, insert_memories
from core.score.trust import age_days
from core.types.values import OWNER_ACTOR, Kind, Role, Source, Status, When
from core.vault.database.tx import Tx

DAY = 86_400_000


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, clock=HandClock(START_MS)) as rig:
        yield rig


def space(tx: Tx, name: str) -> None:
    tx.insert("spaces", {"id": name, "name": name, "created_at": tx.now_ms})


def journal(rig: Rig) -> tuple[int, int, int]:
    tables = ("audit", "undo_steps", "undo_rows")
    one, two, three = (int(rig.value(f"SELECT count(*) FROM {table}")) for table in tables)  # noqa: S608
    return one, two, three


def test_a_verb_writes_rows_audit_and_step_together(rig: Rig) -> None:
    work: UnitOfWork = rig.opened.storage.work

    def write(tx: Tx) -> None:
        with work.verb(tx, "make", "Make spaces", OWNER_ACTOR) as verb:
            space(tx, "a")
            space(tx, "b")
            verb.note_audit("a", first=1)
            verb.note_audit(second=[1, 2])
            assert verb.changes == 2
        assert tx.recorder is None

    rig.write(write)
    assert journal(rig) == (1, 1, 2)
    assert rig.rows("SELECT actor, verb, object, detail FROM audit") == [
        ("owner", "make", "a", '{"first":1,"rows":2,"second":[1,2]}')
    ]
    images = rig.rows("SELECT nr, tbl, row_key, before, after, length(after_hash) FROM undo_rows ORDER BY nr")
    assert images == [(0, "spaces", '{"id":"a"}', None, None, 16), (1, "spaces", '{"id":"b"}', None, None, 16)]
    rig.undo()
    assert rig.rows("SELECT name FROM spaces ORDER BY name") == [("GLOBAL",), ("home",)]


def test_a_verb_that_fails_leaves_nothing(rig: Rig) -> None:
    def write(tx: Tx) -> None:
        with rig.opened.storage.work.verb(tx, "make", "Make spaces", OWNER_ACTOR):
            space(tx, "a")
            raise UserError(Code.INVALID_INPUT, "No.")

    with refused(Code.INVALID_INPUT):
        rig.write(write)
    assert journal(rig) == (0, 0, 0)
    assert rig.value("SELECT count(*) FROM spaces") == 2


def test_a_verb_that_changes_nothing_is_audited_and_is_no_step(rig: Rig) -> None:
    actor = rig.client("bot", "read")
    audited, *rest = journal(rig)

    def write(tx: Tx) -> None:
        with rig.opened.storage.work.verb(tx, "look", "Look", actor):
            pass

    rig.write(write)
    assert journal(rig) == (audited + 1, *rest)
    assert rig.value("SELECT actor FROM audit WHERE verb = 'look'") == f"client:{actor.client_id}"


@pytest.mark.parametrize("shut", ["pause", "revoke"])
def test_who_was_shut_out_since_it_asked_writes_nothing(rig: Rig, shut: str) -> None:
    actor = rig.client("bot", "read", "write")
    getattr(rig.engine.clients, shut)("bot").result(30)
    before = journal(rig)

    def write(tx: Tx) -> None:
        with rig.opened.storage.work.verb(tx, "look", "Look", actor):
            raise AssertionError("it got in")

    with refused(Code.UNAUTHENTICATED):
        rig.write(write)
    assert journal(rig) == before


def test_memory_text_in_an_audit_row_is_refused_with_all_of_its_verb(rig: Rig) -> None:
    def write(tx: Tx) -> None:
        with rig.opened.storage.work.verb(tx, "make", "Make spaces", OWNER_ACTOR) as verb:
            space(tx, "a")
            verb.note_audit("a", text="Words of a memory, with blanks")

    with pytest.raises(BugError):
        rig.write(write)
    assert rig.value("SELECT count(*) FROM spaces") == 2


def test_a_step_can_go_on_in_a_later_transaction(rig: Rig) -> None:
    work: UnitOfWork = rig.opened.storage.work
    for name, goes_on in (("a", True), ("b", True), ("c", False)):

        def write(tx: Tx, name: str = name, goes_on: bool = goes_on) -> None:
            with work.verb(tx, "make", "Make spaces", OWNER_ACTOR, step_id="step-1", keep_open=goes_on):
                space(tx, name)

        rig.write(write)
        assert rig.rows("SELECT id, is_open FROM undo_steps") == [("step-1", int(goes_on))]
    assert [row[0] for row in rig.rows("SELECT nr FROM undo_rows")] == [0, 1, 2]
    rig.undo("step-1")
    assert rig.value("SELECT count(*) FROM spaces") == 2


def test_the_age_that_counts_in_trust(rig: Rig) -> None:
    assert age_days(START_MS, None) == 0.0
    assert age_days(START_MS, START_MS + DAY) == 0.0
    assert age_days(START_MS, START_MS - 3 * DAY) == 3.0
    said = When(START_MS - 200 * DAY)
    memory = rig.store("Long ago", source=Source.DOCUMENT, occurred=said).memory_id
    assert rig.opened.storage.vault.read(lambda rows: trust_terms_of(rows, memory, START_MS)).age == pytest.approx(
        -200 / 3650
    )

    # A confirmation by a person makes it young again; being stored does not.
    rig.write(lambda tx: tx.update("memories", {"id": memory}, {"last_confirmed_at": START_MS + 10 * DAY}))
    later = START_MS + 20 * DAY
    assert rig.opened.storage.vault.read(lambda rows: trust_terms_of(rows, memory, later)).age == pytest.approx(
        -10 / 3650
    )


def test_a_derived_memory_is_trusted_no_more_than_what_it_comes_from(rig: Rig) -> None:
    weak = rig.store("A guess", source=Source.INFERENCE).memory_id
    derived = rig.store("What follows").memory_id

    def derive(tx: Tx) -> float:
        tx.insert(
            "derivations", {"derived_id": derived, "source_id": weak, "space_id": "home", "recorded_at": tx.now_ms}
        )
        return refresh_trust(tx, derived)

    assert rig.write(derive) == 0.5
    assert (rig.get(derived).trust, rig.get(derived).confidence) == (0.5, 0.5)
    with pytest.raises(BugError):
        rig.write(lambda tx: refresh_trust(tx, "nobody"))


def test_parts_are_linked_to_their_head() -> None:
    names = iter(("p1", "p2"))
    draft = Draft(
        id="h",
        text="abc",
        kind=Kind.FACT,
        status=Status.ACTIVE,
        space_id="home",
        source=Source.DOCUMENT,
        role=Role.SOURCE,
        lineage="l",
        recorded_at=1,
        trust=0.5,
        last_confirmed_at=1,
        ref="r",
    )
    whole = split_draft(draft, ("a", "b", "c"), lambda: next(names))
    assert [(part.id, part.text, part.part_of, part.part_index, part.chain_id) for part in whole.drafts] == [
        ("h", "a", "h", 0, "h"),
        ("p1", "b", "h", 1, "h"),
        ("p2", "c", "h", 2, "h"),
    ]
    assert {part.ref for part in whole.drafts} == {"r"}
    assert split_draft(draft, ("abc",), lambda: "x").drafts == (draft,)


def test_identities_of_two_spaces_do_not_meet() -> None:
    assert (
        len(
            {
                identity_digest("a", "bc"),
                identity_digest("ab", "c"),
                identity_digest("", "abc"),
                identity_digest("a", "bc\ud800"),
            }
        )
        == 4
    )
    assert len(identity_digest("home", "chatgpt:1:2")) == 32


def test_a_tally_survives_its_row() -> None:
    tally = ImportTally(3, 1)
    tally.skipped["known"] = 7
    assert tally_from(json.loads(json.dumps(tally_json(tally)))) == tally
    assert tally_from({}) == ImportTally()


def test_a_verb_tells_what_it_brought_in_and_whether_it_asks(rig: Rig) -> None:
    verb = rig.write(lambda tx: Verb(tx, "step", lambda: None))
    verb.record_change("memories", {"id": "old"}, {"id": "old"}, {"id": "old"})
    verb.record_change("conflicts", {"id": "item"}, {"id": "item"}, {"id": "item"})
    assert (verb.brought, verb.asks) == (set(), False)
    verb.record_change("memories", {"n": 7}, None, {"n": 7, "id": "new"})
    verb.record_change("conflicts", {"id": "asked"}, None, {"id": "asked"})
    assert (verb.brought, verb.asks, verb.changes) == ({"new"}, True, 4)


def test_what_is_asked_of_a_newcomer_closes_with_it_in_the_same_verb(rig: Rig) -> None:
    """Moot items are looked for also about a memory that the very verb brought, once it asked something."""
    opened = rig.opened

    def write(tx: Tx) -> tuple[str, ...]:
        with opened.storage.work.verb(tx, "store", "Stored", OWNER_ACTOR) as verb:
            search = opened.search
            transitions = search.store_service.make_transitions(tx, verb, search.add_vectors)
            waiting = Draft(
                id="m",
                text="The boat leaves at nine.",
                kind=Kind.FACT,
                status=Status.QUARANTINED,
                space_id=str(tx.value("SELECT id FROM spaces")),
                source=Source.DOCUMENT,
                role=Role.SOURCE,
                lineage="l",
                recorded_at=1,
                trust=0.5,
                last_confirmed_at=1,
                ref="r",
            )
            insert_memories(tx, [waiting])
            assert transitions.close_moot(["m"]) == ()
            open_review(tx, "item", "m", "proposal", "proposed")
            tx.update("memories", {"id": "m"}, {"status": "archived", "status_reason": "rejected"})
            return transitions.close_moot(["m"])

    assert rig.write(write) == ("item",)
