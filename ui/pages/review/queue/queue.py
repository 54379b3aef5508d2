"""The list at the left: filters with counts, rows in the order of harm, what closed by itself.

Must not do: ask the engine, or decide anything; it tells what is looked at and what is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFocusEvent, QFont, QFontMetrics, QKeyEvent, QKeySequence, QMouseEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from core.types.reviews import Queue, ReviewRow
from ui.lists.row_ground import draw_ground
from ui.pages.review.queue.lines import GROUPS, LINE, Heading, Line, QueueModel, lines_of
from ui.pages.review.words import families, row_note, words
from ui.theme.theme import Theme
from ui.widgets.basics import button, column, label, row
from ui.widgets.chips import MenuChip
from ui.widgets.flow import FlowLayout
from ui.widgets.plaintext import one_line

ALL = "all"
_ROW, _HEADING = 56, 34
_PAD = 12
_HOME = QAbstractItemView.CursorAction.MoveHome
_OWN = {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End}


class RowPainter(QStyledItemDelegate):
    """Draws a line of the queue."""

    def __init__(self, theme: Theme, view: QListView) -> None:
        super().__init__(view)
        self._theme, self._view = theme, view
        self.hovered = -1

    def sizeHint(self, _option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: N802
        """Rows are of one height; headings are lower."""
        is_heading = isinstance(index.data(LINE), Heading)
        return QSize(100, self._theme.px(_HEADING if is_heading else _ROW))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw a line."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line, rect = index.data(LINE), QRect(option.rect)
        if isinstance(line, Heading):
            self._heading(painter, rect, line, is_hovered=index.row() == self.hovered)
        else:
            self._ground(painter, option, index.row())
            self._row(painter, rect, line)
        painter.restore()

    def _ground(self, painter: QPainter, option: QStyleOptionViewItem, place: int) -> None:
        draw_ground(
            painter,
            self._theme,
            QRect(option.rect),
            is_chosen=bool(option.state & QStyle.StateFlag.State_Selected),
            is_hovered=place == self.hovered,
            has_focus=place == self._view.currentIndex().row() and self._view.hasFocus(),
        )

    def _heading(self, painter: QPainter, rect: QRect, line: Heading, *, is_hovered: bool) -> None:
        theme = self._theme
        inner = rect.adjusted(theme.px(_PAD), 0, -theme.px(_PAD), -theme.px(6))
        figure = "Choose all" if line.chooses and is_hovered else f"{line.count:,}"
        number = theme.font("small")
        width = QFontMetrics(number).horizontalAdvance(figure)
        low = Qt.AlignmentFlag.AlignBottom
        painter.setFont(number)
        painter.setPen(theme.colour("accent" if line.chooses and is_hovered else "muted"))
        painter.drawText(inner, Qt.AlignmentFlag.AlignRight | low, figure)
        self._write(painter, inner.adjusted(0, 0, -width - 8, 0), line.title, "muted", theme.font("label"), low)

    def _row(self, painter: QPainter, rect: QRect, shown: ReviewRow) -> None:
        theme = self._theme
        inner = rect.adjusted(theme.px(_PAD), theme.px(8), -theme.px(_PAD), -theme.px(8))
        upper, lower = QRect(inner), QRect(inner)
        upper.setHeight(inner.height() // 2)
        lower.setTop(upper.bottom() + 1)
        head = theme.font("body")
        head.setWeight(QFont.Weight.DemiBold)
        middle = Qt.AlignmentFlag.AlignVCenter
        self._write(painter, upper, one_line(shown.title, 120), "muted" if shown.later else "ink", head, middle)
        self._write(painter, lower, row_note(shown), "muted", theme.font("small"), middle)

    def _write(
        self, painter: QPainter, rect: QRect, text: str, ink: str, font: QFont, upright: Qt.AlignmentFlag
    ) -> None:
        painter.setFont(font)
        painter.setPen(self._theme.colour(ink))
        shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | upright, shown)


class QueueList(QListView):
    """The rows.

    Signals:
        looked_at: the row that is looked at; None for none.
        chosen: how many rows are chosen.
    """

    looked_at = Signal(object)
    chosen = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.queue = QueueModel(self)
        self._theme = theme
        self._painter = RowPainter(theme, self)
        self._last: ReviewRow | None = None
        self.setModel(self.queue)
        self.setItemDelegate(self._painter)
        self.setAccessibleName("What waits for you")
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.entered.connect(self._hover)
        theme.changed.connect(self._restyle)

    # ---- what is looked at and chosen

    @property
    def current(self) -> ReviewRow | None:
        """The row that is looked at."""
        return self.queue.row_at(self.currentIndex().row())

    def chosen_rows(self) -> list[ReviewRow]:
        """The rows that are chosen, in their order."""
        places = sorted(index.row() for index in self.selectedIndexes())
        return [found for place in places if (found := self.queue.row_at(place)) is not None]

    def show_lines(self, lines: Sequence[Line], wanted: str) -> None:
        """Show other lines, and stay where one is.

        Args:
            lines: what to show.
            wanted: the item to look at; "" or unknown for the one at the same place, or the first.
        """
        place, value = self.currentIndex().row(), self.verticalScrollBar().value()
        self._painter.hovered = -1
        self.queue.show_lines(lines)
        self.doItemsLayout()
        self.verticalScrollBar().setValue(value)
        found = self.queue.place_of(wanted) if wanted else -1
        self.look_near(found if found >= 0 else place)

    def look_near(self, place: int) -> None:
        """Look at the row at a place, else at the next one, else at the one before."""
        count = self.queue.rowCount()
        start = max(0, min(place, count - 1))
        order = [*range(start, count), *range(start - 1, -1, -1)]
        found = next((one for one in order if self.queue.row_at(one) is not None), -1)
        if found < 0:
            self._tell(None)
        else:
            self.look_at(found)

    def look_at(self, place: int) -> None:
        """Look at one line alone."""
        index = self.queue.index(place, 0)
        self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        self.scrollTo(index)
        self._tell(self.queue.row_at(place))

    def step(self, by: int) -> None:
        """Look at the next row or the one before; headings are passed over."""
        place = self.currentIndex().row() + by
        while isinstance(self.queue.line_at(place), Heading):
            place += by
        if self.queue.row_at(place) is not None:
            self.look_at(place)

    def choose_group(self) -> None:
        """Choose all rows that stand under the same heading as the current one."""
        self._choose(self.queue.members(self.currentIndex().row()))

    def _choose(self, places: range) -> None:
        if not places:
            return
        first, last = self.queue.index(places.start, 0), self.queue.index(places.stop - 1, 0)
        flags = QItemSelectionModel.SelectionFlag
        self.selectionModel().setCurrentIndex(first, flags.NoUpdate)
        self.selectionModel().select(QItemSelection(first, last), flags.ClearAndSelect)

    def currentChanged(  # noqa: N802 - Qt's name
        self, current: QModelIndex | QPersistentModelIndex, previous: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Another row is looked at."""
        super().currentChanged(current, previous)
        self._tell(self.queue.row_at(current.row()))

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:  # noqa: N802
        """Other rows are chosen."""
        super().selectionChanged(selected, deselected)
        self.chosen.emit(len(self.selectedIndexes()))

    def _tell(self, found: ReviewRow | None) -> None:
        if found != self._last:
            self._last = found
            self.looked_at.emit(found)

    # ---- Qt's events

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Moving and choosing are the list's; letters and side arrows are the page's."""
        if event.key() in _OWN or event.matches(QKeySequence.StandardKey.SelectAll):
            super().keyPressEvent(event)
        else:
            event.ignore()

    def moveCursor(  # noqa: N802 - Qt's name
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        """Home goes to the first question: a heading, which cannot be chosen, would keep the key where it is."""
        index = super().moveCursor(action, modifiers)
        while isinstance(self.queue.line_at(index.row()), Heading) and action == _HOME:
            index = index.siblingAtRow(index.row() + 1)
        return index

    def keyboardSearch(self, _typed: str) -> None:  # noqa: N802 - Qt's name
        """Letters decide; they do not search."""

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """A heading chooses what stands under it."""
        place = self.indexAt(event.position().toPoint()).row()
        line = self.queue.line_at(place)
        if isinstance(line, Heading):
            if line.chooses:
                self._choose(self.queue.members(place))
            event.accept()
        else:
            super().mousePressEvent(event)

    def _hover(self, index: QModelIndex) -> None:
        self._painter.hovered = index.row()
        self.viewport().update()

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """No line is under the pointer."""
        super().leaveEvent(event)
        self._painter.hovered = -1
        self.viewport().update()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """The ring comes."""
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """The ring goes."""
        super().focusOutEvent(event)
        self.viewport().update()

    def _restyle(self) -> None:
        self.doItemsLayout()
        self.viewport().update()


class Filters(QWidget):
    """All, or one family of kinds; only those of which something waits.

    Signals:
        chosen: the family's key.
    """

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("What is shown of the queue")
        self._flow = FlowLayout(self, gap=6)
        self._buttons: dict[str, QPushButton] = {}
        self._titles = {ALL: "All", **{key: title for key, title, _ in families()}}
        for key, title in self._titles.items():
            made = button(title, kind="chip")
            made.setCheckable(True)
            made.setChecked(key == ALL)
            made.clicked.connect(lambda _checked=False, key=key: self._choose(key))
            self._flow.addWidget(made)
            self._buttons[key] = made

    @property
    def current(self) -> str:
        """The family that is shown."""
        return next((key for key, made in self._buttons.items() if made.isChecked()), ALL)

    def _choose(self, key: str) -> None:
        self._check(key)
        self.chosen.emit(key)

    def _check(self, wanted: str) -> None:
        # No exclusive group of Qt: its buttons are reached by side arrows, and here those decide.
        for key, made in self._buttons.items():
            made.setChecked(key == wanted)

    def show_all(self) -> None:
        """Show everything again, without telling anybody."""
        self._check(ALL)

    def show_counts(self, counts: Mapping[str, int]) -> None:
        """Say how much waits of each family.

        Args:
            counts: open items by kind.
        """
        for key, title, kinds in families():
            count = sum(counts.get(kind, 0) for kind in kinds)
            made = self._buttons[key]
            made.setText(f"{title} {count:,}")
            made.setAccessibleName(f"{title}, {count:,}")
            made.setVisible(count > 0 or made.isChecked())
        self.updateGeometry()


def kinds_of(family: str) -> tuple[str, ...] | None:
    """The kinds of a family; None for all."""
    return next((kinds for key, _, kinds in families() if key == family), None)


class QueuePanel(QFrame):
    """Head, filters, list, foot.

    Signals:
        filtered: another family is wanted.
        closed_asked: the person wants to know what closed by itself.
        rules_asked: the person wants to see the rules.
    """

    filtered = Signal(str)
    closed_asked = Signal()
    rules_asked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("queue")
        self.setAccessibleName("The queue")
        self._theme = theme
        self._queue = Queue((), 0, {})
        self._away: set[str] = set()
        self._count = label("", "muted")
        self.filters = Filters()
        self.filters.chosen.connect(self.filtered)
        self.group = MenuChip(theme, "Group", GROUPS, "none")
        self.group.chosen.connect(lambda _: self.show_again())
        self.list = QueueList(theme)
        self._cap = label("", "small", wrap=True)
        self._closed = label("", "small", wrap=True)
        self.see_why = button("See why", self.closed_asked.emit, kind="link")
        self.see_rules = button("Rules", self.rules_asked.emit, kind="link", hint="Decisions you asked to be repeated")
        layout = column(self, gap=10)
        layout.setContentsMargins(12, 16, 12, 12)
        head = row(label("Review", "title"), None, self._count)
        head.setContentsMargins(6, 0, 6, 0)
        layout.addLayout(head)
        chips = column(None, self.filters)
        chips.setContentsMargins(6, 0, 6, 0)
        layout.addLayout(chips)
        layout.addWidget(self.list, 1)
        foot = column(None, self._cap, self._closed, gap=4)
        links = row(self.see_why, self.see_rules, None, self.group, gap=10)
        foot.addLayout(links)
        foot.setContentsMargins(6, 0, 6, 0)
        layout.addLayout(foot)

    @property
    def rows(self) -> Sequence[ReviewRow]:
        """The rows that are shown, in their order."""
        return self.list.queue.rows()

    @property
    def open_count(self) -> int:
        """How many items of the shown family wait, shown or not."""
        kinds = kinds_of(self.filters.current)
        counts = self._queue.counts
        total = self._queue.total if kinds is None else sum(counts.get(kind, 0) for kind in kinds)
        return max(total - len(self._away), len(self.rows))

    def show_queue(self, queue: Queue, wanted: str = "") -> None:
        """Show what the engine read.

        Args:
            queue: the answer.
            wanted: the item to look at; "" to stay where one is.
        """
        self._queue = queue
        self._away.clear()
        self.filters.show_counts(queue.counts)
        self.group.setVisible(len(queue.rows) > 1)
        told = words()["closed"]["link"]
        said = told["one"] if queue.closed == 1 else told["many"].format(count=f"{queue.closed:,}")
        self._closed.setText(said)
        self._closed.setVisible(queue.closed > 0)
        self.see_why.setText("See why" if queue.closed else "What closed")
        self.see_why.setAccessibleName("See why they closed" if queue.closed else "What closed lately")
        self.show_again(wanted)

    def show_again(self, wanted: str = "") -> None:
        """Show the same rows, grouped as is wished now."""
        current = self.list.current
        left = [one for one in self._queue.rows if one.id not in self._away]
        today = min(self._queue.today, len(left))
        self.list.show_lines(
            lines_of(left, self.group.current, today), wanted or (current.id if current is not None else "")
        )
        self._say_counts(len(left))

    def take_away(self, ids: Sequence[str]) -> None:
        """Take decided rows out before the engine has answered; the next row is looked at."""
        self._away.update(ids)
        self.show_again()

    def put_back(self) -> None:
        """Show again what was taken out: it could not be decided."""
        self._away.clear()
        self.show_again()

    def _say_counts(self, shown: int) -> None:
        total = self.open_count
        self._count.setText(f"{total:,} open")
        self._cap.setText(f"The {shown:,} most harmful of {total:,} are shown.")
        self._cap.setVisible(total > shown)
