"""The line at the upper edge: the name, the one search field and its first answers, the vault's lock, the menu."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, QTimer
from PySide6.QtGui import QIcon, QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from core.types.requests import RecallQuery
from core.types.values import OWNER_ACTOR, Memory
from ui.context import Context
from ui.tasks import query
from ui.theme.theme import Theme
from ui.widgets.basics import button, keycap, label, row, tool
from ui.widgets.plaintext import one_line
from ui.widgets.shapes import KIND_TOKENS, kind_pixmap
from ui.widgets.words import KIND_WORDS, format_said_or_noted

_PAUSE_MS = 140
_SHOWN = 8
_WHOLE = "whole"


class SearchBox(QObject):
    """Drives the search field."""

    def __init__(self, context: Context, field: QLineEdit, host: QWidget) -> None:
        super().__init__(host)
        self._context, self._field, self._host = context, field, host
        self._panel = QFrame(host)
        self._panel.setObjectName("card")
        self._panel.hide()
        self._list = QListWidget()
        self._list.setAccessibleName("Answers")
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.itemClicked.connect(self._take)
        self._note = label("", "small")
        inner = QVBoxLayout(self._panel)
        inner.setContentsMargins(8, 8, 8, 8)
        inner.addWidget(self._list)
        inner.addWidget(self._note)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.timeout.connect(self._ask)
        field.textEdited.connect(lambda _: self._pause.start(_PAUSE_MS))
        field.installEventFilter(self)
        host.installEventFilter(self)

    def heads(self) -> list[str]:
        """What is shown at present."""
        return [self._list.item(i).text() for i in range(self._list.count())] if self._panel.isVisible() else []

    def _ask(self) -> None:
        typed = self._field.text().strip()
        if not typed:
            self.close()
            return
        ask = RecallQuery(query=typed, limit=_SHOWN)
        engine = self._context.bridge.engine
        task = query("Searching", lambda: engine.memories.recall(ask, OWNER_ACTOR))
        self._context.tasks.run(
            task.within(self, "ask")
            .success(lambda reply: self._show(typed, [item.memory for item in reply.result.items]))
            .failure(lambda _: self._show(typed, []))
        )

    def _show(self, typed: str, found: Sequence[Memory]) -> None:
        if not self._field.hasFocus() or self._field.text().strip() != typed:
            return
        self._list.clear()
        theme = self._context.theme
        side = theme.px(16)
        self._list.setIconSize(QSize(side, side))
        for memory in found:
            when = format_said_or_noted(memory.occurred, memory.recorded_at)
            item = QListWidgetItem(f"{one_line(memory.text, 110)}\n{KIND_WORDS[memory.kind]} · {when} · {memory.space}")
            item.setIcon(kind_pixmap(memory.kind, side, theme.colour(KIND_TOKENS[memory.kind]), 2))
            item.setData(Qt.ItemDataRole.UserRole, memory.id)
            item.setSizeHint(QSize(100, theme.px(46)))
            self._list.addItem(item)
        last = QListWidgetItem("Show all that match in the library")
        last.setIcon(theme.icon("library", "accent"))
        last.setData(Qt.ItemDataRole.UserRole, _WHOLE)
        last.setSizeHint(QSize(100, theme.px(36)))
        self._list.addItem(last)
        self._list.setCurrentRow(0)
        self._note.setText("" if found else "Nothing here answers that; the library can still look for the words.")
        self._note.setVisible(not found)
        self._place()
        self._panel.show()
        self._panel.raise_()

    def _place(self) -> None:
        theme, count = self._context.theme, self._list.count()
        corner = self._field.mapTo(self._host, QPoint(0, self._field.height() + 6))
        height = (count - 1) * theme.px(46) + theme.px(36) + 24 + (self._note.sizeHint().height() if count == 1 else 0)
        self._panel.setGeometry(corner.x(), corner.y(), self._field.width(), min(height, self._host.height() - 140))

    def _take(self, item: QListWidgetItem | None) -> None:
        if item is None:
            return
        chosen = item.data(Qt.ItemDataRole.UserRole)
        if chosen == _WHOLE:
            self.whole()
        else:
            self.close()
            self._context.selection.again(chosen, "search")

    def whole(self) -> None:
        """Search for what is typed in the library."""
        typed = self._field.text().strip()
        self.close()
        self._context.desk.search.emit(self._context.bridge.engine.library.essence(typed))

    def close(self) -> None:
        """Show no answers, and keep none: they are words of the vault."""
        self._pause.stop()
        self._panel.hide()
        self._list.clear()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Arrows, Enter and Esc work while the field has the keyboard; leaving it closes the answers."""
        if watched is self._host and event.type() == QEvent.Type.Resize and self._panel.isVisible():
            self._place()
        if watched is not self._field:
            return False
        if event.type() == QEvent.Type.FocusOut:
            self.close()
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._key(event)
        return False

    def _key(self, event: QKeyEvent) -> bool:
        key = event.key()
        if key in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            if self._panel.isVisible() and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self._take(self._list.currentItem())
            elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self.whole()
            elif self._field.text().strip():  # too quick for the answers: they come, and the next Enter takes the first
                self._ask()
            return True
        if not self._panel.isVisible():
            return False
        if key == Qt.Key.Key_Escape:
            self.close()
            return True
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(key), 0)
        if step:
            self._list.setCurrentRow(max(0, min(self._list.count() - 1, self._list.currentRow() + step)))
        return bool(step)


class TopBar(QFrame):
    """Name, search, lock, menu."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("topbar")
        self._theme = theme
        self._name = label("Loci", "section")
        self.search = QLineEdit()
        self.search.setObjectName("search")
        self.search.setPlaceholderText("Search everything you and your assistants remember")
        self.search.setAccessibleName("Search")
        self.search.setClearButtonEnabled(True)
        self.search.setMaximumWidth(624)
        self.search.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._glass = self.search.addAction(QIcon(), QLineEdit.ActionPosition.LeadingPosition)
        self._keys = keycap("Ctrl K")
        self._keys.setToolTip("Ctrl+K shows all commands")
        inside = row(None, self._keys, parent=self.search)
        inside.setContentsMargins(0, 0, 8, 0)
        self.search.textChanged.connect(lambda text: self._keys.setVisible(not text))
        self.lock: QPushButton = button("Lock", kind="chip", hint="Lock the palace (Ctrl+L)", theme=theme, icon="lock")
        self.menu: QToolButton = tool(theme, "ellipsis", "Menu")
        self.menu.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._layout = row(self._name, self.search, None, self.lock, self.menu, parent=self, gap=8)
        self._layout.setStretch(1, 8)
        self._layout.setStretch(2, 3)
        self._paint()
        theme.changed.connect(self._paint)

    def show_menu(self, menu: QMenu) -> None:
        """Give the menu button its menu."""
        self.menu.setMenu(menu)

    def open_vault(self, *, is_open: bool) -> None:
        """Show what makes sense while the vault is open, or while it is not."""
        for one in (self.search, self.lock):
            one.setVisible(is_open)

    def _paint(self) -> None:
        self.setFixedHeight(self._theme.px(52))
        self._layout.setContentsMargins(self._theme.px(18), 0, self._theme.px(16), 0)
        self._name.setFixedWidth(self._theme.px(62))
        side = self._theme.px(16)
        self._glass.setIcon(QIcon(self._theme.icon("search", "muted").pixmap(QSize(side, side))))
        self._name.setAlignment(Qt.AlignmentFlag.AlignVCenter)
