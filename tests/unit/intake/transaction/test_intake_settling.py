"""What is judged after it came in: imports in the background, proposals; what is left behind, and what undo takes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_rig import START_MS, Rig, differences, later, refused, rig_at
from readers_rig import Table, sure

from core.belief.extract.extraction import extract_claims
from core.engine.imports.comparison import compare_imported
from core.errors import Code
from core.intake.claims import TextReaders
from core.types.belief import Label
from core.types.requests import RecallQuery
from core.types.values import OWNER_ACTOR, Actor, Source, When

DAY = 86_400_000
LONG_AGO = START_MS - 400 * DAY
GRAZ, LINZ = "My flat is in Graz these days", "My flat is in Linz these days"
HOME = ("user", "lives_in")


@pytest.fixture
def table() -> Table:
    """What the readers say."""
    return Table(
        relations={(GRAZ, LINZ): sure(Label.SUPERSEDE), (LINZ, GRAZ): sure(Label.SUPERSEDE)},
        claims={GRAZ: (*HOME, "Graz"), LINZ: (*HOME, "Linz")},
    )


@pytest.fixture
def rig(tmp_path: Path, table: Table) -> Iterator[Rig]:
    """An open engine with readers in the test's hand, and no background work of its own."""
    with rig_at(tmp_path, readers=table.readers) as made:
        yield made


def told(text: str, day: int = 1, **more: Any) -> dict[str, Any]:
    """A fact in a file."""
    return {"text": text, "kind": "fact", "time": f"2023-03-{day:02d}T10:00:00Z", "ref": text, **more}


def status(rig: Rig, text: str) -> str:
    """Where the memory of a text stands."""
    return str(rig.value("SELECT status FROM memories WHERE text = ? ORDER BY n", text))


def test_imported_facts_are_compared_with_each_other(rig: Rig) -> None:
    rig.bring([told(GRAZ, 1), told(LINZ, 9)])
    compare_imported(rig.opened.storage, rig.opened.search)
    assert (status(rig, GRAZ), status(rig, LINZ)) == ("superseded", "active")
    assert rig.value("SELECT count(*) FROM memories WHERE read_at IS NULL") == 0


def test_an_imported_fact_never_ends_what_the_owner_said(rig: Rig) -> None:
    rig.store(LINZ, occurred=When(LONG_AGO))
    rig.bring([told(GRAZ, source="document")])
    compare_imported(rig.opened.storage, rig.opened.search)
    assert (status(rig, LINZ), status(rig, GRAZ)) == ("active", "quarantined")
    assert rig.value("SELECT count(*) FROM conflicts WHERE state = 'open'") == 1


def test_imported_episodes_are_never_judged(rig: Rig) -> None:
    rows = [{**told(text, day), "kind": "episode"} for day, text in enumerate((GRAZ, GRAZ, LINZ), 1)]
    rig.bring([{**row, "ref": f"r{nr}"} for nr, row in enumerate(rows)])
    assert compare_imported(rig.opened.storage, rig.opened.search) == 0
    assert rig.rows("SELECT DISTINCT status FROM memories") == [("active",)]
    assert rig.value("SELECT count(*) FROM claims") == 0


def test_taking_an_import_back_after_it_was_judged_leaves_no_orphans(rig: Rig) -> None:
    rig.store(LINZ, occurred=When(LONG_AGO))
    rig.store("The weir opens at noon")
    before = rig.dump()
    report = rig.bring([told(GRAZ, 1, source="document"), told("The weir opens at noon", 2), told("A boat is blue", 3)])
    compare_imported(rig.opened.storage, rig.opened.search)
    assert rig.value("SELECT count(*) FROM conflicts") == 1
    rig.unimport(report.import_id)
    assert differences(before, rig.dump()) == {}
    assert rig.verify()["status"] == "ok"


