"""The dialog before memories are erased for good: how many, and which backups still hold them.

Must not do: erase; it tells that the person wants it.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QWidget

from core.types.memory import ErasePreview
from ui.context import Context
from ui.strings import format_count, journal_strings
from ui.tasks import problem_of, query
from ui.widgets.basics import button, column, label, restyle, row
from ui.widgets.plaintext import one_line

_WIDTH = 460
_LISTED = 5


class EraseDialog(QDialog):
    """Shows what would be lost; its button erases, its default is not to.

    Signals:
        agreed: the person pressed it.
    """

    agreed = Signal()

    def __init__(self, context: Context, ids: Sequence[str], parent: QWidget) -> None:
        """Make it.

        Args:
            context: what pages are given.
            ids: the memories.
            parent: the tab.
        """
        super().__init__(parent)
        said = journal_strings()["archive"]
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(said["erase_title"])
        self.setAccessibleName(said["erase_title"])
        self.setMinimumWidth(context.theme.px(_WIDTH))
        self._line = context.theme.px(26)
        self.summary = label(said["erase_look"], "muted", wrap=True)
        self.never = label(said["erase_never"], "danger", wrap=True)
        self.held = label("", "muted", wrap=True)
        self.backups = QListWidget()
        self.backups.setObjectName("framed")
        self.backups.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        self.cancel = button("Cancel", self.reject)
        self.act = button(said["erase_title"], self._agree, kind="danger")
        self.act.setEnabled(False)
        self.act.setAutoDefault(False)
        self.cancel.setDefault(True)
        for shown in (self.never, self.held, self.backups):
            shown.hide()
        layout = column(self, label(said["erase_title"], "title"), self.summary, self.never, self.held, self.backups)
        layout.setContentsMargins(24, 24, 24, 24)
        layout.setSpacing(12)
        layout.addLayout(row(None, self.cancel, self.act))
        self.cancel.setFocus()
        wanted, memories = tuple(ids), context.bridge.engine.memories
        asked = query(said["erase_look"], lambda: memories.erase_preview(wanted)).within(self)
        context.tasks.run(asked.success(self._show).failure(self._fail))

    def _show(self, found: ErasePreview) -> None:
        said = journal_strings()["archive"]
        more = (("erase_back", len(found.back)), ("erase_versions", found.versions), ("erase_same", found.same_words))
        told = [
            format_count(said["erase"], found.memories),
            *(format_count(said[key], count) for key, count in more if count),
        ]
        self.summary.setText(" ".join(told))
        restyle(self.summary, "role", "body")
        count = len(found.backups)
        self.held.setText(format_count(said["erase_backups"], count) if count else said["erase_no_backup"])
        for name in found.backups:
            item = QListWidgetItem(one_line(name, 120), self.backups)
            item.setSizeHint(QSize(0, self._line))
        self.backups.setAccessibleName(self.held.text())
        self.backups.setFixedHeight(self._line * min(count, _LISTED) + 10)
        self.never.show()
        self.held.show()
        self.backups.setVisible(bool(count))
        self.act.setText(format_count(said["erase_act"], found.memories))
        self.act.setAccessibleName(self.act.text())
        self.act.setEnabled(bool(found.memories))
        self.adjustSize()

    def _fail(self, error: BaseException) -> None:
        problem = problem_of(error)
        self.summary.setText("" if problem is None else problem.sentence)
        restyle(self.summary, "role", "danger")

    def _agree(self) -> None:
        self.agreed.emit()
        self.accept()
