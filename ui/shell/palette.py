"""The command palette: everything the window can do, found by typing (Ctrl+K)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QHideEvent, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import QDialog, QFrame, QLineEdit, QVBoxLayout, QWidget

from ui.lists.list_view import Keep, ListView
from ui.lists.row_spec import MIDDLE, RIGHT, RowSpec, RowState
from ui.theme.theme import Theme

WIDTH, HEIGHT, ROW = 600, 420, 36


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the palette.

    Attributes:
        title: what it does.
        hint: on the right: its keys, or where it leads.
        icon: name of an icon; "" for none.
        words: more words by which it is found.
        run: does it.
    """

    title: str
    hint: str
    icon: str
    words: str
    run: Callable[[], None]


def keys_of(shortcut: QKeySequence.StandardKey | str | None) -> str:
    """A shortcut in the words of this platform."""
    if shortcut is None:
        return ""
    return QKeySequence(shortcut).toString(QKeySequence.SequenceFormat.NativeText)


def rank(entries: Sequence[Entry], typed: str) -> list[Entry]:
    """The entries that match, best first.

    Args:
        entries: all of them.
        typed: words; each must begin a word of the title or occur in title or words.

    Returns:
        Those whose words all occur; earlier and in the title counts more. All of them for nothing typed.
    """
    wanted = typed.casefold().split()
    scored = []
    for place, entry in enumerate(entries):
        title, more = entry.title.casefold(), entry.words.casefold()
        scores = [_score(word, title, more) for word in wanted]
        if all(scores):
            scored.append((-sum(scores), place, entry))
    return [entry for _, _, entry in sorted(scored, key=lambda one: one[:2])]


def _score(word: str, title: str, more: str) -> int:
    if title.startswith(word):
        return 4
    if any(part.startswith(word) for part in title.split()):
        return 3
    return 2 if word in title else 1 if word in more else 0


class EntryRows(RowSpec[Entry]):
    """How entries look: icon, title, hint."""

    def key(self, row: Entry) -> str:
        """Its title with its hint."""
        return f"{row.title}\n{row.hint}"

    def describe(self, row: Entry) -> str:
        """Its title."""
        return row.title

    def hint(self, _row: Entry) -> str:
        """Nothing."""
        return ""

    def height(self, _row: Entry, _place: int) -> int:
        """All are of one height."""
        return self.theme.px(ROW)

    def draw_ground(self, painter: QPainter, rect: QRect, _row: Entry, state: RowState) -> None:
        """A rounded field where Enter would take it."""
        if state.is_chosen:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.theme.colour("accent_soft"))
            painter.drawRoundedRect(rect.adjusted(4, 1, -4, -1), 8, 8)

    def draw_row(self, painter: QPainter, rect: QRect, row: Entry, state: RowState) -> None:
        """Its icon, its title, its hint."""
        theme, small = self.theme, self.theme.font("small")
        side = theme.px(16)
        if row.icon:
            icon = theme.icon(row.icon, "accent" if state.is_chosen else "muted").pixmap(QSize(side, side))
            painter.drawPixmap(QPoint(rect.x() + 16, rect.y() + (rect.height() - side) // 2), icon)
        self.write(painter, rect.adjusted(0, 0, -16, 0), row.hint, "muted", small, RIGHT | MIDDLE)
        room = rect.adjusted(28 + side, 0, -32 - QFontMetrics(small).horizontalAdvance(row.hint), 0)
        self.write(painter, room, row.title, "ink", theme.font("body"))


class CommandPalette(QDialog):
    """A field and what matches it; arrows and Enter, Esc closes."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self.setAccessibleName("Command palette")
        self._theme, self._host = theme, parent
        self._entries: Sequence[Entry] = ()
        self._last: Callable[[str], Entry] | None = None
        frame = QFrame()
        frame.setObjectName("card")
        self.field = QLineEdit()
        self.field.setPlaceholderText("Type a command or a page")
        self.field.setAccessibleName("Command")
        self.field.textChanged.connect(self._filter)
        self.field.installEventFilter(self)
        self.list = ListView(EntryRows(theme), "Commands", keep=Keep.TOP)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.clicked.connect(lambda _: self._take(self.list.current))
        inner = QVBoxLayout(frame)
        inner.setContentsMargins(8, 8, 8, 8)
        inner.addWidget(self.field)
        inner.addWidget(self.list)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(frame)

    def open_with(self, entries: Sequence[Entry], last: Callable[[str], Entry] | None = None) -> None:
        """Show it.

        Args:
            entries: what can be done now.
            last: makes an entry of whatever was typed, shown last: search for it.
        """
        self._entries, self._last = entries, last
        self.field.clear()
        self._filter("")
        host = self._host
        width = min(self._theme.px(WIDTH), host.width() - 48)
        height = min(self._theme.px(HEIGHT), host.height() - 96)
        corner = host.mapToGlobal(QPoint((host.width() - width) // 2, self._theme.px(72)))
        self.setGeometry(QRect(corner, QSize(width, height)))
        self.show()
        self.field.setFocus()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """Nothing stays in the list: names of steps are the vault's."""
        super().hideEvent(event)
        self._entries, self._last = (), None
        self.list.show_lines([])

    def titles(self) -> list[str]:
        """What is offered at present."""
        return [entry.title for entry in self.list.lines.rows()]

    def _filter(self, typed: str) -> None:
        found = rank(self._entries, typed)
        if typed.strip() and self._last is not None:
            found.append(self._last(typed))
        self.list.show_lines(found)
        self.list.look_near(0)

    def _take(self, entry: Entry | None) -> None:
        if entry is not None:
            self.close()
            entry.run()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Arrows and Enter work while the field has the keyboard."""
        if watched is self.field and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}
            if event.key() in steps:
                row = self.list.currentIndex().row() + steps[Qt.Key(event.key())]
                self.list.look_near(max(0, min(self.list.lines.rowCount() - 1, row)))
                return True
            if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
                self._take(self.list.current)
                return True
        return False
