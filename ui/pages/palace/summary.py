"""What the inspector shows of a room or a wing: its emblem, what it holds, its landmarks, what is new, whom it names.

Must not do: paint the plan, or change a room by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, QRectF
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLayout, QWidget

from core.events import Changed
from core.types.values import Kind
from core.types.views import Furnishing, MemoryRow, PlacePerson, PlaceSummary
from ui.bridge import make_query, problem_of
from ui.context import Context
from ui.pages.palace.canvas import PalaceCanvas
from ui.pages.palace.picture.furniture import Furniture
from ui.pages.palace.verbs import PalaceVerbs
from ui.pages.palace.walk.walk import Walk
from ui.strings import format_count, palace_strings
from ui.theme.theme import Theme
from ui.widgets.basics import (
    FlowLayout,
    make_button,
    make_column,
    make_hairline,
    make_label,
    make_row,
    make_scroll_area,
    make_timer,
)
from ui.widgets.labels import KIND_PLURALS, KIND_WORDS, count_of, count_unit, date_of, name_space
from ui.widgets.memory_line import MemoryLine
from ui.widgets.plaintext import one_line
from ui.widgets.shapes import KindMark

ORIGIN = "place"
"""The origin of a selection that was made here: the plan goes to the memory."""
_EMBLEM, _NAME = 36, 80
_AGAIN_MS, _SOON_MS = 300, 60
_PALACE = "palace"
_MOSTLY_NEW = 0.9


@dataclass(frozen=True, slots=True)
class PlaceActions:
    """What can be asked for of a place.

    Attributes:
        open: go in. `walk`: walk along its landmarks.
        rename: give it another name; None for a wing, which is called as its space.
    """

    open: Callable[[], None]
    walk: Callable[[], None]
    rename: Callable[[], object] | None = None


class EmblemPlate(QWidget):
    """A room's emblem on a plate of its tint."""

    def __init__(self, theme: Theme, furnishing: Furnishing | None) -> None:
        super().__init__()
        self._theme, self._furnishing, self._furniture = theme, furnishing, Furniture(theme)
        self.setAccessibleName("" if furnishing is None else furnishing.emblem.replace("-", " "))
        theme.changed.connect(self._restyle_emblem)
        self._restyle_emblem()

    def _restyle_emblem(self) -> None:
        side = self._theme.px(_EMBLEM)
        self.setFixedSize(side, side)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Paint it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._furniture.paint_emblem(painter, QRectF(self.rect()), self._furnishing)
        painter.end()


def describe_place_summary(summary: PlaceSummary) -> str:
    """What a place is and how much is in it: `Room in home · 41 memories`."""
    strings = palace_strings()["summary"]
    count = format_count(strings["count"], summary.count)
    if summary.rooms:
        return str(strings["wing"]).format(rooms=count_unit(summary.rooms, "room"), count=count)
    return str(strings["room"]).format(wing=name_space(summary.space), count=count)


def describe_dates(summary: PlaceSummary) -> str:
    """The days between which it was said; "" for a place without a memory."""
    if summary.first is None or summary.last is None:
        return ""
    strings, first, last = palace_strings()["summary"]["dates"], date_of(summary.first), date_of(summary.last)
    return str(strings["one" if first == last else "many"]).format(first=first, last=last)


