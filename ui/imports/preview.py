"""The second step of an import: what is in the exports, before anything is stored; what is left out and why.

Must not do: import; interpret a title as anything but plain text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QSizePolicy,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from core.types.replies import ConversationPlan, ImportReport
from core.types.values import HOME_SPACE
from ui.context import Context
from ui.imports.source_list import SourceList, describe_unread, is_readable
from ui.imports.sources import (
    ARCHIVE,
    ImportSource,
    count_known_records,
    describe_parts,
    format_date_span,
    import_title,
    summarize_import_report,
)
from ui.lists.tick_table import TickModel, TickRow, TickTable
from ui.strings import format_count, import_strings
from ui.theme.theme import Theme
from ui.theme.tokens import spacing
from ui.widgets.basics import (
    Elided,
    MenuChip,
    Segments,
    Stack,
    clear_layout,
    make_button,
    make_column,
    make_label,
    make_row,
    make_scroll_area,
    make_timer,
)
from ui.widgets.choices import SpaceField
from ui.widgets.labels import (
    FORMAT_WORDS,
    SkippedRecords,
    capitalize_first,
    date_of,
    describe_omissions,
)
from ui.widgets.plaintext import escape_tooltip, one_line
from ui.widgets.secret import SecretField

_WIDE = 480  # pixels at 100 % from which the number of branches is shown
_FEW = 8  # rows a person overlooks without a filter


class ImportFigures(QWidget):
    """Numbers beside each other, each over its word."""

    def __init__(self) -> None:
        super().__init__()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(32)

    def show_figures(self, figures: Sequence[tuple[int, str]]) -> None:
        """Show other numbers; those that are 0 are left out, but for the first."""
        clear_layout(self._row)
        for nr, (number, word) in enumerate(figures):
            if number or not nr:
                widget = QWidget()
                make_column(widget, make_label(f"{number:,}", "section"), make_label(word, "small"), gap=0)
                widget.setAccessibleName(f"{number:,} {word}")
                self._row.addWidget(widget)
        self._row.addStretch(1)


class ContentStep(QWidget):
    """One export that was read.

    Signals:
        chosen: other conversations are chosen now.
        lined: whether each line of a list shall be a memory of its own.

    Attributes:
        by_line: offers that where the file is a list; else it is hidden.
    """

    chosen = Signal()
    lined = Signal(bool)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._theme = context.theme
        self._source: ImportSource | None = None
        self._has_branches = False
        self._name = Elided("", "section", Qt.TextElideMode.ElideMiddle)
        self._summary = make_label("", "muted", wrap=True)
        self._figures = ImportFigures()
        strings = import_strings()["preview"]
        self._list = make_label("", "small", wrap=True)
        self.by_line = QCheckBox(strings["list"]["choice"])
        self.by_line.setAccessibleName(strings["list"]["choice"])
        self.by_line.clicked.connect(self.lined)
        self.model = TickModel(tuple(strings["columns"]), (1, 2, 3))
        self.table = TickTable(context.theme, self.model, strings["conversations"])
        self.model.ticks.connect(self._on_ticks_changed)
        self.filter = QLineEdit()
        self.filter.setPlaceholderText(strings["filter"])
        self.filter.setAccessibleName(strings["filter"])
        self.filter.setClearButtonEnabled(True)
        self.filter.setMinimumWidth(64)
        self.filter.setMaximumWidth(context.theme.px(180))
        self.filter.textChanged.connect(self.model.filter_rows)
        self.all = make_button(
            strings["all"], lambda: self._tick_all(is_on=True), kind="ghost", hint=strings["all_hint"]
        )
        self.none = make_button(
            strings["none"], lambda: self._tick_all(is_on=False), kind="ghost", hint=strings["none_hint"]
        )
        self.sources = SourceList(context)
        self.sources.chosen.connect(self._on_sources_ticked)
        self._tabs_row = make_row(None, self.filter, self.all, self.none)
        self._tabs: Segments | None = None
        self._more = make_label("", "small", wrap=True)
        self._left = QWidget()
        self._left_rows = QGridLayout(self._left)
        self._left_rows.setContentsMargins(0, 8, 0, 8)
        self._left_rows.setHorizontalSpacing(16)
        self._left_rows.setVerticalSpacing(10)
        self.problems = _problem_table(context.theme)
        self._stack = Stack()
        plan = QWidget()
        make_column(plan, self.table, self._more, gap=4).setStretch(0, 1)
        self._pages: Mapping[str, QWidget] = {
            "sources": self.sources,
            "plan": plan,
            "left": make_scroll_area(self._left),
            "trouble": self.problems,
        }
        for page in self._pages.values():
            self._stack.addWidget(page)
        layout = make_column(self, self._name, self._summary, self._list, self.by_line, self._figures, gap=8)
        layout.addSpacing(4)
        layout.addLayout(self._tabs_row)
        layout.addWidget(self._stack, 1)

    def show_source(self, source: ImportSource) -> None:
        """Show another export."""
        report = source.report
        if report is None:
            return
        self._source = None  # what the table tells while it is filled is no choice of the person
        self._name.set_text(source.name)
        self._summary.setText(" ".join(filter(None, (summarize_import_report(report), describe_parts(report)))))
        self._figures.show_figures(_report_figures(report))
        self._offer_lines(source, report)
        self.filter.clear()
        keys = [row.key for row in report.plan]
        self.model.show_lines(
            [_make_problem_row(row) for row in report.plan], keys if source.only is None else source.only
        )
        # What says the same in every row says nothing.
        self.table.setColumnHidden(1, all(row.new == row.messages for row in report.plan))
        self._has_branches = any(row.branches for row in report.plan)
        self._fit_columns()
        more = format_count(import_strings()["preview"]["more"], report.plan_more)
        self._more.setText(more if report.plan_more else "")
        self._more.setVisible(bool(report.plan_more))
        self.sources.show_report(report, source.without)
        self._fill_left(describe_omissions(report.skipped))
        self._fill_problems(report)
        self._name_tabs(report)
        self._source = source

    def _offer_lines(self, source: ImportSource, report: ImportReport) -> None:
        """Say that the file is a list, and let the person choose what it becomes."""
        is_known = bool(report.skipped.get("known_otherwise"))
        states = ("known_whole", "on") if source.is_by_line else ("known_lines", "off")
        sentence = import_strings()["preview"]["list"][states[0 if is_known else 1]]
        self._list.setText(sentence.format(count=report.list_lines))
        self.by_line.setAccessibleDescription(self._list.text())
        self.by_line.setChecked(source.is_by_line)
        for part in (self._list, self.by_line):
            part.setVisible(bool(report.list_lines))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Titles need room more than branches do."""
        super().resizeEvent(event)
        self._fit_columns()
        shown = next((name for name, page in self._pages.items() if page is self._stack.currentWidget()), None)
        if shown is not None and self._source is not None:
            self.show_part(shown)

    def _fit_columns(self) -> None:
        self.table.setColumnHidden(3, not self._has_branches or self.width() < self._theme.px(_WIDE))

    def _name_tabs(self, report: ImportReport) -> None:
        rows = len(report.plan) + report.plan_more
        skipped = sum(report.skipped.values())
        strings = import_strings()["preview"]["tabs"]
        problems = self.problems.rowCount()
        several = len(report.sources) > 1
        choices = [("sources", strings["sources"].format(count=len(self.sources.model.lines)))] if several else []
        if report.format != ARCHIVE:  # it comes whole
            choices += [("plan", strings["conversations" if report.conversations else "all"].format(count=rows))]
        choices += [("left", strings["left"].format(count=skipped))] if skipped else []
        choices += [("trouble", strings["problems"].format(count=problems))] if problems else []
        if self._tabs is not None:
            self._tabs_row.removeWidget(self._tabs)
            self._tabs.hide()
            self._tabs.deleteLater()
            self._tabs = None
        self._stack.setVisible(bool(choices))
        if not choices:
            for part in (self.filter, self.all, self.none):
                part.hide()
            return
        self._tabs = Segments(choices, choices[0][0], strings["title"])
        self._tabs.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._tabs.chosen.connect(self.show_part)
        self._tabs_row.insertWidget(0, self._tabs)
        self.show_part(choices[0][0])

    def show_part(self, page: str) -> None:
        """Look at `sources`, `plan`, `left` or `trouble`."""
        self._stack.setCurrentWidget(self._pages[page])
        shown = {"plan": self.model, "sources": self.sources.model}.get(page)
        rows = len(shown.lines) if shown is not None else 0
        self.filter.setVisible(page == "plan" and rows > _FEW)
        is_roomy = self._tabs is None or self._tabs.sizeHint().width() + self._width_of_buttons() < self.width()
        self.all.setVisible(rows > 1 and is_roomy)
        self.none.setVisible(rows > 1 and is_roomy)

    def _width_of_buttons(self) -> int:
        return self.all.sizeHint().width() + self.none.sizeHint().width() + 2 * spacing().m

    def _tick_all(self, *, is_on: bool) -> None:
        is_sources = self._stack.currentWidget() is self.sources
        (self.sources.model if is_sources else self.model).tick_shown(is_on=is_on)

    def _on_sources_ticked(self) -> None:
        source = self._source
        if source is not None and source.report is not None:
            source.without = self.sources.list_left_out()
            self.chosen.emit()

    def _on_ticks_changed(self) -> None:
        source = self._source
        if source is not None and source.report is not None:
            keys = {row.key for row in source.report.plan}
            source.only = None if keys <= self.model.ticked else frozenset(self.model.ticked & keys)
            self.chosen.emit()

    def _fill_left(self, found: Sequence[SkippedRecords]) -> None:
        clear_layout(self._left_rows)
        for at, one in enumerate(found):
            count = make_label(f"{one.count:,}", "strong")
            count.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
            words = QWidget()
            make_column(
                words,
                make_label(capitalize_first(one.what), wrap=True),
                make_label(f"{one.why}.", "small", wrap=True),
                gap=0,
            )
            self._left_rows.addWidget(count, at, 0)
            self._left_rows.addWidget(words, at, 1)
        self._left_rows.setColumnStretch(1, 1)
        for at in range(self._left_rows.rowCount()):
            self._left_rows.setRowStretch(at, 0)
        self._left_rows.setRowStretch(len(found), 1)

    def _fill_problems(self, report: ImportReport) -> None:
        several = report.sources if len(report.sources) > 1 else ()
        # What was refused is among the errors; what nobody knows is named here alone.
        unknown = [(one.name, describe_unread(one)) for one in several if not is_readable(one) and not one.problem]
        rows = [(error["where"], error["message"]) for error in report.errors] + unknown
        self.problems.setRowCount(len(rows))
        for at, (where, message) in enumerate(rows):
            for nr, words in enumerate((where, capitalize_first(message))):
                item = QTableWidgetItem(one_line(words))
                item.setToolTip(escape_tooltip(item.text()))
                self.problems.setItem(at, nr, item)


