"""The laboratory: trials leave no trace, weights take effect at once and can be undone, a client's view is seen."""

from __future__ import annotations

import pytest
from engine_rig import Rig, differences, error_of, refused

from core.config.retrieval import RetrievalOptions
from core.engine.recall.recall_trials import RecallTrials
from core.errors import Code
from core.events import Changed, Event
from core.score.profile import LOCI, preset_values
from core.types.recall import LabAnswer, PlanChange
from core.types.requests import RecallQuery
from core.types.values import Intent

BEES, COFFEE = "Ada keeps bees in the garden", "Ada drinks coffee in the garden"
QUERY = "who keeps bees in the garden?"
SILENT = {"least_chance": 1.0}
USUAL = RetrievalOptions()


def ask(rig: Rig, query: str = QUERY, **more: object) -> LabAnswer:
    return rig.engine.recall_trials.try_question(RecallQuery(query), **more).result(30)  # type: ignore[arg-type]  # by name


def test_near_misses_stand_by_their_scores(rig: Rig) -> None:
    rig.store(BEES, importance=0.0)
    for number, thing in enumerate(("honey", "a hive", "a smoker", "a veil"), 1):
        rig.store(f"Ada keeps {thing} in the garden", importance=number / 4)
    weights = {**SILENT, "side_bound": 0.5, "sides_importance": 1.0, "sides_confidence": 0.0, "sides_recency": 0.0}
    near = ask(rig, weights=weights).near
    scores = [one.score for one in near]
    assert len(near) > 2
    assert near[0].memory.text != BEES  # the strongest answer, and sunk by how little it matters
    assert scores == sorted(scores, reverse=True)


def test_a_trial_shows_everything_and_leaves_nothing(rig: Rig) -> None:
    for text in (BEES, COFFEE):
        rig.store(text)
    rig.engine.flush_journal()
    before, told = rig.dump(), rig.rows("SELECT count(*) FROM audit UNION ALL SELECT count(*) FROM receipts")
    answer = ask(rig)
    rig.engine.flush_journal()
    assert differences(before, rig.dump()) == {}
    assert rig.rows("SELECT count(*) FROM audit UNION ALL SELECT count(*) FROM receipts") == told
    assert rig.get(answer.items[0].memory.id).access_count == 0

    first, second = answer.items
    assert (first.memory.text, first.place, first.rank, first.dropped) == (BEES, 1, 1, None)
    assert first.lists["evidence"][0] == 1
    assert list(first.parts) == ["relevance", "confidence", "recency", "importance", "utility"]
    assert sum(first.parts.values()) == pytest.approx(first.score)
    assert first.signals["relevance"] > second.signals["relevance"]
    assert first.why
    assert (answer.abstained, answer.seen_as, answer.trace.stages["answered"]) == (False, "", 2)
    assert answer.tokens > 10


def test_it_answers_as_a_recall_does(rig: Rig) -> None:
    for text in (BEES, COFFEE, "The gate is green", "Bees like lavender"):
        rig.store(text)
    asked = rig.recall(QUERY)
    tried = ask(rig)
    assert [item.memory.id for item in tried.items] == [item.memory.id for item in asked.items]
    assert [item.score for item in tried.items] == [item.score for item in asked.items]


def test_trial_weights_count_for_the_trial_alone(rig: Rig, lab: RecallTrials) -> None:
    rig.store(BEES)
    silent = ask(rig, weights=SILENT)
    assert (silent.abstained, silent.items) == (True, ())
    (near,) = silent.near
    assert (near.memory.text, near.place, near.dropped) == (BEES, None, "below_bar")
    assert near.why
    assert near.rank == 1
    assert len(ask(rig).items) == 1
    assert rig.found(QUERY) == [BEES]
    with refused(Code.CONFIG_INVALID):
        lab.try_question(RecallQuery(QUERY), {"floor": 7.0})
    with refused(Code.CONFIG_INVALID):
        lab.try_question(RecallQuery(QUERY), {"no_such_option": 1.0})
    with refused(Code.INVALID_QUERY):
        lab.try_question(RecallQuery(" "))


def test_what_a_client_would_see(rig: Rig) -> None:
    rig.store(BEES, space="home")
    rig.store("Ada keeps bees at work", space="work")
    rig.client("worker", "read", "space:work")
    assert [item.memory.text for item in ask(rig, seen_as="worker").items] == ["Ada keeps bees at work"]
    assert len(ask(rig).items) == 2
    assert ask(rig, seen_as="worker").seen_as == "worker"
    rig.engine.clients.revoke("worker").result(30)
    for name in ("worker", "nobody", "@owner"):
        with refused(Code.NOT_FOUND):
            rig.engine.recall_trials.try_question(RecallQuery(QUERY), None, name)


