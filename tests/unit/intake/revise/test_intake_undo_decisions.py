"""Taking back an older decision of the desk, when the story has gone on since."""

from __future__ import annotations

from typing import Any

from desk_rig import DAY_MS, decide, statuses
from engine_rig import Rig

from core.intake.revise.revision import EDITED
from core.types.values import OWNER_ACTOR, Action, Actor
from core.types.views import Revision


def town(rig: Rig, name: str, actor: Actor = OWNER_ACTOR) -> tuple[str, str | None]:
    """Somebody says where the person lives: the memory and the question, if there is one."""
    given: dict[str, Any] = {"subject": "user", "predicate": "lives_in", "value": name, "exclusive": True}
    reply = rig.store(f"The person lives in {name}", actor, space="home", claim=given)
    rig.clock.advance(DAY_MS)  # type: ignore[attr-defined]  # the clock of this rig has it
    return reply.memory_id, reply.conflict


def decided(rig: Rig) -> tuple[str, str, str]:
    """The person takes what a client brought instead of what stood: both, and the step."""
    graz, _ = town(rig, "Graz")
    wien, item = town(rig, "Vienna", rig.client("aster", "read", "write", "space:home"))
    step = decide(rig, str(item), Action.SUPERSEDE).step_id
    assert statuses(rig, graz, wien) == ["superseded", "active"]
    return graz, wien, str(step)


def test_what_was_replaced_stays_so_while_a_later_version_stands(rig: Rig) -> None:
    graz, wien, step = decided(rig)
    linz, _ = town(rig, "Linz")
    report = rig.undo(step)
    assert statuses(rig, graz, wien, linz) == ["superseded", "superseded", "active"]
    left = {row["now"]["id"] for row in report.left if row["table"] == "memories"}
    assert left == {graz, wien}


def test_what_was_replaced_stays_so_while_its_successor_was_edited(rig: Rig) -> None:
    graz, wien, step = decided(rig)
    (edited,) = (
        rig.engine.library.revise_memories([wien], Revision(text="The person lives in old Vienna")).result(30).ids
    )
    rig.undo(step)
    assert statuses(rig, graz, edited) == ["superseded", "active"]
    assert rig.value("SELECT status_reason FROM memories WHERE id = ?", wien) == EDITED


def test_a_decision_that_is_the_last_word_is_taken_back_whole(rig: Rig) -> None:
    graz, wien, step = decided(rig)
    linz, _ = town(rig, "Linz")
    rig.undo()
    assert rig.undo(step).left == ()
    assert statuses(rig, graz, wien) == ["active", "quarantined"]
    assert rig.rows("SELECT 1 FROM memories WHERE id = ?", linz) == []
