"""Fixtures of the window's tests: a real engine, a context over it, and no widget may stay behind."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest
from engine_rig import Rig
from inspector_rig import shown_inspector
from PySide6.QtCore import QTimer
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from window_rig import window_context

from app.qt import load_qt
from ui.context import Context
from ui.inspector.panel import Inspector
from ui.theme.theme import Icons

load_qt()
DAY_MS = 86_400_000


@pytest.fixture
def context(qtbot: QtBot, rig: Rig) -> Iterator[Context]:
    """What pages are given."""
    assert qtbot is not None
    with window_context(rig.engine) as made:
        yield made


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    """Stands for the main window, where a dialog needs one."""
    made = QWidget()
    made.resize(1200, 800)
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.fixture
def inspector(qtbot: QtBot, context: Context) -> Iterator[Inspector]:
    """An inspector that is shown beside nothing."""
    with shown_inspector(qtbot, context) as made:
        yield made


@pytest.fixture(scope="session", autouse=True)
def icons_drawn_once(qapp: QApplication) -> Iterator[None]:
    """A picture of an icon tells by its name, size, colour and ratio alone: it is drawn once, not for each theme made.

    Every test makes a theme, whose icons took a twelfth of the time of these tests.
    """
    drawn: dict[tuple[str, int, str, float], QPixmap] = {}
    render = Icons._render_pixmap

    def render_once(icons: Icons, name: str, size: int, colour: str, dpr: float) -> QPixmap:
        key = (name, size, colour, dpr)
        if key not in drawn:
            drawn[key] = render(icons, name, size, colour, dpr)
        return drawn[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Icons, "_render_pixmap", render_once)
        yield
    drawn.clear()  # before the application ends, without which no picture may be


@pytest.fixture(scope="session", autouse=True)
def clipboard_emptied(qapp: QApplication) -> Iterator[None]:
    """Without a screen the clipboard outlives the interpreter: what Python put there would end the run in a crash."""
    yield
    qapp.clipboard().clear()


@pytest.fixture(scope="module", autouse=True)
def what_stands_is_not_searched() -> None:
    """What is there before a module's tests stays: each of them then collects its own garbage in no time.

    Without it, half of the time of these tests went into looking through modules, icons and syntax trees.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def collected_here() -> Iterator[None]:
    """Garbage is collected on this thread alone, as in the program: a widget freed by an engine thread ends the run.

    What stands before a test is searched no more, so that its own garbage alone is.
    """
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.enable()
    gc.collect()


@pytest.fixture(autouse=True)
def no_widget_left(qapp: QApplication) -> Iterator[None]:
    """Fail a test that leaves a top-level widget or a running timer behind."""
    before = set(map(id, qapp.topLevelWidgets()))
    yield
    for _ in range(3):
        qapp.sendPostedEvents(None, 52)  # DeferredDelete
        qapp.processEvents()
    left = [w for w in qapp.topLevelWidgets() if id(w) not in before and not w.isHidden()]
    names = [f"{type(widget).__name__} {widget.objectName()}" for widget in left]
    for widget in left:
        widget.close()
        widget.deleteLater()
    timers = [timer for timer in qapp.findChildren(QTimer) if timer.isActive() and timer.parent() is qapp]
    if names or timers:
        pytest.fail(f"left behind: {', '.join(names)}; {len(timers)} timers", pytrace=False)


@pytest.fixture(autouse=True)
def no_hidden_widget_was_left(qapp: QApplication, collected_here: None) -> None:
    """Fail where the test before left any window behind, a hidden one too: nothing owns it and nothing frees it.

    Every change of the look goes through all widgets there are; a few dozen dialogs that stayed cost each test after
    them half a second. It is asked now, since a test holds its fixtures until it has ended.
    """
    left = qapp.topLevelWidgets()
    names = sorted({f"{type(widget).__name__} {widget.objectName()}".strip() for widget in left})
    for widget in left:
        widget.deleteLater()
    qapp.sendPostedEvents(None, 52)  # DeferredDelete: it is told once, not to every test that follows
    # What a failure raised holds the frames of that test, and with them its widgets.
    if names and getattr(sys, "last_value", None) is None:
        pytest.fail(f"left behind by the test before: {', '.join(names)}", pytrace=False)
