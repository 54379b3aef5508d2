"""Retention by space and kind: the rules as they are written, what is over, and that the sweep archives it undoably."""

from __future__ import annotations

import pytest
from decay_rig import DAY_MS, reasons
from engine_rig import Rig, error_of, refused
from ground_rig import ground_of, run
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Code
from core.lifecycle.retention import RetentionRule, format_rules, parse_rules
from core.lifecycle.sweep import SweepJob
from core.types.lifecycle import JobType
from core.types.values import Kind, SecurityTier, Status
from core.types.views import Revision

NAMES = st.text(st.characters(codec="utf-8", exclude_characters=";\x00", exclude_categories=("C", "Z")), min_size=1)
RULES = st.builds(
    RetentionRule,
    space=st.one_of(st.just("*"), NAMES),
    kind=st.sampled_from(("*", *(kind.value for kind in Kind))),
    days=st.integers(1, 36_500),
)


def days_pass(rig: Rig, days: float) -> None:
    rig.clock.advance(int(days * DAY_MS))  # type: ignore[attr-defined]  # the clock of this test has it


def archived(rig: Rig) -> set[str]:
    return {str(one) for (one,) in rig.rows("SELECT text FROM memories WHERE status_reason = 'retention'")}


@given(st.lists(RULES, max_size=8, unique_by=lambda rule: (rule.space, rule.kind)))
def test_what_is_written_is_read_again(rules: list[RetentionRule]) -> None:
    assert parse_rules(format_rules(rules)) == tuple(sorted(rules))


@given(st.text(max_size=80))
def test_whatever_is_written_is_read_without_a_fault(written: str) -> None:
    assert all(1 <= rule.days <= 36_500 for rule in parse_rules(written))


def test_the_sweep_archives_what_is_over_and_an_undo_brings_it_back(rig: Rig) -> None:
    for text, space in (("Plums are ripe.", "garden"), ("The hall is green.", "home"), ("Bees sleep.", "garden")):
        rig.store(text, space=space)
    pinned = rig.store("The gate squeaks.", space="garden").memory_id
    rig.engine.library.revise_memories([pinned], Revision(pinned=True)).result(30)
    episode = rig.store("We dug a pond.", space="garden", kind=Kind.EPISODE).memory_id
    assert rig.engine.retention.set_rule("garden", "fact", 30).result(30)[0].over == 0
    days_pass(rig, 31)
    ran = run(rig, SweepJob(), ground_of(rig, {}))
    assert ran.counts == {"retention": 2}
    assert archived(rig) == {"Plums are ripe.", "Bees sleep."}
    assert rig.get(episode).status is Status.ACTIVE
    assert set(reasons(rig).values()) == {"retention"}
    rig.undo(ran.step_id)
    assert archived(rig) == set()
    assert {str(status) for (status,) in rig.rows("SELECT status FROM memories")} == {"active"}


def test_a_rule_is_shown_before_it_is_set_and_the_shortest_holds(rig: Rig) -> None:
    rig.store("Plums are ripe.", space="garden")
    rig.store("The hall is green.", space="home")
    days_pass(rig, 40)
    retention = rig.engine.retention
    line = retention.preview_rule("*", "*", 30).result(30)
    assert (line.over, len(line.ids)) == (2, 2)
    assert retention.read_rules().result(30) == ()
    retention.set_rule("*", "fact", 90).result(30)
    lines = retention.set_rule("garden", "*", 30).result(30)
    assert [(one.space, one.kind, one.days, one.over) for one in lines] == [
        ("*", "fact", 90, 0),
        ("garden", "*", 30, 1),
    ]
    row = rig.engine.jobs.run(JobType.SWEEP).result(60)
    assert row.report["retention"] == 1
    assert archived(rig) == {"Plums are ripe."}
    rig.undo(row.step_id)
    assert [one.over for one in retention.read_rules().result(30)] == [0, 0]  # what was taken back is left alone
    assert retention.set_rule("garden", "*", 0).result(30) == lines[:1]
    rig.undo()
    assert len(retention.read_rules().result(30)) == 2


@pytest.mark.parametrize(
    ("space", "kind", "days"),
    [("", "fact", 3), (" home", "fact", 3), ("a;b", "fact", 3), ("home", "shoe", 3), ("home", "fact", 36_501)],
)
def test_a_rule_that_is_none_is_refused_in_words(rig: Rig, space: str, kind: str, days: int) -> None:
    with refused(Code.INVALID_INPUT):
        rig.engine.retention.preview_rule(space, kind, days)
    with refused(Code.NOT_FOUND):
        rig.engine.retention.set_rule("home", "fact", 0)
    error = error_of(rig.engine.settings.set_option("retention", "home for ever"))
    assert error.code is Code.CONFIG_INVALID
    assert "work:episode:365" in error.sentence


def test_what_is_confidential_keeps_its_tier_in_the_archive(rig: Rig) -> None:
    memory_id = rig.store("My card is 4111 1111 1111 1111.", space="garden").memory_id
    days_pass(rig, 2)
    run(rig, SweepJob(), ground_of(rig, {"retention": "garden:*:1"}))
    assert (rig.get(memory_id).status, rig.get(memory_id).tier) == (Status.ARCHIVED, SecurityTier.CONFIDENTIAL)
