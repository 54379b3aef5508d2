"""The versions of a memory on the axis of time: when each held, and beneath it when Loci believed it.

The one that stands is filled, the others are outlined; a time of which nothing is known is hatched. Must not do: work
out when a version held.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.types.memory import Chain, VersionHeld
from ui.inspector.belief.belief_words import day_of, held_told
from ui.strings import belief_strings
from ui.theme.theme import Theme
from ui.widgets.plaintext import one_line
from ui.widgets.words import date_of

SHOWN = 6
"""Versions that are drawn; of more the latest."""
_ROW, _WORDS, _BAR, _THIN = 38, 18, 9, 2
_FOOT, _TIP = 20, 5.0
_LEAST = 4.0
_HATCHED = 0


class ChainAxis(QWidget):
    """Versions below each other, the latest above, on one axis."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._chain: Chain | None = None
        self._looked_at = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_chain(self, chain: Chain, looked_at: str) -> bool:
        """Draw it.

        Args:
            chain: the versions.
            looked_at: id of the one that is looked at.

        Returns:
            Whether there is anything to be seen: two versions that held, at least.
        """
        self._chain, self._looked_at = chain, looked_at
        held = [version for version in chain.versions if version.ever_held]
        told = [f"{self._name(version)}: {held_told(version)}" for version in self.drawn]
        gap = belief_strings()["versions"]["gap_told"]
        told += [gap.format_map({"from": date_of(one.begin), "to": date_of(one.end)}) for one in chain.gaps]
        self.setAccessibleName("; ".join(told))
        self.setToolTip("")
        self.updateGeometry()
        self.update()
        return len(held) > 1

    @property
    def drawn(self) -> tuple[VersionHeld, ...]:
        """The versions that are drawn, from above."""
        if self._chain is None:
            return ()
        held = [version for version in self._chain.versions if version.ever_held]
        return tuple(reversed(held[-SHOWN:]))

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """A row for each version, and the axis below."""
        return QSize(120, self._theme.px(_ROW * len(self.drawn) + _FOOT))

    # ---- measures

    def span(self) -> tuple[int, int]:
        """The ends of the axis, epoch ms."""
        if self._chain is None or not self.drawn:
            return 0, 1
        begins = [min(version.begin, version.recorded_at) for version in self.drawn]
        ends = [version.end or version.begin for version in self.drawn]
        first, last = min(begins), max([self._chain.now, *ends])
        return first, max(last, first + 1)

    def across(self, ms: int) -> float:
        """Where a moment lies, pixels from the left."""
        first, last = self.span()
        return 1 + (self.width() - 2) * min(1.0, max(0.0, (ms - first) / (last - first)))

    def bar_of(self, version: VersionHeld) -> QRectF:
        """The bar of the time in which a version held."""
        top = self._theme.px(_ROW * self.drawn.index(version) + _WORDS)
        left = self.across(version.begin)
        right = float(self.width() - 1) if version.end is None else self.across(version.end)
        right = max(right, left + _LEAST)
        if right > self.width() - 1:
            left, right = self.width() - 1 - max(_LEAST, right - left), float(self.width() - 1)
        return QRectF(left, top, right - left, self._theme.px(_BAR))

    # ---- drawing

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the gaps, the rows and the axis."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw_gaps(painter)
        for version in self.drawn:
            self._draw_words(painter, version)
            self._draw_bar(painter, version)
        self._draw_axis(painter)
        painter.end()

    def _draw_gaps(self, painter: QPainter) -> None:
        if self._chain is None:
            return
        for gap in self._chain.gaps:
            before = next((version for version in self.drawn if version.end == gap.begin), None)
            if before is not None:
                bar = self.bar_of(before)
                rect = QRectF(bar.right(), bar.top(), self.across(gap.end) - bar.right(), bar.height())
                draw_gap(painter, self._theme, rect)

    def _name(self, version: VersionHeld) -> str:
        number = f"Version {version.version}"
        return f"{number} · {one_line(version.value, 60)}" if version.value else number

    def _draw_words(self, painter: QPainter, version: VersionHeld) -> None:
        theme, said = self._theme, belief_strings()["versions"]
        rect = QRectF(0, theme.px(_ROW * self.drawn.index(version)), self.width(), theme.px(_WORDS - 2))
        name = said["current"] if version.is_current else ""
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.colour("accent"))
        painter.drawText(rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, name)
        room = rect.width() - painter.fontMetrics().horizontalAdvance(name) - theme.px(8 if name else 0)
        is_this = version.memory_id == self._looked_at
        painter.setFont(theme.font("small"))
        if is_this:
            bold = theme.font("small")
            bold.setWeight(bold.Weight.DemiBold)
            painter.setFont(bold)
        painter.setPen(theme.colour("ink" if is_this else "muted"))
        shown = painter.fontMetrics().elidedText(self._name(version), Qt.TextElideMode.ElideRight, int(room))
        painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)

    def _draw_bar(self, painter: QPainter, version: VersionHeld) -> None:
        theme, bar = self._theme, self.bar_of(version)
        path = _open_ended(bar) if version.end is None else _closed(bar)
        tone = theme.colour("accent" if version.is_current else "outline")
        painter.fillPath(path, tone if version.is_current else theme.colour("surface"))
        painter.setPen(QPen(tone, 1.2))
        painter.drawPath(path)
        below = bar.bottom() + theme.px(3)
        until = self.across(version.retired_at) if version.retired_at is not None else float(self.width() - 1)
        begin = min(self.across(version.recorded_at), self.width() - 1 - _LEAST)
        rect = QRectF(begin, below, max(until - begin, _LEAST), theme.px(_THIN))
        painter.fillRect(rect, theme.colour("muted"))

    def _draw_axis(self, painter: QPainter) -> None:
        theme, (first, last) = self._theme, self.span()
        top = theme.px(_ROW * len(self.drawn))
        painter.setPen(QPen(theme.colour("line"), 1))
        painter.drawLine(QPointF(0, top), QPointF(self.width(), top))
        rect = QRectF(0, top + theme.px(2), self.width(), theme.px(_FOOT - 2))
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.colour("muted"))
        is_now = self._chain is not None and last == self._chain.now
        end = belief_strings()["versions"]["now"] if is_now else day_of(last)
        painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, day_of(first))
        painter.drawText(rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop, end)


