"""One control for each kind of option: a switch, a list, a number with its unit, a line of text.

All speak alike: `show_value` shows a value without telling anybody, `wanted` tells the one the person chose. Must not
do: keep a value, or know what it is for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QPainter, QPen, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QDoubleSpinBox,
    QLineEdit,
    QSizePolicy,
    QSpinBox,
    QToolButton,
    QWidget,
)

from core.types.replies import OptionRow
from ui.theme.theme import Theme
from ui.widgets.basics import row as hbox
from ui.widgets.basics import tool

_PAUSE_MS = 500
_MOST = 2_000_000_000


class Switch(QAbstractButton):
    """On or off, told by where its knob stands and by a tick in it."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._restyle)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """A pill, with room for its focus ring."""
        return QSize(self._theme.px(40), self._theme.px(26))

    def _restyle(self) -> None:
        self.updateGeometry()
        self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        """Draw it."""
        theme, is_on = self._theme, self.isChecked()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pill = QRectF(self.rect()).adjusted(3, 3, -3, -3)
        radius = pill.height() / 2
        painter.setPen(QPen(theme.colour("accent" if is_on else "outline"), 1))
        painter.setBrush(theme.colour("accent" if is_on else "raised"))
        painter.drawRoundedRect(pill, radius, radius)
        knob = radius - theme.px(3)
        middle = QPointF(pill.right() - radius if is_on else pill.left() + radius, pill.center().y())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("on_accent" if is_on else "outline"))
        painter.drawEllipse(middle, knob, knob)
        if is_on:
            painter.setPen(QPen(theme.colour("accent"), max(1.5, theme.px(3) / 2)))
            part = knob / 2
            painter.drawPolyline(
                [
                    QPointF(middle.x() - part, middle.y()),
                    QPointF(middle.x() - part / 4, middle.y() + part * 0.7),
                    QPointF(middle.x() + part, middle.y() - part * 0.6),
                ]
            )
        if self.hasFocus():
            painter.setPen(QPen(theme.colour("focus"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), radius + 2, radius + 2)


class Control(QWidget):
    """What all controls have in common.

    Attributes:
        field: what takes the keyboard.

    Signals:
        wanted: the value the person chose.
    """

    wanted = Signal(object)

    def __init__(self, row: OptionRow, field: QWidget) -> None:
        super().__init__()
        self.field = field
        field.setAccessibleName(row.title)
        field.setAccessibleDescription(row.description)
        self._line = hbox(field, gap=4, parent=self)
        self._line.setStretch(0, 1)
        self.setFocusProxy(field)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_value(self, value: object) -> None:
        """Show a value without telling anybody."""
        raise NotImplementedError

    def settle(self) -> None:
        """Tell at once what was waiting to be told."""


class SwitchControl(Control):
    """Yes or no."""

    def __init__(self, theme: Theme, row: OptionRow) -> None:
        self._switch = Switch(theme)
        super().__init__(row, self._switch)
        self._switch.clicked.connect(self._tell)

    def _tell(self) -> None:
        self.wanted.emit(self._switch.isChecked())

    def show_value(self, value: object) -> None:
        """Show it."""
        self._switch.setChecked(bool(value))


class _Combo(QComboBox):
    """A list that the wheel does not change while somebody scrolls over it."""

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """Left to the page, unless the list has the keyboard."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class ChoiceControl(Control):
    """One of several, in words."""

    def __init__(self, row: OptionRow) -> None:
        self._combo = _Combo()
        self._combo.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        super().__init__(row, self._combo)
        self._is_number, self._unit = row.kind in {"int", "float"}, row.unit
        for value, words in row.choices.items():
            self._combo.addItem(words, self._typed(value, row.kind))
        self._combo.activated.connect(self._tell)

    @staticmethod
    def _typed(value: str, kind: str) -> object:
        return int(value) if kind == "int" else float(value) if kind == "float" else value

    def _tell(self, _place: int) -> None:
        self.wanted.emit(self._combo.currentData())

    def show_value(self, value: object) -> None:
        """Show it; one that is not offered joins the list."""
        place = self._combo.findData(value)
        if place < 0:
            self._combo.addItem(f"{value} {self._unit}".strip(), value)
            place = self._combo.count() - 1
        self._combo.setCurrentIndex(place)


