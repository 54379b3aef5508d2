"""The palace page: where one is, the plan, when it is looked at; it reads what the canvas needs and follows the vault.

Must not do: paint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLineEdit, QProgressBar, QSizePolicy, QWidget

from core.events import Changed
from core.types.values import Kind
from core.types.views import FindRequest, FindResult, PalacePlan
from ui.bridge import make_query, problem_of
from ui.context import Context, PageSpec, WindowPage
from ui.pages.palace.canvas import PalaceCanvas
from ui.pages.palace.drag import PlanMover
from ui.pages.palace.find import PalaceFinder
from ui.pages.palace.items import KINDS, LocusStyle, RoomItem
from ui.pages.palace.loader import (
    LocusSeeker,
    PalaceReader,
    format_camera,
    format_shelves,
    parse_shelves,
    place_camera,
)
from ui.pages.palace.scene import ROOM, WHOLE, WING, PalaceScene, PlacedLocus
from ui.pages.palace.slider import PalaceLegend, TimeCard
from ui.pages.palace.summary import PlaceSummaries
from ui.pages.palace.verbs import PalaceVerbs
from ui.pages.palace.walk.walk import Walk, WalkControls
from ui.strings import command_strings, format_count, palace_strings
from ui.theme.tokens import spacing
from ui.widgets.basics import Elided, MenuChip, clear_layout, make_button, make_column, make_label, make_row, make_timer
from ui.widgets.labels import KIND_PLURALS, count_unit, name_space
from ui.widgets.plaintext import one_line
from ui.widgets.states import FOOT, EmptyState, States

_CAMERA, _COLOUR, _SHELVES = "palace.camera", "palace.colour", "palace.wings"
_KEEP_MS = 800
_AGE_STEP_MS = 3_600_000
"""Ages count from the last full hour, so that what is drawn holds while nothing changes."""
_ALL = "all"
Crumb = tuple[str, Callable[[], None]]


class PalaceHeader(QWidget):
    """Where one is: a large title, the way there, and the choices beside it."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._theme = context.theme
        self._shown: tuple[object, ...] = ()
        self._controls: list[WalkControls] = []
        strings = palace_strings()
        self.title = Elided(strings["rail"]["title"], "title")
        self.title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.title.setAccessibleDescription("heading")
        self.count = Elided("", "muted")
        self.count.set_hint(strings["count"]["hint"])
        self._crumbs = QWidget()
        self._way = make_row(parent=self._crumbs, gap=4)
        self._crumbs.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        colours, levels, colour = strings["colours"], strings["levels"], context.prefs.read_text(_COLOUR, "kind")
        self.colour = MenuChip(
            context.theme, strings["header"]["colour"], colours, colour if colour in colours else "kind"
        )
        kinds = {_ALL: strings["header"]["all"]} | {kind.value: KIND_PLURALS[kind] for kind in Kind}
        self.kinds = MenuChip(context.theme, strings["header"]["kinds"], kinds, _ALL)
        self._levels: dict[str, str] = dict(levels)
        self.level = MenuChip(context.theme, strings["header"]["level"], levels, WHOLE)
        left = make_row(self.title, self._crumbs, self.count, gap=spacing().close)
        left.setStretch(2, 1)
        left.addStretch()
        self._chips = make_row(self.colour, self.kinds, self.level, None, gap=8)
        self._lines = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setSpacing(8)
        self._lines.addLayout(left, 1)
        self._lines.addLayout(self._chips)
        self.setMinimumWidth(200)  # by itself it would ask for as much as all of it takes in one line
        context.theme.changed.connect(self._arrange_controls)

    def show_path(self, title: str, path: Sequence[Crumb], count: str) -> None:
        """Show the path to the current level.

        Args:
            title: of the wing or room.
            path: names of the levels above, each with what opens it; the title is the current one.
            count: what is here, in words.
        """
        shown = (title, tuple(name for name, _ in path), count)
        if shown == self._shown:
            return
        if (title, tuple(name for name, _ in path)) != self._shown[:2]:
            self.title.set_text(title)
            self.title.updateGeometry()
            clear_layout(self._way)
            for nr, (name, run) in enumerate(path):
                if nr:
                    self._add_to_way(make_label("›", "muted"))
                self._add_to_way(_make_path_link(name, run))
            self._crumbs.setVisible(bool(path))
        self.count.set_text(count)
        self._shown = shown
        self._arrange_count()

    def _add_to_way(self, step: QWidget) -> None:
        self._way.addWidget(step)
        step.show()  # what a layout shows later is not counted in its width before

    def show_level(self, level: str, wings: int) -> None:
        """Show at which level one is; where there is one wing, that is all there is.

        Args:
            level: palace, wing, room or locus.
            wings: how many there are.
        """
        offered = dict(palace_strings()["levels"])
        if wings < 2 and level != WHOLE:
            del offered[WHOLE]
        if self._levels != offered:
            self._levels = offered
            self.level.set_choices(offered, level)
        self.level.show_choice(level)

    def add_controls(self, controls: WalkControls) -> None:
        """Put something beside the choices, to their right."""
        self._controls.append(controls)
        self._chips.addWidget(controls)
        controls.changed.connect(self._arrange_controls)
        self._arrange_controls()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Use the room there is."""
        super().resizeEvent(event)
        self._arrange_controls()

    def _arrange_controls(self) -> None:
        """Two lines where one has no room."""
        narrow = self.width() < self._theme.px(800)
        way = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        if self._lines.direction() != way:
            self._lines.setDirection(way)
        left = self.width() - sum(chip.sizeHint().width() + 8 for chip in (self.colour, self.kinds))
        # Keys lead to a walk and, as the way does, to every level: where there is no room these can be missed.
        for controls in self._controls:
            left = controls.fit_width(left)
        self.level.setVisible(self.level.sizeHint().width() + 8 <= left)
        self._arrange_count()

    def _arrange_count(self) -> None:
        """The count gives way before a name is cut."""
        is_one_line = self._lines.direction() == QBoxLayout.Direction.LeftToRight
        left = self.width() - (self._chips.sizeHint().width() + self._lines.spacing() if is_one_line else 0)
        named = [one.sizeHint().width() + spacing().close for one in (self.title, self._crumbs) if not one.isHidden()]
        self.count.setVisible(sum(named) + self.count.sizeHint().width() <= left)


def _make_path_link(name: str, run: Callable[[], None]) -> QWidget:
    shown = one_line(name, 40)
    return make_button(shown, run, kind="crumb", hint=palace_strings()["header"]["go_to"].format(place=shown))


class WaitingMemoriesLine(QWidget):
    """What is in the plan's place while nothing has one yet."""

    def __init__(self, context: Context, waiting: int, arrange: Callable[[], None]) -> None:
        super().__init__()
        strings = palace_strings()["waiting"]
        state = EmptyState(
            context.theme,
            "landmark",
            strings["title"],
            format_count(strings["text"], waiting),
            (strings["arrange"], arrange),
        )
        bar = QProgressBar()
        bar.setRange(0, 0)
        bar.setTextVisible(False)
        bar.setFixedWidth(220)
        bar.setAccessibleName(strings["bar"])
        inner = state.layout()
        if isinstance(inner, QBoxLayout):
            inner.insertWidget(inner.count() - 1, bar, 0, Qt.AlignmentFlag.AlignHCenter)
        make_column(self, state)


