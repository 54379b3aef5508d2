"""Lines of the lifecycle: what is in a line, how it is drawn, their list, and buttons for those that are chosen.

Must not do: ask the engine, know what a line is for, or do anything itself; it tells what is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeySequence, QPainter
from PySide6.QtWidgets import QBoxLayout, QFrame, QMenu, QSizePolicy, QWidget

from core.types.values import Kind
from ui.lists.list_view import OPEN, AfterRemoval, ListKeys, ListView
from ui.lists.row_spec import MIDDLE, RIGHT, InertRow, RowSpec, RowState, draw_flat_ground, line_height, wrap_text
from ui.strings import journal_strings
from ui.theme.theme import Theme
from ui.theme.tokens import sizes, spacing
from ui.widgets.basics import FlowLayout, KeyButton
from ui.widgets.shapes import KIND_TOKENS, draw_kind

_NAMED = {"Enter": Qt.Key.Key_Return, "Del": Qt.Key.Key_Delete}


def entry_action_key(act: str) -> Qt.Key:
    """The key of an act."""
    shown = str(journal_strings()["acts"][act]["key"])
    return _NAMED.get(shown) or Qt.Key(ord(shown))


class EntryActionBar(QWidget):
    """Buttons of acts; those that make no sense now are hidden, or, where they apply to another choice, off.

    Signals:
        asked: an act.
    """

    asked = Signal(str)

    def __init__(self, theme: Theme, acts: Sequence[str]) -> None:
        """Make it.

        Args:
            acts: keys of `acts` in the page's words.
        """
        super().__init__()
        self.setAccessibleName(journal_strings()["entry_actions"])
        self.buttons: dict[str, KeyButton] = {}
        flow = FlowLayout(self, gap=8)
        for act in acts:
            strings = journal_strings()["acts"][act]
            kind = "danger" if act == "erase" else "plain"
            button = KeyButton(theme, strings["title"], strings["key"], partial(self.asked.emit, act), kind)
            button.setToolTip(strings["hint"])
            self.buttons[act] = button
            flow.addWidget(button)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def enable_actions(self, acts: Collection[str], *, hides: bool = False) -> None:
        """Offer some of them.

        Args:
            hides: whether the others go, and are not only off.
        """
        for name, button in self.buttons.items():
            button.setEnabled(name in acts)
            button.setVisible(not hides or name in acts)


def entry_list(theme: Theme, name: str, acts: Sequence[str], *, takes_many: bool = False) -> ListView:
    """A list of lines; letters act on what is chosen.

    Args:
        name: for those who do not see it.
        acts: what can be done, with their keys.
        takes_many: whether several lines can be chosen.
    """
    by_key: dict[int, str] = {entry_action_key(act): act for act in acts}
    if OPEN in acts:
        by_key[Qt.Key.Key_Enter] = OPEN
    keys = ListKeys(by_key, lets_go=True, searches=False)
    view = ListView(JournalRows(theme), name, keys, keep=AfterRemoval.BEFORE, takes_many=takes_many)
    view.setFrameShape(QFrame.Shape.NoFrame)
    view.offered = frozenset()
    view.menu = lambda: make_entry_menu(view, acts) if view.offered else None
    return view


def make_entry_menu(view: ListView, acts: Sequence[str]) -> QMenu:
    """What can be done with what is chosen.

    Args:
        acts: keys of `acts` in the page's words.
    """
    menu = QMenu(view)
    menu.setAccessibleName(journal_strings()["entry_actions"])
    menu.aboutToHide.connect(menu.deleteLater)
    for act in (act for act in acts if act in (view.offered or ())):
        strings = journal_strings()["acts"][act]
        keys = QKeySequence(strings["key"]).toString(QKeySequence.SequenceFormat.NativeText)
        menu.addAction(f"{strings['title']}\t{keys}").triggered.connect(
            lambda _checked=False, act=act: view.request_action(act)
        )
    return menu


def set_row_direction(line: QBoxLayout, *, is_wide: bool) -> None:
    """Let what is in a row lie below each other where it is narrow, from the left.

    Args:
        line: a row of widgets; the first takes what is left.
        is_wide: whether there is room for all of them beside each other.
    """
    direction = QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
    if line.direction() == direction:
        return
    line.setDirection(direction)
    for place in range(1, line.count()):
        item = line.itemAt(place)
        widget = None if item is None else item.widget()
        if widget is not None:
            line.setAlignment(widget, Qt.AlignmentFlag(0) if is_wide else Qt.AlignmentFlag.AlignLeft)


NARROW = 560
"""Pixels of a list, at 100 %, under which the kind of a line is shown before its note and not in a column."""
_WORD, _SHAPE = 84, 18
_UPRIGHT, _BAR = 7, 4


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A line of a list of the journal.

    Attributes:
        id: unique within the list.
        title: its text, made visible, on one line or wrapped.
        note: under it, in small letters; `beside` under that.
        icon: name of an icon; "" for the shape of `kind` in its place.
        ink: token of the icon's colour.
        word: what it is, in a word beside its icon; "" for none.
        kind: of the memory it is about; its shape is before the title where there is a word too.
        aside: at its right end, in figures; `aside_note` under that.
        lines: how many the title may take; a list of one-line titles is laid out without measuring each.
        is_struck: whether it is taken back.
        progress: 0 to 1 for a bar under the note; -1 for one whose end nobody knows; None for none.
        value: what it represents.
        second: another text of the same weight under the title, such as the other one of a pair; "" for none.
    """

    id: str
    title: str
    note: str = ""
    beside: str = ""
    icon: str = ""
    ink: str = "muted"
    word: str = ""
    kind: Kind | None = None
    aside: str = ""
    aside_note: str = ""
    lines: int = 1
    is_struck: bool = False
    progress: float | None = None
    value: Any = None
    second: str = ""

    @property
    def description(self) -> str:
        """All of it, for those who hear it."""
        parts = (self.word, self.title, self.second, self.note, self.beside, self.aside, self.aside_note)
        return ". ".join(part.rstrip(".") for part in parts if part)


