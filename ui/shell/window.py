"""The main window: the line above the pages with the search, and the frame of all that is in it.

Must not do: know a single page, section or verb beyond search, status, lock and undo.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMainWindow,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from core.events import Stalled
from core.types.replies import Presence
from core.types.requests import RecallQuery
from core.types.values import OWNER_ACTOR, Memory
from core.types.views import MemoryRow
from ui.attachments import offer_dropped
from ui.bridge import Problem, make_query
from ui.context import CLOSER, USUAL_PLACES, Context, InspectorSectionSpec, PageSpec
from ui.shell.actions import CommandPalette, PaletteEntry, WindowActions, WindowCommands, shortcut_text
from ui.shell.attach_dialog import open_attach
from ui.shell.help import GlossaryDialog, open_manual
from ui.shell.new_memory import MemoryDraft, NewMemoryDialog
from ui.shell.seal_dialog import open_seal_dialog, open_sealed_copies
from ui.shell.status_bar import StatusBar
from ui.shell.toasts import Toasts
from ui.shell.vault_view import House
from ui.strings import Strings, device_strings, new_memory_strings, window_strings
from ui.theme.theme import Theme
from ui.widgets.basics import (
    FieldIcon,
    Stack,
    make_button,
    make_label,
    make_row,
    make_timer,
    make_tool_button,
)
from ui.widgets.labels import KIND_WORDS, format_said_or_noted, name_edited, name_space
from ui.widgets.plaintext import one_line, plain_line
from ui.widgets.shapes import KIND_TOKENS, kind_pixmap
from ui.widgets.tooltips import show_wrapped

_PAUSE_MS = 140
_SHOWN = 8
_WORDS, _ANSWERS = "words", "answers"
"""The last rows: search for the words in the library, or see all answers with their reasons."""


_WARNED: Mapping[str, Strings] = {"devices": device_strings}
"""Which page of the settings tells more of what stalled, by its subject."""


class SearchBox(QObject):
    """Drives the search field."""

    def __init__(self, context: Context, field: QLineEdit, host: QWidget) -> None:
        super().__init__(host)
        self._context, self._field, self._host = context, field, host
        self._panel = QFrame(host)
        self._panel.setObjectName("card")
        self._panel.hide()
        self._list = QListWidget()
        self._list.setAccessibleName(window_strings()["find"]["title"])
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.itemClicked.connect(self._open_item)
        self._note = make_label("", "small")
        inner = QVBoxLayout(self._panel)
        inner.setContentsMargins(8, 8, 8, 8)
        inner.addWidget(self._list)
        inner.addWidget(self._note)
        self._pause = make_timer(self, self._request_matches)
        self._awaited = ""  # typed and confirmed before its answers came: the first one is opened
        self._shown_for = ""
        field.textEdited.connect(self._on_text_edited)
        field.installEventFilter(self)
        host.installEventFilter(self)

    def shown_titles(self) -> list[str]:
        """What is shown at present."""
        return [self._list.item(i).text() for i in range(self._list.count())] if self._panel.isVisible() else []

    def _on_text_edited(self) -> None:
        self._awaited = ""
        self._pause.start(_PAUSE_MS)

    def _request_matches(self) -> None:
        self._pause.stop()
        typed = self._field.text().strip()
        if not typed:
            self.close()
            return
        ask = RecallQuery(query=typed, limit=_SHOWN)
        engine = self._context.bridge.engine
        task = make_query(window_strings()["find"]["searching"], lambda: engine.memories.recall(ask, OWNER_ACTOR))
        self._context.tasks.run(
            task.within(self, "ask")
            .success(lambda reply: self._show_matches(typed, [item.memory for item in reply.result.items]))
            .failure(lambda _: self._show_matches(typed, []))
        )

    def _show_matches(self, typed: str, found: Sequence[Memory]) -> None:
        if not self._field.hasFocus() or self._field.text().strip() != typed:
            return
        self._list.clear()
        self._context.desk.question = self._shown_for = typed
        theme = self._context.theme
        side = theme.px(16)
        self._list.setIconSize(QSize(side, side))
        for memory in found:
            when = format_said_or_noted(memory.occurred, memory.recorded_at)
            speaker = one_line(memory.author or "", 40)
            said_by = [name_edited(speaker) if memory.is_edited else speaker] if speaker else []
            details = " · ".join([KIND_WORDS[memory.kind], *said_by, when, name_space(memory.space)])
            item = QListWidgetItem(f"{plain_line(memory.text, 110)}\n{details}")
            item.setIcon(kind_pixmap(memory.kind, side, theme.colour(KIND_TOKENS[memory.kind]), 2))
            item.setData(Qt.ItemDataRole.UserRole, memory.id)
            item.setSizeHint(QSize(100, theme.px(46)))
            self._list.addItem(item)
        strings = window_strings()["find"]
        if found:
            self._add_way(strings["answers"], "scan-search", _ANSWERS)
        self._add_way(strings["words"], "library", _WORDS)
        self._list.setCurrentRow(0)
        self._note.setText("" if found else strings["none"])
        self._note.setVisible(not found)
        if found and self._awaited == typed:
            self._open_item(self._list.item(0))
            return
        self._awaited = ""
        self._place_panel()
        self._panel.show()
        self._panel.raise_()
        if found:
            self._request_rooms(typed, [memory.id for memory in found])

    def _request_rooms(self, typed: str, memory_ids: Sequence[str]) -> None:
        """Name the rooms in which the answers lie, a moment after the answers themselves."""
        library = self._context.bridge.engine.library
        task = make_query(window_strings()["find"]["searching"], lambda: library.read_rows(memory_ids))
        show_rooms = partial(self._show_rooms, typed)
        self._context.tasks.run(task.within(self, "rooms").success(show_rooms).failure(lambda _: None))

    def _show_rooms(self, typed: str, rows: Sequence[MemoryRow]) -> None:
        if not self._panel.isVisible() or self._field.text().strip() != typed:
            return
        form, rooms = window_strings()["find"]["room"], {row.id: row.room for row in rows if row.room}
        for item in (self._list.item(at) for at in range(self._list.count())):
            room = rooms.get(str(item.data(Qt.ItemDataRole.UserRole)))
            if room is not None:
                item.setText(f"{item.text()} · {form.format(room=one_line(room, 40))}")

    def _add_way(self, title: str, icon: str, way: str) -> None:
        item = QListWidgetItem(title)
        item.setIcon(self._context.theme.icon(icon, "accent"))
        item.setData(Qt.ItemDataRole.UserRole, way)
        item.setSizeHint(QSize(100, self._context.theme.px(36)))
        self._list.addItem(item)

    def _place_panel(self) -> None:
        theme, count = self._context.theme, self._list.count()
        corner = self._field.mapTo(self._host, QPoint(0, self._field.height() + 6))
        ways = 1 if count == 1 else 2
        height = (count - ways) * theme.px(46) + ways * theme.px(36) + 24
        height += self._note.sizeHint().height() if count == 1 else 0
        self._panel.setGeometry(corner.x(), corner.y(), self._field.width(), min(height, self._host.height() - 140))

    def _open_item(self, item: QListWidgetItem | None) -> None:
        if item is None:
            return
        chosen = item.data(Qt.ItemDataRole.UserRole)
        if chosen == _WORDS:
            self.search_in_library()
        elif chosen == _ANSWERS:
            typed = self._field.text().strip()
            self.close()
            self._context.desk.go.emit("recall", f"ask:{typed}")
        else:
            self.close()
            self._context.selection.reselect(chosen, "search")

    def search_in_library(self) -> None:
        """Search for what is typed in the library."""
        typed = self._field.text().strip()
        self.close()
        self._context.desk.search.emit(self._context.bridge.engine.library.remove_stop_words(typed))

    def close(self) -> None:
        """Show no answers, and keep none: they are words of the vault."""
        self._pause.stop()
        self._awaited = ""
        self._panel.hide()
        self._list.clear()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Arrows, Enter and Esc work while the field has the keyboard; leaving it closes the answers."""
        if watched is self._host and event.type() == QEvent.Type.Resize and self._panel.isVisible():
            self._place_panel()
        if watched is not self._field:
            return False
        self._context.desk.follow_keyboard(event)
        if event.type() == QEvent.Type.FocusOut:
            self.close()
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._handle_key(event)
        return False

    def _handle_key(self, event: QKeyEvent) -> bool:
        key = event.key()
        if key in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self.search_in_library()
            elif self._panel.isVisible() and self._shown_for == self._field.text().strip():
                self._open_item(self._list.currentItem())
            elif typed := self._field.text().strip():  # quicker than the answers: the first is opened when it comes
                self._awaited = typed
                self._request_matches()
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
        strings = window_strings()
        self._name = make_label(strings["title"], "section")
        self.search = QLineEdit()
        self.search.setObjectName("search")
        self.search.setPlaceholderText(strings["top"]["placeholder"])
        self.search.setAccessibleName(strings["top"]["search"])
        self.search.setClearButtonEnabled(True)
        self.search.setMaximumWidth(624)
        self.search.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.glass = FieldIcon(theme, self.search, "search")
        new = new_memory_strings()
        self.new: QPushButton = make_button(
            new["button"], kind="chip", hint=new["button_hint"], theme=theme, icon="plus"
        )
        self.lock: QPushButton = make_button(
            strings["top"]["lock"], kind="chip", hint=strings["top"]["lock_hint"], theme=theme, icon="lock"
        )
        self.menu: QToolButton = make_tool_button(theme, "ellipsis", strings["top"]["menu"])
        self.menu.setToolTip(strings["top"]["menu_hint"])
        self.menu.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._layout = make_row(self._name, self.search, None, self.new, self.lock, self.menu, parent=self, gap=8)
        self._layout.setStretch(1, 8)
        self._layout.setStretch(2, 3)
        self._apply_sizes()
        theme.changed.connect(self._apply_sizes)

    def show_menu(self, menu: QMenu) -> None:
        """Give the menu button its menu."""
        self.menu.setMenu(menu)

    def open_vault(self, *, is_open: bool) -> None:
        """Show what makes sense while the vault is open, or while it is not."""
        for one in (self.search, self.new, self.lock):
            one.setVisible(is_open)

    def show_search(self, *, is_shown: bool) -> None:
        """Show the search field, or not where the page has its own: two would say two things."""
        self.search.setText("")
        self.search.setVisible(is_shown)

    def _apply_sizes(self) -> None:
        self.setFixedHeight(self._theme.px(52))
        self._layout.setContentsMargins(self._theme.px(18), 0, self._theme.px(16), 0)
        self._name.setFixedWidth(self._theme.px(62))
        self._name.setAlignment(Qt.AlignmentFlag.AlignVCenter)