class PlanAbsence:
    """What is in the plan's place while there is no room: an empty vault, or memories that wait for a place."""

    def __init__(
        self, context: Context, states: States, read: Callable[[], None], failed: Callable[[BaseException], None]
    ) -> None:
        """Make it.

        Args:
            states: where it is shown.
            read: reads the plan again.
            failed: takes an error that hinders the reading.
        """
        self._context, self._states, self._read, self._failed = context, states, read, failed

    def show_nothing(self, plan: PalacePlan) -> None:
        """Say what there is without a room; the plan tells nothing of spaces without a wing, but the library does."""
        if plan.earliest is None:
            self._show_standing(FindResult((), 0.0))
            return
        library = self._context.bridge.engine.library
        self._context.tasks.run(
            make_query(palace_strings()["waiting"]["counting"], lambda: library.find_memories(FindRequest()))
            .within(self._states, "standing")
            .success(self._show_standing)
            .failure(self._failed)
        )

    def _show_standing(self, found: FindResult) -> None:
        if found.ids:
            self._states.show_empty(WaitingMemoriesLine(self._context, len(found.ids), self._arrange_memories))
            return
        strings = palace_strings()["empty"]
        state = EmptyState(
            self._context.theme,
            "landmark",
            strings["title"],
            strings["text"],
            (strings["import"], lambda: self._context.desk.import_paths.emit([])),
            (command_strings()["commands"]["file.new"]["title"], lambda: self._context.commands.run("file.new")),
        )
        self._states.show_empty(state)

    def _arrange_memories(self) -> None:
        palace = self._context.bridge.engine.palace
        self._context.tasks.run(
            make_query(palace_strings()["waiting"]["arranging"], palace.place_waiting)
            .within(self._states, "arrange")
            .success(self._on_memories_arranged)
        )

    def _on_memories_arranged(self, placed: int) -> None:
        if not placed:
            self._context.desk.show_message(palace_strings()["waiting"]["unread"])
        self._read()


