"""The group of the timeline over a real engine: counts after every kind of change, pages, moments, a topic's line."""

from __future__ import annotations

import gc
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from engine_rig import START_MS, Rig, error_of, facts, refused

from core.engine.views.timeline import Timeline
from core.errors import Code
from core.types.values import Kind, When
from core.types.views import BELIEVED, TRUE, Revision, TimeFilter, Transition

DAY_MS = 86_400_000


def ms(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)


def put(rig: Rig, row: dict[str, Any]) -> None:
    rig.write(lambda tx: tx.insert("edges", row))


def total(rig: Rig) -> int:
    return rig.engine.timeline.count_by_period("month").result(30).total


def test_counts_follow_what_happens(rig: Rig) -> None:
    assert total(rig) == 0
    kept = rig.store("The boat is called Heron.", occurred=When(ms("2023-05-04")))
    gone = rig.store("The shed is green.")
    assert total(rig) == 2
    rig.forget(gone.memory_id)
    assert total(rig) == 1
    rig.undo()
    assert total(rig) == 2
    found = rig.engine.timeline.count_by_period("month").result(30)
    assert sum(found.totals) == 2
    assert found.totals[0] == found.totals[-1] == 1
    page = rig.engine.timeline.list_period(found.starts[0], found.starts[1]).result(30)
    assert [row.id for row in page.rows] == [kept.memory_id]


def test_days_are_those_of_the_zone_it_is_given(rig: Rig) -> None:
    for at in ("2023-10-28T21:30", "2023-10-28T22:30", "2023-10-29T22:30", "2023-10-29T23:30"):
        rig.store(f"It struck at {at}.", occurred=When(ms(at)))
    group = Timeline(lambda: rig.opened.storage, lambda: rig.opened.search, ZoneInfo("Europe/Berlin"))
    found = group.count_by_period("day").result(30)
    assert found.totals == (1, 2, 1)  # the twenty-ninth had 25 hours
    assert (found.starts[2] - found.starts[1]) == 25 * 3_600_000


def test_pages_of_an_import_follow_each_other(rig: Rig) -> None:
    rig.bring([row | {"time": f"2023-03-{1 + nr:02d}"} for nr, row in enumerate(facts(7))])
    seen: list[str] = []
    after = None
    for _ in range(4):
        page = rig.engine.timeline.list_period(ms("2023-01-01"), ms("2024-01-01"), after=after, limit=2).result(30)
        seen += [row.head for row in page.rows]
        after = page.after
    assert seen == [f"The shelf holds jar number {nr}" for nr in range(7)]
    assert after is None


def test_what_was_believed_and_what_was_true(rig: Rig) -> None:
    first = rig.store("The rent is 700.", occurred=When(ms("2023-01-01")))
    rig.clock.advance(30 * DAY_MS)  # type: ignore[attr-defined]  # the clock of this rig moves by hand
    rig.engine.library.revise_memories([first.memory_id], Revision(text="The rent is 800.")).result(30)
    timeline = rig.engine.timeline

    def heads(at_ms: int, axis: str) -> list[str]:
        return [row.head for row in timeline.list_valid_at(at_ms, axis).result(30).rows]

    assert heads(START_MS - DAY_MS, BELIEVED) == []
    assert heads(START_MS + DAY_MS, BELIEVED) == ["The rent is 700."]
    assert heads(START_MS + 31 * DAY_MS, BELIEVED) == ["The rent is 800."]
    assert heads(START_MS + DAY_MS, TRUE) == ["The rent is 800."]  # it was only worded anew
    assert [
        row.head
        for row in timeline.list_valid_at(START_MS + DAY_MS, BELIEVED, TimeFilter(kinds=(Kind.RULE,))).result(30).rows
    ] == []
    assert error_of(timeline.list_valid_at(0, "liked")).code is Code.INVALID_INPUT


def test_the_line_of_a_topic(rig: Rig) -> None:
    first = rig.store("uses vim", occurred=When(ms("2023-01-10")))
    second = rig.store("uses vim daily", occurred=When(ms("2023-02-14")))
    third = rig.store("switched to Helix", occurred=When(ms("2023-03-01")))
    rig.store("likes quinces", occurred=When(ms("2023-02-01")))
    for one, other, kind in ((second, first, "supports"), (third, first, "contradicts")):
        row = {
            "id": f"edge-{kind}", "from_id": one.memory_id, "to_id": other.memory_id, "type": kind,
            "space_id": rig.value("SELECT space_id FROM memories LIMIT 1"), "made_by": "owner", "recorded_at": 0,
        }  # fmt: skip
        put(rig, row)
    found = rig.engine.timeline.trace_evolution(" vim ").result(30)
    assert found.topic == "vim"
    assert [(event.row.id, event.transition) for event in found.events] == [
        (first.memory_id, Transition.START),
        (second.memory_id, Transition.REINFORCEMENT),
        (third.memory_id, Transition.CORRECTION),
    ]
    assert [event.gap_ms for event in found.events] == [None, 35 * DAY_MS, 15 * DAY_MS]
    with refused(Code.INVALID_INPUT):
        rig.engine.timeline.trace_evolution("  ")


@pytest.mark.slow
def test_a_locked_vault_tells_nothing_and_keeps_nothing(rig: Rig) -> None:
    rig.store("The boat is called Heron.")
    assert total(rig) == 1
    timeline = rig.engine.timeline
    assert timeline._kept is not None
    rig.lock()
    with refused(Code.VAULT_LOCKED):
        timeline.count_by_period("month")
    gc.collect()
    assert timeline._kept is None


def test_nothing_is_read_anew_while_nothing_changes(rig: Rig) -> None:
    rig.store("The boat is called Heron.")
    timeline = rig.engine.timeline
    total(rig)
    kept = timeline._kept
    assert kept is not None
    timeline.list_valid_at(START_MS, BELIEVED).result(30)
    total(rig)
    assert timeline._kept is not None
    assert timeline._kept.columns is kept.columns
    assert timeline._kept.spans is not None