def _problem_table(theme: Theme) -> QTableWidget:
    table = QTableWidget(0, 2)
    strings = import_strings()["problems"]
    table.setHorizontalHeaderLabels([strings["where"], strings["problem"]])
    table.setAccessibleName(strings["title"])
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setShowGrid(False)
    table.setTabKeyNavigation(False)
    table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(theme.px(32))
    header = table.horizontalHeader()
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
    header.resizeSection(0, theme.px(200))
    header.setStretchLastSection(True)
    return table


def _report_figures(report: ImportReport) -> list[tuple[int, str]]:
    strings = import_strings()["preview"]["figures"]
    return [
        (report.stored, strings["new"]),
        (report.proposals, strings["review"]),
        (count_known_records(report), strings["known"]),
    ]


def _make_problem_row(row: ConversationPlan) -> TickRow:
    title = import_title(row)
    return TickRow(
        row.key,
        (
            title,
            f"{row.new:,}",
            f"{row.messages:,}",
            f"{row.branches:,}" if row.branches else "",
            "" if row.latest is None else date_of(row.latest),
        ),
        (title.casefold(), row.new, row.messages, row.branches, row.latest or 0),
        ". ".join(part for part in (title, format_date_span(row.earliest, row.latest)) if part),
    )


_EDITED_MS = 700
_UNKNOWN = "E6002"


