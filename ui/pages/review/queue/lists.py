"""Two lists beside the queue: what closed lately and why, and the decisions that repeat.

Must not do: know the queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QDialog, QVBoxLayout, QWidget

from core.types.reviews import ClosedRow, ReviewRule
from ui.context import Context
from ui.lists.list_view import ListView
from ui.lists.row_spec import MIDDLE, RIGHT, RowSpec, RowState
from ui.pages.review.words import source_words, told
from ui.strings import review_strings
from ui.tasks import problem_of, query, write
from ui.undo import offer_undo
from ui.widgets.basics import button, clear, column, hairline, label, row, scrolling
from ui.widgets.plaintext import one_line
from ui.widgets.words import ago, count_of, date_of

DAYS = 7
_WIDTH, _HEIGHT = 560, 480
_LINE = 52


@dataclass(frozen=True, slots=True)
class ClosedLine:
    """Something that closed.

    Attributes:
        id: its item.
        title: what it was.
        why: how it closed, and the reason.
        when: how long ago.
    """

    id: str
    title: str
    why: str
    when: str


class ClosedRows(RowSpec[ClosedLine]):
    """How they look: a title with a word at the right, and under it why."""

    def key(self, row: ClosedLine) -> str:
        """Its item."""
        return row.id

    def describe(self, row: ClosedLine) -> str:
        """All of it."""
        return f"{row.title}. {row.why} {row.when}"

    def hint(self, _row: ClosedLine) -> str:
        """Nothing."""
        return ""

    def height(self, _row: ClosedLine, _place: int) -> int:
        """All are of one height."""
        return self.theme.px(_LINE)

    def draw_ground(self, painter: QPainter, rect: QRect, _row: ClosedLine, _state: RowState) -> None:
        """A hairline: nothing can be done with what closed."""
        painter.fillRect(QRect(rect.left() + 10, rect.bottom(), rect.width() - 20, 1), self.theme.colour("line"))

    def draw_row(self, painter: QPainter, rect: QRect, row: ClosedLine, _state: RowState) -> None:
        """Its two lines."""
        theme, inner = self.theme, rect.adjusted(10, 6, -10, -6)
        half, small = inner.height() // 2, theme.font("small")
        wide = QFontMetrics(small).horizontalAdvance(row.when)
        upper = QRect(inner.x(), inner.y(), inner.width() - wide - 12, half)
        self.write(painter, upper, row.title, "ink", theme.font("body"))
        self.write(painter, QRect(inner.x(), inner.y() + half, inner.width(), half), row.why, "muted", small)
        at_right = QRect(inner.x(), inner.y(), inner.width(), half)
        self.write(painter, at_right, row.when, "muted", small, RIGHT | MIDDLE)


class ClosedDialog(QDialog):
    """What closed in the last days, and why."""

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        said = review_strings()["closed"]
        self.setWindowTitle(said["title"])
        self.setAccessibleName(said["title"])
        self.resize(context.theme.px(_WIDTH), context.theme.px(_HEIGHT))
        self._context = context
        self._note = label(said["sentence"], "muted", wrap=True)
        self.list = ListView(ClosedRows(context.theme), said["title"])
        self.list.setObjectName("framed")
        self.list.setUniformItemSizes(True)
        self.close_button = button("Close", self.accept, kind="primary")
        layout = column(self, label(said["title"], "title"), self._note, margins=24, gap=12)
        layout.addWidget(self.list, 1)
        layout.addLayout(row(None, self.close_button))
        conflicts = context.bridge.engine.conflicts
        asked = query("Reading what closed", lambda: conflicts.closed(DAYS)).within(self)
        context.tasks.run(asked.success(self._show).failure(self._fail))

    @property
    def note(self) -> str:
        """What is said above the list."""
        return self._note.text()

    def _show(self, rows: Sequence[ClosedRow]) -> None:
        now = self._context.clock.now_ms()
        self.list.show_lines([closed_line(one, now) for one in rows])
        if not rows:
            self._note.setText(review_strings()["closed"]["none"])
            self.list.hide()

    def _fail(self, error: BaseException) -> None:
        problem = problem_of(error)
        self._note.setText("" if problem is None else problem.sentence)


def closed_line(shown: ClosedRow, now_ms: int) -> ClosedLine:
    """Something that closed as a line."""
    said = review_strings()
    how = said["resolutions"].get(shown.resolution) or said["closed"]["by_itself"]
    why = one_line(shown.note, 200)
    reason = f"{how}. {why}" if why else f"{how}."
    return ClosedLine(shown.id, one_line(shown.title, 160), reason, ago(shown.closed_at, now_ms))


class RulesDialog(QDialog):
    """The decisions that repeat; each can be taken away.

    Signals:
        forgotten: the id of a rule that is gone.
    """

    forgotten = Signal(str)

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        said = review_strings()["rules"]
        self.setWindowTitle(said["title"])
        self.setAccessibleName(said["title"])
        self.resize(context.theme.px(_WIDTH), context.theme.px(360))
        self._context = context
        self._note = label(said["sentence"], "muted", wrap=True)
        inner = QWidget()
        self._lines: QVBoxLayout = column(inner, gap=8)
        self.close_button = button("Close", self.accept, kind="primary")
        layout = column(self, label(said["title"], "title"), self._note, margins=24, gap=12)
        layout.addWidget(scrolling(inner), 1)
        layout.addLayout(row(None, self.close_button))
        self._read()

    @property
    def note(self) -> str:
        """What is said above the list."""
        return self._note.text()

    def _read(self) -> None:
        conflicts = self._context.bridge.engine.conflicts
        asked = query("Reading the rules", conflicts.rules).within(self, "rules")
        self._context.tasks.run(asked.success(self._show).failure(self._fail))

    def _show(self, rules: Sequence[ReviewRule]) -> None:
        clear(self._lines)
        self._note.setText(review_strings()["rules"]["sentence" if rules else "none"])
        for rule in rules:
            said = QWidget()
            head = label(rule_line(rule), wrap=True)
            used = f"applied {count_of(rule.applied, 'time')}" if rule.applied else "not applied yet"
            column(said, head, label(f"Since {date_of(rule.created_at)}, {used}", "small"), gap=1)
            away = button(review_strings()["rules"]["forget"], partial(self._forget, rule.id))
            away.setAccessibleName(f"Forget the rule: {rule_line(rule)}")
            line = QWidget()
            row(said, away, gap=12, parent=line).setStretch(0, 1)
            self._lines.addWidget(line)
            self._lines.addWidget(hairline())
        self._lines.addStretch(1)

    def _fail(self, error: BaseException) -> None:
        problem = problem_of(error)
        self._note.setText("" if problem is None else problem.sentence)

    def _forget(self, rule_id: str) -> None:
        conflicts = self._context.bridge.engine.conflicts
        task = write("Forgetting a rule", lambda: conflicts.forget_rule(rule_id)).within(self)
        self._context.tasks.run(task.success(lambda step: self._gone(rule_id, step)).failure(self._fail))

    def _gone(self, rule_id: str, step_id: str) -> None:
        self.forgotten.emit(rule_id)
        offer_undo(self._context, review_strings()["rules"]["forgotten"], step_id)
        self._read()


def rule_line(rule: ReviewRule) -> str:
    """A rule as a sentence: `Turn it down: held back, from Claude Code`."""
    whence = one_line(rule.client, 40) if rule.client else source_words(rule.source or "").lower()
    said = told(rule.action, rule.kind, is_pair=rule.kind in {"contradiction", "classification"})
    return f"{said.plain}: {_KINDS.get(rule.kind, rule.kind)}, from {whence or 'anywhere'}"


_KINDS = {
    "contradiction": "contradictions",
    "classification": "pairs Loci is not sure of",
    "quarantine": "what is held back",
    "injection": "what reads like an instruction",
    "proposal": "proposals",
    "approval": "changes that need your word",
    "stale": "what may be out of date",
    "gap": "open questions",
    "entity_merge": "names that may be one",
}
