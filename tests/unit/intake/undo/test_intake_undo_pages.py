"""Steps of more images than are read or written at once: taken back whole, told in full, and brought back."""

from __future__ import annotations

import json

from engine_rig import Rig, differences, facts

from core.intake import step_images
from core.intake.transaction import unit_of_work
from core.types.views import Revision

MANY = unit_of_work._IMAGES_AT_ONCE // 2 + step_images._PAGE // 2 + 1
"""Each fact has a row and a source: more images than a page has, and than a verb holds."""
BROUGHT = (
    "SELECT n, id, text, status, trust, recorded_at, space_id, import_id FROM memories ORDER BY n",
    "SELECT * FROM memory_sources ORDER BY memory_id",
    "SELECT n, model FROM embeddings ORDER BY n",
)


def test_a_step_of_several_pages_goes_and_comes_back(rig: Rig) -> None:
    rig.store("What was there before")
    before = rig.dump()
    report = rig.bring(facts(MANY))
    assert report.stored == MANY
    full = [rig.rows(sql) for sql in BROUGHT]

    undone = rig.undo()
    rig.settle()
    assert (undone.left, differences(before, rig.dump())) == ((), {})
    kept = rig.rows("SELECT nr FROM undo_rows WHERE step_id = ? ORDER BY nr", undone.undo_step_id)
    assert [nr for (nr,) in kept] == list(range(len(kept)))
    assert len(kept) == undone.restored > unit_of_work._IMAGES_AT_ONCE

    rig.undo(undone.undo_step_id)
    rig.settle()
    assert [rig.rows(sql) for sql in BROUGHT] == full
    assert rig.verify()["status"] == "ok"


def test_of_very_many_rows_that_stay_the_first_are_listed_and_all_are_counted(rig: Rig) -> None:
    report = rig.bring(facts(230))
    ids = [str(row[0]) for row in rig.rows("SELECT id FROM memories")]
    rig.engine.library.revise_memories(ids, Revision(pinned=True)).result(60)
    undone = rig.unimport(str(report.import_id))
    assert undone.restored == 0
    assert len(undone.left) == 200
    assert all(row["then"] is None for row in undone.left)
    ((detail,),) = rig.rows("SELECT detail FROM audit WHERE verb = 'unimport'")
    assert json.loads(detail)["left"] == 230
