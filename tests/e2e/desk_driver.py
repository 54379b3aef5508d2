"""The conflict desk by keyboard alone: a program of its own, started like `window_driver.py`.

It says on standard output what was decided about which question, so that a test can look at the vault afterwards.
"""

from __future__ import annotations

import sys
import time

import window_driver
from PySide6.QtWidgets import QListView, QListWidget, QPlainTextEdit
from window_driver import Hands, Steps, Wait, drive, opening

BREATH_S = 0.8


def desk(hands: Hands) -> Steps:
    """Unlock; decide one, decide another and take that back, decide two at once, correct one; quit."""
    corrected = hands.words[1]
    yield from opening(hands)
    hands.keys("Ctrl+4")
    yield Wait("the queue has the keyboard", lambda: (queue := _queue(hands)) is not None and queue.hasFocus())
    yield from _rests(hands, 6)
    first = _question(hands)
    yield from _press(hands, "Right", 5, "supersede")
    assert _question(hands) != first
    second = _question(hands)
    yield from _press(hands, "B", 4, "keep_both")
    hands.keys("Ctrl+Z")
    yield from _rests(hands, 5)
    yield Wait("what was taken back is asked again", lambda: _question(hands) == second)
    yield Wait("it is said", lambda: hands.says("^Undone"))
    print(f"undone: {second}", flush=True)
    hands.keys("Home")
    hands.keys("Shift+Down")
    chosen: QListWidget = yield Wait("two are chosen", lambda: hands.see(QListWidget, "Selection"))
    for line in hands.cells(chosen).splitlines():
        print(f"chosen: {line}", flush=True)
    yield from _press(hands, "Left", 3, "")
    print(f"merge: {_question(hands)}", flush=True)
    hands.keys("E")
    yield Wait("a text can be written", lambda: _field(hands))
    hands.keys("Ctrl+A")
    hands.write(corrected)
    hands.keys("Ctrl+Return")
    yield from _rests(hands, 2)
    hands.keys("Ctrl+Q")


def _queue(hands: Hands) -> QListView | None:
    found: QListView | None = hands.see(QListView, "Waiting for you")
    return found


def _field(hands: Hands) -> bool:
    field = hands.see(QPlainTextEdit, "Final text")
    return field is not None and field.hasFocus()


def _question(hands: Hands) -> str:
    return hands.says(r"\?$") or ""


def _press(hands: Hands, keys: str, left: int, decided: str) -> Steps:
    if decided:
        print(f"{decided}: {_question(hands)}", flush=True)
    hands.keys(keys)
    yield from _rests(hands, left)


def _rests(hands: Hands, rows: int) -> Steps:
    """Wait until so many rows are left and the desk takes keys again."""
    yield Wait(f"{rows} are left", lambda: (queue := _queue(hands)) is not None and queue.model().rowCount() == rows)
    yield Wait(f"the head says {rows}", lambda: hands.says(f"^{rows} open$"))
    since = time.monotonic()
    yield Wait("a breath", lambda: time.monotonic() - since > BREATH_S)


if __name__ == "__main__":
    window_driver.SCENARIOS["desk"] = desk
    sys.exit(drive(sys.argv[1:]))
