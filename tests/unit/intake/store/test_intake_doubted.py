"""What is itself disputed ends nothing that was said before it: the late newcomer stands, shares the doubt or waits."""

from __future__ import annotations

from typing import Any

from desk_rig import DAY_MS
from engine_rig import START_MS, Rig, differences

from core.engine.imports.comparison import compare_imported
from core.types.reviews import Decision
from core.types.values import OWNER_ACTOR, Action, Actor, Source, When


def town(rig: Rig, name: str, day: int, source: Source | None = None, actor: Actor = OWNER_ACTOR) -> str:
    """The person lives there, said on a day, told by some source."""
    claim: dict[str, Any] = {"subject": "user", "predicate": "lives_in", "value": name, "exclusive": True}
    at = When(START_MS + day * DAY_MS)
    told = f"My home town is {name}"
    return rig.store(told, actor, claim=claim, occurred=at, source=source, space="home").memory_id


def doubt(rig: Rig, memory_id: str) -> None:
    """The person says that it is wrong."""
    rig.engine.memories.dispute(memory_id, OWNER_ACTOR, "no").result(30)


def standing(rig: Rig) -> dict[str, str]:
    """Town to status."""
    found = rig.rows("SELECT text, status FROM memories ORDER BY n")
    return {str(text).removeprefix("My home town is "): str(status) for text, status in found}


def waiting(rig: Rig) -> list[tuple[str, str]]:
    """Reason and newcomer of what waits."""
    found = rig.rows(
        "SELECT c.reason, m.text FROM conflicts c JOIN memories m ON m.id = c.incoming_id WHERE c.state = 'open'"
    )
    return [(str(reason), str(text).removeprefix("My home town is ")) for reason, text in found]


def test_an_equal_of_a_disputed_memory_shares_its_doubt(rig: Rig) -> None:
    town(rig, "Linz", 40, Source.TOOL_OUTPUT)
    town(rig, "Wels", 50, Source.TOOL_OUTPUT, rig.client("probe", "read", "write", "space:home"))
    item = rig.value("SELECT id FROM conflicts")
    rig.engine.conflicts.resolve(item, Decision(Action.DISPUTE_BOTH), OWNER_ACTOR).result(30)
    before = rig.dump()
    town(rig, "Graz", 0, Source.TOOL_OUTPUT)
    assert standing(rig) == {"Linz": "disputed", "Wels": "disputed", "Graz": "disputed"}
    assert waiting(rig) == [("beside_disputed", "Graz")]
    rig.undo()
    assert differences(before, rig.dump()) == {}


def test_what_counts_for_less_than_a_disputed_memory_waits(rig: Rig) -> None:
    doubt(rig, town(rig, "Linz", 40))
    town(rig, "Graz", 0, Source.DOCUMENT)
    assert standing(rig) == {"Linz": "disputed", "Graz": "quarantined"}
    assert waiting(rig) == [("beside_disputed", "Graz")]
    assert rig.found("home town") == []


def test_the_persons_word_stands_beside_what_the_person_doubts(rig: Rig) -> None:
    doubt(rig, town(rig, "Linz", 40))
    town(rig, "Graz", 0)
    assert standing(rig) == {"Linz": "disputed", "Graz": "active"}
    assert waiting(rig) == [("beside_disputed", "Graz")]
    assert rig.found("home town") == ["My home town is Graz"]


def test_what_stands_ends_an_older_one_whatever_is_disputed_beside_it(rig: Rig) -> None:
    wels = town(rig, "Wels", 20, Source.TOOL_OUTPUT)
    town(rig, "Linz", 10, Source.TOOL_OUTPUT, rig.client("probe", "read", "write", "space:home"))
    asked = waiting(rig)
    graz = town(rig, "Graz", 0, Source.DOCUMENT)
    assert standing(rig) == {"Wels": "active", "Linz": "disputed", "Graz": "superseded"}
    assert rig.value("SELECT superseded_by_id FROM memories WHERE id = ?", graz) == wels
    assert waiting(rig) == asked


def test_an_imported_fact_is_not_ended_by_a_disputed_one(rig: Rig) -> None:
    doubt(rig, town(rig, "Linz", 40))
    claim = {"subject": "user", "predicate": "lives_in", "value": "Graz", "exclusive": True}
    row = {"text": "My home town is Graz", "kind": "fact", "time": "2023-03-01T10:00:00Z", "claim": claim, "ref": "a"}
    rig.bring([{**row, "source": "document"}])
    compare_imported(rig.opened.storage, rig.opened.search)
    assert standing(rig) == {"Linz": "disputed", "Graz": "quarantined"}
    assert waiting(rig) == [("beside_disputed", "Graz")]
