"""Short words for what happens to a memory in its life, each through a door of the engine."""

from __future__ import annotations

from typing import Any

from engine_rig import Rig

from core.types.lifecycle import JobRow, JobState, JobType, RuleState
from core.types.values import OWNER_ACTOR
from core.types.views import Revision


def run(rig: Rig, kind: JobType) -> JobRow:
    """Run a kind of work now; it ends well."""
    row = rig.engine.jobs.run(kind).result(60)
    assert row.state is JobState.DONE, row.code
    return row


def lives(rig: Rig, place: str, **more: Any) -> str:
    """A fact with its claim, as a caller gives both."""
    claim = {"subject": "Bruno", "predicate": "lives_in", "value": place, "exclusive": True}
    return rig.store(f"Bruno lives in {place}.", claim=claim, **more).memory_id


def level(rig: Rig, memory_id: str, permanence: str) -> str:
    """The person says how long a memory lasts."""
    rig.engine.library.revise_memories([memory_id], Revision(permanence=permanence)).result(30)
    return memory_id


def rule_of(rig: Rig, memory_id: str) -> RuleState:
    """How a rule has served."""
    found = rig.engine.outcomes.read_rule(memory_id, OWNER_ACTOR).result(30)
    assert found is not None
    return found


def helpful(rig: Rig, memory_id: str, times: int) -> RuleState:
    """A rule helped so often."""
    for _ in range(times):
        rig.engine.outcomes.mark_helpful(memory_id, OWNER_ACTOR).result(30)
    return rule_of(rig, memory_id)


def harmful(rig: Rig, memory_id: str, *why: str) -> RuleState:
    """A rule harmed, once for each reason."""
    for reason in why:
        rig.engine.outcomes.mark_harmful(memory_id, OWNER_ACTOR, reason).result(30)
    return rule_of(rig, memory_id)
