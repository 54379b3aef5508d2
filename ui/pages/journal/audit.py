"""The tab of the audit: every verb with who and when, in a chain that shows whether somebody meddled with it.

No memory text is in the audit. Must not do: know another tab.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from core.types.replies import AuditPage, AuditRow
from ui.bridge import make_query, problem_of
from ui.context import Context
from ui.lists.table_view import TableColumn, TableModel, TableSpec, TableView
from ui.pages.journal.labels import describe_author
from ui.strings import format_count, journal_strings, window_strings
from ui.theme.tokens import FontRole
from ui.widgets.basics import make_column, make_label
from ui.widgets.check_report import CheckReportDialog, chain_sentence, summarize_checks
from ui.widgets.labels import count_of, time_of
from ui.widgets.plaintext import one_line
from ui.widgets.states import Banner, EmptyState, States

COLUMNS: Sequence[TableColumn] = (
    TableColumn("nr", 56, order=2, is_number=True),
    TableColumn("at", 148),
    TableColumn("actor", 96, order=1),
    TableColumn("verb", 124, stretches=True),
    TableColumn("object", 96, order=4),
    TableColumn("counts", 172, order=3, stretches=True),
)
PAGE_ROWS = 200
_FONTS: Mapping[str, FontRole] = {"nr": "number", "at": "number", "object": "mono"}
_QUIET = frozenset({"nr", "at", "object", "counts"})


class AuditRows(TableSpec[AuditRow]):
    """The rows of the table."""

    columns = COLUMNS

    def __init__(self) -> None:
        self.titles = journal_strings()["audit"]["columns"]

    def cell_text(self, title: str, row: AuditRow) -> str:
        """The text of a cell."""
        return _format_cell(title, row)

    def cell_colour(self, title: str, _row: AuditRow) -> str:
        """What one reads first is dark."""
        return "muted" if title in _QUIET else "ink"

    def column_font(self, title: str) -> FontRole:
        """Figures and ids have fonts of their own."""
        return _FONTS.get(title, "body")


class AuditFeed(QObject):
    """Fills a table with audit rows, newest first; older ones are read as somebody scrolls.

    Attributes:
        total: how many there are in the vault.
        is_read: whether it was read once.

    Signals:
        rows_read: what there is was read.
        failed: the error; what was shown stays.
    """

    rows_read = Signal()
    failed = Signal(object)

    def __init__(self, context: Context, lines: TableModel[AuditRow]) -> None:
        super().__init__(lines)
        self._context, self._lines = context, lines
        self.total = 0
        self.is_read = False
        self._next: int | None = None
        lines.more.connect(lambda: self._request_page(self._next, self._append_page))

    def read_newest(self) -> None:
        """Read the newest; what is known already stays."""
        self._request_page(None, self._insert_newest)

    def _request_page(self, before: int | None, then: Callable[[AuditPage], None]) -> None:
        self._lines.has_more = False
        journal = self._context.bridge.engine.history
        self._context.tasks.run(
            make_query(journal_strings()["tasks"]["audit"], lambda: journal.list_audit(before, PAGE_ROWS))
            .within(self, "audit")
            .success(then)
            .failure(self._on_read_failed)
        )

    def _insert_newest(self, page: AuditPage) -> None:
        self.total, self.is_read = page.total, True
        known = self._lines.rows
        new = [one for one in page.rows if not known or one.nr > known[0].nr]
        if known and len(new) < len(page.rows):
            self._lines.insert_rows(
                0, new
            )  # rows of the audit never change: the new ones come before those that are known
            self._lines.has_more = self._next is not None
        else:
            self._next = page.next
            self._lines.show_rows(page.rows, has_more=page.next is not None)
        self.rows_read.emit()

    def _append_page(self, page: AuditPage) -> None:
        self._next, self.total = page.next, page.total
        self._lines.insert_rows(len(self._lines.rows), page.rows)
        self._lines.has_more = page.next is not None

    def _on_read_failed(self, error: BaseException) -> None:
        self._lines.has_more = self._next is not None
        self.failed.emit(error)


def _format_cell(title: str, entry: AuditRow) -> str:
    match title:
        case "nr":
            return f"{entry.nr:,}"
        case "at":
            return time_of(entry.at)
        case "actor":
            return describe_author(entry.actor)
        case "verb":
            return audit_verb(entry)
        case "object":
            return short_id(entry.object)
        case _:
            return audit_counts(entry)


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
        strings = journal_strings()["audit"]
        self.context = context
        self.is_checking = self._wants_focus = False
        self.table = TableView(context.theme, AuditRows(), strings["name"])
        self.audit = AuditFeed(context, self.table.lines)
        card = QFrame()
        card.setObjectName("card")
        make_column(card, self.table).setContentsMargins(1, 6, 1, 8)
        self.states = States(context.theme, card, strings["reading"])
        self.banner: Banner | None = None
        self._column: QVBoxLayout = make_column(self, make_label(strings["about"], "muted", wrap=True), gap=10)
        self._column.addWidget(self.states, 1)
        self.audit.rows_read.connect(self._on_entries_read)
        self.audit.failed.connect(self._show_failure)

    def activate(self) -> None:
        """It is shown."""
        self._wants_focus = True
        self.reload()

    def reload(self) -> None:
        """Read what there is."""
        if not self.audit.is_read:
            self.states.show_loading()
        self.audit.read_newest()

    @property
    def is_settled(self) -> bool:
        """Whether it was read."""
        return self.audit.is_read

    def _on_entries_read(self) -> None:
        strings = journal_strings()["audit"]
        self.counted.emit(self.audit.total)
        if self.table.lines.rowCount():
            self.states.show_content()
            if self._wants_focus:
                self.table.setFocus()
            self._wants_focus = False
            return
        sentence = strings["empty"]
        self.states.show_empty(EmptyState(self.context.theme, "shield-check", strings["empty_title"], sentence))

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is None:
            return
        if self.audit.is_read:
            self.context.desk.show_message(
                problem.sentence, window_strings()["buttons"]["retry"], self.audit.read_newest
            )
        else:
            self.states.show_trouble(problem, self.reload)

    def check_chain(self) -> None:
        """Check the chain, and the rest of the vault with it."""
        self._show_checking(is_checking=True)
        vault = self.context.bridge.engine.vault
        task = make_query(journal_strings()["tasks"]["chain"], vault.verify).within(self, "check")
        self.context.tasks.run(task.success(self._on_chain_checked).failure(self._on_check_failed))

    def _show_checking(self, *, is_checking: bool) -> None:
        self.is_checking = is_checking
        self.checking.emit()

    def _on_chain_checked(self, report: Mapping[str, Any]) -> None:
        self._show_checking(is_checking=False)
        verdict = summarize_checks(report)
        whole = verdict.title[:1].lower() + verdict.title[1:]
        sentence = journal_strings()["audit"]["checked"].format(
            when=time_of(self.context.clock.now_ms()), chain=chain_sentence(report), vault=whole
        )
        tone = {"success": "accent"}.get(verdict.tone, verdict.tone)
        self._show_banner(
            Banner(
                sentence,
                tone,
                window_strings()["buttons"]["details"],
                lambda: CheckReportDialog(self.context.theme, verdict, self).open(),
            )
        )

    def _on_check_failed(self, error: BaseException) -> None:
        self._show_checking(is_checking=False)
        problem = problem_of(error)
        if problem is not None:
            self._show_banner(
                Banner(problem.sentence, "warning", window_strings()["buttons"]["retry"], self.check_chain)
            )

    def _show_banner(self, banner: Banner) -> None:
        if self.banner is not None:
            self._column.removeWidget(self.banner)
            self.banner.deleteLater()
        self.banner = banner
        self._column.insertWidget(0, banner)


_SINGULARS: Mapping[str, str] = {"loci": "locus", "memories": "memory"}
_SHORT = 8


def audit_verb(entry: AuditRow) -> str:
    """An audit row's verb in words."""
    return journal_strings()["verbs"].get(entry.verb) or entry.verb.replace("_", " ").capitalize()


