"""What the palace page reads, and when: the plan, rooms a few at a time, visible texts, where a memory is.

Must not do: paint, know the page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from core.errors import Code, LociError
from core.events import Changed
from core.types.replies import MemoryDetail
from core.types.values import OWNER_ACTOR
from core.types.views import SLOT_ASPECT, Loci, MemoryRow, PalacePlan, Whereabouts
from ui.bridge import make_query, problem_of
from ui.context import Context
from ui.pages.palace.camera import PalaceCamera
from ui.pages.palace.canvas import PalaceCanvas
from ui.pages.palace.items import wing_rect
from ui.pages.palace.scene import ROOM, STRETCHES, WHOLE, WING, PalaceScene, Shelves
from ui.strings import palace_strings
from ui.widgets.basics import make_timer

_RELOAD_MS = 250
_AT_ONCE = 3
_MOST_TIES = 12
_MOST_UNKNOWN = 20
_TIES = frozenset({"contradicts", "supersedes"})
_ARRANGE = "arrange"


class PalaceReader(QObject):
    """Reads the plan and the rooms that need it.

    Signals:
        got_plan: a `PalacePlan` that the scene has taken already.
        failed: the error for want of which there is no plan.
        done: every room has its loci.
    """

    got_plan = Signal(object)
    failed = Signal(object)
    done = Signal()

    def __init__(self, context: Context, canvas: PalaceCanvas) -> None:
        super().__init__(canvas)
        self._context, self._canvas, self._scene = context, canvas, canvas.scene
        self._to_read: list[str] = []
        self._reading: set[str] = set()
        self._touched: set[str] | None = set()
        self._reload = make_timer(self, self.read_plan, _RELOAD_MS)
        canvas.wanted.connect(self._read_heads)

    def note_change(self, change: Changed) -> None:
        """Something in the vault is different: which rooms must be read anew."""
        self._canvas.heads.forget_rows(change.ids)
        if not change.ids:
            # Where newcomers were placed, the counts of the plan tell the rooms.
            self._touched = self._touched if change.verb == _ARRANGE else None
            return
        spots = {memory_id: self._scene.spot_of(memory_id) for memory_id in change.ids}
        unknown = [memory_id for memory_id, spot in spots.items() if spot is None]
        if len(unknown) > _MOST_UNKNOWN:
            self._touched = None
        elif self._touched is not None:
            self._touched.update(spot.room.id for spot in spots.values() if spot is not None)
            for memory_id in unknown:
                self._find_room(memory_id)

    def _find_room(self, memory_id: str) -> None:
        """A new version of a text is where the old one was, and no count tells of it."""
        palace = self._context.bridge.engine.palace
        self._context.tasks.run(
            make_query(palace_strings()["find"]["locating"], lambda: palace.find_locus(memory_id))
            .within(self)
            .success(self._mark_room_stale)
            .failure(lambda _: None)  # it has no place yet; its placing is announced
        )

    def _mark_room_stale(self, found: Whereabouts) -> None:
        if self._touched is not None:
            self._touched.add(found.room_id)
        if self._canvas.isVisible():
            self.schedule_reload()

    def schedule_reload(self) -> None:
        """Read in a moment: changes come in flocks."""
        self._reload.start()

    def stop_reload(self) -> None:
        """The page is left."""
        self._reload.stop()

    def read_plan(self) -> None:
        """Read the plan, then what is stale of its rooms."""
        self._reload.stop()
        palace = self._context.bridge.engine.palace
        self._context.tasks.run(
            make_query(palace_strings()["reading"]["plan"], palace.read_plan)
            .within(self, "plan")
            .success(self._on_plan_read)
            .failure(self.failed.emit)
        )

    def _on_plan_read(self, plan: PalacePlan) -> None:
        stale = set(self._scene.update_plan(plan))
        stale |= set(self._scene.rooms) if self._touched is None else self._touched
        self._touched = set()
        self.got_plan.emit(plan)
        self._to_read = [room_id for room_id in self._scene.rooms if room_id in stale]
        self._read_rooms()

    def _read_rooms(self) -> None:
        rooms = self._scene.rooms
        seen = {room.id for room in self._scene.rooms_in_sight(self._canvas.camera.goal)}
        self._to_read = sorted((room for room in self._to_read if room in rooms), key=lambda room: room not in seen)
        while self._to_read and len(self._reading) < _AT_ONCE:
            self._read_room(self._to_read.pop(0))
        if not self._to_read and not self._reading:
            self.done.emit()

    def _read_room(self, room_id: str) -> None:
        self._reading.add(room_id)
        palace = self._context.bridge.engine.palace
        self._context.tasks.run(
            make_query(palace_strings()["reading"]["room"], lambda: palace.read_loci(room_id))
            .within(self)
            .success(self._on_room_read)
            .failure(lambda error: self._on_room_failed(room_id, error))
        )

    def _on_room_read(self, loci: Loci) -> None:
        self._reading.discard(loci.room_id)
        self._canvas.set_loci(loci)
        self._read_rooms()

    def _on_room_failed(self, room_id: str, error: BaseException) -> None:
        self._reading.discard(room_id)
        if isinstance(error, LociError) and error.code is Code.NOT_FOUND:
            self.schedule_reload()  # it went between the plan and now
            return
        self._to_read.clear()  # what hindered this one hinders the others; the next change reads them
        self._touched = None
        problem = problem_of(error)
        if problem is not None:
            self._context.tasks.problem.emit(problem)

    def _read_heads(self, ids: tuple[str, ...]) -> None:
        library = self._context.bridge.engine.library
        self._context.tasks.run(
            make_query(palace_strings()["reading"]["memories"], lambda: library.read_rows(ids))
            .within(self)
            .success(self._on_heads_read)
        )

    def _on_heads_read(self, rows: tuple[MemoryRow, ...]) -> None:
        self._canvas.show_heads(rows)


class LocusSeeker(QObject):
    """Follows the selection: flies to what is chosen elsewhere, tells what is chosen here, finds what it is tied to.

    Attributes:
        target_id: a memory that is to be shown once it is known where it is.
    """

    def __init__(self, context: Context, canvas: PalaceCanvas) -> None:
        super().__init__(canvas)
        self._context, self._canvas = context, canvas
        self.target_id = context.selection.current
        canvas.picked.connect(self._on_memory_picked)
        context.selection.changed.connect(self._on_selection_changed)

    def _on_memory_picked(self, memory_id: str) -> None:
        self.target_id = ""
        self._context.selection.select(memory_id, "palace")
        self._read_ties(memory_id)

    def _on_selection_changed(self, memory_id: str, origin: str) -> None:
        if origin == "palace":
            return
        self.target_id = memory_id
        if not memory_id:
            self._canvas.marks.selected, self._canvas.marks.others = "", {}
            self._canvas.set_cursor_at()
        elif self._canvas.isVisible():
            self.seek_memory()

    def seek_memory(self) -> None:
        """Select what is sought, and fly there where it is not on the canvas."""
        memory_id = self.target_id
        if not memory_id:
            return
        spot = self._canvas.scene.spot_of(memory_id)
        if spot is not None:
            self._select_memory(memory_id)
            self._canvas.reveal_locus(spot)
            return
        palace = self._context.bridge.engine.palace
        self._context.tasks.run(
            make_query(palace_strings()["find"]["locating"], lambda: palace.find_locus(memory_id))
            .within(self, "where")
            .success(self._on_locus_found)
            .failure(lambda _: None)  # it has no place yet; it is sought again when the plan changes
        )

    def _on_locus_found(self, found: Whereabouts) -> None:
        room = self._canvas.scene.rooms.get(found.room_id)
        if room is not None and found.memory_id == self.target_id:
            self._select_memory(found.memory_id)
            middle = room.rect.center()
            self._canvas.camera.reveal_point(middle.x(), middle.y())

    def _select_memory(self, memory_id: str) -> None:
        self.target_id = ""
        marks = self._canvas.marks
        marks.others = marks.others if marks.selected == memory_id else {}
        marks.selected = memory_id
        self._canvas.set_cursor_at()
        self._context.selection.select(memory_id, "palace")
        self._read_ties(memory_id)

    def _read_ties(self, memory_id: str) -> None:
        if not memory_id:
            return
        group = self._context.bridge.engine.memories
        self._context.tasks.run(
            make_query(palace_strings()["reading"]["relations"], lambda: group.show(memory_id, OWNER_ACTOR))
            .within(self, "ties")
            .success(self._on_detail_read)
            .failure(lambda _: None)  # the inspector says what is wrong with it
        )

    def _on_detail_read(self, detail: MemoryDetail) -> None:
        if detail.memory.id == self._canvas.marks.selected:
            self._canvas.marks.others = ties_to_draw(detail.edges)
            self._canvas.update()


def ties_to_draw(edges: Iterable[Mapping[str, object]]) -> dict[str, str]:
    """What a memory contradicts or supersedes, or what does so to it.

    Args:
        edges: as `MemoryDetail` has them.

    Returns:
        The other memory to the type of the edge; a dozen at most.
    """
    found: dict[str, str] = {}
    for edge in edges:
        if edge["type"] in _TIES and len(found) < _MOST_TIES:
            found[str(edge["other"])] = str(edge["type"])
    return found


def format_camera(camera: PalaceCamera, scene: PalaceScene) -> str:
    """Where the camera is, as a short text that holds nothing of the vault.

    Args:
        scene: what it looks at.
    """
    level, of = camera.fit
    x, y = camera.goal.x, camera.goal.y
    wing, room = scene.find_wing(of), scene.rooms.get(of)
    if level == ROOM and room is not None:
        x, y = room.rect.center().x(), room.rect.center().y()
    elif level == WING and wing is not None:
        x, y = wing_rect(wing).center().x(), wing_rect(wing).center().y()
    x, y = scene.unspaced_point(x, y)
    return f"{level or 'free'} {x / SLOT_ASPECT:.3f} {y:.3f} {camera.goal.scale:.4f} {camera.goal.stretch:.4f}"


def place_camera(camera: PalaceCamera, scene: PalaceScene, text: str) -> None:
    """Put the camera where `text_of` said it was; where that says nothing, show all there is.

    Args:
        scene: what it looks at.
        text: what was kept; anything at all.
    """
    level, *numbers = text.split() or [WHOLE]
    try:
        x, y, scale, stretch = (float(number) for number in [*numbers, "1"][:4])
        if not all(map(math.isfinite, (x, y, scale, stretch))):
            raise ValueError
    except ValueError:
        level, x, y, scale, stretch = WHOLE, 0.0, 0.0, 1.0, 1.0
    x, y = scene.spaced_point(x * SLOT_ASPECT, y)
    room, wing = scene.room_at(x, y), scene.wing_at(x, y, 1.0)
    if level == ROOM and room is not None:
        camera.show_fit(ROOM, room.id, at_once=True)
    elif level == WING and wing is not None:
        camera.show_fit(WING, wing.id, at_once=True)
    elif level == "free" and scene.bounds.contains(x, y) and 0.05 < scale < 400:
        stretch = min(max(stretch, STRETCHES[0]), STRETCHES[1])
        camera.jump_to(replace(camera.lens, x=x, y=y, scale=scale, stretch=stretch))
    else:
        camera.show_fit(WHOLE, "", at_once=True)


def format_shelves(scene: PalaceScene) -> str:
    """How wings stand, as a short text that holds nothing of the vault: each by its number in the order they came.

    Args:
        scene: the wings.
    """
    numbers = {wing_id: number for number, wing_id in _number_wings(scene).items()}
    return "/".join(" ".join("+".join(numbers[one] for one in column) for column in shelf) for shelf in scene.shelves)


def parse_shelves(scene: PalaceScene, text: str) -> Shelves:
    """How wings stood when `format_shelves` wrote it; what cannot be read of it is left out.

    Args:
        scene: the wings.
        text: what was kept; anything at all.
    """
    ids, seen, found = _number_wings(scene), set[str](), []
    for shelf in text.split("/"):
        columns = []
        for column in shelf.split():
            known = [ids[number] for number in dict.fromkeys(column.split("+")) if number in ids]
            columns.append(tuple(one for one in known if one not in seen))
            seen.update(known)
        found.append(tuple(column for column in columns if column))
    return tuple(shelf for shelf in found if shelf)


def _number_wings(scene: PalaceScene) -> dict[str, str]:
    """Each wing by its left edge in the row in which the vault keeps them: no other ever has it."""
    return {f"{wing.x:.0f}": wing.id for wing in (scene.plan.wings if scene.plan else ())}
