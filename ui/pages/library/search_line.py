"""The line a search is typed in, what of it was not understood, and every filter with an example to be taken over.

The words are in `resources/help/search.json`, where a test checks each example. Must not do: run the search; it
writes into the `LibraryQuery`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QAction, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import QFrame, QLineEdit, QVBoxLayout, QWidget

from ui.context import Context
from ui.lists.list_view import ListView
from ui.lists.row_spec import RowSpec, RowState
from ui.pages.library.filters import LibraryQuery, TermChip
from ui.strings import library_strings, search_strings, window_strings
from ui.theme.theme import Theme
from ui.theme.tokens import spacing
from ui.widgets.basics import (
    FieldIcon,
    make_button,
    make_column,
    make_label,
    make_row,
    make_timer,
    make_tool_button,
    place_below,
    set_style_property,
)

_EXAMPLE = 232  # pixels of the column of examples, at 100 %
_WRAP = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop


@dataclass(frozen=True, slots=True)
class HelpEntry:
    """One filter of the library's search with an example.

    Attributes:
        key: of the filter, or what it is.
        example: as it is typed.
        sentence: what it finds.
    """

    key: str
    example: str
    sentence: str


@cache
def read_documentation() -> tuple[str, Sequence[HelpEntry]]:
    """The help of the library's search: sentences about it, and every filter with an example."""
    data = search_strings()
    return str(data["about"]), tuple(HelpEntry(**entry) for entry in data["entries"])


class HelpRows(RowSpec[HelpEntry]):
    """How they look: the example on the left, the sentence on the right."""

    def row_key(self, row: HelpEntry) -> str:
        """The example it shows."""
        return row.example

    def accessible_text(self, row: HelpEntry) -> str:
        """The filter and its example."""
        return f"{row.example}: {row.sentence}"

    def tool_tip(self, _row: HelpEntry) -> str:
        """No tooltip."""
        return ""

    def _column_rects(self, rect: QRect) -> tuple[QRect, QRect]:
        px = self.theme.px
        inner = rect.adjusted(px(spacing().m), px(7), -px(spacing().m), -px(7))
        share = min(px(_EXAMPLE), inner.width() * 2 // 5)
        return QRect(inner.x(), inner.y(), share - px(8), inner.height()), inner.adjusted(share, 0, 0, 0)

    def row_height(self, row: HelpEntry, _place: int) -> int:
        """As high as its words need."""
        left, right = self._column_rects(QRect(0, 0, self.width(), 1000))
        example = QFontMetrics(self.theme.font("strong")).boundingRect(left, _WRAP, row.example).height()
        sentence = QFontMetrics(self.theme.font("body")).boundingRect(right, _WRAP, row.sentence).height()
        return max(example, sentence) + self.theme.px(14)

    def paint_background(self, painter: QPainter, rect: QRect, _row: HelpEntry, state: RowState) -> None:
        """A rounded field where it has the keyboard or the pointer."""
        is_chosen = state.is_chosen and state.has_focus
        if is_chosen or state.is_hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.theme.colour("accent_soft" if is_chosen else "hover"))
            painter.drawRoundedRect(rect.adjusted(2, 1, -2, -1), 8, 8)

    def draw_row(self, painter: QPainter, rect: QRect, row: HelpEntry, _state: RowState) -> None:
        """Both, wrapped."""
        left, right = self._column_rects(rect)
        for at, text, font, ink in ((left, row.example, "strong", "accent"), (right, row.sentence, "body", "ink")):
            painter.setFont(self.theme.font(font))  # type: ignore[arg-type]  # a name of the type scale
            painter.setPen(self.theme.colour(ink))
            painter.drawText(at, _WRAP, text)


