"""What the person says about an answer: a saved question, or "not this one"; each is said with an Undo beside it.

Must not do: decide, or show a word of a memory.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from core.types.recall import FeedbackReply, Probe
from core.types.values import OWNER_ACTOR
from ui.context import Context
from ui.strings import recall_strings
from ui.tasks import write
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
        self._context.tasks.run(task.success(self._saved))

    def _saved(self, probe: Probe) -> None:
        sentence = recall_strings()["said"][probe.kind].format(within=probe.within)
        self._context.desk.say(sentence, "Undo", lambda: self._take_back(probe.id))
        self.saved.emit()

    def _take_back(self, probe_id: str) -> None:
        self._delete(probe_id, lambda _: self._context.desk.say(recall_strings()["said"]["taken_back"]))

    def delete(self, probe_id: str) -> None:
        """Delete a saved question.

        Args:
            probe_id: which.
        """
        self._delete(probe_id, lambda step: offer_undo(self._context, recall_strings()["said"]["deleted"], step))

    def _delete(self, probe_id: str, tell: Callable[[str], None]) -> None:
        laboratory = self._context.bridge.engine.laboratory
        task = write("Deleting the saved question", lambda: laboratory.delete_probe(probe_id)).within(self)

        def done(step_id: str) -> None:
            tell(step_id)
            self.saved.emit()

        self._context.tasks.run(task.success(done))

    def not_this_one(self, question: str, memory_id: str) -> None:
        """This memory does not help with a question like this."""
        memories = self._context.bridge.engine.memories

        def done(reply: FeedbackReply) -> None:
            offer_undo(self._context, recall_strings()["said"]["feedback"], reply.step_id)
            self.noted.emit()

        task = write("Noting that", lambda: memories.feedback(memory_id, "irrelevant", question, OWNER_ACTOR)).within(
            self
        )
        self._context.tasks.run(task.success(done))
