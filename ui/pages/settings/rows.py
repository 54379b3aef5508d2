"""What a settings page is made of: sections, in them a line for each option or action, and the control of each kind.

All controls speak alike: `show_value` shows a value without telling anybody, `wanted` tells the one the person chose.
Must not do: know a single option, keep a value, or ask the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QPainter, QPen, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QBoxLayout,
    QDoubleSpinBox,
    QFrame,
    QLineEdit,
    QSizePolicy,
    QSpinBox,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from core.types.replies import OptionRow
from ui.strings import settings_strings
from ui.theme.theme import Theme
from ui.theme.tokens import spacing
from ui.widgets.basics import (
    FlowLayout,
    make_button,
    make_column,
    make_hairline,
    make_label,
    make_row,
    make_timer,
    make_tool_button,
    set_style_property,
)
from ui.widgets.choices import ChoiceBox

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
        theme.changed.connect(self._restyle_switch)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """A pill, with room for its focus ring."""
        return QSize(self._theme.px(40), self._theme.px(26))

    def _restyle_switch(self) -> None:
        self.updateGeometry()
        self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        """Paint the widget."""
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


class OptionControl(QWidget):
    """The control of an option: what all kinds of them have in common.

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
        self._line = make_row(field, gap=4, parent=self)
        self._line.setStretch(0, 1)
        self.setFocusProxy(field)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_value(self, value: object) -> None:
        """Show a value without telling anybody."""
        raise NotImplementedError  # each kind says it

    def submit_pending(self) -> None:
        """Tell at once what was waiting to be told."""


class SwitchControl(OptionControl):
    """Yes or no."""

    def __init__(self, theme: Theme, row: OptionRow) -> None:
        self._switch = Switch(theme)
        super().__init__(row, self._switch)
        self._switch.clicked.connect(self._emit_wanted)

    def _emit_wanted(self) -> None:
        self.wanted.emit(self._switch.isChecked())

    def show_value(self, value: object) -> None:
        """Show a value without telling anybody."""
        self._switch.setChecked(bool(value))


class ChoiceControl(OptionControl):
    """One of several, in words."""

    def __init__(self, row: OptionRow) -> None:
        self._combo = ChoiceBox()
        super().__init__(row, self._combo)
        self._is_number, self._unit = row.kind in {"int", "float"}, row.unit
        for value, words in row.choices.items():
            self._combo.addItem(words, self._parse_choice(value, row.kind))
        self._combo.activated.connect(self._emit_wanted)

    @staticmethod
    def _parse_choice(value: str, kind: str) -> object:
        return int(value) if kind == "int" else float(value) if kind == "float" else value

    def _emit_wanted(self, _place: int) -> None:
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


class NumberControl(OptionControl):
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
        strings = settings_strings()["option"]
        self._line.insertWidget(0, self._make_stepper(theme, "minus", strings["less"], self._spin.stepDown))
        self._line.addWidget(self._make_stepper(theme, "plus", strings["more"], self._spin.stepUp))
        self._shown: object = None
        self._pause = make_timer(self, self.submit_pending, _PAUSE_MS)
        self._spin.valueChanged.connect(self._on_value_changed)
        self._spin.editingFinished.connect(self.submit_pending)

    @staticmethod
    def _make_stepper(theme: Theme, icon: str, name: str, run: Callable[[], None]) -> QToolButton:
        made = make_tool_button(theme, icon, name, run, size=16)
        made.setAutoRepeat(True)
        made.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the arrow keys do the same
        return made

    def _on_value_changed(self) -> None:
        self._pause.start()

    def submit_pending(self) -> None:
        """Tell at once what was waiting to be told."""
        self._pause.stop()
        value = self._spin.value()
        if value != self._shown:
            self._shown = value
            self.wanted.emit(value)

    def show_value(self, value: object) -> None:
        """Show a value without telling anybody."""
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
        self.submit_pending()
        super().hideEvent(event)


class TextControl(OptionControl):
    """A line of text; told when the person leaves it."""

    def __init__(self, row: OptionRow) -> None:
        self._edit = QLineEdit()
        super().__init__(row, self._edit)
        self._shown = ""
        self._edit.editingFinished.connect(self.submit_pending)

    def submit_pending(self) -> None:
        """Tell at once what was waiting to be told."""
        if self._edit.text() != self._shown:
            self._shown = self._edit.text()
            self.wanted.emit(self._shown)

    def show_value(self, value: object) -> None:
        """Show a value without telling anybody."""
        self._shown = str(value)
        self._edit.setText(self._shown)


