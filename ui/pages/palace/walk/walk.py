"""The walk along the landmarks of a wing, and their rehearsal: reads them, moves the camera, hands grades on.

Nothing is kept unless a landmark is graded. Must not do: paint.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from core.events import Changed
from core.types.views import Grade, GradeReply, WalkStop
from ui.bridge import make_query, make_write, problem_of
from ui.context import Context
from ui.pages.palace.canvas import PalaceCanvas
from ui.pages.palace.scene import ROOM
from ui.pages.palace.view import zoom_on_locus
from ui.pages.palace.walk.card import WalkCard
from ui.pages.palace.walk.round import WalkRound
from ui.strings import walk_strings
from ui.theme.tokens import sizes, spacing
from ui.widgets.basics import make_button, make_row, make_timer, plain_key, set_style_property

_REHEARSE = "rehearse"
_PALACE = "palace"
_DUE_MS = 60_000
"""How often it is asked what has become due."""
_NEAR_ROWS = 5
"""Heights of a control that the card must leave free for a landmark to be looked at from near."""
Stops = tuple[WalkStop, ...]


class WalkControls(QWidget):
    """What begins a walk, for the header of the page.

    Signals:
        changed: more or less is due, which takes another width.
    """

    changed = Signal()

    def __init__(self, context: Context, walk: Callable[[], None], rehearse: Callable[[], None]) -> None:
        super().__init__()
        strings = walk_strings()
        self._count = 0
        self.walk = make_button(
            strings["walk"], walk, kind="chip", hint=strings["walk_hint"], theme=context.theme, icon="move-right"
        )
        self.due = make_button("", rehearse, kind="chip", hint=strings["due_hint"])
        set_style_property(self.due, "tone", "accent")
        self.due.hide()
        make_row(self.due, self.walk, parent=self, gap=spacing().s)

    def show_due(self, count: int) -> None:
        """Say how many landmarks are due; nothing where none is."""
        self._count = count
        self.due.setAccessibleName(walk_strings()["due"].format(count=f"{count:,}"))
        self.changed.emit()

    def fit_width(self, left: int) -> int:
        """Show what there is room for; what is due comes first, in fewer words where they are too many.

        Args:
            left: px there are.

        Returns:
            Px that are left then.
        """
        for words in (walk_strings()["due"], walk_strings()["due_short"]):
            self.due.setText(words.format(count=f"{self._count:,}"))
            if self._width_of(self.due) + self._width_of(self.walk) <= left:
                break
        for button, is_wanted in ((self.due, self._count > 0), (self.walk, True)):
            fits = is_wanted and self._width_of(button) <= left
            button.setVisible(fits)
            left -= self._width_of(button) if fits else 0
        return left

    @staticmethod
    def _width_of(button: QWidget) -> int:
        return button.sizeHint().width() + spacing().s


class Walk(QObject):
    """The walk over one canvas.

    Attributes:
        round: where one is; None while nobody walks.

    Signals:
        ended: nobody walks any more.
    """

    ended = Signal()

    def __init__(self, context: Context, canvas: PalaceCanvas) -> None:
        super().__init__(canvas)
        self._context, self._canvas = context, canvas
        self.round: WalkRound | None = None
        self._wing_id: str | None = None
        self._is_grading = self._is_outdated = False
        self._minute = make_timer(self, self.refresh, _DUE_MS)
        self.controls = WalkControls(context, self.start, self.start_due)
        self.card = WalkCard(context.theme, context.clock, canvas)
        self.card.went_on.connect(lambda: self._change_round(WalkRound.go_on))
        self.card.went_back.connect(lambda: self._change_round(WalkRound.go_back))
        self.card.revealed.connect(lambda: self._change_round(WalkRound.reveal_words))
        self.card.switched.connect(self._switch_rehearsal)
        self.card.restarted.connect(lambda: self._begin_again(is_rehearsal=False))
        self.card.graded.connect(self._grade_stop)
        self.card.closed.connect(self.end)
        canvas.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """W walks; every other key of the plan is the canvas's. What was missed is asked for once it is seen."""
        if event.type() == QEvent.Type.Show:
            self.refresh()
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and plain_key(event) == Qt.Key.Key_W:
            self.start()
            return True
        return super().eventFilter(watched, event)

    # ---- beginning and end

    def start(self, wing_id: str = "", room_id: str = "") -> None:
        """Walk through a wing.

        Args:
            wing_id: which; "" for the one where one is, else the first.
            room_id: where the walk begins; "" for the wing's first room.
        """
        wings = [wing.id for wing in self._canvas.scene.wings if wing.rooms]
        here = wing_id or self._canvas.where.wing_id or self._canvas.marks.cursor_wing
        chosen = here if here in wings else next(iter(wings), None)
        if chosen is not None:
            self._read_walk(chosen, "walk", lambda stops: self._begin_walk(chosen, stops, room_id))

    def start_due(self) -> None:
        """Rehearse every landmark that is due, in all wings."""
        self._read_walk(None, "walk", self._begin_due)

    def _read_walk(self, wing_id: str | None, task: str, then: Callable[[Stops], None]) -> None:
        rehearsals = self._context.bridge.engine.rehearsals
        self._context.tasks.run(
            make_query(walk_strings()["reading"], lambda: rehearsals.read_walk(wing_id))
            .within(self, task)
            .success(then)
        )

    def _begin_walk(self, wing_id: str, stops: Stops, room_id: str = "") -> None:
        if stops:
            self._wing_id = wing_id
            at = next((nr for nr, stop in enumerate(stops) if stop.room_id == room_id), 0)
            self._show_new_round(WalkRound([*stops[at:], *stops[:at]]))
            return
        strings, wing = walk_strings(), self._canvas.scene.find_wing(wing_id)
        if wing is None or not wing.rooms:
            words = strings["empty_wing"]
        else:
            words = strings["empty_waiting" if wing.waiting else "empty_rooms"]
        self._take_keyboard()
        self.card.show_sentence(strings["empty"], words)
        self.card.setFocus(Qt.FocusReason.OtherFocusReason)

    def _begin_due(self, stops: Stops) -> None:
        due = [stop for stop in stops if stop.is_due]
        if due:
            self._wing_id = None
            self._show_new_round(WalkRound(due, is_rehearsal=True))
        else:
            self._context.desk.show_message(walk_strings()["none_due"])
            self.refresh_due()

    def _begin_again(self, *, is_rehearsal: bool) -> None:
        if self.round is not None:
            self._show_new_round(self.round.begin_again(is_rehearsal=is_rehearsal))

    def _show_new_round(self, round_: WalkRound) -> None:
        self.round, self._is_grading = round_, False
        self._take_keyboard()
        self._show_round()
        self.card.setFocus(Qt.FocusReason.OtherFocusReason)

    def _take_keyboard(self) -> None:
        self._canvas.setFocusProxy(self.card)  # a click on the plan leaves the keys to the walk

    def end(self) -> None:
        """Nobody walks any more; one is where the walk led."""
        if self.card.isHidden():
            return
        focus = self.card.window().focusWidget()
        had = focus is not None and (focus is self.card or self.card.isAncestorOf(focus))
        self.round = None
        self._canvas.setFocusProxy(None)  # type: ignore[arg-type]  # the stubs know no "none"
        self.card.hide()
        self._mark_stop(None)
        if had:
            self._canvas.setFocus(Qt.FocusReason.OtherFocusReason)
        self.refresh_due()
        self.ended.emit()

    # ---- under way

    def _change_round(self, change: Callable[[WalkRound], None]) -> None:
        if self.round is not None:
            change(self.round)
            self._show_round()

    def _switch_rehearsal(self) -> None:
        if self.round is None:
            return
        if self.round.is_over:
            self._begin_again(is_rehearsal=True)
        else:
            self._change_round(WalkRound.switch_rehearsal)

    def _show_round(self) -> None:
        if self.round is None:
            return
        self.card.show_round(self.round)
        if self.round.is_over:
            self._mark_stop(None)
        else:
            self._mark_stop(self.round)
            self._fly_to(self.round.current)

    def _grade_stop(self, grade: Grade) -> None:
        round_ = self.round
        if round_ is None or round_.is_over or round_.is_hidden or self._is_grading:
            return
        self._is_grading = True
        memory_id, rehearsals = round_.current.memory_id, self._context.bridge.engine.rehearsals
        self._context.tasks.run(
            make_write(walk_strings()["grading"], lambda: rehearsals.grade(memory_id, grade))
            .within(self)
            .success(lambda reply: self._on_graded(round_, memory_id, grade, reply))
            .failure(self._on_grade_failed)
        )

    def _on_graded(self, round_: WalkRound, memory_id: str, grade: Grade, reply: GradeReply) -> None:
        self._is_grading = False
        round_.note_grade(memory_id, grade, reply)
        if round_ is self.round:
            if not round_.is_over and round_.current.memory_id == memory_id:
                round_.go_on()
            self._show_round()

    def _on_grade_failed(self, error: BaseException) -> None:
        self._is_grading = False
        problem = problem_of(error)
        if problem is not None:
            self._context.tasks.problem.emit(problem)

    # ---- what changed

    def note_change(self, change: Changed) -> None:
        """Something in the vault is different: landmarks may be gone, texts others, more or less may be due."""
        self._is_outdated |= change.verb != _REHEARSE
        self.refresh()

    def refresh(self) -> None:
        """While the plan is seen: ask now and every minute what is due, and on a walk what has changed on its way."""
        if not self._canvas.isVisible():
            return
        self._minute.start()
        if self.round is None:
            self.refresh_due()
        elif self._is_outdated:
            self._is_outdated, wing_id = False, self._wing_id
            self._read_walk(wing_id, "stops", lambda stops: self._update_stops(wing_id, stops))

    def pause(self) -> None:
        """The page is left: nothing is asked by itself."""
        self._minute.stop()

    def _update_stops(self, wing_id: str | None, stops: Stops) -> None:
        round_ = self.round
        if round_ is None or wing_id != self._wing_id:
            return
        was = round_.current.memory_id, round_.current.room_id
        if not round_.update_stops({stop.memory_id: stop for stop in stops}):
            self._context.desk.show_message(walk_strings()["gone"])
            self.end()
        elif was != (round_.current.memory_id, round_.current.room_id):
            self._show_round()
        else:  # the person may be looking around: the camera stays
            self.card.show_round(round_)
            self._conceal_words(round_)

    def refresh_due(self) -> None:
        """Ask anew how many landmarks are due."""
        rehearsals = self._context.bridge.engine.rehearsals
        self._context.tasks.run(
            make_query(walk_strings()["reading"], rehearsals.count_due)
            .within(self, "due")
            .success(self.controls.show_due)
            .failure(lambda _: None)  # it is asked again with the next change
        )

    # ---- on the plan

    def _mark_stop(self, round_: WalkRound | None) -> None:
        """Ring the landmark one is at; words that are still to be recalled show nowhere on the plan."""
        canvas = self._canvas
        self._conceal_words(round_)
        canvas.marks.selected = "" if round_ is None else round_.current.memory_id
        is_told = round_ is not None and not round_.is_hidden  # the inspector would tell what is to be recalled
        self._context.selection.select(canvas.marks.selected if is_told else "", _PALACE)
        canvas.marks.others = {}
        canvas.set_cursor_at()

    def _conceal_words(self, round_: WalkRound | None) -> None:
        hidden = frozenset[str]() if round_ is None else round_.hidden_ids
        self._canvas.heads.conceal_words(hidden)
        self._canvas.scene.conceal_words(hidden)
        self._canvas.update()

    def _fly_to(self, stop: WalkStop) -> None:
        """Into the landmark's room, where its words can be read from there, else near to it; beside the card."""
        canvas, camera = self._canvas, self._canvas.camera
        goal, fit = camera.fit_level(ROOM, stop.room_id) or camera.goal, (ROOM, stop.room_id)
        spot = canvas.scene.spot_of(stop.memory_id)
        if spot is not None:
            free = goal.h - self.card.height() - 2 * spacing().l
            least = sizes().control * _NEAR_ROWS * canvas.theme.scale / 100
            if free > least and not canvas.painter.is_text_shown(goal, spot):
                goal, fit = zoom_on_locus(canvas, spot, goal), ("", "")
            rect = canvas.painter.spot_rect(spot, goal, canvas.scene.look)
            if rect.top() < 0 or rect.bottom() > free:
                x, y = goal.plan_point(goal.w / 2, goal.h / 2 + rect.center().y() - free / 2)
                goal, fit = replace(goal, x=x, y=y), ("", "")
        if goal != camera.goal or fit != camera.fit:
            camera.fly_to(goal, fit)
