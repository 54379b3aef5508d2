"""Puts the library page away at the end of a test: nothing of it may be left to the garbage collector.

What Python collects on an engine's thread would end a running timer from there, and Qt forbids that.
"""

from __future__ import annotations

from pytestqt.qtbot import QtBot
from window_rig import settle

from ui.context import WindowPage


def put_away(qtbot: QtBot, page: WindowPage) -> None:
    """Leave a page, let what it asked for end, and delete it.

    Args:
        qtbot: of the test; the page must not be one of its widgets.
        page: it is gone afterwards.
    """
    context = page.context
    page.deactivate()
    settle(qtbot, lambda: not context.tasks.running)
    context.prefs.save_now()
    page.close()
    page.deleteLater()
