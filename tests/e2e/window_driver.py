"""Uses the window as a person does: a program of its own, `window_driver.py SCENARIO FOLDER [WORDS …] -- [VERB …]`.

It goes through the real door, `app.__main__.main`, with events of mouse and keys alone, on widgets found by what a
screen reader would say. Every step waits for what it needs; one that waits too long says which it was, keeps a picture
in the folder and ends with 1. Standing in for a window manager, it makes new windows the active ones.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QEvent, QPoint, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QLabel,
    QLineEdit,
    QListWidget,
    QMainWindow,
    QPlainTextEdit,
    QTableView,
    QTextEdit,
    QToolButton,
    QWidget,
)

from app.__main__ import main
from app.window.application import make_application

W = TypeVar("W", bound=QWidget)
LOOK_MS = 25
STEP_S = 40.0
GROUPS = 9


@dataclass(frozen=True, slots=True)
class Wait:
    """What a step waits for.

    Attributes:
        step: its name, for the person who reads of a failure.
        look: gives what was waited for; None, False and empty for not yet.
    """

    step: str
    look: Callable[[], Any]


Steps = Generator[Wait, Any, None]


class Hands:
    """Eyes and hands of the person."""

    def __init__(self, app: QApplication, folder: Path, words: list[str]) -> None:
        self.app, self.folder, self.words = app, folder, words

    # ---- eyes

    def all(self, kind: type[W], name: str) -> list[W]:
        """Visible widgets of a kind whose accessible name begins so."""
        found = [w for w in self.app.allWidgets() if isinstance(w, kind) and w.isVisible()]
        return [w for w in found if w.accessibleName() == name or (name[-1:] == "*" and _begins(w, name))]

    def see(self, kind: type[W], name: str) -> W | None:
        """The one that can be used, with nothing over it."""
        found = [w for w in self.all(kind, name) if w.isEnabled() and self._is_free(w)]
        return found[0] if len(found) == 1 else None

    def _is_free(self, widget: QWidget) -> bool:
        if self.app.activeWindow() is None:
            return False  # the window is drawn before the screen gives it the keyboard
        modal = self.app.activeModalWidget()
        if modal is not None and modal is not widget and not modal.isAncestorOf(widget):
            return False
        there = self.app.widgetAt(widget.mapToGlobal(_middle(widget)))
        return there is not None and (there is widget or widget.isAncestorOf(there))

    def says(self, pattern: str) -> str | None:
        """What a visible label says, if it is what is looked for."""
        for one in self.app.allWidgets():
            if isinstance(one, QLabel) and one.isVisible() and re.search(pattern, one.text()):
                return one.text()
        return None

    def cells(self, table: QAbstractItemView) -> str:
        """All that a list or table shows."""
        return "\n".join(_cells(table.model()))

    def has_window(self) -> bool:
        """Whether it is there already."""
        return any(isinstance(one, QMainWindow) and one.isVisible() for one in self.app.topLevelWidgets())

    @property
    def window(self) -> QMainWindow:
        """The window."""
        return next(w for w in self.app.topLevelWidgets() if isinstance(w, QMainWindow))

    # ---- hands

    def click(self, widget: QWidget) -> None:
        """Press a widget in its middle."""
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, _middle(widget))

    def fill(self, widget: QWidget, text: str) -> None:
        """Go into a field by the mouse and type."""
        self.click(widget)
        self.write(text)

    def write(self, text: str) -> None:
        """Type where the keyboard is."""
        target = self.app.focusWidget()
        assert target is not None, "nothing has the keyboard"
        for character in text:
            if character.isascii():
                QTest.keyClicks(target, character)
                continue
            for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):  # Qt's test tools know Latin letters only
                made = QKeyEvent(kind, Qt.Key.Key_unknown, Qt.KeyboardModifier.NoModifier, character)
                QApplication.sendEvent(target, made)

    def keys(self, keys: str) -> None:
        """Press keys where the keyboard is."""
        target = self.app.focusWidget() or self.app.activeWindow()
        assert target is not None, f"nothing has the keyboard for {keys}"
        QTest.keySequence(target, QKeySequence(keys))

    # ---- waiting

    def seen(self, kind: type[QWidget], name: str) -> Wait:
        """Wait for a widget that can be used."""
        return Wait(f"“{name}” can be used", lambda: self.see(kind, name))

    def said(self, pattern: str) -> Wait:
        """Wait until a label says something."""
        return Wait(f"somebody says “{pattern}”", lambda: self.says(pattern))

    def press(self, name: str) -> Steps:
        """Wait for a button and press it."""
        self.click((yield self.seen(QAbstractButton, name)))

    def told(self) -> Wait:
        """Wait for the test."""
        flag = self.folder / "go-on"

        def look() -> bool:
            is_there = flag.exists()
            flag.unlink(missing_ok=True)
            return is_there

        return Wait("the test says go on", look)


def _begins(widget: QWidget, name: str) -> bool:
    return widget.accessibleName().startswith(name[:-1])


def _middle(widget: QWidget) -> QPoint:
    return widget.visibleRegion().boundingRect().center()


def _cells(model: QAbstractItemModel) -> list[str]:
    columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount()
    return [str(model.index(row, at).data() or "") for row in range(model.rowCount()) for at in range(columns)]


class Driver:
    """Carries out a scenario, one step at a time, while the window lives."""

    def __init__(self, hands: Hands, steps: Steps) -> None:
        self._hands, self._steps = hands, steps
        self.failure = ""
        self.is_done = self._is_busy = False
        self._wait: Wait | None = None
        self._until = 0.0
        self._timer = QTimer()
        self._timer.timeout.connect(self._look)
        self._timer.start(LOOK_MS)

    def _look(self) -> None:
        if self._is_busy:  # a step opened something with an event loop of its own
            return
        self._is_busy = True
        try:
            self._manage()
            self._go()
        except Exception as error:  # noqa: BLE001 - told to the test, whatever it is
            self._fail(f"{type(error).__name__}: {error}")
        finally:
            self._is_busy = False

    def _manage(self) -> None:
        """What a window manager would do."""
        shown = [w for w in self._hands.app.topLevelWidgets() if w.isVisible() and w.windowHandle() is not None]
        wanted = self._hands.app.activeModalWidget() or next((w for w in shown if isinstance(w, QMainWindow)), None)
        if wanted is not None and not wanted.isMinimized() and QGuiApplication.focusWindow() is None:
            wanted.activateWindow()

    def _go(self) -> None:
        if self._wait is None:
            self._next(None)
            return
        found = self._wait.look()
        if found:
            self._next(found)
        elif time.monotonic() > self._until:
            self._fail("")

    def _next(self, found: Any) -> None:
        if self._wait is not None:
            taken = STEP_S + time.monotonic() - self._until
            print(f"done: {self._wait.step}\n  after {taken:.1f} s", flush=True)
        try:
            self._wait = self._steps.send(found)
        except StopIteration:
            self.is_done = True
            self._timer.stop()
        else:
            self._until = time.monotonic() + STEP_S

    def _fail(self, why: str) -> None:
        self._timer.stop()
        step = self._wait.step if self._wait is not None else "the beginning"
        screen = QGuiApplication.primaryScreen()
        screen.grabWindow(0).save(str(self._hands.folder / "failed.png"))
        seen = sorted({w.accessibleName() for w in self._hands.app.allWidgets() if w.isVisible()} - {""})
        self.failure = f"failed: {step}. {why}\n  there is: {' | '.join(seen)}\n  keyboard: {_focus(self._hands.app)}"
        self._hands.app.exit(1)


def _focus(app: QApplication) -> str:
    has = app.focusWidget()
    return "nobody" if has is None else f"{type(has).__name__} {has.accessibleName()}"


# ---- scenarios


def whole_story(hands: Hands) -> Steps:
    """First run, bring history, find, correct, undo, lock, unlock, quit."""
    secret, wrong, old, new = hands.words
    yield from _first_run(hands, secret)
    yield from _bring_history(hands)
    yield from _find_and_correct(hands, old, new)
    yield from _undo(hands, old, new)
    yield from _lock(hands, wrong)
    yield from _unlock(hands, secret)
    yield Wait("the library is there again", lambda: old in _library(hands))
    hands.keys("Ctrl+Q")


def _first_run(hands: Hands, secret: str) -> Steps:
    hands.fill((yield hands.seen(QLineEdit, "Passphrase")), "abc")
    yield Wait("a weak passphrase is called weak", lambda: hands.all(QWidget, "Strength: Very weak*"))
    hands.keys("Ctrl+A")
    hands.write(secret)
    yield Wait("a strong one is called strong", lambda: hands.all(QWidget, "Strength: Very strong*"))
    hands.keys("Return")
    again = hands.all(QLineEdit, "Repeated passphrase")[0]
    yield Wait("Enter leads to the second field", again.hasFocus)
    hands.write(secret)
    hands.keys("Return")
    yield hands.said("Your recovery code")
    code = dict(_group(label) for label in hands.all(QLabel, "Group *"))
    assert len(code) == GROUPS, code.keys()
    yield from hands.press("I have saved it")
    yield hands.said("Confirm your code")
    fields = hands.all(QLineEdit, "Group *")
    hands.fill(fields[0], "nope")
    yield from hands.press("Find my exports")
    yield hands.said("do(es)? not match")
    for field in fields:
        hands.click(field)
        hands.keys("Ctrl+A")
        hands.write(code[int(field.accessibleName().split()[1])].lower())


def _group(label: QLabel) -> tuple[int, str]:
    return int(label.accessibleName().split(":")[0].split()[1]), label.text()


def _bring_history(hands: Hands) -> Steps:
    yield from hands.press("Find my exports")
    plan = yield Wait("the rehearsal is seen", lambda: _filled(hands, "Conversations"))
    assert "Celadon glaze for the tall vase" in hands.cells(plan)
    hands.click((yield hands.seen(QAbstractButton, "Import *")))
    yield from hands.press("Show in the palace")
    yield Wait("the palace has rooms", lambda: hands.says(r"\d+ placed in \d+ rooms?$"))
    plan = yield hands.seen(QWidget, "Floor plan*")
    assert plan.hasFocus(), "the floor plan does not have the keyboard"
    before = plan.accessibleDescription()
    hands.keys("Down")
    yield Wait("an arrow walks", lambda: plan.accessibleDescription() != before)


def _filled(hands: Hands, name: str) -> QTableView | None:
    table = hands.see(QTableView, name)
    return table if table is not None and table.model().rowCount() else None


def _find_and_correct(hands: Hands, old: str, new: str) -> Steps:
    hands.keys("Ctrl+3")  # on the palace itself it looks through the plan
    yield Wait("the library is shown", lambda: hands.see(QTableView, "Memories"))
    hands.keys("Ctrl+7")  # the library has a field of its own
    yield Wait("the timeline is shown, with the window's search field", lambda: hands.see(QLineEdit, "Search"))
    hands.keys("Ctrl+F")
    yield Wait("Ctrl+F leads to the search field", lambda: _with_keyboard(hands, QLineEdit, "Search"))
    hands.write("which glaze tile won")
    answers: QListWidget = yield Wait("the sentence is found", lambda: _answers(hands, old))
    row = next(at for at in range(answers.count()) if old in answers.item(at).text())
    middle = answers.visualItemRect(answers.item(row)).center()
    QTest.mouseClick(answers.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, middle)
    yield Wait("the inspector shows it", lambda: old in _text(hands))
    yield from hands.press("Edit")
    yield Wait("it is written again", lambda: _with_keyboard(hands, QPlainTextEdit, "Text of the memory"))
    hands.keys("Ctrl+A")
    hands.write(new)
    hands.keys("Ctrl+Return")
    yield Wait("the inspector shows the new text", lambda: new in _text(hands))
    hands.keys("Ctrl+3")
    yield Wait("the library shows the new text", lambda: new in _library(hands))
    assert old not in _library(hands)


def _with_keyboard(hands: Hands, kind: type[W], name: str) -> W | None:
    found = hands.see(kind, name)
    return found if found is not None and found.hasFocus() else None


def _answers(hands: Hands, text: str) -> QListWidget | None:
    found = hands.see(QListWidget, "Answers")
    return found if found is not None and text in hands.cells(found) else None


def _text(hands: Hands) -> str:
    return "\n".join(view.toPlainText() for view in hands.all(QTextEdit, "Text of the memory"))


def _library(hands: Hands) -> str:
    table = hands.see(QTableView, "Memories")
    return "" if table is None else hands.cells(table)


def _undo(hands: Hands, old: str, new: str) -> Steps:
    hands.keys("Ctrl+Z")
    yield Wait("the library shows the old text again", lambda: old in _library(hands) and new not in _library(hands))
    yield Wait("the inspector shows the old text again", lambda: old in _text(hands) and new not in _text(hands))
    yield hands.said("^Undone")


def _lock(hands: Hands, wrong: str) -> Steps:
    hands.keys("Ctrl+L")
    yield Wait("the gate asks for the passphrase", lambda: _with_keyboard(hands, QLineEdit, "Passphrase"))
    # What was shown is deleted by the event loop in its next turns, which may come after the gate's.
    yield Wait("nothing of the vault is left", lambda: not _left(hands))
    hands.write(wrong)
    hands.keys("Return")
    yield hands.said("does not open this vault")


def _left(hands: Hands) -> list[str]:
    return [found for widget in hands.app.allWidgets() for found in _words_of(widget) if _is_of_the_vault(found)]


def _unlock(hands: Hands, secret: str) -> Steps:
    field = yield Wait("a passphrase can be typed", lambda: _with_keyboard(hands, QLineEdit, "Passphrase"))
    assert field.text() == ""
    hands.write(secret)
    hands.keys("Return")


def _is_of_the_vault(text: str) -> bool:
    return any(part in text for part in ("Tile", "vase", "Lofoten", "rooms", "ChatGPT"))


def _words_of(widget: QWidget) -> list[str]:
    words = [widget.windowTitle(), widget.toolTip(), widget.accessibleName(), widget.accessibleDescription()]
    words += [action.text() for action in widget.actions()]
    for name in ("text", "toPlainText", "currentText", "placeholderText"):
        said = getattr(widget, name, None)
        if callable(said):
            words.append(str(said()))
    if isinstance(widget, QAbstractItemView) and widget.model() is not None:
        words += _cells(widget.model())
    return words


def taking_over(hands: Hands) -> Steps:
    """Wait at the gate, unlock when told, close the window when told."""
    yield Wait("the gate waits", lambda: _with_keyboard(hands, QLineEdit, "Passphrase"))
    yield hands.told()
    yield from opening(hands)
    yield hands.told()
    hands.window.close()


def opening(hands: Hands) -> Steps:
    """Unlock; then nothing."""
    yield from _unlock(hands, hands.words[0])
    yield Wait("it is open", lambda: hands.see(QToolButton, "Palace"))


def opened(hands: Hands) -> Steps:
    """Be open without having asked anything; close the window."""
    yield Wait("it is open", lambda: hands.see(QToolButton, "Palace"))
    hands.window.close()


def raised(hands: Hands) -> Steps:
    """Be minimised, wait to be raised, close the window when told."""
    yield Wait("the card gives way to the window", hands.has_window)
    hands.window.showMinimized()
    yield Wait("it is minimised", hands.window.isMinimized)
    yield Wait("it is raised", lambda: hands.window.isVisible() and not hands.window.isMinimized())
    yield hands.told()
    hands.window.close()


def locked(hands: Hands) -> Steps:
    """Unlock, lock, wait until somebody else unlocks; close the window."""
    yield from opening(hands)
    yield from hands.press("Lock")
    yield Wait("it is locked again", lambda: _with_keyboard(hands, QLineEdit, "Passphrase"))
    yield Wait("it opens by itself", lambda: hands.see(QToolButton, "Palace"))
    hands.window.close()


def walk(hands: Hands) -> Steps:
    """Wait until the sample palace can be walked through; then nothing."""
    yield Wait("the sample is being built", lambda: hands.says("Building a sample palace"))
    yield Wait("the palace is walkable", lambda: hands.says(r"placed in \d+ wings"))


def building(hands: Hands) -> Steps:
    """Wait until the sample palace is being built; then nothing."""
    yield Wait("the sample is being built", lambda: hands.says("Building a sample palace"))


SCENARIOS = {
    scenario.__name__: scenario
    for scenario in (whole_story, taking_over, opening, opened, raised, locked, walk, building)
}


def drive(arguments: list[str]) -> int:
    """Run a scenario in this process.

    Args:
        arguments: scenario, folder, words for it; the verbs of the command line after `--`.

    Returns:
        The exit code of the window; 1 where the scenario came to no end, or where a widget outlived the window.
    """
    at = arguments.index("--")
    (scenario, folder, *words), verbs = arguments[:at], arguments[at + 1 :]
    app = make_application()
    hands = Hands(app, Path(folder), words)
    driver = Driver(hands, SCENARIOS[scenario](hands))
    code = main(verbs)
    left = [type(one).__name__ for one in app.allWidgets()]
    if driver.is_done and not left:
        return code
    told = f"failed: left behind by the window: {left}" if driver.is_done else ""
    print(driver.failure or told or "failed: it ended before the scenario did", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(drive(sys.argv[1:]))
