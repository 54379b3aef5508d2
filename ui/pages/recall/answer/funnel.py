"""The funnel: what each way of searching found, and how many were left after each stage, as boxes that can be pressed.

Must not do: count.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QSizePolicy, QWidget

from core.types.recall import STAGES
from ui.strings import recall_strings
from ui.theme.theme import Theme

FINDS = frozenset({"vector", "words", "graph", "time"})
"""Stages that find; the others drop."""
ANSWERED = "answered"
_HIGH, _LEAST, _PAD = 52, 46, 6


class StageBox(QAbstractButton):
    """One stage: a number and its name."""

    def __init__(self, theme: Theme, stage: str) -> None:
        super().__init__()
        self._theme, self.stage = theme, stage
        self.count = 0
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.show_count(0)
        theme.changed.connect(self._restyle)

    def _restyle(self) -> None:
        self.updateGeometry()
        self.update()

    def show_count(self, count: int) -> None:
        """Show how many there are.

        Args:
            count: of memories.
        """
        self.count = count
        said = recall_strings()["stages"][self.stage]
        self.setAccessibleName(f"{said['title']}: {count:,}")
        self.setAccessibleDescription(said["hint"])
        self.setToolTip(f"{count:,} {said['hint']}")
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As the others."""
        return QSize(self._theme.px(96), self._theme.px(_HIGH))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Room for a number."""
        return QSize(_LEAST, self._theme.px(_HIGH))

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw it."""
        theme = self._theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        is_last = self.stage == ANSWERED
        ground = "accent_soft" if is_last else "hover" if self.underMouse() else "surface"
        edge = "accent" if self.isChecked() else "accent_soft" if is_last else "line"
        painter.setPen(QPen(theme.colour(edge), 2 if self.isChecked() else 1))
        painter.setBrush(theme.colour(ground))
        painter.drawRoundedRect(frame, 8, 8)
        if self.hasFocus():
            painter.setPen(QPen(theme.colour("focus"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(frame.adjusted(1, 1, -1, -1), 7, 7)
        self._write(painter)

    def _write(self, painter: QPainter) -> None:
        theme, is_last = self._theme, self.stage == ANSWERED
        number, small = theme.font("number"), theme.font("caption")
        number.setWeight(QFont.Weight.DemiBold)
        area = self.rect().adjusted(_PAD, theme.px(7), -_PAD, -theme.px(7))
        painter.setFont(number)
        painter.setPen(theme.colour("accent" if is_last else "ink" if self.count else "muted"))
        painter.drawText(area, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop, f"{self.count:,}")
        painter.setFont(small)
        painter.setPen(theme.colour("accent" if is_last else "muted"))
        title = recall_strings()["stages"][self.stage]["title"]
        shown = QFontMetrics(small).elidedText(title, Qt.TextElideMode.ElideRight, area.width())
        painter.drawText(area, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom, shown)


class Funnel(QWidget):
    """All stages.

    Attributes:
        boxes: stage to its box.

    Signals:
        chosen: the stage that shall be looked into; "" for none any more.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName(recall_strings()["funnel"])
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        self.boxes: dict[str, StageBox] = {}
        for stage in STAGES:
            box = StageBox(theme, stage)
            box.clicked.connect(lambda checked, stage=stage: self._choose(stage, is_on=checked))
            layout.addWidget(box, 1)
            self.boxes[stage] = box

    @property
    def current(self) -> str:
        """The stage that is looked into; "" for none."""
        return next((stage for stage, box in self.boxes.items() if box.isChecked()), "")

    def show_stages(self, stages: Mapping[str, int]) -> None:
        """Show how many there are.

        Args:
            stages: stage to count.
        """
        for stage, box in self.boxes.items():
            box.show_count(stages.get(stage, 0))

    def show_time(self, told: str) -> None:
        """Say beside the last box's count how long it took.

        Args:
            told: such as `in 14 ms`.
        """
        box = self.boxes[ANSWERED]
        box.setToolTip(f"{box.toolTip()} {told}")

    def show_chosen(self, stage: str) -> None:
        """Mark a stage, without telling anybody; "" for none."""
        for name, box in self.boxes.items():
            box.setChecked(name == stage)

    def _choose(self, stage: str, *, is_on: bool) -> None:
        chosen = stage if is_on else ""
        self.show_chosen(chosen)
        self.chosen.emit(chosen)
