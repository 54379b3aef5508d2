"""Seed B's memory stats: counts of every kind by the state of its life."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from belief_rig import change
from engine_rig import START_MS, HandClock, Rig, rig_at

from core.lifecycle.gauges import count_gauges_by_state
from core.types.values import Kind
from core.vault.database.tx import Tx


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as rig:
        rig.opened.storage.threads.stop_tickers()
        yield rig


def count(rig: Rig, *spaces: str) -> dict[str, dict[str, object]]:
    ids = {rig.value("SELECT id FROM spaces WHERE name = ?", name) for name in spaces} or None
    return rig.opened.storage.vault.read(lambda rows: count_gauges_by_state(rows, ids, rig.clock.now_ms()))


def test_an_empty_vault(rig: Rig) -> None:
    assert count(rig) == {
        "episodes": {"total": 0, "unconsolidated": 0, "backlog_age_hours": None},
        "facts": {"active": 0, "fading": 0, "superseded": 0, "expired": 0},
        "rules": {"candidate": 0, "established": 0, "proven": 0, "anti_pattern": 0, "forgotten": 0},
    }


def test_episode_stats(rig: Rig) -> None:
    ids = [rig.store(f"We met {name}", kind=Kind.EPISODE).memory_id for name in ("Anna", "Ben", "Cem")]
    rig.write(lambda tx: tx.insert("episodes", {"memory_id": ids[0], "consolidated_at": START_MS}))
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(90 * 60_000)
    assert count(rig)["episodes"] == {"total": 3, "unconsolidated": 2, "backlog_age_hours": 1.5}


def test_fact_stats(rig: Rig) -> None:
    ids = [rig.store(f"Fact of {word}").memory_id for word in ("oak", "elm", "ash", "fir", "yew")]
    rig.write(lambda tx: tx.insert("fading", {"memory_id": ids[1], "since": START_MS, "confidence": 0.1}))
    change(rig, ids[2], status="superseded", status_reason="replaced")
    change(rig, ids[3], status="archived", status_reason="expired")
    change(rig, ids[4], status="archived", status_reason="rejected")
    assert count(rig)["facts"] == {"active": 1, "fading": 1, "superseded": 1, "expired": 1}


def test_rule_stats(rig: Rig) -> None:
    words = ("oak", "elm", "ash", "fir", "yew", "box")
    ids = [rig.store(f"Rule of {word}", kind=Kind.RULE).memory_id for word in words]
    for memory_id, maturity in zip(ids, ("established", "proven", "candidate"), strict=False):
        rig.write(partial(Tx.insert, table="rules", row={"memory_id": memory_id, "maturity": maturity}))
    rig.write(partial(Tx.insert, table="rules", row={"memory_id": ids[3], "is_antipattern": 1}))
    rig.forget(ids[4])
    assert count(rig)["rules"] == {
        "candidate": 2, "established": 1, "proven": 1, "anti_pattern": 1, "forgotten": 1,
    }  # fmt: skip


def test_scope_filtering_on_stats(rig: Rig) -> None:
    rig.store("Fact of oak", space="work")
    rig.store("Fact of elm", space="home")
    rig.store("Rule of elm", space="home", kind=Kind.RULE)
    assert count(rig, "work")["facts"]["active"] == 1
    assert count(rig, "work")["rules"]["candidate"] == 0
    assert count(rig, "work", "home")["facts"]["active"] == 2
