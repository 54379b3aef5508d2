"""The one card of the gate's pages: title, sentence, content, what went wrong, and a bar while something is under way.

Must not do: know what is asked on it.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLayout, QProgressBar, QSizePolicy, QWidget

from core.types.values import Kind
from ui.theme.theme import Theme
from ui.widgets.basics import make_button, make_column, make_label, make_row
from ui.widgets.shapes import KIND_TOKENS, draw_kind

_SHAPE = 12.0
_GAP = 10.0


class KindShapes(QWidget):
    """The five shapes a palace is furnished with, as a sign above a title."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._restyle_shapes)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Five shapes in a row."""
        count = len(Kind)
        width = count * _SHAPE + (count - 1) * _GAP + 4
        return QSize(self._theme.px(width), self._theme.px(_SHAPE + 6))

    def _restyle_shapes(self) -> None:
        self.updateGeometry()
        self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        """Paint the widget."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        step, size = self._theme.px(_SHAPE + _GAP), self._theme.px(_SHAPE)
        for nr, kind in enumerate(Kind):
            centre = QPointF(2 + size / 2 + nr * step, self.height() / 2)
            draw_kind(painter, kind, centre, size, self._theme.colour(KIND_TOKENS[kind]))


class GateSheet(QFrame):
    """A card as wide as its text wants it, in the middle of the gate."""

    def __init__(self, theme: Theme, title: str, sentence: str, *, step: str = "", width: int = 440) -> None:
        """Make it.

        Args:
            sentence: what it is about.
            step: small words above the title; "" for none.
            width: pixels at 100 %.
        """
        super().__init__()
        self.setObjectName("card")
        self.setAccessibleName(title)
        self._theme, self._width = theme, width
        self._run: Callable[[], None] | None = None
        self._column = make_column(self, gap=8)
        self._column.setContentsMargins(32, 28, 32, 20)
        header = make_row(KindShapes(theme), None, gap=8)
        if step:
            header.addWidget(make_label(step, "small"))
        self._column.addLayout(header)
        self._column.addSpacing(8)
        self.title = make_label(title, "title", wrap=True)
        self.sentence = make_label(sentence, "muted", wrap=True)
        self._column.addWidget(self.title)
        self._column.addWidget(self.sentence)
        self._column.addSpacing(8)
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        keeps_room = self.bar.sizePolicy()
        keeps_room.setRetainSizeWhenHidden(True)
        self.bar.setSizePolicy(keeps_room)
        self.bar.hide()
        self._sign = QLabel()
        self._trouble = make_label("", "danger", wrap=True)
        self._action = make_button("", self._run_action, kind="link")
        self._problem_row = QWidget()
        problem_box = make_column(self._problem_row, gap=4)
        line = make_row(self._sign, self._trouble, gap=8)
        line.setStretch(1, 1)
        line.setAlignment(self._sign, Qt.AlignmentFlag.AlignTop)
        problem_box.addLayout(line)
        problem_box.addWidget(self._action)
        self._problem_row.hide()
        self._restyle_sheet()
        theme.changed.connect(self._restyle_sheet)

    def _restyle_sheet(self) -> None:
        self.setFixedWidth(self._theme.px(self._width))
        size = self._theme.px(16)
        self._sign.setPixmap(self._theme.icon("circle-alert", "danger").pixmap(QSize(size, size)))

    def add_widgets(self, *widgets: QWidget) -> None:
        """Put widgets below each other."""
        for widget in widgets:
            self._column.addWidget(widget)

    def add_row(self, layout: QLayout) -> None:
        """Put a row of widgets below the others."""
        self._column.addLayout(layout)

    def add_space(self, pixels: int = 8) -> None:
        """Leave some room."""
        self._column.addSpacing(pixels)

    def add_footer(self, *buttons: QWidget) -> QHBoxLayout:
        """End the sheet: what went wrong, the buttons in a row, the bar.

        Args:
            *buttons: from the left; the last is the main one.
        """
        self._column.addWidget(self._problem_row)
        self._column.addSpacing(8)
        line = make_row(*buttons[:-1], None, buttons[-1]) if len(buttons) > 1 else make_row(*buttons)
        self._column.addLayout(line)
        self._column.addSpacing(4)
        self._column.addWidget(self.bar)
        return line

    @property
    def problem(self) -> str:
        """What is said to be wrong; "" for nothing."""
        return self._trouble.text() if not self._problem_row.isHidden() else ""

    def show_problem(self, sentence: str, action: str = "", run: Callable[[], None] | None = None) -> None:
        """Say in place what is wrong.

        Args:
            action: title of a link; "" for none.
        """
        self.hide_busy()
        self._trouble.setText(sentence)
        self._trouble.setAccessibleName(sentence)
        self._action.setText(action)
        self._action.setAccessibleName(action)
        self._action.setVisible(bool(action))
        self._run = run
        self._problem_row.show()

    def clear_trouble(self) -> None:
        """Nothing is wrong any more."""
        self._problem_row.hide()

    def show_busy(self, sentence: str) -> None:
        """Something is under way.

        Args:
            sentence: what, for those who do not see the bar.
        """
        self.clear_trouble()
        self.bar.setAccessibleName(sentence)
        self.bar.show()

    def hide_busy(self) -> None:
        """It is over."""
        self.bar.hide()

    def _run_action(self) -> None:
        if self._run is not None:
            self._run()
