"""What can be done with a memory of the answer, what the person says about an answer, and the ways to elsewhere.

Each change is said with an Undo beside it. Must not do: know another page beyond its id, or decide.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QMimeData, QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from core.types.recall import FeedbackReply, Probe
from core.types.values import OWNER_ACTOR
from ui.bridge import make_write
from ui.context import CLOSER, Context
from ui.pages.recall.answers import AnswerRow
from ui.pages.recall.question import RecallAsker
from ui.pages.recall.why_not import WhyNotDialog
from ui.strings import recall_strings, undo_strings
from ui.undo import offer_undo

WITHIN = 5
"""A memory that should have been here belongs into the first so many."""


class AnswerFeedback(QObject):
    """Saves questions and feedback.

    Signals:
        saved: a question was saved, or taken back.
        noted: a feedback was noted.
    """

    saved = Signal()
    noted = Signal()

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context

    def save_expected(self, question: str, memory_id: str) -> None:
        """This memory belongs into the first places for this question."""
        self._save_probe(question, "positive", (memory_id,))

    def save_expected_empty(self, question: str) -> None:
        """Nothing answers this question."""
        self._save_probe(question, "negative", ())

    def save_unexpected(self, question: str, memory_id: str) -> None:
        """This memory must not be in the answer to this question."""
        self._save_probe(question, "stale", (memory_id,))

    def _save_probe(self, question: str, kind: str, ids: tuple[str, ...]) -> None:
        if not question:
            self._context.desk.show_message(recall_strings()["said"]["ask_first"])
            return
        laboratory = self._context.bridge.engine.recall_trials
        task = make_write(
            recall_strings()["tasks"]["save"], lambda: laboratory.save_probe(question, kind, ids, WITHIN)
        ).within(self)
        self._context.tasks.run(task.success(self._on_probe_saved))

    def _on_probe_saved(self, probe: Probe) -> None:
        sentence = recall_strings()["said"][probe.kind].format(within=probe.within)
        self._context.desk.show_message(sentence, undo_strings()["undo"], lambda: self._undo_save(probe.id))
        self.saved.emit()

    def _undo_save(self, probe_id: str) -> None:
        self._run_delete(probe_id, lambda _: self._context.desk.show_message(recall_strings()["said"]["taken_back"]))

    def delete_probe(self, probe_id: str) -> None:
        """Delete a saved question."""
        self._run_delete(probe_id, lambda step: offer_undo(self._context, recall_strings()["said"]["deleted"], step))

    def _run_delete(self, probe_id: str, report: Callable[[str], None]) -> None:
        laboratory = self._context.bridge.engine.recall_trials
        task = make_write(recall_strings()["tasks"]["delete"], lambda: laboratory.delete_probe(probe_id)).within(self)

        def on_deleted(step_id: str) -> None:
            report(step_id)
            self.saved.emit()

        self._context.tasks.run(task.success(on_deleted))

    def mark_unhelpful(self, question: str, memory_id: str) -> None:
        """This memory does not help with a question like this."""
        memories = self._context.bridge.engine.memories

        def on_marked(reply: FeedbackReply) -> None:
            offer_undo(self._context, recall_strings()["said"]["feedback"], reply.step_id)
            self.noted.emit()

        task = make_write(
            recall_strings()["tasks"]["feedback"],
            lambda: memories.give_feedback(memory_id, "irrelevant", question, OWNER_ACTOR),
        ).within(self)
        self._context.tasks.run(task.success(on_marked))


class AnswerActions(QObject):
    """What can be done with a memory of the answer."""

    def __init__(self, context: Context, asker: RecallAsker, saving: AnswerFeedback, host: QWidget) -> None:
        """Make them.

        Args:
            asker: knows what is asked.
            saving: saves questions.
            host: the page; dialogs are its children.
        """
        super().__init__(host)
        self._context, self._asker, self._saving, self._host = context, asker, saving, host

    @property
    def _question(self) -> str:
        return self._asker.asked.question

    def run_action(self, name: str, row: AnswerRow) -> None:
        """Do something with a memory.

        Args:
            name: a key of `acts` in the page's words.
        """
        acts: dict[str, Callable[[], None]] = {
            "closer": lambda: self._context.selection.reselect(row.id, CLOSER),
            "should": lambda: self._saving.save_expected(self._question, row.id),
            "not_this": lambda: self._saving.mark_unhelpful(self._question, row.id),
            "never": lambda: self._saving.save_unexpected(self._question, row.id),
            "why": lambda: self.ask_why_missing(row.id),
            "palace": lambda: self._context.desk.go.emit("palace", f"show:{row.id}"),
            "copy": lambda: self._copy_id(row.id),
        }
        acts[name]()

    def _copy_id(self, memory_id: str) -> None:
        copied = QMimeData()
        copied.setText(memory_id)
        QGuiApplication.clipboard().setMimeData(copied)
        self._context.desk.show_message(recall_strings()["said"]["copied"])

    def save_expected_empty(self) -> None:
        """This question should have no answer."""
        self._saving.save_expected_empty(self._question)

    def ask_why_missing(self, memory_id: str = "") -> None:
        """Ask why a memory did not come.

        Args:
            memory_id: which; "" to let the person name one.
        """
        answer, question = self._asker.answer, self._question
        if answer is None or not question:
            self._context.desk.show_message(recall_strings()["said"]["ask_first"])
            return
        dialog = WhyNotDialog(self._context, answer, question, self._host)
        dialog.should.connect(lambda one: self._saving.save_expected(question, one))
        dialog.closer.connect(lambda one: self._context.selection.reselect(one, CLOSER))
        dialog.open()
        if memory_id:
            dialog.show_memory(memory_id)
