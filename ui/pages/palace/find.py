"""The find bar over the plan: what is typed is recalled, the answers light up, Enter goes from one to the next.

Must not do: paint the plan, keep what was typed.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QSizePolicy, QWidget

from core.errors import Code, LociError
from core.types.requests import RecallQuery
from core.types.values import OWNER_ACTOR, Memory
from core.types.views import Whereabouts
from ui.bridge import make_query, problem_of
from ui.context import Context
from ui.pages.palace.canvas import PalaceCanvas
from ui.pages.palace.items import RoomItem
from ui.pages.palace.scene import LOCUS, ROOM
from ui.strings import format_count, palace_strings
from ui.widgets.basics import accept_own_key, make_label, make_row, make_timer, make_tool_button, plain_key
from ui.widgets.labels import name_space
from ui.widgets.plaintext import one_line

_PAUSE_MS = 160
_MOST = 12
_NEXT = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down})
_OWN_KEYS = _NEXT | {Qt.Key.Key_Escape, Qt.Key.Key_Up}


class PalaceFindBar(QFrame):
    """A line to type into, below the plan where the sentence on it is.

    Signals:
        edited: another text.
        stepped: to the next (1) or the previous (-1) answer.
        closed: it is put away.
    """

    edited = Signal(str)
    stepped = Signal(int)
    closed = Signal()

    def __init__(self, context: Context, line: QWidget, owner: QWidget) -> None:
        """Make it, hidden.

        Args:
            line: over which it is once it is opened.
            owner: with which it goes if it is never opened.
        """
        super().__init__(owner)
        strings, theme = palace_strings()["find"], context.theme
        self.setObjectName("card")
        self._theme, self._line = theme, line
        self.field = QLineEdit()
        self.field.setPlaceholderText(strings["placeholder"])
        self.field.setAccessibleName(strings["name"])
        self.field.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.count = make_label("", "muted")
        layout = make_row(
            self.field,
            self.count,
            make_tool_button(theme, "chevron-up", strings["previous"], lambda: self.stepped.emit(-1)),
            make_tool_button(theme, "chevron-down", strings["next"], lambda: self.stepped.emit(1)),
            make_tool_button(theme, "circle-x", strings["close"], self.close_bar),
            parent=self,
            gap=6,
        )
        layout.setContentsMargins(8, 4, 8, 4)
        self.field.textChanged.connect(self.edited)
        self.field.installEventFilter(self)
        line.installEventFilter(self)
        self.hide()

    def open_bar(self) -> None:
        """Show it and take the keyboard."""
        self.setParent(self._line.parentWidget())
        self.show()
        self.raise_()
        self._place_bar()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def close_bar(self) -> None:
        """Put it away; what was typed is forgotten."""
        self.field.clear()
        self.count.setText("")
        self.hide()
        self.closed.emit()

    def show_count(self, words: str) -> None:
        """Say how many answers there are, or which one is shown."""
        self.count.setText(words)

    def _place_bar(self) -> None:
        line, high = self._line.geometry(), self.sizeHint().height()
        wide = max(line.width(), self.minimumSizeHint().width())  # nothing of the sentence shows beside it
        self.setGeometry(line.left(), line.center().y() - high // 2, wide, high)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Enter and the arrows go from answer to answer, Esc closes; the bar stays in its corner."""
        if watched is self._line and event.type() in {QEvent.Type.Resize, QEvent.Type.Move} and self.isVisible():
            self._place_bar()
        if watched is not self.field:
            return False
        if accept_own_key(event, lambda key: plain_key(key) in _OWN_KEYS):
            return True
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return False
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_Escape:
            self.close_bar()
        elif key in _NEXT:
            is_back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self.stepped.emit(-1 if is_back else 1)
        elif key == Qt.Key.Key_Up:
            self.stepped.emit(-1)
        else:
            return False
        return True


