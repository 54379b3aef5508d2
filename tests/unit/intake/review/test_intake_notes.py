"""That two memories may belong together is a note: nobody is asked, and both are found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig, differences, later, rig_at
from readers_rig import Table, sure

from core.belief.relate.relation_model import VALUE_CHANGED
from core.intake.review.automation import revalidate_items
from core.types.belief import BY_MEANING, Label
from core.types.reviews import Decision
from core.types.values import OWNER_ACTOR, Action, Source
from core.vault.database.rows import MAY_BELONG, NO_QUESTION
from core.vault.database.tx import Tx

ONE, TWO = "The gutter man is called Piet", "The gutter man is a friend of ours"


@pytest.fixture
def table() -> Table:
    """What the readers say."""
    return Table({(ONE, TWO): sure(Label.COEXIST, 0.55)})


@pytest.fixture
def rig(tmp_path: Path, table: Table) -> Iterator[Rig]:
    """An open engine with readers in the test's hand."""
    with rig_at(tmp_path, readers=table.readers) as made:
        yield made


def told(rig: Rig, table: Table) -> tuple[str, str]:
    """Two statements that the model is not sure about."""
    table.relations = {(ONE, TWO): sure(Label.MERGE, 0.6)}
    one = rig.store(ONE).memory_id
    later(rig)
    return one, rig.store(TWO).memory_id


def open_again(rig: Rig, why: str) -> None:
    """As an older version left it: a question for the person."""

    def write(tx: Tx) -> None:
        item_id, detail = tx.all("SELECT id, detail FROM conflicts WHERE note = ?", (MAY_BELONG,))[0]
        said = json.dumps({**json.loads(detail), "why": why})
        tx.update("conflicts", {"id": item_id}, {"state": "open", "note": None, "detail": said})

    rig.write(write)


def test_not_being_sure_is_a_note_and_no_question(rig: Rig, table: Table) -> None:
    one, two = told(rig, table)
    assert rig.rows("SELECT existing_id, incoming_id, state, note, closed_at FROM conflicts") == [
        (one, two, "moot", MAY_BELONG, None)
    ]
    assert rig.engine.conflicts.list_queue().result(30).rows == ()
    assert set(rig.found("gutter man")) == {ONE, TWO}


def test_a_note_leaves_with_the_step_that_made_it(rig: Rig, table: Table) -> None:
    table.relations = {(ONE, TWO): sure(Label.MERGE, 0.6)}
    rig.store(ONE)
    later(rig)
    before = rig.dump()
    rig.store(TWO)
    rig.undo()
    assert differences(before, rig.dump()) == {}


def test_an_old_question_that_only_says_unsure_closes_with_a_note(rig: Rig, table: Table) -> None:
    told(rig, table)
    open_again(rig, BY_MEANING)
    assert rig.write(lambda tx: revalidate_items(tx)) == 1
    assert rig.rows("SELECT state, note FROM conflicts") == [("moot", NO_QUESTION)]
    assert rig.write(lambda tx: revalidate_items(tx)) == 0


def test_an_old_question_about_two_values_stays_one(rig: Rig, table: Table) -> None:
    told(rig, table)
    open_again(rig, VALUE_CHANGED)
    assert rig.write(lambda tx: revalidate_items(tx)) == 0
    assert rig.value("SELECT state FROM conflicts") == "open"


def test_what_counts_for_less_than_what_it_may_replace_still_waits(rig: Rig, table: Table) -> None:
    table.relations = {(ONE, TWO): sure(Label.SUPERSEDE, 0.6)}
    rig.store(ONE)
    later(rig)
    reply = rig.store(TWO, source=Source.DOCUMENT)
    assert reply.operation == "QUARANTINE"
    assert rig.write(lambda tx: revalidate_items(tx)) == 0


@pytest.mark.parametrize(
    ("action", "stands"),
    [
        (Action.KEEP_BOTH, {ONE, TWO}),
        (Action.SUPERSEDE, {TWO}),
        (Action.SKIP, {ONE, TWO}),
    ],
)
def test_a_note_is_on_both_memories_until_one_press_settles_it(
    rig: Rig, table: Table, action: Action, stands: set[str]
) -> None:
    one, two = told(rig, table)
    before = rig.dump()
    sides = [rig.engine.memories.explain_trust(memory_id).result(30).notes for memory_id in (one, two)]
    assert [(note.is_newcomer, note.other and note.other.id) for (note,) in sides] == [(False, two), (True, one)]
    done = rig.engine.conflicts.resolve(sides[0][0].item_id, Decision(action), OWNER_ACTOR).result(30)
    assert set(rig.texts()) == stands
    assert rig.rows("SELECT resolution FROM conflicts") == [(action.value,)]
    assert not rig.engine.memories.explain_trust(two).result(30).notes
    rig.undo(done.step_id)
    assert not {"conflicts", "edges"} & differences(before, rig.dump()).keys()
    assert set(rig.texts()) == {ONE, TWO}
