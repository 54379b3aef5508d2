"""The table itself: its header, its cells, scrolling, choosing, sorting; keeps its place when the list changes.

One object draws all cells, no widget in any. Must not do: ask the engine; the model does, and only for what is in
sight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QItemSelectionRange,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFocusEvent, QFontMetrics, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from core.types.values import STANDING, SecurityTier, Status
from core.types.views import MemoryRow
from ui.context import Context
from ui.pages.library.model import (
    BY_SORT,
    COLUMNS,
    LEAST_TEXT,
    PLACE,
    TEXT,
    LibraryColumn,
    MemoryTable,
    cell_text,
    columns_that_fit,
    format_columns,
    format_score,
    parse_columns,
    parse_sort,
)
from ui.pages.library.pictures import RowPictures
from ui.strings import label_strings, library_strings
from ui.theme.theme import Theme
from ui.theme.tokens import FontRole, spacing
from ui.widgets.basics import accept_own_key, make_timer, plain_key
from ui.widgets.labels import STATUS_WORDS, TIER_MARKS
from ui.widgets.plaintext import one_line, plain_line
from ui.widgets.shapes import KIND_TOKENS, draw_kind

_STATE, _SHOWN, _SORT = "library.widths", "library.shown", "library.sort"


class LibraryColumns(QObject):
    """Drives a table's header.

    Attributes:
        sort: a word of `SORTS`.
        falls: whether the largest, newest or last in the alphabet comes first.

    Signals:
        sorted: another order was asked for.
        moved: the columns are in another order, or others are shown.
    """

    sorted = Signal()
    moved = Signal()

    def __init__(self, context: Context, view: QTableView, model: MemoryTable) -> None:
        super().__init__(view)
        self._model = model
        self._context, self._theme, self._view = context, context.theme, view
        self.sort, self.falls = parse_sort(context.prefs.read_text(_SORT))
        self._chosen = parse_columns(context.prefs.read_text(_SHOWN))
        self._scale = context.theme.scale
        self._is_fitting = False
        self._header = header = view.horizontalHeader()
        # A header asks of each column whether all its lines are chosen, line by line: 255 ms a drawing at 20,000. It is
        # given a selection of its own, in which there is never anything.
        header.setSelectionModel(QItemSelectionModel(model, header))
        header.setHighlightSections(False)
        header.setSectionsClickable(True)
        header.setSectionsMovable(True)
        header.setMinimumSectionSize(self._theme.px(36))
        header.setStretchLastSection(False)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        for place, column in enumerate(COLUMNS):
            header.resizeSection(place, self._theme.px(column.width))
        state = context.prefs.read_state(_STATE)
        if not state.isEmpty():
            header.restoreState(state)
        header.setSortIndicatorShown(False)  # the style would draw its arrow over the title; the model writes one
        header.setSectionResizeMode(PLACE["kind"], QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(PLACE[TEXT], QHeaderView.ResizeMode.Fixed)
        self._show_sort()
        header.sectionResized.connect(self._on_section_resized)
        header.sectionMoved.connect(self._on_section_moved)
        header.sectionClicked.connect(self._on_section_clicked)

    @property
    def visible_ids(self) -> frozenset[str]:
        """Ids of the columns that are shown."""
        return frozenset(column.id for place, column in enumerate(COLUMNS) if not self._header.isSectionHidden(place))

    @property
    def is_own(self) -> bool:
        """Whether the person chose the columns."""
        return self._chosen is not None

    @property
    def ends(self) -> tuple[int, int]:
        """The first and the last column as they are."""
        places = [self._header.logicalIndex(at) for at in range(self._header.count())]
        seen = [place for place in places if not self._header.isSectionHidden(place)]
        return seen[0], seen[-1]

    def show_columns(self, columns: frozenset[str] | None) -> None:
        """Show these columns.

        Args:
            columns: their ids; None for those there is room for.
        """
        self._chosen = None if columns is None else columns | {TEXT}
        self._context.prefs.store_value(_SHOWN, "" if self._chosen is None else format_columns(self._chosen))
        self.fit_columns()

    def fit_columns(self) -> None:
        """Give the text what the others leave; hide what there is no room for, unless the person chose it."""
        if self._is_fitting:
            return
        self._is_fitting = True
        width = self._view.viewport().width()
        shown = self._chosen or columns_that_fit(width, self._theme.px)
        for place, column in enumerate(COLUMNS):
            self._header.setSectionHidden(place, column.id not in shown)
        others = sum(self._header.sectionSize(PLACE[name]) for name in shown if name != TEXT)
        least = self._theme.px(LEAST_TEXT if self.is_own else LEAST_TEXT // 2)
        self._header.resizeSection(PLACE[TEXT], max(least, width - others))
        self._is_fitting = False
        self.moved.emit()

    def rescale_columns(self) -> None:
        """The text has another size, and the columns with it."""
        self._is_fitting = True
        for place in range(len(COLUMNS)):
            size = self._header.sectionSize(place)
            if size and self._theme.scale != self._scale:
                self._header.resizeSection(place, round(size * self._theme.scale / self._scale))
        self._scale = self._theme.scale
        self._is_fitting = False
        self.fit_columns()

    def _on_section_resized(self, _place: int, _old: int, _new: int) -> None:
        if not self._is_fitting:
            self.fit_columns()
            self._save_header()

    def _on_section_moved(self, _place: int, _old: int, _new: int) -> None:
        self._save_header()
        self.moved.emit()

    def _save_header(self) -> None:
        self._context.prefs.store_value(_STATE, self._header.saveState())

    def _on_section_clicked(self, place: int) -> None:
        column = COLUMNS[place]
        if column.sort:
            self.set_order(column.sort, falls=not self.falls if column.sort == self.sort else column.falls)

    def set_order(self, sort: str, *, falls: bool) -> None:
        """Ask for another order.

        Args:
            sort: a word of `SORTS`.
            falls: largest, newest or last in the alphabet first.
        """
        self.sort, self.falls = sort, falls
        self._context.prefs.store_value(_SORT, f"{sort}{'-' if falls else '+'}")
        self._show_sort()
        self.sorted.emit()

    def _show_sort(self) -> None:
        column = BY_SORT.get(self.sort)
        self._model.show_sort(-1 if column is None else PLACE[column.id], falls=self.falls)


_BAR = 36  # of trust, pixels at 100 %
_MOST_LINES = 4_000
_LEAST_BESIDE = 260  # pixels a text keeps beside the words of a mark
_QUIET = frozenset({"author", "space", "room", "source", "client", "learned", "recalled", "said"})
_STATUS_INKS = {Status.DISPUTED: "danger", Status.QUARANTINED: "warning"}
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter

Paint = Callable[[QPainter, QRect, MemoryRow, bool], None]


class LibraryCells(QStyledItemDelegate):
    """The cells' painter.

    Attributes:
        hovered: the line under the pointer; -1 for none.
        marked: the line that has the keyboard; -1 for none.
        ends: the first and the last column as they are.
    """

    def __init__(self, theme: Theme, model: MemoryTable, pictures: RowPictures, parent: QObject) -> None:
        super().__init__(parent)
        self._theme, self._model, self._pictures = theme, model, pictures
        self.hovered = self.marked = -1
        self.ends = (0, len(COLUMNS) - 1)
        self._lines: dict[str, str] = {}
        self._metrics: dict[FontRole, QFontMetrics] = {}
        self._own: dict[str, Paint] = {
            "kind": self._draw_kind,
            TEXT: self._draw_text,
            "trust": self._draw_trust,
            "status": self._draw_status,
            "tags": self._draw_tags,
        }

    def clear_metrics(self) -> None:
        """The theme is another one."""
        self._metrics.clear()

    def sizeHint(self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: N802
        """All lines are of one height."""
        return QSize(40, self._theme.px(self._theme.tokens.sizes.row))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw a cell."""
        rect = QRect(option.rect)
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        column = COLUMNS[index.column()]
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw_ground(painter, rect, index, is_chosen=is_chosen)
        row = self._model.row_at(index.row())
        inner = rect.adjusted(spacing().s, 0, -spacing().s, 0)
        if row is None:
            self._draw_placeholder(painter, inner, column, index.row())
        elif column.id in self._own:
            self._own[column.id](painter, inner, row, is_chosen)
        else:
            self._draw_plain(painter, inner, column, row)
        painter.restore()

    def _draw_ground(
        self, painter: QPainter, rect: QRect, index: QModelIndex | QPersistentModelIndex, *, is_chosen: bool
    ) -> None:
        colour = self._theme.colour
        if is_chosen:
            painter.fillRect(rect, colour("selection"))
        elif index.row() == self.hovered:
            painter.fillRect(rect, colour("raised"))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), colour("line"))
        if index.row() == self.marked:
            ring = colour("focus")
            painter.fillRect(QRect(rect.left(), rect.top(), rect.width(), 1), ring)
            painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), ring)
            if index.column() == self.ends[0]:
                painter.fillRect(QRect(rect.left(), rect.top(), 2, rect.height()), ring)
            if index.column() == self.ends[1]:
                painter.fillRect(QRect(rect.right() - 1, rect.top(), 2, rect.height()), ring)

    def _draw_placeholder(self, painter: QPainter, rect: QRect, column: LibraryColumn, place: int) -> None:
        """A faint bar where words will be; its length differs from line to line, as theirs will."""
        share = 0.4 + 0.5 * ((place * 7919 + COLUMNS.index(column) * 104_729) % 97) / 97
        height = self._theme.px(8)
        width = height if column.id == "kind" else round(rect.width() * share)
        left = rect.right() - width if column.is_number else rect.left()
        left += self._theme.px(12) - height // 2 if column.id == "kind" else 0
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour("line"))
        painter.drawRoundedRect(QRectF(left, rect.center().y() - height / 2, width, height), height / 2, height / 2)

    def _draw_words(
        self,
        painter: QPainter,
        rect: QRect,
        text: str,
        ink: str = "ink",
        role: FontRole = "body",
        align: Qt.AlignmentFlag = _LEFT,
    ) -> None:
        painter.setFont(self._theme.font(role))
        painter.setPen(self._theme.colour(ink))
        shown = self._metrics_for(role).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, align, shown)

    def _metrics_for(self, role: FontRole) -> QFontMetrics:
        if role not in self._metrics:
            self._metrics[role] = QFontMetrics(self._theme.font(role))
        return self._metrics[role]

    def _draw_plain(self, painter: QPainter, rect: QRect, column: LibraryColumn, row: MemoryRow) -> None:
        ink = "muted" if column.id in _QUIET else "ink"
        role: FontRole = "number" if column.is_number or column.id in {"said", "learned", "recalled"} else "body"
        self._draw_words(painter, rect, cell_text(column, row), ink, role, _RIGHT if column.is_number else _LEFT)

    def _draw_kind(self, painter: QPainter, rect: QRect, row: MemoryRow, _is_chosen: bool) -> None:
        colour = self._theme.colour(KIND_TOKENS[row.kind])
        size = self._theme.px(12)
        draw_kind(painter, row.kind, QPointF(rect.left() + self._theme.px(12), rect.center().y() + 1), size, colour)

    def _draw_text(self, painter: QPainter, rect: QRect, row: MemoryRow, _is_chosen: bool) -> None:
        room = QRect(rect)
        if row.status is not Status.ACTIVE:
            words = STATUS_WORDS[row.status]
            ink = _STATUS_INKS.get(row.status, "muted")
            room.setRight(self._draw_chip(painter, room, words, ink, at_right=True) - spacing().s)
        marks = [("pin", "accent")] if row.pinned else []
        if row.protection is not SecurityTier.CLEARTEXT:
            marks.append(TIER_MARKS[row.protection])
        if self._model.count_files(row.id) and not self._draw_picture(painter, room, row):
            marks.append(("file", "muted"))
        for name, tint in marks:
            side = self._theme.px(14)
            place = QRect(room.right() - side, room.center().y() - side // 2, side, side)
            self._theme.icon(name, tint).paint(painter, place)
            room.setRight(place.left() - spacing().s)
        if row.warned:
            room.setRight(self._draw_warning(painter, room) - spacing().s)
        is_quiet = row.status not in STANDING or row.is_small_talk
        self._draw_words(painter, room, self._single_line_of(row), "muted" if is_quiet else "ink")

    def _draw_picture(self, painter: QPainter, room: QRect, row: MemoryRow) -> bool:
        """The small picture of its file, at the right; whether there is one. It takes its room."""
        picture, side = self._pictures.picture_of(row.id), self._pictures.side
        if picture is None or room.width() < self._theme.px(_LEAST_BESIDE):
            return False
        place = QRect(room.right() - side, room.center().y() - side // 2, side, side)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawPixmap(place, picture)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(self._theme.colour("line"))
        painter.drawRect(place)
        room.setRight(place.left() - spacing().s)
        return True

    def _draw_warning(self, painter: QPainter, rect: QRect) -> int:
        """A mark, and its words where the text keeps its room beside them; where it begins."""
        theme, side, words, warned = self._theme, self._theme.px(14), 0, label_strings()["warned"]
        wide = self._metrics_for("caption").horizontalAdvance(warned) + theme.px(2)
        if rect.width() > theme.px(_LEAST_BESIDE) + wide:
            words = wide + theme.px(4)
            self._draw_words(painter, rect.adjusted(rect.width() - wide, 0, 0, 0), warned, "warning", "caption")
        place = QRect(rect.right() - words - side, rect.center().y() - side // 2, side, side)
        theme.icon("triangle-alert", "warning").paint(painter, place)
        return place.left()

    def _single_line_of(self, row: MemoryRow) -> str:
        """The text as one line, worked out once: marks are looked for character by character."""
        line = self._lines.get(row.id)
        if line is None:
            if len(self._lines) > _MOST_LINES:
                self._lines.clear()
            line = self._lines[row.id] = plain_line(row.head)
        return line

    def _draw_chip(
        self, painter: QPainter, rect: QRect, text: str, ink: str = "muted", rim: str = "", *, at_right: bool = False
    ) -> int:
        """A small pill with a word; where it begins or ends, towards what still has room."""
        theme, metrics = self._theme, self._metrics_for("caption")
        width = min(metrics.horizontalAdvance(text) + theme.px(14), rect.width())
        height = theme.px(20)
        left = rect.right() - width if at_right else rect.left()
        pill = QRectF(left + 0.5, rect.center().y() - height / 2 + 0.5, width - 1, height - 1)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(theme.colour(rim or ("line" if ink == "muted" else ink)))
        painter.drawRoundedRect(pill, height / 2, height / 2)
        inside = pill.toRect().adjusted(theme.px(6), 0, -theme.px(6) + 1, 0)
        self._draw_words(painter, inside, text, ink, "caption", Qt.AlignmentFlag.AlignCenter)
        return left if at_right else left + width

    def _draw_tags(self, painter: QPainter, rect: QRect, row: MemoryRow, is_chosen: bool) -> None:
        room = QRect(rect)
        metrics, theme = self._metrics_for("caption"), self._theme
        for place, tag in enumerate(row.tags):
            words = one_line(tag, 40)
            left = len(row.tags) - place
            rest = theme.px(24) if left > 1 else 0
            if place and metrics.horizontalAdvance(words) + theme.px(14) + rest > room.width():
                self._draw_words(painter, room, f"+{left}", "muted", "caption")
                return
            end = self._draw_chip(painter, room.adjusted(0, 0, -rest, 0), words, rim="faint" if is_chosen else "line")
            room.setLeft(end + theme.px(4))

    def _draw_trust(self, painter: QPainter, rect: QRect, row: MemoryRow, _is_chosen: bool) -> None:
        theme = self._theme
        figure = self._metrics_for("number").horizontalAdvance("0.00") + theme.px(2)
        self._draw_words(painter, rect, format_score(row.trust), "ink", "number", _RIGHT)
        width, height = theme.px(_BAR), theme.px(4)
        left = rect.right() - figure - theme.px(8) - width
        if left < rect.left():
            return
        track = QRectF(left, rect.center().y() - height / 2 + 0.5, width, height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("line"))
        painter.drawRoundedRect(track, height / 2, height / 2)
        painter.setBrush(QColor(theme.tokens.trust_colour(row.trust)))
        track.setWidth(max(height, width * min(1.0, row.trust)))
        painter.drawRoundedRect(track, height / 2, height / 2)

    def _draw_status(self, painter: QPainter, rect: QRect, row: MemoryRow, _is_chosen: bool) -> None:
        if row.status is Status.ACTIVE:
            self._draw_words(painter, rect, STATUS_WORDS[row.status], "muted")
        else:
            self._draw_chip(painter, rect, STATUS_WORDS[row.status], _STATUS_INKS.get(row.status, "muted"))


_GLANCE_MS = 30
_MOST_RANGES = 1_000  # a selection in more pieces than this makes drawing slow
_MOVE = QItemSelectionModel.SelectionFlag
_KEYS: Mapping[Qt.Key, str] = {
    Qt.Key.Key_Delete: "forget",
    Qt.Key.Key_F2: "edit",
    Qt.Key.Key_Return: "edit",
    Qt.Key.Key_Enter: "edit",
    Qt.Key.Key_T: "tag",
    Qt.Key.Key_M: "move",
    Qt.Key.Key_I: "importance",
    Qt.Key.Key_P: "pin",
    Qt.Key.Key_A: "archive",
    Qt.Key.Key_R: "restore",
    Qt.Key.Key_E: "edit",
    Qt.Key.Key_X: "export",
    Qt.Key.Key_Slash: "search",
}


@dataclass(frozen=True, slots=True)
class _ListPosition:
    """Where somebody was in the list."""

    chosen: tuple[str, ...]
    current: str
    line: int
    top: str
    offset: int


class LibraryTable(QTableView):
    """The library's table view.

    Signals:
        chosen: another selection.
        asked: what a key asks for: `forget`, `edit`, `tag` and so on.
        let_go: the selection was dropped, because it lies in too many pieces now.
    """

    chosen = Signal()
    asked = Signal(str)
    let_go = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context, self._theme = context, context.theme
        self.memories = MemoryTable(context, self)
        self.pictures = RowPictures(context, self)
        self.pictures.loaded.connect(self.viewport().update)
        self.cells = LibraryCells(context.theme, self.memories, self.pictures, self)
        self.setModel(self.memories)
        self.setItemDelegate(self.cells)
        self.setAccessibleName(library_strings()["table"])
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setCornerButtonEnabled(False)
        self.setTabKeyNavigation(False)
        self.setMouseTracking(True)
        self.setMinimumHeight(context.theme.px(120))
        self._glance = make_timer(self, self.load_visible, _GLANCE_MS)
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(self._theme.px(self._theme.tokens.sizes.row))
        self.columns = LibraryColumns(context, self, self.memories)
        self._connect_signals()

    def _connect_signals(self) -> None:
        self.columns.moved.connect(self._on_columns_moved)
        self.verticalScrollBar().valueChanged.connect(self._schedule_load)
        self.selectionModel().selectionChanged.connect(self.chosen)
        self.selectionModel().currentRowChanged.connect(self._mark_current)
        self.doubleClicked.connect(lambda _: self.asked.emit("edit"))
        self.entered.connect(self._on_row_entered)
        self._theme.changed.connect(self._restyle_rows)

    # ---- what is chosen

    def chosen_ids(self) -> tuple[str, ...]:
        """The memories that are chosen, in the order of the list."""
        ids = self.memories.ids
        found: list[str] = []
        for first, last in self._selected_ranges():
            found.extend(ids[first : last + 1])
        return tuple(found)

    @property
    def chosen_count(self) -> int:
        """How many memories are chosen."""
        return sum(last - first + 1 for first, last in self._selected_ranges())

    def _selected_ranges(self) -> list[tuple[int, int]]:
        selection = self.selectionModel().selection()
        pieces = (selection.at(place) for place in range(selection.count()))
        ranges = sorted((one.top(), one.bottom()) for one in pieces)
        apart: list[tuple[int, int]] = []
        for first, last in ranges:
            if apart and first <= apart[-1][1]:
                apart[-1] = (apart[-1][0], max(last, apart[-1][1]))
            else:
                apart.append((first, last))
        return apart

    def select_memory(self, memory_id: str) -> bool:
        """Choose one memory and bring it into sight.

        Returns:
            Whether it is listed.
        """
        place = self.memories.place_of(memory_id)
        if place < 0:
            return False
        self.setCurrentIndex(self.memories.index(place, PLACE[TEXT]))
        return True

    # ---- another list

    def show_ids(self, ids: tuple[str, ...], *, stays: bool) -> None:
        """List other memories.

        Args:
            ids: all of them, in order.
            stays: whether to stay where somebody looks; else from the top. What is chosen stays chosen.
        """
        place = self._current_position()
        if self.memories.show_ids(ids):
            self._restore_position(place)
            line = self.memories.place_of(place.top) if place.top and stays else -1
            if line >= 0:
                self.verticalScrollBar().setValue(line * self.rowHeight(0) - place.offset)
            elif not stays:
                self.scrollToTop()
        elif not stays:
            self.scrollToTop()
        self._schedule_load()

    def _current_position(self) -> _ListPosition:
        ids = self.memories.ids
        current = self.currentIndex().row()
        top = self.rowAt(0) if self.verticalScrollBar().value() else -1
        return _ListPosition(
            chosen=self.chosen_ids(),
            current=ids[current] if 0 <= current < len(ids) else "",
            line=current,
            top=ids[top] if 0 <= top < len(ids) else "",
            offset=self.rowViewportPosition(top) if top >= 0 else 0,
        )

    def _restore_position(self, place: _ListPosition) -> None:
        ids = self.memories.ids
        lines = _library_lines(ids, place.chosen)
        current = self.memories.place_of(place.current) if place.current else -1
        if not lines and len(place.chosen) == 1 and ids:
            # The one that was chosen is gone: the next one takes its place, so that one can go on by keyboard.
            current = min(max(place.line, 0), len(ids) - 1)
            lines = [current]
        ranges = list(_join_ranges(lines))
        if len(ranges) > _MOST_RANGES:
            ranges = []
            self.let_go.emit()
        model, last = self.memories, len(COLUMNS) - 1
        selection = QItemSelection()
        for first, end in ranges:
            selection.append(QItemSelectionRange(model.index(first, 0), model.index(end, last)))
        if current >= 0:
            index = model.index(current, PLACE[TEXT])
            self.selectionModel().setCurrentIndex(index, _MOVE.NoUpdate)
        if ranges:
            self.selectionModel().select(selection, _MOVE.ClearAndSelect)
        elif place.chosen:
            self.chosen.emit()

    # ---- what is visible

    def _schedule_load(self) -> None:
        if not self._glance.isActive():
            self._glance.start()

    def load_visible(self) -> None:
        """Fetch what is visible and not there yet."""
        if not self.isVisible() or not self.memories.ids:
            return
        first = max(0, self.rowAt(0))
        last = self.rowAt(self.viewport().height() - 1)
        self.memories.load_lines(first, last if last >= 0 else len(self.memories.ids) - 1)

    @property
    def is_settled(self) -> bool:
        """Whether all visible rows have come."""
        return not self._glance.isActive() and self.memories.is_settled

    def stop_timer(self) -> None:
        """Nobody looks any more."""
        self._glance.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """More lines may be visible, and more columns."""
        super().resizeEvent(event)
        self.columns.fit_columns()
        self._schedule_load()

    def _restyle_rows(self) -> None:
        theme = self._theme
        self.cells.clear_metrics()
        self.verticalHeader().setDefaultSectionSize(theme.px(theme.tokens.sizes.row))
        self.columns.rescale_columns()
        self.viewport().update()

    def _on_columns_moved(self) -> None:
        self.cells.ends = self.columns.ends
        self.viewport().update()

    # ---- keyboard and pointer

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Letters act on what is chosen; Esc lets go of it."""
        if not self._is_own_key(event):
            super().keyPressEvent(event)
        elif event.key() == Qt.Key.Key_Escape:
            self.clearSelection()
        else:
            self.asked.emit(_KEYS[Qt.Key(event.key())])

    def _is_own_key(self, event: QKeyEvent) -> bool:
        key = plain_key(event)
        return key in _KEYS or (key == Qt.Key.Key_Escape and self.chosen_count > 0)

    def event(self, event: QEvent) -> bool:
        """Its keys are its own, although the window forgets one memory by Del and the table all that are chosen."""
        return accept_own_key(event, self._is_own_key) or super().event(event)

    def keyboardSearch(self, _typed: str) -> None:  # noqa: N802 - Qt's name
        """Not here: it would ask for every row's text. The query line searches."""

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """The first line takes the keyboard where none has it yet."""
        super().focusInEvent(event)
        if not self.currentIndex().isValid() and self.memories.ids:
            self.selectionModel().setCurrentIndex(self.memories.index(0, PLACE[TEXT]), _MOVE.NoUpdate)
        self._mark_current(self.currentIndex())

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """No line has the keyboard."""
        super().focusOutEvent(event)
        self._mark_current(QModelIndex())

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """No line is under the pointer."""
        super().leaveEvent(event)
        self._on_row_entered(QModelIndex())

    def _on_row_entered(self, index: QModelIndex) -> None:
        self.cells.hovered = _repaint_lines(self, self.cells.hovered, index.row())

    def _mark_current(self, index: QModelIndex, _before: QModelIndex | None = None) -> None:
        line = index.row() if self.hasFocus() else -1
        self.cells.marked = _repaint_lines(self, self.cells.marked, line)


def _repaint_lines(table: QTableView, old: int, new: int) -> int:
    """Paint two lines anew, -1 for none; the second is the one that counts from now on."""
    for line in {old, new} - {-1}:
        top = table.rowViewportPosition(line)
        table.viewport().update(0, top, table.viewport().width(), table.rowHeight(line))
    return new


def _library_lines(ids: tuple[str, ...], chosen: tuple[str, ...]) -> list[int]:
    """The lines of some memories; those that are not listed are left out."""
    if len(chosen) == 1:
        return [ids.index(chosen[0])] if chosen[0] in ids else []
    wanted = frozenset(chosen)
    return [line for line, memory_id in enumerate(ids) if memory_id in wanted] if wanted else []


def _join_ranges(lines: Iterable[int]) -> Iterable[tuple[int, int]]:
    """Lines as stretches without a gap."""
    first = last = -2
    for line in lines:
        if line == last + 1:
            last = line
            continue
        if first >= 0:
            yield first, last
        first = last = line
    if first >= 0:
        yield first, last