def short_id(object_id: str) -> str:
    """The end of an id, by which rows of one object can be told to belong together."""
    return f"…{object_id[-_SHORT:]}" if len(object_id) > _SHORT + 4 else object_id


def audit_counts(entry: AuditRow) -> str:
    """What an audit row counts, in words: `3 rows, 2 parts`."""
    hidden = journal_strings()["audit_details"]["hidden"]
    shown = [item for item in entry.detail.items() if not {item[0], f"{entry.verb}.{item[0]}"} & set(hidden)]
    shown.sort(key=lambda item: item[0] != "rows")
    return ", ".join(text for name, value in shown if (text := _format_detail(name, value)))


def _format_detail(name: str, value: Any) -> str:
    strings, words = journal_strings()["audit_details"], name.replace("_", " ")
    if isinstance(value, bool) or not value:
        return words if value else ""
    if isinstance(value, int):
        counted = strings["counts"].get(name)
        return _format_counted(words, value) if counted is None else format_count(counted, value)
    if not isinstance(value, str):
        return ""
    known = strings["values"].get(name, {}).get(value)
    return str(known) if known else f"{words}: {one_line(short_id(value), 24).replace('_', ' ')}"


def _format_counted(name: str, value: int) -> str:
    if name in _SINGULARS or (name.endswith("s") and not name.endswith("ss")):
        return count_of(value, _SINGULARS.get(name, name.removesuffix("s")), name)
    return f"{name}: {value:,}"