class PalacePage(WindowPage):
    """The floor plan."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.header = PalaceHeader(context)
        self.scene = PalaceScene(LocusStyle(colour=self.header.colour.current, now=context.clock.now_ms()))
        self.canvas = PalaceCanvas(context.theme, self.scene)
        self.time = TimeCard(context.theme, context.clock)
        self.legend = PalaceLegend(context.theme)
        self.line = Elided(palace_strings()["hint"], "small")
        self.verbs = PalaceVerbs(context, self.canvas)
        self.finder = PalaceFinder(context, self.canvas, self.line)
        self.mover = PlanMover(context, self.canvas)
        self.walk = Walk(context, self.canvas)
        self.summaries = PlaceSummaries(context, self.canvas, self.walk, self.verbs)
        self.header.add_controls(self.walk.controls)
        self.reader, self.seeker = PalaceReader(context, self.canvas), LocusSeeker(context, self.canvas)
        self._is_placed = self._wants_keyboard = False
        self.states = States(context.theme, self._build_content(), palace_strings()["header"]["opening"])
        self.absence = PlanAbsence(context, self.states, self.reader.read_plan, self._on_plan_failed)
        make_column(self, self.states, gap=0)
        self._keep = make_timer(self, self._save_camera, _KEEP_MS)
        self._connect_signals()

    def _build_content(self) -> QWidget:
        content = QWidget()
        header, foot = make_row(self.header, gap=0), make_row(self.line, self.legend, gap=16)
        header.setContentsMargins(24, 0, 24, 0)
        foot.setStretch(0, 1)
        below = make_column(None, gap=10)
        below.addLayout(foot)
        below.addWidget(self.time)
        self.line.setProperty(FOOT, True)  # noqa: FBT003 - Qt's name; messages come above it, not over the slider
        below.setContentsMargins(24, 0, 24, 0)
        inner = make_column(content, gap=12)
        inner.addLayout(header)
        inner.addWidget(self.canvas, 1)  # from edge to edge: what lies beyond it is cut where the page ends
        inner.addLayout(below)
        inner.setContentsMargins(0, 14, 0, 14)
        return content

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Use the room there is."""
        super().resizeEvent(event)
        self._arrange_foot()

    def _arrange_foot(self) -> None:
        """The key to the shapes goes where there is room for half of the line only."""
        self.legend.setVisible(self.width() >= self.context.theme.px(540))

    def _connect_signals(self) -> None:
        self.states.changed.connect(self.note_empty)
        self.canvas.looked.connect(self._on_view_looked)
        self.canvas.camera.rested.connect(self._on_view_looked)
        self.canvas.said.connect(self._show_sentence)
        self.reader.got_plan.connect(self._on_plan_read)
        self.reader.failed.connect(self._on_plan_failed)
        self.reader.done.connect(self._on_reading_done)
        self.header.colour.chosen.connect(self._apply_style)
        self.header.kinds.chosen.connect(self._apply_style)
        self.header.level.chosen.connect(self._go_to_level)
        self.time.moved.connect(self._apply_style)
        self.context.theme.changed.connect(self._arrange_foot)

    # ---- what the shell asks

    def activate(self, target: str = "") -> None:
        """Read what is stale; `show:<memory>` flies there, `go:<level>` goes to the level of where one is."""
        if self.scene.plan is None:
            self.states.show_loading()
        if target.startswith("go:"):
            self._go_to_level(target.removeprefix("go:"))
        if target.startswith("show:"):
            self.walk.end()
            self.seeker.target_id = target.removeprefix("show:")
        if self.is_stale:
            self.is_stale = False
            self.reader.read_plan()
        else:
            self.seeker.seek_memory()
        self.walk.refresh()
        self.summaries.show_soon()
        self.canvas.setFocus(Qt.FocusReason.OtherFocusReason)
        self._wants_keyboard = not self.canvas.isVisible()  # what is not seen cannot take it

    def takes_search(self) -> bool:
        """The plan lights up where answers are; who is in its field already wants the window's."""
        return bool(self.scene.rooms) and self.window().focusWidget() is not self.finder.bar.field

    def focus_search(self) -> None:
        """Open the find bar."""
        self.finder.bar.open_bar()

    def is_settled(self) -> bool:
        """Whether all of the plan is drawn."""
        canvas = self.canvas
        is_drawn = not canvas.camera.is_flying and canvas.pictures.is_drawn(canvas.camera.lens)
        return not canvas.isVisible() or is_drawn

    def deactivate(self) -> None:
        """Nothing moves while another page is shown."""
        self.canvas.stop_motion()
        self.walk.pause()
        self.reader.stop_reload()
        self.summaries.stop()
        self._save_camera()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """As `leave`, however it comes."""
        self.deactivate()
        super().hideEvent(event)

    def handle_change(self, change: Changed) -> None:
        """Read the plan anew a moment later, and the loci of the rooms that were touched."""
        super().handle_change(change)
        self.reader.note_change(change)
        self.walk.note_change(change)
        if self.isVisible():
            self.is_stale = False
            self.reader.schedule_reload()

    # ---- what was read

    def _on_plan_failed(self, error: BaseException) -> None:
        self.is_stale = True
        problem = problem_of(error)
        if problem is None:
            return
        if self.scene.plan is None:
            self.states.show_trouble(problem, self.activate)
        else:
            self.context.tasks.problem.emit(problem)

    def _on_plan_read(self, plan: PalacePlan) -> None:
        self.time.show_plan(plan)
        if not self.scene.rooms:
            self.absence.show_nothing(plan)
            return
        self.states.show_content()
        self._focus_canvas()
        if not self._is_placed:
            aspect = self.canvas.width() / max(1, self.canvas.height())
            self.scene.arrange_wings(parse_shelves(self.scene, self.context.prefs.read_text(_SHELVES)), aspect)
        self.context.prefs.store_value(_SHELVES, format_shelves(self.scene))
        self.canvas.camera.space_wings()
        if not self._is_placed:
            self._is_placed = True
            place_camera(self.canvas.camera, self.scene, self.context.prefs.read_text(_CAMERA))
        self._apply_style()
        self.walk.refresh_due()
        self.seeker.seek_memory()

    def _focus_canvas(self) -> None:
        """The plan was waited for: it has the keyboard now, unless the person went to a field, to type there."""
        has = self.window().focusWidget()
        is_elsewhere = self.context.desk.is_searching or (isinstance(has, QLineEdit) and bool(has.text()))
        if self._wants_keyboard and self.isVisible() and not is_elsewhere:
            self.canvas.setFocus(Qt.FocusReason.OtherFocusReason)
        self._wants_keyboard = False

    def _on_reading_done(self) -> None:
        self._show_key()
        self.canvas.emit_sentence()

    # ---- how it looks, where one is

    def _apply_style(self, *_: object) -> None:
        kind, now = self.header.kinds.current, self.context.clock.now_ms()
        look = LocusStyle(
            self.header.colour.current,
            None if kind == _ALL else Kind(kind),
            self.time.axis,
            self.time.until,
            now - now % _AGE_STEP_MS,
        )
        self.context.prefs.store_value(_COLOUR, look.colour)
        self.canvas.set_style(look)
        self._show_key()

    def _show_key(self) -> None:
        found = set().union(*(room.kinds for room in self.scene.rooms.values()))
        kinds = tuple(kind for nr, kind in enumerate(KINDS) if nr in found)
        self.legend.show_key(self.scene.look.colour, kinds)

    def _on_view_looked(self) -> None:
        where, scene = self.canvas.where, self.scene
        wing, room = scene.find_wing(where.wing_id), scene.rooms.get(where.room_id)
        title, strings = palace_strings()["rail"]["title"], palace_strings()["count"]
        is_only = sum(bool(found.rooms) for found in scene.wings) < 2  # one wing is all there is to be seen
        top: list[Crumb] = [] if is_only else [(title, self.canvas.camera.show_whole)]
        waiting = f" · {strings['waiting'].format(count=f'{scene.waiting:,}')}" if scene.waiting else ""
        if room is not None and wing is not None:
            way = [*top, (name_space(wing.space), self._go_to_wing)]
            self.header.show_path(room.plan.name, way, f"· {self._describe_count(room)}")
        elif wing is not None:
            count = strings["placed"].format(count=f"{scene.count_shown(scene.rooms_of_wing(wing.id)):,}")
            words = strings["in_wing"].format(placed=count, rooms=count_unit(len(wing.rooms), "room"))
            name = name_space(wing.space)
            self.header.show_path(name, top, f"{'· ' if top else ''}{words}{waiting}")
        else:
            wings = sum(bool(found.rooms) for found in scene.wings)
            count = strings["placed"].format(count=f"{scene.count_shown(scene.rooms.values()):,}")
            rooms = count_unit(len(scene.rooms), "room")
            words = strings["in_palace"].format(placed=count, wings=count_unit(wings, "wing"), rooms=rooms)
            self.header.show_path(title, [], f"{words}{waiting}")
        self.header.show_level(where.level, wings=sum(bool(found.rooms) for found in scene.wings))
        self._keep.start()

    def _describe_count(self, room: RoomItem) -> str:
        """How many memories a room has and, where not all show their text, how many do: the rest are marks."""
        strings, canvas, look = palace_strings()["count"], self.canvas, self.scene.look
        count = room.count_shown(look)
        said = str(strings["placed"].format(count=f"{count:,}"))
        if canvas.camera.is_flying or room.loci is None:
            return said
        read = canvas.painter.count_texts(room, canvas.camera.lens, look)
        return said if read >= count else f"{said} · {strings['texts'].format(count=f'{read:,}')}"

    def _go_to_wing(self) -> None:
        self.canvas.enter_wing(self.canvas.where.wing_id)

    def _go_to_level(self, level: str) -> None:
        canvas, lens = self.canvas, self.canvas.camera.goal
        spot = self.scene.spot_of(canvas.marks.selected)
        at_cursor = self.scene.rooms.get(canvas.where.room_id or canvas.marks.cursor_room)
        room = spot.room if spot is not None else at_cursor or self.scene.nearest_room(lens.x, lens.y)
        if level == WHOLE or room is None:
            canvas.camera.show_whole()
        elif level == WING:
            canvas.enter_wing(room.wing.id)
        elif level == ROOM:
            canvas.enter_room(room.id)
        else:
            first = next(iter(sorted(room.landmarks, key=room.landmarks.__getitem__)), None)
            spot = spot or (None if first is None else PlacedLocus(room, first))
            spot = spot or canvas.painter.spot_in_middle(room, lens)
            if spot is not None:
                canvas.enter_locus(spot)
        canvas.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_sentence(self, sentence: str) -> None:
        self.line.set_text(sentence or palace_strings()["hint"])

    def _save_camera(self) -> None:
        self._keep.stop()
        if self._is_placed:
            self.context.prefs.store_value(_CAMERA, format_camera(self.canvas.camera, self.scene))


PALACE = PageSpec("palace", palace_strings, "landmark", PalacePage)
