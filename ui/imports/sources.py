"""The first step of an import: drop something, choose it, or have exports looked for; and the words for what was found.

Must not do: read an export, or show text of one other than titles, as plain text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QDir, QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QFrame,
    QHeaderView,
    QLabel,
    QProgressBar,
    QTableView,
    QWidget,
)

from core.types.replies import Candidate, ConversationPlan, ImportReport
from ui.context import Context
from ui.tasks import Problem, Running, Task, Watch, problem_of
from ui.theme.theme import Theme
from ui.widgets.basics import button, column, label, restyle, row
from ui.widgets.plaintext import one_line, tip
from ui.widgets.words import FORMAT_WORDS, count_of, date_of, memories, size_of

Index = QModelIndex | QPersistentModelIndex
_NUMBER = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_WORDS = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


@dataclass(frozen=True, slots=True)
class Line:
    """A row.

    Attributes:
        key: names it.
        cells: one text a column; plain text.
        order: one value a column, to sort by.
        tip: what more there is to say; "" for nothing.
    """

    key: str
    cells: tuple[str, ...]
    order: tuple[Any, ...]
    tip: str = ""


class TickModel(QAbstractTableModel):
    """Rows with a tick in the first column.

    Signals:
        ticks: what is ticked is different now.

    Attributes:
        ticked: keys of the ticked rows, whether they are shown or filtered out.
    """

    ticks = Signal()

    def __init__(self, titles: Sequence[str], numbers: Iterable[int]) -> None:
        """Make it.

        Args:
            titles: of the columns.
            numbers: columns that hold numbers.
        """
        super().__init__()
        self._titles, self._numbers = tuple(titles), frozenset(numbers)
        self._all: list[Line] = []
        self._shown: list[Line] = []
        self._typed, self._column, self._descends = "", -1, False
        self.ticked: set[str] = set()

    @property
    def lines(self) -> Sequence[Line]:
        """All rows, in the order they were given."""
        return self._all

    def show_lines(self, lines: Sequence[Line], ticked: Iterable[str]) -> None:
        """Show other rows.

        Args:
            lines: all of them.
            ticked: keys of those that are ticked.
        """
        self._all, self.ticked = list(lines), set(ticked)
        self._refill()
        self.ticks.emit()

    def filter(self, typed: str) -> None:
        """Show only rows in which all the typed words occur."""
        self._typed = typed.casefold()
        self._refill()

    def _refill(self) -> None:
        words = self._typed.split()
        self.beginResetModel()
        self._shown = [line for line in self._all if not words or _holds(line, words)]
        if self._column >= 0:
            at = self._column
            self._shown.sort(key=lambda line: line.order[at], reverse=self._descends)
        self.endResetModel()

    def tick_shown(self, *, is_on: bool) -> None:
        """Tick, or untick, every row that is shown."""
        keys = {line.key for line in self._shown}
        self.ticked = self.ticked | keys if is_on else self.ticked - keys
        self._ticks_changed(0, len(self._shown) - 1)

    def toggle(self, rows: Sequence[int]) -> None:
        """Tick rows, or untick them where all of them are ticked.

        Args:
            rows: their numbers, as shown.
        """
        keys = {self._shown[row].key for row in rows}
        self.ticked = self.ticked - keys if keys <= self.ticked else self.ticked | keys
        if rows:
            self._ticks_changed(min(rows), max(rows))

    def _ticks_changed(self, first: int, last: int) -> None:
        if last >= first:
            self.dataChanged.emit(self.index(first, 0), self.index(last, 0), [Qt.ItemDataRole.CheckStateRole])
        self.ticks.emit()

    # ---- Qt's model

    def rowCount(self, parent: Index | None = None) -> int:  # noqa: N802 - Qt's name
        """Rows that are shown."""
        return 0 if parent is not None and parent.isValid() else len(self._shown)

    def columnCount(self, parent: Index | None = None) -> int:  # noqa: N802 - Qt's name
        """Columns."""
        return 0 if parent is not None and parent.isValid() else len(self._titles)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What stands in a cell."""
        if not index.isValid() or index.row() >= len(self._shown):
            return None
        line, at = self._shown[index.row()], index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return line.cells[at]
            case Qt.ItemDataRole.CheckStateRole if at == 0:
                return Qt.CheckState.Checked if line.key in self.ticked else Qt.CheckState.Unchecked
            case Qt.ItemDataRole.TextAlignmentRole:
                return _NUMBER if at in self._numbers else _WORDS
            case Qt.ItemDataRole.ToolTipRole if at == 0:
                return tip(line.tip) or None
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{self._titles[at]}: {line.cells[at]}"
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:  # noqa: N802 - Qt's
        """Tick or untick."""
        if not index.isValid() or role != Qt.ItemDataRole.CheckStateRole or index.column() != 0:
            return False
        key = self._shown[index.row()].key
        if Qt.CheckState(value) is Qt.CheckState.Checked:
            self.ticked.add(key)
        else:
            self.ticked.discard(key)
        self._ticks_changed(index.row(), index.row())
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        """The first column can be ticked."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        common = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        return common | Qt.ItemFlag.ItemIsUserCheckable if index.column() == 0 else common

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Titles of the columns."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self._titles):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._titles[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _NUMBER if section in self._numbers else _WORDS
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; -1 for the order they were given in."""
        self._column, self._descends = column, order is Qt.SortOrder.DescendingOrder
        self._refill()


