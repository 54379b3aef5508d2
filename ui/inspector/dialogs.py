"""The dialogs of the inspector: one moves a memory to another space or room, one holds back everything from a source.

What would happen, or would be refused, is said before it is tried. Must not do: move or hold what was not shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QKeyEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QWidget

from core.types.reviews import HoldPreview, HoldReply, HoldRequest
from core.types.values import Memory
from core.types.views import Facets, MemoryRow, PalacePlan, Revision, RevisionPreview, RevisionReport, Whereabouts
from ui.bridge import make_query, make_write, problem_of
from ui.context import Context
from ui.strings import belief_strings, format_count, inspector_strings, window_strings
from ui.widgets.basics import Segments, make_button, make_card, make_column, make_label, make_row, make_timer
from ui.widgets.labels import KIND_WORDS, count_memories, name_space
from ui.widgets.plaintext import one_line
from ui.widgets.shapes import KIND_TOKENS, kind_pixmap

_LISTED = 200
_HEAD = 160


def hold_requests(memory: Memory, client: str | None) -> dict[str, HoldRequest]:
    """What can be held back where a memory comes from.

    Args:
        client: the name of the client that brought it; None where none did.

    Returns:
        The requests by what they are called in `HoldRequest.by`.
    """
    keys = {
        "memory": memory.id,
        "conversation": memory.conversation_id,
        "import": memory.import_id,
        "client": client if memory.client_id is not None else None,
    }
    return {by: HoldRequest(by, key) for by, key in keys.items() if key}


class HoldDialog(QDialog):
    """Asks which source, shows what it would hold, holds it.

    Signals:
        held: (how many, id of the undo step).
    """

    held = Signal(int, str)

    def __init__(self, context: Context, memory: Memory, client: str | None, parent: QWidget) -> None:
        """Make it.

        Args:
            memory: the memory whose source it is.
            client: the name of the client that brought it; None where none did.
            parent: the inspector; the dialog goes with it when the vault is locked.
        """
        super().__init__(parent)
        strings = belief_strings()["hold"]
        self.setWindowTitle(strings["title"])
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._context, self._requests = context, hold_requests(memory, client)
        self._preview: HoldPreview | None = None
        name = one_line(client or "", 24)
        choices = tuple((by, str(strings["by"][by]).format(name=name)) for by in self._requests)
        self.sources = Segments(choices, "memory", inspector_strings()["hold"]["source"])
        self.sources.chosen.connect(self._request_count)
        self.found = make_label("", "strong", wrap=True)
        self.list = QListWidget()
        self.list.setAccessibleName(inspector_strings()["hold"]["list"])
        self.list.setUniformItemSizes(True)
        self.note = make_label("", "muted", wrap=True)
        self.go_button = make_button("", self._hold_source, kind="danger")
        self._build_layout(strings)
        self._request_count()

    def _build_layout(self, strings: dict[str, str]) -> None:
        frame, inside = make_card(margins=6)
        inside.addWidget(self.list)
        outer = make_column(
            self, make_label(strings["title"], "section"), make_label(strings["sentence"], "muted", wrap=True), gap=12
        )
        outer.setContentsMargins(20, 20, 20, 20)
        for widget in (self.sources, self.found, frame, self.note):
            outer.addWidget(widget)
        outer.addLayout(make_row(None, make_button(window_strings()["buttons"]["cancel"], self.reject), self.go_button))
        px = self._context.theme.px
        self.resize(px(480), px(480))

    # ---- what it would hold

    def _request_count(self, _by: str = "") -> None:
        self._preview = None
        self.list.clear()
        self._show_note("")
        self._show_button(0)
        self.found.setText(belief_strings()["hold"]["counting"])
        request, conflicts = self._requests[self.sources.current], self._context.bridge.engine.conflicts
        task = make_query(inspector_strings()["tasks"]["source"], lambda: conflicts.hold_preview(request)).within(
            self, "preview"
        )
        self._context.tasks.run(task.success(self._on_memories_counted).failure(self._on_task_failed))

    def _on_memories_counted(self, preview: HoldPreview) -> None:
        strings = belief_strings()["hold"]
        self._preview = preview
        parts = (
            [format_count(strings["found"], preview.memories)] if preview.memories else [strings["nothing"].rstrip(".")]
        )
        if preview.derived and preview.derived < preview.memories:
            parts.append(format_count(strings["derived"], preview.derived))
        self.found.setText(". ".join(parts) + ".")
        shown = preview.ids[:_LISTED]
        more = preview.memories > len(shown)
        self._show_note(strings["more"].format(count=len(shown)) if more else "")
        self._show_button(preview.memories)
        library = self._context.bridge.engine.library
        task = make_query(inspector_strings()["tasks"]["hold_list"], lambda: library.read_rows(shown)).within(
            self, "rows"
        )
        self._context.tasks.run(task.success(self._list_memories))

    def _list_memories(self, rows: Sequence[MemoryRow]) -> None:
        theme = self._context.theme
        self.list.clear()
        for shown in rows:
            mark = kind_pixmap(shown.kind, theme.px(14), theme.colour(KIND_TOKENS[shown.kind]))
            item = QListWidgetItem(QIcon(mark), one_line(shown.head, _HEAD))
            item.setSizeHint(QSize(40, theme.px(30)))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{KIND_WORDS[shown.kind]}: {item.text()}")
            self.list.addItem(item)

    def _show_button(self, count: int) -> None:
        text = format_count(belief_strings()["hold"]["button"], count) if count else belief_strings()["hold"]["title"]
        self.go_button.setText(text)
        self.go_button.setAccessibleName(text)
        self.go_button.setEnabled(count > 0)

    def _show_note(self, sentence: str) -> None:
        self.note.setText(sentence)
        self.note.setVisible(bool(sentence))

    def _on_task_failed(self, error: BaseException) -> None:
        problem = problem_of(error)
        self.found.setText("")
        self._show_note("" if problem is None else problem.sentence)
        self._show_button(0)

    # ---- doing it

    def _hold_source(self) -> None:
        if self._preview is None:
            return
        self._show_button(0)
        request, conflicts = self._requests[self.sources.current], self._context.bridge.engine.conflicts
        task = make_write(inspector_strings()["tasks"]["hold"], lambda: conflicts.hold_source(request)).within(self)
        self._context.tasks.run(task.success(self._finish_hold).failure(self._on_task_failed))

    def _finish_hold(self, done: HoldReply) -> None:
        self.held.emit(len(done.ids), done.step_id)
        self.accept()


SPACE, ROOM = "space", "room"
_CHECK_MS = 120


@dataclass(frozen=True, slots=True)
class MovePlace:
    """Somewhere the memory can go.

    Attributes:
        id: of a room; the name of a space.
        name: as it is shown.
        hint: on the right, such as how many memories are there.
        x: middle of a room, plan units; `y` likewise.
    """

    id: str
    name: str
    hint: str = ""
    x: float = 0.0
    y: float = 0.0


class MoveDialog(QDialog):
    """Asks where to.

    Signals:
        moved: (name of where it is now, id of the undo step).
    """

    moved = Signal(str, str)

    def __init__(self, context: Context, memory: Memory, parent: QWidget) -> None:
        """Make it.

        Args:
            parent: the inspector; the dialog goes with it when the vault is locked.
        """
        super().__init__(parent)
        strings = inspector_strings()["move"]
        self.setWindowTitle(strings["title"])
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._context, self._memory = context, memory
        self._places: Mapping[str, list[MovePlace]] = {SPACE: [], ROOM: []}
        self._notes = {SPACE: strings["reading_spaces"], ROOM: strings["reading_rooms"]}
        self._where: Whereabouts | None = None
        self.kinds = Segments(((SPACE, strings["to_space"]), (ROOM, strings["to_room"])), SPACE, strings["kind"])
        self.kinds.chosen.connect(self._on_kind_chosen)
        self.field = QLineEdit()
        self.field.setAccessibleName(strings["field"])
        self.field.textChanged.connect(self._filter_places)
        self.field.installEventFilter(self)
        self.list = QListWidget()
        self.list.setAccessibleName(strings["list"])
        self.list.currentItemChanged.connect(self._on_place_chosen)
        self.list.itemDoubleClicked.connect(self._move_memory)
        self.note = make_label("", "muted", wrap=True)
        self.go_button = make_button(strings["button"], self._move_memory, kind="primary")
        buttons = make_row(None, make_button(window_strings()["buttons"]["cancel"], self.reject), self.go_button)
        outer = make_column(self, margins=20, gap=12)
        frame, inside = make_card(margins=6)
        inside.addWidget(self.list)
        for widget in (make_label(strings["title"], "section"), self.kinds, self.field, frame, self.note):
            outer.addWidget(widget)
        outer.addLayout(buttons)
        self.resize(context.theme.px(400), context.theme.px(440))
        self._check = make_timer(self, self._request_preview)
        self._request_places()
        self._on_kind_chosen()
        self.field.setFocus()

    # ---- what there is

    def _request_places(self) -> None:
        strings = inspector_strings()["tasks"]
        engine, tasks = self._context.bridge.engine, self._context.tasks
        tasks.run(
            make_query(strings["spaces"], engine.library.count_facets)
            .within(self, "facets")
            .success(self._on_spaces_read)
        )
        where = make_query(strings["place"], lambda: engine.palace.find_locus(self._memory.id))
        tasks.run(where.within(self, "where").success(self._on_place_found).failure(self._on_place_missing))

    def _on_spaces_read(self, facets: Facets) -> None:
        self._notes[SPACE] = inspector_strings()["move"]["no_space"]
        names = sorted((name for name in facets.spaces if name != self._memory.space), key=str.casefold)
        self._places = {
            **self._places,
            SPACE: [MovePlace(n, name_space(n), count_memories(facets.spaces[n])) for n in names],
        }
        self._filter_places()

    def _on_place_found(self, where: Whereabouts) -> None:
        self._where = where
        engine = self._context.bridge.engine
        task = make_query(inspector_strings()["tasks"]["plan"], engine.palace.read_plan).within(self, "plan")
        self._context.tasks.run(task.success(self._on_rooms_read))

    def _on_place_missing(self, _error: BaseException) -> None:
        self._notes[ROOM] = inspector_strings()["move"]["no_place"]
        self._filter_places()

    def _on_rooms_read(self, plan: PalacePlan) -> None:
        found = [
            MovePlace(room.id, one_line(room.name, 60), count_memories(room.count), room.w / 2, room.h / 2)
            for wing in plan.wings
            if self._where is not None and wing.id == self._where.wing_id
            for room in wing.rooms
            if room.id != self._where.room_id
        ]
        self._places = {**self._places, ROOM: found}
        self._notes[ROOM] = "" if found else inspector_strings()["move"]["no_room"]
        self._filter_places()

    def _on_kind_chosen(self, _value: str = "") -> None:
        strings = inspector_strings()["move"]
        is_space = self.kinds.current == SPACE
        self.field.setPlaceholderText(strings["space_field"] if is_space else strings["room_field"])
        self._filter_places()

    def _filter_places(self, _typed: str = "") -> None:
        typed, kind = self.field.text().strip(), self.kinds.current
        matching = [place for place in self._places[kind] if typed.casefold() in place.name.casefold()]
        exact = any(place.id == typed for place in matching) or typed == self._memory.space
        if kind == SPACE and typed and not exact:
            matching.append(MovePlace(typed, inspector_strings()["move"]["new_space"].format(name=one_line(typed, 60))))
        self.list.clear()
        for place in matching:
            item = QListWidgetItem(f"{place.name}  ·  {place.hint}" if place.hint else place.name)
            item.setSizeHint(QSize(40, self._context.theme.px(32)))
            item.setData(Qt.ItemDataRole.UserRole, place)
            self.list.addItem(item)
        self.list.setCurrentRow(0)
        self._on_place_chosen()

    # ---- what is chosen

    @property
    def chosen(self) -> MovePlace | None:
        """Where it shall go."""
        item = self.list.currentItem()
        place: MovePlace | None = None if item is None else item.data(Qt.ItemDataRole.UserRole)
        return place

    def _on_place_chosen(self, *_: object) -> None:
        strings = inspector_strings()["move"]
        place = self.chosen
        self.go_button.setEnabled(place is not None)
        name = "" if place is None else one_line(place.id if self.kinds.current == SPACE else place.name, 24)
        words = strings["button_to"].format(name=name) if name else strings["button"]
        self.go_button.setText(words.replace("&", "&&"))
        self.go_button.setAccessibleName(words)
        self.note.setText(self._notes[self.kinds.current] if place is None else "")
        if place is not None and self.kinds.current == SPACE:
            self._check.start(_CHECK_MS)

    def _request_preview(self) -> None:
        place = self.chosen
        if place is None or self.kinds.current != SPACE:
            return
        library = self._context.bridge.engine.library
        task = make_query(
            inspector_strings()["tasks"]["preview"],
            lambda: library.preview_revision((self._memory.id,), Revision(space=place.id)),
        )
        self._context.tasks.run(task.within(self, "preview").success(self._show_preview).failure(self._on_task_failed))

    def _show_preview(self, preview: RevisionPreview) -> None:
        self.note.setText(" ".join(preview.refused))
        self.go_button.setEnabled(preview.changes > 0)

    def _on_task_failed(self, error: BaseException) -> None:
        problem = problem_of(error)
        self.note.setText("" if problem is None else problem.sentence)
        self.go_button.setEnabled(False)

    def _move_memory(self, *_: object) -> None:
        strings = inspector_strings()["tasks"]
        place = self.chosen
        if place is None or not self.go_button.isEnabled():
            return
        self.go_button.setEnabled(False)
        engine, memory = self._context.bridge.engine, self._memory
        if self.kinds.current == SPACE:
            space = make_write(
                strings["move"], lambda: engine.library.revise_memories((memory.id,), Revision(space=place.id))
            )
            self._context.tasks.run(
                space.within(self)
                .success(lambda done: self._on_space_revised(place, done))
                .failure(self._on_task_failed)
            )
        else:
            room = make_write(strings["move"], lambda: engine.palace.move_locus(memory.id, place.id, place.x, place.y))
            self._context.tasks.run(
                room.within(self)
                .success(lambda step: self._finish_move(place.name, step))
                .failure(self._on_task_failed)
            )

    def _on_space_revised(self, place: MovePlace, report: RevisionReport) -> None:
        if report.step_id is None:
            self.note.setText(" ".join(report.refused) or inspector_strings()["move"]["already_there"])
        else:
            self._finish_move(one_line(place.id, 40), report.step_id)

    def _finish_move(self, name: str, step_id: str) -> None:
        self.moved.emit(name, step_id)
        self.close()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Arrows walk the list while the field has the keyboard."""
        if watched is self.field and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
            if event.key() in steps and self.list.count():
                at = self.list.currentRow() + steps[Qt.Key(event.key())]
                self.list.setCurrentRow(max(0, min(self.list.count() - 1, at)))
                return True
        return False
