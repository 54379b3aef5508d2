"""Who asks to be paired: what it calls itself, its process as reported, the end of its code, what it would be allowed.

Must not do: answer for the person. What comes from outside is plain text, made visible.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from core.config.grantwords import cannot, former, spaces_of
from core.types.clients import PairingQuestion
from core.types.words import Grant
from ui.pages.clients.words import SPACE, counted, grant_sentence, visible, words
from ui.widgets.basics import Elided, button, column, label, row
from ui.widgets.plaintext import one_line

INERT_MS = 1_000
_PROCESS = 120


class QuestionView(QWidget):
    """The question.

    Signals:
        answered: whether it is allowed.
    """

    answered = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        said = words()["pairing"]
        self.title = Elided("", "title")
        self.values = {
            name: label("", "strong", wrap=True) for name in ("calls_itself", "named", "process", "code_end")
        }
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(6)
        for place, (name, value) in enumerate(self.values.items()):
            grid.addWidget(label(said[name], "muted"), place, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(value, place, 1)
        grid.setColumnStretch(1, 1)
        self.allowed, self.seen = label("", "body", wrap=True), label("", "body", wrap=True)
        self.former = label(said["former"], "warning", wrap=True)
        self.left = label("", "small")
        self.allow = button(said["allow"], partial(self._tell, is_allowed=True))
        self.deny = button(said["deny"], partial(self._tell, is_allowed=False), kind="primary")
        self.allow.setAutoDefault(False)
        box = column(self, self.title, gap=10)
        box.addLayout(grid)
        for part in (
            label(said["process_hint"], "small", wrap=True),
            self.former,
            label(said["allowed"], "label"),
            self.allowed,
            label(said["sees"], "label"),
            self.seen,
            label(cannot(), "small", wrap=True),
        ):
            box.addWidget(part)
        box.addStretch(1)
        box.addLayout(row(self.left, None, self.allow, self.deny))
        self._inert = QTimer(self)
        self._inert.setSingleShot(True)
        self._inert.setInterval(INERT_MS)
        self._inert.timeout.connect(lambda: self.allow.setEnabled(True))
        self.setTabOrder(self.deny, self.allow)

    def _tell(self, *, is_allowed: bool) -> None:
        self.answered.emit(is_allowed)

    def show_question(self, asked: PairingQuestion) -> None:
        """Show who asks; "Allow" takes no press for a second.

        Args:
            asked: who.
        """
        said = words()["pairing"]
        self.title.say(said["asks"].format(name=visible(asked.name)))
        shown = {
            "calls_itself": visible(asked.client),
            "named": visible(asked.name),
            "process": one_line(asked.asked_by, _PROCESS) or said["unknown_process"],
            "code_end": visible(asked.code_end),
        }
        for name, value in shown.items():
            self.values[name].setText(value)
            self.values[name].setAccessibleName(f"{said[name]}: {value}")
        self.former.setVisible(asked.former)
        rights = [one for one in asked.grants if not _is_space(one)]
        self.allowed.setText("\n".join(f"•  {grant_sentence(one)}" for one in rights))
        past = [former()] if asked.former else []
        spaces = [grant_sentence(one) for one in spaces_of(asked.grants)]
        self.seen.setText("\n".join(f"•  {one}" for one in (*spaces, *past, said["sees_own"])))
        self.allow.setEnabled(False)
        self.deny.setEnabled(True)
        self._inert.start()
        self.deny.setDefault(True)
        self.deny.setFocus()

    def show_time(self, left: int) -> None:
        """Say how long there is to answer.

        Args:
            left: seconds.
        """
        self.left.setText(counted(words()["pairing"]["answer_left"], left))

    def wait(self) -> None:
        """It was answered."""
        self._inert.stop()
        for made in (self.allow, self.deny):
            made.setEnabled(False)


def _is_space(grant: str) -> bool:
    return grant.startswith(SPACE) or grant == Grant.ALL_SPACES.value