def _holds(line: Line, words: Sequence[str]) -> bool:
    text = " ".join(line.cells).casefold()
    return all(word in text for word in words)


class TickTable(QTableView):
    """The table; Space ticks what is selected."""

    def __init__(self, theme: Theme, model: TickModel, name: str) -> None:
        """Make it.

        Args:
            theme: the theme.
            model: its rows.
            name: what it lists, for those who do not see it.
        """
        super().__init__()
        self._theme, self._rows = theme, model
        self.setModel(model)
        self.setAccessibleName(name)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        head.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        head.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        head.setResizeContentsPrecision(100)
        head.setMinimumSectionSize(56)
        self.setSortingEnabled(True)
        self._restyle()
        theme.changed.connect(self._restyle)

    def _restyle(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self._theme.px(32))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Space ticks; Enter is the dialog's."""
        if event.key() == Qt.Key.Key_Space:
            self._rows.toggle([index.row() for index in self.selectionModel().selectedRows()])
        elif event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            event.ignore()
        else:
            super().keyPressEvent(event)


_NOTHING = (
    "No exports were found in Downloads, Documents, Desktop, or where Claude Code and Codex keep their sessions. "
    "Choose a file or a folder instead."
)


class Choose(QWidget):
    """The step.

    Signals:
        chosen: paths to look into.
        ready: how many exports of the list are ticked.
    """

    chosen = Signal(list)
    ready = Signal(int)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._looking: Running | None = None
        self._drop = QFrame()
        self._drop.setObjectName("drop")
        self._picture = QLabel()
        self._picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._title = label("Drop an export, a folder of notes or a file here", "section")
        self._title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._hint = label(UNDERSTOOD, "small", wrap=True)
        self._hint.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.file = button("Choose a file …", self._ask_file, theme=context.theme, icon="file")
        self.folder = button("Choose a folder …", self._ask_folder, theme=context.theme, icon="folder")
        self.finder = button("Find my exports", self.look, theme=context.theme, icon="folder-search")
        self._lay_out_drop()
        self.model = TickModel(("Export", "What it is", "Files", "Size", "Changed"), (2, 3))
        self.table = TickTable(context.theme, self.model, "Exports that were found")
        self.model.ticks.connect(self._ticks)
        self._found = label("", "muted", wrap=True)
        self._bar = QProgressBar()
        self._bar.setRange(0, 0)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName("Looking for exports")
        self._layout = column(self, self._drop, self._found, self._bar, self.table, gap=12)
        self._layout.setStretch(0, 1)
        for part in (self._found, self._bar, self.table):
            part.hide()
        self._paint()
        context.theme.changed.connect(self._paint)
        self.setFocusProxy(self.file)

    def _lay_out_drop(self) -> None:
        inner = column(self._drop, margins=24, gap=8)
        inner.addStretch(1)
        inner.addWidget(self._picture)
        inner.addWidget(self._title)
        inner.addLayout(row(None, self.file, self.folder, self.finder, None))
        inner.insertSpacing(3, 8)
        inner.addSpacing(8)
        inner.addWidget(self._hint)
        inner.addStretch(1)

    def _paint(self) -> None:
        size = self._context.theme.px(32)
        self._picture.setPixmap(self._context.theme.icon("download", "faint").pixmap(QSize(size, size)))

    def light(self, *, is_over: bool) -> None:
        """Show that what is held over it would be taken."""
        restyle(self._drop, "over", "true" if is_over else "false")

    # ---- a file, a folder

    def _ask_file(self) -> None:
        self._ask("Choose a file to import", QFileDialog.FileMode.ExistingFiles)

    def _ask_folder(self) -> None:
        self._ask("Choose a folder to import", QFileDialog.FileMode.Directory)

    def _ask(self, title: str, mode: QFileDialog.FileMode) -> None:
        asking = QFileDialog(self, title)
        asking.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        asking.setFileMode(mode)
        asking.filesSelected.connect(self._selected)
        asking.open()

    def _selected(self, paths: Sequence[str]) -> None:
        self.chosen.emit([Path(path) for path in paths])

    # ---- looking around

    def look(self) -> None:
        """Look for exports where they usually lie."""
        self.finder.setEnabled(False)
        self._say("Looking for exports …", is_busy=True)
        imports = self._context.bridge.engine.imports

        def begin(watch: Watch) -> Future[tuple[Candidate, ...]]:
            return imports.candidates(cancelled=watch.cancelled)

        task = Task("Looking for exports", begin, can_cancel=True).within(self, "find")
        self._looking = self._context.tasks.run(task.success(self.show_found).failure(self._lost))

    def _say(self, sentence: str, *, is_busy: bool = False) -> None:
        self._found.setText(sentence)
        self._found.setAccessibleName(sentence)
        self._found.show()
        self._bar.setVisible(is_busy)

    def show_found(self, found: Sequence[Candidate]) -> None:
        """Show what was found; all of it ticked."""
        self._looking = None
        self.finder.setEnabled(True)
        self._say(
            f"{count_of(len(found), 'export')} on this computer. Tick what you want to look into."
            if found
            else _NOTHING
        )
        self._make_room(for_list=bool(found))
        self.model.show_lines([_line(one) for one in found], [one.path for one in found])
        if found:
            self.table.setFocus()
            self.table.selectRow(0)

    def show_nothing(self) -> None:
        """Begin anew."""
        self.model.show_lines([], [])
        self._found.hide()
        self._bar.hide()
        self._make_room(for_list=False)

    def _make_room(self, *, for_list: bool) -> None:
        for part in (self._picture, self._title, self._hint):
            part.setVisible(not for_list)
        self.table.setVisible(for_list)
        self._layout.setStretch(0, 0 if for_list else 1)
        self._layout.setStretch(3, 1 if for_list else 0)

    def _lost(self, error: BaseException) -> None:
        self._looking = None
        self.finder.setEnabled(True)
        problem = problem_of(error)
        self._say(problem.sentence if problem is not None else "")

    def stop(self) -> None:
        """Look no further."""
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None

    def _ticks(self) -> None:
        self.ready.emit(len(self.model.ticked))

    def take(self) -> None:
        """Go on with what is ticked."""
        paths = [Path(line.key) for line in self.model.lines if line.key in self.model.ticked]
        if paths:
            self.chosen.emit(paths)