def test_judging_again_changes_nothing(rig: Rig) -> None:
    rig.bring([told(GRAZ, 1), told(LINZ, 9)])
    compare_imported(rig.opened.storage, rig.opened.search)
    before = rig.dump()
    assert compare_imported(rig.opened.storage, rig.opened.search) == 0
    assert differences(before, rig.dump()) == {}


def test_a_batch_is_bounded(rig: Rig) -> None:
    rig.bring([told(f"Jar number {nr} holds salt", 1 + nr % 20) for nr in range(7)])
    rig.opened.storage.threads.stop_tickers()  # what the engine compares by itself would leave nothing over
    rig.wait_for_jobs()
    rig.write(lambda tx: tx.run("UPDATE memories SET read_at = NULL"))
    assert compare_imported(rig.opened.storage, rig.opened.search, most=5) == 5
    assert rig.value("SELECT count(*) FROM memories WHERE read_at IS NULL") == 2


@pytest.fixture
def proposer(rig: Rig) -> Actor:
    """A client that may only propose."""
    return rig.client("aster", "read", "propose", "space:home")


def test_a_proposal_waits_whatever_it_says(rig: Rig, proposer: Actor) -> None:
    rig.store(GRAZ)
    later(rig)
    reply = rig.store(LINZ, proposer, space="home")
    assert (reply.operation, reply.superseded) == ("PROPOSED", ())
    assert reply.conflict is not None
    assert (status(rig, GRAZ), status(rig, LINZ)) == ("active", "quarantined")
    assert rig.value("SELECT count(*) FROM claims WHERE state = 'asserted' AND value = 'Linz'") == 0


def test_a_proposal_that_is_let_in_goes_through_the_gate_as_the_owners_word(rig: Rig, proposer: Actor) -> None:
    rig.store(GRAZ)
    later(rig)
    proposed = rig.store(LINZ, proposer, space="home").memory_id
    store_service, stored = rig.opened.search.store_service, rig.opened.search.add_vectors

    def admit(tx: Any) -> Any:
        with rig.opened.storage.work.verb(tx, "resolve", "Let a proposal in", OWNER_ACTOR) as verb:
            return store_service.admit_memory(store_service.make_transitions(tx, verb, stored, by="owner"), proposed)

    reply = rig.write(admit)
    assert reply.operation == "QUARANTINE", "both are shown to the person before it ends what the person said"
    assert (status(rig, GRAZ), status(rig, LINZ)) == ("active", "quarantined")
    assert rig.value("SELECT count(*) FROM conflicts WHERE state = 'open' AND kind = 'contradiction'") == 1
    assert rig.write(admit).operation == "SUPERSEDE", "once asked, it is the owner's word"
    assert (status(rig, GRAZ), status(rig, LINZ)) == ("superseded", "active")
    assert rig.rows("SELECT value FROM claims WHERE state = 'asserted'") == [("Linz",)]
    rig.undo()
    assert (status(rig, GRAZ), status(rig, LINZ)) == ("active", "quarantined")


def test_the_same_proposal_twice_is_one(rig: Rig, proposer: Actor) -> None:
    first = rig.store(LINZ, proposer, space="home")
    again = rig.store(LINZ, proposer, space="home")
    assert (again.operation, again.memory_id, again.deduplicated) == ("NOOP", first.memory_id, True)
    assert rig.value("SELECT count(*) FROM conflicts") == 1


def test_what_a_client_was_given_and_says_again_is_no_news(rig: Rig) -> None:
    said = rig.store(LINZ).memory_id
    client = rig.client("aster", "read", "write", "space:home")
    rig.engine.memories.recall(RecallQuery("where is my flat these days", limit=5), client).result(30)
    before = rig.get(said)
    reply = rig.store(LINZ, client, space="home")
    assert (reply.operation, reply.memory_id, reply.deduplicated) == ("NOOP", said, True)
    assert rig.get(said).corroboration == before.corroboration


