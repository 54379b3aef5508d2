"""What can be done with a memory of the answer, and the ways from it to elsewhere.

Must not do: know another page beyond its id, or change the vault but through `AnswerFeedback`.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QMimeData, QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from ui.context import CLOSER, Context
from ui.pages.recall.answer.lines import Row
from ui.pages.recall.answer.why_not import WhyNotDialog
from ui.pages.recall.feedback import AnswerFeedback
from ui.pages.recall.query import Asker
from ui.strings import recall_strings


class AnswerActions(QObject):
    """The acts."""

    def __init__(self, context: Context, asker: Asker, saving: AnswerFeedback, host: QWidget) -> None:
        """Make them.

        Args:
            context: what pages are given.
            asker: knows what is asked.
            saving: saves questions.
            host: the page; dialogs are its children.
        """
        super().__init__(host)
        self._context, self._asker, self._saving, self._host = context, asker, saving, host

    @property
    def _question(self) -> str:
        return self._asker.asked.question

    def act(self, name: str, row: Row) -> None:
        """Do something with a memory.

        Args:
            name: a key of `acts` in the page's words.
            row: which memory.
        """
        acts: dict[str, Callable[[], None]] = {
            "closer": lambda: self._context.selection.again(row.id, CLOSER),
            "should": lambda: self._saving.should_be_here(self._question, row.id),
            "not_this": lambda: self._saving.not_this_one(self._question, row.id),
            "never": lambda: self._saving.must_not_come(self._question, row.id),
            "why": lambda: self.ask_why(row.id),
            "palace": lambda: self._context.desk.go.emit("palace", f"show:{row.id}"),
            "copy": lambda: self._copy(row.id),
        }
        acts[name]()

    def _copy(self, memory_id: str) -> None:
        copied = QMimeData()
        copied.setText(memory_id)
        QGuiApplication.clipboard().setMimeData(copied)
        self._context.desk.say(recall_strings()["said"]["copied"])

    def say_empty(self) -> None:
        """This question should have no answer."""
        self._saving.should_be_empty(self._question)

    def ask_why(self, memory_id: str = "") -> None:
        """Ask why a memory did not come.

        Args:
            memory_id: which; "" to let the person name one.
        """
        answer, question = self._asker.answer, self._question
        if answer is None or not question:
            self._context.desk.say(recall_strings()["said"]["ask_first"])
            return
        dialog = WhyNotDialog(self._context, answer, question, self._host)
        dialog.should.connect(lambda one: self._saving.should_be_here(question, one))
        dialog.closer.connect(lambda one: self._context.selection.again(one, CLOSER))
        dialog.open()
        if memory_id:
            dialog.name(memory_id)
