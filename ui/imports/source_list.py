"""The sources of what was dropped: each with what it is, how much of it is new, from when, and how it begins.

Must not do: show a text of one as anything but plain text.
"""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from core.types.replies import ImportReport, SourcePlan
from ui.context import Context
from ui.imports.sources import describe_format, format_date_span
from ui.lists.tick_table import TickModel, TickRow, TickTable
from ui.strings import format_count, import_strings
from ui.widgets.basics import Elided, make_column, make_label
from ui.widgets.plaintext import one_line

_SAMPLE = 120  # characters of one beginning that are shown
_SAMPLES = 3
_ROWS_ACROSS = 17  # heights of a row side by side from which the days are shown
_LEAST_ROWS = 5  # rows of the table that stay in sight before a beginning is shown


class SourceList(QWidget):
    """A table of sources that can be ticked, and how the one that is looked at begins.

    Signals:
        chosen: other sources are chosen now.

    Attributes:
        model: its rows; the key of each is the name of a source.
    """

    chosen = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        strings = import_strings()["sources"]
        self.model = TickModel(tuple(strings["columns"]), (2,))
        self.table = TickTable(context.theme, self.model, strings["title"])
        self._sources: dict[str, SourcePlan] = {}
        self._begins = make_label(strings["begins"], "small")
        self.samples = [Elided("") for _ in range(_SAMPLES)]
        self._lines: list[str] = []
        self._more = make_label("", "small", wrap=True)
        layout = make_column(self, self.table, self._more, self._begins, *self.samples, gap=4)
        layout.setStretch(0, 1)
        self.model.ticks.connect(self.chosen)
        self.table.selectionModel().currentRowChanged.connect(self._show_samples)

    def show_report(self, report: ImportReport, without: frozenset[str]) -> None:
        """Show other sources.

        Args:
            without: names of those that are not chosen.
        """
        self._sources = {one.name: one for one in report.sources if is_readable(one)}
        names = [name for name in self._sources if name not in without]
        self.model.show_lines([_make_row(one) for one in self._sources.values()], names)
        more = format_count(import_strings()["sources"]["more"], report.sources_more)
        self._more.setText(more if report.sources_more else "")
        self._more.setVisible(bool(report.sources_more))
        if self._sources:
            self.table.selectRow(0)

    def list_left_out(self) -> frozenset[str]:
        """The names of the sources that are not ticked."""
        return frozenset(self._sources) - self.model.ticked

    def _show_samples(self, current: QModelIndex, _before: QModelIndex) -> None:
        row = self.model.row_at(current.row()) if current.isValid() else None
        source = self._sources.get(row.key) if row is not None else None
        self._lines = [f"“{one_line(sample, _SAMPLE)}”" for sample in (source.samples if source is not None else ())]
        self._fit_samples()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Names need room more than days do, rows more than beginnings."""
        super().resizeEvent(event)
        row = self.table.verticalHeader().defaultSectionSize()
        self.table.setColumnHidden(3, self.width() < _ROWS_ACROSS * row)
        self._fit_samples()

    def _fit_samples(self) -> None:
        row = self.table.verticalHeader().defaultSectionSize()
        room = (self.height() - _LEAST_ROWS * row) // max(1, self.samples[0].sizeHint().height()) - 1
        shown = self._lines[: max(0, room)]
        for at, label in enumerate(self.samples):
            label.set_text(shown[at] if at < len(shown) else "")
            label.setVisible(at < len(shown))
        self._begins.setVisible(bool(shown))


def is_readable(source: SourcePlan) -> bool:
    """Whether anything of a source could come in."""
    return bool(source.format) and not (source.problem and not source.records)


def describe_unread(source: SourcePlan) -> str:
    """Why nothing of a source comes in, in words."""
    return source.problem or format_count(import_strings()["sources"]["unknown"], source.left_out)


def _make_row(source: SourcePlan) -> TickRow:
    what, when = describe_format(source.format), format_date_span(source.earliest, source.latest)
    name = one_line(source.name, 200)
    return TickRow(
        source.name,
        (name, what, f"{source.new:,}", when),
        (name.casefold(), what, source.new, source.latest or 0),
        ". ".join(part for part in (name, when) if part),
    )
