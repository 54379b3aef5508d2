"""The dialog that says what a run does before it is started.

Must not do: start it; it tells that the person wants it.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QLayout, QWidget

from ui.context import Context
from ui.strings import journal_strings
from ui.widgets.basics import button, column, label, restyle, row

_WIDTH = 460


class RunDialog(QDialog):
    """Says what a run does before it is started; one button starts it.

    Signals:
        agreed: the person pressed it.
    """

    agreed = Signal()

    def __init__(self, context: Context, lead: str, sentences: Sequence[str], foot: str, parent: QWidget) -> None:
        """Make it.

        Args:
            context: what pages are given.
            lead: what happens, and instead of when.
            sentences: what it does, one a line.
            foot: whether it can be taken back.
            parent: the tab.
        """
        super().__init__(parent)
        said = journal_strings()["next"]
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(said["run_title"])
        self.setAccessibleName(said["run_title"])
        self.setFixedWidth(context.theme.px(_WIDTH))
        self.sentences = (lead, *sentences, foot)
        self.cancel = button("Cancel", self.reject)
        self.act = button(said["run_title"], self._agree, kind="primary")
        self._title = label(said["run_title"], "title")
        layout = column(self, self._title, label(lead, "muted", wrap=True), margins=24, gap=12)
        lines = column(gap=6)
        for sentence in sentences:
            lines.addWidget(label(sentence, wrap=True))
        layout.addLayout(lines)
        layout.addWidget(label(foot, "muted", wrap=True))
        layout.addLayout(row(None, self.cancel, self.act))
        self.act.setFocus()

    def warn(self, title: str, act: str) -> None:
        """What it does cannot be taken back: say so, and let the person go out of their way to do it.

        Args:
            title: of the dialog.
            act: what the button says.
        """
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self._title.setText(title)
        self.act.setText(act)
        self.act.setAccessibleName(act)
        self.act.setDefault(False)
        restyle(self.act, "kind", "danger")
        self.cancel.setDefault(True)
        self.cancel.setFocus()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Be as high as the words need at this width; a layout alone leaves room for words that wrap more."""
        layout = self.layout()
        if layout is not None:
            layout.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
            self.setFixedHeight(layout.totalHeightForWidth(self.width()))
        super().showEvent(event)

    def _agree(self) -> None:
        self.agreed.emit()
        self.accept()
