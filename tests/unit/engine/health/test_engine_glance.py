"""What the window asks every other second: the same figures as the report's, whatever waits or is summed up."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from engine_rig import rig_at

from core.engine import health as metrics
from core.vault.database.rows import Rows


def test_a_glance_tells_what_the_report_tells(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig:
        rig.store("The boat is moored in Kappeln.")
        rig.store("The lamp is green.")
        glance = rig.engine.vault.read_status(brief=True).result(30).values
        report = rig.engine.vault.read_status().result(30).values
        assert glance["memories"] == {name: report["memories"][name] for name in ("total", "by_status")}
        assert glance["memories"] == {"total": 2, "by_status": {"active": 2}}
        assert {name: report[name] for name in ("index", "model_server")} == {
            name: glance[name] for name in ("index", "model_server")
        }


def test_a_glance_sums_nothing_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError

    with rig_at(tmp_path) as rig:
        for name in ("count_open_items", "count_gauges_by_state", "count_without_vectors"):
            monkeypatch.setattr(metrics, name, never)
        assert rig.engine.vault.read_status(brief=True).result(30).values["memories"] == {"total": 0, "by_status": {}}


def test_a_glance_walks_through_no_table_of_memories(tmp_path: Path) -> None:
    """It is asked every other second: what it takes off the count of the states is found by an index of the few."""
    with rig_at(tmp_path) as rig:
        rig.store("The boat is moored in Kappeln.")
        asked: list[str] = []

        class Spy:
            """Notes what is asked."""

            def __init__(self, rows: Rows) -> None:
                self.rows = rows

            def all(self, sql: str) -> list[tuple[Any, ...]]:
                asked.append(sql)
                return self.rows.all(sql)

        def explain(rows: Rows) -> list[str]:
            metrics._count_memories_by_column(cast("Rows", Spy(rows)), "status")
            return [" | ".join(str(step[-1]) for step in rows.all(f"EXPLAIN QUERY PLAN {sql}")) for sql in asked]

        states, parts, merges = rig.opened.storage.vault.read(explain)
        assert "COVERING INDEX" in states
        assert "ix_memories_part" in parts
        assert "ix_memories_supersedes" in merges
        assert "SCAN" not in parts + merges