class SearchHelp(QFrame):
    """A panel over the page with all that can be searched for.

    Signals:
        taken: an example was chosen.
        closed: it is shown no more.
    """

    taken = Signal(str)
    closed = Signal()

    def __init__(self, theme: Theme, host: QWidget) -> None:
        super().__init__(host)
        strings = library_strings()["search"]
        self.setObjectName("popover")
        self.setAccessibleName(strings["syntax"])
        self._theme = theme
        about, entries = read_documentation()
        self._list = ListView(HelpRows(theme), strings["examples"])
        self._list.show_lines(entries)
        self._list.clicked.connect(lambda _: self._on_entry_taken(self._list.current))
        self._list.opened.connect(self._on_entry_taken)
        header = make_row(
            make_label(strings["syntax"], "section"),
            None,
            make_tool_button(theme, "x", window_strings()["buttons"]["close_key"], self.close_help),
        )
        layout = make_column(self, margins=12, gap=4)
        layout.addLayout(header)
        layout.addWidget(make_label(about, "small", wrap=True))
        layout.addWidget(self._list, 1)
        self.hide()

    def open_below(self, top: int) -> None:
        """Open the help below the line.

        Args:
            top: pixels from the upper edge of the page.
        """
        self.place_below(top)
        self.show()
        self.raise_()
        self._list.setFocus()

    def place_below(self, top: int) -> None:
        """Take the room there is below a line."""
        place_below(self, self._theme, top, 720, 560)
        self._list.doItemsLayout()

    def close_help(self) -> None:
        """Show it no more."""
        if not self.isHidden():
            self.hide()
            self.closed.emit()

    def _on_entry_taken(self, entry: HelpEntry) -> None:
        self.close_help()
        self.taken.emit(entry.example)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Esc closes."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_help()
        else:
            super().keyPressEvent(event)


_PAUSE_MS = 220
_PAUSE_UNREAD_MS = 900  # somebody is in the middle of a word, such as `kind:`


