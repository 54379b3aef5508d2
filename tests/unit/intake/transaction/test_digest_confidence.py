"""How sure a digest is goes by how firmly its sources are remembered now, not by a number that nobody keeps (C8)."""

from __future__ import annotations

from functools import partial

import pytest
from engine_rig import Rig
from gathering_rig import told

from core.intake.transaction.sources import digest_confidence
from core.memory.read import read_strength_by_id
from core.vault.database.tx import Tx


def test_the_sources_count_by_their_strength_of_now(rig: Rig) -> None:
    now = rig.clock.now_ms()
    kept = told(rig, "The kiln stands in the shed.", 300, used_days=1)
    faded = told(rig, "The kiln was bought in Linz.", 300)
    digest = told(rig, "The kiln stands in the shed.\nThe kiln was bought in Linz.", 1)
    for source, sure, stale in ((kept, 0.9, 0.01), (faded, 0.1, 0.99)):
        made = {"derived_id": digest, "source_id": source, "space_id": "home", "recorded_at": now}
        rig.write(partial(_made_of, made=made, columns={"confidence": sure, "strength": stale}))
    strong = rig.opened.storage.vault.read(lambda rows: read_strength_by_id(rows, [kept, faded], now))
    assert strong[kept] > strong[faded] > 0
    expected = (0.9 * strong[kept] + 0.1 * strong[faded]) / (strong[kept] + strong[faded])
    found = rig.opened.storage.vault.read(lambda rows: digest_confidence(rows, digest, 0.3, now))
    assert found == pytest.approx(expected)
    assert rig.opened.storage.vault.read(lambda rows: digest_confidence(rows, kept, 0.3, now)) == 0.3


def _made_of(tx: Tx, made: dict[str, object], columns: dict[str, object]) -> None:
    tx.update("memories", {"id": made["source_id"]}, columns)
    tx.insert("derivations", made)
