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
from ui.bridge import write
from ui.context import CLOSER, Context
from ui.pages.recall.answers import Row
from ui.pages.recall.question import Asker
from ui.pages.recall.why_not import WhyNotDialog
from ui.strings import recall_strings
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

    def should_be_here(self, question: str, memory_id: str) -> None:
        """This memory belongs into the first places for this question."""
        self._save(question, "positive", (memory_id,))

    def should_be_empty(self, question: str) -> None:
        """Nothing answers this question."""
        self._save(question, "negative", ())

    def must_not_come(self, question: str, memory_id: str) -> None:
        """This memory must not be in the answer to this question."""
        self._save(question, "stale", (memory_id,))

    def _save(self, question: str, kind: str, ids: tuple[str, ...]) -> None:
        if not question:
            self._context.desk.say(recall_strings()["said"]["ask_first"])
            return
        laboratory = self._context.bridge.engine.laboratory
        task = write("Saving the question", lambda: laboratory.save_probe(question, kind, ids, WITHIN)).within(self)
        self._context.tasks.run(task.success(self._on_probe_saved))

    def _on_probe_saved(self, probe: Probe) -> None:
        sentence = recall_strings()["said"][probe.kind].format(within=probe.within)
        self._context.desk.say(sentence, "Undo", lambda: self._take_back(probe.id))
        self.saved.emit()

    def _take_back(self, probe_id: str) -> None:
        self._delete(probe_id, lambda _: self._context.desk.say(recall_strings()["said"]["taken_back"]))

    def delete(self, probe_id: str) -> None:
        """Delete a saved question."""
        self._delete(probe_id, lambda step: offer_undo(self._context, recall_strings()["said"]["deleted"], step))

    def _delete(self, probe_id: str, tell: Callable[[str], None]) -> None:
        laboratory = self._context.bridge.engine.laboratory
        task = write("Deleting the saved question", lambda: laboratory.delete_probe(probe_id)).within(self)

        def done(step_id: str) -> None:
            tell(step_id)
            self.saved.emit()

        self._context.tasks.run(task.success(done))

    def mark_unhelpful(self, question: str, memory_id: str) -> None:
        """This memory does not help with a question like this."""
        memories = self._context.bridge.engine.memories

        def done(reply: FeedbackReply) -> None:
            offer_undo(self._context, recall_strings()["said"]["feedback"], reply.step_id)
            self.noted.emit()

        task = write("Noting that", lambda: memories.feedback(memory_id, "irrelevant", question, OWNER_ACTOR)).within(
            self
        )
        self._context.tasks.run(task.success(done))


class AnswerActions(QObject):
    """What can be done with a memory of the answer."""

    def __init__(self, context: Context, asker: Asker, saving: AnswerFeedback, host: QWidget) -> None:
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

    def act(self, name: str, row: Row) -> None:
        """Do something with a memory.

        Args:
            name: a key of `acts` in the page's words.
        """
        acts: dict[str, Callable[[], None]] = {
            "closer": lambda: self._context.selection.again(row.id, CLOSER),
            "should": lambda: self._saving.should_be_here(self._question, row.id),
            "not_this": lambda: self._saving.mark_unhelpful(self._question, row.id),
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
