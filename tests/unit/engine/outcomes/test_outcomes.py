"""Who may report on rules and procedures through the facade, and what comes of it."""

from __future__ import annotations

from pathlib import Path

from engine_rig import refused, rig_at

from core.errors import Code
from core.types.values import OWNER_ACTOR, Kind

RULE = "Never deploy on a Friday afternoon."
STEPS = "1. Close the pump.\n2. Open the valve.\n3. Wait until it runs clear."


def test_the_person_marks_a_rule_and_a_mark_is_a_step(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig:
        rule = rig.store(RULE, kind=Kind.RULE).memory_id
        done = rig.engine.outcomes.mark_helpful(rule, OWNER_ACTOR).result(30)
        assert (done.state.helpful, done.state.effectiveness) == (1, 1.0)
        rig.engine.outcomes.mark_harmful(rule, OWNER_ACTOR, "It broke the build.").result(30)
        state = rig.engine.outcomes.read_rule(rule, OWNER_ACTOR).result(30)
        assert state is not None
        assert (state.helpful, state.harmful) == (1, 1)
        assert abs(state.effectiveness - 1 / 5.01) < 1e-9
        rig.undo()
        state = rig.engine.outcomes.read_rule(rule, OWNER_ACTOR).result(30)
        assert state is not None
        assert state.harmful == 0


def test_who_only_proposes_has_no_voice_and_nobody_hears_of_what_it_may_not_see(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig:
        rule = rig.store(RULE, kind=Kind.RULE).memory_id
        shy, strange = rig.client("shy", "read", "propose"), rig.client("strange", "read", "write")
        with refused(Code.ACCESS_DENIED):
            rig.engine.outcomes.mark_helpful(rule, shy).result(30)
        for ask in (rig.engine.outcomes.mark_helpful, rig.engine.outcomes.read_rule):
            with refused(Code.NOT_FOUND):
                ask(rule, strange).result(30)
        with refused(Code.NOT_FOUND):
            rig.engine.outcomes.record_outcome(rule, strange, success=True).result(30)


def test_a_procedure_counts_how_it_went(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig:
        steps = rig.store(STEPS, kind=Kind.PROCEDURE).memory_id
        rig.engine.outcomes.record_outcome(steps, OWNER_ACTOR, success=True, took_ms=1000).result(30)
        rig.engine.outcomes.record_outcome(steps, OWNER_ACTOR, success=False, took_ms=3000).result(30)
        state = rig.engine.outcomes.read_procedure(steps, OWNER_ACTOR).result(30)
        assert state is not None
        assert (state.successes, state.failures, state.average_ms) == (1, 1, 2000)
        assert len(state.steps) == 3
        assert rig.engine.outcomes.read_rule(steps, OWNER_ACTOR).result(30) is None


def test_the_last_applications_are_told_the_latest_first(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig:
        rule = rig.store(RULE, kind=Kind.RULE).memory_id
        aster = rig.client("aster", "read", "write", "all_spaces")
        rig.engine.outcomes.mark_helpful(rule, aster).result(30)
        rig.engine.outcomes.mark_harmful(rule, OWNER_ACTOR, "It broke the build.").result(30)
        told = rig.engine.outcomes.list_applications(rule, OWNER_ACTOR).result(30)
        assert [(one.is_helpful, one.client, one.reason) for one in told] == [
            (False, None, "It broke the build."),
            (True, "aster", ""),
        ]
        assert len(rig.engine.outcomes.list_applications(rule, OWNER_ACTOR, 1).result(30)) == 1
        rig.undo()
        assert [one.client for one in rig.engine.outcomes.list_applications(rule, OWNER_ACTOR).result(30)] == ["aster"]
        strange = rig.client("strange", "read", "write")
        with refused(Code.NOT_FOUND):
            rig.engine.outcomes.list_applications(rule, strange).result(30)
