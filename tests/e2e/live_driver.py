"""The window stands open while others write: a program of its own, started like `window_driver.py`.

The person pairs a client with a code, then only looks; what the client and the chat keep must appear by itself.
"""

from __future__ import annotations

import sys
from functools import partial

import window_driver
from PySide6.QtWidgets import QAbstractButton, QLabel, QTableView, QToolButton
from window_driver import Hands, Steps, Wait, drive, opening

CODE = "One-time code: "


def live(hands: Hands) -> Steps:
    """Unlock, pair whoever asks with the code, open the library, touch nothing more until all is seen; close."""
    yield from opening(hands)
    hands.click((yield hands.seen(QToolButton, "Clients*")))
    yield from hands.press("Pair an assistant*")
    label: QLabel = yield Wait("the code is shown", lambda: next(iter(hands.all(QLabel, CODE + "*")), None))
    print(f"code: {label.accessibleName().removeprefix(CODE).replace(', ', '')}", flush=True)
    hands.click((yield hands.seen(QAbstractButton, "Allow")))
    yield from hands.press("Close")
    hands.click((yield hands.seen(QToolButton, "Library*")))
    yield Wait("the library is open", lambda: _shown(hands))
    for text in hands.words[1:]:
        yield Wait(f"it shows {text}", partial(_holds, hands, text))
    hands.window.close()


def _holds(hands: Hands, text: str) -> bool:
    return text in _shown(hands)


def _shown(hands: Hands) -> str:
    table = hands.see(QTableView, "Memories")
    return "" if table is None else hands.cells(table)


if __name__ == "__main__":
    window_driver.SCENARIOS["live"] = live
    sys.exit(drive(sys.argv[1:]))
