"""What can be done with a room or a locus of the plan: menus, keys, the small dialogs they need.

Each is one undo step of the engine, said with an Undo beside it. Must not do: paint.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QMenu, QWidget

from ui.bridge import make_write
from ui.context import Context
from ui.pages.palace.canvas import PalaceCanvas
from ui.pages.palace.emblems import EmblemDialog
from ui.pages.palace.items import RoomItem
from ui.pages.palace.scene import PlacedLocus
from ui.strings import palace_strings, window_strings
from ui.undo import offer_undo
from ui.widgets.basics import accept_own_key, make_button, make_column, make_label, make_row, plain_key
from ui.widgets.labels import count_memories
from ui.widgets.plaintext import one_line

_LONGEST_NAME = 64
_OF_A_LOCUS = ("memory.edit", "memory.pin", "memory.move", "memory.archive", "memory.forget")
_KEYS = {"memory.edit": "F2", "memory.pin": "Space", "memory.move": "M", "memory.forget": "Del"}
_OF_MEMORIES = {"pin": "memory.pin", "forget": "memory.forget", "edit": "memory.edit"}
_OF_BOTH = {"rename": "memory.edit", "merge": "memory.move"}
"""Keys that mean one thing on a room and, as in the inspector, another on a memory."""


_OF_A_NAME = frozenset({Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2, Qt.Key.Key_Delete})
"""Keys of a name being written, beyond those every line of text takes for itself; all others are the window's."""


_ENTERS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class RoomNameField(QLineEdit):
    """A room's name, written anew where it is. Enter keeps it, Escape and leaving it do not."""

    def __init__(self, canvas: PalaceCanvas, room: RoomItem, done: Callable[[str], None]) -> None:
        super().__init__(room.plan.name, canvas)
        self._room, self._done, self._canvas = room, done, canvas
        self.setMaxLength(_LONGEST_NAME)
        self.setAccessibleName(palace_strings()["room"]["name"])
        self.selectAll()
        self.returnPressed.connect(self._accept_name)
        canvas.camera.moved.connect(self.close)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        band = canvas.painter.name_rect(room, canvas.camera.lens)
        high = self.sizeHint().height()
        wide = min(max(round(band.width()) - 16, 200), 360, canvas.width() - 8)
        inset = 38  # its text begins where the name does, beside the emblem
        left = min(max(round(band.left()) + inset, 4), canvas.width() - wide - 4)
        top = min(max(round(band.center().y() - high / 2), 4), canvas.height() - high - 4)
        self.setGeometry(left, top, wide, high)
        self.show()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _accept_name(self) -> None:
        name = self.text().strip()
        if name and name != self._room.plan.name:
            self._done(name)
        self._close_field()

    def _close_field(self) -> None:
        self._canvas.setFocus(Qt.FocusReason.OtherFocusReason)
        self.close()

    def event(self, event: QEvent) -> bool:
        """Escape leaves it as it was; so does the keyboard going elsewhere."""
        if accept_own_key(event, lambda key: plain_key(key) in _OF_A_NAME):
            return True
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            self._close_field()
            return True
        handled = super().event(event)
        if event.type() == QEvent.Type.FocusOut and self.isVisible():
            self.close()
        if isinstance(event, QKeyEvent) and event.key() in _ENTERS:
            event.accept()  # a line of text passes Enter on, and the plan below would go in with it
        return handled


class MergeDialog(QDialog):
    """Into which room of its wing a room shall go."""

    def __init__(self, parent: QWidget, room: RoomItem, others: list[RoomItem], done: Callable[[str], None]) -> None:
        """Make it.

        Args:
            parent: over which it is.
            room: the room that goes.
            others: the rooms it may go into.
            done: called with the id of the room that was chosen.
        """
        super().__init__(parent)
        strings = palace_strings()["merge"]
        self.setWindowTitle(strings["title"])
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._done = done
        self.rooms = QListWidget()
        self.rooms.setAccessibleName(strings["rooms"])
        self.rooms.setUniformItemSizes(True)
        for other in sorted(others, key=lambda found: found.plan.name.casefold()):
            item = QListWidgetItem(f"{one_line(other.plan.name, 60)} · {count_memories(other.plan.count)}")
            item.setData(Qt.ItemDataRole.UserRole, other.id)
            self.rooms.addItem(item)
        self.rooms.setCurrentRow(0)
        self.rooms.itemActivated.connect(lambda _: self._on_room_chosen())
        title = make_label(strings["into"].format(name=one_line(room.plan.name, 60)), "section", wrap=True)
        words = make_label(
            strings["hint"],
            "muted",
            wrap=True,
        )
        keep = make_button(strings["act"], self._on_room_chosen, kind="primary")
        keep.setEnabled(bool(others))
        keep.setDefault(True)
        layout = make_column(self, title, words, self.rooms, margins=24, gap=12)
        layout.addLayout(make_row(None, make_button(window_strings()["buttons"]["cancel"], self.reject), keep))
        self.resize(420, 420)

    def _on_room_chosen(self) -> None:
        item = self.rooms.currentItem()
        if item is not None:
            self._done(str(item.data(Qt.ItemDataRole.UserRole)))
            self.accept()


