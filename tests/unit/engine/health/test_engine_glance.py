"""What the window asks every other second: the same figures as the report's, whatever waits or is summed up."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_rig import rig_at

from core.engine import health as metrics


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
