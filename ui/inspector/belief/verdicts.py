"""A person says of a memory that it is right, of use, or wrong; each is one named undo step.

Must not do: keep the words of a reason once the dialog is closed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from core.types.replies import VerdictReply
from core.types.values import OWNER_ACTOR, Memory, Status
from ui.context import Context
from ui.strings import belief_strings
from ui.tasks import write
from ui.undo import offer_undo
from ui.widgets.basics import button, column, label, row

CONFIRM, REINFORCE, DISPUTE = "confirm", "reinforce", "dispute"
VERDICTS = ((CONFIRM, "C"), (REINFORCE, "R"), (DISPUTE, "D"))
"""What a person can say of a memory, and the letter of it in the inspector."""
JUDGED = frozenset({Status.ACTIVE, Status.DISPUTED})
"""What stands, or is in doubt: only of that can anything be said."""
MOST = 500


def can_judge(memory: Memory) -> bool:
    """Whether a person can say right or wrong of it."""
    return memory.status in JUDGED


def judge(context: Context, memory_id: str, verdict: str, reason: str = "") -> None:
    """Say right or wrong, and offer to take it back.

    Args:
        context: what parts are given.
        memory_id: the memory.
        verdict: `confirm`, `reinforce` or `dispute`.
        reason: why it is disputed, in the person's words; "" for none.
    """
    memories = context.bridge.engine.memories

    def begin() -> Future[VerdictReply]:
        if verdict == DISPUTE:
            return memories.dispute(memory_id, OWNER_ACTOR, reason or None)
        return (memories.confirm if verdict == CONFIRM else memories.reinforce)(memory_id, OWNER_ACTOR)

    def done(reply: VerdictReply) -> None:
        offer_undo(context, belief_strings()["acts"][verdict]["done"], reply.step_id)

    context.tasks.run(write("Judging a memory", begin).success(done))


class ReasonDialog(QDialog):
    """Asks why; the reason may stay empty."""

    def __init__(self, context: Context, said: Mapping[str, str], go: Callable[[str], None], parent: QWidget) -> None:
        """Make it.

        Args:
            context: what parts are given.
            said: `title`, `sentence`, `reason` (over the field) and `button`.
            go: told the reason, "" for none.
            parent: the inspector; the dialog goes with it when the vault is locked.
        """
        super().__init__(parent)
        self.setWindowTitle(said["title"])
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._done = go
        self.reason = QPlainTextEdit()
        self.reason.setAccessibleName(said["reason"])
        self.reason.setPlaceholderText(said["reason"])
        self.reason.setTabChangesFocus(True)
        self.reason.setFixedHeight(context.theme.px(88))
        self.go_button = button(said["button"], self._go, kind="primary")
        buttons = row(None, button("Cancel", self.reject), self.go_button)
        outer = column(self, label(said["title"], "section"), label(said["sentence"], "muted", wrap=True), gap=12)
        outer.setContentsMargins(20, 20, 20, 20)
        outer.addWidget(self.reason)
        outer.addLayout(buttons)
        self.reason.installEventFilter(self)
        self.resize(context.theme.px(400), self.sizeHint().height())
        self.reason.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Ctrl+Enter in the field goes on."""
        if watched is self.reason and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            if is_enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                self._go()
                return True
        return False

    def _go(self) -> None:
        self._done(" ".join(self.reason.toPlainText().split())[:MOST])
        self.accept()


class DisputeDialog(ReasonDialog):
    """Asks why a memory is wrong."""

    def __init__(self, context: Context, memory_id: str, parent: QWidget) -> None:
        """Make it.

        Args:
            context: what parts are given.
            memory_id: what is disputed.
            parent: the inspector.
        """
        super().__init__(
            context, belief_strings()["dispute"], lambda why: judge(context, memory_id, DISPUTE, why), parent
        )