class QueryLine(QWidget):
    """A field, a button for its documentation, and a sentence about what it does not understand.

    Signals:
        help_asked: the documentation is wanted, or not any more.
        left: Enter or the down key was pressed: on to the list.
    """

    help_asked = Signal()
    left = Signal()

    def __init__(self, context: Context, query: LibraryQuery) -> None:
        super().__init__()
        strings = library_strings()["search"]
        self._context, self._query = context, query
        self.field = QLineEdit()
        self.field.setObjectName("search")
        self.field.setPlaceholderText(strings["hint"])
        self.field.setAccessibleName(strings["name"])
        self.field.setAccessibleDescription(strings["description"])
        self.lens = FieldIcon(context.theme, self.field, "search")
        self._cross = QAction(strings["clear"], self)
        self._cross.triggered.connect(self.clear_query)
        self.field.addAction(self._cross, QLineEdit.ActionPosition.TrailingPosition)
        self.field.textChanged.connect(self._show_cross)
        self.field.textEdited.connect(self._on_text_edited)
        self.field.installEventFilter(self)
        self.help = make_tool_button(context.theme, "circle-help", strings["help"], self.help_asked.emit)
        self.help.setCheckable(True)
        self._problem = make_label("", "danger", wrap=True)
        self._show = make_button(strings["show_problem"], self._select_problem, kind="link")
        self._trouble = QWidget()
        line = make_row(self._problem, self._show, gap=8, parent=self._trouble)
        line.setStretch(0, 1)
        line.setAlignment(self._show, Qt.AlignmentFlag.AlignTop)
        self._trouble.hide()
        self._wrong: TermChip | None = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(make_row(self.field, self.help, gap=6))
        layout.addWidget(self._trouble)
        self._pause = make_timer(self, self.apply_typed)
        query.changed.connect(self._on_query_changed)
        context.theme.changed.connect(self._restyle_icons)
        self._restyle_icons()

    def _restyle_icons(self) -> None:
        self._cross.setIcon(self._context.theme.icon("x", "muted"))
        self._show_cross()

    def _show_cross(self) -> None:
        self._cross.setVisible(bool(self.field.text()))

    def clear_query(self) -> None:
        """Search for nothing."""
        self.field.clear()
        self.apply_typed()

    @property
    def problem(self) -> str:
        """What is said about what was not understood; "" where all was."""
        return self._problem.text() if not self._trouble.isHidden() else ""

    def on_help_closed(self) -> None:
        """The documentation was closed: take the keyboard again."""
        self.help.setChecked(False)
        self.field.setFocus()

    def _on_text_edited(self, text: str) -> None:
        wrong = self._context.bridge.engine.library.parse_search(text).problems
        self._pause.start(_PAUSE_UNREAD_MS if wrong else _PAUSE_MS)

    def apply_typed(self) -> None:
        """Take what is typed."""
        self._pause.stop()
        self._query.set_text(self.field.text())
        self._show_problem()

    def stop_timer(self) -> None:
        """Nobody types any more."""
        self._pause.stop()

    def insert_example(self, example: str) -> None:
        """Add an example at the end, its value selected, so that another can be typed over it."""
        before = self.field.text().rstrip()
        text = f"{before} {example}" if before else example
        self.field.setText(text)
        self.field.setFocus()
        value = example.rpartition(":")[2].strip('"')
        self.field.setSelection(text.rfind(value), len(value))
        self.apply_typed()

    def _on_query_changed(self) -> None:
        if self.field.text().strip() != self._query.text:
            self._pause.stop()
            self.field.setText(self._query.text)
        self._show_problem()

    def _show_problem(self) -> None:
        wrong = [chip for chip in self._query.make_chips() if chip.problem]
        self._wrong = wrong[0] if wrong else None
        set_style_property(self.field, "wrong", bool(wrong))
        if self._wrong is not None:
            form = library_strings()["search"]["problem_more" if len(wrong) > 1 else "problem"]
            place, problem = self._wrong.start + 1, self._wrong.problem
            self._problem.setText(form.format(place=place, problem=problem, count=len(wrong) - 1))
        self._trouble.setVisible(bool(wrong))

    def _select_problem(self) -> None:
        if self._wrong is not None:
            lead = len(self.field.text()) - len(self.field.text().lstrip())
            self.field.setFocus()
            self.field.setSelection(self._wrong.start + lead, self._wrong.end - self._wrong.start)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Enter searches at once; Enter and the down key go on to the list; Esc clears."""
        if watched is self.field:
            self._context.desk.follow_keyboard(event)
        if watched is not self.field or event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return False
        key = event.key()
        if key in {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down}:
            self.apply_typed()
            if self._query.is_understood:
                self.left.emit()
            return True
        if key == Qt.Key.Key_Escape and self.field.text():
            self.clear_query()
            return True
        return False


class QueryHelp:
    """Opens the documentation below the line; it is made when it is first asked for: its lines take a while."""

    def __init__(self, theme: Theme, page: QWidget, line: QueryLine) -> None:
        """Make it.

        Args:
            page: what it is shown over.
            line: below which.
        """
        self._theme, self._page, self._line = theme, page, line
        self._made: SearchHelp | None = None

    @property
    def panel(self) -> SearchHelp:
        """The documentation."""
        if self._made is None:
            self._made = SearchHelp(self._theme, self._page)
            self._made.taken.connect(self._line.insert_example)
            self._made.closed.connect(self._line.on_help_closed)
        return self._made

    def toggle(self) -> None:
        """Open it, or close it again."""
        if self.panel.isHidden():
            self.panel.open_below(self._bottom)
            self._line.help.setChecked(True)
        else:
            self.close()

    def close(self) -> None:
        """Close it."""
        if self._made is not None:
            self._made.close_help()

    def keep_place(self) -> None:
        """The page has another size."""
        if self._made is not None and not self._made.isHidden():
            self._made.place_below(self._bottom)

    @property
    def _bottom(self) -> int:
        """Where on the page the line ends, px."""
        return self._line.mapTo(self._page, QPoint(0, self._line.field.height())).y() + 6
