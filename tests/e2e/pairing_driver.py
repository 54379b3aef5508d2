"""The person connects an assistant in the window by the code it shows: a program like `window_driver.py`."""

from __future__ import annotations

import sys

import window_driver
from PySide6.QtWidgets import QAbstractButton, QApplication, QCheckBox, QLabel, QToolButton
from window_driver import Hands, Steps, Wait, drive

CODE = "One-time code: "


def connecting(hands: Hands) -> Steps:
    """Show a code, tick a space for whoever comes with it, allow it, look at its grants; close the window."""
    yield Wait("it is open", lambda: hands.see(QToolButton, "Palace"))
    hands.click((yield hands.seen(QToolButton, "Clients*")))
    yield from hands.press("Pair an assistant*")
    label: QLabel = yield Wait("the code is shown", lambda: next(iter(hands.all(QLabel, CODE + "*")), None))
    print(f"code: {label.accessibleName().removeprefix(CODE).replace(', ', '')}", flush=True)
    hands.click((yield Wait("home can be ticked", lambda: _box("home"))))
    hands.click((yield hands.seen(QAbstractButton, "Allow")))
    told = yield hands.said("is paired")
    print(f"told: {told}", flush=True)
    yield from hands.press("Its grants*")
    yield Wait("its grants are shown", lambda: (box := _box("home")) is not None and box.isChecked())
    hands.window.close()


def _box(text: str) -> QCheckBox | None:
    boxes = (one for one in QApplication.allWidgets() if isinstance(one, QCheckBox) and one.isVisible())
    return next((one for one in boxes if one.text() == text and one.isEnabled()), None)


if __name__ == "__main__":
    window_driver.SCENARIOS["connecting"] = connecting
    sys.exit(drive(sys.argv[1:]))