class _Spin(QSpinBox):
    """A number that the wheel does not change while somebody scrolls over it."""

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """Left to the page, unless the field has the keyboard."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class _DoubleSpin(QDoubleSpinBox):
    """The same for numbers with decimals."""

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """Left to the page, unless the field has the keyboard."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class NumberControl(Control):
    """A number with its unit and bounds; told when the person pauses or leaves."""

    def __init__(self, theme: Theme, row: OptionRow) -> None:
        self._spin: _Spin | _DoubleSpin
        least = -_MOST if row.least is None else row.least
        most = _MOST if row.most is None else row.most
        if row.kind == "int":
            self._spin = whole = _Spin()
            whole.setRange(int(least), int(most))
        else:
            self._spin = part = _DoubleSpin()
            part.setDecimals(2)
            part.setSingleStep(0.05)
            part.setRange(least, most)
        self._spin.setGroupSeparatorShown(True)
        self._spin.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._spin.setSuffix(f" {row.unit}" if row.unit else "")
        self._spin.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._spin.setObjectName("stepped")  # its own buttons go; with `NoButtons` a styled field shows no text
        super().__init__(row, self._spin)
        self._line.insertWidget(0, self._stepper(theme, "minus", "Less", self._spin.stepDown))
        self._line.addWidget(self._stepper(theme, "plus", "More", self._spin.stepUp))
        self._shown: object = None
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(self.settle)
        self._spin.valueChanged.connect(self._moved)
        self._spin.editingFinished.connect(self.settle)

    @staticmethod
    def _stepper(theme: Theme, icon: str, name: str, run: Callable[[], None]) -> QToolButton:
        made = tool(theme, icon, name, run, size=16)
        made.setAutoRepeat(True)
        made.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the arrow keys do the same
        return made

    def _moved(self) -> None:
        self._pause.start()

    def settle(self) -> None:
        """Tell at once what was waiting to be told."""
        self._pause.stop()
        value = self._spin.value()
        if value != self._shown:
            self._shown = value
            self.wanted.emit(value)

    def show_value(self, value: object) -> None:
        """Show it."""
        if self._pause.isActive():
            return  # the person is at it; what they choose is told in a moment
        self._shown = value
        self._spin.blockSignals(True)  # noqa: FBT003 - Qt's name
        if isinstance(self._spin, QSpinBox):
            self._spin.setValue(int(str(value)))
        else:
            self._spin.setValue(float(str(value)))
        self._spin.blockSignals(False)  # noqa: FBT003 - Qt's name

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """No timer runs while nobody looks."""
        self.settle()
        super().hideEvent(event)


class TextControl(Control):
    """A line of text; told when the person leaves it."""

    def __init__(self, row: OptionRow) -> None:
        self._edit = QLineEdit()
        super().__init__(row, self._edit)
        self._shown = ""
        self._edit.editingFinished.connect(self.settle)

    def settle(self) -> None:
        """Tell at once what was waiting to be told."""
        if self._edit.text() != self._shown:
            self._shown = self._edit.text()
            self.wanted.emit(self._shown)

    def show_value(self, value: object) -> None:
        """Show it."""
        self._shown = str(value)
        self._edit.setText(self._shown)


def control_for(theme: Theme, row: OptionRow) -> Control:
    """The control of an option.

    Args:
        theme: the theme.
        row: which option.
    """
    if row.kind == "bool":
        return SwitchControl(theme, row)
    if row.choices:
        return ChoiceControl(row)
    if row.kind in {"int", "float"}:
        return NumberControl(theme, row)
    return TextControl(row)


def words_for(row: OptionRow, value: object) -> str:
    """A value of an option in words: `90 days`, `on`, `As the system`."""
    if isinstance(value, bool):
        return "on" if value else "off"
    known: Mapping[str, str] = row.choices
    if str(value) in known:
        return known[str(value)]
    shown = f"{value:,}" if isinstance(value, int | float) else str(value) or "nothing"
    return f"{shown} {row.unit}".strip()
