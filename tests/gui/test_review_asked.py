"""What a client asked for, on the Review page: who asks and why as plain text, both texts, Allow and Refuse."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from desk_rig import statuses
from engine_rig import Rig
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.types.memory import RequestedChange
from core.types.values import Action, Actor
from ui.context import Context
from ui.pages.review.page import ReviewPage
from ui.registry import ROOMS
from ui.shell.window import MainWindow

REASON = "<b>It was painted</b>, see \u202ehere."


@pytest.fixture
def asker(rig: Rig) -> Actor:
    return rig.client("Claude Code", "read", "propose", "space:home")


@pytest.fixture
def window(context: Context, qtbot: QtBot) -> Iterator[MainWindow]:
    made = MainWindow(context, ROOMS)
    made.resize(1280, 800)
    made.show()
    qtbot.waitExposed(made)
    made.activateWindow()
    yield made
    settle(qtbot, lambda: not context.tasks.running)
    made.close()
    made.deleteLater()


def page_of(window: MainWindow, qtbot: QtBot) -> ReviewPage:
    """The Review page, as it stands when everything has come."""
    window.show_page("review")
    assert window.house is not None
    page = window.house.page
    assert isinstance(page, ReviewPage)
    settle(qtbot, lambda: page.is_settled() and page.item_panel.item is not None)
    return page


def press(window: MainWindow, page: ReviewPage, qtbot: QtBot, key: Qt.Key) -> None:
    window.activateWindow()
    settle(qtbot, lambda: page.is_ready and window.isActiveWindow())
    QTest.keyClick(window.focusWidget() or page, key)


def test_an_update_shows_who_asks_why_and_both_texts(rig: Rig, asker: Actor, window: MainWindow, qtbot: QtBot) -> None:
    known = rig.store("The kettle is red.").memory_id
    reply = rig.engine.client_changes.update_text(known, "The kettle is blue.", asker, REASON).result(30)
    page = page_of(window, qtbot)
    desk = page.item_panel
    assert desk.question == "Should this text be changed?"
    assert "Claude Code asks for it and says: “<b>It was painted</b>, see here.”" in desk.why
    assert desk.existing_card.text.toPlainText() == "The kettle is red."
    assert desk.incoming_card.text.toPlainText() == "The kettle is blue."
    told = [one for one in desk.findChildren(QLabel) if "painted" in one.text()]
    assert [one.textFormat() for one in told] == [Qt.TextFormat.PlainText]
    buttons = desk.actions_bar.buttons
    assert {action: button.isVisible() for action, button in buttons.items() if button.isVisible()}.keys() == {
        Action.SUPERSEDE,
        Action.REJECT,
        Action.SKIP,
    }
    press(window, page, qtbot, Qt.Key.Key_Right)
    settle(qtbot, lambda: statuses(rig, known, reply.memory_id) == ["superseded", "active"])
    rig.undo()
    assert statuses(rig, known, reply.memory_id) == ["active", "quarantined"]


def test_a_removal_shows_the_memory_alone(rig: Rig, asker: Actor, window: MainWindow, qtbot: QtBot) -> None:
    known = rig.store("The kettle is red.").memory_id
    rig.engine.client_changes.remove_memory(known, asker, RequestedChange.DELETE).result(30)
    page = page_of(window, qtbot)
    desk = page.item_panel
    assert desk.question == "Should this be deleted?"
    assert "Claude Code asks for it." in desk.why
    assert not desk.existing_card.isVisible()
    assert desk.incoming_card.isVisible()
    assert "undo" in desk.actions_bar.buttons[Action.SUPERSEDE].toolTip()
    press(window, page, qtbot, Qt.Key.Key_Right)
    settle(qtbot, lambda: statuses(rig, known) == ["deleted"])
