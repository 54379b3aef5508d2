"""The tab of the audit: every verb with who and when, in a chain that shows whether somebody meddled with it.

No memory text is in the audit. Must not do: know another tab.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from core.types.replies import AuditPage, AuditRow
from ui.context import Context
from ui.pages.journal.common.cells import FONT, INK, Column, Lines, PlainTable, alignment_of
from ui.pages.journal.common.step_words import counts_of, short_id, verb_of, who_did
from ui.tasks import problem_of, query
from ui.widgets.basics import column
from ui.widgets.states import Banner, EmptyState, States
from ui.widgets.verdict import VerdictDialog, chain_sentence, verdict_of
from ui.widgets.words import time_of

COLUMNS: Sequence[Column] = (
    Column("Nr", 56, order=2, is_number=True),
    Column("When", 148),
    Column("Who", 96, order=1),
    Column("What", 124, stretches=True),
    Column("Object", 96, order=4),
    Column("Counts", 172, order=3, stretches=True),
)
PAGE_ROWS = 200
_NOWHERE = QModelIndex()
_Index = QModelIndex | QPersistentModelIndex
_FONTS: Mapping[str, str] = {"Nr": "number", "When": "number", "Object": "mono"}
_QUIET = frozenset({"Nr", "When", "Object", "Counts"})


class AuditTable(Lines):
    """Audit rows, newest first; older ones are read as somebody scrolls.

    Attributes:
        total: how many there are in the vault.
        is_read: whether it was read once.

    Signals:
        came: what there is was read.
        failed: the error; what was shown stays.
    """

    came = Signal()
    failed = Signal(object)
    columns = COLUMNS

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.total = 0
        self.is_read = False
        self._rows: list[AuditRow] = []
        self._next: int | None = None
        self._is_fetching = False

    def rowCount(self, parent: _Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """How many were read so far."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A cell."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        title = COLUMNS[index.column()].title
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole:
                return _cell(title, self._rows[index.row()])
            case Qt.ItemDataRole.TextAlignmentRole:
                return alignment_of(COLUMNS[index.column()])
            case _ if role == INK:
                return "muted" if title in _QUIET else "ink"
            case _ if role == FONT:
                return _FONTS.get(title, "body")
        return None

    def canFetchMore(self, parent: _Index) -> bool:  # noqa: N802 - Qt's name
        """Whether older ones are left."""
        return not parent.isValid() and self._next is not None and not self._is_fetching

    def fetchMore(self, parent: _Index) -> None:  # noqa: N802 - Qt's name
        """Read older ones."""
        if self.canFetchMore(parent):
            self._ask(self._next, self._append)

    def read(self) -> None:
        """Read the newest; what is known already stays."""
        self._ask(None, self._take_newest)

    def _ask(self, before: int | None, then: Any) -> None:
        self._is_fetching = True
        journal = self._context.bridge.engine.journal
        self._context.tasks.run(
            query("Reading the audit", lambda: journal.audit(before, PAGE_ROWS))
            .within(self, "audit")
            .success(then)
            .failure(self._give_up)
        )

    def _take_newest(self, page: AuditPage) -> None:
        self._is_fetching = False
        self.total, self.is_read = page.total, True
        newest = self._rows[0].nr if self._rows else 0
        new = [one for one in page.rows if one.nr > newest]
        if self._rows and len(new) < len(page.rows):
            if new:  # rows of the audit never change: the new ones come before those that are known
                self.beginInsertRows(_NOWHERE, 0, len(new) - 1)
                self._rows[:0] = new
                self.endInsertRows()
        else:
            self.beginResetModel()
            self._rows, self._next = list(page.rows), page.next
            self.endResetModel()
        self.came.emit()

    def _append(self, page: AuditPage) -> None:
        self._is_fetching = False
        self._next, self.total = page.next, page.total
        if page.rows:
            first = len(self._rows)
            self.beginInsertRows(_NOWHERE, first, first + len(page.rows) - 1)
            self._rows.extend(page.rows)
            self.endInsertRows()

    def _give_up(self, error: BaseException) -> None:
        self._is_fetching = False
        self.failed.emit(error)


def _cell(title: str, entry: AuditRow) -> str:
    match title:
        case "Nr":
            return f"{entry.nr:,}"
        case "When":
            return time_of(entry.at)
        case "Who":
            return who_did(entry.actor)
        case "What":
            return verb_of(entry)
        case "Object":
            return short_id(entry.object)
        case _:
            return counts_of(entry)


class AuditTab(QWidget):
    """The whole audit.

    Signals:
        counted: how many rows there are.
        checking: a check begins or is over; see `is_checking`.
    """

    counted = Signal(int)
    checking = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self.is_checking = self._wants_focus = False
        self.audit = AuditTable(context, self)
        self.table = PlainTable(context.theme, self.audit, COLUMNS, "Audit")
        card = QFrame()
        card.setObjectName("card")
        column(card, self.table).setContentsMargins(1, 6, 1, 8)
        self.states = States(context.theme, card, "Reading the audit …")
        self.banner: Banner | None = None
        self._column: QVBoxLayout = column(self, self.states, gap=10)
        self.audit.came.connect(self._came)
        self.audit.failed.connect(self._fail)

    def enter(self) -> None:
        """It is shown."""
        self._wants_focus = True
        self.read()

    def read(self) -> None:
        """Read what there is."""
        if not self.audit.is_read:
            self.states.loading()
        self.audit.read()

    @property
    def is_settled(self) -> bool:
        """Whether it was read."""
        return self.audit.is_read

    def _came(self) -> None:
        self.counted.emit(self.audit.total)
        if self.audit.rowCount():
            self.states.content()
            if self._wants_focus:
                self.table.setFocus()
            self._wants_focus = False
            return
        sentence = "Every verb that reads or changes the vault leaves a row here: who, when, how much; never a text."
        self.states.empty(EmptyState(self.context.theme, "shield-check", "Nothing happened yet", sentence))

    def _fail(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is None:
            return
        if self.audit.is_read:
            self.context.desk.say(problem.sentence, "Try again", self.audit.read)
        else:
            self.states.trouble(problem, self.read)

    def check(self) -> None:
        """Check the chain, and the rest of the vault with it."""
        self._say_checking(is_checking=True)
        vault = self.context.bridge.engine.vault
        task = query("Checking the chain", vault.verify).within(self, "check")
        self.context.tasks.run(task.success(self._checked).failure(self._unchecked))

    def _say_checking(self, *, is_checking: bool) -> None:
        self.is_checking = is_checking
        self.checking.emit()

    def _checked(self, report: Mapping[str, Any]) -> None:
        self._say_checking(is_checking=False)
        verdict = verdict_of(report)
        whole = verdict.title[:1].lower() + verdict.title[1:]
        sentence = f"{chain_sentence(report)} The vault: {whole}."
        tone = {"success": "accent"}.get(verdict.tone, verdict.tone)
        self._tell(Banner(sentence, tone, "Details", lambda: VerdictDialog(self.context.theme, verdict, self).open()))

    def _unchecked(self, error: BaseException) -> None:
        self._say_checking(is_checking=False)
        problem = problem_of(error)
        if problem is not None:
            self._tell(Banner(problem.sentence, "warning", "Try again", self.check))

    def _tell(self, banner: Banner) -> None:
        if self.banner is not None:
            self._column.removeWidget(self.banner)
            self.banner.deleteLater()
        self.banner = banner
        self._column.insertWidget(0, banner)
