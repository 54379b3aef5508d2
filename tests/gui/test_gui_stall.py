"""Nothing on the GUI thread takes long: every page is driven over a vault of 20,000 memories.

What is measured is the time the GUI thread itself computes in one turn of its loop, not the clock on the wall: a busy
machine delays a turn, and that is no fault of the window's.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from engine_rig import Rig, rig_at
from gui_budget import assert_within_budget
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QWidget
from pytestqt.qtbot import QtBot
from window_rig import settle, window_context

from core.engine.facade import start_ticker
from core.types.views import FindRequest
from ui.context import Context
from ui.registry import PAGES, ROOMS
from ui.shell.window import MainWindow
from ui.watchdog import Watchdog

COUNT = 20_000
TOPICS = (
    "harbour crane tide mooring pilot rope",
    "bread oven rye starter flour crust",
    "bicycle chain gear brake spoke tyre",
    "garden quince hedge compost frost rake",
    "concert viola rehearsal tempo score bow",
    "map contour river bridge legend ink",
    "garage invoice budget tax receipt bank",
    "tent ridge stove rain boots compass",
)


def rows() -> Iterator[dict[str, object]]:
    """Messages about a few topics, in conversations of twenty."""
    dice = random.Random(7)
    for n in range(COUNT):
        talk = n // 20
        words = TOPICS[talk % len(TOPICS)].split()
        text = f"{dice.choice(words)} {dice.choice(words)} {dice.choice(words)} note {n} on {dice.choice(words)}"
        day = 1 + talk % 28
        yield {
            "text": text.capitalize() + ".",
            "session": f"talk {talk}",
            "author": "user" if n % 2 else "assistant",
            "time": f"2025-{1 + talk % 12:02d}-{day:02d}T10:{n % 60:02d}:00Z",
        }


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """A vault of 20,000 memories, arranged."""
    with rig_at(tmp_path_factory.mktemp("large")) as rig:
        rig.bring(list(rows()))
        rig.engine.palace.place_waiting().result(240)
        yield rig


@pytest.fixture
def window(large: Rig, qtbot: QtBot) -> Iterator[MainWindow]:
    with window_context(large.engine) as context:
        made = MainWindow(context, ROOMS)
        made.resize(1440, 900)
        made.show()
        qtbot.waitExposed(made)
        yield made
        made.close()
        made.deleteLater()


def at_rest(window: MainWindow) -> bool:
    """Whether the page shows all it is about to show."""
    page = None if window.house is None else window.house.page
    return page is not None and page.is_settled() and not window.context.tasks.running


def wheel(target: QWidget, steps: int, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """Turn the wheel over the middle of a widget."""
    middle = QPointF(target.rect().center())
    event = QWheelEvent(
        middle,
        QPointF(target.mapToGlobal(target.rect().center())),
        QPoint(),
        QPoint(0, 120 * steps),
        Qt.MouseButton.NoButton,
        keys,
        Qt.ScrollPhase.NoScrollPhase,
        False,  # noqa: FBT003 - Qt's signature
    )
    QApplication.sendEvent(target, event)


def drive(window: MainWindow, page: QWidget, qtbot: QtBot) -> None:
    """Wheel, drag, keys and clicks over whatever can be scrolled, and over the page itself."""
    areas = [area.viewport() for area in page.findChildren(QAbstractScrollArea) if area.isVisible()]
    canvases = [child for child in page.findChildren(QWidget) if child.isVisible() and child.width() > 600]
    for target in [*areas, *canvases[:4]]:
        for steps in (-3, -3, 5, -8, 3):
            wheel(target, steps)
            qtbot.wait(15)
        centre = target.rect().center()
        QTest.mousePress(target, Qt.MouseButton.LeftButton, pos=centre)
        for step in range(1, 6):
            QTest.mouseMove(target, centre + QPoint(step * 25, step * 10))
            qtbot.wait(10)
        QTest.mouseRelease(target, Qt.MouseButton.LeftButton, pos=centre + QPoint(125, 50))
    for area in page.findChildren(QAbstractScrollArea):
        bar = area.verticalScrollBar()
        for part in (0.25, 0.5, 1.0, 0.0):
            bar.setValue(round(bar.maximum() * part))
            qtbot.wait(15)
    focus = QApplication.focusWidget() or page
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_PageDown, Qt.Key.Key_End, Qt.Key.Key_Home):
        QTest.keyClick(focus, key)
        qtbot.wait(15)
    settle(qtbot, lambda: at_rest(window), 60_000)


@pytest.mark.keeps_threads("the large vault is open for the whole module")
@pytest.mark.parametrize("page_id", [page.id for page in PAGES])
@pytest.mark.expected_logs("the window stood still for")  # a busy machine; what counts is asserted below
def test_no_page_keeps_the_gui_thread(window: MainWindow, qtbot: QtBot, page_id: str) -> None:
    settle(qtbot, lambda: at_rest(window), 60_000)
    dog = Watchdog(start_ticker)
    try:
        qtbot.wait(30)
        dog.clear_stalls()
        window.show_page(page_id)
        settle(qtbot, lambda: at_rest(window), 60_000)
        assert window.house is not None
        page = window.house.page
        assert page is not None
        drive(window, page, qtbot)
        context: Context = window.context
        newest = context.bridge.engine.library.find_memories(FindRequest()).result(30).ids
        context.selection.select(newest[COUNT // 2], "test")
        settle(qtbot, lambda: at_rest(window), 60_000)
        assert_within_budget(dog)
    finally:
        dog.stop_watching()
