"""What was said before what stands and comes in late: it takes its place between the versions, by time."""

from __future__ import annotations

from typing import Any

from desk_rig import DAY_MS
from engine_rig import START_MS, Rig, differences

from core.types.values import When


def town(rig: Rig, name: str, day: int) -> str:
    """The person lives there, said on a day."""
    given: dict[str, Any] = {"subject": "user", "predicate": "lives_in", "value": name, "exclusive": True}
    return rig.store(f"My home town is {name}", claim=given, occurred=When(START_MS + day * DAY_MS)).memory_id


def then(rig: Rig, day: int) -> list[str]:
    """Where the person lived on a day."""
    found = rig.recall("home town", as_of_ms=START_MS + day * DAY_MS, limit=10).items
    return [item.memory.text.removeprefix("My home town is ") for item in found]


def test_late_facts_end_what_stood_before_them(rig: Rig) -> None:
    graz, linz, wels, steyr = (town(rig, *one) for one in (("Graz", 0), ("Linz", 40), ("Wels", 20), ("Steyr", -10)))
    assert {day: then(rig, day) for day in (-20, -5, 5, 25, 60)} == {
        -20: [], -5: ["Steyr"], 5: ["Graz"], 25: ["Wels"], 60: ["Linz"],
    }  # fmt: skip
    found: dict[str, str | None] = dict(rig.rows("SELECT id, superseded_by_id FROM memories"))
    assert found == {steyr: graz, graz: wels, wels: linz, linz: None}
    assert [rig.value("SELECT version FROM memories WHERE id = ?", one) for one in (steyr, graz, wels, linz)] == [
        1, 2, 3, 4,
    ]  # fmt: skip
    ends = rig.rows("SELECT value, valid_to FROM claims WHERE state = 'superseded'")
    assert ends == [("Graz", START_MS + 20 * DAY_MS)]


def test_a_late_fact_that_is_taken_back_leaves_no_trace(rig: Rig) -> None:
    town(rig, "Graz", 0)
    town(rig, "Linz", 40)
    before = rig.dump()
    town(rig, "Wels", 20)
    assert differences(before, rig.dump())
    rig.undo()
    rig.settle()
    assert differences(before, rig.dump()) == {}


def test_a_late_fact_ends_no_more_of_a_version_than_it_contradicts(rig: Rig) -> None:
    first = town(rig, "Graz", 0)
    work: dict[str, Any] = {"subject": "user", "predicate": "works_at", "value": "Siemens", "exclusive": True}
    rig.store("My home town is Graz", claim=work, occurred=When(START_MS))
    town(rig, "Linz", 40)
    town(rig, "Wels", 20)
    assert rig.value("SELECT valid_to FROM memories WHERE id = ?", first) == START_MS + 40 * DAY_MS
    assert rig.rows("SELECT value, valid_to FROM claims WHERE value IN ('Graz', 'Siemens') ORDER BY value") == [
        ("Graz", START_MS + 20 * DAY_MS), ("Siemens", START_MS + 40 * DAY_MS),
    ]  # fmt: skip
