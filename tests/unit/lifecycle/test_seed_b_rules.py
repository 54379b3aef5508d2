"""Seed B's rules, scenario by scenario, through the engine's own doors: maturity, feedback, inversion, the log."""

from __future__ import annotations

import pytest
from decay_rig import DAY_MS
from engine_rig import Rig, later
from life_rig import harmful, helpful, rule_of

from core.types.values import Kind

TABS = "Always indent with tabs."


def test_a_new_rule_is_a_candidate_that_nobody_applied(rig: Rig) -> None:
    """B Rule maturity, B Storage `store rule as candidate`: all counts are 0."""
    state = rule_of(rig, rig.store(TABS, kind=Kind.RULE).memory_id)
    assert (state.maturity, state.helpful, state.harmful, state.applied) == ("candidate", 0, 0, 0)
    assert (state.effectiveness, state.last_applied_at) == (0.0, None)


def test_a_rule_is_established_at_the_fifth_success_and_not_at_the_fourth(rig: Rig) -> None:
    """B Rule maturity, `candidate to established`."""
    rule = rig.store(TABS, kind=Kind.RULE).memory_id
    assert helpful(rig, rule, 4).maturity == "candidate"
    assert helpful(rig, rule, 1).maturity == "established"


def test_a_rule_is_proven_at_fifteen_successes_and_thirty_days(rig: Rig) -> None:
    """B Rule maturity, `established to proven`: the successes alone are not enough."""
    rule = rig.store(TABS, kind=Kind.RULE).memory_id
    assert helpful(rig, rule, 15).maturity == "established"
    later(rig, 30)
    assert helpful(rig, rule, 1).maturity == "proven"


def test_a_proven_rule_that_harms_falls_back_and_an_established_one_too(rig: Rig) -> None:
    """B Rule maturity, both demotions: 16 / (16 + 4 + 0.01) is below 0.8, 16 / (16 + 12 + 0.01) below 0.6."""
    rule = rig.store(TABS, kind=Kind.RULE).memory_id
    later(rig, 31)
    assert helpful(rig, rule, 16).maturity == "proven"
    first = harmful(rig, rule, "It broke the build.")
    assert first.maturity == "established"
    assert first.effectiveness == pytest.approx(16 / 20.01)
    third = harmful(rig, rule, "Again.", "And again.")
    assert third.maturity == "candidate"
    assert third.effectiveness == pytest.approx(16 / 28.01)


def test_a_rule_that_harms_again_and_again_is_inverted_and_keeps_its_original(rig: Rig) -> None:
    """B Rule maturity, `inversion to anti-pattern`: new text, old text preserved, found by what it says now."""
    rule = rig.store(TABS, kind=Kind.RULE).memory_id
    state = harmful(rig, rule, "It broke Python.", "It broke YAML.", "It broke Haskell.")
    now = rig.value("SELECT id FROM memories WHERE kind = 'rule' AND status = 'active'")
    state = rule_of(rig, now)
    text = rig.get(now).text
    assert state.maturity == "anti_pattern"
    assert text.startswith("ANTI-PATTERN: Do NOT Always indent with tabs")
    assert "This caused problems because:" in text
    assert all(why in text for why in ("Python", "YAML", "Haskell"))
    assert state.original_text == TABS
    assert rig.found("anti-pattern problems Haskell") == [text]


# ---- rule feedback and its log


def test_a_helpful_mark_counts_an_application_and_its_time(rig: Rig) -> None:
    """B Rule effectiveness, `mark helpful`: applied, success, time, success / applied."""
    rule = rig.store(TABS, kind=Kind.RULE).memory_id
    later(rig, 2)
    state = helpful(rig, rule, 1)
    assert (state.applied, state.helpful, state.effectiveness) == (1, 1, 1.0)
    assert state.last_applied_at == rig.clock.now_ms()


def test_a_harmful_mark_weighs_four_and_keeps_its_reason(rig: Rig) -> None:
    """B Rule effectiveness, `mark harmful`: successes / (successes + 4 harms + 0.01); reasons in their order."""
    rule = rig.store(TABS, kind=Kind.RULE).memory_id
    helpful(rig, rule, 3)
    state = harmful(rig, rule, "It broke the build.")
    assert (state.applied, state.harmful) == (4, 1)
    assert state.effectiveness == pytest.approx(3 / 7.01)
    assert state.reasons == ("It broke the build.",)


def test_each_application_of_a_rule_is_recorded(rig: Rig) -> None:
    """B Rule application tracking: rule, outcome, time and what was said, one row each; an undo takes its row along."""
    rule = rig.store(TABS, kind=Kind.RULE).memory_id
    helpful(rig, rule, 1)
    later(rig, 1)
    harmful(rig, rule, "It broke the build.")
    log = "SELECT memory_id, outcome, applied_at FROM rule_applications ORDER BY applied_at"
    now = rig.clock.now_ms()
    assert rig.rows(log) == [(rule, "helpful", now - DAY_MS), (rule, "harmful", now)]
    rig.undo()
    assert rig.rows(log) == [(rule, "helpful", now - DAY_MS)]