class NewRoomDialog(QDialog):
    """How a new room shall be called."""

    def __init__(self, parent: QWidget, done: Callable[[str], None]) -> None:
        super().__init__(parent)
        strings = palace_strings()
        self.setWindowTitle(strings["new_room"]["title"])
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._done = done
        self.name = QLineEdit()
        self.name.setMaxLength(_LONGEST_NAME)
        self.name.setPlaceholderText(strings["room"]["name"])
        self.name.setAccessibleName(strings["room"]["name"])
        keep = make_button(strings["new_room"]["act"], self._on_name_entered, kind="primary")
        keep.setDefault(True)
        layout = make_column(self, make_label(strings["new_room"]["text"], "section"), self.name, margins=24, gap=12)
        layout.addLayout(make_row(None, make_button(window_strings()["buttons"]["cancel"], self.reject), keep))
        self.resize(400, 150)

    def _on_name_entered(self) -> None:
        name = self.name.text().strip()
        if name:
            self._done(name)
            self.accept()


class PalaceVerbs(QObject):
    """The verbs over one canvas."""

    def __init__(self, context: Context, canvas: PalaceCanvas) -> None:
        super().__init__(canvas)
        self._context, self._canvas = context, canvas
        self.menu = QMenu(canvas)
        canvas.asked.connect(self.run_verb)
        canvas.menu_asked.connect(self.open_menu)

    # ---- by key

    def run_verb(self, verb: str) -> None:
        """Do what a key asked for, with what is selected or under the cursor of the keyboard."""
        spot = self._canvas.scene.spot_of(self._canvas.marks.selected)
        command = (_OF_MEMORIES | _OF_BOTH)[verb]
        strings = palace_strings()["menu"]
        if spot is not None or verb in _OF_MEMORIES:
            if spot is None:
                self._context.desk.show_message(strings["no_memory"])
            else:
                self._run_command(command)
            return
        room = self._canvas.scene.rooms.get(self._canvas.marks.cursor_room or self._canvas.where.room_id)
        if room is None:
            self._context.desk.show_message(strings["no_room"])
        elif verb == "rename":
            self.start_rename(room)
        else:
            self.ask_merge(room)

    def _run_command(self, command_id: str) -> None:
        if any(command.id == command_id for command in self._context.commands.list_commands()):
            self._context.commands.run(command_id)

    # ---- by menu

    def open_menu(self, target: object, at: QPoint) -> None:
        """Open the menu of a locus or a room."""
        self.menu.clear()
        if isinstance(target, PlacedLocus):
            self._offer_locus(target)
        elif isinstance(target, RoomItem):
            self._offer_room(target)
        self.menu.popup(at)

    def _add_action(self, title: str, run: Callable[[], object], keys: str = "", icon: str = "") -> None:
        # After a tab a menu shows keys; as a shortcut of the action they would clash with the window's own.
        native = QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
        action = self.menu.addAction(title.replace("&", "&&") + (f"\t{native}" if native else ""))
        if icon:
            action.setIcon(self._context.theme.icon(icon))
        action.triggered.connect(lambda: run())

    def _offer_locus(self, spot: PlacedLocus) -> None:
        known = {command.id: command for command in self._context.commands.list_commands()}
        titles = palace_strings()["menu"]
        self._add_action(titles["closer"], lambda: self._canvas.enter_locus(spot), "Return", "zoom-in")
        self.menu.addSeparator()
        for command_id in _OF_A_LOCUS:
            if command_id in known:
                command = known[command_id]
                keys = _KEYS.get(command_id, "")
                self._add_action(command.title, partial(self._run_command, command_id), keys, command.icon)
        self.menu.addSeparator()
        memory_id = spot.id
        strings, is_landmark = palace_strings()["landmark"], spot.at in spot.room.landmarks
        self._add_action(
            strings["unset" if is_landmark else "set"],
            lambda: self.mark_landmark(memory_id, not is_landmark),
            icon="star",
        )
        self._add_action(titles["new_room"], lambda: self.ask_new_room(memory_id, spot.room.wing.space), icon="plus")
        self._add_action(
            titles["graph"], lambda: self._context.desk.go.emit("graph", f"show:{memory_id}"), icon="share-2"
        )

    def _offer_room(self, room: RoomItem) -> None:
        strings = palace_strings()["menu"]
        self._add_action(strings["enter"], lambda: self._canvas.enter_room(room.id), "Return", "zoom-in")
        self.menu.addSeparator()
        self._add_action(strings["rename"], lambda: self.start_rename(room), "F2", "pencil")
        self._add_action(strings["emblem"], lambda: self.ask_emblem(room), icon="palette")
        self._add_action(strings["merge"], lambda: self.ask_merge(room), "M", "git-merge")
        self.menu.addSeparator()
        self._add_action(
            strings["library"], lambda: self._context.desk.search.emit(self.search_term_of(room)), icon="library"
        )

    def search_term_of(self, room: RoomItem) -> str:
        """The search that finds what is in a room; rooms of other spaces may have its name."""
        library = self._context.bridge.engine.library
        return library.with_term(library.with_term("", "space", room.wing.space), "room", room.plan.name)

    # ---- verbs of rooms

    def start_rename(self, room: RoomItem) -> RoomNameField:
        """Write a room's name anew, in its place."""
        room_id, palace = room.id, self._context.bridge.engine.palace
        strings = palace_strings()["room"]
        return RoomNameField(
            self._canvas,
            room,
            lambda name: self._run_write(
                strings["renaming"], lambda: palace.rename_room(room_id, name), strings["renamed"]
            ),
        )

    def ask_emblem(self, room: RoomItem) -> EmblemDialog:
        """Ask which emblem it shall have."""
        room_id, palace = room.id, self._context.bridge.engine.palace
        strings = palace_strings()["emblem"]
        dialog = EmblemDialog(
            self._canvas,
            self._context.theme,
            "" if room.plan.furnishing is None else room.plan.furnishing.emblem,
            lambda name: self._run_write(
                strings["changing"], lambda: palace.set_emblem(room_id, name), strings["done"]
            ),
        )
        dialog.open()
        return dialog

    def mark_landmark(self, memory_id: str, is_wanted: bool) -> None:
        """Make a memory a landmark of its room, or let it be none."""
        strings, palace = palace_strings()["landmark"], self._context.bridge.engine.palace
        mark = palace.set_landmark if is_wanted else palace.unset_landmark
        title = strings["set" if is_wanted else "unset"]
        self._run_write(title, lambda: mark(memory_id), strings["set_done" if is_wanted else "unset_done"])

    def ask_merge(self, room: RoomItem) -> MergeDialog | None:
        """Ask into which room it shall go."""
        others = [other for other in self._canvas.scene.rooms_of_wing(room.wing.id) if other is not room]
        strings = palace_strings()["merge"]
        if not others:
            self._context.desk.show_message(strings["none"])
            return None
        room_id, palace = room.id, self._context.bridge.engine.palace
        dialog = MergeDialog(
            self._canvas,  # it goes with the page: not a word of the vault is shown over a locked window
            room,
            others,
            lambda into: self._run_write(
                strings["merging"], lambda: palace.merge_rooms(room_id, into), strings["done"]
            ),
        )
        dialog.open()
        return dialog

    def ask_new_room(self, memory_id: str, space: str) -> NewRoomDialog:
        """Ask for the name of a room that a memory shall have to itself at first."""
        palace = self._context.bridge.engine.palace
        strings = palace_strings()["new_room"]
        dialog = NewRoomDialog(
            self._canvas,
            lambda name: self._run_write(
                strings["making"],
                lambda: palace.make_room(space, name, (memory_id,)),
                strings["done"],
            ),
        )
        dialog.open()
        return dialog

    def _run_write(self, title: str, begin: Callable[[], Future[str]], sentence: str) -> None:
        context = self._context
        context.tasks.run(make_write(title, begin).success(lambda step_id: offer_undo(context, sentence, step_id)))