class PlaceSummaryView(QWidget):
    """One room or wing, read when it is made and whenever the vault changes.

    Attributes:
        summary: what is shown; None before it was read.
    """

    def __init__(self, context: Context, place_id: str, actions: PlaceActions) -> None:
        super().__init__()
        self._context, self._place_id, self._actions = context, place_id, actions
        self.summary: PlaceSummary | None = None
        self._inside = QWidget()
        self._column = make_column(self._inside, gap=12)
        self._column.setContentsMargins(20, 16, 20, 20)
        make_column(self).addWidget(make_scroll_area(self._inside))
        self._again = make_timer(self, self._read_place, _AGAIN_MS)
        context.bridge.changed.connect(self._note_change)
        self._read_place()

    def _note_change(self, _change: Changed) -> None:
        self._again.start()

    def _read_place(self) -> None:
        if not self._context.bridge.is_open:
            return
        palace, place_id = self._context.bridge.engine.palace, self._place_id
        self._context.tasks.run(
            make_query(palace_strings()["summary"]["reading"], lambda: palace.read_place(place_id))
            .within(self, "place")
            .success(self._show_summary)
            .failure(self._show_failure)
        )

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is not None:
            self.summary = None  # it is drawn anew once it can be read, though it be as before
            _empty_column(self._column)
            self._column.addWidget(make_label(problem.sentence, "muted", wrap=True))
            self._column.addStretch(1)

    # ---- what is shown

    def _show_summary(self, summary: PlaceSummary) -> None:
        if summary == self.summary:
            return
        strings, self.summary = palace_strings()["summary"], summary
        self.setAccessibleName(f"{self._place_name()}. {describe_place_summary(summary)}. {describe_dates(summary)}")
        _empty_column(self._column)
        self._add_head(summary)
        self._add_holdings(summary)
        self._add_lines(strings["landmarks"], summary.landmarks, strings["no_landmarks"])
        if summary.fresh <= _MOSTLY_NEW * summary.count:  # after a first import all is new, which tells nothing
            new = format_count(strings["new"], summary.fresh) if summary.fresh else strings["none_new"]
            self._add_lines(strings["new_title"], summary.newest, "", sentence=new)
        if summary.people:
            self._add_people(strings["people"], summary.people)
        self._column.addStretch(1)

    def _place_name(self) -> str:
        summary = self.summary
        if summary is None:
            return ""
        return name_space(summary.name) if summary.rooms else one_line(summary.name, _NAME)

    def _add_head(self, summary: PlaceSummary) -> None:
        names = make_column(None, make_label(self._place_name(), "section", wrap=True), gap=2)
        names.addWidget(make_label(describe_place_summary(summary), "muted", wrap=True))
        head = make_row(EmblemPlate(self._context.theme, summary.furnishing), gap=12)
        head.addLayout(names, 1)
        self._column.addLayout(head)
        self._column.addWidget(self._make_buttons())

    def _make_buttons(self) -> QWidget:
        acts, theme = palace_strings()["summary"]["acts"], self._context.theme
        made = [
            make_button(acts["open"], self._actions.open, theme=theme, icon="zoom-in", hint=acts["open_hint"]),
            make_button(acts["walk"], self._actions.walk, theme=theme, icon="move-right", hint=acts["walk_hint"]),
        ]
        rename = self._actions.rename
        if rename is not None:
            run = partial(_run_verb, rename)
            made.append(make_button(acts["rename"], run, theme=theme, icon="pencil", hint=acts["rename_hint"]))
        buttons = QWidget()
        flow = FlowLayout(buttons, gap=8)
        for button in made:
            flow.addWidget(button)
        return buttons

    def _add_holdings(self, summary: PlaceSummary) -> None:
        self._begin_part(palace_strings()["summary"]["holds"])
        kinds = QWidget()
        flow = FlowLayout(kinds, gap=12)
        for kind, count in summary.kinds.items():
            flow.addWidget(_kind_count(self._context.theme, kind, count))
        self._column.addWidget(kinds)
        dates = describe_dates(summary)
        if dates:
            self._column.addWidget(make_label(dates, "muted", wrap=True))

    def _add_lines(self, title: str, found: Sequence[MemoryRow], none: str, *, sentence: str = "") -> None:
        self._begin_part(title)
        words = sentence or (none if not found else "")
        if words:
            self._column.addWidget(make_label(words, "muted", wrap=True))
        lines = make_column(None, gap=2)
        lines.setContentsMargins(-8, 0, -8, 0)
        for row in found:
            lines.addWidget(MemoryLine(self._context.theme, row, "", self._look_at))
        self._column.addLayout(lines)

    def _add_people(self, title: str, people: Sequence[PlacePerson]) -> None:
        self._begin_part(title)
        strings, chips = palace_strings()["summary"], QWidget()
        flow = FlowLayout(chips, gap=6)
        for person in people:
            name = one_line(person.name, 40)
            run = partial(self._context.desk.go.emit, "entities", person.id)
            chip = make_button(f"{name} {person.count:,}", run, kind="chip", hint=strings["person_hint"])
            chip.setAccessibleName(format_count(strings["person"], person.count, name=name))
            flow.addWidget(chip)
        self._column.addWidget(chips)

    def _begin_part(self, title: str) -> None:
        self._column.addWidget(make_hairline())
        self._column.addWidget(make_label(title, "label"))

    def _look_at(self, memory_id: str) -> None:
        self._context.selection.select(memory_id, ORIGIN)