class RefusedExport(QWidget):
    """A source that cannot be read, and what can be done.

    Signals:
        formed: a format the person names.
        unlocked: the passphrase of an archive.
        leave: choose something else.

    Attributes:
        secret: takes the passphrase of an archive; `open` reads the archive with it.
    """

    formed = Signal(str)
    unlocked = Signal(str)
    leave = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._title = Elided("", "section", Qt.TextElideMode.ElideMiddle)
        self._sentence = make_label("", wrap=True)
        strings = import_strings()["refused"]
        self._form = MenuChip(context.theme, strings["import_as"], FORMAT_WORDS, "")
        self._form.chosen.connect(self.formed)
        self._hint = make_label(import_strings()["choose"]["understood"], "muted", wrap=True)
        self.other = make_button(strings["other"], self.leave.emit)
        self.secret = SecretField(context.theme, strings["passphrase"])
        self.secret.setPlaceholderText(strings["passphrase"])
        self.secret.returnPressed.connect(self._submit_passphrase)
        self.secret.textChanged.connect(self._on_secret_changed)
        self.open = make_button(strings["open"], self._submit_passphrase, kind="primary")
        layout = make_column(self, self._title, self._sentence, self._hint, self.secret, gap=12)
        layout.addLayout(make_row(self.open, self.other, self._form, None))
        layout.addStretch(1)

    def show_source(self, source: ImportSource) -> None:
        """Say why it cannot be read."""
        problem = source.problem
        if problem is None:
            return
        is_unknown = problem.code == _UNKNOWN and source.form is None
        is_sealed = source.needs_passphrase
        for part in (self.secret, self.open):
            part.setVisible(is_sealed)
        self._hint.setVisible(not is_sealed)
        self._on_secret_changed()
        if is_sealed:
            self.secret.setFocus()
        self._title.set_text(source.name)
        strings = import_strings()["refused"]
        self._sentence.setText(strings["unknown"] if is_unknown else problem.sentence)
        self._form.setVisible(problem.code == _UNKNOWN)
        self._form.show_choice(source.form or "")
        if not source.form:
            self._form.setText(strings["import_as_open"])

    def _on_secret_changed(self) -> None:
        self.open.setEnabled(bool(self.secret.text()))

    def _submit_passphrase(self) -> None:
        if self.secret.text():
            self.unlocked.emit(self.secret.take_text())