def _line(one: Candidate) -> Line:
    path = Path(one.path)
    what = one.label or format_words(one.format)
    return Line(
        one.path,
        (one_line(path.name), what, f"{one.count:,}", size_of(one.size), date_of(one.changed_at)),
        (path.name.casefold(), what, one.count, one.size, one.changed_at),
        one_line(f"{folder_of(path)}/{path.name}"),
    )


WITHOUT_TITLE = "Untitled conversation"
OUTSIDE_WORDS = "Entries outside conversations"
UNDERSTOOD = (
    "Loci understands exports of ChatGPT and Claude, sessions of Claude Code and Codex, Obsidian and Markdown notes, "
    "text files, tables (CSV), JSON lines, and the memories of mem0, OpenMemory and MCP."
)


@dataclass(slots=True)
class Source:
    """A file or folder on its way in.

    Attributes:
        path: where it lies.
        form: the format the person named; None to detect it.
        report: what the rehearsal found; None before.
        problem: why it cannot be read; None where it can.
        only: keys of the conversations that are chosen; None for all.
    """

    path: Path
    form: str | None = None
    report: ImportReport | None = None
    problem: Problem | None = None
    only: frozenset[str] | None = None

    @property
    def name(self) -> str:
        """The last part of its path, as one line."""
        return one_line(self.path.name or str(self.path), 120)

    @property
    def new(self) -> int:
        """How many memories what is chosen would bring."""
        if self.report is None:
            return 0
        if self.only is None:
            return self.report.stored
        return sum(row.new for row in self.report.plan if row.key in self.only)


