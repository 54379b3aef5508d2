"""The strip: how much was said in each period, as squares of days or as bars; a period is chosen on it.

Must not do: ask the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from core.types.views import Density
from ui.pages.timeline.geometry import ROWS, Grid, grid_of
from ui.pages.timeline.picture import LEFT, TOP, Picture
from ui.pages.timeline.words import count_words, range_name
from ui.theme.theme import Theme
from ui.widgets.keys import overrides
from ui.widgets.words import local

_RIGHT, _FOOT = 6, 6
_BARS_HIGH = 88
_PAGE = 10
_EMPTY = Density("month", (), (), {}, (), None, None, 0)
_KEY = Qt.Key
_BARS: Mapping[int, int] = {_KEY.Key_Left: -1, _KEY.Key_Down: -1, _KEY.Key_Right: 1, _KEY.Key_Up: 1}
_DAYS: Mapping[int, int] = {_KEY.Key_Left: -ROWS, _KEY.Key_Right: ROWS, _KEY.Key_Up: -1, _KEY.Key_Down: 1}
_PAGES: Mapping[int, int] = {_KEY.Key_PageUp: -_PAGE, _KEY.Key_PageDown: _PAGE}
_ZOOMS: Mapping[int, int] = {_KEY.Key_Plus: 1, _KEY.Key_Equal: 1, _KEY.Key_Minus: -1}
_OTHERS: Mapping[int, str] = {_KEY.Key_T: "today", _KEY.Key_Escape: "everything"}


class Strip(QWidget):
    """The strip.

    Attributes:
        density: what is shown.
        chosen: the first and the last chosen period; None for everything.
        hovered: the period under the pointer; -1 for none.
        grid: where each period stands.

    Signals:
        picked: other periods were chosen, or none.
        pointed: the pointer is over another period.
        zoomed: 1 nearer, -1 farther.
        asked: `today` or `everything`.
    """

    picked = Signal()
    pointed = Signal()
    zoomed = Signal(int)
    asked = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.density = _EMPTY
        self.chosen: tuple[int, int] | None = None
        self.hovered = -1
        self._anchor = self._end = -1
        self._is_dragging = False
        self._scroll = 0
        self.grid = self._measured()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setMinimumWidth(200)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName("Memories over time")
        theme.changed.connect(self._restyle)

    # ---- what is shown

    @property
    def places(self) -> range:
        """The chosen periods; all of them where none is chosen."""
        return range(len(self.density.totals)) if self.chosen is None else range(self.chosen[0], self.chosen[1] + 1)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """High enough for seven rows of squares, or for bars one can compare, and their months."""
        high = self.grid.pitch * ROWS if self.grid.by_weeks else self._theme.px(_BARS_HIGH)
        return QSize(self._theme.px(600), round(high) + self._theme.px(TOP) + self._theme.px(_FOOT))

    @property
    def room(self) -> float:
        """Pixels there are for columns."""
        return max(1.0, self.width() - self._theme.px(LEFT) - self._theme.px(_RIGHT))

    def show_density(self, density: Density, chosen: tuple[int, int] | None) -> None:
        """Show other counts.

        Args:
            density: the counts.
            chosen: the first and the last chosen period; None for everything.
        """
        count = len(density.totals)
        self.density, self.hovered, self._is_dragging = density, -1, False
        self.chosen = None if chosen is None or not count else (max(0, chosen[0]), min(count - 1, chosen[1]))
        self._anchor, self._end = (-1, -1) if self.chosen is None else self.chosen
        self._scroll = 1 << 30  # the newest is in sight
        self.grid = self._measured()
        self._scroll = self.grid.scroll
        if self.chosen is not None:
            self._show(self.chosen[0])
            self._show(self.chosen[1])
        self._tell()
        self.update()

    def choose(self, first: int, last: int) -> None:
        """Choose periods.

        Args:
            first: place of one end.
            last: of the other.
        """
        count = len(self.density.totals)
        if not count:
            return
        self._anchor, self._end = (min(max(place, 0), count - 1) for place in (first, last))
        chosen = (min(self._anchor, self._end), max(self._anchor, self._end))
        self._show(self._end)
        if chosen != self.chosen:
            self.chosen = chosen
            self._tell()
            self.picked.emit()
        self.update()

    def choose_everything(self) -> None:
        """Choose no period."""
        if self.chosen is not None:
            self.chosen, self._anchor, self._end = None, -1, -1
            self._tell()
            self.picked.emit()
            self.update()

    def scroll_by(self, columns: int) -> None:
        """Move what is in sight."""
        self._scroll = min(max(self._scroll + columns, 0), self.grid.most_scroll)
        self.grid = self._measured()
        self.update()

    def words_of(self, places: Sequence[int]) -> str:
        """Some periods and what they hold, in words."""
        if not places:
            return ""
        starts = self.density.starts
        name = range_name(self.density.grain, starts[places[0]], starts[places[-1]], starts[places[-1] + 1])
        return f"{name}: {count_words(self.density, places)}"

    def _tell(self) -> None:
        """Say to those who do not see it what is chosen."""
        said = self.words_of(self.places) or "nothing yet"
        self.setAccessibleDescription(said if self.chosen is not None else f"everything, {said}")
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    # ---- geometry

    def _measured(self) -> Grid:
        px, density = self._theme.px, self.density
        by_weeks = density.grain == "day"
        area = QRectF(px(LEFT), px(TOP), self.room, max(1.0, self.height() - px(TOP) - px(_FOOT)))
        lead = local(density.starts[0]).weekday() if by_weeks and density.starts else 0
        scale = self._theme.scale / 100
        self.updateGeometry()
        return grid_of(len(density.totals), by_weeks=by_weeks, lead=lead, area=area, scale=scale, scroll=self._scroll)

    def _show(self, place: int) -> None:
        self._scroll = self.grid.showing(place)
        self.grid = self._measured()

    def _restyle(self) -> None:
        self.updateGeometry()
        self.grid = self._measured()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Use the room there is; the newest stays in sight."""
        was_last = self.grid.scroll >= self.grid.most_scroll
        super().resizeEvent(event)
        self._scroll = 1 << 30 if was_last else self._scroll
        self.grid = self._measured()
        self._scroll = self.grid.scroll

    # ---- painting

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Squares or bars, their scale, what is chosen."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        Picture(self._theme, self.density, self.grid, self.chosen, self.hovered).paint(painter)
        if self.hasFocus():
            painter.setPen(QPen(self._theme.colour("focus"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)

    # ---- pointer

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """A period is chosen; with Shift all from the one before."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        place = self.grid.place_at(event.position().x(), event.position().y())
        extends = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier) and self._anchor >= 0
        self._is_dragging = place >= 0
        self.choose(self._anchor if extends else place, place)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """A drag takes all it passes."""
        place = self.grid.place_at(event.position().x(), event.position().y())
        if self._is_dragging:
            self.choose(self._anchor, place)
        if place != self.hovered:
            self.hovered = place
            self.pointed.emit()
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """The drag ends."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._is_dragging = False

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """No period is under the pointer."""
        super().leaveEvent(event)
        self.hovered = -1
        self.pointed.emit()
        self.update()

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """Turning moves what is in sight, with Ctrl it comes nearer."""
        turned = event.angleDelta().y() or event.angleDelta().x()
        if not turned:
            return
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoomed.emit(1 if turned > 0 else -1)
        else:
            self.scroll_by(-2 if turned > 0 else 2)
        event.accept()

    # ---- keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Arrows move the period, with Shift they take more; + and - zoom, T is today, Esc everything."""
        key = event.key()
        if key in _ZOOMS:
            self.zoomed.emit(_ZOOMS[key])
        elif key in _OTHERS:
            self.asked.emit(_OTHERS[key])
        elif not self._move(key, extends=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)):
            super().keyPressEvent(event)

    def _move(self, key: int, *, extends: bool) -> bool:
        last = len(self.density.totals) - 1
        steps = {**_PAGES, **(_DAYS if self.grid.by_weeks else _BARS)}
        if last < 0 or (key not in steps and key not in {_KEY.Key_Home, _KEY.Key_End}):
            return False
        if key in {_KEY.Key_Home, _KEY.Key_End}:
            to = 0 if key == _KEY.Key_Home else last
        else:
            to = last if self._end < 0 else self._end + steps[key]
        self.choose(self._anchor if extends and self._anchor >= 0 else to, to)
        return True

    def event(self, event: QEvent) -> bool:
        """Its letters are its own; the tip says what the period under the pointer holds."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = self.grid.place_at(event.pos().x(), event.pos().y())
            QToolTip.showText(event.globalPos(), self.words_of((place,)) if place >= 0 else "", self)
            return True
        return overrides(event, _is_own) or super().event(event)


def _is_own(event: QKeyEvent) -> bool:
    held = event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier)
    return held == Qt.KeyboardModifier.NoModifier and (event.key() in _ZOOMS or event.key() in _OTHERS)