def make_control(theme: Theme, row: OptionRow) -> OptionControl:
    """The control of an option."""
    if row.kind == "bool":
        return SwitchControl(theme, row)
    if row.choices:
        return ChoiceControl(row)
    if row.kind in {"int", "float"}:
        return NumberControl(theme, row)
    return TextControl(row)


def describe_option_value(row: OptionRow, value: object) -> str:
    """A value of an option in words: `90 days`, `on`, `Match system`."""
    strings = settings_strings()["option"]
    if isinstance(value, bool):
        return str(strings["on" if value else "off"])
    known: Mapping[str, str] = row.choices
    if str(value) in known:
        return known[str(value)]
    shown = f"{value:,}" if isinstance(value, int | float) else str(value) or strings["nothing"]
    return f"{shown} {row.unit}".strip()


_CONTROL = 200
_LEAST = 96
_NOTE = 22


class Line(QWidget):
    """A title with what it means, and at its right what can be done about it.

    Attributes:
        words: what the search looks in, in small letters.
        is_advanced: whether it is for experts, and has nothing that was changed.
    """

    is_advanced = False

    def __init__(self, theme: Theme, title: str, description: str, words: str = "") -> None:
        """Make it.

        Args:
            description: one or two sentences.
            words: more words by which it is found.
        """
        super().__init__()
        self.theme = theme
        self.words = f"{title} {description} {words}".casefold()
        self.title = make_label(title, "strong", wrap=True)
        self.description = make_label(description, "muted", wrap=True)
        self.told = make_label("", "small", wrap=True)
        for words_shown in (self.title, self.description, self.told):
            words_shown.setMinimumWidth(theme.px(_LEAST))  # or Qt takes what suits it, and the page would not fit
        self.told.hide()
        self.texts = make_column(None, self.title, self.description, gap=2)
        self.texts.addWidget(self.told)
        self.side = QWidget()
        self.side_column = make_column(self.side, gap=6)
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._layout.setContentsMargins(spacing().l, 12, spacing().l, 12)
        self._layout.setSpacing(16)
        self._layout.addLayout(self.texts, 1)
        self._layout.addWidget(self.side, 0, Qt.AlignmentFlag.AlignVCenter)
        self._is_narrow = False

    def show_note(self, sentence: str, tone: str = "small") -> None:
        """Say something in place.

        Args:
            sentence: what; "" to say nothing any more.
            tone: small, danger, warning or success.
        """
        set_style_property(self.told, "role", tone)
        self.told.setText(sentence)
        self.told.setAccessibleName(sentence)
        self.told.setVisible(bool(sentence))

    def set_narrow(self, *, is_narrow: bool) -> None:
        """Stand below each other where there is no room beside each other.

        Args:
            is_narrow: whether there is none.
        """
        if self._is_narrow == is_narrow:
            return  # to say it again would lay out every line anew
        self._is_narrow = is_narrow
        ways = QBoxLayout.Direction
        self._layout.setDirection(ways.TopToBottom if is_narrow else ways.LeftToRight)
        self._layout.setSpacing(8 if is_narrow else 16)
        side = Qt.AlignmentFlag.AlignLeft if is_narrow else Qt.AlignmentFlag.AlignVCenter
        self._layout.setAlignment(self.side, side)