def _fit_search(top: TopBar, pages: Sequence[PageSpec], page_id: str) -> None:
    """Show the search field beside pages that have none of their own."""
    top.show_search(is_shown=not any(spec.id == page_id and spec.has_search for spec in pages))


_GEOMETRY = "window.geometry"
_STATUS_MS = 2_000
SMALLEST = QSize(880, 600)
FIRST = QSize(1440, 900)


@dataclass(frozen=True, slots=True)
class WindowViews:
    """What the window is made of.

    Attributes:
        pages: in the order of the rail.
        sections: of the inspector.
        gate: makes what is shown while the vault is locked or does not exist.
        inspector: makes the inspector.
        importing: opens the import of what was dropped or chosen.
    """

    pages: Sequence[PageSpec]
    sections: Sequence[InspectorSectionSpec]
    gate: Callable[[Context], QWidget]
    inspector: Callable[[Context, Sequence[InspectorSectionSpec]], QWidget]
    importing: Callable[[Context, Sequence[Path], QWidget], QDialog]


def _make_search_entry(context: Context, typed: str) -> PaletteEntry:
    return PaletteEntry(
        window_strings()["find"]["library"].format(typed=typed.strip()),
        shortcut_text(QKeySequence.StandardKey.Find),
        "search",
        "",
        lambda: context.desk.search.emit(typed.strip()),
    )


