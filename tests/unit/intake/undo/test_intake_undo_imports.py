"""Taking imports back: exactly what one brought goes, whatever else refers to it, in every order."""

from __future__ import annotations

from typing import Any

import pytest
from engine_rig import Rig, differences, facts, refused, talk

from core.errors import Code
from core.types.values import OWNER_ACTOR

CLAIM = {"subject": "Ada", "predicate": "lives_in", "value": "Graz"}


def leaves(dump: dict[str, Any]) -> dict[str, list[Any]]:
    """Everything but the two spaces of every vault."""
    rest = {**dump, "spaces": [row for row in dump["spaces"] if row[1] not in ("GLOBAL", "home")], "schema_version": []}
    return {table: rows for table, rows in rest.items() if rows}


def shared_rows() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Two exports of one life: a common conversation that went on, common facts, a common space."""
    old = [
        *talk(6, "chat"),
        *talk(2, "only old"),
        *facts(4),
        {"text": "In the attic", "space": "Attic", "kind": "fact"},
    ]
    new = [
        *talk(9, "chat"),
        *talk(2, "only new"),
        *[{**row, "ref": f"new-{row['ref']}"} for row in facts(4, 2)],
        {"text": "Also in the attic", "space": "Attic", "kind": "fact"},
    ]
    return old, new


def texts_of(rows: list[dict[str, Any]]) -> set[str]:
    return {row["text"] for row in rows}


def bring_both(rig: Rig) -> tuple[str, str]:
    old, new = shared_rows()
    first, second = rig.bring(old, name="old.jsonl"), rig.bring(new, name="new.jsonl")
    assert (first.stored, second.stored) == (13, 3 + 2 + 2 + 1)
    assert second.skipped["known"] == 6
    assert second.skipped["duplicate_text"] == 2
    assert first.import_id is not None
    assert second.import_id is not None
    return first.import_id, second.import_id


def test_the_newer_of_two_goes_first(rig: Rig) -> None:
    old, _ = shared_rows()
    rig.bring(old, name="old.jsonl")
    before = rig.dump()
    rig.undo()
    _, second = bring_both(rig)
    assert rig.unimport(second).left == ()
    # Only labels, ids and vectors' labels differ from those of the first time.
    assert set(rig.texts()) == texts_of(old)
    assert {table: len(rows) for table, rows in rig.dump().items()} == {t: len(rows) for t, rows in before.items()}


@pytest.mark.slow
def test_the_older_of_two_goes_first(rig: Rig) -> None:
    old, new = shared_rows()
    first, second = bring_both(rig)

    report = rig.unimport(first)

    # Two facts stand in both: they stay for the second's sake, confirmed by it alone.
    assert sorted(row["now"]["text"] for row in report.left) == [f"The shelf holds jar number {n}" for n in (2, 3)]
    stay = texts_of(new) - texts_of(talk(6, "chat"))
    assert set(rig.texts()) == stay
    for text in ("The shelf holds jar number 2", "The shelf holds jar number 3"):
        ((memory_id, corroboration),) = rig.rows("SELECT id, corroboration FROM memories WHERE text = ?", text)
        (source,) = rig.engine.memories.show(memory_id, OWNER_ACTOR).result(10).sources
        assert (source["import_id"], corroboration) == (second, 1)

    assert rig.unimport(second).left == ()
    assert leaves(rig.dump()).keys() <= {"spaces"}
    assert rig.texts(None) == []
    assert rig.opened.search.index.status().done == 0
    assert rig.verify()["status"] == "ok"
    # And nothing stands in the way of bringing the old one again.
    assert rig.bring(old, name="old.jsonl").stored == 13


@pytest.mark.slow
@pytest.mark.parametrize("undo_first", [0, 1])
@pytest.mark.parametrize("redo_first", [0, 1])
def test_both_can_be_brought_back_in_every_order(rig: Rig, undo_first: int, redo_first: int) -> None:
    imports = bring_both(rig)
    before = rig.dump()
    undone = {one: rig.unimport(imports[one]) for one in (undo_first, 1 - undo_first)}
    assert rig.texts(None) == []

    for one in (redo_first, 1 - redo_first):
        rig.undo(undone[one].undo_step_id)

    assert differences(before, rig.dump()) == {}
    assert rig.rows("SELECT DISTINCT state FROM imports") == [("done",)]
    for one in (1 - undo_first, undo_first):
        rig.unimport(imports[one])
    assert rig.texts(None) == []
    assert rig.verify()["status"] == "ok"


def test_the_next_undo_takes_an_unimport_back(rig: Rig) -> None:
    report = rig.bring(facts(3))
    before = rig.dump()
    rig.unimport(report.import_id)
    assert rig.texts(None) == []
    rig.undo()
    assert differences(before, rig.dump()) == {}


def test_what_the_owner_said_too_stays_when_the_import_goes(rig: Rig) -> None:
    report = rig.bring(facts(2))
    rig.store("The shelf holds jar number 1")
    assert [row["now"]["text"] for row in rig.unimport(report.import_id).left] == ["The shelf holds jar number 1"]
    assert rig.texts() == ["The shelf holds jar number 1"]
    rig.undo(rig.value("SELECT id FROM undo_steps WHERE verb = 'store'"))  # the owner's word was the last that held it
    assert rig.texts(None) == []


def test_what_an_import_confirmed_goes_with_it_once_its_owner_took_it_back(rig: Rig) -> None:
    rig.store("The shelf holds jar number 1", claim=CLAIM)
    step = rig.value("SELECT id FROM undo_steps")
    report = rig.bring(facts(2))
    assert report.skipped["duplicate_text"] == 1
    rig.undo(step)
    assert rig.texts() == ["The shelf holds jar number 1", "The shelf holds jar number 0"]
    rig.unimport(report.import_id)
    assert rig.texts(None) == []
    assert rig.rows("SELECT * FROM claims") == []


@pytest.mark.slow
def test_a_long_fact_in_both_goes_with_the_second(rig: Rig) -> None:
    long = "".join(f"Line {n} of the will. " for n in range(1500))
    first = rig.bring([{"text": long, "kind": "fact", "ref": "1"}], name="a.jsonl")
    second = rig.bring([{"text": long, "kind": "fact", "ref": "2"}], name="b.jsonl")
    assert (first.stored, second.stored) == (1, 0)
    assert len(rig.texts()) > 3
    rig.unimport(first.import_id)
    assert "".join(rig.texts()) == long
    rig.unimport(second.import_id)
    assert rig.texts(None) == []


def test_an_import_is_taken_back_once(rig: Rig) -> None:
    report = rig.bring(talk(3))
    rig.unimport(report.import_id)
    with refused(Code.NOT_FOUND):
        rig.unimport(report.import_id)
    with refused(Code.NOT_FOUND):
        rig.unimport("no-such-import")
    assert rig.rows("SELECT state FROM imports") == [("undone",)]


def test_a_redone_import_can_be_taken_back_again(rig: Rig) -> None:
    report = rig.bring(talk(3))
    step = rig.undo()
    assert rig.rows("SELECT state FROM imports") == [("undone",)]
    rig.undo(step.undo_step_id)
    assert rig.rows("SELECT state FROM imports") == [("done",)]
    assert rig.bring(talk(3)).stored == 0
    rig.unimport(report.import_id)
    assert rig.texts(None) == []


def test_unimport_leaves_everything_else_alone(rig: Rig) -> None:
    rig.store("Mine", claim=CLAIM)
    rig.client("Claude", "read", "write")
    rig.bring([*talk(4, "other"), *facts(2)], name="other.jsonl")
    before = rig.dump()
    report = rig.bring([*talk(4, "mine"), *facts(2, 50)], name="mine.jsonl")
    assert differences(before, rig.dump())
    rig.unimport(report.import_id)
    assert differences(before, rig.dump()) == {}


def test_a_forgotten_message_keeps_its_conversation(rig: Rig) -> None:
    report = rig.bring(talk(4))
    ((forgotten,),) = rig.rows("SELECT id FROM memories WHERE position = 1")
    rig.forget(forgotten)
    left = rig.unimport(report.import_id).left
    assert [row["now"]["id"] for row in left] == [forgotten]
    assert rig.value("SELECT count(*) FROM conversations") == 1
    rig.undo()  # the forgetting: it stands again, where it stood
    assert rig.engine.memories.show(forgotten, OWNER_ACTOR).result(10).conversation["position"] == 1