def test_the_person_may_change_the_plan(rig: Rig) -> None:
    rig.store(BEES)
    change = PlanChange(intent=Intent.CAUSAL)
    answer = rig.engine.recall_trials.try_question(RecallQuery(QUERY, plan=change, mode="keyword")).result(30)
    assert answer.strategy == "keyword"
    assert [item.memory.text for item in answer.items] == [BEES]


def test_the_tuner_tells_every_option_and_preset(rig: Rig, lab: RecallTrials) -> None:
    tuning = lab.read_tuning().result(30)
    assert [row.name for row in tuning.rows] == list(RetrievalOptions.model_fields)
    assert tuning.preset == "measured"
    assert set(tuning.presets) == {"measured", "seed-a", "seed-b", "engram"} == set(tuning.preset_values)
    lab.apply_weights(preset_values("seed-b")).result(30)
    assert (lab.read_tuning().result(30).preset, rig.opened.search.recall.profile.name) == ("seed-b", "seed-b")


def test_applied_weights_rank_the_next_question_and_undo_takes_them_back(rig: Rig, lab: RecallTrials) -> None:
    seen: list[Event] = []
    rig.engine.hub.subscribe(seen.append)
    rig.store(BEES)
    applied = lab.apply_weights({**SILENT, "expand_from": 4.0}).result(30)
    assert applied.changes == {"least_chance": (USUAL.least_chance, 1.0), "expand_from": (USUAL.expand_from, 4)}
    assert (applied.undone, applied.found) == (False, None)
    assert rig.found(QUERY) == []
    assert rig.rows("SELECT key, value FROM settings WHERE key LIKE 'recall.%' ORDER BY key") == [
        ("recall.expand_from", "4"),
        ("recall.least_chance", "1.0"),
    ]
    report = rig.undo()
    assert (report.label, report.step_id, report.left) == ("Tuned recall", applied.step_id, ())
    assert rig.found(QUERY) == [BEES]
    assert rig.opened.search.recall.profile == LOCI
    assert rig.opened.search.retrieval == RetrievalOptions()
    (history,) = lab.list_applications().result(30)
    assert (history.step_id, history.undone, history.changes) == (applied.step_id, True, applied.changes)
    rig.undo(report.undo_step_id)
    assert rig.found(QUERY) == []
    assert not lab.list_applications().result(30)[0].undone
    verbs = [event.verb for event in seen if isinstance(event, Changed)]
    assert (verbs.count("tune"), verbs.count("retuned")) == (1, 2)


def test_a_default_is_not_written_down(rig: Rig, lab: RecallTrials) -> None:
    lab.apply_weights({"floor": 0.5, "strength": 0.5}).result(30)
    lab.apply_weights({"floor": USUAL.floor}).result(30)
    assert rig.rows("SELECT key FROM settings WHERE key LIKE 'recall.%'") == [("recall.strength",)]
    assert [sorted(one.changes) for one in lab.list_applications().result(30)] == [["floor"], ["floor", "strength"]]


@pytest.mark.expected_logs("1 stored options were out of bounds")
def test_weights_outlive_the_lock_and_a_damaged_one_is_passed_over(rig: Rig, lab: RecallTrials) -> None:
    lab.apply_weights({"floor": 0.5}).result(30)
    rig.write(lambda tx: tx.insert("settings", {"key": "recall.strength", "value": '"much"', "changed_at": 1}))
    rig.lock()
    rig.unlock()
    assert (rig.opened.search.recall.profile.floor, rig.opened.search.recall.profile.strength) == (0.5, LOCI.strength)


def test_nothing_is_applied_where_nothing_changes_or_one_value_is_wrong(rig: Rig, lab: RecallTrials) -> None:
    steps = rig.value("SELECT count(*) FROM undo_steps")
    assert error_of(lab.apply_weights({})).code is Code.INVALID_INPUT
    assert error_of(lab.apply_weights({"floor": USUAL.floor})).code is Code.INVALID_INPUT
    assert error_of(lab.apply_weights({"strength": 0.5, "floor": 7.0})).code is Code.CONFIG_INVALID
    assert error_of(lab.apply_weights({"auto_text_weight": 1.0})).code is Code.CONFIG_INVALID
    assert rig.value("SELECT count(*) FROM undo_steps") == steps
    assert rig.opened.search.recall.profile == LOCI


def test_all_is_refused_while_locked(rig: Rig, lab: RecallTrials) -> None:
    rig.lock()
    for call in (
        lab.read_tuning,
        lab.list_probes,
        lab.run_probes,
        lab.count_regressions,
        lab.read_health,
        lab.list_applications,
        lab.list_receipts,
    ):
        with refused(Code.VAULT_LOCKED):
            call()
    with refused(Code.VAULT_LOCKED):
        lab.try_question(RecallQuery(QUERY))