def test_what_a_client_was_given_and_says_in_other_words_is_not_stored(rig: Rig, table: Table) -> None:
    said, echo = rig.store(LINZ).memory_id, "My flat is in Linz all these days"
    table.relations = {**table.relations, (LINZ, echo): sure(Label.DUPLICATE)}
    client = rig.client("aster", "read", "write", "space:home")
    rig.engine.memories.recall(RecallQuery("where is my flat these days", limit=5), client).result(30)
    before = rig.value("SELECT count(*) FROM memories")
    reply = rig.store(echo, client, space="home")
    assert (reply.operation, reply.memory_id) == ("NOOP", said)
    assert rig.value("SELECT count(*) FROM memories") == before


def test_a_client_that_was_given_nothing_corroborates(rig: Rig) -> None:
    said = rig.store(LINZ).memory_id
    before = rig.get(said).corroboration
    client = rig.client("aster", "read", "write", "space:home")
    assert rig.store(LINZ, client, space="home").deduplicated
    assert rig.get(said).corroboration == before + 1


def test_the_next_undo_is_the_persons_not_what_loci_did_meanwhile(rig: Rig, table: Table) -> None:
    rig.store("The weir opens at noon")
    table.claims = {}
    rig.store(GRAZ)
    table.claims = {GRAZ: (*HOME, "Graz")}
    later(rig)
    rig.write(lambda tx: tx.run("UPDATE memories SET read_at = NULL"))
    compare_imported(rig.opened.storage, rig.opened.search)
    actors = rig.rows("SELECT actor FROM undo_steps ORDER BY rowid")
    assert actors[-1] == ("scheduler",)
    found = rig.engine.history.next_undo().result(30)
    assert found is not None
    assert found.label == "Remember a fact"
    assert (
        rig.undo().step_id == found.id == rig.value("SELECT id FROM undo_steps WHERE actor = 'owner' LIMIT 1 OFFSET 1")
    )


def test_a_step_of_the_scheduler_is_taken_back_by_its_name(rig: Rig, table: Table) -> None:
    table.claims = {}
    rig.store(GRAZ, source=Source.DOCUMENT)
    table.claims = {GRAZ: (*HOME, "Graz")}
    rig.write(lambda tx: tx.run("UPDATE memories SET read_at = NULL"))
    before = rig.dump()
    compare_imported(rig.opened.storage, rig.opened.search)
    step = rig.value("SELECT id FROM undo_steps WHERE actor = 'scheduler'")
    assert rig.value("SELECT count(*) FROM claims") == 1
    rig.undo(step)
    assert rig.value("SELECT count(*) FROM claims") == 0
    assert {name for name in differences(before, rig.dump()) if name != "memories"} == set()


def test_with_nothing_of_a_persons_there_is_nothing_to_undo(rig: Rig) -> None:
    rig.store(GRAZ)
    rig.write(lambda tx: tx.run("UPDATE undo_steps SET actor = 'scheduler'"))
    assert rig.engine.history.next_undo().result(30) is None
    with refused(Code.NOT_FOUND):
        rig.undo()
    assert rig.texts() == [GRAZ]


def test_what_was_said_nobody_knows_when_is_not_read_as_said_on_the_day_of_the_import(tmp_path: Path) -> None:
    valid_from = (
        "SELECT c.valid_from FROM claims c JOIN evidence e ON e.claim_id = c.id "
        "JOIN memories m ON m.id = e.memory_id WHERE m.ref = ?"
    )
    with rig_at(tmp_path, readers=TextReaders(extract=extract_claims)) as made:
        rows = [told("I have lived in Graz since March.", ref="dated"), told("I have lived in Linz since March.")]
        made.bring([{**rows[0], "time": "2022-05-01"}, {**rows[1], "ref": "undated", "time": None}])
        compare_imported(made.opened.storage, made.opened.search)
        assert made.rows(valid_from, "dated") == [(1_646_092_800_000,)]
        assert made.rows(valid_from, "undated") == [(None,)]
