"""The main window: what frames the pages, and what is the same on all of them.

Must not do: know a single page, part or verb beyond status, lock and undo.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import QApplication, QDialog, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from ui.context import CLOSER, Context, PageSpec, PartSpec
from ui.shell.actions import Actions, CommandPalette, Entry, WindowCommands, keys_of
from ui.shell.house import House
from ui.shell.status_bar import StatusBar
from ui.shell.top_bar import SearchBox, TopBar
from ui.tasks import Problem, query
from ui.widgets.states import Toasts

_GEOMETRY = "window.geometry"
_STATUS_MS = 2_000
SMALLEST = QSize(880, 600)
FIRST = QSize(1440, 900)


@dataclass(frozen=True, slots=True)
class Rooms:
    """What the window is made of.

    Attributes:
        pages: in the order of the rail.
        parts: of the inspector.
        gate: makes what is shown while the vault is locked or does not exist.
        inspector: makes the inspector.
        importing: opens the import of what was dropped or chosen.
    """

    pages: Sequence[PageSpec]
    parts: Sequence[PartSpec]
    gate: Callable[[Context], QWidget]
    inspector: Callable[[Context, Sequence[PartSpec]], QWidget]
    importing: Callable[[Context, Sequence[Path], QWidget], QDialog]


class MainWindow(QMainWindow):
    """The main window."""

    def __init__(self, context: Context, rooms: Rooms) -> None:
        super().__init__()
        self.setWindowTitle("Loci")
        self.setAccessibleName("Loci")
        self.setAcceptDrops(True)
        self.setMinimumSize(SMALLEST)
        self.context, self._rooms = context, rooms
        self.may_close = True
        self.top = TopBar(context.theme)
        self.status = StatusBar(context.theme)
        self.toasts = Toasts(context.theme, self)
        self.palette_box = CommandPalette(context.theme, self)
        self._stack = QStackedWidget()
        self.gate = rooms.gate(context)
        self._stack.addWidget(self.gate)
        self.house: House | None = None
        self._importing: QDialog | None = None
        ground = QWidget()
        ground.setObjectName("ground")
        layout = QVBoxLayout(ground)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for part in (self.top, self._stack, self.status):
            layout.addWidget(part)
        layout.setStretch(1, 1)
        self.setCentralWidget(ground)
        own = WindowCommands(self.lock, self.focus_search, self.open_palette, self.toggle_inspector)
        self.actions_box = Actions(self, own, context, rooms.pages)
        self.top.show_menu(self.actions_box.menu)
        self.top.lock.clicked.connect(self.lock)
        self._box = SearchBox(context, self.top.search, self)
        self._status = QTimer(self)
        self._status.setInterval(_STATUS_MS)
        self._status.timeout.connect(self._ask_status)
        self._connect()
        application = QApplication.instance()
        if application is not None:
            application.installEventFilter(self)
        self._restore()
        self._state(context.bridge.engine.state)

    def _connect(self) -> None:
        context = self.context
        context.bridge.state.connect(self._state)
        context.tasks.shown.connect(self.status.show_work)
        context.bridge.progressed.connect(self.status.show_progress)
        context.tasks.problem.connect(self._problem)
        context.desk.go.connect(self.go)
        context.desk.tell.connect(self._tell)
        context.desk.hush.connect(self.toasts.drop)
        context.desk.search.connect(lambda typed: self.go("library", typed))
        context.desk.import_paths.connect(self.open_import)
        context.selection.changed.connect(self._looked_at)
        context.prefs.changed.connect(self._option)
        self.status.chosen.connect(self.go)

    def _restore(self) -> None:
        state = self.context.prefs.state(_GEOMETRY)
        if state.isEmpty() or not self.restoreGeometry(state):
            self.resize(FIRST)
            screen = self.screen()
            if screen is not None:
                self.resize(FIRST.boundedTo(screen.availableSize()).expandedTo(SMALLEST))

    def _option(self, name: str) -> None:
        options = self.context.prefs.options
        if name in {"theme", "text_size", "reduced_motion"}:
            self.context.theme.use(options.theme, options.text_size, reduced_motion=options.reduced_motion)

    # ---- the vault's state

    def _state(self, state: str) -> None:
        is_open = state == "open"
        self.top.open_vault(is_open=is_open)
        if is_open and self.house is None:
            inspector = self._rooms.inspector(self.context, self._rooms.parts)
            self.house = House(self.context, self._rooms.pages, inspector)
            self.house.inspects.connect(self.actions_box.show_inspector)
            self.house.counted.connect(self.status.show_count)
            self._stack.addWidget(self.house)
            self._stack.setCurrentWidget(self.house)
            self._status.start()
            self._ask_status()
            if self.isVisible():
                self.house.begin()
        elif not is_open:
            self._leave_house()
            self.status.clear_status()
            self._stack.setCurrentWidget(self.gate)
        self.actions_box.show_state(is_open=is_open)

    def _leave_house(self) -> None:
        """Nothing of the vault stays in the window once it is locked."""
        self._status.stop()
        self.top.search.setText("")  # not `clear`, which could be undone
        self._box.close()
        self.palette_box.close()
        self.context.selection.current = ""
        self._importing = None
        for dialog in self.findChildren(QDialog):
            if dialog is not self.palette_box and dialog.isVisible():
                dialog.close()
        if self.house is not None:
            self._stack.removeWidget(self.house)
            self.house.deleteLater()
            self.house = None
        self.toasts.clear(everything=True)  # last: what closes may have said something

    def lock(self) -> None:
        """Lock the vault; what is under way stops at its next safe point."""
        engine = self.context.bridge.engine
        if engine.state == "open":
            self.context.tasks.run(query("Locking", engine.vault.lock))

    def _ask_status(self) -> None:
        if self.context.bridge.is_open:
            engine = self.context.bridge.engine
            task = query("Looking at the index", lambda: engine.vault.status(brief=True)).within(self, "status")
            self.context.tasks.run(
                task.success(lambda report: self.status.show_status(report.values)).failure(lambda _: None)
            )

    # ---- what pages and the person ask for

    def go(self, page_id: str, wish: str = "") -> None:
        """Show a page."""
        if self.house is not None:
            self.house.go(page_id, wish)

    def open_import(self, paths: Sequence[Path] = ()) -> None:
        """Open the import of some files, or ask for them."""
        if self.house is None:
            return
        if self._importing is not None:
            self._importing.close()
        made = self._rooms.importing(self.context, list(paths), self)
        self._importing = made
        made.destroyed.connect(lambda: self._forget_import(made))
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        made.open()

    def _forget_import(self, closed: QDialog) -> None:
        if self._importing is closed:
            self._importing = None

    def open_palette(self) -> None:
        """Show the command palette."""
        self.palette_box.open_with(self.actions_box.entries(), self._search_entry if self.house else None)

    def _search_entry(self, typed: str) -> Entry:
        return Entry(
            f"Search the library for “{typed.strip()}”",
            keys_of(QKeySequence.StandardKey.Find),
            "search",
            "",
            lambda: self.context.desk.search.emit(typed.strip()),
        )

    def focus_search(self) -> None:
        """Put the keyboard into the search field."""
        self.top.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.top.search.selectAll()

    def toggle_inspector(self) -> None:
        """Show or hide the inspector."""
        if self.house is not None:
            self.house.toggle_inspector()

    def _looked_at(self, memory_id: str, origin: str) -> None:
        """An answer that was chosen is shown, whatever stands in its way; so is what somebody wants to see closer."""
        if memory_id and origin in {"search", CLOSER} and self.house is not None:
            self.house.show_inspector()

    def _tell(self, sentence: str, action: str, run: Callable[[], None] | None, stays: bool) -> None:
        self.toasts.say(sentence, action, run, stays=stays)

    def _problem(self, problem: Problem) -> None:
        action = ("Try again", problem.retry) if problem.retry is not None else ("", None)
        self.toasts.say(f"{problem.sentence} ({problem.code})", action[0], action[1], stays=problem.family != "user")

    # ---- Qt's events

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Ctrl+L and Ctrl+Q work wherever the keyboard is; a dialog would keep the window's own shortcuts from them."""
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return False
        if event.modifiers() != Qt.KeyboardModifier.ControlModifier:
            return False
        if event.key() == Qt.Key.Key_L and self.house is not None:
            self.lock()
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
        """They are imported, after a rehearsal."""
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        event.acceptProposedAction()
        self.open_import(paths)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """The first page is entered once it can be seen: before, Qt would give the keyboard to the search field."""
        super().showEvent(event)
        if self.house is not None and not self.house.current:
            self.house.begin()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 - Qt's name
        """Remember where it stood; with a tray it may only hide."""
        self.context.prefs.keep(_GEOMETRY, self.saveGeometry())
        self.context.prefs.save()
        if self.may_close:
            event.accept()
        else:
            event.ignore()
            self.hide()
