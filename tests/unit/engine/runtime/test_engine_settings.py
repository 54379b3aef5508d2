"""The settings of a vault: each change takes effect at once and is a step that can be undone."""

from __future__ import annotations

import pytest
from engine_rig import Rig, error_of

from core.config.options import Options
from core.errors import Code
from core.events import Changed, Event

DAY_MS = 86_400_000


def values(rig: Rig) -> dict[str, object]:
    return {row.name: row.value for row in rig.engine.settings.read_rows().result(30)}


def put(rig: Rig, name: str, value: object) -> None:
    assert rig.engine.settings.set_option(name, value).result(30).value == value


def test_a_change_is_a_named_step_and_undo_takes_it_back_live(rig: Rig) -> None:
    seen: list[Event] = []
    rig.engine.hub.subscribe(seen.append)
    put(rig, "undo_days", 7)
    put(rig, "undo_days", 8)
    assert values(rig)["undo_days"] == 8
    assert rig.opened.options == Options(undo_days=8)
    assert [event.verb for event in seen if isinstance(event, Changed)] == ["settings", "settings"]

    report = rig.undo()
    assert report.label == "Change the setting Undo history"
    assert (rig.opened.options.undo_days, rig.opened.storage.work.undo_days) == (7, 7)
    redo = rig.undo(report.undo_step_id)
    assert rig.opened.options.undo_days == 8
    rig.undo(redo.undo_step_id)
    rig.undo()
    assert rig.opened.options == Options()
    assert rig.value("SELECT count(*) FROM settings WHERE key = 'undo_days'") == 0
    assert "settings" in {event.verb for event in seen[2:] if isinstance(event, Changed)}


def test_days_count_from_the_change_on(rig: Rig) -> None:
    rig.store("before")
    put(rig, "undo_days", 2)
    rig.store("after")
    spans = [row[0] for row in rig.rows("SELECT (expires_at - at) / ? FROM undo_steps ORDER BY rowid", DAY_MS)]
    assert spans == [90, 90, 2]


def test_receipts_go_by_the_new_days(rig: Rig) -> None:
    put(rig, "receipt_days", 3)
    rig.store("a kettle")
    rig.recall("kettle")
    rig.engine.flush_journal()
    assert rig.rows("SELECT (expires_at - at) / ? FROM receipts", DAY_MS) == [(3,)]


def test_new_clients_and_the_next_import_go_by_the_new_values(rig: Rig) -> None:
    put(rig, "searches_minute", 3)
    put(rig, "import_batch", 2)
    rig.client("plug", "read")
    assert rig.rows("SELECT limit_minute FROM clients") == [(3,)]
    rig.bring([{"text": f"line {n}", "kind": "fact"} for n in range(5)])
    batches = rig.value("SELECT count(*) FROM audit WHERE json_extract(detail, '$.phase') = 'batch'")
    assert batches == 3


def test_a_value_outlives_the_lock(rig: Rig) -> None:
    put(rig, "hnsw_from", 200)
    rig.lock()
    rig.unlock()
    assert rig.opened.options == Options(hnsw_from=200)


def test_the_same_value_is_no_step(rig: Rig) -> None:
    put(rig, "undo_days", 90)
    assert rig.value("SELECT count(*) FROM undo_steps") == 0


@pytest.mark.parametrize(("name", "value"), [("undo_days", 0), ("undo_days", "7"), ("index_anchor", "x")])
def test_a_bad_value_changes_nothing(rig: Rig, name: str, value: object) -> None:
    before = rig.rows("SELECT * FROM settings")
    assert error_of(rig.engine.settings.set_option(name, value)).code is Code.CONFIG_INVALID
    assert rig.rows("SELECT * FROM settings") == before
    assert rig.opened.options == Options()


def test_reset_of_one_and_of_all_is_one_step_each(rig: Rig) -> None:
    put(rig, "undo_days", 7)
    put(rig, "receipt_days", 8)
    put(rig, "backups_kept", 9)
    rows = {row.name: row.value for row in rig.engine.settings.reset_options("undo_days").result(30)}
    assert (rows["undo_days"], rows["receipt_days"]) == (90, 8)
    rig.engine.settings.reset_options().result(30)
    assert rig.opened.options == Options()
    assert rig.undo().label == "Reset all settings"
    assert rig.opened.options == Options(receipt_days=8, backups_kept=9)
    assert rig.undo().label == "Reset the setting Undo history"
    assert rig.opened.options.undo_days == 7
    assert error_of(rig.engine.settings.reset_options("nothing")).code is Code.CONFIG_INVALID


def test_resetting_all_tells_its_own_step(rig: Rig) -> None:
    put(rig, "undo_days", 7)
    told = rig.engine.settings.reset_all().result(30)
    assert {row.name: row.value for row in told.rows}["undo_days"] == 90
    rig.store("A step after it.")
    assert told.step_id is not None
    assert rig.undo(told.step_id).label == "Reset all settings"
    assert rig.opened.options.undo_days == 7


def test_a_reset_of_what_is_at_its_default_is_no_step(rig: Rig) -> None:
    rig.engine.settings.reset_options().result(30)
    assert rig.engine.settings.reset_all().result(30).step_id is None
    assert rig.value("SELECT count(*) FROM undo_steps") == 0
