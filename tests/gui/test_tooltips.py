"""Tooltips: short lines, words as they are, the theme's colours."""

from __future__ import annotations

from collections import Counter

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent, QPalette
from PySide6.QtWidgets import QApplication, QFrame, QLineEdit, QPushButton, QStackedWidget, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from ui.context import Context
from ui.theme.theme import Theme
from ui.widgets.basics import make_column, make_label
from ui.widgets.plaintext import escape_tooltip
from ui.widgets.tooltips import LINE, show_wrapped, wrap_tooltip

LONG = "Counts the memories that have a place in a room, as far as the filters and the date show them, and no others."


def test_lines_are_short_and_keep_their_own_breaks() -> None:
    lines = wrap_tooltip(f"{LONG}\n\nSecond.").split("\n")
    assert max(map(len, lines)) <= LINE
    assert " ".join(line for line in lines if line) == f"{LONG} Second."
    assert lines[-2:] == ["", "Second."]
    assert wrap_tooltip("") == ""
    assert max(map(len, wrap_tooltip("x" * 500).split("\n"))) <= LINE


def test_what_looks_like_markup_stays_words() -> None:
    shown = wrap_tooltip(escape_tooltip(f"<b>{LONG}</b> & more"))
    assert shown.startswith("<span>")
    assert shown.endswith("</span>")
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown
    assert all(len(line) <= LINE + len("&lt;b&gt;&amp;") for line in shown[6:-7].split("<br>"))


def test_every_widget_and_list_shows_them_so(qtbot: QtBot, context: Context) -> None:
    host = QWidget()
    qtbot.addWidget(host)
    button = QPushButton("Find", host)
    button.setToolTip(LONG)
    host.show()
    help_event = QHelpEvent(QEvent.Type.ToolTip, QPoint(2, 2), button.mapToGlobal(QPoint(2, 2)))
    assert show_wrapped(button, help_event)
    assert QToolTip.text() == wrap_tooltip(LONG)
    QToolTip.hideText()
    assert not show_wrapped(host, help_event), "one without words is left to Qt"
    assert not show_wrapped(button, QEvent(QEvent.Type.Enter))


def test_they_have_the_colours_of_the_theme(context: Context) -> None:
    theme: Theme = context.theme
    for mode in ("dark", "light"):
        theme.apply_theme(mode, 100)
        palette = QApplication.palette()
        assert palette.color(QPalette.ColorRole.ToolTipBase) == theme.colour("surface")
        assert palette.color(QPalette.ColorRole.ToolTipText) == theme.colour("ink")


def test_a_theme_is_changed_by_one_fresh_sheet_and_the_same_one_not_at_all(context: Context) -> None:
    theme, sheets = context.theme, list[str]()

    class Application:
        """Notes which sheets it is given."""

        def installEventFilter(self, _filter: object) -> None:  # noqa: N802 - Qt's name
            """Take a filter."""

        def allWidgets(self) -> list[QWidget]:  # noqa: N802 - Qt's name
            """None."""
            return []

        def setFont(self, _font: object) -> None:  # noqa: N802 - Qt's name
            """Take a font."""

        def setPalette(self, _palette: object) -> None:  # noqa: N802 - Qt's name
            """Take a palette."""

        def styleSheet(self) -> str:  # noqa: N802 - Qt's name
            """The last one."""
            return sheets[-1] if sheets else ""

        def setStyleSheet(self, sheet: str) -> None:  # noqa: N802 - Qt's name
            """Take a sheet."""
            sheets.append(sheet)

    real, theme._application = theme._application, Application()  # type: ignore[assignment]  # notes what Qt is told
    try:
        theme.apply_theme("dark", 100)
        dark = theme.style_sheet()
        assert sheets == ["", dark]
        theme.apply_theme("dark", 100, reduced_motion=True)
        assert sheets == ["", dark], "nothing of the look changed"
        theme.apply_theme("light", 100)
        assert sheets == ["", dark, "", theme.style_sheet()]
    finally:
        theme._application = real
        theme.apply_theme("light", 100)


def ground_of(widget: QWidget) -> str:
    """The colour that most of it is painted in."""
    image = widget.grab().toImage()
    step = max(1, image.width() // 40)
    found = Counter(image.pixelColor(x, y).name() for x in range(0, image.width(), step) for y in range(image.height()))
    return found.most_common(1)[0][0]


def test_what_is_not_seen_gets_another_theme_when_it_is_shown(qtbot: QtBot, context: Context) -> None:
    theme, polished = context.theme, Qt.WidgetAttribute.WA_WState_Polished
    host = QStackedWidget()
    qtbot.addWidget(host)
    fields = [QLineEdit(), QLineEdit()]
    frames = [QFrame(), QFrame()]
    for frame, field in zip(frames, fields, strict=True):
        frame.setObjectName("card")
        make_column(frame, field, QPushButton("Find"), make_label("Words", "muted"))
        host.addWidget(frame)
    host.resize(400, 300)
    host.show()
    for index in (1, 0):
        host.setCurrentIndex(index)
    try:
        for mode in ("dark", "light", "dark"):
            theme.apply_theme(mode, 100)
            assert fields[0].testAttribute(polished)
            assert not fields[1].testAttribute(polished), "styling pages that were left takes half a second"
        seen = [ground_of(frames[0]), ground_of(fields[0])]
        host.setCurrentIndex(1)
        assert [ground_of(frames[1]), ground_of(fields[1])] == seen
        assert fields[1].palette().color(QPalette.ColorRole.Text) == theme.colour("ink")
        assert not fields[1].testAttribute(Qt.WidgetAttribute.WA_SetStyle)
        assert frames[1].grab().toImage() == frames[0].grab().toImage()
    finally:
        theme.apply_theme("light", 100)
