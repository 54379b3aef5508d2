"""Menus, shortcuts and the command palette (Ctrl+K): one list of commands for all three.

Must not do: carry out anything itself; it asks the window or the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QAction, QFontMetrics, QHideEvent, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import QApplication, QDialog, QFrame, QLineEdit, QMenu, QVBoxLayout, QWidget

from core.config.option_rows import replace_option
from core.types.replies import StepRow
from core.types.values import OWNER_ACTOR
from ui.bridge import Running, make_query, make_write
from ui.context import Command, Context, PageSpec
from ui.lists.list_view import AfterRemoval, ListView
from ui.lists.row_spec import MIDDLE, RIGHT, RowSpec, RowState
from ui.strings import command_strings, undo_strings
from ui.theme.theme import Theme
from ui.theme.tokens import sizes
from ui.undo import describe_nothing_to_undo, report_undo
from ui.widgets.basics import make_timer

WIDTH, HEIGHT = 600, 420


@dataclass(frozen=True, slots=True)
class PaletteEntry:
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


def shortcut_text(shortcut: QKeySequence.StandardKey | str | None) -> str:
    """A shortcut in the words of this platform."""
    if shortcut is None:
        return ""
    return QKeySequence(shortcut).toString(QKeySequence.SequenceFormat.NativeText)


def rank_entries(entries: Sequence[PaletteEntry], typed: str) -> list[PaletteEntry]:
    """The entries that match, best first.

    Args:
        typed: words; each must begin a word of the title or occur in title or words.

    Returns:
        Those whose words all occur; earlier and in the title counts more. All of them for nothing typed.
    """
    wanted = typed.casefold().split()
    scored = []
    for place, entry in enumerate(entries):
        title, more = entry.title.casefold(), entry.words.casefold()
        scores = [_score_entry_word(word, title, more) for word in wanted]
        if all(scores):
            scored.append((-sum(scores), place, entry))
    return [entry for _, _, entry in sorted(scored, key=lambda one: one[:2])]


def _score_entry_word(word: str, title: str, more: str) -> int:
    if title.startswith(word) or title.replace(" ", "").startswith(word):  # "backup" is "Back up now"
        return 4
    if any(part.startswith(word) for part in title.split()):
        return 3
    return 2 if word in title else 1 if word in more else 0


class PaletteRows(RowSpec[PaletteEntry]):
    """How entries look: icon, title, hint."""

    def row_key(self, row: PaletteEntry) -> str:
        """Its title with its hint."""
        return f"{row.title}\n{row.hint}"

    def accessible_text(self, row: PaletteEntry) -> str:
        """The title of the command."""
        return row.title

    def tool_tip(self, _row: PaletteEntry) -> str:
        """No tooltip."""
        return ""

    def row_height(self, _row: PaletteEntry, _place: int) -> int:
        """All are of one height."""
        return self.theme.px(sizes().row)

    def paint_background(self, painter: QPainter, rect: QRect, _row: PaletteEntry, state: RowState) -> None:
        """A rounded field where Enter would take it."""
        if state.is_chosen:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.theme.colour("accent_soft"))
            painter.drawRoundedRect(rect.adjusted(4, 1, -4, -1), 8, 8)

    def draw_row(self, painter: QPainter, rect: QRect, row: PaletteEntry, state: RowState) -> None:
        """Its icon, its title, its hint."""
        theme, small = self.theme, self.theme.font("small")
        side = theme.px(16)
        if row.icon:
            icon = theme.icon(row.icon, "accent" if state.is_chosen else "muted").pixmap(QSize(side, side))
            painter.drawPixmap(QPoint(rect.x() + 16, rect.y() + (rect.height() - side) // 2), icon)
        self.draw_text(painter, rect.adjusted(0, 0, -16, 0), row.hint, "muted", small, RIGHT | MIDDLE)
        room = rect.adjusted(28 + side, 0, -32 - QFontMetrics(small).horizontalAdvance(row.hint), 0)
        self.draw_text(painter, room, row.title, "ink", theme.font("body"))


class CommandPalette(QDialog):
    """A field and what matches it; arrows and Enter, Esc closes."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        strings = command_strings()["palette"]
        self.setAccessibleName(strings["title"])
        self._theme, self._host = theme, parent
        self._entries: Sequence[PaletteEntry] = ()
        self._last: Callable[[str], PaletteEntry] | None = None
        frame = QFrame()
        frame.setObjectName("card")
        self.field = QLineEdit()
        self.field.setPlaceholderText(strings["placeholder"])
        self.field.setAccessibleName(strings["field"])
        self.field.textChanged.connect(self._filter_entries)
        self.field.installEventFilter(self)
        self.list = ListView(PaletteRows(theme), strings["list"], keep=AfterRemoval.TOP)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.clicked.connect(lambda _: self._run_entry(self.list.current))
        inner = QVBoxLayout(frame)
        inner.setContentsMargins(8, 8, 8, 8)
        inner.addWidget(self.field)
        inner.addWidget(self.list)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(frame)

    def open_with(self, entries: Sequence[PaletteEntry], last: Callable[[str], PaletteEntry] | None = None) -> None:
        """Open the palette over the window.

        Args:
            entries: what can be done now.
            last: makes an entry of whatever was typed, shown last: search for it.
        """
        self._entries, self._last = entries, last
        self.field.clear()
        self._filter_entries("")
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

    def list_titles(self) -> list[str]:
        """What is offered at present."""
        return [entry.title for entry in self.list.lines.list_rows()]

    def _filter_entries(self, typed: str) -> None:
        found = rank_entries(self._entries, typed)
        if typed.strip() and self._last is not None:
            found.append(self._last(typed))
        self.list.show_lines(found)
        self.list.select_near(0)

    def _run_entry(self, entry: PaletteEntry | None) -> None:
        if entry is not None:
            self.close()
            entry.run()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Arrows and Enter work while the field has the keyboard."""
        if watched is self.field and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}
            if event.key() in steps:
                row = self.list.currentIndex().row() + steps[Qt.Key(event.key())]
                self.list.select_near(max(0, min(self.list.lines.rowCount() - 1, row)))
                return True
            if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
                self._run_entry(self.list.current)
                return True
        return False


_STEPS = ("edit.undo", "edit.redo")
_THEMES = (("system", "monitor"), ("light", "sun"), ("dark", "moon"))
_ASK_MS = 150
DIGITS = 9
"""The first pages have a digit of their own."""

_SIZES = (100, 110, 125, 150)
_KEYS = QKeySequence.StandardKey


def _make_command(
    command_id: str,
    run: Callable[[], None],
    shortcut: QKeySequence.StandardKey | str | None,
    icon: str,
    *,
    needs_vault: bool = True,
) -> Command:
    """A command by the words of its id, in the menu its id begins with."""
    strings, menu = command_strings()["commands"][command_id], command_id.partition(".")[0]
    words = strings.get("words", "")
    return Command(command_id, strings["title"], run, menu, shortcut, icon, needs_vault=needs_vault, words=words)


@dataclass(frozen=True, slots=True)
class WindowCommands:
    """What the window itself can be told to do."""

    write_memory: Callable[[], None]
    lock: Callable[[], None]
    focus_search: Callable[[], None]
    open_palette: Callable[[], None]
    toggle_inspector: Callable[[], None]
    open_manual: Callable[[], None]
    open_glossary: Callable[[], None]


class WindowActions(QObject):
    """Keeps one `QAction` for every command.

    Attributes:
        menu: the window's menu, with a submenu each for File, Edit, View, Go and Help.
    """

    def __init__(self, window: QWidget, own: WindowCommands, context: Context, pages: Sequence[PageSpec]) -> None:
        """Make the commands of every window; those of its pages come and go with `context.commands`.

        Args:
            window: parent of the menu, where the keys work.
            own: what the window can be told to do.
            context: shared by all parts.
            pages: to which one can go.
        """
        super().__init__(window)
        self._window, self._context, self._pages = window, context, pages
        self._is_open = self._is_inspecting = False
        self._is_undoing = False
        self._running: Running | None = None
        self.menu = QMenu(window)
        self._menus = {name: self.menu.addMenu(title) for name, title in command_strings()["menus"].items()}
        self._actions: dict[str, QAction] = {}
        self._ask = make_timer(self, self._request_steps)
        context.commands.changed.connect(self._add_new_commands)
        for command in self._base_commands(own):
            context.commands.add(command)
        context.bridge.changed.connect(lambda _: self._ask.start(_ASK_MS))
        context.tasks.settled.connect(lambda: self._ask.start(_ASK_MS))

    def _base_commands(self, own: WindowCommands) -> list[Command]:
        desk = self._context.desk
        known = (
            _make_command("file.new", own.write_memory, _KEYS.New, "plus"),
            _make_command("file.attach", lambda: desk.attach_paths.emit([]), "Ctrl+Shift+A", "file"),
            _make_command("file.import", lambda: desk.import_paths.emit([]), "Ctrl+O", "import"),
            _make_command("file.sealed", lambda: desk.seal.emit(()), None, "key-round"),
            _make_command("file.lock", own.lock, "Ctrl+L", "lock"),
            _make_command("file.quit", QApplication.quit, "Ctrl+Q", "power", needs_vault=False),
            _make_command("edit.undo", lambda: self._request_undo("edit.undo"), _KEYS.Undo, "undo-2"),
            _make_command("edit.redo", lambda: self._request_undo("edit.redo"), "Ctrl+Shift+Z", "redo-2"),
            _make_command("edit.find", own.focus_search, _KEYS.Find, "search"),
            _make_command("view.commands", own.open_palette, "Ctrl+K", "command", needs_vault=False),
            _make_command("view.inspector", own.toggle_inspector, "Ctrl+I", "columns-3"),
            *(
                _make_command(f"view.theme.{name}", self._make_setter("theme", name), None, icon, needs_vault=False)
                for name, icon in _THEMES
            ),
            replace(
                _make_command("view.larger", lambda: self._step_text_size(1), _KEYS.ZoomIn, "zoom-in",
                              needs_vault=False),
                more_shortcuts=("Ctrl+=",),
            ),
            _make_command("view.usual", self._make_setter("text_size", _SIZES[0]), "Ctrl+0", "rotate-ccw",
                          needs_vault=False),
            _make_command("view.smaller", lambda: self._step_text_size(-1), _KEYS.ZoomOut, "zoom-out",
                          needs_vault=False),
        )  # fmt: skip
        go = (
            Command(
                f"go.{page.id}",
                command_strings()["go"].format(page=page.title),
                lambda page=page: desk.go.emit(page.id, ""),  # type: ignore[misc]  # mypy infers no lambda with defaults
                "go",
                f"Ctrl+{number}" if number <= DIGITS else None,
                page.icon,
                words=page.words,
            )
            for number, page in enumerate(self._pages, 1)
        )
        return [
            *known,
            *go,
            _make_command("help.manual", own.open_manual, None, "notebook", needs_vault=False),
            _make_command("help.glossary", own.open_glossary, None, "circle-help", needs_vault=False),
        ]

    def _make_setter(self, name: str, value: object) -> Callable[[], None]:
        return lambda: self._context.prefs.change_options(lambda options: replace_option(options, name, value))

    def _step_text_size(self, step: int) -> None:
        now = self._context.prefs.options.text_size
        place = min(range(len(_SIZES)), key=lambda i: abs(_SIZES[i] - now)) + step
        self._make_setter("text_size", _SIZES[max(0, min(len(_SIZES) - 1, place))])()

    def _add_new_commands(self) -> None:
        for command in self._context.commands.list_commands():
            if command.id not in self._actions:
                self._add_command(command)

    def _add_command(self, command: Command) -> None:
        action = QAction(command.title, self._window)
        action.triggered.connect(lambda: self._context.commands.run(command.id))
        if command.shortcut is not None:
            action.setShortcuts([QKeySequence(keys) for keys in (command.shortcut, *command.more_shortcuts)])
        action.setEnabled(self._is_available(command))
        # Added to the window too: its keys work although the menu is never opened.
        self._window.addAction(action)
        if command.menu:
            self._menus[command.menu].addAction(action)
        self._actions[command.id] = action

    def show_state(self, *, is_open: bool) -> None:
        """Enable what makes sense now."""
        self._is_open = is_open
        for command in self._context.commands.list_commands():
            self._actions[command.id].setEnabled(self._is_available(command))
        if is_open:
            self._request_steps()
        else:  # the names of steps are the vault's
            for name in _STEPS:
                self._show_step(name, None)

    def show_inspector(self, is_seen: bool) -> None:
        """Enable what acts on the memory in the inspector, if anybody can see it.

        Args:
            is_seen: whether the inspector is beside the page.
        """
        self._is_inspecting = is_seen
        for command in self._context.commands.list_commands():
            if command.needs_inspector:
                self._actions[command.id].setEnabled(self._is_available(command))

    def _is_available(self, command: Command) -> bool:
        return (self._is_open or not command.needs_vault) and (self._is_inspecting or not command.needs_inspector)

    def palette_entries(self) -> list[PaletteEntry]:
        """What the command palette offers now."""
        return [
            PaletteEntry(
                self._actions[command.id].text().replace("&&", "&"),
                shortcut_text(command.shortcut),
                command.icon,
                command.words,
                lambda command=command: self._context.commands.run(command.id),  # type: ignore[misc]  # mypy infers no lambda with defaults
            )
            for command in self._context.commands.list_commands()
            if self._actions[command.id].isEnabled() and command.id != "view.commands"
        ]

    # ---- undo and redo

    def _request_steps(self) -> None:
        if not self._context.bridge.is_open:
            return
        journal = self._context.bridge.engine.history
        for name, begin in zip(_STEPS, (journal.next_undo, journal.next_redo), strict=True):
            task = make_query(undo_strings()["reading"], begin).within(self, name).failure(lambda _: None)
            self._context.tasks.run(
                task.success(lambda step, name=name: self._show_step(name, step))  # type: ignore[misc]  # mypy infers no lambda with defaults
            )

    def _show_step(self, name: str, step: StepRow | None) -> None:
        title = command_strings()["commands"][name]["title"]
        label = "" if step is None else step.label.removeprefix("Undo: ").removeprefix("Redo: ")
        self._actions[name].setText(f"{title}: {label}".replace("&", "&&") if label else title)
        # Ctrl+Z always answers: a change of a moment ago has no name here yet, and where nothing is the person's it
        # says where to look for the rest.
        self._actions[name].setEnabled(self._is_open and (step is not None or name == "edit.undo"))

    def _request_undo(self, name: str) -> None:
        # Asked anew: the step the menu names may be older than a change of a moment ago, and another one would go.
        if self._is_undoing:
            return  # a second Ctrl+Z before the first is done would mean the same step
        self._is_undoing = True
        journal = self._context.bridge.engine.history
        begin = journal.next_undo if name == "edit.undo" else journal.next_redo
        task = make_query(undo_strings()["reading"], begin).success(lambda step: self._undo_step(name, step))
        self._context.tasks.run(task).ended.connect(self._on_steps_asked)

    def _on_steps_asked(self) -> None:
        self._is_undoing = self._running is not None and not self._running.is_over

    def _on_undo_settled(self) -> None:
        self._running, self._is_undoing = None, False

    def _undo_step(self, name: str, step: StepRow | None) -> None:
        engine = self._context.bridge.engine
        if step is None:
            self._context.desk.show_message(describe_nothing_to_undo(name))
            return
        act = name.removeprefix("edit.")
        undoing = make_write(undo_strings()["undoing"], lambda: engine.memories.undo_step(step.id, OWNER_ACTOR))
        self._running = self._context.tasks.run(undoing.success(lambda report: report_undo(self._context, report, act)))
        self._running.ended.connect(self._on_undo_settled)
        self._is_undoing = True