class MainWindow(QMainWindow):
    """The main window.

    Signals:
        furnished: the vault is open and its pages are there.
    """

    furnished = Signal()

    def __init__(self, context: Context, rooms: WindowViews) -> None:
        super().__init__()
        strings = window_strings()
        self.setWindowTitle(strings["title"])
        self.setAccessibleName(strings["title"])
        self.setAcceptDrops(True)
        self.setMinimumSize(SMALLEST)
        self.context, self._rooms = context, rooms
        self.may_close = True
        self.top = TopBar(context.theme)
        self.status = StatusBar(context.theme)
        self.toasts = Toasts(context.theme, self)
        self.palette_box = CommandPalette(context.theme, self)
        self._stack = Stack()
        self.gate = rooms.gate(context)
        self._stack.addWidget(self.gate)
        self.house: House | None = None
        self._inspector: QWidget | None = None
        self._importing: QDialog | None = None
        self._draft = MemoryDraft()
        background = QWidget()
        background.setObjectName("ground")
        layout = QVBoxLayout(background)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for part in (self.top, self._stack, self.status):
            layout.addWidget(part)
        layout.setStretch(1, 1)
        self.setCentralWidget(background)
        own = WindowCommands(
            self.write_memory,
            self.lock_vault,
            self.focus_search,
            self.open_palette,
            self.toggle_inspector,
            partial(open_manual, context.desk.show_message),
            self.open_glossary,
        )
        self.actions_box = WindowActions(self, own, context, rooms.pages)
        self.top.show_menu(self.actions_box.menu)
        self.top.new.clicked.connect(self.write_memory)
        self.top.lock.clicked.connect(self.lock_vault)
        self._box = SearchBox(context, self.top.search, self)
        self._status = QTimer(self)
        self._status.setInterval(_STATUS_MS)
        self._status.timeout.connect(self._request_status)
        self._connect_signals()
        application = QApplication.instance()
        if application is not None:
            application.installEventFilter(self)
        self._restore_geometry()
        self._on_vault_state(context.bridge.engine.state, at_once=True)

    def _connect_signals(self) -> None:
        context = self.context
        context.bridge.state.connect(self._on_vault_state)
        context.tasks.shown.connect(self.status.show_work)
        context.bridge.progressed.connect(self.status.show_progress)
        context.bridge.warned.connect(self._show_warning)
        context.tasks.problem.connect(self._show_problem)
        context.desk.go.connect(self.show_page)
        context.desk.message_asked.connect(self._show_message)
        context.desk.message_over.connect(self.toasts.remove_message)
        context.desk.search.connect(lambda typed: self.show_page("library", typed))
        context.desk.import_paths.connect(self.open_import)
        context.desk.attach_paths.connect(partial(open_attach, context, self))
        context.desk.seal.connect(partial(open_seal_dialog, context, self))
        context.desk.sealed_copies.connect(partial(open_sealed_copies, context, self))
        context.selection.changed.connect(self._on_memory_selected)
        context.prefs.changed.connect(self._on_option_changed)
        self.status.chosen.connect(self.show_page)

    def _restore_geometry(self) -> None:
        state = self.context.prefs.read_state(_GEOMETRY)
        if state.isEmpty() or not self.restoreGeometry(state):
            self.resize(FIRST)
            screen = self.screen()
            if screen is not None:
                self.resize(FIRST.boundedTo(screen.availableSize()).expandedTo(SMALLEST))

    def _on_option_changed(self, name: str) -> None:
        if name in {"theme", "text_size", "reduced_motion"}:
            _apply_theme(self)

    # ---- the vault's state

    def _on_vault_state(self, state: str, *, at_once: bool = False) -> None:
        is_open = state == "open"
        if is_open and self._inspector is None:
            with _unfiltered(self):
                self._inspector = self._rooms.inspector(self.context, self._rooms.sections)
            if not at_once:  # the pages' frame in a turn of its own: together they would hold the window up
                QTimer.singleShot(0, self, lambda: self._on_vault_state(self.context.bridge.engine.state))
                return
        self.top.open_vault(is_open=is_open)
        if is_open and self.house is None:
            with _unfiltered(self):
                self.house = House(self.context, self._rooms.pages, self._inspector)
            self.house.while_making = partial(_unfiltered, self)
            self.house.inspects.connect(self.actions_box.show_inspector)
            self.house.counted.connect(self.status.show_count)
            # A sentence is about the page it was said on; what can be undone still can, with Ctrl+Z.
            self.house.left.connect(self.toasts.clear_messages)
            self.house.shown.connect(partial(_fit_search, self.top, self._rooms.pages))
            with _unfiltered(self):
                self._stack.addWidget(self.house)
                self._stack.setCurrentWidget(self.house)
            self._status.start()
            self._request_status()
            QTimer.singleShot(0, self, self.furnished.emit)
        elif not is_open:
            self._close_house()
            self.status.clear_status()
            _say_if_locked(self)
            self._stack.setCurrentWidget(self.gate)
        self.actions_box.show_state(is_open=is_open)

    def _close_house(self) -> None:
        """Nothing of the vault stays in the window once it is locked."""
        self._status.stop()
        self.top.search.setText("")  # not `clear`, which could be undone
        self._box.close()
        self.palette_box.close()
        self.context.selection.current = self.context.desk.question = ""
        aside, self._importing, self._draft = self._importing, None, MemoryDraft()
        for dialog in self.findChildren(QDialog):
            if dialog is not self.palette_box and (dialog.isVisible() or dialog is aside):
                dialog.close()
        if self.house is not None:
            self._stack.removeWidget(self.house)
            self.house.deleteLater()
        elif self._inspector is not None:
            self._inspector.deleteLater()
        self.house = self._inspector = None
        self.toasts.clear_messages(everything=True)  # last: what closes may have said something

    def lock_vault(self) -> None:
        """Lock the vault; what is under way stops at its next safe point."""
        engine = self.context.bridge.engine
        if engine.state == "open":
            self.context.tasks.run(make_query(window_strings()["status"]["locking"], engine.vault.lock))

    def _request_status(self) -> None:
        if self.context.bridge.is_open:
            engine = self.context.bridge.engine
            task = make_query(
                window_strings()["status"]["reading"], lambda: engine.vault.read_status(brief=True)
            ).within(self, "status")
            self.context.tasks.run(
                task.success(lambda report: self.status.show_status(report.values)).failure(lambda _: None)
            )

    # ---- what pages and the person ask for

    def show_page(self, page_id: str, target: str = "") -> None:
        """Show a page."""
        if self.house is not None:
            self.house.show_page(page_id, target)

    def open_import(self, paths: Sequence[Path] = ()) -> None:
        """Open the import of some files, or ask for them."""
        if self.house is None:
            return
        if self._importing is not None:
            if self._importing.isVisible() and list(paths) == [USUAL_PLACES]:
                return  # looking around takes nobody's place
            if self._importing.isHidden() and not paths:
                self._importing.open()  # its result was put aside to look at what it found
                return
            self._importing.close()
        made = self._rooms.importing(self.context, list(paths), self)
        self._importing = made
        made.destroyed.connect(lambda: self._forget_import(made))
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        made.open()

    def write_memory(self) -> None:
        """Ask for a new memory; what was written before and not saved is there again."""
        if self.house is not None:
            NewMemoryDialog(self.context, self._draft, self).open()

    def _forget_import(self, closed: QDialog) -> None:
        if self._importing is closed:
            self._importing = None

    def open_palette(self) -> None:
        """Show the command palette."""
        self.palette_box.open_with(
            self.actions_box.palette_entries(), partial(_make_search_entry, self.context) if self.house else None
        )

    def focus_search(self) -> None:
        """Put the keyboard into the search field; into the page's own, where it has one and is not there already."""
        page = None if self.house is None else self.house.page
        if page is not None and (self.top.search.isHidden() or page.takes_search()):
            page.focus_search()
            return
        self.top.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.top.search.selectAll()
        self.context.desk.is_searching = True

    def toggle_inspector(self) -> None:
        """Show or hide the inspector."""
        if self.house is not None:
            self.house.toggle_inspector()

    def open_glossary(self) -> None:
        """Show what the words of the window mean."""
        GlossaryDialog(self.context.theme, self).open()

    def _on_memory_selected(self, memory_id: str, origin: str) -> None:
        """An answer that was chosen is shown, whatever is in its way; so is what somebody wants to see closer."""
        if memory_id and origin in {"search", CLOSER} and self.house is not None:
            self.house.show_inspector()

    def _show_message(self, sentence: str, action: str, run: Callable[[], None] | None, stays: bool) -> None:
        self.toasts.show_message(sentence, action, run, stays=stays)

    def _show_warning(self, warned: Stalled) -> None:
        strings = _WARNED[warned.subject]()
        self.context.desk.show_message(
            warned.sentence,
            strings["warning"]["act"],
            lambda: self.show_page("settings", strings["title"]),
            stays=True,
        )

    def _show_problem(self, problem: Problem) -> None:
        action = (window_strings()["buttons"]["retry"], problem.retry) if problem.retry is not None else ("", None)
        self.toasts.show_message(
            f"{problem.sentence} ({problem.code})", action[0], action[1], stays=problem.family != "user"
        )

    # ---- Qt's events

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Ctrl+L and Ctrl+Q work wherever the keyboard is; a dialog would keep the window's own shortcuts from them.

        Tooltips of all widgets are shown in short lines.
        """
        # Tens of thousands of events come by when pages are made: their class is known at once, their type is not.
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            return show_wrapped(watched, event)
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return False
        if event.modifiers() != Qt.KeyboardModifier.ControlModifier:
            return False
        if event.key() == Qt.Key.Key_L and self.house is not None:
            self.lock_vault()
            return True
        if event.key() == Qt.Key.Key_Q:
            self.context.commands.run("file.quit")
            return True
        return False

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 - Qt's name
        """Files and folders may be dropped anywhere."""
        if self.house is not None and any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 - Qt's name
        """Pictures and documents are attached, everything else is imported; the person is asked before either."""
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        event.acceptProposedAction()
        offer_dropped(self.context, paths, self)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """What is said stays above the lower edge."""
        super().resizeEvent(event)
        self.toasts.place_toast()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 - Qt's name
        """Remember where it was; with a tray it may only hide."""
        self.context.prefs.store_value(_GEOMETRY, self.saveGeometry())
        self.context.prefs.save_now()
        if self.may_close:
            event.accept()
        else:
            event.ignore()
            self.hide()


def _say_if_locked(window: MainWindow) -> None:
    """Say that the vault is locked; before there is one nothing is."""
    context = window.context

    def show_presence(presence: Presence) -> None:
        if presence.exists and not context.bridge.is_open:
            window.status.show_locked()

    task = make_query(window_strings()["status"]["finding"], context.bridge.engine.vault.read_presence)
    context.tasks.run(task.within(window, "presence").success(show_presence).failure(lambda _: None))


@contextmanager
def _unfiltered(window: MainWindow) -> Iterator[None]:
    """The window looks at no event: thousands come by when widgets are made or change their look, and none is a key."""
    application = QApplication.instance()
    if application is not None:
        application.removeEventFilter(window)
    try:
        yield
    finally:
        if application is not None:
            application.installEventFilter(window)


def _apply_theme(window: MainWindow) -> None:
    """Another theme; each widget hears of it several times."""
    options = window.context.prefs.options
    with _unfiltered(window):
        window.context.theme.apply_theme(options.theme, options.text_size, reduced_motion=options.reduced_motion)
