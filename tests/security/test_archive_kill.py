"""An import of an archive that is killed behind any of its transactions is taken back by the next start."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import archive_child
import pytest
from archive_rig import LATER_MS, archived_rows, export_all, golden_rig, import_all, other_rig
from engine_rig import HandClock, differences, rig_at
from killed_process import run_child

_STATE = "SELECT state FROM imports WHERE format = 'archive'"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("golden")
    with golden_rig(folder) as rig:
        yield export_all(rig, folder / "all.loci")


@pytest.mark.starts_process
@pytest.mark.parametrize("after", [1, 3, 6, 11])
def test_a_kill_leaves_nothing_of_it(archive: Path, tmp_path: Path, after: int) -> None:
    with other_rig(tmp_path) as rig:
        root, before = rig.root, rig.dump()
    order = {"folder": str(tmp_path), "root": root.hex(), "path": str(archive), "after": after}
    killed = run_child(archive_child, order)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    with rig_at(tmp_path, clock=HandClock(LATER_MS), root=root) as rig:
        assert rig.rows(_STATE) == [("running",)]
        assert rig.engine.imports.finish_interrupted().result(60) == 1
        assert rig.rows(_STATE) == [("undone",)]
        assert differences(before, rig.dump()) == {}
        assert rig.verify()["status"] == "ok"
        assert import_all(rig, archive).stored == len(
            [row for row in archived_rows(rig)["memories"] if not row["part_index"]]
        )
