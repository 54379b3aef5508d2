"""What the strength of a stored memory is read from, table by table."""

from __future__ import annotations

import numpy as np
import pytest
from decay_rig import DAY_MS, put
from engine_rig import START_MS, Rig

from core.memory.read import (
    STRENGTH_COLUMNS,
    STRENGTH_JOINS,
    STRENGTH_WIDTH,
    read_courses,
    read_strength_by_id,
    read_strengths,
)
from core.score.decay import strength_course


def test_every_input_reaches_the_formula(rig: Rig) -> None:
    used = START_MS - 9 * DAY_MS
    spared = START_MS - 5 * DAY_MS
    put(
        rig, "m", days=60, importance=0.3, access_count=7, last_accessed_at=used, arousal=0.4, replays=2, boost=0.2,
        spared=(spared, START_MS),
    )  # fmt: skip
    rows = [{"session": f"s{nr}", "memory_id": "m", "last_at": START_MS} for nr in range(3)]
    rig.write(lambda tx: tx.insert_many("accesses", rows))
    found = rig.rows(f"SELECT {STRENGTH_COLUMNS} FROM memories m{STRENGTH_JOINS}")  # noqa: S608 - constants of the module
    assert len(found[0]) == STRENGTH_WIDTH
    wanted = strength_course(
        importance=0.3, recorded_at=START_MS - 60 * DAY_MS, last_accessed_at=used, access_count=7, sessions=3, pinned=0,
        arousal=0.4, spared_at=spared, replays=2, boost=0.2,
    )  # fmt: skip
    read = read_courses(found)
    assert float(read.since[0]) == float(wanted.since)
    assert float(read.begun[0]) == pytest.approx(float(wanted.begun))
    assert float(read.tau[0]) == pytest.approx(float(wanted.tau))


def test_what_has_no_row_beside_it_is_read_all_the_same(rig: Rig) -> None:
    put(rig, "plain", days=30)
    put(rig, "pinned", days=300, pinned=1)
    values = rig.opened.storage.vault.read(
        lambda rows: read_strength_by_id(rows, ["pinned", "plain", "nobody"], START_MS)
    )
    assert values == {"plain": pytest.approx(0.375), "pinned": 1.0}


def test_nothing_has_no_strength(rig: Rig) -> None:
    assert read_strengths([], START_MS).shape == np.zeros(0).shape
    assert rig.opened.storage.vault.read(lambda rows: read_strength_by_id(rows, [], START_MS)) == {}
