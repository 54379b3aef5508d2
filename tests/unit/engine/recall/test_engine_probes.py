"""Saved questions: what they ask for, how they are compared under other weights, and what is told when one breaks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine_rig import Rig, error_of, facts, rig_at

from core.engine.recall import recall_trials
from core.engine.recall.recall_runner import run_recall
from core.engine.recall.recall_trials import MOST_SWEPT, RecallTrials
from core.errors import Code, UserError
from core.events import Changed, Event
from core.recall.result import RecallResult
from core.types.recall import Tally
from core.types.replies import WaitingKind

BEES, COFFEE = "Ada keeps bees in the garden", "Ada drinks coffee in the morning"
WHO, WHAT = "who keeps bees in the garden?", "what does Ada drink in the morning?"
SILENT = {"least_chance": 1.0}


def counts(tally: Tally) -> tuple[int, ...]:
    return (tally.found, tally.found_of, tally.empty, tally.empty_of, tally.stale, tally.stale_of)


def heard(rig: Rig) -> list[str]:
    verbs: list[str] = []

    def hear(event: Event) -> None:
        if isinstance(event, Changed):
            verbs.append(event.verb)

    rig.engine.hub.subscribe(hear)
    return verbs


def test_what_belongs_here(rig: Rig, lab: RecallTrials) -> None:
    bees, coffee = rig.store(BEES).memory_id, rig.store(COFFEE).memory_id
    lab.save_probe(WHO, "positive", [bees], 1).result(30)
    lab.save_probe(WHO, "positive", [bees, coffee], 1).result(30)
    tally = lab.run_probes().result(30)
    assert counts(tally) == (1, 2, 0, 0, 0, 0)
    assert [(one.passed, one.place) for one in tally.outcomes] == [(True, 1), (False, 1)]
    assert [one.passed for one in lab.list_probes().result(30)] == [True, False]


def test_where_nothing_belongs_and_what_must_not_come(rig: Rig, lab: RecallTrials) -> None:
    bees = rig.store(BEES).memory_id
    lab.save_probe(WHO, "negative").result(30)
    lab.save_probe(WHO, "stale", [bees]).result(30)
    spoken = lab.run_probes().result(30)
    assert counts(spoken) == (0, 0, 0, 1, 1, 1)
    assert [one.place for one in spoken.outcomes] == [None, 1]
    assert spoken.tokens == spoken.outcomes[0].tokens > 0
    lab.apply_weights(SILENT).result(30)
    silent = lab.run_probes().result(30)
    assert counts(silent) == (0, 0, 1, 1, 0, 1)
    assert (silent.tokens, [one.passed for one in silent.outcomes]) == (0, [True, True])


def test_asking_them_counts_no_access_and_keeps_no_receipt(rig: Rig, lab: RecallTrials) -> None:
    bees = rig.store(BEES).memory_id
    lab.save_probe(WHO, "positive", [bees]).result(30)
    lab.run_probes().result(30)
    lab.preview_weights(SILENT).result(30)
    rig.engine.flush_journal()
    assert rig.get(bees).access_count == 0
    assert rig.rows("SELECT * FROM receipts") == []


def test_a_preview_compares_and_changes_nothing(rig: Rig, lab: RecallTrials) -> None:
    bees = rig.store(BEES).memory_id
    probe = lab.save_probe(WHO, "positive", [bees]).result(30)
    lab.save_probe(WHO, "negative").result(30)
    found = lab.preview_weights(SILENT).result(30)
    assert (counts(found.now)[:4], counts(found.would_be)[:4]) == ((1, 1, 0, 1), (0, 1, 1, 1))
    assert [one.place for one in found.now.outcomes] == [1, None]
    assert found.would_be.tokens == 0 < found.now.tokens
    assert found.probes[0].id == probe.id
    assert [(one.passed, one.ran_at) for one in lab.list_probes().result(30)] == [(None, None)] * 2
    assert rig.found(WHO) == [BEES]
    assert lab.preview_weights({}).result(30).now == lab.preview_weights({}).result(30).would_be


def test_a_sweep_tries_each_value_and_changes_nothing(rig: Rig, lab: RecallTrials) -> None:
    bees = rig.store(BEES).memory_id
    lab.save_probe(WHO, "positive", [bees]).result(30)
    lab.save_probe(WHO, "negative").result(30)
    found = lab.sweep_option("least_chance", (0.0, 1.0), {"side_bound": 0.4}).result(30)
    assert (found.name, found.values) == ("least_chance", (0.0, 1.0))
    assert [counts(tally)[:4] for tally in found.tallies] == [(1, 1, 0, 1), (0, 1, 1, 1)]
    assert [(one.passed, one.ran_at) for one in lab.list_probes().result(30)] == [(None, None)] * 2
    assert rig.found(WHO) == [BEES]


@pytest.mark.parametrize("values", [(), tuple(number / 100 for number in range(MOST_SWEPT + 1))])
def test_too_many_values_or_none_are_refused(lab: RecallTrials, values: tuple[float, ...]) -> None:
    with pytest.raises(UserError, match="1 to 25 values"):
        lab.sweep_option("least_chance", values, {})


def test_a_later_sweep_stops_an_earlier_one(rig: Rig, lab: RecallTrials) -> None:
    rig.store(BEES)
    for n in range(20):
        lab.save_probe(f"{WHO} {n}", "negative").result(30)
    first = [lab.sweep_option("least_chance", (0.0, 1.0), {}) for _ in range(10)]
    last = lab.sweep_option("least_chance", (1.0,), {})
    assert [tally.empty for tally in last.result(30).tallies] == [20]
    assert {error_of(one).code for one in first if one.exception(30)} <= {Code.CANCELLED}


def test_a_sweep_is_stopped_on_request(rig: Rig, lab: RecallTrials, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.store(BEES)
    for n in range(5):
        lab.save_probe(f"{WHO} {n}", "negative").result(30)
    asked: list[Any] = []

    def stop_at_the_first(*given: Any) -> RecallResult:
        if not asked:
            lab.stop_sweep()
        asked.append(given)
        return run_recall(*given)

    monkeypatch.setattr(recall_trials, "run_recall", stop_at_the_first)
    assert error_of(lab.sweep_option("least_chance", (0.0, 1.0), {})).code is Code.CANCELLED
    assert len(asked) == 2  # one question under both values
    assert lab.sweep_option("least_chance", (1.0,), {}).result(30).tallies[0].empty == 5


@pytest.mark.slow
def test_a_later_preview_stops_an_earlier_one(rig: Rig, lab: RecallTrials) -> None:
    rig.store(BEES)
    for n in range(20):
        lab.save_probe(f"{WHO} {n}", "negative").result(30)
    first = [lab.preview_weights(SILENT) for _ in range(10)]
    last = lab.preview_weights({})
    assert last.result(30).now == last.result(30).would_be
    assert {error_of(one).code for one in first if one.exception(30)} <= {Code.CANCELLED}


def test_what_broke_is_told_once_kept_and_cleared(rig: Rig, lab: RecallTrials) -> None:
    bees = rig.store(BEES).memory_id
    lab.save_probe(WHO, "positive", [bees]).result(30)
    lab.save_probe(WHO, "positive", [rig.store("The gate is green").memory_id]).result(30)
    verbs = heard(rig)
    lab.run_probes().result(30)
    assert (verbs, lab.count_regressions().result(30)) == (["probes"], 0)

    applied = lab.apply_weights(SILENT).result(30)
    assert applied.found == (0, 2)
    assert lab.count_regressions().result(30) == 1
    assert rig.engine.conflicts.count_waiting().result(30)[WaitingKind.REGRESSIONS] == 1
    assert verbs[-2:] == ["probes", "regression"]
    lab.run_probes().result(30)
    assert (verbs[-1], lab.count_regressions().result(30)) == ("probes", 1)
    assert lab.list_applications().result(30)[0].found == (0, 2)

    rig.undo(applied.step_id)
    lab.run_probes().result(30)
    assert lab.count_regressions().result(30) == 0


def test_what_took_the_place_of_a_memory_is_what_is_asked_for(rig: Rig, lab: RecallTrials) -> None:
    claim = {"subject": "user", "predicate": "lives_in", "exclusive": True}
    old = rig.store("I live in Lisbon by the river", claim={**claim, "value": "Lisbon"}).memory_id
    where = "where do I live?"
    lab.save_probe(where, "positive", [old], 1).result(30)
    lab.save_probe(where, "stale", [old]).result(30)
    assert counts(lab.run_probes().result(30)) == (1, 1, 0, 0, 1, 1)
    new = rig.store("I live in Porto by the river", claim={**claim, "value": "Porto"}).memory_id
    assert rig.get(old).superseded_by_id == new
    assert counts(lab.run_probes().result(30)) == (1, 1, 0, 0, 0, 1)


def test_saving_and_deleting_are_steps(rig: Rig, lab: RecallTrials) -> None:
    bees = rig.store(BEES).memory_id
    probe = lab.save_probe(WHO, "positive", [bees, bees], 3).result(30)
    assert (probe.query, probe.kind, probe.memory_ids, probe.within, probe.passed) == (
        WHO,
        "positive",
        (bees,),
        3,
        None,
    )
    assert lab.save_probe(WHO, "positive", [bees], 3).result(30) == probe
    lab.run_probes().result(30)
    step = lab.delete_probe(probe.id).result(30)
    assert lab.list_probes().result(30) == ()
    assert rig.undo(step).left == ()
    (back,) = lab.list_probes().result(30)
    assert (back.id, back.query) == (probe.id, WHO)
    lab.run_probes().result(30)
    assert rig.undo().label == "Save a question"  # a run of the probes is no change of the person's
    assert lab.list_probes().result(30) == ()
    assert WHO not in str(rig.rows("SELECT detail, object FROM audit")) + str(rig.rows("SELECT label FROM undo_steps"))


def test_what_is_refused(rig: Rig, lab: RecallTrials) -> None:
    bees = rig.store(BEES).memory_id
    for query, kind, ids, within, code in (
        ("", "negative", [], 10, Code.INVALID_QUERY),
        ("x" * 2_001, "negative", [], 10, Code.INVALID_QUERY),
        (WHO, "maybe", [bees], 10, Code.INVALID_INPUT),
        (WHO, "positive", [], 10, Code.INVALID_INPUT),
        (WHO, "negative", [bees], 10, Code.INVALID_INPUT),
        (WHO, "positive", [bees], 0, Code.INVALID_INPUT),
        (WHO, "positive", [bees], 51, Code.INVALID_INPUT),
        (WHO, "positive", [bees, "gone"], 10, Code.NOT_FOUND),
    ):
        assert error_of(lab.save_probe(query, kind, ids, within)).code is code
    assert error_of(lab.delete_probe("gone")).code is Code.NOT_FOUND
    assert lab.list_probes().result(30) == ()


def test_they_run_after_an_import_and_after_an_undo_of_weights(tmp_path: Path) -> None:
    with rig_at(tmp_path, background=True) as rig:
        lab = rig.engine.recall_trials
        lab.save_probe("which jar does the shelf hold?", "negative").result(30)
        ran = _waiting(rig, "probes")
        rig.bring(facts(3))
        ran()
        assert [one.passed for one in lab.list_probes().result(30)] == [False]
        step = lab.apply_weights(SILENT).result(30).step_id
        ran = _waiting(rig, "probes")
        rig.undo(step)
        ran()
        assert rig.value("SELECT count(*) FROM probe_runs") == 3


def _waiting(rig: Rig, verb: str) -> Callable[[], None]:
    """Listen for a verb from now on; the function waits for it."""
    seen = threading.Event()
    rig.engine.hub.subscribe(lambda event: seen.set() if isinstance(event, Changed) and event.verb == verb else None)

    def wait() -> None:
        assert seen.wait(30)

    return wait
