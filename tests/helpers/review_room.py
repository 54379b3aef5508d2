"""The Review page over a desk of invented items, with real key presses; put away at the end of a test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from review_rig import FakeConflicts
from window_rig import settle

from core.types.reviews import ClosedRow, Decision, ReviewItem
from ui.context import Context
from ui.pages.review.page import ReviewPage


class Room:
    """A page over a fake desk."""

    def __init__(self, context: Context, qtbot: QtBot) -> None:
        self.context, self.qtbot = context, qtbot
        self.fake = FakeConflicts(())
        self.page: ReviewPage | None = None

    def open(
        self, items: Sequence[ReviewItem], width: int = 1000, height: int = 720, closed: Sequence[ClosedRow] = ()
    ) -> ReviewPage:
        """Show the page with these items."""
        self.put_away()
        self.fake = FakeConflicts(items, closed)
        self.context.bridge.engine.conflicts = self.fake  # type: ignore[assignment]  # stands for the engine's group
        made = self.page = ReviewPage(self.context)
        made.resize(width, height)
        made.show()
        self.qtbot.waitExposed(made)
        made.activateWindow()
        made.activate()
        settle(self.qtbot, made.is_settled)
        return made

    def ready(self) -> None:
        """Wait until a key would decide."""
        page = self.page
        assert page is not None
        settle(self.qtbot, lambda: page.is_ready)

    def key(self, key: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key where the keyboard is."""
        page = self.page
        assert page is not None
        QTest.keyClick(page.focusWidget() or page, key, held)

    def press(self, key: Qt.Key) -> None:
        """Press a key when the desk is ready."""
        self.ready()
        self.key(key)

    @property
    def decided(self) -> list[tuple[tuple[str, ...], Decision]]:
        """What reached the engine."""
        return self.fake.decided

    def put_away(self) -> None:
        """Let everything end, and delete the page."""
        page = self.page
        if page is not None:
            self.fake.release()
            page.deactivate()
            settle(self.qtbot, lambda: not self.context.tasks.running)
            page.close()
            page.deleteLater()
            self.page = None


@contextmanager
def room_over(context: Context, qtbot: QtBot) -> Iterator[Room]:
    """A room that is put away at the end."""
    made = Room(context, qtbot)
    try:
        yield made
    finally:
        made.put_away()


def dialog_of(page: ReviewPage, kind: type[QWidget], qtbot: QtBot) -> QWidget:
    """The dialog of a kind that is open now, once it has the keyboard."""
    settle(qtbot, lambda: any(found.isVisible() for found in page.findChildren(kind)))
    found = next(found for found in page.findChildren(kind) if found.isVisible())
    found.activateWindow()
    settle(qtbot, found.isActiveWindow)  # until then the keyboard is the page's
    return found
