"""What was imported can be made into statements: how many there would be, and the button that makes them.

Must not do: make anything before the person presses the button.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from core.types.lifecycle import DistilledTalk
from ui.bridge import Problem, Task, Watch, make_query, problem_of
from ui.context import Context
from ui.strings import format_count, import_strings
from ui.widgets.basics import make_button, make_label, make_row

NOTHING_NEW = "NOOP"
"""The operation of a statement that exists already."""


class StatementsOffer(QWidget):
    """Offers statements of imports, says how many there would be, and makes them.

    Signals:
        made: the statements were made.

    Attributes:
        sentence: what can be made, is being made or was made.
        make: the button.
    """

    made = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._ids: list[str] = []
        self._left: list[str] = []
        self._statements = self._small = 0
        self.sentence = make_label("", "muted", wrap=True)
        self.sentence.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        strings = import_strings()["statements"]
        self.make = make_button(strings["make"], self.start_making, theme=context.theme, icon="sparkles")
        self.make.setToolTip(strings["make_hint"])
        line = make_row(self.sentence, self.make, gap=16, parent=self)
        line.setStretch(0, 1)
        self.hide()

    def offer_for(self, import_ids: Sequence[str]) -> None:
        """Look whether statements can be made of imports; nothing is shown where none can."""
        self._ids = list(import_ids)
        self._reset_counts()
        self.hide()
        if self._left:
            self._count_next()

    def start_making(self) -> None:
        """Make them."""
        self._reset_counts()
        self.sentence.setFocus()  # not the next button, which removes the import: Enter may be pressed twice
        self.make.hide()
        self.sentence.setText(import_strings()["statements"]["making_now"])
        self._make_next()

    def _reset_counts(self) -> None:
        self._left, self._statements, self._small = list(self._ids), 0, 0

    # ---- looking

    def _count_next(self) -> None:
        statements, last = self._context.bridge.engine.statements, self._left[-1]
        task = make_query(import_strings()["statements"]["looking"], lambda: statements.count_waiting(last)).within(
            self, "statements"
        )
        self._context.tasks.run(task.success(self._on_counted).failure(self._on_failed))

    def _on_counted(self, waiting: int) -> None:
        if waiting:
            self.sentence.setText(import_strings()["statements"]["reading"])
            self.make.setEnabled(False)
            self.make.show()
            self.show()
            self._preview_next()
            return
        self._left.pop()
        if self._left:
            self._count_next()

    def _preview_next(self) -> None:
        statements, last = self._context.bridge.engine.statements, self._left[-1]
        task = make_query(
            import_strings()["statements"]["looking"], lambda: statements.preview_statements(last)
        ).within(self, "statements")
        self._context.tasks.run(task.success(self._on_previewed).failure(self._on_failed))

    def _on_previewed(self, found: DistilledTalk) -> None:
        self._add_result(found)
        if self._left:
            self._preview_next()
            return
        self._describe_statements("possible")
        self.make.setEnabled(True)
        self.setVisible(self._statements + self._small > 0)

    # ---- making

    def _make_next(self) -> None:
        statements, last = self._context.bridge.engine.statements, self._left[-1]

        def start_run(_watch: Watch) -> Future[DistilledTalk]:
            return statements.run(last)

        task = Task(import_strings()["statements"]["making"], start_run, writes=True).within(self)
        self._context.tasks.run(task.success(self._on_made).failure(self._on_failed))

    def _on_made(self, found: DistilledTalk) -> None:
        self._add_result(found)
        if self._left:
            self._make_next()
            return
        self._describe_statements("made")
        self.made.emit()

    def _on_failed(self, error: BaseException) -> None:
        problem: Problem | None = problem_of(error)
        if problem is not None:
            self.sentence.setText(problem.sentence)
            self.show()

    def _add_result(self, found: DistilledTalk) -> None:
        self._left.pop()
        self._statements += sum(one.operation != NOTHING_NEW for one in found.statements)
        self._small += len(found.small_talk)

    def _describe_statements(self, stage: str) -> None:
        strings = import_strings()["statements"]
        small_talk = format_count(strings["small_talk"], self._small)
        self.sentence.setText(format_count(strings[stage], self._statements, small_talk=small_talk))