def _kind_count(theme: Theme, kind: Kind, count: int) -> QWidget:
    """`13 episodes` with the kind's shape before it."""
    made = QWidget()
    words = count_of(count, KIND_WORDS[kind].lower(), KIND_PLURALS[kind].lower())
    make_row(KindMark(theme, kind, 12), make_label(words), parent=made, gap=6)
    return made


def _run_verb(act: Callable[[], object]) -> None:
    act()


def _empty_column(column: QLayout) -> None:
    """Take out everything, what is in its rows and columns too."""
    while column.count():
        item = column.takeAt(0)
        inner = None if item is None else item.layout()
        if inner is not None:
            _empty_column(inner)
            inner.deleteLater()
        widget = None if item is None else item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()


class PlaceSummaries(QObject):
    """Offers the inspector a summary of the room or wing the keyboard is on."""

    def __init__(self, context: Context, canvas: PalaceCanvas, walk: Walk, verbs: PalaceVerbs) -> None:
        super().__init__(canvas)
        self._context, self._canvas, self._walk, self._verbs = context, canvas, walk, verbs
        self._shown = ""
        self._soon = make_timer(self, self._show_place, _SOON_MS)
        canvas.placed.connect(self._on_place_reached)

    def show_soon(self) -> None:
        """Show where the keyboard is, a moment later: arrows held down pass rooms that nobody wants to read about."""
        self._soon.start()

    def stop(self) -> None:
        """The plan is left, or the keyboard is on no room and no wing."""
        self._soon.stop()
        self._context.selection.show_summary(None, _PALACE)

    def _on_place_reached(self, place_id: str) -> None:
        if place_id:
            self.show_soon()
        else:
            self.stop()

    def _show_place(self) -> None:
        canvas, marks, selection = self._canvas, self._canvas.marks, self._context.selection
        place_id = marks.cursor_room or marks.cursor_wing
        if place_id == self._shown and selection.summary is not None:
            return  # the same as before
        room, wing = canvas.scene.rooms.get(place_id), canvas.scene.find_wing(place_id)
        if room is not None:
            wing_id = room.wing.id
            actions = PlaceActions(
                lambda: canvas.enter_room(place_id),
                lambda: self._walk.start(wing_id, place_id),
                lambda: self._rename_room(place_id),
            )
        elif wing is not None:
            actions = PlaceActions(lambda: canvas.enter_wing(place_id), lambda: self._walk.start(place_id))
        else:
            return
        self._shown = place_id
        selection.show_summary(lambda: PlaceSummaryView(self._context, place_id, actions), _PALACE)

    def _rename_room(self, room_id: str) -> None:
        """Bring its name onto the canvas, and write it anew there."""
        room = self._canvas.scene.rooms.get(room_id)
        if room is not None:
            middle = room.rect.center()
            self._canvas.camera.reveal_point(middle.x(), middle.y())
            self._canvas.camera.finish_flight()
            self._verbs.start_rename(room)
