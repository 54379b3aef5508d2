"""`loci bench` from end to end on few texts: every figure is there, and nothing is left behind."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from app.bench import measure
from app.bench import measure as report
from app.bench.machine import describe_machine, read_system_load, resident_mb
from app.bench.measure import compute_percentiles
from app.cli import commands
from app.cli.output import Output
from core.security.passphrase import KdfCost

COUNT = 60
ASKED = 20
"""Questions of the one run; that a real one asks enough of them for a 99th percentile is a test of its own."""
THREE = {"p50_ms", "p95_ms", "p99_ms"}
COLD = {
    "start_ms", "kdf_ms", "unlock_ms", "first_ms", "warm_ms", "linked_ms", "answers", "closing_ms", "index", "memory",
}  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Mapping[str, Any], list[str], Path]:
    """One run, what it said, and the folder it worked in."""
    folder = tmp_path_factory.mktemp("bench")
    told: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        patch.setattr(measure, "QUERIES", ASKED)
        patch.setattr(measure, "_COLD_QUERIES", 5)
        patch.setattr(measure, "_ALONE", 2)
        patch.setattr(KdfCost, "standard", KdfCost.lowest)
        found = measure.run_bench(COUNT, told.append)
    return found, told, folder


@pytest.mark.starts_process
def test_every_figure_is_there(run: tuple[Mapping[str, Any], list[str], Path]) -> None:
    found, _, _ = run
    assert found["n"] == COUNT
    assert {"cores", "memory_gib", "python", "system", "load", "load_at_the_end"} == found["machine"].keys()
    brought = found["import"]
    assert brought["stored"] == COUNT
    assert min(brought["per_s"], brought["embedder_per_s"], brought["share"], brought["seconds"]) > 0
    assert min(brought["embedder_processor_ms"], brought["processor_ms"]) > 0
    assert found["store"]["count"] == 10
    assert found["store"].keys() > THREE
    recall = found["recall"]
    assert recall["queries"] == ASKED
    assert recall["processor_ms"] > 0
    assert 0 < recall["answered"] <= recall["queries"]
    assert (
        recall["total"].keys() == recall["embed"].keys() == recall["search"].keys() == recall["alone"].keys() == THREE
    )
    assert recall["total"]["p50_ms"] <= recall["total"]["p95_ms"] <= recall["total"]["p99_ms"]
    assert found["files"]["vault_bytes"] > 0
    assert found["files"]["snapshot_bytes"] > 0


def test_a_run_asks_enough_for_a_99th_percentile() -> None:
    assert measure.QUERIES >= 200


@pytest.mark.starts_process
@pytest.mark.parametrize("name", ["cold", "rebuilt"])
def test_a_cold_start_is_measured_in_its_parts(run: tuple[Mapping[str, Any], list[str], Path], name: str) -> None:
    cold = run[0][name]
    assert cold.keys() == COLD
    assert 0 < cold["unlock_ms"] <= cold["first_ms"]
    assert cold["warm_ms"] <= cold["linked_ms"]
    assert cold["index"]["loaded"] == cold["index"]["total"] == COUNT + 10
    assert cold["index"]["snapshot_refused"] == (None if name == "cold" else "absent")
    memory = cold["memory"]
    assert memory["bare_mb"] < memory["opened_mb"] <= memory["peak_mb"]


@pytest.mark.starts_process
def test_nothing_is_left_behind(run: tuple[Mapping[str, Any], list[str], Path]) -> None:
    _, told, folder = run
    assert list(folder.iterdir()) == []
    assert told


@pytest.mark.starts_process
def test_the_figures_are_json(run: tuple[Mapping[str, Any], list[str], Path]) -> None:
    assert json.loads(json.dumps(run[0], allow_nan=False)) == run[0]


@pytest.mark.starts_process
def test_the_table_names_machine_and_figures(run: tuple[Mapping[str, Any], list[str], Path]) -> None:
    out = StringIO()
    report.print_report(Output(as_json=False, out=out), run[0])
    text = out.getvalue()
    assert f"{COUNT} messages on {run[0]['machine']['cores']} cores" in text
    for words in ("store one", "import", "bare embedder", "recall, all", "unlock to first answer", "memory", "files"):
        assert f"\n{words}" in text
    assert f"of {ASKED} answered" in text


@pytest.mark.starts_process
def test_the_table_stands_where_the_system_tells_nothing(run: tuple[Mapping[str, Any], list[str], Path]) -> None:
    unknown = {**run[0], "cold": {**run[0]["cold"], "memory": dict.fromkeys(run[0]["cold"]["memory"])}}
    assert "? MB, ? MB above" in str(dict(report.measurement_rows(unknown))["memory"])


def test_percentiles_by_nearest_rank() -> None:
    assert compute_percentiles([float(v) for v in range(1, 101)]) == {"p50_ms": 50.0, "p95_ms": 95.0, "p99_ms": 99.0}
    assert compute_percentiles([3.0]) == {"p50_ms": 3.0, "p95_ms": 3.0, "p99_ms": 3.0}
    assert compute_percentiles([2.0, 1.0]) == {"p50_ms": 1.0, "p95_ms": 2.0, "p99_ms": 2.0}


def test_the_machine_is_told() -> None:
    found = describe_machine()
    assert found["cores"] >= 1
    assert found["python"].count(".") == 2
    assert read_system_load() is None or read_system_load() >= 0  # type: ignore[operator]  # each call narrows anew
    used, peak = resident_mb(), resident_mb(peak=True)
    assert used is None or (peak is not None and 5 < used <= peak)


def test_the_command_prints_one_document(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[int] = []

    def stand_in(count: int, tell: Any) -> dict[str, Any]:
        asked.append(count)
        tell("working")
        return {"n": count}

    monkeypatch.setattr(measure, "run_bench", stand_in)
    commands.loci.main(commands.hoist_json_option(["bench", "--n", "70", "--json"]), standalone_mode=False)
    said = capsys.readouterr()
    assert json.loads(said.out) == {"n": 70}
    assert said.err == "working\n"
    assert asked == [70]