class OptionLine(Line):
    """An option with its control.

    Attributes:
        row: as it was shown last.

    Signals:
        wanted: (name, value) the person chose.
        reset: the name of the option that shall have its default.
    """

    wanted = Signal(str, object)
    reset = Signal(str)

    def __init__(self, theme: Theme, option: OptionRow) -> None:
        super().__init__(theme, option.title, option.description, f"{option.name} {option.group} {option.unit}")
        self.setAccessibleName(option.title)
        self.row = option
        self.control = make_control(theme, option)
        self.control.wanted.connect(self._emit_wanted)
        self.side_column.addWidget(self.control, 0, Qt.AlignmentFlag.AlignRight)
        self._notes = QWidget()
        self._flow = FlowLayout(self._notes, gap=4)
        strings = settings_strings()["option"]
        self.reset_button = make_button(strings["reset"], self._emit_reset, kind="link")
        self.reset_button.setAccessibleName(strings["reset_one"].format(title=option.title))
        self._parts = [make_label(note, "small") for note in self._notes_of(option)]
        for part in self._parts:
            self._flow.addWidget(part)
        self._flow.addWidget(self.reset_button)
        self.texts.insertWidget(2, self._notes)
        theme.changed.connect(self._set_sizes)
        self._set_sizes()
        self.show_option(option)

    def _set_sizes(self) -> None:
        for part in self._parts:
            part.setMinimumHeight(self.theme.px(_NOTE))  # as high as the button beside them
        if self.row.kind == "bool":
            return
        self.control.setFixedWidth(self.theme.px(_CONTROL))

    def _emit_wanted(self, value: object) -> None:
        self.wanted.emit(self.row.name, value)

    def _emit_reset(self) -> None:
        self.reset.emit(self.row.name)

    def show_option(self, option: OptionRow) -> None:
        """Show how it is now."""
        self.row = option
        self.is_advanced = option.is_advanced and not option.is_changed
        self.control.show_value(option.value)
        self.reset_button.setVisible(option.is_changed)
        self.reset_button.setToolTip(
            settings_strings()["option"]["back"].format(value=describe_option_value(option, option.default))
        )
        self.show_note("")

    @property
    def note(self) -> str:
        """What stands below the description."""
        return " ".join(self._notes_of(self.row))

    @staticmethod
    def _notes_of(option: OptionRow) -> list[str]:
        strings = settings_strings()["option"]
        default = strings["default_choice" if option.choices else "default"]
        notes = [default.format(value=describe_option_value(option, option.default))]
        if not option.choices and option.least is not None and option.most is not None:
            notes.append(strings["range"].format(least=option.least, most=option.most))
        if option.needs_restart:
            notes.append(strings["restart"])
        return notes

    def show_refusal(self, sentence: str) -> None:
        """Show what is wrong with the value that was wanted, and the one that holds."""
        self.control.show_value(self.row.value)
        self.show_note(sentence, "danger")


class SettingsSection(QWidget):
    """A heading and its lines on one card.

    Attributes:
        title: the heading.
    """

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title
        self.setAccessibleName(title)
        self._card = QFrame()
        self._card.setObjectName("card")
        self._column: QVBoxLayout = make_column(self._card, gap=0)
        self._lines: list[tuple[QWidget | None, Line]] = []
        make_column(self, make_label(title, "section"), self._card, gap=8)

    @property
    def lines(self) -> Sequence[Line]:
        """What is in it."""
        return tuple(line for _, line in self._lines)

    def add_line(self, line: Line) -> None:
        """Put a line below the others."""
        rule: QWidget | None = None
        if self._lines:
            rule = QWidget()
            inside = make_column(rule, make_hairline())
            inside.setContentsMargins(spacing().l, 0, spacing().l, 0)
            self._column.addWidget(rule)
        self._column.addWidget(line)
        self._lines.append((rule, line))

    def remove_line(self, line: Line) -> None:
        """Take a line away that is not the first."""
        found = next(one for one in self._lines if one[1] is line)
        self._lines.remove(found)
        for widget in found:
            if widget is not None:
                widget.hide()
                widget.deleteLater()

    def set_narrow(self, *, is_narrow: bool) -> None:
        """Fold or unfold all its lines."""
        for _, line in self._lines:
            line.set_narrow(is_narrow=is_narrow)

    def filter_lines(self, typed: str, *, with_advanced: bool = True) -> int:
        """Show only lines that hold every word.

        Args:
            typed: words; the section's own title counts as words of every line.
            with_advanced: whether lines for experts are among them.

        Returns:
            How many lines are left; without any the section is hidden.
        """
        wanted, found = typed.casefold().split(), 0
        for rule, line in self._lines:
            words = f"{self.title.casefold()} {line.words}"
            is_shown = all(word in words for word in wanted) and (with_advanced or not line.is_advanced)
            _set_shown(line, is_shown)
            if rule is not None:
                _set_shown(rule, is_shown and found > 0)
            found += is_shown
        _set_shown(self, found > 0)
        return found


def _set_shown(widget: QWidget, is_shown: bool) -> None:
    """Hide or show it; to say again what is so would lay out everything anew."""
    if widget.isHidden() is is_shown:
        widget.setVisible(is_shown)