class WaitingStep(QWidget):
    """A source that is being read."""

    def __init__(self) -> None:
        super().__init__()
        self._sentence = Elided("", "muted", Qt.TextElideMode.ElideMiddle)
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.count = make_label("", "small")
        self.count.setAlignment(Qt.AlignmentFlag.AlignCenter)
        bar = QProgressBar()
        bar.setRange(0, 0)
        bar.setTextVisible(False)
        bar.setFixedWidth(240)
        bar.setAccessibleName(import_strings()["waiting"]["bar"])
        layout = make_column(self, gap=12)
        layout.addStretch(2)
        layout.addWidget(self._sentence)
        layout.addLayout(make_row(None, bar, None))
        layout.addWidget(self.count)
        layout.addStretch(3)

    def show_source(self, source: ImportSource) -> None:
        """Say what is read."""
        strings = import_strings()["waiting"]
        self._sentence.set_text(strings["title"].format(name=source.name))
        self.count.setText(strings["hint"])


class RehearsalStep(QWidget):
    """The step that shows what each export holds and lets the person choose.

    Signals:
        changed: what is chosen is different now.
        spaced: the name of the space to import into.
        formed: a source, and the format it shall be read as.
        lined: a list, and whether each line of it shall be a memory of its own.
        unlocked: an archive, and its passphrase.
        leave: choose something else.
    """

    changed = Signal()
    spaced = Signal(str)
    formed = Signal(object, str)
    lined = Signal(object, bool)
    unlocked = Signal(object, str)
    leave = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._sources: list[ImportSource] = []
        self._is_line_focused = False
        self.list = QListWidget()
        strings = import_strings()
        self.list.setAccessibleName(strings["preview"]["exports"])
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFixedWidth(context.theme.px(160))
        self.list.currentRowChanged.connect(self._show_current)
        self.content = ContentStep(context)
        self.content.chosen.connect(self._on_source_chosen)
        self.content.lined.connect(self._on_lines_chosen)
        self.waiting = WaitingStep()
        self.refused = RefusedExport(context)
        self.refused.formed.connect(self._on_format_chosen)
        self.refused.unlocked.connect(self._on_passphrase_given)
        self.refused.leave.connect(self.leave)
        self._stack = Stack()
        for page in (self.waiting, self.content, self.refused):
            self._stack.addWidget(page)
        line = make_row(self.list, self._stack, gap=24)
        line.setStretch(1, 1)
        self.space = SpaceField()
        self.space.setMinimumWidth(context.theme.px(220))
        self._typed = make_timer(self, self._on_space_typed)
        self._space = HOME_SPACE
        self.offer_spaces(())
        self.space.editTextChanged.connect(lambda _: self._typed.start(_EDITED_MS))
        self._total = make_label("", "muted")
        layout = make_column(self, gap=12)
        layout.addLayout(line, 1)
        layout.addLayout(make_row(make_label(strings["space"]["title"], "muted"), self.space, None, self._total))

    # ---- sources

    def show_sources(self, sources: Sequence[ImportSource]) -> None:
        """Show other sources; the first one that can be read is looked at."""
        self._sources = list(sources)
        self.list.blockSignals(True)  # noqa: FBT003 - Qt's own
        self.list.clear()
        for source in self._sources:
            item = QListWidgetItem(source.name)
            item.setToolTip(escape_tooltip(source.name))
            item.setSizeHint(QSize(0, self._context.theme.px(48)))
            self.list.addItem(item)
        self.list.blockSignals(False)  # noqa: FBT003 - Qt's own
        self.list.setVisible(len(self._sources) > 1)
        self.list.setCurrentRow(0)
        self._show_current(0)
        self._name_all()

    def show_source(self, source: ImportSource) -> None:
        """A source is read now, or was refused."""
        if source is self.current:
            self._show_current(self.list.currentRow())
        self._name_all()

    def show_count(self, done: int) -> None:
        """How far the reading is."""
        self.waiting.count.setText(format_count(import_strings()["waiting"]["count"], done))

    @property
    def current(self) -> ImportSource | None:
        """The source that is looked at."""
        at = self.list.currentRow()
        return self._sources[at] if 0 <= at < len(self._sources) else None

    def _show_current(self, _row: int) -> None:
        source = self.current
        if source is None:
            return
        if source.problem is not None:
            self.refused.show_source(source)
            self._stack.setCurrentWidget(self.refused)
        elif source.report is not None:
            self.content.show_source(source)
            self._stack.setCurrentWidget(self.content)
            if self._is_line_focused:  # it was pressed by key, and hidden while the file was read anew
                self._is_line_focused = False
                self.content.by_line.setFocus()
        else:
            self.waiting.show_source(source)
            self._stack.setCurrentWidget(self.waiting)

    def _name_all(self) -> None:
        strings = import_strings()
        for at, source in enumerate(self._sources):
            if source.needs_passphrase:
                state = strings["state"]["sealed"]
            elif source.problem is not None:
                state = strings["state"]["refused"]
            elif source.report is None:
                state = strings["state"]["unread"]
            else:
                state = strings["state"]["new" if source.new else "nothing"].format(count=source.new)
            self.list.item(at).setText(f"{source.name}\n{state}")
        many = len(self._sources) > 1
        self._total.setText(strings["preview"]["total"].format(count=sum(s.new for s in self._sources)) if many else "")

    def _on_source_chosen(self) -> None:
        self._name_all()
        self.changed.emit()

    def _on_lines_chosen(self, is_by_line: bool) -> None:
        source = self.current
        if source is not None:
            self._is_line_focused = self.content.by_line.hasFocus()
            self.lined.emit(source, is_by_line)

    def _on_format_chosen(self, form: str) -> None:
        if self.current is not None:
            self.formed.emit(self.current, form)

    def _on_passphrase_given(self, passphrase: str) -> None:
        if self.current is not None:
            self.unlocked.emit(self.current, passphrase)

    # ---- the space

    def offer_spaces(self, names: Sequence[str]) -> None:
        """Offer the spaces there are."""
        self.space.offer_spaces(names, self._space)

    def _on_space_typed(self) -> None:
        name = self.space.space
        if name and name != self._space:
            self._space = name
            self.spaced.emit(name)

    def read_space(self) -> str:
        """The space as it is in the field now.

        Returns:
            Its name; the usual one where the field is empty.
        """
        self._typed.stop()
        return self.space.space or HOME_SPACE
