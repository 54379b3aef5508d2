"""Reports on a rule: one client alone talks none up or down without end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import START_MS, HandClock, Rig, refused, rig_at

from core.errors import Code
from core.intake.transaction.question_quota import MARKS_A_DAY
from core.types.memory import Judgement
from core.types.values import OWNER_ACTOR, Actor, Kind

DAY_MS = 86_400_000


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, clock=HandClock(START_MS)) as made:
        yield made


def mark(rig: Rig, rule: str, actor: Actor, *, helpful: bool, request_id: str | None = None) -> Judgement:
    return rig.engine.client_changes.mark_rule(rule, actor, helpful=helpful, request_id=request_id).result(60)


def test_a_client_reports_on_one_rule_so_often_a_day(rig: Rig) -> None:
    one, two = (rig.client(name, "read", "write", "space:home") for name in ("one", "two"))
    rule = rig.store("Always water the fern on Mondays.", kind=Kind.RULE, space="home").memory_id
    other = rig.store("Never water the cactus.", kind=Kind.RULE, space="home").memory_id
    first = mark(rig, rule, one, helpful=False, request_id="r")
    for _ in range(MARKS_A_DAY - 1):
        mark(rig, rule, one, helpful=True)
    for helpful in (True, False):
        with refused(Code.RATE_LIMITED):
            mark(rig, rule, one, helpful=helpful)
    assert mark(rig, rule, one, helpful=False, request_id="r").step_id == first.step_id  # it was answered already
    for who, which in ((two, rule), (OWNER_ACTOR, rule), (one, other)):
        mark(rig, which, who, helpful=True)
    clock = rig.clock
    assert isinstance(clock, HandClock)
    clock.advance(DAY_MS + 1)
    mark(rig, rule, one, helpful=True)
