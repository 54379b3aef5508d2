"""`loci demo`: the tour gives its four answers with reasons, and leaves nothing behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from cli_rig import Palace, Result, files_below
from contract_shapes import check_import, check_recall

TOUR = json.loads((files("resources") / "demo" / "queries.json").read_text(encoding="utf-8"))["tour"]
_WALKS = 5


@pytest.fixture
def temporary(palace: Palace) -> Path:
    """The directory for temporary files of the palace's processes."""
    folder = palace.folder / "temporary"
    folder.mkdir()
    palace.environment["TMPDIR"] = str(folder)
    return folder


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Whoever runs the tests in the background may have been started deaf to Ctrl+C, and its children with it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_the_tour_answers_its_questions_with_reasons(palace: Palace, temporary: Path) -> None:
    before = files_below(palace.folder)
    told = palace.bare("--json", "demo")
    assert told.err == ""
    reply = told.document
    assert len(reply["imports"]) == 3
    for report in reply["imports"]:
        check_import(report)
        assert report["errors"] == []
    assert len(reply["recalls"]) == len(TOUR) == 4
    for question, found in zip(TOUR, reply["recalls"], strict=True):
        check_recall(found, explained=True)
        assert any(question["expect"] in item["text"] for item in found["items"]), question["query"]
    stored = sum(report["stored"] for report in reply["imports"])
    assert stored >= 60  # some 60 dated messages and notes
    assert reply["status"]["memories"]["total"] >= stored
    assert list(temporary.iterdir()) == []
    assert files_below(palace.folder) == before


def test_the_tour_in_words(palace: Palace, temporary: Path) -> None:
    told = palace.bare("demo")
    assert (told.code, told.err) == (0, "")
    sections = told.out.split("\n── ")
    for question in TOUR:
        parts = [part for part in sections if part.startswith(question["query"])]
        if "as_of" in question:
            parts = [part for part in parts if f"(as of {question['as_of']})" in part]
        assert parts
        assert all("    - " in part for part in parts)  # reasons
        assert any(question["expect"] in part for part in parts)
    (status,) = (part for part in sections if part.startswith("The palace now"))
    assert "memories" in status
    assert "index" in status
    assert "loci init" in told.out
    assert list(temporary.iterdir()) == []


@pytest.mark.usefixtures("interruptible")
def test_a_tour_that_is_stopped_leaves_nothing_either(palace: Palace, temporary: Path) -> None:
    # A machine may come back to this test only when the tour is over: then it was not stopped, and walks once more.
    ended = next(walk for walk in (stopped(palace) for _ in range(_WALKS)) if walk.code != 0)
    assert ended.code == 130
    assert "Traceback" not in ended.err
    assert list(temporary.iterdir()) == []


def stopped(palace: Palace) -> Result:
    """A tour that is interrupted while it brings something in."""
    walking = subprocess.Popen(
        [sys.executable, "-u", "-m", "app", "demo"],
        cwd=palace.folder,
        env=palace.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert walking.stdout is not None
    for line in walking.stdout:
        if b"Importing" in line:
            break
    walking.send_signal(signal.SIGINT)
    out, err = walking.communicate(timeout=120)
    return Result(walking.returncode, out.decode(), err.decode())
