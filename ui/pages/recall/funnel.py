"""The funnel: what each way of searching found, how many were left after each stage; a look into one of them.

Must not do: count, or show a stage of another answer than the one on the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QSizePolicy, QWidget

from core.types.recall import STAGES, LabAnswer, Trace, TracedCandidate
from core.types.views import MemoryRow
from ui.bridge import make_query
from ui.context import Context
from ui.lists.row_spec import Heading
from ui.pages.recall.answers import candidate_lines
from ui.pages.recall.labels import best_places, stage_of_drop, stage_title
from ui.strings import recall_strings
from ui.theme.theme import Theme
from ui.theme.tokens import spacing

_WAYS: Mapping[str, str] = {"vector": "meaning", "words": "words", "graph": "graph", "time": "time"}
_FAR = 1_000_000


def candidates_of_stage(stage: str, candidates: Sequence[TracedCandidate]) -> list[TracedCandidate]:
    """The candidates a stage found, or dropped.

    Args:
        stage: of the funnel.

    Returns:
        Those of a way of searching by their place there; else those that were dropped, the strongest first.
    """
    if stage in FINDS:
        way = _WAYS[stage]
        found = [(best_places(one.lists)[way], one) for one in candidates if way in best_places(one.lists)]
        return [one for _, one in sorted(found, key=lambda pair: (pair[0], pair[1].id))]
    dropped = [one for one in candidates if one.dropped is not None and stage_of_drop(one.dropped) == stage]
    return sorted(dropped, key=lambda one: (one.rank or _FAR, -one.evidence, one.id))


def expected_count(stage: str, stages: Mapping[str, int]) -> int:
    """How many a stage found or dropped, by the counts of the funnel; 0 where they do not tell.

    Args:
        stages: stage to count.
    """
    if stage in FINDS:
        return stages.get(stage, 0)
    before = STAGES[STAGES.index(stage) - 1]
    return 0 if before in FINDS else max(0, stages.get(before, 0) - stages.get(stage, 0))


def describe_stage(stage: str, found: int, trace: Trace) -> str:
    """What is said above the list of a stage; where the trace keeps less than there was, it says so.

    Args:
        stage: of the funnel.
        found: how many of the trace it found or dropped.
    """
    strings, finds = recall_strings(), stage in FINDS
    title = strings["funnel_found" if finds else "funnel_dropped"].format(stage=stage_title(stage))
    whole, passed = expected_count(stage, trace.stages), f"{len(trace.candidates):,}"
    if found < whole:
        name = "funnel_few_found" if finds else "funnel_few_dropped"
        return f"{title}: {whole:,}. {strings[name].format(kept=passed, count=f'{found:,}')}"
    if found:
        return f"{title}: {found:,}."
    if finds:
        return f"{title}. {strings['funnel_none_found']}"
    # How many were out of scope is counted nowhere: nothing may be said of those the trace does not keep.
    is_known = STAGES[STAGES.index(stage) - 1] not in FINDS
    return f"{title}. {strings['funnel_none'] if is_known else strings['funnel_none_kept'].format(kept=passed)}"


def is_complete_stage(stage: str, answer: LabAnswer) -> bool:
    """Whether a stage is the answer itself, with nothing cut off: the answer is shown then, and no list beside it."""
    trace = answer.trace
    return (
        stage == ANSWERED
        and not expected_count(stage, trace.stages)
        and not candidates_of_stage(stage, trace.candidates)
    )


class StageView(QObject):
    """Reads what a stage holds.

    Attributes:
        is_busy: whether its texts are being read.

    Signals:
        shown: (lines, sentence) of the stage that was asked for last.
        failed: the error.
    """

    shown = Signal(list, str)
    failed = Signal(object)

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self.is_busy = False

    def request_stage(self, stage: str, answer: LabAnswer) -> None:
        """Show a stage.

        Args:
            answer: whose trace is looked into.
        """
        candidates = answer.trace.candidates
        found = candidates_of_stage(stage, candidates)
        note = describe_stage(stage, len(found), answer.trace)
        if not found:
            self.shown.emit([], note)
            return
        ids = tuple(one.id for one in found)
        library = self._context.bridge.engine.library
        task = make_query(recall_strings()["tasks"]["found"], lambda: library.read_rows(ids)).within(self, "rows")
        self.is_busy = True

        def show_rows(rows: Sequence[MemoryRow]) -> None:
            self.is_busy = False
            texts = {one.id: one for one in rows}
            self.shown.emit(candidate_lines(found, texts, Heading(""))[1:], note)

        self._context.tasks.run(task.success(show_rows).failure(self._on_read_failed))

    def _on_read_failed(self, error: BaseException) -> None:
        self.is_busy = False
        self.failed.emit(error)


FINDS = frozenset({"vector", "words", "graph", "time"})
"""Stages that find; the others drop."""
ANSWERED = "answered"
_HIGH, _LEAST = 52, 46


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
        theme.changed.connect(self._restyle_box)

    def _restyle_box(self) -> None:
        self.updateGeometry()
        self.update()

    def show_count(self, count: int) -> None:
        """Show how many there are.

        Args:
            count: of memories.
        """
        self.count = count
        strings = recall_strings()["stages"][self.stage]
        self.setAccessibleName(f"{strings['title']}: {count:,}")
        self.setAccessibleDescription(strings["hint"])
        self.setToolTip(f"{count:,} {strings['hint']}")
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As the others."""
        return QSize(self._theme.px(96), self._theme.px(_HIGH))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Room for a number."""
        return QSize(_LEAST, self._theme.px(_HIGH))

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Paint the widget."""
        theme = self._theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        is_last = self.stage == ANSWERED
        background = "accent_soft" if is_last else "hover" if self.underMouse() else "surface"
        edge = "accent" if self.isChecked() else "accent_soft" if is_last else "line"
        painter.setPen(QPen(theme.colour(edge), 2 if self.isChecked() else 1))
        painter.setBrush(theme.colour(background))
        painter.drawRoundedRect(frame, 8, 8)
        if self.hasFocus():
            painter.setPen(QPen(theme.colour("focus"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(frame.adjusted(1, 1, -1, -1), 7, 7)
        self._draw_labels(painter)

    def _draw_labels(self, painter: QPainter) -> None:
        theme, is_last = self._theme, self.stage == ANSWERED
        number, small = theme.font("number"), theme.font("caption")
        number.setWeight(QFont.Weight.DemiBold)
        area = self.rect().adjusted(spacing().snug, theme.px(7), -spacing().snug, -theme.px(7))
        painter.setFont(number)
        painter.setPen(theme.colour("accent" if is_last else "ink" if self.count else "muted"))
        painter.drawText(area, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop, f"{self.count:,}")
        painter.setFont(small)
        painter.setPen(theme.colour("accent" if is_last else "muted"))
        title = recall_strings()["stages"][self.stage]["title"]
        shown = QFontMetrics(small).elidedText(title, Qt.TextElideMode.ElideRight, area.width())
        painter.drawText(area, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom, shown)


class Funnel(QWidget):
    """All stages of a recall as boxes beside each other.

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
            box.clicked.connect(lambda checked, stage=stage: self._on_stage_toggled(stage, is_on=checked))
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

    def show_time(self, text: str) -> None:
        """Say beside the last box's count how long it took.

        Args:
            text: such as `in 14 ms`.
        """
        box = self.boxes[ANSWERED]
        box.setToolTip(f"{box.toolTip()} {text}")

    def show_chosen(self, stage: str) -> None:
        """Mark a stage, without telling anybody; "" for none."""
        for name, box in self.boxes.items():
            box.setChecked(name == stage)

    def _on_stage_toggled(self, stage: str, *, is_on: bool) -> None:
        chosen = stage if is_on else ""
        self.show_chosen(chosen)
        self.chosen.emit(chosen)