class PalaceFinder(QObject):
    """Recalls what is typed, marks the answers on the plan and leads to them."""

    def __init__(self, context: Context, canvas: PalaceCanvas, line: QWidget) -> None:
        super().__init__(canvas)
        self._context, self._canvas = context, canvas
        self.bar = PalaceFindBar(context, line, canvas)
        self._typed = ""
        self._found: tuple[str, ...] = ()
        self._at = -1
        self._pause = make_timer(self, self._recall_answers, _PAUSE_MS)
        self.bar.edited.connect(self._on_text_edited)
        self.bar.stepped.connect(self.go_to_answer)
        self.bar.closed.connect(self._on_bar_closed)
        canvas.find_asked.connect(self.bar.open_bar)

    def _on_text_edited(self, typed: str) -> None:
        self._typed = typed.strip()
        if self._typed:
            self._pause.start()
        else:
            self._pause.stop()
            self._show_answers((), is_asked=False)

    def _on_bar_closed(self) -> None:
        self._canvas.setFocus(Qt.FocusReason.OtherFocusReason)

    def _recall_answers(self) -> None:
        typed, engine = self._typed, self._context.bridge.engine
        query = RecallQuery(query=typed, limit=_MOST)
        self._context.tasks.run(
            make_query(palace_strings()["find"]["finding"], lambda: engine.memories.recall(query, OWNER_ACTOR))
            .within(self, "find")
            .success(lambda reply: self._on_recalled(typed, [item.memory for item in reply.result.items]))
            .failure(lambda error: self._on_recall_failed(typed, error))
        )

    def _on_recall_failed(self, typed: str, error: BaseException) -> None:
        """What was not found out is not said: neither that there is nothing nor what was found before."""
        if typed == self._typed:
            self._show_answers((), is_asked=False)
        self._emit_problem(error)

    def _emit_problem(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is not None:
            self._context.tasks.problem.emit(problem)

    def _on_recalled(self, typed: str, memories: Sequence[Memory]) -> None:
        if typed == self._typed:
            self._show_answers(tuple(memory.id for memory in memories), is_asked=True)

    def _show_answers(self, found: tuple[str, ...], *, is_asked: bool) -> None:
        scene = self._canvas.scene
        # Where a room is still to be read, only the engine knows what is there: it is asked when one goes there.
        is_read = all(room.loci is not None for room in scene.rooms.values())
        self._found = tuple(one for one in found if not is_read or scene.spot_of(one) is not None)
        self._at = -1
        self._mark_answers(is_asked=is_asked)

    def _mark_answers(self, *, is_asked: bool) -> None:
        strings = palace_strings()["find"]
        self._canvas.marks.found = frozenset(self._found) if is_asked else None
        words = format_count(strings["count"], len(self._found)) if self._found else strings["none"]
        self.bar.show_count(words if is_asked else "")
        self._canvas.update()

    def go_to_answer(self, step: int) -> None:
        """Lead to the next or the previous answer, into its room.

        Args:
            step: 1 or -1.
        """
        if not self._found:
            return
        self._at = step - 1 if self._at < 0 and step < 0 else (self._at + step) % len(self._found)
        self._at %= len(self._found)
        memory_id = self._found[self._at]
        spot = self._canvas.scene.spot_of(memory_id)
        if spot is None:
            self._find_room(memory_id, step)
            return
        canvas, where = self._canvas, self._canvas.where
        canvas.select_locus(spot)
        if where.level not in {ROOM, LOCUS} or where.room_id != spot.room.id:
            canvas.enter_room(spot.room.id)
        canvas.reveal_locus(spot)
        self._say_place(spot.room)

    def _say_place(self, room: RoomItem) -> None:
        """Say which answer is shown and where it is."""
        strings, place = palace_strings()["find"], {"at": self._at + 1, "count": len(self._found)}
        name, wing = one_line(room.plan.name, 60), name_space(room.wing.space)
        self.bar.show_count(strings["at"].format(room=one_line(room.plan.name, 24), **place))
        self._canvas.said.emit(strings["where"].format(room=name, wing=wing, **place))

    def _find_room(self, memory_id: str, step: int) -> None:
        """Ask where an answer is whose room was not read yet."""
        palace = self._context.bridge.engine.palace
        self._context.tasks.run(
            make_query(palace_strings()["find"]["locating"], lambda: palace.find_locus(memory_id))
            .within(self, "place")
            .success(self._on_locus_found)
            .failure(lambda error: self._on_locus_missing(memory_id, step, error))
        )

    def _is_current(self, memory_id: str) -> bool:
        return 0 <= self._at < len(self._found) and self._found[self._at] == memory_id

    def _on_locus_found(self, found: Whereabouts) -> None:
        room = self._canvas.scene.rooms.get(found.room_id)
        if room is not None and self._is_current(found.memory_id):
            self._canvas.enter_room(room.id)
            self._context.selection.select(found.memory_id, "find")
            self._say_place(room)

    def _on_locus_missing(self, memory_id: str, step: int, error: BaseException) -> None:
        """It has no place: it is no answer on the plan, and the one after it is shown."""
        if not isinstance(error, LociError) or error.code is not Code.NOT_FOUND:
            self._emit_problem(error)
        elif self._is_current(memory_id):
            self._found = tuple(one for one in self._found if one != memory_id)
            self._at -= step > 0
            self._mark_answers(is_asked=True)
            self.go_to_answer(step)
