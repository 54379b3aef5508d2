"""How long what a memory says goes on being true: in words, with the reason, and chosen anew by the person.

Must not do: decide a level; the engine reads it, the person sets it, as one undo step.
"""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from core.types.memory import Lasting
from core.types.views import Revision, RevisionReport
from ui.context import Context
from ui.strings import belief_strings as belief_words
from ui.strings import inspector_strings
from ui.tasks import problem_of, query, write
from ui.undo import offer_undo
from ui.widgets.basics import MenuChip, column, label, row


def length_told(level: str) -> str:
    """A level within a sentence: `for years`.

    Args:
        level: one of the five.
    """
    return str(inspector_strings()["lasting"]["levels"].get(level, level)).lower()


def lasting_told(lasting: Lasting) -> str:
    """What a level rests on, as a sentence; "" where that cannot be said.

    Args:
        lasting: from the engine.
    """
    form = str(inspector_strings()["lasting"].get(lasting.why, ""))
    known = belief_words()["predicates"]
    names = (known[name]["other"] if name in known else name.replace("_", " ") for name in lasting.predicates)
    return form.format(names=", ".join(names), read=length_told(lasting.read))


class LastingRow(QWidget):
    """A chip that says how long, a menu of other lengths, and the reason below."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        words = inspector_strings()["lasting"]
        self._context, self._memory_id = context, ""
        self.chip = MenuChip(context.theme, words["title"], words["levels"], "standard")
        self.chip.setToolTip(words["hint"])
        self.chip.chosen.connect(self._choose)
        self.reason = label("", "small", wrap=True)
        layout = column(self, gap=4)
        layout.addLayout(row(self.chip, None))
        layout.addWidget(self.reason)
        self.hide()

    def show_memory(self, memory_id: str) -> None:
        """Show how long a memory lasts; nothing of the one before it in the meantime.

        Args:
            memory_id: which.
        """
        if memory_id != self._memory_id:
            self._memory_id = memory_id
            self.hide()
        memories = self._context.bridge.engine.memories
        asked = query("Reading how long it lasts", lambda: memories.lasting(memory_id)).within(self, "lasting")
        self._context.tasks.run(asked.success(self._show).failure(lambda _: self.hide()))

    def _show(self, lasting: Lasting) -> None:
        self.chip.show_choice(lasting.level)
        self.chip.setVisible(lasting.can_choose)
        told = lasting_told(lasting)
        self.reason.setText(told)
        self.reason.setVisible(bool(told))
        self.chip.setAccessibleDescription(told)
        self.show()

    def _choose(self, level: str) -> None:
        context, memory_id = self._context, self._memory_id
        library = context.bridge.engine.library
        words = inspector_strings()["lasting"]

        def done(report: RevisionReport) -> None:
            if report.step_id is None:
                context.desk.say(" ".join(report.refused) or words["done"].format(read=length_told(level)))
                self.show_memory(memory_id)
            else:
                offer_undo(context, words["done"].format(read=length_told(level)), report.step_id)

        task = write(words["label"], lambda: library.revise((memory_id,), Revision(permanence=level))).within(self)
        context.tasks.run(task.success(done).failure(self._failed))

    def _failed(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is not None:
            self._context.desk.say(problem.sentence)
        self.show_memory(self._memory_id)
