"""The gauges of one memory: their numbers are those of lists and the palace, their days are those of the sweep."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from belief_rig import change, item
from decay_rig import DAY_MS, put
from engine_rig import START_MS, Rig, refused
from ground_rig import ground_of

from core.errors import Code
from core.lifecycle.gauges import read_gauges
from core.lifecycle.sweep import plan_sweep
from core.memory.read import read_strength_by_id
from core.score.decay import BASE_TAU_DAYS
from core.types.lifecycle import Curve, Gauges, JobAction, PlannedAction


def read(rig: Rig, memory_id: str, **options: Any) -> Gauges:
    known, now = ground_of(rig, options).options, rig.clock.now_ms()
    return rig.opened.storage.vault.read(lambda rows: read_gauges(rows, memory_id, known, now))


def swept(rig: Rig, at_ms: int) -> list[PlannedAction]:
    known = ground_of(rig).options
    return rig.opened.storage.vault.read(lambda rows: plan_sweep(rows, known, at_ms))


def at(curve: Curve, day: float) -> float:
    return curve.values[curve.days.index(day)]


def test_the_numbers_are_those_of_lists_and_the_palace(rig: Rig) -> None:
    names = [
        put(rig, "plain", days=60),
        put(rig, "moving", days=60, arousal=0.8),
        put(rig, "used", days=60, access_count=7, last_accessed_at=START_MS - 9 * DAY_MS),
        put(rig, "replayed", days=60, access_count=3, replays=2, boost=0.4),
        put(rig, "spared", days=60, spared=(START_MS - 5 * DAY_MS, START_MS + DAY_MS)),
        put(rig, "pinned", days=60, pinned=1),
    ]
    rows = [{"session": f"s{nr}", "memory_id": "used", "count": 2, "last_at": START_MS} for nr in range(3)]
    rig.write(lambda tx: tx.insert_many("accesses", rows))
    rig.settle()
    rig.engine.palace.place_waiting().result(30)
    listed = {row.id: row.strength for row in rig.engine.library.read_rows(names).result(30)}
    (room,) = {row[0] for row in rig.rows("SELECT room_id FROM places")}
    loci = rig.engine.palace.read_loci(room).result(30)
    placed = dict(zip(loci.ids, loci.strength.tolist(), strict=True))
    now = rig.clock.now_ms()
    named = rig.opened.storage.vault.read(lambda rows: read_strength_by_id(rows, names, now))
    shown = {name: read(rig, name).strength for name in names}
    assert shown == listed == named
    assert placed == pytest.approx(shown, abs=1e-6)
    assert len(set(shown.values())) == len(names)
    assert shown["moving"] == pytest.approx(1.15 * math.exp(-60 / (BASE_TAU_DAYS * 1.8)))
    tau = BASE_TAU_DAYS * (1 + math.log(7))
    assert shown["used"] == pytest.approx(min(1.0, 0.75 * math.exp(-9 / tau) * (1 + 0.3 * math.log(3))))


def test_the_curves_are_the_formulas(rig: Rig) -> None:
    put(rig, "m", days=100)
    found = read(rig, "m")
    for curve, value in ((found.strength_curve, found.strength), (found.confidence_curve, found.confidence)):
        assert 55 <= len(curve.days) == len(curve.values) <= 65
        assert curve.days[0] == -100.0
        assert curve.days[-1] == 365.0
        assert at(curve, 0.0) == value
        assert list(curve.days) == sorted(curve.days)
        assert list(curve.values) == sorted(curve.values, reverse=True)
    days = 100 + np.array(found.confidence_curve.days)
    assert found.confidence_curve.values == pytest.approx(0.9 * np.exp(-0.008 * days))
    assert found.strength_curve.values == pytest.approx(0.75 * np.exp2(-days / 30))


def test_the_strength_curve_begins_with_the_last_touch(rig: Rig) -> None:
    put(rig, "m", days=100, access_count=1, last_accessed_at=START_MS - 20 * DAY_MS)
    assert read(rig, "m").strength_curve.days[0] == -20.0


def test_it_fades_on_the_day_told(rig: Rig) -> None:
    put(rig, "m", days=10, access_count=500, last_accessed_at=START_MS)
    fades = read(rig, "m").fades_at
    assert fades is not None
    assert fades == pytest.approx(START_MS + (math.log(0.9 / 0.2) / 0.008 - 10) * DAY_MS, abs=1)
    assert swept(rig, fades - 1_000) == []
    assert [deed.action for deed in swept(rig, fades + 1_000)] == [JobAction.FADE]


@pytest.mark.parametrize(
    "columns",
    [
        {"permanence": "permanent"},
        {"access_count": 500, "last_accessed_at": START_MS},
        {"permanence": "ephemeral", "access_count": 500, "last_accessed_at": START_MS},
        {"kind": "episode"},
        {"permanence": "ephemeral", "access_count": 500, "spared": (START_MS, START_MS + 77 * DAY_MS)},
    ],
)
def test_it_is_archived_on_the_day_told(rig: Rig, columns: dict[str, Any]) -> None:
    put(rig, "m", days=10, **columns)
    leaves = read(rig, "m").archived_at
    assert leaves is not None
    gone = (JobAction.EXPIRE, JobAction.ARCHIVE)
    assert not [deed for deed in swept(rig, leaves - 1_000) if deed.action in gone]
    assert [deed.action for deed in swept(rig, leaves + 1_000) if deed.action in gone]


def test_what_is_protected_without_an_end_is_not_archived(rig: Rig) -> None:
    put(rig, "m", days=400, importance=0.8)
    assert (read(rig, "m").protected_by, read(rig, "m").archived_at) == (("important",), None)
    item(rig, "m")
    assert read(rig, "m").protected_by == ("important", "in_review")
    put(rig, "gone", days=400, status="archived")
    assert read(rig, "gone").archived_at is None


def test_what_is_below_its_lines_already(rig: Rig) -> None:
    put(rig, "m", days=1_000)
    rig.write(lambda tx: tx.insert("fading", {"memory_id": "m", "since": START_MS, "confidence": 0.1}))
    found = read(rig, "m", fading_below=0.3, expired_below=0.1, archive_below=0.02)
    assert (found.fading_below, found.expired_below, found.archive_below) == (0.3, 0.1, 0.02)
    assert (found.fades_at, found.archived_at, found.is_fading) == (None, START_MS, True)
    assert (found.permanence, found.spared_until, found.protected_by) == ("standard", None, ())


def test_a_permanent_fact_and_an_episode_keep_their_confidence(rig: Rig) -> None:
    put(rig, "fact", days=1_000, permanence="permanent")
    put(rig, "episode", days=1_000, kind="episode")
    for name in ("fact", "episode"):
        found = read(rig, name)
        assert (found.permanence, found.confidence, found.fades_at) == ("permanent", 0.9, None)
        assert set(found.confidence_curve.values) == {0.9}
    change(rig, "fact", permanence="stable")
    assert read(rig, "fact").confidence == pytest.approx(0.9 * math.exp(-2))


def test_of_a_split_text_the_part_that_lasts_longest_decides(rig: Rig) -> None:
    put(rig, "head", days=10, permanence="permanent")
    put(rig, "tail", days=10, permanence="permanent", part_of="head", part_index=1, access_count=9)
    head, tail = read(rig, "head"), read(rig, "tail")
    assert head.strength < tail.strength
    assert head.archived_at == tail.archived_at
    assert head.archived_at is not None
    assert swept(rig, head.archived_at - 1_000) == []
    assert [deed.memory_id for deed in swept(rig, head.archived_at + 1_000)] == ["head"]


def test_nobody_has_no_gauges(rig: Rig) -> None:
    with refused(Code.NOT_FOUND):
        read(rig, "nobody")
