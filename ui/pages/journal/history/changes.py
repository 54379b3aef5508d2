"""The tab of changes: the list of steps, and what is done with them.

Must not do: know another tab.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtWidgets import QDialog, QFrame, QListWidget, QListWidgetItem, QMenu, QWidget

from core.types.replies import StepRow, UndoBack, UndoReport
from core.types.values import OWNER_ACTOR
from core.types.views import MemoryRow
from ui.context import Context
from ui.pages.journal.common.step_words import act_of
from ui.pages.journal.history.step_list import StepButtons, StepList
from ui.tasks import problem_of, query, write
from ui.undo import stayed, to_be_paired, told
from ui.widgets.basics import FlowLayout, button, column, keycap, label, restyle, row
from ui.widgets.plaintext import one_line
from ui.widgets.states import EmptyState, States
from ui.widgets.words import count_of, memories

ORIGIN = "journal"
_HINTS = (("Enter", "shows what it touched"), ("Del", "undoes or redoes it"), ("B", "undoes back to here"))
_WIDTH = 480
_LISTED = 7


class BackDialog(QDialog):
    """Shows what undoing back to a step would take back; one button does it.

    Signals:
        agreed: the person pressed it.
    """

    agreed = Signal()

    def __init__(self, context: Context, step: StepRow, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Undo back to here")
        self.setAccessibleName("Undo back to here")
        self.setMinimumWidth(context.theme.px(_WIDTH))
        self._context = context
        self._summary = label("Looking at what came after it …", "muted", wrap=True)
        self._list = QListWidget()
        self._list.setObjectName("framed")
        self._list.setAccessibleName("Changes that are taken back, newest first")
        self._list.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        self._line = context.theme.px(26)
        self._list.hide()
        self.cancel = button("Cancel", self.reject)
        self.act = button("Undo", self._agree, kind="primary")
        self.act.setDefault(True)
        self.act.setEnabled(False)
        layout = column(self, label("Undo back to here", "title"), self._summary, margins=24, gap=12)
        layout.addWidget(self._list)
        layout.addLayout(row(None, self.cancel, self.act))
        journal = context.bridge.engine.journal
        context.tasks.run(
            query("Looking at what came after it", lambda: journal.undo_back_to(step.id, preview=True))
            .within(self)
            .success(self._show)
            .failure(self._fail)
        )

    @property
    def summary(self) -> str:
        """What it says."""
        return self._summary.text()

    def _show(self, back: UndoBack) -> None:
        count = len(back.labels)
        if not count:
            self._summary.setText("Everything from here on is taken back already.")
            return
        touched = f"They touch {memories(back.memories)}. " if back.memories else ""
        self._summary.setText(
            f"{count_of(count, 'change is', 'changes are')} taken back together, the newest first. {touched}"
            "You can redo them afterwards."
        )
        restyle(self._summary, "role", "body")
        for one in back.labels:
            item = QListWidgetItem(one_line(one, 120), self._list)
            item.setSizeHint(QSize(0, self._line))
        self._list.setFixedHeight(self._line * min(count, _LISTED) + 10)
        self._list.show()
        self.act.setText(f"Undo {count_of(count, 'change')}")
        self.act.setAccessibleName(self.act.text())
        self.act.setEnabled(True)
        self.act.setFocus()
        self.adjustSize()

    def _fail(self, error: BaseException) -> None:
        problem = problem_of(error)
        self._summary.setText("" if problem is None else problem.sentence)
        restyle(self._summary, "role", "danger")

    def _agree(self) -> None:
        self.agreed.emit()
        self.accept()


class ChangesTab(QWidget):
    """All changes, newest first.

    Signals:
        counted: how many there are.
    """

    counted = Signal(int)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self.list = StepList(context)
        self._card = QFrame()
        self._card.setObjectName("card")
        inner = column(self._card, self.list)
        inner.setContentsMargins(1, 6, 1, 8)
        self.states = States(context.theme, self._card, "Reading the journal …")
        self._hints = QWidget()
        self._hints.setAccessibleName("Keys")
        flow = FlowLayout(self._hints, gap=16)
        for keys, words in _HINTS:
            hint = QWidget()
            row(keycap(keys), label(words, "small"), gap=6, parent=hint)
            flow.addWidget(hint)
        self.docked = StepButtons(self, wraps=True)
        self.docked.asked.connect(self.list.act)
        self._wants_focus = False
        column(self, self.states, self.docked, self._hints, gap=10)
        self.list.step_asked.connect(self._do)
        self.list.looked_at.connect(self._look)
        self.list.reshaped.connect(self._dock)
        self.list.steps.came.connect(self._came)
        self.list.steps.failed.connect(self._fail)
        self._hints.hide()

    # ---- reading

    def enter(self) -> None:
        """It is shown."""
        self._wants_focus = True
        self.read()

    def read(self) -> None:
        """Read what there is."""
        if not self.list.steps.is_read:
            self.states.loading()
        self.list.steps.read()

    @property
    def is_settled(self) -> bool:
        """Whether it was read."""
        return self.list.steps.is_read

    def _came(self) -> None:
        steps = self.list.steps
        self.counted.emit(steps.total)
        self._dock()
        if self.list.lines.rowCount():
            self.states.content()
            if self._wants_focus:
                self.list.setFocus()
            self._wants_focus = False
            return
        sentence = "Every change of yours, of an assistant's or of Loci's own stands here, and can be undone."
        self.states.empty(EmptyState(self.context.theme, "history", "Nothing was changed yet", sentence))

    def _fail(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is None:
            return
        if self.list.steps.is_read:
            self.context.desk.say(problem.sentence, "Try again", self.list.steps.read)
        else:
            self.states.trouble(problem, self.read)

    # ---- what is done with a step

    def _dock(self) -> None:
        """Where lines are narrow, the buttons stand below the list, in the place of the keys."""
        step, is_narrow = self.list.current, self.list.is_narrow
        self._hints.setVisible(bool(self.list.lines.rowCount()) and not is_narrow)
        self.docked.setVisible(is_narrow and step is not None and self.list.offer(self.docked, step))

    def _look(self, step: StepRow | None) -> None:
        self._dock()
        if step is not None and len(step.memory_ids) == 1:
            self.context.selection.select(step.memory_ids[0], ORIGIN)

    def _do(self, what: str, step: StepRow) -> None:
        if what == "show":
            self._lead(step)
        elif what == "back":
            self.ask_back(step)
        elif act_of(step):
            self.undo(step.undone_by or step.id, act_of(step))

    def undo(self, step_id: str, act: str) -> None:
        """Undo or redo one step.

        Args:
            step_id: the step that is taken back; for a redo of an undone one, the step that had undone it.
            act: `Undo` or `Redo`.
        """
        engine = self.context.bridge.engine
        self.context.tasks.run(
            write("Undoing" if act == "Undo" else "Redoing", lambda: engine.memories.undo(step_id, OWNER_ACTOR))
            .within(self)
            .success(lambda report: self._undone(report, act))
        )

    def _undone(self, report: UndoReport, act: str) -> None:
        done, other = ("Undone", "Redo") if act == "Undo" else ("Redone", "Undo")
        self.context.desk.say(told(done, report), other, partial(self.undo, report.undo_step_id, other))
        self.context.selection.again(self.context.selection.current, "undo")

    def ask_back(self, step: StepRow) -> None:
        """Ask whether to undo back to a step."""
        dialog = BackDialog(self.context, step, self)
        dialog.agreed.connect(lambda: self.undo_back(step.id))
        dialog.open()

    def undo_back(self, step_id: str, *, is_redo: bool = False) -> None:
        """Take back a step and all that came after it, in one transaction.

        Args:
            step_id: the oldest one.
            is_redo: whether these steps are undos themselves.
        """
        journal = self.context.bridge.engine.journal
        self.context.tasks.run(
            write("Undoing", lambda: journal.undo_back_to(step_id, preview=False))
            .within(self)
            .success(lambda back: self._went_back(back, is_redo=is_redo))
        )

    def _went_back(self, back: UndoBack, *, is_redo: bool) -> None:
        done, other = ("redone", "Undo") if is_redo else ("undone", "Redo")
        left = stayed(sum(len(report.left) for report in back.reports))
        # The first of the new steps is the oldest: going back to it takes all of them back.
        first = back.reports[0].undo_step_id
        self.context.desk.say(
            f"{count_of(len(back.reports), 'change')} {done}.{to_be_paired(back.unpaired)}{left}",
            other,
            lambda: self.undo_back(first, is_redo=not is_redo),
        )
        self.context.selection.again(self.context.selection.current, "undo")

    # ---- what a step touched

    def _lead(self, step: StepRow) -> None:
        engine = self.context.bridge.engine
        if step.verb == "import":
            self._lead_to_import(step)
        elif not step.memory_ids:
            self.context.desk.say("It touched no memory that is still here.")
        elif len(step.memory_ids) == 1:
            self.context.selection.again(step.memory_ids[0], ORIGIN)
        else:
            task_rows = query("Looking at what it touched", lambda: engine.library.rows(step.memory_ids))
            self.context.tasks.run(task_rows.within(self, "lead").success(self._offer))

    def _lead_to_import(self, step: StepRow) -> None:
        made = self.list.steps.imports.get(step.id)
        if step.undone or made is None:
            self.context.desk.say("Nothing of this import is here any more.")
        else:
            self.context.desk.search.emit(f"import:{made.id}")

    def _offer(self, rows: Sequence[MemoryRow]) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setAccessibleName("Memories it touched")
        for one in rows:
            action = menu.addAction(one_line(one.head, 70).replace("&", "&&"))
            action.triggered.connect(lambda _checked=False, one=one: self.context.selection.select(one.id, ORIGIN))
        line = self.list.visualRect(self.list.currentIndex())
        menu.popup(self.list.viewport().mapToGlobal(QPoint(line.left() + 40, line.bottom())))
