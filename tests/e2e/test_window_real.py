"""The window as a new user meets it: the real process on a screen of its own, used by mouse and keys alone."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from cli_rig import FIXTURES, Palace
from contract_shapes import check_verified
from window_process import Driven, on, screen

SECRET = "seven quiet herons above the fjord"
WRONG = "eight loud herons above the fjord"
OLD = "Tile B won."
NEW = "Tile C won in the end, after a second firing."
EXPORT = max((FIXTURES / "chatgpt").glob("*.zip"), key=lambda path: path.stat().st_size)


@pytest.fixture
def newcomer(tmp_path: Path) -> Palace:
    """A person with an export in Downloads and no palace yet."""
    palace = Palace(tmp_path)
    downloads = tmp_path / "Downloads"
    downloads.mkdir()
    shutil.copy(EXPORT, downloads)
    return palace


@pytest.mark.timeout(240)
def test_a_newcomer_gets_from_the_first_run_to_an_undone_correction(newcomer: Palace) -> None:
    story = ("whole_story", newcomer)
    with screen() as display, Driven(*story, on(newcomer, display), SECRET, WRONG, OLD, NEW) as window:
        result = window.ended()
    assert result.code == 0, result.out + result.err
    assert result.err == ""
    logged = "\n".join(path.read_text(encoding="utf-8") for path in newcomer.home.rglob("loci.log*"))
    # How long the window stood still says how busy this machine is; the benchmark measures that.
    lines = [line for line in logged.splitlines() if " loci.ui.watchdog " not in line]
    assert [line for line in lines if re.search(" (WARNING|ERROR|CRITICAL) ", line)] == []
    options = (newcomer.home / "window.json").read_text(encoding="utf-8")
    assert json.loads(options)["state"]["house.page"] == "library"
    for words in (OLD, NEW, SECRET, "Celadon", "which glaze", str(newcomer.folder)):
        assert words not in logged
        assert words not in options
    # What the command line sees afterwards is what the person left: the old text stands, the correction is undone.
    newcomer.secret.write_text(SECRET + "\n", encoding="utf-8")
    texts = [item["text"] for item in newcomer.json("list", "--limit", "1000")["items"]]
    assert sum(text.startswith(OLD) for text in texts) == 1
    assert NEW not in texts
    check_verified(newcomer.json("verify"))
