"""The palace page over a real engine, for tests: rooms to walk in, the page shown and shut, gestures of the pointer."""

from __future__ import annotations

import tempfile
from concurrent.futures import Future
from pathlib import Path

from engine_rig import START_MS, Rig, rig_at
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.errors import Code, UserError
from ui.context import Context
from ui.pages.palace.page import PALACE, PalacePage
from ui.pages.palace.scene import PlacedLocus

TOPICS = {
    "garden": "the garden bed with beans, soil and rain number",
    "boat": "the boat at the harbour with sails, rope and tar number",
    "bread": "the sourdough loaf with flour, oven and starter number",
}
LEFT = Qt.MouseButton.LeftButton


_furnished: dict[tuple[tuple[str, ...], int], dict[str, bytes]] = {}


def furnish(rig: Rig, *, spaces: tuple[str, ...] = ("home",), each: int = 14) -> None:
    """A few rooms in every space; a vault in which nothing was done yet becomes a copy of the first one of its kind."""
    if rig.value("SELECT count(*) FROM undo_steps") or rig.clock.now_ms() != START_MS:
        _bring_and_place(rig, spaces, each)
        return
    key = (spaces, each)
    if key not in _furnished:
        with tempfile.TemporaryDirectory() as folder:
            with rig_at(Path(folder)) as first:
                _bring_and_place(first, spaces, each)
            home = Path(folder) / "home"
            _furnished[key] = {file.name: file.read_bytes() for file in home.iterdir() if file.is_file()}
    rig.lock()
    for name, content in _furnished[key].items():
        (rig.folder / "home" / name).write_bytes(content)
    rig.unlock()


def _bring_and_place(rig: Rig, spaces: tuple[str, ...], each: int) -> None:
    for space in spaces:
        rows = [
            {"text": f"{space} {words} {nr}", "kind": ("fact", "rule", "episode")[nr % 3], "ref": f"{space}{topic}{nr}"}
            for topic, words in TOPICS.items()
            for nr in range(each)
        ]
        rig.bring(rows, space, name=f"{space}.jsonl")
    rig.settle()
    rig.engine.palace.place_waiting().result(60)


def opened(qtbot: QtBot, context: Context) -> PalacePage:
    """The page, shown, with everything read."""
    context.theme.reduced_motion = True
    page = PALACE.make(context)
    assert isinstance(page, PalacePage)
    context.bridge.changed.connect(page.handle_change)
    qtbot.addWidget(page)
    page.resize(1000, 760)
    page.show()
    page.activate()
    settle(qtbot, lambda: page.scene.plan is not None)
    settle(qtbot, lambda: all(room.loci is not None for room in page.scene.rooms.values()))
    return page


def shut(qtbot: QtBot, page: PalacePage) -> None:
    """Leave the page so that no timer of the context is left running: its objects die with Python's next collection,
    which may come in a thread of the next test's engine.
    """
    page.deactivate()
    settle(qtbot, lambda: not page.context.tasks.running)
    page.context.prefs.save_now()


def press(page: PalacePage, *keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(page.canvas, key)


def point(page: PalacePage, spot: PlacedLocus) -> QPoint:
    return page.canvas.painter.spot_middle(spot, page.canvas.camera.lens, page.scene.look).toPoint()


def first(page: PalacePage, at: int = 0) -> PlacedLocus:
    room = next(iter(page.scene.rooms.values()))
    return PlacedLocus(room, at)


def drag(page: PalacePage, start: QPoint, end: QPoint) -> None:
    canvas = page.canvas
    QTest.mousePress(canvas, LEFT, pos=start)
    for share in (0.3, 0.7, 1.0):
        QTest.mouseMove(canvas, start + (end - start) * share)
        QApplication.processEvents()
        canvas._pointer.move_to(QPointF(start + (end - start) * share))
    QTest.mouseRelease(canvas, LEFT, pos=end)


def places(page: PalacePage) -> dict[str, tuple[float, float]]:
    found = {}
    for room in page.scene.rooms.values():
        for at, memory_id in enumerate(room.ids):
            found[memory_id] = (float(room.wx[at]), float(room.wy[at]))
    return found


def refused() -> Future[str]:
    future: Future[str] = Future()
    future.set_exception(UserError(Code.INVALID_INPUT, "That room cannot stand there."))
    return future