Line = JournalEntry | InertRow


class JournalRows(RowSpec[JournalEntry]):
    """How the lines look."""

    heading = (40, 30)
    below_heading = 7

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._has_words = False

    def row_key(self, row: JournalEntry) -> str:
        """The row's id."""
        return row.id

    def accessible_text(self, row: JournalEntry) -> str:
        """All of it."""
        return row.description

    def is_same(self, row: JournalEntry, other: JournalEntry) -> bool:
        """Whether it is about the same, whatever it says of it now."""
        return row.id == other.id

    def prepare_lines(self, lines: Sequence[JournalEntry | InertRow]) -> None:
        """Learn whether any line has a word beside its icon."""
        self._has_words = any(isinstance(line, JournalEntry) and line.word for line in lines)

    # ---- sizes

    @property
    def is_narrow(self) -> bool:
        """Whether there is no room for a column of words."""
        return self.width() < self.theme.px(NARROW)

    def _text_left_edge(self) -> int:
        """Where texts begin."""
        px = self.theme.px
        left = px(sizes().list_pad + sizes().icon + spacing().m)
        return left + px(_WORD) if self._has_words and not self.is_narrow else left

    def _text_width(self, entry: JournalEntry, width: int) -> int:
        """Pixels a text has."""
        px = self.theme.px
        shape = px(_SHAPE) if entry.kind is not None and entry.icon else 0
        aside = 0 if self.is_narrow else self._aside_width(entry)
        return max(60, width - self._text_left_edge() - shape - aside - px(sizes().list_pad))

    def _aside_width(self, entry: JournalEntry) -> int:
        """Pixels that what is at the right end takes, with the gap before it; 0 for nothing."""
        if not entry.aside:
            return 0
        number, small = QFontMetrics(self.theme.font("number")), QFontMetrics(self.theme.font("small"))
        wide = max(number.horizontalAdvance(entry.aside), small.horizontalAdvance(entry.aside_note))
        return wide + 2 + self.theme.px(spacing().m)

    def _note_lines(self, entry: JournalEntry) -> list[str]:
        """The small lines below the title; where it is narrow, what was in columns is among them."""
        note = entry.note
        if self.is_narrow:
            is_figure = entry.aside[:1].isdigit()
            aside = (f"{entry.aside_note} {entry.aside}".strip(),) if is_figure else (entry.aside, entry.aside_note)
            note = " · ".join(part.rstrip(".") for part in (entry.word, *aside, note) if part)
        return [line for line in (note, entry.beside) if line]

    def row_height(self, row: JournalEntry, _place: int) -> int:
        """As high as its words need."""
        px = self.theme.px
        title_font, small_font = self.row_fonts()
        lines = (
            1
            if row.lines == 1
            else len(wrap_text(row.title, title_font, self._text_width(row, self.width()), row.lines))
        )
        bar = 0 if row.progress is None else px(_BAR + 4)
        lines += bool(row.second)
        high = lines * line_height(title_font) + len(self._note_lines(row)) * line_height(small_font) + bar
        return high + px(_UPRIGHT * 2)

    # ---- painting

    def paint_background(self, painter: QPainter, rect: QRect, _row: JournalEntry, state: RowState) -> None:
        """A field from edge to edge, a bar beside the colour."""
        draw_flat_ground(
            painter,
            self.theme,
            rect,
            is_chosen=state.is_chosen,
            is_hovered=state.is_hovered,
            has_focus=state.has_focus,
            has_bar=True,
        )

    def draw_row(self, painter: QPainter, rect: QRect, row: JournalEntry, _state: RowState) -> None:
        """Its icon, its words, and what is at its right end."""
        theme, px = self.theme, self.theme.px
        title_font, small_font = self.row_fonts()
        title_font.setStrikeOut(row.is_struck)
        top = rect.top() + px(_UPRIGHT)
        self._draw_mark(painter, rect, top, row)
        left, room = rect.left() + self._text_left_edge(), self._text_width(row, rect.width())
        if row.kind is not None and row.icon:
            centre = QPointF(left + px(5), top + line_height(title_font) / 2)
            draw_kind(painter, row.kind, centre, px(9), theme.colour(KIND_TOKENS[row.kind]))
            left += px(_SHAPE)
        at = QRect(left, top, room, line_height(title_font))
        second = [row.second] if row.second else []
        for text in (*wrap_text(row.title, title_font, room, row.lines), *second):
            self.draw_text(painter, at, text, "muted" if row.is_struck else "ink", title_font)
            at.translate(0, line_height(title_font))
        at.setHeight(line_height(small_font))
        for note in self._note_lines(row):
            self.draw_text(painter, at, note, "muted", small_font)
            at.translate(0, line_height(small_font))
        if row.progress is not None:
            self._draw_bar(painter, QRectF(left, at.top() + px(3), room, px(_BAR)), row.progress)
        if row.aside and not self.is_narrow:
            self._draw_aside(painter, rect, top, row)

    def _draw_mark(self, painter: QPainter, rect: QRect, top: int, entry: JournalEntry) -> None:
        """The icon with its word; without an icon, the shape of the kind."""
        theme, px = self.theme, self.theme.px
        title_font, small_font = self.row_fonts()
        place = QRect(
            rect.left() + px(sizes().list_pad),
            top + (line_height(title_font) - px(sizes().icon)) // 2,
            px(sizes().icon),
            px(sizes().icon),
        )
        if entry.icon:
            theme.icon(entry.icon, entry.ink).paint(painter, place)
        elif entry.kind is not None:
            centre = QPointF(place.center().x() + 0.5, place.center().y() + 0.5)
            draw_kind(painter, entry.kind, centre, px(11), theme.colour(KIND_TOKENS[entry.kind]))
        if entry.word and not self.is_narrow:
            at = QRect(place.right() + px(8), top, px(_WORD - 6), line_height(title_font))
            self.draw_text(painter, at, entry.word, "muted", small_font)

    def _draw_aside(self, painter: QPainter, rect: QRect, top: int, entry: JournalEntry) -> None:
        px = self.theme.px
        title_font, small_font = self.row_fonts()
        wide = self._aside_width(entry)
        at = QRect(rect.right() - px(sizes().list_pad) - wide, top, wide, line_height(title_font))
        self.draw_text(painter, at, entry.aside, "muted", self.theme.font("number"), RIGHT | MIDDLE)
        at = QRect(at.left(), at.bottom() + 1, at.width(), line_height(small_font))
        self.draw_text(painter, at, entry.aside_note, "muted", small_font, RIGHT | MIDDLE)

    def _draw_bar(self, painter: QPainter, rect: QRectF, progress: float) -> None:
        """How far something is; where nobody knows, dots."""
        colour = self.theme.colour
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour("line"))
        painter.drawRoundedRect(rect, 2, 2)
        painter.setBrush(colour("accent"))
        if progress >= 0:
            done = QRectF(rect.left(), rect.top(), rect.width() * min(1.0, progress), rect.height())
            painter.drawRoundedRect(done, 2, 2)
        else:
            side = rect.height()
            for nr in range(3):
                painter.drawEllipse(QRectF(rect.left() + nr * 3 * side, rect.top(), side, side))
