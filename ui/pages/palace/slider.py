"""The strip below the plan: when it is looked at as of, with what came when; and the key to shapes and colours.

Must not do: ask the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QGridLayout, QSizePolicy, QWidget

from core.types.clock import Clock
from core.types.values import Kind
from core.types.views import PalacePlan
from ui.pages.palace.items import KINDS
from ui.pages.palace.picture.atlas import shade_colours
from ui.strings import format_count, palace_strings
from ui.theme.theme import Theme
from ui.widgets.basics import Segments, make_button, make_label
from ui.widgets.labels import KIND_WORDS, date_of
from ui.widgets.shapes import draw_kind

BELIEVED, SAID = "believed", "said"
_SHORT_MS = 2 * 86_400_000
"""Where everything was recorded within this time, the slider shows when it was said."""
_PAGE_BINS = 10
_KEY = Qt.Key
_STEPS = {
    _KEY.Key_Left: -1,
    _KEY.Key_Down: -1,
    _KEY.Key_Right: 1,
    _KEY.Key_Up: 1,
    _KEY.Key_PageDown: -_PAGE_BINS,
    _KEY.Key_PageUp: _PAGE_BINS,
}


def _ramp_words(mode: str) -> tuple[str, ...]:
    """The words at the ends of the colours of a mode; none where its colours are those of the kinds."""
    return tuple(palace_strings()["ramps"].get(mode, ()))


def _axis_words(axis: str) -> Mapping[str, str]:
    """How an axis is called."""
    found: Mapping[str, str] = palace_strings()["time"]["axes"][axis]
    return found


class TimeBar(QWidget):
    """Bars of what came when, and a handle.

    Attributes:
        at: bins left of the handle; as many as there are bins for now.

    Signals:
        moved: the handle is elsewhere.
    """

    moved = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._bins = np.zeros(1)
        self.at = 1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(96)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(palace_strings()["time"]["bar"])
        theme.changed.connect(self.update)

    @property
    def bins(self) -> int:
        """How many bars there are."""
        return len(self._bins)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """High enough for bars one can compare."""
        return QSize(self._theme.px(240), self._theme.px(36))

    def show_bins(self, bins: Sequence[int], at: int | None = None) -> None:
        """Show other bars.

        Args:
            bins: how many came in each span.
            at: where the handle is; None for now.
        """
        self._bins = np.asarray(bins if len(bins) else (0,), np.float64)
        self.at = self.bins if at is None else max(1, min(at, self.bins))
        self.update()

    def move_handle(self, at: int) -> None:
        """Move the handle."""
        at = max(1, min(at, self.bins))
        if at != self.at:
            self.at = at
            self.update()
            self.moved.emit()

    def set_spoken_position(self, words: str) -> None:
        """Say to those who do not see it where the handle is."""
        self.setAccessibleDescription(words)
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    def _edge_x(self, at: int) -> float:
        pad = 7.0
        return pad + (self.width() - 2 * pad) * at / self.bins

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Bars on a line, those before the handle in the accent's colour."""
        theme, painter = self._theme, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        foot, high = self.height() - 7.0, self.height() - 12.0
        wide = max(1.0, (self._edge_x(1) - self._edge_x(0)) - (2.0 if self.width() / self.bins > 4.5 else 1.0))
        most = max(float(self._bins.max()), 1.0)
        before, after = theme.colour("accent"), theme.colour("line")
        before.setAlphaF(0.55)
        for nr in np.flatnonzero(self._bins):
            # The root: a month with one memory is seen beside one with a hundred.
            tall = max(2.0, high * float(np.sqrt(self._bins[nr] / most)))
            painter.setBrush(before if nr < self.at else after)
            painter.drawRoundedRect(QRectF(self._edge_x(int(nr)) + 0.5, foot - tall, wide, tall), 1.5, 1.5)
        painter.setPen(QPen(theme.colour("line"), 1))
        painter.drawLine(QPointF(self._edge_x(0), foot + 0.5), QPointF(self._edge_x(self.bins), foot + 0.5))
        painter.setPen(QPen(theme.colour("surface"), 2))
        painter.setBrush(theme.colour("accent"))
        painter.drawEllipse(QPointF(self._edge_x(self.at), foot), 6.5, 6.5)
        if self.hasFocus():
            painter.setPen(QPen(theme.colour("focus"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)

    def _move_handle_to_pointer(self, event: QMouseEvent) -> None:
        span = max(self._edge_x(self.bins) - self._edge_x(0), 1.0)
        self.move_handle(round((event.position().x() - self._edge_x(0)) / span * self.bins))

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """The handle comes to the pointer."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._move_handle_to_pointer(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """And follows it."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._move_handle_to_pointer(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Arrows a bar, Page ten, Home and End to the ends."""
        key = _KEY(event.key())
        if key in _STEPS:
            self.move_handle(self.at + _STEPS[key])
        elif key == _KEY.Key_Home:
            self.move_handle(1)
        elif key == _KEY.Key_End:
            self.move_handle(self.bins)
        else:
            super().keyPressEvent(event)


class TimeCard(QFrame):
    """The card with the date, the bars and what they count.

    Signals:
        moved: another time, or another axis.
    """

    moved = Signal()

    def __init__(self, theme: Theme, clock: Clock) -> None:
        super().__init__()
        self.setObjectName("card")
        self._clock = clock
        self._plan: PalacePlan | None = None
        self._chose = False
        self.axis = BELIEVED
        self._title = make_label(_axis_words(BELIEVED)["title"], "label")
        self._date = make_label("", "strong")
        self.bar = TimeBar(theme)
        strings = palace_strings()["time"]
        self._now = make_button(strings["now"], self._go_to_now, kind="crumb", hint=strings["to_now"])
        choices = tuple((axis, _axis_words(axis)["choice"]) for axis in (BELIEVED, SAID))
        self.axes = Segments(choices, BELIEVED, palace_strings()["time"]["name"])
        self.axes.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.axes.setToolTip(palace_strings()["time"]["hint"])
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(16, 6, 12, 6)
        self._grid.setHorizontalSpacing(12)
        self._grid.setColumnStretch(2, 1)
        self._is_narrow: bool | None = None
        self.setMinimumWidth(200)
        self._theme = theme
        self._measure_date()
        theme.changed.connect(self._measure_date)
        self.bar.moved.connect(self._on_time_changed)
        self.axes.chosen.connect(self._on_axis_chosen)

    def _measure_date(self) -> None:
        wide = QFontMetrics(self._theme.font("strong")).horizontalAdvance("30 May 2026") + 6
        self._date.setMinimumWidth(wide)
        self.bar.updateGeometry()
        self._arrange_widgets()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Use the room there is."""
        super().resizeEvent(event)
        self._arrange_widgets()

    def _arrange_widgets(self) -> None:
        """Where there is little room, the date and the choice say it; with less, the bars go below them."""
        self._title.setVisible(self.width() >= self._theme.px(680))
        narrow = self.width() < self._theme.px(420)
        if narrow == self._is_narrow:
            return
        self._is_narrow = narrow
        wide: tuple[QWidget, ...] = (self._title, self._date, self.bar, self._now, self.axes)
        for widget in wide:
            self._grid.removeWidget(widget)
        if narrow:
            self._grid.addWidget(self._date, 0, 0)
            self._grid.addWidget(self.axes, 0, 3, 1, 2)
            self._grid.addWidget(self.bar, 1, 0, 1, 4)
            self._grid.addWidget(self._now, 1, 4)
        else:
            for column, widget in enumerate(wide):
                self._grid.addWidget(widget, 0, column)

    def show_plan(self, plan: PalacePlan) -> None:
        """Take a plan; the handle stays at its time."""
        until = self.until
        self._plan = plan
        if not self._chose and plan.earliest is not None and plan.latest is not None:
            self._set_axis(
                SAID if plan.latest - plan.earliest < _SHORT_MS and plan.said_from != plan.said_to else BELIEVED
            )
        bins, start, end = self._axis_span()
        at = None
        if until is not None and end > start:
            at = round((until - start) / (end - start) * max(len(bins), 1))
        self.bar.show_bins(bins, at)
        self._show_date()

    def _set_axis(self, axis: str) -> None:
        self.axis = axis
        self.axes.show_choice(axis)
        self._title.setText(_axis_words(axis)["title"].upper())

    def _axis_span(self) -> tuple[Sequence[int], int, int]:
        plan = self._plan
        if plan is None:
            return (), 0, 0
        if self.axis == SAID:
            return plan.said, plan.said_from or 0, plan.said_to or 0
        return plan.recorded, plan.earliest or 0, plan.latest or 0

    @property
    def until(self) -> int | None:
        """Epoch ms the handle is at; None for now."""
        _, start, end = self._axis_span()
        if self.bar.at >= self.bar.bins or end <= start:
            return None
        return round(start + (end - start) * self.bar.at / self.bar.bins)

    def _on_axis_chosen(self, axis: str) -> None:
        self._chose = True
        self._set_axis(axis)
        self.bar.show_bins(self._axis_span()[0])
        self._on_time_changed()

    def _go_to_now(self) -> None:
        self.bar.move_handle(self.bar.bins)

    def _on_time_changed(self) -> None:
        self._show_date()
        self.moved.emit()

    def _show_date(self) -> None:
        until = self.until
        self._date.setText(date_of(self._clock.now_ms() if until is None else until))
        words = palace_strings()["time"]["now"] if until is None else date_of(until)
        self.bar.set_spoken_position(f"{_axis_words(self.axis)['title']} {words}")


class PalaceLegend(QWidget):
    """The key to the plan: which shape is which kind, and what the colours mean."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self._mode = theme, "trust"
        self._kinds: tuple[Kind, ...] = KINDS
        self._ramp: tuple[str, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._on_key_changed)
        self._on_key_changed()

    def show_key(self, mode: str, kinds: tuple[Kind, ...]) -> None:
        """Explain a colour mode and the kinds that occur."""
        if (mode, kinds) != (self._mode, self._kinds):
            self._mode, self._kinds = mode, kinds
            self._on_key_changed()

    def _on_key_changed(self) -> None:
        words, strings = ", ".join(KIND_WORDS[kind] for kind in self._kinds), palace_strings()["legend"]
        self._ramp = _ramp_words(self._mode)
        form = strings["ramp" if self._ramp else "kinds"]
        self.setAccessibleName(
            form.format(shapes=format_count(strings["shapes"], len(self._kinds)), words=words, ends=self._ramp)
        )
        self.updateGeometry()
        self.update()

    def _measure_width(self) -> int:
        metrics, px = QFontMetrics(self._theme.font("caption")), self._theme.px
        wide = sum(px(15) + metrics.horizontalAdvance(KIND_WORDS[kind]) + px(12) for kind in self._kinds)
        ramp = self._ramp
        if ramp:
            wide += px(12) + sum(metrics.horizontalAdvance(word) for word in ramp) + px(5 * 13 + 12)
        return wide

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """One line."""
        return QSize(self._measure_width(), self._theme.px(20))

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Shapes with their words, then the colours from one end to the other."""
        theme, px, painter = self._theme, self._theme.px, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = theme.font("caption")
        painter.setFont(font)
        metrics, middle, x = QFontMetrics(font), self.height() / 2, 0.0
        shades = shade_colours(theme, self._mode)
        vertical = Qt.AlignmentFlag.AlignVCenter
        for kind in self._kinds:
            colour = shades[KINDS.index(kind)] if self._mode == "kind" else theme.colour("muted")
            draw_kind(painter, kind, QPointF(x + px(6), middle), px(9), colour)
            wide = metrics.horizontalAdvance(KIND_WORDS[kind])
            painter.setPen(theme.colour("muted"))
            painter.drawText(QRectF(x + px(15), 0, wide + 2, self.height()), vertical, KIND_WORDS[kind])
            x += px(15) + wide + px(12)
        ramp = self._ramp
        if not ramp:
            return
        x += px(12)
        wide = metrics.horizontalAdvance(ramp[0])
        painter.drawText(QRectF(x, 0, wide + 2, self.height()), vertical, ramp[0])
        x += wide + px(6)
        painter.setPen(Qt.PenStyle.NoPen)
        for shade in shades[:5]:
            painter.setBrush(shade)
            painter.drawRoundedRect(QRectF(x, middle - px(4), px(11), px(8)), 2, 2)
            x += px(13)
        painter.setPen(theme.colour("muted"))
        painter.drawText(QRectF(x + px(4), 0, metrics.horizontalAdvance(ramp[1]) + 2, self.height()), vertical, ramp[1])