def draw_gap(painter: QPainter, theme: Theme, rect: QRectF) -> None:
    """Draw a time of which nothing is known: hatched, with no line round it."""
    painter.fillRect(rect, QBrush(theme.colour("outline"), Qt.BrushStyle.BDiagPattern))


class Legend(QWidget):
    """What the bars stand for: thick, thin, and hatched where something is missing."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._lines: tuple[tuple[str, int], ...] = ()
        self.show_lines(has_gaps=False)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """A line for each."""
        return QSize(120, self._theme.px(17 * len(self._lines)))

    def show_lines(self, *, has_gaps: bool) -> None:
        """Say what stands above.

        Args:
            has_gaps: whether a time is missing there.
        """
        said = belief_strings()["versions"]
        lines = ((said["valid"], _BAR), (said["learned"], _THIN), (said["gap"], _HATCHED))
        self._lines = lines if has_gaps else lines[:2]
        self.setAccessibleName(". ".join(name for name, _ in self._lines))
        self.updateGeometry()
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the samples with their words."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = self._theme
        painter.setFont(theme.font("caption"))
        for nr, (text, high) in enumerate(self._lines):
            middle = theme.px(8 + 17 * nr)
            tall = theme.px(_THIN if high == _THIN else _BAR)
            sample = QRectF(1, middle - tall / 2, theme.px(22), tall)
            painter.setPen(QPen(theme.colour("outline"), 1.2))
            if high == _BAR:
                painter.drawPath(_closed(sample))
            elif high == _THIN:
                painter.fillRect(sample, theme.colour("muted"))
            else:
                draw_gap(painter, theme, sample)
            painter.setPen(theme.colour("muted"))
            rect = QRectF(theme.px(30), middle - theme.px(8), self.width() - theme.px(30), theme.px(16))
            painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        painter.end()


def _closed(bar: QRectF) -> QPainterPath:
    path = QPainterPath()
    path.addRoundedRect(bar, 2, 2)
    return path


def _open_ended(bar: QRectF) -> QPainterPath:
    """A bar that goes on: it ends in a tip."""
    tip = min(_TIP, bar.width() / 2)
    path = QPainterPath(bar.topLeft())
    for corner in (
        QPointF(bar.right() - tip, bar.top()),
        QPointF(bar.right(), bar.center().y()),
        QPointF(bar.right() - tip, bar.bottom()),
        bar.bottomLeft(),
    ):
        path.lineTo(corner)
    path.closeSubpath()
    return path
