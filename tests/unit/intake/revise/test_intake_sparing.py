"""Sparing a memory: one step, counted from now, taken back by undo."""

from __future__ import annotations

from typing import Any

import pytest
from belief_rig import change
from decay_rig import DAY_MS, put
from engine_rig import START_MS, Rig, later, refused

from core.errors import Code
from core.intake.revise.revision import spare_memories
from core.memory.read import read_strength_by_id
from core.types.values import OWNER_ACTOR, Status
from core.types.views import Revision


def spared(rig: Rig) -> dict[str, tuple[int, int]]:
    return {row[0]: (row[1], row[2]) for row in rig.rows("SELECT memory_id, at, until FROM spared")}


def say(rig: Rig, *ids: str, days: int = 90) -> str:
    step: str = rig.write(lambda tx: spare_memories(tx, rig.opened.storage.work, ids, days, OWNER_ACTOR))
    return step


def test_it_is_one_step_that_can_be_taken_back(rig: Rig) -> None:
    put(rig, "a", days=60)
    put(rig, "b", days=60)
    step = say(rig, "a", "b", days=30)
    assert spared(rig) == dict.fromkeys("ab", (START_MS, START_MS + 30 * DAY_MS))
    assert rig.value("SELECT label FROM undo_steps WHERE id = ?", step) == "Spare 2 memories"
    assert rig.undo(step).restored == 2
    assert spared(rig) == {}
    assert rig.value("SELECT count(*) FROM memories") == 2
    assert rig.value("SELECT label FROM undo_steps WHERE id = ?", say(rig, "a")) == "Spare a memory"


def test_strength_counts_from_the_sparing(rig: Rig) -> None:
    put(rig, "m", days=60)
    say(rig, "m")

    def strength() -> float:
        now = rig.clock.now_ms()
        return rig.opened.storage.vault.read(lambda rows: read_strength_by_id(rows, ["m", "nobody"], now))["m"]

    assert strength() == 0.75
    later(rig, 30)
    assert strength() == pytest.approx(0.375)


def test_sparing_again_never_shortens_it(rig: Rig) -> None:
    put(rig, "m")
    say(rig, "m", days=90)
    later(rig, 10)
    say(rig, "m", days=7)
    assert spared(rig) == {"m": (START_MS + 10 * DAY_MS, START_MS + 90 * DAY_MS)}


def test_a_split_text_is_spared_as_a_whole_and_what_fades_stays_marked(rig: Rig) -> None:
    put(rig, "head")
    put(rig, "tail", part_of="head", part_index=1)
    row = {"memory_id": "head", "since": START_MS, "confidence": 0.1}
    rig.write(lambda tx: tx.insert("fading", row))
    say(rig, "tail")
    assert set(spared(rig)) == {"head", "tail"}
    assert rig.value("SELECT count(*) FROM fading") == 1


@pytest.mark.parametrize("days", [0, -1, 3_651])
def test_days_out_of_bounds_are_refused(rig: Rig, days: int) -> None:
    put(rig, "m")
    with refused(Code.INVALID_INPUT):
        say(rig, "m", days=days)


def test_what_does_not_stand_is_left_out(rig: Rig) -> None:
    put(rig, "stands")
    put(rig, "gone", status="archived")
    say(rig, "stands", "gone")
    assert set(spared(rig)) == {"stands"}
    with refused(Code.NOT_FOUND):
        say(rig, "gone", "nobody")


def test_what_the_person_brings_back_is_spared(rig: Rig) -> None:
    put(rig, "faded", days=400, kind="episode")
    put(rig, "fact", days=400)
    change(rig, "faded", status="archived", status_reason="faded", retired_at=START_MS)
    change(rig, "fact", status="archived", status_reason="expired", retired_at=START_MS)
    back: Any = rig.engine.library.revise_memories(["faded", "fact"], Revision(status=Status.ACTIVE)).result(30)
    assert back.changed == 2
    assert set(spared(rig)) == {"faded", "fact"}
    rig.undo(back.step_id)
    assert spared(rig) == {}
