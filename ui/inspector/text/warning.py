"""The part that says that a memory reads like an instruction and is kept from assistants, and lets it through.

Must not do: judge a text; the engine scans it, the person decides.
"""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from core.types.memory import Warned
from ui.context import Context, Inspected, Part, PartSpec
from ui.strings import injection_strings
from ui.tasks import problem_of, query, write
from ui.undo import offer_undo
from ui.widgets.basics import button, column, label, row

_TOLD = 2


def warning_told(warned: Warned) -> str:
    """Why it is kept back, in plain words.

    Args:
        warned: from the engine.

    Returns:
        A sentence or two.
    """
    words = injection_strings()
    told = str(words["blocked" if warned.blocked else "sentence"])
    what = [str(words["families"][name]) for name in warned.families if name in words["families"]][:_TOLD]
    return f"{told} {words['seems'].format(what=words['and'].join(what))}" if what else told


class WarningPart(Part):
    """The badge, the reason, and a button that asks once more."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        words = injection_strings()
        self._memory_id = ""
        self.title = label(words["title"], "strong", wrap=True)
        self.reason = label("", "small", wrap=True)
        self.through = button(words["button"], self._ask, kind="link", hint=words["hint"])
        self.question = QWidget()
        self.yes = button(words["button"], self._go)
        self.no = button("Cancel", self._calm)
        inside = column(self.question, label(words["ask"], "small", wrap=True), gap=4)
        inside.addLayout(row(self.yes, self.no, None))
        layout = column(self, self.title, self.reason, gap=4)
        layout.addLayout(row(self.through, None))
        layout.addWidget(self.question)
        self._calm()

    def show_memory(self, inspected: Inspected) -> bool:
        """Look whether it is kept back; the part shows itself when it is.

        Args:
            inspected: what.

        Returns:
            False until that is known of another memory.
        """
        memory_id = inspected.memory.id
        is_same = memory_id == self._memory_id
        self._memory_id = memory_id
        if not is_same:
            self._calm()
        library = self.context.bridge.engine.library
        asked = query("Looking whether it reads like an instruction", lambda: library.warned(memory_id))
        self.context.tasks.run(asked.within(self, "warned").success(self._show).failure(lambda _: self.hide()))
        return is_same and self.isVisible()

    def _show(self, warned: Warned | None) -> None:
        if warned is not None:
            told = warning_told(warned)
            self.reason.setText(told)
            self.setAccessibleName(f"{self.title.text()}. {told}")
        self.setVisible(warned is not None)

    def _ask(self) -> None:
        self.through.hide()
        self.question.show()
        self.yes.setFocus()

    def _calm(self) -> None:
        self.question.hide()
        self.through.show()

    def _go(self) -> None:
        library, memory_id, words = self.context.bridge.engine.library, self._memory_id, injection_strings()

        def done(step_id: str) -> None:
            self._calm()
            offer_undo(self.context, words["done"], step_id)

        task = write("Letting a memory through", lambda: library.let_through(memory_id)).within(self)
        self.context.tasks.run(task.success(done).failure(self._failed))

    def _failed(self, error: BaseException) -> None:
        self._calm()
        problem = problem_of(error)
        if problem is not None:
            self.context.desk.say(problem.sentence)


WARNING = PartSpec("warning", 12, WarningPart)
