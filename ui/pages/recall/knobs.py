"""A number one turns: its name, its value, a slider in its signal's colour; for whole numbers and parts alike.

Must not do: keep a value, or know what it is for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QDoubleSpinBox, QSizePolicy, QSlider, QWidget

from core.types.replies import OptionRow
from ui.pages.recall.signals import TOKENS
from ui.strings import recall_strings
from ui.theme.theme import Theme
from ui.widgets.basics import make_column, make_label, make_row, set_style_property
from ui.widgets.choices import ChoiceBox

_STEPS = 100
_WIDE = 500
"""An option that spans so much is turned by its size."""
_HIGH = 22
_KNOB = 6.0
_GROOVE = 4.0
_FIELD = 92


@dataclass(frozen=True, slots=True)
class KnobScale:
    """Between an option's value and the steps of a slider.

    Attributes:
        least: lower bound of the option.
        most: upper bound.
        is_whole: whether it is a whole number.
        turned: whether more of what is shown is less of the option: what is shown is `1 - value`.
    """

    least: float
    most: float
    is_whole: bool = False
    turned: bool = False

    @property
    def is_wide(self) -> bool:
        """Whether its steps grow with the value: it spans many sizes."""
        return self.most - self.least >= _WIDE

    @property
    def steps(self) -> int:
        """How many steps the slider has."""
        return int(self.most - self.least) if self.is_whole and not self.is_wide else _STEPS

    def step_of(self, value: float) -> int:
        """The step nearest to a value."""
        span, over = self.most - self.least, max(0.0, value - self.least)
        share = math.log1p(over) / math.log1p(span) if self.is_wide else over / span if span > 0 else 0.0
        share = 1 - share if self.turned else share
        return round(max(0.0, min(1.0, share)) * self.steps)

    def value_of(self, step: int) -> float:
        """The value of a step, at most four places long, within the bounds."""
        share = step / self.steps if self.steps else 0.0
        share = 1 - share if self.turned else share
        span = self.most - self.least
        over = math.expm1(share * math.log1p(span)) if self.is_wide else share * span
        value = min(self.most, self.least + over)
        return round(value) if self.is_whole else round(value, 1 if self.is_wide else 4)

    def format_value(self, value: float) -> str:
        """A value in words."""
        if self.is_whole:
            return f"{value:,.0f}"
        return f"{value:,.1f}" if self.is_wide else f"{1 - value if self.turned else value:.2f}"


def knob_scale(option: OptionRow, *, turned: bool = False) -> KnobScale:
    """The scale of an option that is a number.

    Args:
        option: with bounds.
        turned: as in `KnobScale`.
    """
    least, most = option.least or 0.0, option.most if option.most is not None else 1.0
    return KnobScale(least, most, option.kind == "int", turned)


class KnobSlider(QSlider):
    """A slider in a signal's colour; the default is a tick below it, a value that is tried is filled."""

    def __init__(self, theme: Theme, token: str) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._theme, self._token = theme, token
        self.default = 0
        self.is_tried = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._restyle_slider)

    def _restyle_slider(self) -> None:
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As wide as there is room."""
        return QSize(160, self._theme.px(_HIGH))

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """Left to the page, unless it has the keyboard."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def _x_of(self, step: int) -> float:
        margin = self._theme.px(_KNOB) + 2.0
        share = step / self.maximum() if self.maximum() else 0.0
        return margin + share * (self.width() - 2 * margin)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Paint the widget."""
        theme, middle = self._theme, self.height() / 2
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = theme.colour(self._token if self.isEnabled() else "outline")
        groove = QRectF(1, middle - _GROOVE / 2, self.width() - 2, _GROOVE)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("pressed"))
        painter.drawRoundedRect(groove, 2, 2)
        knob = QPointF(self._x_of(self.value()), middle)
        painter.setBrush(colour)
        painter.drawRoundedRect(QRectF(groove.left(), groove.top(), knob.x() - groove.left(), _GROOVE), 2, 2)
        at = self._x_of(self.default)
        painter.setPen(QPen(theme.colour("outline"), 1.5))
        painter.drawLine(QPointF(at, middle + 5), QPointF(at, middle + 9))
        painter.setPen(QPen(colour, 2))
        painter.setBrush(colour if self.is_tried else theme.colour("surface"))
        size = theme.px(_KNOB)
        painter.drawEllipse(knob, size, size)
        if self.hasFocus():
            painter.setPen(QPen(theme.colour("focus"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(knob, size + 3, size + 3)


class Knob(QWidget):
    """An option that is a number.

    Attributes:
        slider: what takes the keyboard.

    Signals:
        turned: (option, value) the person chose.
    """

    turned = Signal(str, object)

    def __init__(
        self,
        theme: Theme,
        option: OptionRow,
        title: str,
        hint: str,
        signal: str = "",
        *,
        turned: bool = False,
        is_exact: bool = False,
    ) -> None:
        """Make it.

        Args:
            title: what it is called here.
            hint: one sentence.
            signal: whose colour it has; "" for the accent.
            turned: whether more of what is shown is less of the option.
            is_exact: whether the value can be typed too.
        """
        super().__init__()
        self._title, self._hint = title, hint
        self._scale = knob_scale(option, turned=turned)
        self.name = option.name
        self._name = make_label(title, wrap=True)
        self._value = make_label("", "muted")
        self._value.setFont(theme.font("number"))
        self.slider = KnobSlider(theme, TOKENS.get(signal, "accent"))
        self.slider.setRange(0, self._scale.steps)
        self.slider.setPageStep(max(1, self._scale.steps // 10))
        self.slider.setAccessibleName(title)
        self.slider.setToolTip(hint)
        self._name.setToolTip(hint)
        self.slider.valueChanged.connect(self._on_slider_moved)
        self.setFocusProxy(self.slider)
        layout = make_column(self, gap=0)
        self.field = KnobField(theme, option, title) if is_exact else None
        if self.field is not None:
            self.field.valueChanged.connect(self._on_number_changed)
        header = make_row(self._name, self._value if self.field is None else self.field, gap=8)
        header.setStretch(0, 1)
        layout.addLayout(header)
        layout.addWidget(self.slider)
        self.show_value(option, option.value)

    def set_title(self, title: str, hint: str) -> None:
        """Call it otherwise."""
        self._title, self._hint = title, hint
        self._name.setText(title)
        for part in (self._name, self.slider):
            part.setToolTip(hint)
        self.slider.setAccessibleName(title)

    @property
    def value_text(self) -> str:
        """The value as it is shown."""
        return self._value.text()

    def show_value(self, option: OptionRow, value: object) -> None:
        """Show a value without telling anybody.

        Args:
            option: the option, with its default and the value in force.
            value: the value that is tried, or the one in force.
        """
        self.name, number = option.name, _as_number(value)
        is_tried = value != option.value
        self.slider.blockSignals(True)  # noqa: FBT003 - Qt's name
        self.slider.setValue(self._scale.step_of(number))
        self.slider.blockSignals(False)  # noqa: FBT003 - Qt's name
        if self.field is not None:
            self.field.show_number(number)
        self.slider.default = self._scale.step_of(_as_number(option.default))
        self.slider.is_tried = is_tried
        self.slider.update()
        self._show_number(number, is_tried=is_tried)

    def _show_number(self, number: float, *, is_tried: bool) -> None:
        shown = self._scale.format_value(number)
        self._value.setText(shown)
        set_style_property(self._value, "role", "accent" if is_tried else "muted")
        form = recall_strings()["knob"]["tried" if is_tried else "value"]
        self.slider.setAccessibleDescription(form.format(value=shown, hint=self._hint))

    def _on_number_changed(self, number: float) -> None:
        self.turned.emit(self.name, round(number) if self._scale.is_whole else round(number, 4))

    def _on_slider_moved(self, step: int) -> None:
        value = self._scale.value_of(step)
        self._show_number(value, is_tried=True)
        self.turned.emit(self.name, value)


class KnobField(QDoubleSpinBox):
    """The exact value, to be typed; told when the person leaves it or presses Return."""

    def __init__(self, theme: Theme, option: OptionRow, title: str) -> None:
        super().__init__()
        self.setObjectName("stepped")  # without buttons of its own: the slider steps
        self.setKeyboardTracking(False)
        self.setDecimals(0 if option.kind == "int" else 2)
        self.setGroupSeparatorShown(True)
        self.setRange(option.least or 0.0, option.most if option.most is not None else 1.0)
        self.setSingleStep(1.0 if option.kind == "int" else 0.05)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setFixedWidth(theme.px(_FIELD))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(recall_strings()["knob"]["exact"].format(title=title))

    def show_number(self, number: float) -> None:
        """Show a value without telling anybody."""
        self.blockSignals(True)  # noqa: FBT003 - Qt's name
        self.setValue(number)
        self.blockSignals(False)  # noqa: FBT003 - Qt's name

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """Left to the page, unless it has the keyboard."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class KnobChoice(QWidget):
    """An option that is one of several, or yes or no.

    Signals:
        turned: (option, value) the person chose.
    """

    turned = Signal(str, object)

    def __init__(self, option: OptionRow) -> None:
        super().__init__()
        strings = recall_strings()["knob"]
        self.name = option.name
        self.box = ChoiceBox()
        self.box.setAccessibleName(option.title)
        self.box.setAccessibleDescription(option.description)
        choices: Iterable[tuple[object, str]] = [*option.choices.items()]
        if option.kind == "bool":
            choices = [(True, strings["yes"]), (False, strings["no"])]
        for value, title in choices:
            self.box.addItem(title, value)
        self.box.activated.connect(lambda _: self.turned.emit(self.name, self.box.currentData()))
        self.setFocusProxy(self.box)
        make_column(self, make_label(option.title), self.box, gap=4)
        self.show_value(option, option.value)

    def show_value(self, option: OptionRow, value: object) -> None:
        """Show a value without telling anybody."""
        self.box.setCurrentIndex(max(0, self.box.findData(value)))
        tried = recall_strings()["knob"]["choice_tried"].format(hint=option.description)
        self.box.setAccessibleDescription(tried if value != option.value else option.description)


def _as_number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