def folder_of(path: Path) -> str:
    """The folder something lies in, as a person knows it: `~/Downloads`.

    Args:
        path: absolute.
    """
    home = Path(QDir.homePath())
    folder = path.parent
    return f"~/{folder.relative_to(home).as_posix()}".rstrip("/.") if folder.is_relative_to(home) else str(folder)


def format_words(name: str) -> str:
    """A format in words."""
    return FORMAT_WORDS.get(name, name)


def title_of(row: ConversationPlan) -> str:
    """The title of a conversation as one line of plain text."""
    if not row.key:
        return OUTSIDE_WORDS
    return one_line(row.title, 200) or WITHOUT_TITLE


def span_of(earliest: int | None, latest: int | None) -> str:
    """Two moments as days: `8 Mar 2025 – 21 Oct 2025`, one where they are the same; "" where none is known.

    Args:
        earliest: epoch ms.
        latest: epoch ms.
    """
    if earliest is None or latest is None:
        return ""
    first, last = date_of(earliest), date_of(latest)
    return first if first == last else f"{first} – {last}"


def span_of_report(report: ImportReport) -> str:
    """From the first day to the last of what a report tells."""
    return span_of(_ms(report.earliest), _ms(report.latest))


def _ms(moment: str | None) -> int | None:
    return None if moment is None else round(datetime.fromisoformat(moment).timestamp() * 1000)


def summary_of(report: ImportReport) -> str:
    """What a rehearsal found, in one sentence.

    Args:
        report: of the rehearsal.
    """
    said = format_words(report.format)
    total = sum(report.messages.values())
    parts = []
    if report.conversations:
        parts.append(count_of(report.conversations, "conversation"))
    if total:
        parts.append(count_of(total, "message" if report.conversations else "entry", _many(report)))
    when = span_of_report(report)
    holds = f": {' with '.join(parts)}" if parts else ""
    return f"{said}{holds}{', ' + when if when else ''}."


def _many(report: ImportReport) -> str:
    return "messages" if report.conversations else "entries"


def known_of(report: ImportReport) -> int:
    """How many entries of it the vault has already."""
    return report.skipped.get("known", 0) + report.skipped.get("duplicate_text", 0)


def brought(reports: Sequence[ImportReport]) -> str:
    """What imports stored, as a sentence.

    Args:
        reports: of the imports.
    """
    stored = sum(report.stored for report in reports)
    if not stored:
        return "Nothing new: all of it was in your palace already."
    return f"{memories(stored)} came into your palace."


def since(seconds: float) -> str:
    """A stretch of time in rough words: `20 seconds`, `3 minutes`, `2 hours`.

    Args:
        seconds: how long.
    """
    if seconds < 90:
        return count_of(max(1, round(seconds)) if seconds < 10 else round(seconds / 5) * 5, "second")
    if seconds < 5400:
        return count_of(round(seconds / 60), "minute")
    return count_of(round(seconds / 3600), "hour")
